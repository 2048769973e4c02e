/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_pairs: the pairs of queue pairs of a workload, and the requests that each end still has to
 * post. An end that has none is retired at the backend. It is a part of flow_driver.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_PAIRS_H
#define TRAFFIC_WORKLOAD_FLOW_PAIRS_H

#include "traffic/workload/backend.h"

enum flow_pair_end { FLOW_PAIR_SOURCE, FLOW_PAIR_DESTINATION, FLOW_PAIR_ENDS };

struct flow_pair {                 /* pair of hosts: their queue pairs of one number */
	struct backend_qp *sender; /* at the source of the data */
	uint32_t first;            /* its first flow */
	uint32_t marks_reported;   /* marked packets received, of flows that have arrived */
	/* flows that an end requests and that have not ended; only its LP changes it */
	uint32_t requests_left[FLOW_PAIR_ENDS];
	uint32_t first_request[FLOW_PAIR_ENDS]; /* first flow that an end requests */
};

struct flow_pairs {
	struct flow_pair *list; /* does not move */
	uint32_t count;
	const struct workload *workload;
	const struct backend_ops *ops;
	/* by hosts and queue pair, until flow_pairs_complete(): number of the pair + 1, or 0 */
	uint32_t *places;
	uint64_t mask;
};

/* Initialises an empty set. The workload must outlive it. */
void flow_pairs_init(struct flow_pairs *pairs, const struct workload *workload,
		     const struct backend_ops *ops);
void flow_pairs_fini(struct flow_pairs *pairs);

/* Adds a flow, which must not be a barrier. Returns its pair. A new pair has no sender. */
struct flow_pair *flow_pairs_add(struct flow_pairs *pairs, uint32_t flow);

/* Ends the additions. All pairs must have senders. */
void flow_pairs_complete(struct flow_pairs *pairs);

/* Returns true in the first call for a flow of each requester. `seen` has an entry for each
 * requester, [count * FLOW_PAIR_ENDS], and is false at first. */
bool flow_pairs_see(const struct flow_pairs *pairs, const struct flow_pair *pair, uint32_t flow,
		    bool *seen);

/* Returns the first flow of the pair whose messages the same queue pair posts. */
uint32_t flow_pairs_first(const struct flow_pairs *pairs, const struct flow_pair *pair,
			  uint32_t flow);

/* Returns the queue pair that posts the flow's messages. */
struct backend_qp *flow_pairs_requester(const struct flow_pairs *pairs,
					const struct flow_pair *pair, uint32_t flow);

/* Reports that a flow has ended. Call it in an event of its requester. */
void flow_pairs_ended(const struct flow_pairs *pairs, struct flow_pair *pair, uint32_t flow);

#endif
