/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive_queue_state: what the files of the receive queues share: the queue, and what is fetched for it.
 *
 *     receive_queue.c (take, wait) --> receive_queue_fetch.c (doorbell record, WQEs) --> receive_queue.c (serve)
 *     receive_queue_flush.c: the end of what is posted
 */
#ifndef HCA_WORK_RECEIVE_QUEUE_STATE_H
#define HCA_WORK_RECEIVE_QUEUE_STATE_H

#include "hca/work/receive_queue.h"
#include "sim/gauge.h"

#define RECEIVE_KEPT_MAX 64

enum { RECEIVE_QUEUE_TRACE(TRACE_ENUM) };

struct receive_queue_gauges {
	RECEIVE_QUEUE_GAUGES(GAUGE_FIELD)
};

struct receive_queues {
	struct block block;
	struct receive_queue_counters count;
	struct receive_queue_gauges gauge;
	const struct receive_queues_blocks *blocks;
	const struct receive_queue_params *params;
	struct pool wqes;
	struct receive_queue *queues; /* all that are not freed */
	/* Rings of queue pairs in ERR, to which receives may be posted. */
	struct receive_queue *in_error;
};

struct receive_lines { /* of a queue, if there is a cache */
	struct receive_queue *queue;
	uint64_t first; /* the ring's first line */
	uint32_t asked; /* takes that wait and whose lookup is counted */
	bool head_read; /* the first WQE kept was read once more, for who waits */
	bool head_busy; /* that read is under way */
	uint32_t head_generation, head_count;
	uint64_t head_line;
	struct pcie_read head;
	struct event served; /* a fetch that finds all of its lines */
};

struct receive_queue {
	struct receive_queues *owner;
	struct receive_queue *next, **link; /* of the owner's; what names this one */
	struct hca_srq_attr attr;
	bool shared;
	bool serving;                /* a waiter takes: the context is at hand */
	struct completion_queue *cq; /* XRC */
	uint32_t number, users;
	uint32_t posted;  /* as far as is known */
	uint32_t fetched; /* arrived */
	uint32_t taken;
	uint32_t completed; /* ring: WQEs whose last CQE is written */
	uint32_t generation;
	uint16_t head; /* shared: index of the next to fetch */
	struct receive_wqe *kept_first, *kept_last;
	uint32_t kept_count;
	struct receive_waiter *waiting_first, *waiting_last;
	struct receive_waiter *flush_for;
	struct receive_waiter *error_poll_for; /* cancelled before it goes */
	uint32_t limit;
	bool limit_check, record_busy, wqes_busy, context_busy;
	struct context_lookup lookup;
	sim_time context_asked_at;
	struct event error_poll;
	uint32_t error_polls; /* since one of them found something, or a program ran */
	struct receive_queue *next_in_error, **link_in_error; /* NULL: it is in no list */
	uint32_t record_generation, wqes_generation;
	struct pcie_read record_read, wqe_read;
	uint8_t record[4];
	uint32_t read_count, read_index;
	uint8_t *bytes;              /* of prefetch strides; with a cache: of their lines */
	uint32_t bytes_start;        /* where the first stride is */
	struct receive_lines *lines; /* NULL: no cache */
};

/* receive_queue_fetch.c: reads what is wanted; the record alone. */
void receive_queue_refill(struct receive_queue *queue);
void receive_queue_read_record(struct receive_queue *queue);

/* Is there a WQE that can be taken now? Counts as its lookup in the cache; if it was replaced there, it is read again. */
bool receive_queue_has_next(struct receive_queue *queue);

/* Of a queue that begins and ends: its part of the cache. */
void receive_queue_add_lines(struct receive_queue *queue);
void receive_queue_remove_lines(struct receive_queue *queue);

/* receive_queue.c: who waits is served as far as WQEs are kept; all: and the others are told that there are none. */
void receive_queue_serve(struct receive_queue *queue);
void receive_queue_serve_all(struct receive_queue *queue);
struct receive_wqe *receive_queue_pop(struct receive_queue *queue);

/* receive_queue_flush.c: the record was read for it; the event of the polls; what is kept is gone. */
void receive_queue_flush_known(struct receive_queue *queue);
void receive_queue_poll(struct event *event);
void receive_queue_drop_kept(struct receive_queue *queue);

#endif
