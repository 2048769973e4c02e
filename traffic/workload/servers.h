/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers: cores and storage devices of hosts, which take visits in the order in which they come.
 * A visit begins when a unit of its server is free. Only the LP of a host changes its servers.
 */
#ifndef TRAFFIC_WORKLOAD_SERVERS_H
#define TRAFFIC_WORKLOAD_SERVERS_H

#include "traffic/workload/workload.h"

struct servers;

/* Returns NULL if the workload has no servers. The workload must outlive the result. */
struct servers *servers_create(const struct workload *workload);
void servers_destroy(struct servers *servers); /* NULL: nothing */

/* Returns the time at which the visit ends that comes now. */
sim_time servers_visit(struct servers *servers, const struct workload_visit *visit, sim_time now);

#endif
