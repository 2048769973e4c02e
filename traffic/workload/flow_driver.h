/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_driver: starts the flows of a workload and keeps the flow table. Queue pairs are joined as the flows need them; a flow is cut into messages, of
 * which a number are posted at a time. By which adapters they go is the backend's.
 *
 *     workload --flow driver--> backend: post() ... done(), delivered() --> flow table, and flows that waited
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_DRIVER_H
#define TRAFFIC_WORKLOAD_FLOW_DRIVER_H

#include "traffic/workload/backend.h"
#include "traffic/workload/flow_table.h"
#include "traffic/workload/ideal.h"

/* clang-format off */
#define FLOW_DRIVER_PARAMS(X)                                                                                   \
	X(message,       BYTES, "0B", "0B..4GB",    "a flow is cut into messages of so much, 0: it is one (reads, and all messages of detailed adapters, are cut at 1 GiB in any case)", "choice") \
	X(outstanding_messages,     COUNT, "1",  "1..4096",    "messages of a flow that are posted and not complete, at most", "choice") \
	X(service_level, COUNT, "0",  "0..15",      "of all packets: VL or priority",               "choice") \
	X(service_levels, COUNT, "1", "1..16",      "queue pairs take so many in turn, from service_level on", "choice") \
	X(notification_latency,        TIME,  "1us", "0ps..1s",   "until hosts know that a barrier is reached, or that what a flow waits for has happened at another host; 0: at once, which no run in several threads can do", "assumed: a small message through some switches") \
	X(start_deadline,          TIME,  "1s", "1ns..1000s", "flows that are not ready by then are not begun", "choice")
/* clang-format on */

struct flow_driver_params {
	FLOW_DRIVER_PARAMS(PARAM_FIELD)
};

extern const struct param flow_driver_param_list[];

struct flow_driver;

/* What the fabric is like between two hosts. */
typedef struct ideal_route flow_driver_route_function(void *context, uint32_t source,
						      uint32_t destination);

/* The backend and the workload outlive it. */
struct flow_driver *flow_driver_create(struct sim *sim, const struct workload *workload,
				       const struct flow_driver_params *params,
				       struct backend *backend, flow_driver_route_function *route,
				       void *context);
void flow_driver_destroy(struct flow_driver *driver); /* after the run, before the backend */

/* Every flow is done, failed, or was not begun in time. */
bool flow_driver_finished(const struct flow_driver *driver);

/* Fills in what is known so far of flows under way: packets, marks, CNPs, pauses. Call it once, when the run is over. */
void flow_driver_end(struct flow_driver *driver);

/* The queue pair that sends the flow's requests; NULL: a barrier. Flows of a pair of hosts share it. */
const struct backend_qp *flow_driver_requester(const struct flow_driver *driver, uint32_t flow);

/* Of its requester: what it has had acknowledged, and what congestion control lets it send now. Not of barriers. */
uint64_t flow_driver_acked_bytes(const struct flow_driver *driver, uint32_t flow);
uint64_t flow_driver_arrived_bytes(const struct flow_driver *driver, uint32_t flow);
uint64_t flow_driver_rate_bps(const struct flow_driver *driver, uint32_t flow);

/* One a flow, in the workload's order. */
const struct flow_record *flow_driver_records(const struct flow_driver *driver);

#endif
