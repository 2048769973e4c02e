/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal: time of a flow in an otherwise idle fabric, for comparison with the simulated time. The
 * result is exact to the picosecond if all links of the path have the same rate. Otherwise the rate
 * of the slowest link is used for all links.
 */
#ifndef TRAFFIC_WORKLOAD_IDEAL_H
#define TRAFFIC_WORKLOAD_IDEAL_H

#include "hca/endpoint/endpoint.h"
#include "traffic/workload/workload.h"

struct ideal_route {
	/* one way: cables, switches, and the preamble that each switch sends again */
	sim_time latency;
	uint64_t rate_bps; /* rate of the slowest link */
	uint32_t hops;
};

/* Returns the time of one message from its post to its completion. `path` is the path of the queue
 * pair. */
sim_time ideal_time(const struct endpoint_params *params, uint32_t mtu_bytes,
		    const struct path *path, const struct ideal_route *route,
		    enum workload_operation operation, uint64_t bytes);

/* Returns the ideal time of a flow on a TCP connection. The window is never too short, and the
 * receiver acknowledges the last segment without delay. `segment` is a full segment. A READ is
 * one of iWARP: `bytes` are those of its Read Response, which completes the READ. */
sim_time ideal_tcp_time(const struct endpoint_params *params, const struct packet *segment,
			const struct ideal_route *route, enum workload_operation operation,
			uint64_t bytes);

#endif
