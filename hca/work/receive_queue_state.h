/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue_state: the declarations that the files of the receive queues share: the queue, and
 * the state of its fetches.
 *
 *     receive_queue.c (take, wait) --> receive_queue_fetch.c (doorbell record, WQEs)
 *     receive_queue_fetch.c --> receive_queue.c (serve)
 *     receive_queue_flush.c: the end of posted WQEs
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_STATE_H
#define HCA_WORK_RECEIVE_QUEUE_STATE_H

#include "hca/work/receive_queue.h"
#include "sim/audit.h"

#define RECEIVE_KEPT_MAX 64

enum { RECEIVE_QUEUE_TRACE(TRACE_ENUM) };

struct receive_queue_gauges {
	RECEIVE_QUEUE_GAUGES(GAUGE_FIELD)
};

struct receive_queues {
	struct block block;
	struct receive_queue_counters count;
	struct receive_queue_gauges gauge;
	struct audit_order order; /* of WQEs in their queue */
	const struct receive_queues_blocks *blocks;
	const struct receive_queue_params *params;
	struct pool wqes;
	struct receive_queue *queues; /* all queues that are not freed */
	/* Rings of queue pairs in ERR, to which programs may still post. */
	struct receive_queue *in_error;
};

struct receive_lines { /* cache lines of a queue; used only with a cache */
	struct receive_queue *queue;
	uint64_t first; /* number of the ring's first line */
	uint32_t asked; /* waiting takes whose lookup was counted */
	bool head_read; /* the first kept WQE was read again for a waiter */
	bool head_busy; /* that read is in progress */
	uint32_t head_generation, head_count;
	uint64_t head_line;
	sim_time head_since; /* that it is in flight */
	struct pcie_read head;
	struct event served; /* ends a fetch whose lines were all in the cache */
};

struct receive_queue {
	struct receive_queues *owner;
	/* list of the owner's queues; `link` points to the pointer to this one */
	struct receive_queue *next, **link;
	struct hca_srq_attr attr;
	struct completion_queue *cq; /* XRC only */
	uint32_t number, users;
	uint32_t posted;  /* latest known number */
	uint32_t fetched; /* number of WQEs that have arrived */
	uint32_t taken;
	uint32_t completed; /* ring: number of WQEs whose last CQE is written */
	uint32_t generation;
	uint32_t kept_count;
	uint16_t head; /* shared: index of the next WQE to fetch */
	bool shared;
	bool serving; /* a waiter takes a WQE, and the context is cached */
	bool limit_check, record_busy, wqes_busy, context_busy;
	uint8_t record[4];
	struct receive_wqe *kept_first, *kept_last;
	struct receive_waiter *waiting_first, *waiting_last;
	struct receive_waiter *flush_for;
	/* the poll is cancelled before this waiter is freed */
	struct receive_waiter *error_poll_for;
	struct context_lookup lookup;
	sim_time context_asked_at;
	struct event error_poll;
	/* link_in_error is NULL if the queue is not in the list */
	struct receive_queue *next_in_error, **link_in_error;
	uint32_t error_polls; /* polls since a WQE was found or a program ran */
	uint32_t limit;
	uint32_t record_generation, wqes_generation;
	struct pcie_read record_read, wqe_read;
	sim_time record_since, wqes_since; /* that they are in flight */
	uint32_t read_count, read_index;
	uint32_t bytes_start; /* offset of the first stride */
	uint8_t *bytes;       /* buffer for prefetch strides; with a cache, for their lines */
	struct receive_lines *lines; /* NULL without a cache */
};

/* receive_queue_fetch.c: receive_queue_refill() reads all missing entries.
 * receive_queue_read_record() reads only the doorbell record. */
void receive_queue_refill(struct receive_queue *queue);
void receive_queue_read_record(struct receive_queue *queue);

/* Returns true if a WQE can be taken now. Counts as its lookup in the cache. If its line was
 * evicted, the function starts to read it again. */
bool receive_queue_has_next(struct receive_queue *queue);

/* Add the lines of a new queue to the cache, and remove them. */
void receive_queue_add_lines(struct receive_queue *queue);
void receive_queue_remove_lines(struct receive_queue *queue);

/* receive_queue.c: give kept WQEs to the waiters. receive_queue_serve_all() then tells the other
 * waiters that there is none. */
void receive_queue_serve(struct receive_queue *queue);
void receive_queue_serve_all(struct receive_queue *queue);
struct receive_wqe *receive_queue_pop(struct receive_queue *queue);

/* receive_queue_flush.c: continues a flush after the read of the record; handles the poll event;
 * drops the kept WQEs. */
void receive_queue_flush_known(struct receive_queue *queue);
void receive_queue_poll(struct event *event);
void receive_queue_drop_kept(struct receive_queue *queue);

#endif
