/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workload: list of flows with sources, destinations, start times and dependencies. It is generated
 * from parameters and a seed only, and does not depend on the fabric.
 *
 *     workload_create(params, hosts, rate, seed) --> workload --flow driver--> flow table
 *                               several --workload_join()--^
 *
 * A flow begins at `start`. If it waits for other flows, it begins `start` after the last of them.
 * A flow that ends at the source of the waiting flow must have arrived there. Any other flow must
 * be complete at its sender. A barrier is a flow of no bytes from a host to itself. It takes no
 * time except `start`. A barrier of all hosts also takes the time until hosts learn of it
 * (dependencies.h).
 */
#ifndef TRAFFIC_WORKLOAD_WORKLOAD_H
#define TRAFFIC_WORKLOAD_WORKLOAD_H

#include "sim/block.h"
#include "traffic/workload/distribution.h"
#include "traffic/workload/storage_params.h"

/* clang-format off */
#define WORKLOAD_PATTERNS(X) \
	X(incast, \
	  "fan_in hosts send to target.") \
	X(permutation, \
	  "Each host sends to one random host and receives from one.") \
	X(shift, \
	  "Host i sends to host i + stride. stride 0: half of the number of hosts.") \
	X(all_to_all, \
	  "Each host sends to each other host, all at the same time.") \
	X(random, \
	  "Each host sends count flows to hosts selected at random.") \
	X(hotspot, \
	  "As random, but the share hot of the flows goes to target.") \
	X(shuffle, \
	  "Each host sends to each other host, count flows at a time, in a random order.") \
	X(request_response, \
	  "count times: a request of the size request to target, which responds with bytes.") \
	X(poisson, \
	  "Flows of random size start at random times and offer offered_load of each host's " \
	  "link.") \
	X(ring_allreduce, \
	  "Ring all-reduce: 2 (n - 1) steps of 1/n of bytes around a ring.") \
	X(tree_allreduce, \
	  "Tree all-reduce: up a binary tree and down again.") \
	X(halving_doubling_allreduce, \
	  "Recursive halving, then doubling. The number of hosts must be a power of two.") \
	X(ring_allgather, \
	  "Ring all-gather: n - 1 steps of bytes around a ring.") \
	X(collective_all_to_all, \
	  "n - 1 consecutive steps: in step s host i sends to host i + s.") \
	X(trace, \
	  "Flows from a CSV file.") \
	X(goal,              "Operations and dependencies from a GOAL file.") \
	X(chakra, \
	  "Nodes and dependencies from Chakra execution traces, a file for each host.") \
	X(storage, \
	  "Initiators read and write data of targets by a protocol: `storage`, `device`, " \
	  "`operation_cpu`.")

#define PATTERN_ENUM(name, meaning) PATTERN_##name,
enum workload_pattern { WORKLOAD_PATTERNS(PATTERN_ENUM) PATTERN_COUNT };

#define WORKLOAD_PARAMS(X) \
	X(pattern, CHOICE, "permutation", \
	  "incast|permutation|shift|all_to_all|random|hotspot|shuffle|request_response|poisson|" \
	  "ring_allreduce|tree_allreduce|halving_doubling_allreduce|ring_allgather|" \
	  "collective_all_to_all|trace|goal|chakra|storage", \
	  "Traffic pattern: selects sources and destinations.", \
	  "choice") \
	X(bytes, BYTES, "1MB", "1B..1000GB", \
	  "Size of a flow. All-reduce: of the vector of each host. ring_allgather: of the " \
	  "contribution of each host. collective_all_to_all: of the data for each other host.", \
	  "choice") \
	X(sizes, CHOICE, "fixed", \
	  "fixed|web_search|web_search_1k|hadoop|storage|file|irn", \
	  "distribution of the flows' bytes. file: as the file `cdf` describes it", \
	  "choice") \
	X(operation, CHOICE, "write", \
	  "write|send|read|atomic|mix", \
	  "Operation of the flows. read: the destination reads from the source. mix: all " \
	  "operations in turn.", \
	  "choice") \
	X(target, TEXT, "0", "", \
	  "Target host of incast, hotspot and request_response, and of storage with neither " \
	  "`targets` nor `initiators`: its name, or its number from 0 on.", \
	  "choice") \
	X(fan_in, COUNT, "0", "", \
	  "incast: number of senders. 0: all other hosts.", \
	  "choice") \
	X(stride, COUNT, "0", "", \
	  "shift: distance between source and destination. 0: half of the number of hosts.", \
	  "choice") \
	X(count, COUNT, "1", "1..1000000", \
	  "Number of flows, per host or per pair, depending on the pattern.", \
	  "choice") \
	X(hot, RATIO, "0.1", "0..1", \
	  "hotspot: share of the flows that go to target.", \
	  "choice") \
	X(offered_load, RATIO, "0.5", "0.001..10", \
	  "poisson: mean load of a host's link.", \
	  "choice") \
	X(incast_load, RATIO, "0", "0..1", \
	  "poisson: additional load of incasts, as a share of all hosts' links. Incasts follow " \
	  "one another at equal intervals, to random hosts.", \
	  "HPCC, SIGCOMM 2019 (row D-10): 2 %") \
	X(incast_fan_in, COUNT, "60", "0..100000", \
	  "poisson: senders of one incast. 0: all other hosts.", \
	  "HPCC, SIGCOMM 2019 (row D-10)") \
	X(incast_flows, COUNT, "1", "1..1000", \
	  "poisson: flows per sender of an incast.", \
	  "choice") \
	X(incast_bytes, BYTES, "500KB", "1B..1GB", \
	  "poisson: size of each flow of an incast.", \
	  "HPCC, SIGCOMM 2019 (row D-10)") \
	X(request, BYTES, "64B", "1B..1GB", \
	  "request_response: size of a request.", \
	  "choice") \
	X(start, TIME, "0ps", "", \
	  "Start time of the first flow.", \
	  "choice") \
	X(post_until, TIME, "0ps", "", \
	  "Time from which no flow begins and no message is posted. A flow of several messages " \
	  "(posting.message) then ends after its posted messages. 0: none.", \
	  "choice") \
	X(across, FLAG, "false", "", \
	  "poisson: hosts of the first half send to hosts of the second half only.", \
	  "choice") \
	X(arrivals_until, TIME, "10ms", "1ns..", \
	  "poisson: time after which no flow starts.", \
	  "choice") \
	X(spread, TIME, "0ps", "", \
	  "Flows with the same start time start at random times within this interval.", \
	  "choice") \
	X(phases, COUNT, "1", "1..10000", \
	  "Repetitions of the whole pattern, separated by barriers of all hosts.", \
	  "choice") \
	X(gap, TIME, "0ps", "", \
	  "Time between a barrier and the next phase. Collectives: computing time before each " \
	  "step.", \
	  "choice") \
	X(queue_pairs, COUNT, "0", "0..1024", \
	  "Queue pairs per pair of hosts, used in turn. 0: each flow has its own queue pair, " \
	  "with initial congestion-control state.", \
	  "choice: 0 as in published simulations")
/* clang-format on */

struct workload_params {
	WORKLOAD_PARAMS(PARAM_FIELD)
};

extern const struct param workload_param_list[];

#define WORKLOAD_BYTES_MAX UINT64_C(1000000000000) /* size limit of a flow, from any source */

enum workload_operation { WORKLOAD_WRITE, WORKLOAD_SEND, WORKLOAD_READ, WORKLOAD_ATOMIC };

/* A part of a combined workload: one of the workloads that workload_join() combined. */
struct workload_part {
	sim_time stop;             /* no flow begins from this time on; SIM_NEVER: no such time */
	uint32_t first_queue_pair; /* smallest number of the queue pairs of its flows */
	bool whole; /* `stop` is for the first flow of an operation; later flows still begin */
};

/* A server of one host, with a queue: cores, or a storage device. */
struct workload_server {
	uint32_t host, units;
	bool device;
};

/* A visit of a server by a barrier of one host. The barrier ends `latency` after a unit has begun
 * the visit. The unit can begin the next visit `busy` after that begin. */
struct workload_visit {
	uint32_t server; /* workload->servers[] */
	bool begins;     /* an operation begins with it */
	sim_time busy, latency;
};

/* An operation of pattern storage: its first and last flow, which are visits of the initiator's
 * cores, and all flows between them. */
struct workload_io {
	uint32_t first, last;
	uint32_t target;
	uint32_t bytes;
	bool write;
	uint8_t part;
};

struct workload_flow {
	/* hosts; the data of a read also go from source to destination */
	uint32_t source, destination;
	uint64_t bytes;
	sim_time start;
	uint32_t first_next, next_count; /* flows that wait for this one: workload->next[] */
	uint32_t dependency_count;       /* flows that this one waits for */
	uint32_t queue_pair;
	uint32_t visit;    /* of a barrier of one host: place in workload->visits[] + 1; 0: none */
	uint8_t operation; /* enum workload_operation */
	uint8_t part;      /* workload->parts[] */
	bool local;        /* barrier of one host, which waits for arrivals at that host */
	bool incast;       /* flow of an incast in addition to the pattern's own flows */
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
	struct workload_part *parts;
	uint32_t part_count; /* 1, unless workload_join() made it */
	/* of pattern storage; NULL: none */
	struct workload_server *servers;
	struct workload_visit *visits;
	struct workload_io *ios;
	uint32_t server_count, visit_count, io_count;
	char *ignored; /* content of a trace that the run does not use, for people; NULL: none */
	/* Repetitions of a pattern, and the flows of the first one with its barrier; 0: unknown */
	uint32_t phases, phase_flows;
};

#define WORKLOAD_PARTS_MAX 64

/* Files of a workload; NULL if the parameters do not name them. */
struct workload_files {
	const char *trace; /* of PATTERN_trace, PATTERN_goal or PATTERN_chakra */
	const char *cdf;   /* of DISTRIBUTION_file */
	/* [hosts] names that a trace and `target` may use in place of numbers; NULL: none */
	const char *const *names;
	const struct storage *storage; /* of PATTERN_storage */
};

/* Makes the flows. `rate_bps` is the rate of a host's link. Returns NULL on failure and writes the
 * reason to `error`. */
struct workload *workload_create(const struct workload_params *params, uint32_t hosts,
				 uint64_t rate_bps, uint64_t seed,
				 const struct workload_files *files, char *error,
				 size_t error_bytes);
void workload_destroy(struct workload *workload);

/* Finds the host that `target` names among hosts with these names. NULL: hosts have only numbers.
 * Returns false on failure and writes the reason to `error`. */
bool workload_find_target(const struct workload_params *params, const char *const *names,
			  uint32_t hosts, uint32_t *target, char *error, size_t error_bytes);

/* A member for workload_join(). `hosts` maps its hosts 0, 1, ... to hosts of the result. */
struct workload_member {
	struct workload *workload;
	const uint32_t *hosts; /* [workload->hosts] */
};

/* Returns one workload of all flows, in the order of the members. Each member becomes a part.
 * Releases the members' workloads. Queue pairs of different parts are different. */
struct workload *workload_join(const struct workload_member *members, uint32_t count,
			       uint32_t hosts);

/* Build a workload flow by flow. workload_add() returns the number of the flow, from 0 on.
 * workload_after() makes `then` wait for `first`. A flow begins at its start or at the end of its
 * last predecessor, whichever is later. Nothing can be added after workload_finish(). */
struct workload *workload_new(uint32_t hosts);
uint32_t workload_add(struct workload *workload, uint32_t source, uint32_t destination,
		      uint64_t bytes, sim_time start);
void workload_after(struct workload *workload, uint32_t then, uint32_t first);
void workload_finish(struct workload *workload);

/* Adds to workload->ignored. NULL adds nothing. */
void workload_ignore(struct workload *workload, const char *what);

/* Returns true if the flows come from the file `trace`. */
static inline bool workload_is_from_file(const struct workload_params *params)
{
	return params->pattern == PATTERN_trace || params->pattern == PATTERN_goal ||
	       params->pattern == PATTERN_chakra;
}

static inline bool workload_is_barrier(const struct workload_flow *flow)
{
	return flow->source == flow->destination;
}

/* Returns the host that requests the flow. */
static inline uint32_t workload_home(const struct workload_flow *flow)
{
	return flow->operation == WORKLOAD_READ ? flow->destination : flow->source;
}

/* Returns true if `then` waits for the arrival of `first`, false if it waits for its completion at
 * the requester. */
static inline bool workload_waits_for_arrival(const struct workload_flow *first,
					      const struct workload_flow *then)
{
	return (then->local || !workload_is_barrier(then)) && then->source == first->destination;
}

/* Returns true for a barrier of all hosts. */
static inline bool workload_is_common(const struct workload_flow *flow)
{
	return workload_is_barrier(flow) && !flow->local;
}

/* Returns the host at which the event of `first` happens that `then` waits for. */
static inline uint32_t workload_happens_at(const struct workload_flow *first,
					   const struct workload_flow *then)
{
	if (!workload_waits_for_arrival(first, then))
		return workload_home(first);
	return first->operation == WORKLOAD_ATOMIC ? first->source : first->destination;
}

/* Returns the shortest time after which the end of a flow in one LP can start a flow in another LP.
 * Hosts learn of other hosts' events after `notification_latency`. Returns SIM_NEVER if this never
 * happens, and 0 if the run cannot be parallel. */
sim_time workload_lookahead(const struct workload *workload, const uint8_t *lps,
			    sim_time notification_latency);

/* Add the flows of a collective (collective.c) or of a file (goal.c, chakra.c, trace.c). Return
 * false and write the reason, with the place in the file, to *error. */
bool workload_add_collective(struct workload *workload, const struct workload_params *params,
			     char *error, size_t error_bytes);
bool workload_read_goal(struct workload *workload, const char *file, char *error,
			size_t error_bytes);
/* `files` has %d for the number of the rank. */
bool workload_read_chakra(struct workload *workload, const char *files, char *error,
			  size_t error_bytes);
bool workload_read_trace(struct workload *workload, const char *file, const char *const *names,
			 char *error, size_t error_bytes);

/* Add the lists of a workload of pattern storage to the lists of another workload, in
 * workload_join(). Its flows have been added from `first_flow` on. storage.c */
void workload_append_operations(struct workload *whole, const struct workload *from,
				const uint32_t *hosts, uint8_t part, uint32_t first_flow);

#endif
