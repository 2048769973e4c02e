/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal: how long a flow takes when nobody else is there, to compare with how long it took. For a path of links of
 * one rate the metric is exact, to the picosecond; for others the slowest link's rate is taken for all.
 */
#ifndef TRAFFIC_WORKLOAD_IDEAL_H
#define TRAFFIC_WORKLOAD_IDEAL_H

#include "hca/endpoint/endpoint.h"
#include "traffic/workload/workload.h"

struct ideal_route {
	sim_time
		latency; /* one way: cables, switches, and the preamble that each switch sends again */
	uint64_t rate_bps; /* of the slowest link */
	uint32_t hops;
};

/* From a post to its completion; one message. `path` is the queue pair's. */
sim_time ideal_time(const struct endpoint_params *params, uint32_t mtu_bytes,
		    const struct path *path, const struct ideal_route *route,
		    enum workload_operation operation, uint64_t bytes);

#endif
