/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_driver: starts the flows of a workload and fills the flow table. It connects queue pairs as
 * the flows need them, cuts each flow into messages, and posts a limited number of messages at a
 * time. The backend selects the adapters.
 *
 *     workload --flow driver--> backend: post() ... done(), delivered() --> flow table
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_DRIVER_H
#define TRAFFIC_WORKLOAD_FLOW_DRIVER_H

#include "traffic/workload/backend.h"
#include "traffic/workload/flow_table.h"
#include "traffic/workload/ideal.h"

/* clang-format off */
#define FLOW_DRIVER_PARAMS(X) \
	X(message, BYTES, "0B", "0B..4GB", \
	  "Size of the messages into which a flow is split. 0: one message per flow. Reads, " \
	  "and all messages of detailed adapters, are split at 1 GiB.", \
	  "choice") \
	X(outstanding_messages, COUNT, "1", "1..4096", \
	  "Maximum number of incomplete messages of a flow.", \
	  "choice") \
	X(service_level, COUNT, "0", "0..15", \
	  "Service level of all packets, which selects the VL or priority.", \
	  "choice") \
	X(service_levels, COUNT, "1", "1..16", \
	  "Number of service levels that queue pairs use in turn, starting at service_level.", \
	  "choice") \
	X(notification_latency, TIME, "1us", "0ps..1s", \
	  "Delay until hosts learn that a barrier is complete, or that a flow's dependency " \
	  "completed at another host. 0: no delay, not possible with several threads.", \
	  "assumed: a small message through a few switches") \
	X(start_deadline, TIME, "1s", "1ns..1000s", \
	  "Flows that are not ready by this time are not started.", \
	  "choice")
/* clang-format on */

struct flow_driver_params {
	FLOW_DRIVER_PARAMS(PARAM_FIELD)
};

extern const struct param flow_driver_param_list[];

struct flow_driver;

/* Returns the properties of the path between two hosts. */
typedef struct ideal_route flow_driver_route_function(void *context, uint32_t source,
						      uint32_t destination);

/* How the flows of a part of the workload are posted. */
struct flow_driver_part {
	const struct flow_driver_params *params; /* notification_latency: the same for all parts */
	const struct congestion *congestion;     /* NULL: as the adapters */
};

/* Creates the driver. `parts` has an entry for each of the workload's parts. The backend, the
 * workload and what the parts point to must outlive it. */
struct flow_driver *flow_driver_create(struct sim *sim, const struct workload *workload,
				       const struct flow_driver_part *parts,
				       struct backend *backend, flow_driver_route_function *route,
				       void *context);
/* call it after the run, before the backend is destroyed */
void flow_driver_destroy(struct flow_driver *driver);

/* Returns true if every flow is done, failed, stopped, or was not started in time. */
bool flow_driver_finished(const struct flow_driver *driver);

/* Returns the number of flows that have ended in any way, without barriers. */
uint32_t flow_driver_ended(const struct flow_driver *driver);

/* Adds the statistics of incomplete flows to the flow table: packets, marks, CNPs, pauses. Call it
 * once, after the run. */
void flow_driver_end(struct flow_driver *driver);

/* Returns the queue pair that sends the flow's requests, or NULL for a barrier. Flows of a pair of
 * hosts may share it. */
const struct backend_qp *flow_driver_requester(const struct flow_driver *driver, uint32_t flow);

/* Returns the first flow of the queue pair that sends the flow's requests. It is not a barrier. */
uint32_t flow_driver_first_flow(const struct flow_driver *driver, uint32_t flow);

/* Sets first[flow] for each flow that is the first of its requester. */
void flow_driver_first_flows(const struct flow_driver *driver, bool *first);

/* Return statistics of the flow's queue pair: bytes acknowledged, bytes arrived, and the rate that
 * congestion control allows now. The flow must not be a barrier. */
uint64_t flow_driver_acked_bytes(const struct flow_driver *driver, uint32_t flow);
uint64_t flow_driver_arrived_bytes(const struct flow_driver *driver, uint32_t flow);
void flow_driver_sender(const struct flow_driver *driver, uint32_t flow,
			struct backend_sender *sender);

/* Returns the flow table: one record per flow, in the workload's order. */
const struct flow_record *flow_driver_records(const struct flow_driver *driver);

#endif
