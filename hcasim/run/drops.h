/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drops: number of packets that a run lost, by place and reason. The reasons are the lists
 * PORT_DROPS (fabric/port.h), SWITCH_DROPS (switch/switch.h) and HCA_DROPS. Metrics, tables,
 * summaries and checks all use them.
 */
#ifndef HCASIM_RUN_DROPS_H
#define HCASIM_RUN_DROPS_H

#include <stdio.h>

#include "hcasim/builder/build.h"
#include "switch/switch.h"

/* clang-format off */
/* Reasons for which adapters drop received packets: X(column, short name, counter of fidelity
 * endpoint, counters of detailed adapters). */
#define HCA_DROPS(X) \
	X(icrc_drops, "icrc", counters->icrc_drops, "receive.icrc_errors") \
	X(pkey_drops, \
	  "P_Key at host", \
	  counters->pkey_violations, \
	  "receive.pkey_violations") \
	X(qp_drops, \
	  "queue pair", \
	  UINT64_C(0), \
	  "receive.no_qp,receive.bad_state,receive.bad_source,receive.qkey_violations")
/* clang-format on */

/* Write the drop columns of links.csv that follow the port's own columns, and their values. The
 * line of an adapter's port includes the drops of the adapter. */
void drops_write_columns(FILE *out);
void drops_write_port(const struct build *build, const struct port *port, FILE *out);

/* Return the packets lost at a port: in its queues; on the link, on arrival or on transmit; or both
 * together. */
uint64_t drops_in_queues(const struct port *port);
uint64_t drops_on_link(const struct port *port);
uint64_t drops_of_port(const struct port *port);

/* Returns the packets that a switch lost, without the queues of its ports (queue_drops). */
uint64_t drops_of_switch(const struct fabric_switch *sw);

/* Returns the packets that a host's adapter lost. */
uint64_t drops_of_hca(const struct build *build, uint32_t host);

/* Returns the packets lost everywhere. */
uint64_t drops_of_all(const struct build *build);

/* Prints for example " (fault 12, icrc 3)", or nothing if there were no drops. Returns the sum. */
uint64_t drops_print(const struct build *build, FILE *out);

/* Returns a counter "block.counter" of a detailed adapter, or 0 if it has no such block. */
uint64_t drops_counted(const struct build *build, uint32_t host, const char *counter);

#endif
