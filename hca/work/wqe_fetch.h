/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch: brings send WQEs from the ring in host memory (or out of a BlueFlame store) and parses
 * them into the slots of their queue pair, ahead of the requester.
 *
 *     doorbell --wqe_fetch_kick(), _blueflame()--> pcie_read() --> staging --> slots --> scheduler
 */
#ifndef HCA_WORK_WQE_FETCH_H
#define HCA_WORK_WQE_FETCH_H

#include "hca/work/send_queue.h"
#include "hca/work/wqe_cache.h"
#include "hca/work/wqe_fetch_params.h"
#include "sim/gauge.h"

/* clang-format off */
#define WQE_FETCH_COUNTERS(X) \
	X(reads, "reads", "PCIe reads of send WQEs from host memory") \
	X(read_blocks, "blocks", "64-byte blocks read from send queues") \
	X(blueflame, "WQEs", "that arrived with their doorbell and were not read") \
	X(wqes, "WQEs", "parsed") \
	X(malformed, "WQEs", "that could not be parsed") \
	X(retired, "WQEs", "complete (with or without a CQE), failed or flushed") \
	X(dropped, "WQEs", "parsed and discarded by a reset of their queue pair") \
	X(window_full, "times", "parsing waited because the window of a queue pair was full")

#define WQE_FETCH_GAUGES(X) \
	X(work, WORK, "queue pairs", "with send WQEs that are posted and not complete") \
	X(reads, QUEUE, "reads", "reads of send WQEs in flight") \
	X(fetch, SHARE, "queue pairs", "idle until more WQEs are read") \
	X(window, SHARE, "queue pairs", "idle because the window is full")

#define WQE_FETCH_TRACE(X) \
	X(WQE_READ, "qpn", "blocks", "a read of send WQEs starts") \
	X(WQE_PARSED, "qpn", "index", "a WQE is passed to its requester")
/* clang-format on */

struct wqe_fetch_counters {
	WQE_FETCH_COUNTERS(COUNTER_FIELD)
};

struct wqe_fetch;

/* What the fetch asks of the owner of its send queues, the transport. */
struct wqe_fetch_user {
	/* WQEs of the queue may be read: it is in RTS or a later state, and not destroyed. */
	bool (*may_fetch)(const struct send_queue *sq);
	/* New slots are there. */
	void (*posted)(struct send_queue *sq);
	/* The slot at the cursor is at hand again: the queue may have a grant. */
	void (*wake)(struct send_queue *sq);
	/* A read of the ring failed. */
	void (*failed)(struct send_queue *sq);
	/* A read under way keeps the queue alive; it may go with the last drop. */
	void (*hold)(struct send_queue *sq);
	void (*drop)(struct send_queue *sq);
	/* Returns the WQEs in slots of all queues. */
	uint64_t (*under_way)(const struct wqe_fetch_user *user);
};

/* cache: NULL: none. `user` and `cache` outlive the block. */
struct wqe_fetch *wqe_fetch_create(struct sim *sim, const char *name,
				   const struct wqe_fetch_params *params, struct pcie *pcie,
				   struct wqe_cache *cache, const struct wqe_fetch_user *user);
void wqe_fetch_destroy(struct wqe_fetch *fetch);

/* What the QP's send queue needs. */
void wqe_fetch_attach(struct wqe_fetch *fetch, struct send_queue *sq,
		      const struct hca_qp_attr *attr);
void wqe_fetch_detach(struct send_queue *sq);

/* The producer index moved, or slots are free again. */
void wqe_fetch_kick(struct send_queue *sq);

/* For the gauges: WQEs were posted, parsed, sent, or are complete. */
void wqe_fetch_note_work(struct send_queue *sq);

/* The producer index was moved by a doorbell that the CPU stored at that time. */
void wqe_fetch_rung(struct send_queue *sq, sim_time stored_at);

/* A doorbell brought the WQE's bytes along; they are used if nothing is before it. */
void wqe_fetch_blueflame(struct send_queue *sq, const uint8_t *bytes);

/* What is parsed, staged or being read is dropped: the ring begins again. */
void wqe_fetch_reset(struct send_queue *sq);

/* The slot at `oldest` is complete. */
void wqe_fetch_retire(struct send_queue *sq);

/* The slot is complete and no transfer follows it any more. */
void wqe_fetch_free_slot(struct send_queue *sq, struct send_slot *slot);

const struct wqe_fetch_counters *wqe_fetch_counters(const struct wqe_fetch *fetch);

#endif
