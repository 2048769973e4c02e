/* SPDX-License-Identifier: Apache-2.0 */
/* flow_ranks: the records of flows in a run of several processes (sim/ranks.h). */
#ifndef TRAFFIC_WORKLOAD_FLOW_RANKS_H
#define TRAFFIC_WORKLOAD_FLOW_RANKS_H

struct flow_driver;

/* Columns that a call copies to all processes: whether and when a flow began and arrived, or the
 * other ones. */
enum flow_ranks_columns { FLOW_RANKS_BEGUN, FLOW_RANKS_REST };

/* Copies columns of all flows from the process in which they happened to all processes. Does
 * nothing in a run of one process. */
void flow_ranks_share(struct flow_driver *driver, enum flow_ranks_columns columns);

#endif
