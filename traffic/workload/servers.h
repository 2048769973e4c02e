/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers: cores and storage devices of hosts, which serve visits in the order of arrival. A visit
 * begins when a unit of its server is free. Only the LP of a host changes its servers.
 */
#ifndef TRAFFIC_WORKLOAD_SERVERS_H
#define TRAFFIC_WORKLOAD_SERVERS_H

#include "sim/gauge.h"
#include "traffic/workload/workload.h"

/* clang-format off */
#define OPERATION_SERVER_COUNTERS(X) \
	X(visits, "visits", "Visits that began.") \
	X(waits,  "visits", "Visits that waited for a unit.")

#define OPERATION_SERVER_GAUGES(X) \
	X(units, BUSY, "visits", "Cores or the storage device of a host, with operations.")
/* clang-format on */

struct operation_server_counters {
	OPERATION_SERVER_COUNTERS(COUNTER_FIELD)
};

struct operation_server_gauges {
	OPERATION_SERVER_GAUGES(GAUGE_FIELD)
};

struct servers;

/* `sims` has the LP of each host. Returns NULL if the workload has no servers. The workload must
 * outlive the result. */
struct servers *servers_create(const struct workload *workload, struct sim *const *sims);
void servers_destroy(struct servers *servers); /* NULL: nothing */

/* Returns the time at which a visit ends that arrives now. */
sim_time servers_visit(struct servers *servers, const struct workload_visit *visit, sim_time now);

#endif
