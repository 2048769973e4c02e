/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue: receive WQEs, of one QP (a ring) or shared (a list through next_wqe_index). They
 * are fetched ahead; how many are posted is what the doorbell record in host memory says, which is
 * read when those known run low.
 *
 *     responder --receive_queue_take()--> kept WQEs | pcie_read() --responder_wqe_came()-->
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_H
#define HCA_WORK_RECEIVE_QUEUE_H

#include "hca/context/context_cache.h"
#include "hca/formats/contexts.h"
#include "hca/formats/wqe.h"
#include "hca/host/pcie.h"
#include "hca/work/receive_queue_params.h"
#include "hca/work/wqe_cache.h"
#include "sim/pool.h"

/* clang-format off */
#define RECEIVE_QUEUE_COUNTERS(X) \
	X(record_reads, "reads", "reads of doorbell records") \
	X(wqe_reads, "reads", "reads of receive WQEs") \
	X(wqes, "WQEs", "fetched") \
	X(taken, "WQEs", "taken by responders") \
	X(released, "WQEs", "complete, with all of their transfers complete") \
	X(strides, "strides", "strides of multi-packet WQEs that packets used") \
	X(skipped, "strides", \
	  "unused strides at the end of a WQE that was too small for the next packet") \
	X(dropped, "WQEs", "fetched ahead and discarded by a flush or reset") \
	X(waits, "times", "a responder waited for a fetch") \
	X(empty, "times", "a responder found no receive WQE") \
	X(context_misses, "times", "the context of a shared receive queue was not in its cache") \
	X(context_wait_time, "ps", "total time waited for contexts of shared receive queues")

#define RECEIVE_QUEUE_GAUGES(X) \
	X(wqes, POOL, "responders", \
	  "responders of all queues that wait for the fetch of a receive WQE") \
	X(reads, QUEUE, "reads", "reads of receive WQEs and doorbell records in flight") \
	X(kept, QUEUE, "WQEs", "fetched ahead and not taken yet")

#define RECEIVE_QUEUE_TRACE(X) \
	X(RECORD, "queue", "posted", "a doorbell record is read") \
	X(FETCHED, "queue", "wqes", "receive WQEs arrive")
/* clang-format on */

struct receive_queue_counters {
	RECEIVE_QUEUE_COUNTERS(COUNTER_FIELD)
};

enum take { TAKE_OK, TAKE_WAIT, TAKE_EMPTY };

struct completion_queue;
struct receive_queue;
struct receive_queues;
struct event_queue;
struct number_table;
struct receive_waiter;

/* Who takes WQEs, the responder of a queue pair. While it waits it stands in the line of one queue. */
struct receive_waiter {
	struct receive_waiter *next;
	bool waits;
	uint32_t next_sequence; /* shared queue: earliest WQE whose CQE may come */
};

/* What the receive queues ask of the transport, whose responders take WQEs. */
struct receive_queue_user {
	/* A WQE can be taken now; there is none. */
	void (*came)(struct receive_waiter *waiter);
	void (*missing)(struct receive_waiter *waiter);
	/* Who waits keeps its queue pair; it may go with the last drop. */
	void (*hold)(struct receive_waiter *waiter);
	void (*drop)(struct receive_waiter *waiter);
	/* The queue pair is in ERR and not destroyed: what is posted is flushed. */
	bool (*flushes)(const struct receive_waiter *waiter);
	/* The WQE of that index ends as flushed. */
	void (*flushed)(struct receive_waiter *waiter, uint16_t wqe_counter);
};

/* What the receive queues are connected with: filled before the first WQE, and outlives them. */
struct receive_queues_blocks {
	struct pcie *pcie;
	struct context_cache *contexts;
	struct event_queue *events;
	struct wqe_cache *cache;        /* NULL: each queue keeps what was read for it */
	const struct number_table *cqs; /* of XRC's SRQs */
	const struct receive_queue_user *user;
};

/* All receive queues and SRQs of the adapter. */
struct receive_queues *receive_queues_create(struct sim *sim, const char *name,
					     const struct receive_queue_params *params,
					     const struct receive_queues_blocks *blocks);
void receive_queues_destroy(struct receive_queues *queues);
const struct receive_queue_counters *receive_queues_counters(const struct receive_queues *queues);

/* The ring of one queue pair; an SRQ. Held once. */
struct receive_queue *receive_queue_create_ring(struct receive_queues *queues,
						const struct hca_srq_attr *attr);
struct receive_queue *receive_queue_create_shared(struct receive_queues *queues,
						  const struct hca_srq_attr *attr);
void receive_queue_hold_queue(struct receive_queue *queue);
void receive_queue_drop(struct receive_queue *queue);

/* The WQE is the caller's; it, and each transfer that follows its list, counts in its users.
 * TAKE_WAIT: the user's came() or missing() follows later. */
enum take receive_queue_take(struct receive_queue *queue, struct receive_waiter *waiter,
			     struct receive_wqe **wqe);
void receive_queue_release(struct receive_queues *queues,
			   struct receive_wqe *wqe); /* one user fewer */

/*
 * A CQE of the WQE taken as number `sequence` is about to be written; ends: its last. Asserts the order: CQEs of a ring come in the order of
 * its WQEs, those of a shared queue in the order in which each queue pair took them.
 */
void receive_queue_complete(struct receive_queue *queue, struct receive_waiter *waiter,
			    uint32_t sequence, bool ends);

/* Returns true if the last CQE of that WQE is still to come. */
bool receive_queue_is_open(const struct receive_queue *queue, const struct receive_waiter *waiter,
			   uint32_t sequence);

/* Multi-packet WQEs: strides that a packet took, and that none did. */
void receive_queue_count_strides(struct receive_queues *queues, uint32_t taken, uint32_t skipped);

/* A program of the host ran, whose clock was `until` at the end: it may have posted to a queue pair in ERR, of which nothing tells. */
void receive_queues_host_ran(struct receive_queues *queues, sim_time until);

/* Ring only: every WQE that is posted ends as flushed, on the QP's receive CQ. */
void receive_queue_flush(struct receive_queue *queue, struct receive_waiter *waiter);
void receive_queue_reset(struct receive_queue *queue, struct receive_waiter *waiter);
void receive_queue_forget_waiter(struct receive_queue *queue, struct receive_waiter *waiter);

/* XRC: the CQ of its own and the index in its CQEs; NULL: the QP's. */
struct completion_queue *receive_queue_cq(const struct receive_queue *queue);
uint32_t receive_queue_user_index(const struct receive_queue *queue);
uint32_t receive_queue_pd(const struct receive_queue *queue);
bool receive_queue_serves(const struct receive_queue *queue, uint32_t xrcd);

/* It is destroyed: whoever waits hears that there is nothing. */
void receive_queue_close(struct receive_queue *queue);

/* Shared: its number, for events; the limit at which the driver is told, once; 0: none. */
void receive_queue_number(struct receive_queue *queue, uint32_t number);
void receive_queue_arm(struct receive_queue *queue, uint32_t limit);
uint32_t receive_queue_limit(const struct receive_queue *queue);

#endif
