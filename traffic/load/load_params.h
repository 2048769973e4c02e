/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_params: parameters of a load of verbs (load.h), and the cost of its calls on processor
 * cores. Lists: load_place_param_list, load_param_list, load_cpu_param_list,
 * load_background_param_list, load_server_param_list.
 */
#ifndef TRAFFIC_LOAD_LOAD_PARAMS_H
#define TRAFFIC_LOAD_LOAD_PARAMS_H

#include "sim/block.h"

/* clang-format off */
/* Parameters of load_run() only. In a scenario, the sections hosts and fabric describe these
 * facts. */
#define LOAD_PLACE_PARAMS(X) \
	X(nodes, COUNT, "2", "2..64", \
	  "Number of hosts, with one adapter each.", \
	  "choice") \
	X(link_layer, CHOICE, "infiniband", "infiniband|roce", \
	  "Link layer of all links.", \
	  "choice") \
	X(topology, CHOICE, "switch", "switch|cable", \
	  "Fabric: one switch for all hosts, or one cable between two hosts.", \
	  "choice")

#define LOAD_PARAMS(X) \
	X(pattern, CHOICE, "outbound", \
	  "outbound|inbound|all|loopback", \
	  "Posting nodes and their targets. outbound: the first node to all others. inbound: " \
	  "all others to the first. all: every node to all others. loopback: the first node to " \
	  "itself.", \
	  "choice") \
	X(threads, COUNT, "1", "1..64", \
	  "Threads of each node. A thread is a processor core with its own queue pairs and CQs.", \
	  "choice") \
	X(cores_per_thread, COUNT, "1", "1..16", \
	  "Cores of one thread. They share its queue pairs and CQs, protected by locks.", \
	  "choice") \
	X(cq_of, CHOICE, "thread", "thread|qp", \
	  "Scope of a CQ: one for all queue pairs of a thread, or one for each queue pair.", \
	  "choice") \
	X(qps, COUNT, "1", "1..4096", \
	  "Queue pairs of a thread to each other node. Transports ud and dc: queue pairs of a " \
	  "thread in total.", \
	  "choice") \
	X(transport, CHOICE, "rc", "rc|uc|ud|dc", \
	  "Transport of the queue pairs. dc: initiators, and one target in each node.", \
	  "choice") \
	X(verb, CHOICE, "write", \
	  "write|read|send|fetch_add", \
	  "Operation of the work requests.", \
	  "choice") \
	X(bytes, CYCLE, "64B", "0B..64MiB", \
	  "Size of a message. List: the messages of a queue pair have these sizes in turn.", \
	  "choice") \
	X(sges, SIZES, "[]", "1B..64MiB", \
	  "Sizes of the scatter/gather elements of a send work request, whose sum replaces " \
	  "bytes. Empty: one element.", \
	  "choice") \
	X(receive_sges, SIZES, "[]", "1B..128MiB", \
	  "Sizes of the scatter/gather elements of a receive work request. Their sum must hold " \
	  "the message and, for transport ud, its header of 40 B. Empty: one element.", \
	  "choice") \
	X(max_recv_sge, COUNT, "1", "1..32", \
	  "Scatter/gather elements for which a receive WQE has room, 16 B each, rounded up to a " \
	  "power of two. receive_sges may need more.", \
	  "choice; verbs: ibv_qp_cap.max_recv_sge") \
	X(inline_data, FLAG, "false", "", \
	  "Data are inline: the WQE carries them.", \
	  "choice") \
	X(scatter_to_cqe, FLAG, "false", "", \
	  "Short messages and responses are written into the CQE. CQEs have 128 B with " \
	  "transport ud.", \
	  "choice") \
	X(cqe_compression, FLAG, "false", "", \
	  "Similar CQEs are compressed into one CQE with mini-CQEs.", \
	  "choice") \
	X(posting, CHOICE, "blueflame", \
	  "blueflame|doorbell|inline_blueflame", \
	  "Method of posting a single work request. inline_blueflame: by BlueFlame if its data " \
	  "are inline, else by doorbell.", \
	  "choice") \
	X(bfregs, COUNT, "0", "0..64", \
	  "Shared doorbell registers of a node, each protected by a lock. Queue pairs use them " \
	  "in turn, except the first low_latency_bfregs queue pairs. 0: each queue pair has " \
	  "its own register.", \
	  "choice; the mlx5 driver of Linux gives a process 16: 4 for one queue pair each, 11 " \
	  "shared") \
	X(low_latency_bfregs, COUNT, "4", "0..64", \
	  "Queue pairs of a node that have their own doorbell register when bfregs is set.", \
	  "the mlx5 driver of Linux, libmlx5: the first four are low-latency registers") \
	X(post_list, COUNT, "1", "1..128", \
	  "Work requests per doorbell. BlueFlame posts single work requests only.", \
	  "libmlx4, libmlx5: BlueFlame posts single work requests") \
	X(cq_mod, COUNT, "1", "1..4096", \
	  "CQ moderation: one of this many work requests generates a CQE.", \
	  "choice") \
	X(tx_depth, COUNT, "16", "1..4096", \
	  "Maximum number of incomplete work requests of a queue pair.", \
	  "choice") \
	X(refill, CHOICE, "each", "each|all", \
	  "Condition to post again to a queue pair that was full. each: one of its work " \
	  "requests is complete. all: all are complete.", \
	  "choice") \
	X(outstanding, COUNT, "0", "0..65536", \
	  "Maximum number of incomplete work requests of a thread, over all its queue pairs. " \
	  "All work requests are then signaled. 0: no limit.", \
	  "choice") \
	X(rx_depth, COUNT, "0", "0..32768", \
	  "Receive work requests of a queue pair, a power of two. 0: 256, or 2048 with " \
	  "transport ud.", \
	  "mlx5: 16-bit counters") \
	X(strides, COUNT, "0", "0..16383", \
	  "Transport ud: maximum number of packets that one receive work request takes. Each " \
	  "packet uses one stride or more. 0: one packet, without strides.", \
	  "choice") \
	X(stride_bytes, BYTES, "2KiB", "64B..64KiB", \
	  "Size of a stride.", \
	  "assumed: room for a packet of 1 KiB and its header of 40 B") \
	X(order, CHOICE, "random", "random|round_robin", \
	  "Order in which a thread selects among its queue pairs that have room.", \
	  "choice") \
	X(mtu, BYTES, "4096B", "256B..4096B", \
	  "Path MTU.", \
	  "choice") \
	X(max_rd_atomic, COUNT, "16", "1..128", \
	  "Maximum number of reads and atomics in flight per queue pair.", \
	  "HERD, SIGCOMM 2014 (row F-03)") \
	X(regions, COUNT, "1", "1..262144", \
	  "Memory regions that are written or read, per node or per thread (region_of).", \
	  "choice") \
	X(local_regions, COUNT, "1", "1..262144", \
	  "Memory regions of a posting thread that hold the data to send, or the responses to " \
	  "READs. Its work requests use them in turn. 1: one region (region_of).", \
	  "choice; Collie's and Husky's public traffic engines: mr_num") \
	X(region_of, CHOICE, "node", "node|thread", \
	  "Scope of the regions, including one for local data: one set per node, or one set " \
	  "per thread.", \
	  "choice") \
	X(addresses_per_region, COUNT, "1", "1..1099511627776", \
	  "Addresses used in each region, selected at random.", \
	  "choice") \
	X(address_stride, BYTES, "64B", "8B..1GiB", \
	  "Distance between two addresses.", \
	  "choice") \
	X(page, BYTES, "2MiB", "4KiB..1GiB", \
	  "Page size of the memory of the regions.", \
	  "choice") \
	X(paging, CHOICE, "none", "none|remote|local", \
	  "Regions registered for on-demand paging. remote: the regions that are written or " \
	  "read. local: the regions with the posting node's data.", \
	  "choice") \
	X(contiguous, FLAG, "false", "", \
	  "Regions are physically contiguous, so that their pages need no translation.", \
	  "choice") \
	X(counts, CHOICE, "completed", "completed|received", \
	  "Event that warm_up and operations count: a work request is complete, or a message " \
	  "is received.", \
	  "choice") \
	X(warm_up, COUNT, "2000", "", \
	  "Work requests before the measurement.", \
	  "choice") \
	X(operations, COUNT, "20000", "1..", \
	  "Work requests of the measurement.", \
	  "choice") \
	X(limit, TIME, "1s", "1us..", \
	  "Virtual time after which the load is aborted.", \
	  "choice")

#define LOAD_CPU_PARAMS(X) \
	X(post, TIME, "27ns", "0ps..1ms", \
	  "Time to build a WQE.", \
	  "calibrated: A2-05, Connect-IB, 32.2 M/s of one core with lists of 16 on 4 queue " \
	  "pairs") \
	X(ring, TIME, "50ns", "0ps..1ms", \
	  "Time of the doorbell store or stores, with their fences.", \
	  "calibrated: A2-05, ConnectX-3, 12.4 M/s of one core without lists, minus post") \
	X(poll, TIME, "20ns", "0ps..1ms", \
	  "Time to poll a CQE, from the moment its bytes are visible. Without DDIO the latency " \
	  "of memory is added.", \
	  "assumed: a cache miss to the LLC") \
	X(receive, TIME, "10ns", "0ps..1ms", \
	  "Time to post a receive work request in a list.", \
	  "assumed: one store") \
	X(lock_handoff, TIME, "108ns", "0ps..1ms", \
	  "Time to hand a lock from one core to another, for each waiting core. It covers a " \
	  "load and a compare-and-swap of a line that another core has written.", \
	  "David et al. (SOSP'13), Xeon, same die: 109 and 120 cycles of 2.13 GHz, recalled; " \
	  "this paper and Boyd-Wickizer et al. (Linux Symposium 2012): all waiting cores fetch " \
	  "the line") \
	X(idle_poll, TIME, "2ns", "1ps..1us", \
	  "Time to poll an unchanged request slot, whose line is in the core's own cache.", \
	  "assumed: latency of 4 cycles and a branch at 2 GHz") \
	X(cache, TIME, "20ns", "0ps..1ms", \
	  "Time to load a line from the last-level cache, where DMA writes with DDIO leave it.", \
	  "assumed: as poll") \
	X(memory, TIME, "90ns", "0ps..1ms", \
	  "Time to load a line from memory without contention.", \
	  "HERD, SIGCOMM 2014 4.1.1 (row A1-13): random access to DRAM, 60 to 120 ns; the middle " \
	  "of this range") \
	X(side_by_side, COUNT, "10", "1..64", \
	  "Lines with known addresses that a core loads concurrently.", \
	  "Intel optimization reference manual: a core has 10 line fill buffers") \
	X(noise_interval, TIME, "0ps", "0ps..1s", \
	  "Mean time between two disturbances of a posting core by its host, exponentially " \
	  "distributed. 0: no disturbances.", \
	  "choice; a timer tick of Linux at 250 Hz has 4ms, other disturbances add to it") \
	X(noise, TIME, "2us", "1ps..1ms", \
	  "Duration of a disturbance, during which the core does no work.", \
	  "assumed: a timer interrupt and its handler")

/* Cores of the first node that serve the requests of all others: docs/explanation/verbs-load.md. */
#define LOAD_SERVER_PARAMS(X) \
	X(cores, COUNT, "0", "0..64", \
	  "Server cores of the first node. They poll for the requests of the other nodes, " \
	  "process each one, and respond. 0: no servers.", \
	  "choice") \
	X(response, CHOICE, "write", "write|send|datagram|none", \
	  "Method of responding. write, send: through the queue pair of the request. datagram: " \
	  "a send through UD queue pairs of the core. none: no response; the client learns " \
	  "without delay that the request was taken.", \
	  "choice") \
	X(chosen, CHOICE, "fixed", "fixed|random", \
	  "Core that a request is for. fixed: always the same core for a client. random: any " \
	  "core.", \
	  "choice") \
	X(bytes, BYTES, "32B", "0B..4KiB", \
	  "Size of a response.", \
	  "choice") \
	X(inline_data, FLAG, "true", "", \
	  "Responses are inline in their WQEs.", \
	  "choice") \
	X(qps, COUNT, "1", "1..16", \
	  "Response datagram: UD queue pairs of a core, assigned to the clients in turn.", \
	  "choice") \
	X(batch, COUNT, "1", "1..64", \
	  "Maximum number of waiting requests that a core takes, processes and answers " \
	  "together.", \
	  "choice") \
	X(post_list, COUNT, "1", "1..64", \
	  "Responses per doorbell, among the responses of a batch on one queue pair.", \
	  "choice") \
	X(cq_mod, COUNT, "64", "1..1024", \
	  "CQ moderation: one of this many responses of a queue pair generates a CQE.", \
	  "choice") \
	X(work, TIME, "0ps", "0ps..1s", \
	  "Processor time of a request, without polling, memory lines and posting.", \
	  "choice") \
	X(lines, COUNT, "0", "0..64", \
	  "Memory lines that a request needs, each dependent on the previous one. The requests " \
	  "of a batch load their lines concurrently.", \
	  "choice") \
	X(table, BYTES, "1GiB", "64B..1024GiB", \
	  "Size of the table that holds these lines, at random addresses.", \
	  "choice") \
	X(changes, FLAG, "false", "", \
	  "The core modifies these lines.", \
	  "choice") \
	X(slot, BYTES, "64B", "64B..1MiB", \
	  "Distance between two request slots.", \
	  "choice: one line, as in HERD")
/* clang-format on */

/* Parameters in which the background differs from the load. */
/* clang-format off */
#define LOAD_BACKGROUND_PARAMS(X) \
	X(threads, COUNT, "0", "0..64", \
	  "Background threads of each posting node, which the results do not count. 0: none.", \
	  "choice") \
	X(qps, COUNT, "1", "1..4096", "Queue pairs of a thread to each other node.", "choice") \
	X(verb, CHOICE, "write", \
	  "write|read|send|fetch_add", \
	  "Operation of the work requests; send is not possible.", \
	  "choice") \
	X(bytes, BYTES, "64B", "0B..64MiB", \
	  "Size of a message.", \
	  "choice") \
	X(inline_data, FLAG, "false", "", \
	  "Data are inline: the WQE carries them.", \
	  "choice") \
	X(pattern, CHOICE, "same", \
	  "outbound|inbound|all|loopback|same", \
	  "Posting nodes and their targets. same: as load.pattern.", \
	  "choice") \
	X(regions, COUNT, "1", "1..262144", \
	  "Memory regions of each node that the background writes or reads, in addition to the " \
	  "regions of the load.", \
	  "choice") \
	X(local_regions, COUNT, "1", "1..262144", \
	  "Memory regions of a background thread that hold the data to send, or the responses " \
	  "to READs.", \
	  "choice")
/* clang-format on */

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

/* Values of the choices above, in the same order. */
enum { LOAD_SWITCH, LOAD_CABLE };
enum { LOAD_OUTBOUND, LOAD_INBOUND, LOAD_ALL, LOAD_LOOPBACK, LOAD_SAME };
enum { LOAD_RC, LOAD_UC, LOAD_UD, LOAD_DC };
enum { LOAD_WRITE, LOAD_READ, LOAD_SEND, LOAD_FETCH_ADD };
enum { LOAD_BLUEFLAME, LOAD_DOORBELL, LOAD_INLINE_BLUEFLAME };
enum { LOAD_RANDOM, LOAD_ROUND_ROBIN };
enum { LOAD_REFILL_EACH, LOAD_REFILL_ALL };
enum { LOAD_COMPLETED, LOAD_RECEIVED };
enum { LOAD_PAGING_NONE, LOAD_PAGING_REMOTE, LOAD_PAGING_LOCAL };
enum { LOAD_OF_THREAD, LOAD_OF_QP };
enum { LOAD_OF_NODE, LOAD_OF_EACH_THREAD };
enum { LOAD_RESPONSE_WRITE, LOAD_RESPONSE_SEND, LOAD_RESPONSE_DATAGRAM, LOAD_RESPONSE_NONE };
enum { LOAD_CHOSEN_FIXED, LOAD_CHOSEN_RANDOM };

/* Returns `bytes` of messages that all have one size. */
static inline struct param_sizes load_one_size(uint64_t bytes)
{
	return (struct param_sizes){.bytes = {bytes}, .count = 1};
}

extern const struct param load_place_param_list[], load_param_list[], load_cpu_param_list[],
	load_background_param_list[], load_server_param_list[];
extern const struct param_section
	load_sections[]; /* cpu, background, server; ends with an entry whose name is NULL */

#endif
