/* SPDX-License-Identifier: Apache-2.0 */
/* load_state: data structures that the files of the load generator share: the run, its nodes, their
 * cores and queue pairs. */
#ifndef TRAFFIC_LOAD_LOAD_STATE_H
#define TRAFFIC_LOAD_LOAD_STATE_H

#include "fabric/endpoints.h"
#include "hca/device/hca.h"
#include "hca/formats/cqe.h"
#include "hca/formats/wqe.h"
#include "sim/gauge.h"
#include "sim/random.h"
#include "traffic/load/load.h"

#define LOAD_PD            1
#define LOAD_POLL_LIST     16 /* CQEs that one poll call takes at most */
#define LOAD_NAME_BYTES    128
#define LOAD_LATENCIES_MAX 16384 /* latencies recorded per node */
#define LOAD_RECORD_BYTES  64
/* bytes of a message of a workload; a WQE allows 2^31 */
#define LOAD_MESSAGE_MAX (UINT64_C(1) << 30)
#define LOAD_DC_KEY      UINT64_C(0x1122334455667788)

/* SRQ of a DCT. A DCT must have an SRQ, but no message is sent to it. */
#define LOAD_SRQ_ENTRIES      2
#define LOAD_SRQ_STRIDE_BYTES (2 * WQE_DS_BYTES)

/* Addresses of the data. All hosts use the same addresses if there is one region. */
#define LOAD_LOCAL_ADDRESS  UINT64_C(0x100000000)
#define LOAD_REMOTE_ADDRESS UINT64_C(0x10000000000)
#define LOAD_TABLE_ADDRESS  UINT64_C(0x1000000000000)
/* Host address of local_regions. */
#define LOAD_LOCAL_REGIONS UINT64_C(0x2000000000000)

/* Marks an entry of `arrived` that is not a CQ index but a response written to memory. The other
 * bits are the number of the response. */
#define LOAD_RESPONSE_CAME UINT32_C(0x80000000)
#define LOAD_LOCAL_BYTES \
	(UINT64_C(128) << 20) /* more than the longest message and a datagram header */

struct expected_queue_mailboxes;
struct detailed_backend;
struct load_client;
struct workload_core;
struct load_end;
struct load_ends;
struct load_node;
struct load_server;
struct load_thread;
struct load_core;

struct load_lock {
	const struct load_core *last; /* core that holds the lock or held it last */
	sim_time free_at;
	sim_time busy;  /* total so far */
	uint32_t users; /* cores that hold the lock or wait for it */
};

struct load_qp {
	struct load_thread *thread;
	struct load_node *peer; /* NULL for UD and DC, which select a peer for each message */
	uint32_t number, dest;
	/* addresses of send ring, doorbell record and receive ring */
	uint64_t ring, record, receives;
	uint32_t ring_blocks;
	uint32_t depth; /* capacity of the ring in work requests */
	uint32_t receive_entries;
	uint32_t posted;  /* work requests posted */
	uint32_t retired; /* work requests completed */
	uint32_t receives_posted, receives_announced;
	uint32_t strides_used; /* strides used in the oldest receive work request */
	/* posts: the thread posts to this queue pair. ready: it is in the thread's list. */
	bool posts, ready;
	bool datagram;
	sim_time *began_at; /* [depth] start of each work request */
	/* client whose requests this queue pair carries; NULL: no servers */
	struct load_client *client;
	/* end of a workload's connection; NULL: the queue pair belongs to a load */
	struct load_end *end;
	struct load_lock lock;
	struct load_lock *doorbell; /* lock of a shared doorbell register; NULL: not shared */
};

struct load_cq {
	uint64_t at; /* address of the ring */
	uint32_t number, polled;
};

/* Sums over the first messages of a list of sizes: entry n covers n messages, entry `count` the
 * whole list. */
struct load_cycle {
	uint64_t bytes[PARAM_SIZES_MAX + 1];
	uint64_t packets[PARAM_SIZES_MAX + 1];
	uint64_t blocks[PARAM_SIZES_MAX + 1]; /* of their WQEs */
	uint32_t count;
};

struct load_core { /* processor core */
	struct load_thread *thread;
	struct event step;
	/* queue pair with new WQEs whose doorbell is not rung yet; NULL if none */
	struct load_qp *posting;
	sim_time busy; /* total so far, without noise */
	struct random noise;
	sim_time disturbed_at; /* start of the current or next disturbance by the host */
	/* the core builds WQEs and has not requested the doorbell lock yet */
	bool building;
	bool awake;
};

struct load_thread { /* queue pairs, CQs, and the core or cores that use them */
	struct load_node *node;
	struct load_core *cores; /* [cores_per_thread] */
	struct load_lock cq_lock;
	/* parameters of the load, the background or the responses */
	const struct load_params *params;
	struct load_server *server; /* server core that replaces `cores`; NULL: none */
	struct workload_core *core; /* core of a workload that replaces `cores`; NULL: none */
	struct load_cycle cycle;    /* sizes of the messages of a queue pair */
	struct load_qp *qps;
	uint32_t qp_count, index;
	bool posts;
	struct load_qp **ready; /* ring of qp_count entries */
	uint32_t ready_first, ready_count;
	uint32_t under_way; /* work requests in flight, all queue pairs */
	struct load_cq *cqs;
	uint32_t cq_count;
	/* ring with an entry for each CQE that was not polled yet: its CQ, or LOAD_RESPONSE_CAME */
	uint32_t *arrived;
	uint32_t arrived_mask, arrived_first, arrived_end;
	/* [regions] keys that threads with this index use for the regions of this thread's node */
	const uint32_t *keys;
	uint32_t local_key;   /* key of the region with the local data of the next work request */
	uint32_t *local_keys; /* [local_regions] used in turn; NULL: local_key alone */
	uint32_t local_used;  /* work requests that used them */
	uint32_t next_peer;   /* next peer for UD and DC */
	struct random random;
};

/* Target of a work request. */
struct load_target {
	const struct load_node *node;
	uint32_t qpn;     /* UD and DC: number of the target queue pair */
	uint32_t key;     /* writes, reads, atomics: key of the region */
	uint64_t address; /* writes, reads, atomics: address in the region */
	uint8_t verb;
	uint64_t bytes;
	uint64_t local; /* address of the local data, unless they are inline or a list */
	/* sends with immediate data, which carry the number of a request or response */
	bool numbered;
	uint32_t immediate;
};

struct load_cqe { /* CQE that was polled */
	struct load_qp *qp;
	uint8_t opcode, syndrome;
	uint16_t counter;
	uint32_t byte_count, immediate;
};

/* memory of the regions; stores lengths only, and notifies server cores of writes */
struct load_data {
	struct memory memory;
	struct load_node *node;
};

struct load_memory { /* memory of rings and CQs of a node; notifies its cores of CQEs */
	struct memory memory;
	struct load_node *node;
	uint8_t *bytes;
	uint64_t length, taken;
};

/* Totals of a node or of the whole load. */
struct load_tally {
	uint64_t completed, received; /* without the background */
	uint64_t background;          /* completed work requests of the background */
	uint64_t bytes;               /* payload of `completed` */
	/* value of the counter that load_count() selected, all nodes */
	uint64_t counted;
};

/* Work requests done. A message in flight counts with the share of its packets that has reached the
 * other end: docs/explanation/verbs-load.md. */
struct load_progress_count {
	double done, background;
	double bytes; /* payload of `done` */
};

struct load_latency { /* latency of one work request */
	sim_time noted_at;
	double ns;
};

struct load_node {
	struct load *load;
	struct hca_driver driver;
	struct address_resolver resolver;
	struct load_memory memory;
	struct load_data data;
	struct hca *hca; /* NULL: host of a workload whose adapter has fidelity endpoint */
	struct sim *sim; /* LP of the run that simulates the adapter */
	struct load_thread *threads;
	uint32_t thread_count;
	struct load_lock *doorbells; /* [bfregs] locks of shared doorbell registers */
	uint32_t doorbell_users;     /* queue pairs that post */
	uint32_t dct;                /* number of the DC target */
	const struct path **paths;   /* [nodes] */
	uint32_t *keys; /* [regions], or [threads * regions]; then the keys of the background */
	uint32_t index;
	struct hca_watcher watcher; /* of a workload's host */
	uint64_t buffer_bytes;      /* total size of the workload's message buffers */
	uint32_t cq_entries;        /* entries of each CQ of its threads */
	struct block block;         /* block that owns the steps of the cores */
	/* total paused time at start and end of the measurement */
	sim_time paused_at_start, paused_at_end;
	struct load_tally tally;
	uint64_t completed_at_start, completed_at_end;
	/* the first measured latencies; NULL before the first one */
	struct load_latency *latencies;
	uint32_t latency_count;
	sim_time failed_at; /* time of `failure` */
	char failure[128];  /* reason of a failure; "": none */
};

/* clang-format off */
#define CORE_GAUGES(X, meaning) \
	X(core, BUSY,   "ps", meaning) \
	X(work, WORK,   "ps", "the processor core has work, even if no send queue has any")
#define LOAD_GAUGES(X) \
	CORE_GAUGES(X, "the busiest processor core, which posts and polls") \
	X(lock, BUSY,   "ps", "the busiest lock shared by cores: held or being handed over")
/* clang-format on */

struct core_gauges {
	CORE_GAUGES(GAUGE_FIELD, "")
};

struct load_gauges {
	struct core_gauges cores;
	struct gauge lock;
};

static inline void core_serve(struct core_gauges *gauges, sim_time start, sim_time duration)
{
	gauge_serve(&gauges->core, start, duration);
	gauges->work.stalled += duration;
}

/* Draining: the measurement is over, and requests in flight complete. */
enum load_phase { LOAD_NEW, LOAD_MEASURING, LOAD_DRAINING, LOAD_OVER };

struct load {
	struct load_params params;
	/* parameters of the background: those of the load, except for the differences */
	struct load_params background;
	struct load_params responses; /* parameters of the responses that servers post */
	struct load_client *clients;
	uint32_t client_count;
	struct detailed_backend *backend; /* NULL: the load carries no workload */
	/* mailboxes of the messages expected by the ends */
	struct expected_queue_mailboxes *mailboxes;
	struct load_ends *ends; /* [nodes] */
	/* buffer size of pairs that connect during the run; 0: no such pairs */
	uint64_t any_bytes;
	uint8_t timeout, retry_count; /* of all connections */
	struct sim *sim;
	struct block block;
	struct load_gauges gauge;
	struct endpoints *endpoints;
	struct load_node *nodes;
	uint64_t count; /* counts of all nodes; not updated in slices with LPs in parallel */
	enum load_phase phase;
	sim_time slice_end;  /* of the current slice; 0: none */
	uint64_t slice_mark; /* value of `count` that no slice with `apart` reaches */
	bool apart;          /* the slice runs LPs in parallel; no phase ends in it */
	bool given_up;
	struct load_tally at_start, at_end;
	struct load_progress_count progress_at_start, progress_at_end;
	uint64_t count_at_start, count_at_end;
	sim_time started_at, ended_at;
	struct snapshot window[2]; /* at started_at and ended_at */
	const uint64_t *counter;
	_Atomic bool failed; /* true after any node failed */
};

/* Plan the resources of a node before it exists: the queue pairs of a thread and their use, the
 * entries of each CQ, and the bytes of memory for everything. */
void load_plan_thread(struct load_node *node, uint32_t index);
uint32_t load_plan_cq_entries(const struct load_node *node);
uint64_t load_plan_bytes(const struct load_node *node);

/* Create and free memory, regions, CQs and queue pairs of a node. The functions below
 * load_node_attach() need the node's HCA. */
void load_node_attach(struct load *load, uint32_t index);
void load_node_init(struct load_node *node);
void load_node_add_objects(struct load_node *node);
void load_node_add_qp(struct load_thread *thread, uint32_t index);
void load_node_connect(struct load_node *node);
void load_node_fini(struct load_node *node);

/* Connects a queue pair to its other end, which must exist. */
void load_qp_connect(struct load_qp *qp, const struct path *path, uint32_t dest, uint16_t pkey);

/* Writes "HOST.whatN" to `name`, where the adapter is called HOST.hca and N is the index of the
 * thread. */
void load_thread_name(const struct load_thread *thread, const char *what,
		      char name[LOAD_NAME_BYTES]);

/* Choose the target of the next work request; build its WQE. */
struct load_target load_thread_choose(struct load_qp *qp);
void load_thread_build(struct load_qp *qp, const struct load_target *target);
/* Returns false if the core must wait before its doorbell store. `step` is then scheduled for the
 * next attempt. */
bool load_thread_may_ring(const struct load_thread *thread, struct event *step);
void load_thread_ring(struct load_qp *qp);

/* load_thread_room() adds a queue pair to the ready list of its thread if it has room.
 * load_thread_take_ready() takes the next queue pair from that list. */
void load_thread_room(struct load_qp *qp);
struct load_qp *load_thread_take_ready(struct load_thread *thread);

/* load_thread_take() takes the oldest CQE, or response in memory, that was not polled yet, and
 * returns the cost. load_thread_has_arrived() returns true if there is one. */
bool load_thread_has_arrived(const struct load_thread *thread);
sim_time load_thread_take(struct load_thread *thread);

/* Takes the oldest CQE, which must not be compressed. The caller processes it. */
struct load_cqe load_thread_take_cqe(struct load_thread *thread);

/* Posts one more receive work request. */
void load_thread_post_receive(struct load_qp *qp);

/* Marks all slots of a CQ as empty. Used with compression. */
void load_thread_clear(struct load_thread *thread, uint32_t cq);

/* Returns the parameters of the responses that servers post. */
struct load_params load_responses_of(const struct load_params *params);

/* Returns the size of the largest WQE in blocks of its ring. */
uint32_t load_wqe_blocks(const struct load_params *params);

/* Returns the size of a WQE with a message of `bytes`, in blocks of its ring. */
uint32_t load_wqe_blocks_of(const struct load_params *params, uint64_t bytes);

/* Write data segments of a WQE. Each element of a list starts in a new page of local memory. */
void load_put_element(const struct load_thread *thread, uint8_t *at, uint64_t address,
		      uint64_t bytes);
void load_put_elements(const struct load_thread *thread, uint8_t *at,
		       const struct param_sizes *list);

/* Count a completed work request with a message of `bytes`, or a received message. The latency ends
 * when the CQE is polled, `poll` from now. The run may end with it. */
void load_completed(struct load_thread *thread, uint64_t bytes, sim_time began_at, sim_time poll);
void load_received(struct load_node *node);

/* Starts or ends the measurement if the count is reached. Call it after all work requests of one
 * CQE are counted, never between them. */
void load_mark(const struct load_node *node);

/* Returns the current progress of all nodes. load_progress.c */
struct load_progress_count load_progress_of(const struct load *load);

/* Returns true if progress is known per packet, as for connected queue pairs. Otherwise it counts
 * completed work requests. */
bool load_progress_known(const struct load *load);
bool load_is_over(const struct load *load);
void load_fail(struct load_node *node, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Datagrams leave no room for a message in 64. */
static inline uint32_t load_cqe_bytes(const struct load *load)
{
	return load->params.scatter_to_cqe && load->params.transport == LOAD_UD ? CQE_BYTES_MAX
										: CQE_BYTES;
}

/* Returns the number of threads of a node without servers. Background threads come last. */
static inline uint32_t load_threads(const struct load *load)
{
	return (uint32_t)(load->params.threads + load->params.background.threads);
}

static inline uint32_t load_power_of_two(uint64_t least)
{
	uint32_t size = 1;

	while (size < least)
		size *= 2;
	return size;
}

/* Returns the size of a receive WQE, a power of two. */
static inline uint32_t load_receive_stride(const struct load_params *params)
{
	uint64_t elements = params->receive_sges.count;

	if (elements < params->max_recv_sge)
		elements = params->max_recv_sge;
	return load_power_of_two(elements) * WQE_DS_BYTES;
}

static inline bool load_serves(const struct load *load)
{
	return load->params.server.cores > 0;
}

/* Returns true if each work request carries its own destination. */
static inline bool load_is_addressed(const struct load_params *params)
{
	return params->transport == LOAD_UD || params->transport == LOAD_DC;
}

/* Describe the peers of a node, for the load or its background. all: every other node. outbound,
 * inbound: the first node and each other node. loopback: the node itself. */
static inline uint32_t load_peer_count(const struct load_node *node,
				       const struct load_params *params)
{
	if (load_is_addressed(params) || params->pattern == LOAD_LOOPBACK ||
	    (params->pattern != LOAD_ALL && node->index != 0))
		return 1;
	return (uint32_t)params->nodes - 1;
}

static inline uint32_t load_peer(const struct load_node *node, const struct load_params *params,
				 uint32_t number)
{
	if (params->pattern == LOAD_LOOPBACK)
		return node->index;
	if (params->pattern != LOAD_ALL && node->index != 0)
		return 0;
	return number < node->index ? number : number + 1;
}

/* Returns the index of `peer`, another node, among the peers of `node`. */
static inline uint32_t load_peer_number(const struct load_node *node,
					const struct load_params *params, uint32_t peer)
{
	if (params->pattern != LOAD_ALL && node->index != 0)
		return 0;
	return peer < node->index ? peer : peer - 1;
}

/* ---- load_sizes.c: sizes of messages ---- */

uint64_t load_sizes_sum(const struct param_sizes *sizes); /* in bytes */

/* Sets params->bytes to the sum of the scatter/gather elements if there are any. */
void load_add_up(struct load_params *params);

/* Returns the size of the longest message. */
uint64_t load_longest(const struct load_params *params);

/* Returns true if a message has another size than `bytes`. */
bool load_has_other(const struct load_params *params, uint64_t bytes);

/* Computes the sums of a cycle. */
void load_cycle_init(struct load_cycle *cycle, const struct load_params *params);

/* Returns a sum over the first `number` messages of a queue pair. `sums` belongs to the cycle. */
static inline uint64_t load_cycle_before(const struct load_cycle *cycle, const uint64_t *sums,
					 uint32_t number)
{
	return number / cycle->count * sums[cycle->count] + sums[number % cycle->count];
}

/* Returns the share of message `number` of a queue pair: its bytes, packets or blocks. */
static inline uint64_t load_cycle_of(const struct load_cycle *cycle, const uint64_t *sums,
				     uint32_t number)
{
	return sums[number % cycle->count + 1] - sums[number % cycle->count];
}

/* Return the first block of WQE `number` of a queue pair, and the number of its blocks. Blocks
 * count modulo 2^32. */
static inline uint32_t load_qp_block(const struct load_qp *qp, uint32_t number)
{
	const struct load_cycle *cycle = &qp->thread->cycle;

	return (uint32_t)load_cycle_before(cycle, cycle->blocks, number);
}

static inline uint32_t load_qp_blocks(const struct load_qp *qp, uint32_t number)
{
	const struct load_cycle *cycle = &qp->thread->cycle;

	return (uint32_t)load_cycle_of(cycle, cycle->blocks, number);
}

/* ---- load_cores.c ---- */

/* Create and free the load.cores_per_thread cores of a thread. */
void load_cores_init(struct load_thread *thread, const char *name);
void load_cores_fini(struct load_thread *thread);

/* Starts posting at the current time. The core of a server thread starts to poll for requests. */
void load_cores_start(struct load_thread *thread);

/* Tells the cores of a thread that a CQE of CQ `cq` is visible. */
void load_cores_wake(struct load_thread *thread, uint32_t cq);

/* ---- load_lines.c ---- */

/* Returns the time to poll a CQE, or data, that DMA has just written: cpu.poll, plus the latency of
 * memory if the host has no DDIO. */
sim_time load_poll_time(const struct load_node *node);

#endif
