/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload: who sends what to whom, when, and after what. A list of flows with dependencies, made from a few
 * parameters and a seed alone, so that it is the same whatever the fabric.
 *
 *     workload_create(params, hosts, rate, seed) --> struct workload --flow driver--> flow table
 *
 * A flow may begin at `start`, or, if it waits for others, `start` after the last of them: one that ends where this
 * begins must have arrived there, any other must be complete for its sender. A barrier is a flow of no bytes from a host
 * to itself: it takes no time but `start`, and, if it is one of all hosts, what news of it takes (dependencies.h).
 */
#ifndef TRAFFIC_WORKLOAD_WORKLOAD_H
#define TRAFFIC_WORKLOAD_WORKLOAD_H

#include "sim/block.h"
#include "traffic/workload/distribution.h"

/* clang-format off */
#define WORKLOAD_PATTERNS(X)                                                                               \
	X(incast,            "fan_in hosts send to `target`")                                              \
	X(permutation,       "each host sends to one, each receives from one; at random")                   \
	X(shift,             "host i sends to host i + `stride`; 0: half of the hosts away")                \
	X(all_to_all,        "each host sends to each other, all at once")                                  \
	X(random,            "each host sends `count` flows to hosts chosen at random")                     \
	X(hotspot,           "as random, but a share `hot` of the flows goes to `target`")                  \
	X(shuffle,           "each host sends to each other, `count` at a time, in an order of its own")    \
	X(request_response,  "`count` times: a request of `request` to `target`, which answers with bytes") \
	X(poisson,           "flows of random size at random times that offer `offered_load` of each host's link")  \
	X(ring_allreduce,    "2 (n - 1) steps of 1/n of bytes around a ring")                               \
	X(tree_allreduce,    "up a binary tree and down again")                                             \
	X(halving_doubling_allreduce, "recursive halving, then doubling; hosts: a power of two")            \
	X(ring_allgather,    "n - 1 steps of bytes around a ring")                                          \
	X(collective_all_to_all, "n - 1 steps: in step s host i sends to i + s; a step after the other")    \
	X(trace,             "flows from a CSV file")                                                       \
	X(goal,              "operations and what they require, from a GOAL file")

#define PATTERN_ENUM(name, meaning) PATTERN_##name,
enum workload_pattern { WORKLOAD_PATTERNS(PATTERN_ENUM) PATTERN_COUNT };

#define WORKLOAD_PARAMS(X)                                                                                 \
	X(pattern,      CHOICE, "permutation", "incast|permutation|shift|all_to_all|random|hotspot|shuffle|request_response|poisson|ring_allreduce|tree_allreduce|halving_doubling_allreduce|ring_allgather|collective_all_to_all|trace|goal", "who sends to whom", "choice") \
	X(bytes,        BYTES,  "1MB",   "1B..1000GB",   "of a flow; all-reduce: of the vector that each host has; ring_allgather: of what each host gives; collective_all_to_all: for each other host", "choice") \
	X(sizes,        CHOICE, "fixed", "fixed|web_search|web_search_1k|hadoop|storage|irn", "distribution of the flows' bytes", "choice") \
	X(operation,    CHOICE, "write", "write|send|read|atomic|mix", "verb; read: the destination fetches; mix: each in turn", "choice") \
	X(target,       COUNT,  "0",     "",          "host, for incast, hotspot, request_response",           "choice") \
	X(fan_in,       COUNT,  "0",     "",          "incast: senders, 0: all others",                       "choice") \
	X(stride,       COUNT,  "0",     "",          "shift: so many hosts further; 0: half of the hosts",   "choice") \
	X(count,        COUNT,  "1",     "1..1000000", "flows, of a host or a pair, as the pattern says",     "choice") \
	X(hot,          RATIO,  "0.1",   "0..1",      "hotspot: share of the flows",                          "choice") \
	X(offered_load,        RATIO,  "0.5",   "0.001..10", "poisson: of the host's link, on average",              "choice") \
	X(incast_load,  RATIO,  "0",     "0..1",      "poisson: of all hosts' links together, what incasts offer besides; one after the other, at equal distances, to hosts at random", "ground truth D-10: 2 %") \
	X(incast_fan_in, COUNT, "60",    "0..100000", "poisson: hosts that send in one of these incasts, 0: all others", "ground truth D-10") \
	X(incast_flows, COUNT,  "1",     "1..1000",   "poisson: flows of each of them",                       "choice") \
	X(incast_bytes, BYTES,  "500KB", "1B..1GB",   "poisson: of each of these flows",                      "ground truth D-10") \
	X(request,      BYTES,  "64B",   "1B..1GB",   "request_response: of a request",                       "choice") \
	X(start,        TIME,   "0ps",   "",          "of the first flow",                                    "choice") \
	X(across,       FLAG,   "false", "",          "poisson: hosts of the first half send, to those of the second",  "choice") \
	X(arrivals_until,         TIME,   "10ms",  "1ns..",     "poisson: no flow begins later",                        "choice") \
	X(spread,       TIME,   "0ps",   "",          "flows that would begin together do so at random within it", "choice") \
	X(phases,       COUNT,  "1",     "1..10000",  "the whole again, after a barrier of all hosts",        "choice") \
	X(gap,          TIME,   "0ps",   "",          "between a barrier and the next phase; in collectives, of computing before a step", "choice") \
	X(queue_pairs,  COUNT,  "0",     "0..1024",   "of a pair of hosts, used in turn, 0: each flow has its own, new to congestion control", "choice: 0 is what published simulations do")
/* clang-format on */

struct workload_params {
	WORKLOAD_PARAMS(PARAM_FIELD)
};

extern const struct param workload_param_list[];

#define WORKLOAD_BYTES_MAX UINT64_C(1000000000000) /* of a flow, whoever says it */

enum workload_operation { WORKLOAD_WRITE, WORKLOAD_SEND, WORKLOAD_READ, WORKLOAD_ATOMIC };

struct workload_flow {
	uint32_t source, destination; /* hosts; data goes this way also for a read */
	uint64_t bytes;
	sim_time start;
	uint32_t first_next, next_count; /* who waits for this one: workload->next[] */
	uint32_t dependency_count;       /* that it waits for */
	uint32_t queue_pair;
	uint8_t operation; /* enum workload_operation */
	bool local;        /* a barrier of that host alone: waits for what arrives there */
	bool incast;       /* of an incast beside the pattern's own flows */
};

struct workload {
	struct workload_flow *flows;
	uint32_t count, capacity;
	uint32_t *next;
	struct workload_edge {
		uint32_t first, then;
	} * edges;
	uint32_t edge_count, edge_capacity;
	uint32_t hosts;
};

/* rate_bps: of a host's link. trace: file of PATTERN_trace or PATTERN_goal. NULL: *error says what does not fit. */
struct workload *workload_create(const struct workload_params *params, uint32_t hosts,
				 uint64_t rate_bps, uint64_t seed, const char *trace, char *error,
				 size_t error_bytes);
void workload_destroy(struct workload *workload);

/* For those who make workloads: flows, by numbers from 0 on, which workload_add() returns; flow `then` begins when `first` has ended,
 * and all others that it waits for, and not before its start. After workload_finish() nothing is added. */
struct workload *workload_new(uint32_t hosts);
uint32_t workload_add(struct workload *workload, uint32_t source, uint32_t destination,
		      uint64_t bytes, sim_time start);
void workload_after(struct workload *workload, uint32_t then, uint32_t first);
void workload_finish(struct workload *workload);

static inline bool workload_is_barrier(const struct workload_flow *flow)
{
	return flow->source == flow->destination;
}

/* The host that asks for it. */
static inline uint32_t workload_home(const struct workload_flow *flow)
{
	return flow->operation == WORKLOAD_READ ? flow->destination : flow->source;
}

/* Does `then` wait for the arrival of `first`, or for its completion at the host that asked for it? */
static inline bool workload_waits_for_arrival(const struct workload_flow *first,
					      const struct workload_flow *then)
{
	return (then->local || !workload_is_barrier(then)) && then->source == first->destination;
}

/* A barrier of all hosts. */
static inline bool workload_is_common(const struct workload_flow *flow)
{
	return workload_is_barrier(flow) && !flow->local;
}

/* The host where that happens of `first` which `then` waits for. */
static inline uint32_t workload_happens_at(const struct workload_flow *first,
					   const struct workload_flow *then)
{
	if (!workload_waits_for_arrival(first, then))
		return workload_home(first);
	return first->operation == WORKLOAD_ATOMIC ? first->source : first->destination;
}

/* The shortest time after which a flow's end in one LP of a run can begin something in another, if hosts hear of each
 * other's after `notification_latency`. SIM_NEVER: it never does. 0: the run cannot run in parallel so. */
sim_time workload_lookahead(const struct workload *workload, const uint8_t *lps,
			    sim_time notification_latency);

/* collective.c, goal.c, trace.c: add the flows of a collective, or of a file. false: *error says what does not fit, or what is wrong in
 * which line. */
bool workload_add_collective(struct workload *workload, const struct workload_params *params,
			     char *error, size_t error_bytes);
bool workload_read_goal(struct workload *workload, const char *file, char *error,
			size_t error_bytes);
bool workload_read_trace(struct workload *workload, const char *file, char *error,
			 size_t error_bytes);

#endif
