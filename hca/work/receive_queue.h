/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue: receive WQEs of one QP (a ring) or of an SRQ (a list linked by next_wqe_index).
 * The adapter fetches WQEs ahead. The doorbell record in host memory holds the number of posted
 * WQEs. The adapter reads it when few known WQEs are left.
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

/* A taker of WQEs: the responder of a queue pair. While it waits, it is in the waiting list of one
 * queue. */
struct receive_waiter {
	struct receive_waiter *next;
	sim_time since; /* start of the wait */
	bool waits;
	uint32_t next_sequence; /* shared queue: the earliest WQE whose CQE is still to come */
};

/* Functions of the transport, whose responders take WQEs. */
struct receive_queue_user {
	/* came() reports that a WQE can be taken now. missing() reports that there is none. */
	void (*came)(struct receive_waiter *waiter);
	void (*missing)(struct receive_waiter *waiter);
	/* Keep and release the queue pair of a waiter. The last release may destroy it. */
	void (*hold)(struct receive_waiter *waiter);
	void (*drop)(struct receive_waiter *waiter);
	/* Returns true if the queue pair is in ERR and not destroyed, so that posted WQEs are
	 * flushed. */
	bool (*flushes)(const struct receive_waiter *waiter);
	/* Completes the WQE of that index as flushed. */
	void (*flushed)(struct receive_waiter *waiter, uint16_t wqe_counter);
};

/* Blocks that the receive queues use. Filled in before the first WQE; outlives the queues. */
struct receive_queues_blocks {
	struct pcie *pcie;
	struct context_cache *contexts;
	struct event_queue *events;
	struct wqe_cache *cache; /* NULL if each queue keeps the WQEs that were read for it */
	const struct number_table *cqs; /* completion queues of XRC SRQs */
	const struct receive_queue_user *user;
};

/* Creates the block of all receive queues and SRQs of the adapter. */
struct receive_queues *receive_queues_create(struct sim *sim, const char *name,
					     const struct receive_queue_params *params,
					     const struct receive_queues_blocks *blocks);
void receive_queues_destroy(struct receive_queues *queues);
const struct receive_queue_counters *receive_queues_counters(const struct receive_queues *queues);

/* Create the ring of one queue pair, or an SRQ, with one reference. */
struct receive_queue *receive_queue_create_ring(struct receive_queues *queues,
						const struct hca_srq_attr *attr);
struct receive_queue *receive_queue_create_shared(struct receive_queues *queues,
						  const struct hca_srq_attr *attr);
void receive_queue_hold_queue(struct receive_queue *queue);
void receive_queue_drop(struct receive_queue *queue);

/* Takes the next WQE. The caller owns it. wqe->users counts the caller and each transfer that uses
 * its list. With TAKE_WAIT, a call of the user's came() or missing() follows. */
enum take receive_queue_take(struct receive_queue *queue, struct receive_waiter *waiter,
			     struct receive_wqe **wqe);
void receive_queue_release(struct receive_queues *queues,
			   struct receive_wqe *wqe); /* releases one user */

/*
 * Reports that a CQE of WQE number `sequence` is about to be written; `ends` marks the last one.
 * Audits the order of CQEs. For a ring it is the order of the WQEs. For a shared queue it is the
 * order in which each queue pair took them.
 */
void receive_queue_complete(struct receive_queue *queue, struct receive_waiter *waiter,
			    uint32_t sequence, bool ends);

/* Returns true if the last CQE of that WQE is still to come. */
bool receive_queue_is_open(const struct receive_queue *queue, const struct receive_waiter *waiter,
			   uint32_t sequence);

/* Counts the strides of multi-packet WQEs that packets used and skipped. */
void receive_queue_count_strides(struct receive_queues *queues, uint32_t taken, uint32_t skipped);

/* Reports that a program of the host ran until `until`, by its own clock. The program may have
 * posted to a queue pair in ERR, because a receive WQE rings no doorbell. */
void receive_queues_host_ran(struct receive_queues *queues, sim_time until);

/* Ring only: completes every posted WQE as flushed, on the QP's receive CQ. */
void receive_queue_flush(struct receive_queue *queue, struct receive_waiter *waiter);
void receive_queue_reset(struct receive_queue *queue, struct receive_waiter *waiter);
void receive_queue_forget_waiter(struct receive_queue *queue, struct receive_waiter *waiter);

/* XRC: return the SRQ's own CQ and the index in its CQEs. receive_queue_cq() returns NULL if the
 * QP's CQ is used. */
struct completion_queue *receive_queue_cq(const struct receive_queue *queue);
uint32_t receive_queue_user_index(const struct receive_queue *queue);
uint32_t receive_queue_pd(const struct receive_queue *queue);
bool receive_queue_serves(const struct receive_queue *queue, uint32_t xrcd);

/* Destroys the queue. Waiting responders are notified that no WQE remains. */
void receive_queue_close(struct receive_queue *queue);

/* Shared: sets the number that events report; sets the limit that raises one event, 0 for none. */
void receive_queue_number(struct receive_queue *queue, uint32_t number);
void receive_queue_arm(struct receive_queue *queue, uint32_t limit);
uint32_t receive_queue_limit(const struct receive_queue *queue);

#endif
