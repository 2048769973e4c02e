/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_queue: the send queue of one queue pair: its ring in host memory, the blocks that were read,
 * and the WQEs in progress in slots.
 *
 *     ring --requested--> staging --parsed--> slots: oldest <= cursor <= tail
 *
 * Only wqe_fetch.c and wqe_refetch.c change a send queue. Doorbells and the requester call
 * wqe_fetch_rung(), _advance(), _rewind() and _retire(). The requester owns the fields of a slot
 * that describe its execution.
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

/* One send WQE, from its parsing to its completion. */
struct send_slot {
	enum wqe_error error; /* set if it must not be executed */
	enum work_status status;
	uint32_t tag;
	uint32_t first_psn;
	uint32_t psn_count;
	/* read: number of response packets received; atomic: 1 after the response */
	uint32_t responses;
	uint32_t transfers;     /* DMA transfers that use its list */
	uint32_t unposted;      /* scatters with writes that were not all passed to PCIe */
	uint32_t departures;    /* last packets that have not left the link yet */
	uint32_t block, blocks; /* place of the WQE in the ring: first block and number of blocks */
	bool at_hand;     /* with a cache of send WQEs: looked up, or read again, for its grant */
	bool fetching;    /* being read again for its grant */
	bool list_coming; /* being read again for a response */
	bool started;     /* has its PSNs */
	bool counted;     /* read, atomic: counted as outstanding */
	bool done;        /* acknowledged, or with its whole response */
	bool completed;   /* the CQE is written; only transfers still use the slot */
	struct latency_stages stages;
	uint8_t response_bytes; /* data of a read or atomic for its CQE */
	uint8_t response[CQE_DATA_MAX];
	struct send_wqe wqe; /* its list and inline data are last: only wqe_parse() writes them */
};

struct staged_read { /* one read of the send queue, until its blocks are staged */
	struct staged_read *next;
	struct pcie_read read;
	struct send_queue *sq;
	sim_time since; /* that it is in flight */
	uint32_t blocks;
	bool busy, stale;
	uint8_t bytes[]; /* [params.read_blocks] blocks */
};

struct send_queue_note { /* of a queue that a gauge of wqe_fetch counts */
	bool is;
	sim_time since;
};

struct ring { /* one doorbell: its last block and its times */
	struct ring *next;
	uint32_t producer; /* index after its last block */
	sim_time stored_at, known_at;
};

struct send_queue {
	struct wqe_fetch *fetch;
	const struct hca_qp_attr *attr; /* attributes of the queue pair: the ring and its memory */
	uint32_t number;                /* number of the queue pair */
	uint32_t producer;              /* blocks posted, by the doorbells */
	uint32_t requested;             /* blocks requested by reads */
	uint32_t parsed;                /* blocks parsed into slots */
	uint32_t staged;                /* blocks available from `parsed` on */
	uint32_t reads_count;
	uint8_t *staging;                             /* STAGING_BYTES; NULL while `staged` is 0 */
	struct staged_read *reads_first, *reads_last; /* in the order of the ring */
	struct event parse;
	sim_time parse_next;             /* private to the plan: earliest time for the next WQE */
	struct ring *rings, *rings_last; /* doorbells whose WQEs are not all parsed */
	/* slots, at WQE number modulo `window`: oldest <= cursor <= tail */
	struct send_slot **slots; /* [window], a power of two */
	uint32_t window;
	uint32_t oldest, cursor, tail;
	bool stored; /* the staged blocks came by BlueFlame */
	struct send_queue_note has_work, fetch_waits, window_waits;
	uint64_t first_line; /* number of the ring's first line in the cache */
};

static inline struct send_slot *send_queue_slot(const struct send_queue *sq, uint32_t number)
{
	return sq->slots[number & (sq->window - 1)];
}

#endif
