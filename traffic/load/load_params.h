/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_params: what a load of verbs is (load.h), and what its calls cost the processor cores that make them. Lists:
 * load_place_param_list, load_param_list, load_cpu_param_list, load_background_param_list, load_server_param_list.
 */
#ifndef TRAFFIC_LOAD_LOAD_PARAMS_H
#define TRAFFIC_LOAD_LOAD_PARAMS_H

#include "sim/block.h"

/* clang-format off */
/* Of a load alone; in a scenario hosts and fabric say so. */
#define LOAD_PLACE_PARAMS(X) \
	X(nodes,      COUNT,  "2",          "2..64",              "hosts with one adapter each",                                    "choice") \
	X(link_layer, CHOICE, "infiniband", "infiniband|roce",    "of the links",                                                   "choice") \
	X(topology,   CHOICE, "switch",     "switch|cable",       "all at one switch, or two by a cable",                           "choice")

#define LOAD_PARAMS(X) \
	X(pattern,    CHOICE, "outbound",   "outbound|inbound|all|loopback", "who posts: the first node, all but the first, or all; to all others, inbound: to the first; loopback: the first, to itself", "choice") \
	X(threads,    COUNT,  "1",          "1..64",              "processor cores of each node, each with queue pairs and CQs of its own", "choice") \
	X(cores_per_thread,    COUNT,  "1",          "1..16",              "cores in the place of each of these, which share its queue pairs and CQs under their locks", "choice") \
	X(cq_of,      CHOICE, "thread",     "thread|qp",          "whose a CQ is: one for all queue pairs of a thread, or one for each", "choice") \
	X(qps,        COUNT,  "1",          "1..4096",            "queue pairs of a thread to each other node; ud, dc: in all",       "choice") \
	X(transport,  CHOICE, "rc",         "rc|uc|ud|dc",        "of the queue pairs; dc: initiators, and a target in each node",                                             "choice") \
	X(verb,       CHOICE, "write",      "write|read|send|fetch_add", "what is posted",                                          "choice") \
	X(bytes,      BYTES,  "64B",        "0B..64MiB",          "of a message",                                                   "choice") \
	X(sges,       SIZES,  "[]",         "1B..64MiB",          "scatter/gather elements of a send work request, which make up its message in place of bytes; none: one", "choice") \
	X(receive_sges, SIZES, "[]",        "1B..128MiB",         "the same of a receive work request, with room for the message and, if ud, its 40 B; none: one", "choice") \
	X(inline_data,    FLAG,   "false",      "",                   "the WQE carries the data",                                       "choice") \
	X(scatter_to_cqe,     FLAG,   "false",      "",                   "short messages and responses go into CQEs, of 128 B if ud",       "choice") \
	X(cqe_compression,   FLAG,   "false",      "",                   "CQEs that are alike are written as one, with mini-CQEs",          "choice") \
	X(posting,    CHOICE, "blueflame",  "blueflame|doorbell|inline_blueflame", "how a lone work request is posted; inline_blueflame: by BlueFlame if its data is inline", "choice") \
	X(bfregs,     COUNT,  "0",          "0..64",              "doorbell registers of a node under a lock each, which its queue pairs share in turn, but for the first low_latency_bfregs; 0: each queue pair has its own", "choice; the mlx5 driver of Linux gives a process 16, of which 4 are queue pairs' own and 11 shared") \
	X(low_latency_bfregs, COUNT, "4",        "0..64",              "queue pairs of a node that have a register of their own beside these", "the mlx5 driver of Linux, libmlx5: the first four are of low latency") \
	X(post_list,       COUNT,  "1",          "1..64",              "work requests behind one doorbell; several are never posted by BlueFlame", "libmlx4, libmlx5: BlueFlame is for lone work requests") \
	X(cq_mod,     COUNT,  "1",          "1..4096",            "one in so many work requests has a CQE",                         "choice") \
	X(tx_depth,     COUNT,  "16",         "1..4096",            "work requests of a queue pair that are posted and not complete", "choice") \
	X(refill,     CHOICE, "each",       "each|all",           "when a queue pair that was full is posted to again: when one of these is complete, or when all are", "choice") \
	X(outstanding, COUNT, "0",          "0..65536",           "the same of a thread, over all its queue pairs, which then signal all; 0: no limit", "choice") \
	X(rx_depth,   COUNT,  "0",          "0..32768",           "receive work requests of a queue pair, a power of two; 0: 256, UD 2048", "mlx5: counters of 16 bits") \
	X(strides,    COUNT,  "0",          "0..16383",           "ud: packets that one receive work request takes at most, each in a stride or more; 0: one each", "choice") \
	X(stride_bytes, BYTES, "2KiB",      "64B..64KiB",         "of a stride",                                                    "assumed: room for a packet of 1 KiB and its 40 B") \
	X(order,      CHOICE, "random",     "random|turn",        "which queue pair of a thread is next, of those with room",       "choice") \
	X(mtu,        BYTES,  "4096B",      "256B..4096B",        "of the paths",                                                   "choice") \
	X(max_rd_atomic,      COUNT,  "16",         "1..128",             "reads and atomics under way of a queue pair",                    "ground truth F-03") \
	X(regions,    COUNT,  "1",          "1..262144",          "memory regions that are written or read, of each of the next",   "choice") \
	X(region_of,  CHOICE, "node",       "node|thread",        "whose the regions are, with one for local data: all threads' of a node, or each thread's", "choice") \
	X(addresses_per_region,     COUNT,  "1",          "1..1099511627776",   "addresses in each region that are used, at random",              "choice") \
	X(address_stride,     BYTES,  "64B",        "8B..1GiB",           "from one address to the next",                                     "choice") \
	X(page,       BYTES,  "2MiB",       "4KiB..1GiB",         "of the regions' memory",                                         "choice") \
	X(paging,     CHOICE, "none",       "none|remote|local",  "which regions are registered for on-demand paging: those that are written or read, or those of the posting side's own data", "choice") \
	X(contiguous, FLAG,   "false",      "",                   "regions are contiguous: their pages need no translation",        "choice") \
	X(counts,     CHOICE, "completed",  "completed|received", "what the next two count: work requests complete, or messages received", "choice") \
	X(warm_up,    COUNT,  "2000",       "",                   "work requests before those that count",                          "choice") \
	X(operations, COUNT,  "20000",      "1..",                "work requests that count",                                       "choice") \
	X(limit,      TIME,   "1s",         "1us..",              "virtual time after which a load that does not end is given up",  "choice")

#define LOAD_CPU_PARAMS(X) \
	X(post,    TIME, "27ns", "0ps..1ms", "to build a WQE",                                   "calibrated: A2-05, Connect-IB, 32.2 M/s of one core with lists of 16 on 4 queue pairs") \
	X(ring,    TIME, "50ns", "0ps..1ms", "of the store or stores that follow, with their fences", "calibrated: A2-05, ConnectX-3, 12.4 M/s of one core without lists, less post") \
	X(poll,    TIME, "20ns", "0ps..1ms", "of a CQE, from its visible bytes; memory's latency comes on top where the host has no DDIO", "assumed: a cache miss to the LLC") \
	X(receive, TIME, "10ns", "0ps..1ms", "to post a receive work request, in lists",         "assumed: one store") \
	X(lock_handoff, TIME, "108ns", "0ps..1ms", "of a lock from one core to another, for each that waits for it: its load and its compare-and-swap, each of a line that another has written", "David et al. (SOSP'13), Xeon, same die: 109 and 120 cycles of 2.13 GHz, recalled; they and Boyd-Wickizer et al. (Linux Symposium 2012): all who wait take the line") \
	X(idle_poll, TIME, "2ns", "1ps..1us", "to look at a request slot that nothing was written to since: its line is in the core's own cache", "assumed: 4 cycles of latency and a branch at 2 GHz") \
	X(cache,   TIME, "20ns", "0ps..1ms", "of a line that the last level cache has, as DMA writes of DDIO leave it", "assumed: as poll") \
	X(memory,  TIME, "90ns", "0ps..1ms", "of a line that memory alone has, when nobody else uses memory", "ground truth A1-13: random access to DRAM, 60 to 120 ns; the middle") \
	X(side_by_side, COUNT, "10", "1..64", "lines that a core fetches at a time, if it knows their addresses", "Intel optimization reference manual: 10 line fill buffers of a core") \
	X(noise_interval, TIME, "0ps", "0ps..1s", "mean time from the end of a disturbance of a posting core by its host to the next one, exponential; 0: none", "choice; a timer tick of Linux at 250 Hz has 4ms, and others come on top") \
	X(noise, TIME, "2us", "1ps..1ms", "of a disturbance, in which the core does none of this work", "assumed: a timer interrupt and its handler")

/* Cores of the first node that respond to the requests of all others: docs/explanation/verbs-load.md. */
#define LOAD_SERVER_PARAMS(X) \
	X(cores,   COUNT,  "0",    "0..64",    "processor cores of the first node that wait for what the others post as requests, work on each and respond; 0: nobody responds", "choice") \
	X(response, CHOICE, "write", "write|send|datagram|none", "how: a write or send through the queue pair of the request, a send through UD queue pairs of the core's own, or not at all: the client then knows at once that the request was taken", "choice") \
	X(chosen,  CHOICE, "fixed", "fixed|random", "which core a request is for: always the same of each client, or any", "choice") \
	X(bytes,   BYTES,  "32B",  "0B..4KiB", "of a response",                                                   "choice") \
	X(inline_data, FLAG,   "true", "",         "responses are in their WQEs",                                     "choice") \
	X(qps,     COUNT,  "1",    "1..16",    "response: datagram: UD queue pairs of a core, one for each client in turn", "choice") \
	X(batch,   COUNT,  "1",    "1..64",    "requests that a core takes, works on and responds to together, if so many wait", "choice") \
	X(post_list,    COUNT,  "1",    "1..64",    "responses behind one doorbell, of those of a batch through one queue pair", "choice") \
	X(cq_mod,  COUNT,  "64",   "1..1024",  "one in so many responses of a queue pair has a CQE",              "choice") \
	X(work,    TIME,   "0ps",  "0ps..1s",  "what a request costs a core besides polling, lines and posting",  "choice") \
	X(lines,   COUNT,  "0",    "0..64",    "lines of memory that a request needs, each after the one before; those of a batch are fetched side by side", "choice") \
	X(table,   BYTES,  "1GiB", "64B..1024GiB", "memory in which these are, at random",                           "choice") \
	X(changes, FLAG,   "false", "",        "the core changes these lines",                                    "choice") \
	X(slot,    BYTES,  "64B",  "64B..1MiB", "from one request to the next, where requests are written",       "choice: a line, as HERD has it")
/* clang-format on */

/* Others beside them, of which only these differ. */
#define LOAD_BACKGROUND_PARAMS(X)                                                              \
	X(threads, COUNT, "0", "0..64",                                                        \
	  "processor cores of each node that posts, which are not counted in the results; 0: " \
	  "none",                                                                              \
	  "choice")                                                                            \
	X(qps, COUNT, "1", "1..4096", "queue pairs of a thread to each other node", "choice")  \
	X(verb, CHOICE, "write", "write|read|send|fetch_add", "what is posted; not send",      \
	  "choice")                                                                            \
	X(bytes, BYTES, "64B", "0B..64MiB", "of a message", "choice")                          \
	X(inline_data, FLAG, "false", "", "the WQE carries the data", "choice")                \
	X(pattern, CHOICE, "same", "outbound|inbound|all|loopback|same",                       \
	  "who of them posts, to whom; same: as the others", "choice")                         \
	X(regions, COUNT, "1", "1..262144",                                                    \
	  "memory regions that are written or read, in each node, besides the others'", "choice")

struct load_background_params {
	LOAD_BACKGROUND_PARAMS(PARAM_FIELD)
};

struct load_cpu_params {
	LOAD_CPU_PARAMS(PARAM_FIELD)
};

struct load_server_params {
	LOAD_SERVER_PARAMS(PARAM_FIELD)
};

struct load_params {
	LOAD_PLACE_PARAMS(PARAM_FIELD)
	LOAD_PARAMS(PARAM_FIELD)
	struct load_cpu_params cpu;
	struct load_background_params background;
	struct load_server_params server;
};

/* As the choices above. */
enum { LOAD_SWITCH, LOAD_CABLE };
enum { LOAD_OUTBOUND, LOAD_INBOUND, LOAD_ALL, LOAD_LOOPBACK, LOAD_SAME };
enum { LOAD_RC, LOAD_UC, LOAD_UD, LOAD_DC };
enum { LOAD_WRITE, LOAD_READ, LOAD_SEND, LOAD_FETCH_ADD };
enum { LOAD_BLUEFLAME, LOAD_DOORBELL, LOAD_INLINE_BLUEFLAME };
enum { LOAD_RANDOM, LOAD_TURN };
enum { LOAD_REFILL_EACH, LOAD_REFILL_ALL };
enum { LOAD_COMPLETED, LOAD_RECEIVED };
enum { LOAD_PAGING_NONE, LOAD_PAGING_REMOTE, LOAD_PAGING_LOCAL };
enum { LOAD_OF_THREAD, LOAD_OF_QP };
enum { LOAD_OF_NODE, LOAD_OF_EACH_THREAD };
enum { LOAD_RESPONSE_WRITE, LOAD_RESPONSE_SEND, LOAD_RESPONSE_DATAGRAM, LOAD_RESPONSE_NONE };
enum { LOAD_CHOSEN_FIXED, LOAD_CHOSEN_RANDOM };

extern const struct param load_place_param_list[], load_param_list[], load_cpu_param_list[],
	load_background_param_list[], load_server_param_list[];
extern const struct param_section
	load_sections[]; /* cpu, background, server; ends with a NULL name */

#endif
