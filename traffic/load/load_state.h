/* SPDX-License-Identifier: Apache-2.0 */
/* load_state: what the files of the load generator share: the run, its nodes, their cores and queue pairs. */
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
#define LOAD_POLL_LIST     16 /* CQEs that one call takes at most */
#define LOAD_NAME_BYTES    128
#define LOAD_LATENCIES_MAX 16384 /* that are noted */
#define LOAD_RECORD_BYTES  64
#define LOAD_MESSAGE_MAX   (UINT64_C(1) << 30) /* of a workload; of 2^31 that a WQE has room for */
#define LOAD_DC_KEY        UINT64_C(0x1122334455667788)

/* Of a DCT, which must have an SRQ; nothing is sent to it. */
#define LOAD_SRQ_ENTRIES      2
#define LOAD_SRQ_STRIDE_BYTES (2 * WQE_UNIT_BYTES)

/* Addresses of the data, which hosts have at the same addresses if there is one region. */
#define LOAD_LOCAL_ADDRESS  UINT64_C(0x100000000)
#define LOAD_REMOTE_ADDRESS UINT64_C(0x10000000000)
#define LOAD_TABLE_ADDRESS  UINT64_C(0x1000000000000)

/* In the place of a CQ's index: a response, of that number, was written to memory. */
#define LOAD_RESPONSE_CAME UINT32_C(0x80000000)
#define LOAD_LOCAL_BYTES \
	(UINT64_C(128) << 20) /* beyond the longest message, with room for a datagram's header */

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
	const struct load_core *last; /* held it last, or does */
	sim_time free_at;
	sim_time busy;  /* so far */
	uint32_t users; /* cores that hold it or wait for it */
};

struct load_qp {
	struct load_thread *thread;
	struct load_node *peer; /* UD, DC: NULL, chosen for each message */
	uint32_t number, dest;
	uint64_t ring, record, receives; /* addresses: send ring, doorbell record, receive ring */
	uint32_t ring_blocks;
	uint32_t depth; /* work requests that the ring has room for */
	uint32_t receive_entries;
	uint32_t posted;  /* work requests */
	uint32_t retired; /* of them */
	uint32_t receives_posted, receives_told;
	uint32_t strides_used; /* of the oldest receive work request */
	bool posts, ready;     /* its thread posts to it; it is in its thread's list */
	bool datagram;
	sim_time *began_at;         /* [depth] */
	struct load_client *client; /* whose requests are posted to it; NULL: nobody responds */
	struct load_end *end;       /* of a workload; NULL: of a load */
	struct load_lock lock;
	struct load_lock
		*doorbell; /* of the register that it shares with others; NULL: it has its own */
};

struct load_cq {
	uint64_t at; /* its address */
	uint32_t number, polled;
};

struct load_core { /* of a processor */
	struct load_thread *thread;
	struct event step;
	struct load_qp *posting; /* its WQEs are being built; the doorbell follows */
	sim_time busy;           /* so far, without noise */
	struct random noise;
	sim_time disturbed_at; /* when the host takes the core away next, or did last */
	bool building;         /* the WQEs, before it asks for the doorbell's lock */
	bool awake;
};

struct load_thread { /* queue pairs and CQs, and the core or cores that work with them */
	struct load_node *node;
	struct load_core *cores; /* [cores_per_thread] */
	struct load_lock cq_lock;
	const struct load_params *params; /* the load's, the background's, or the responses' */
	struct load_server *server;       /* in the place of its cores; NULL: it does not respond */
	struct workload_core *core;       /* the same, for a workload */
	uint32_t blocks;                  /* of a WQE */
	struct load_qp *qps;
	uint32_t qp_count, index;
	bool posts;
	struct load_qp **ready; /* a ring of qp_count */
	uint32_t ready_first, ready_count;
	uint32_t under_way; /* work requests of all queue pairs */
	struct load_cq *cqs;
	uint32_t cq_count;
	uint32_t *
		arrived; /* a ring: of which CQ each CQE is that was not polled yet; or LOAD_RESPONSE_CAME */
	uint32_t arrived_mask, arrived_first, arrived_end;
	const uint32_t *keys; /* [regions], of those that threads of this number use in its node */
	uint32_t local_key;
	uint32_t next_peer; /* UD, DC */
	struct random random;
};

/* Where a work request goes. */
struct load_target {
	const struct load_node *node;
	uint32_t qpn;     /* UD */
	uint32_t key;     /* writes, reads, atomics: of the region ... */
	uint64_t address; /* ... in which this is */
	uint8_t verb;
	uint64_t bytes;
	uint64_t local; /* address of the data here, unless they are inline or a list */
	bool numbered;  /* sends: of a request or a response, which the immediate data tell */
	uint32_t immediate;
};

struct load_cqe { /* that was polled */
	struct load_qp *qp;
	uint8_t opcode, syndrome;
	uint16_t counter;
	uint32_t byte_count, immediate;
};

struct load_data { /* what is written to and read from regions, where cores respond: lengths, and who is told of them */
	struct memory memory;
	struct load_node *node;
};

struct load_memory { /* rings and CQs of a node; tells its cores of CQEs */
	struct memory memory;
	struct load_node *node;
	uint8_t *bytes;
	uint64_t length, taken;
};

/* What has happened so far: of a node, or of all. */
struct load_tally {
	uint64_t completed, received; /* not of the background */
	uint64_t background;          /* completed */
	uint64_t counted;             /* of all: load_count() */
};

/* Work requests that are done, the parts of messages that have come to the other end included: docs/explanation/verbs-load.md. */
struct load_progress_count {
	double done, background;
};

struct load_latency { /* of a work request */
	sim_time noted_at;
	double ns;
};

struct load_node {
	struct load *load;
	struct hca_driver driver;
	struct address_resolver resolver;
	struct load_memory memory;
	struct load_data data;
	struct hca *hca; /* NULL: of a workload's host whose adapter is of fidelity endpoint */
	struct sim *sim; /* the adapter's LP of the run */
	struct load_thread *threads;
	uint32_t thread_count;
	struct load_lock *doorbells; /* [bfregs] */
	uint32_t doorbell_users;     /* queue pairs that post */
	uint32_t dct;                /* DC: its target */
	const struct path **paths;   /* [nodes] */
	uint32_t *keys; /* [regions], or as many for each thread; then those of the background */
	uint32_t index;
	struct hca_watcher watcher;              /* of a workload ... */
	uint64_t buffer_bytes;                   /* ... and all buffers of its messages */
	uint32_t cq_entries;                     /* of each CQ of its threads */
	struct block block;                      /* of its cores' steps */
	sim_time paused_at_start, paused_at_end; /* in all, until then */
	struct load_tally tally;
	uint64_t completed_at_start, completed_at_end;
	struct load_latency *latencies; /* the first of those that count; NULL: none yet */
	uint32_t latency_count;
	sim_time failed_at; /* of `failure` */
	char failure[128];  /* "": none */
};

/* clang-format off */
#define CORE_GAUGES(X, meaning)      \
	X(core, BUSY,   "ps", meaning) \
	X(work, WORK,   "ps", "of that core: there is work, even if no send queue has any")
#define LOAD_GAUGES(X)                                                        \
	CORE_GAUGES(X, "the busiest processor core, which posts and polls")   \
	X(lock, BUSY,   "ps", "the busiest lock of what cores share, held or handed over")
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

struct load {
	struct load_params params;
	struct load_params background; /* the same but for what differs */
	struct load_params responses;  /* the same, of what servers post */
	struct load_client *clients;
	uint32_t client_count;
	struct detailed_backend *backend;           /* NULL: it carries no workload */
	struct expected_queue_mailboxes *mailboxes; /* of what its ends are told */
	struct load_ends *ends;                     /* [nodes] */
	uint64_t any_bytes; /* buffers of pairs that are joined during the run; 0: none is */
	uint8_t timeout, retry_count; /* of connections */
	struct sim *sim;
	struct block block;
	struct load_gauges gauge;
	struct endpoints *endpoints;
	struct load_node *nodes;
	uint64_t
		count; /* of what `counts` says, of all nodes; in slices in which LPs run at a time not kept */
	bool apart; /* in such a slice: nothing is over in it */
	bool given_up;
	struct load_tally at_start, at_end;
	struct load_progress_count progress_at_start, progress_at_end;
	uint64_t count_at_start, count_at_end;
	sim_time started_at, ended_at;
	const uint64_t *counter;
	_Atomic bool failed; /* any node has */
};

/* A thread's queue pairs, and what they are for; entries of each CQ of a node; bytes that all of it takes. */
void load_plan_thread(struct load_node *node, uint32_t index);
uint32_t load_plan_cq_entries(const struct load_node *node);
uint64_t load_plan_bytes(const struct load_node *node);

/* Memory, regions, CQs, queue pairs of a node; those for whom there has to be its HCA come after load_node_attach(). */
void load_node_attach(struct load *load, uint32_t index);
void load_node_init(struct load_node *node);
void load_node_add_objects(struct load_node *node);
void load_node_add_qp(struct load_thread *thread, uint32_t index);
void load_node_connect(struct load_node *node);
void load_node_fini(struct load_node *node);

/* To the other end, which is there. */
void load_qp_connect(struct load_qp *qp, const struct path *path, uint32_t dest, uint16_t pkey);

/* HOST.whatN, of an adapter HOST.hca. */
void load_thread_name(const struct load_thread *thread, const char *what,
		      char name[LOAD_NAME_BYTES]);

/* Where the next work request goes. Builds it; tells the HCA of all that were built since. */
struct load_target load_thread_choose(struct load_qp *qp);
void load_thread_build(struct load_qp *qp, const struct load_target *target);
/* Returns false if the core has to wait with its stores: `step` is scheduled for when to ask again. */
bool load_thread_may_ring(const struct load_thread *thread, struct event *step);
void load_thread_ring(struct load_qp *qp);

/* A queue pair that has room, perhaps. The one whose turn it is of those that have. */
void load_thread_room(struct load_qp *qp);
struct load_qp *load_thread_take_ready(struct load_thread *thread);

/* Takes the oldest CQE, or response in memory, that was not polled yet, and says what that costs. */
bool load_thread_has_arrived(const struct load_thread *thread);
sim_time load_thread_take(struct load_thread *thread);

/* The same of a CQE that is not compressed, and what it says is left to the caller. */
struct load_cqe load_thread_take_cqe(struct load_thread *thread);

/* A receive work request, like the others. */
void load_thread_post_receive(struct load_qp *qp);

/* With compression: no slot of the CQ holds anything. */
void load_thread_clear(struct load_thread *thread, uint32_t cq);

/* What cores that respond post, in place of what clients do. */
struct load_params load_responses_of(const struct load_params *params);

uint64_t load_sizes_sum(const struct param_sizes *sizes); /* bytes */

/* Elements make up the message: params->bytes is their sum, if there are some. */
void load_add_up(struct load_params *params);

/* What a work request is, in blocks of its ring. */
uint32_t load_wqe_blocks(const struct load_params *params);

/* Data segments of a WQE; those of a list begin in a page of local memory each. */
void load_put_element(const struct load_thread *thread, uint8_t *at, uint64_t address,
		      uint64_t bytes);
void load_put_elements(const struct load_thread *thread, uint8_t *at,
		       const struct param_sizes *list);

/* One is complete, once its CQE is polled; the run may be over. */
void load_completed(struct load_thread *thread, sim_time began_at, sim_time poll);
void load_received(struct load_node *node);

/* After all that one CQE tells of: what is measured may begin or end here, never inside. */
void load_mark(const struct load_node *node);

/* How far all are now. load_progress.c */
struct load_progress_count load_progress_of(const struct load *load);

/* Is it known by packet? Of connected queue pairs; else by what is complete. */
bool load_progress_known(const struct load *load);
bool load_is_over(const struct load *load);
void load_fail(struct load_node *node, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What went wrong first; NULL: nothing. */
const char *load_failure(const struct load *load);

/* Datagrams leave no room for a message in 64. */
static inline uint32_t load_cqe_bytes(const struct load *load)
{
	return load->params.scatter_to_cqe && load->params.transport == LOAD_UD ? CQE_BYTES_MAX
										: CQE_BYTES;
}

/* Of each node where nobody responds, background included, which come last. */
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

/* Of a receive WQE; of the receive ring a power of two. */
static inline uint32_t load_receive_stride(const struct load_params *params)
{
	uint32_t elements = params->receive_sges.count;

	return load_power_of_two(elements ? elements : 1) * WQE_UNIT_BYTES;
}

static inline bool load_serves(const struct load *load)
{
	return load->params.server.cores > 0;
}

/* Does each work request say where it goes? */
static inline bool load_is_addressed(const struct load_params *params)
{
	return params->transport == LOAD_UD || params->transport == LOAD_DC;
}

/* Who has connected queue pairs with whom, of the load or of its background: all with all, the first node with the others, or each
 * with itself. */
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

/* The number of `peer`, which is another, among the peers of `node`. */
static inline uint32_t load_peer_number(const struct load_node *node,
					const struct load_params *params, uint32_t peer)
{
	if (params->pattern != LOAD_ALL && node->index != 0)
		return 0;
	return peer < node->index ? peer : peer - 1;
}

/* ---- load_cores.c ---- */

/* The cores of a thread, load.cores_per_thread of them. */
void load_cores_init(struct load_thread *thread, const char *name);
void load_cores_fini(struct load_thread *thread);

/* They begin to post, at this instant; a thread that serves waits for requests. */
void load_cores_start(struct load_thread *thread);

/* A CQE of that CQ is visible. */
void load_cores_wake(struct load_thread *thread, uint32_t cq);

/* ---- load_lines.c ---- */

/* To look at a CQE, or at data, that DMA has just written: cpu.poll, and memory's latency where the host has no DDIO. */
sim_time load_poll_time(const struct load_node *node);

#endif
