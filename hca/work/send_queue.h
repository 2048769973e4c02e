/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_queue: the send queue of one queue pair: its ring in host memory, what was read of it, and
 * the WQEs under way in slots.
 *
 *     ring --requested--> staging --parsed--> slots: oldest <= cursor <= tail
 *
 * Who writes what: doorbell.c the producer; wqe_fetch.c what was requested, staged and parsed, `tail`
 * and `oldest`; the requester `cursor` and, within a slot, what is said of its execution.
 */
#ifndef HCA_WORK_SEND_QUEUE_H
#define HCA_WORK_SEND_QUEUE_H

#include "hca/formats/contexts.h"
#include "hca/formats/cqe.h"
#include "hca/formats/wqe.h"
#include "hca/host/pcie.h"
#include "hca/work/latency_stages.h"
#include "sim/sim.h"

#define STAGING_BLOCKS 64
#define STAGING_BYTES  ((STAGING_BLOCKS + WQE_BLOCKS_MAX) * WQE_BLOCK_BYTES)

struct wqe_fetch;

/* One send WQE from when it is parsed until it is complete. */
struct send_slot {
	struct send_wqe wqe;
	enum wqe_error error; /* it must not be executed */
	enum work_status status;
	uint32_t tag;
	uint32_t first_psn;
	uint32_t psn_count;
	uint32_t responses;     /* read: packets of it that came back; atomic: 1 once it came */
	uint32_t transfers;     /* DMA transfers that follow its list */
	uint32_t unposted;      /* scatters among them whose writes are not all with PCIe */
	uint32_t departures;    /* last packets of it, on their way to the link */
	uint32_t block, blocks; /* of its WQE in the ring: the first, how many */
	bool at_hand; /* with a cache of send WQEs: it was looked up, or read again, for its grant */
	bool fetching;    /* it is being read again */
	bool list_coming; /* it is being read again for a response */
	bool started;     /* it has its PSNs */
	bool counted;     /* read, atomic: among those outstanding */
	bool done;        /* acknowledged, or with its whole response */
	bool completed;   /* its CQE is written; lives on for its transfers only */
	struct latency_stages stages;
	uint8_t response_bytes; /* of a read or atomic, for its CQE */
	uint8_t response[CQE_DATA_MAX];
};

struct staged_read { /* one read of the send queue, until its blocks are staged */
	struct staged_read *next;
	struct pcie_read read;
	struct send_queue *sq;
	uint32_t blocks;
	bool busy, stale;
	uint8_t bytes[]; /* params.read_blocks */
};

struct ring { /* a doorbell: which blocks it brought, and when */
	struct ring *next;
	uint32_t producer; /* behind its last block */
	sim_time stored_at, known_at;
};

struct send_queue {
	struct wqe_fetch *fetch;
	const struct hca_qp_attr *attr;               /* of its queue pair: the ring, its memory */
	uint32_t number;                              /* of its queue pair */
	uint32_t producer;                            /* blocks: what the doorbells say */
	uint32_t requested;                           /* blocks: asked for, by reads */
	uint32_t parsed;                              /* blocks: turned into slots */
	uint32_t staged;                              /* blocks at hand from `parsed` on */
	uint8_t *staging;                             /* STAGING_BYTES; NULL while `staged` is 0 */
	struct staged_read *reads_first, *reads_last; /* in the order of the ring */
	uint32_t reads_count;
	struct event parse;
	sim_time parse_next;             /* earliest time for the next WQE that was read */
	bool stored;                     /* what is staged came by BlueFlame */
	struct ring *rings, *rings_last; /* those whose WQEs are not all parsed */
	/* slots, by running number: oldest <= cursor <= tail */
	struct send_slot **slots; /* [window], a power of two */
	uint32_t window;
	uint32_t oldest, cursor, tail;
	bool has_work, fetch_waits, window_waits; /* as the gauges of wqe_fetch count it */
	uint64_t first_line;                      /* of the ring, in the cache */
};

static inline struct send_slot *send_queue_slot(const struct send_queue *sq, uint32_t number)
{
	return sq->slots[number & (sq->window - 1)];
}

#endif
