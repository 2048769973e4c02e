/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wqe_fetch: reads send WQEs from the ring in host memory (or takes them from a BlueFlame store).
 * It parses them into the slots of their queue pair, ahead of the requester.
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

/* Functions of the transport, which owns the send queues. */
struct wqe_fetch_user {
	/* Returns true if WQEs of the queue may be read: it is in RTS or a later state, and not
	 * destroyed. */
	bool (*may_fetch)(const struct send_queue *sq);
	/* Reports new slots. */
	void (*posted)(struct send_queue *sq);
	/* Reports that the WQE of the slot at the cursor has arrived again, so that the queue may
	 * get a grant. */
	void (*wake)(struct send_queue *sq);
	/* Reports that a read of the ring failed. */
	void (*failed)(struct send_queue *sq);
	/* Keep and release the queue during a read. The last release may destroy it. */
	void (*hold)(struct send_queue *sq);
	void (*drop)(struct send_queue *sq);
	/* Returns the number of WQEs in slots of all queues. */
	uint64_t (*under_way)(const struct wqe_fetch_user *user);
};

/* Creates the block. `cache` is NULL without a cache. `user` and `cache` must outlive the block. */
struct wqe_fetch *wqe_fetch_create(struct sim *sim, const char *name,
				   const struct wqe_fetch_params *params, struct pcie *pcie,
				   struct wqe_cache *cache, const struct wqe_fetch_user *user);
void wqe_fetch_destroy(struct wqe_fetch *fetch);

/* Initialises and frees the send queue of a QP. */
void wqe_fetch_attach(struct wqe_fetch *fetch, struct send_queue *sq,
		      const struct hca_qp_attr *attr);
void wqe_fetch_detach(struct send_queue *sq);

/* Continues reading, because the producer index moved or slots became free. */
void wqe_fetch_kick(struct send_queue *sq);

/* Executes a doorbell, stored by the CPU at `stored_at`. It moves the producer index to the next
 * index with these low bits. Returns false, and changes nothing, if the ring cannot have such an
 * index. */
bool wqe_fetch_rung(struct send_queue *sq, uint16_t producer, sim_time stored_at);

/* Passes the bytes of a WQE that came with its doorbell. They are used if no earlier WQE is
 * pending. */
void wqe_fetch_blueflame(struct send_queue *sq, const uint8_t *bytes);

/* Drops all WQEs that are parsed, staged or being read, and restarts the ring. */
void wqe_fetch_reset(struct send_queue *sq);

/* Moves the cursor to the next slot. */
void wqe_fetch_advance(struct send_queue *sq);

/* Moves the cursor back to slot `number`, for a retransmission. */
void wqe_fetch_rewind(struct send_queue *sq, uint32_t number);

/* Retires the slot at `oldest`, which is complete. */
void wqe_fetch_retire(struct send_queue *sq);

/* Frees a slot that is complete and that no transfer uses. */
void wqe_fetch_free_slot(struct send_queue *sq, struct send_slot *slot);

const struct wqe_fetch_counters *wqe_fetch_counters(const struct wqe_fetch *fetch);

#endif
