/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_state: what pcie.c (reads), pcie_write.c, pcie_mmio.c and pcie_host.c share, and nobody else sees.
 */
#ifndef HCA_HOST_PCIE_STATE_H
#define HCA_HOST_PCIE_STATE_H

#include <assert.h>

#include "hca/host/host.h"
#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "hca/host/tlp.h"

enum { PCIE_TRACE(TRACE_ENUM) };

enum { MMIO_BYTES_MAX = 64, MMIO_SLOTS_FIRST = 64, STORES_A_WQE = 16, CREDIT_DATA_BYTES = 16 };

/*
 * The order of the block's events at one instant. A host behind the root complex lets a time be known later, and a group of requests
 * saves events: none of this may change the order.
 */
enum pcie_turn { TURN_VISIBLE, TURN_COMPLETED, TURN_LOADED, TURN_ARRIVED, TURN_TAG, TURN_CREDIT };

/* Requests of one read that left at the same instant; one alone where a host is behind the root complex. */
struct request_group {
	struct event event; /* the first one's completion, then the last one's arrival */
	struct pcie_read *read;
	uint64_t serial;         /* of the first one */
	uint32_t offset, length; /* of the read's bytes */
	bool held;     /* all are in order when writes before them are visible, at one instant */
	bool unmapped; /* the host has no bytes for it */
	uint64_t remainder; /* of the first one's departure, for pcie_link_next() */
	struct request_group *next_free;
	/* with a host */
	struct host_access access;
	struct pcie_order order;
	sim_time left_at, translated_at; /* SIM_NEVER: not known yet */
};

/* A TLP of a write that left for a host and is not known to be visible. */
struct write_packet {
	struct event event; /* at the root complex; translated */
	struct host_access access;
	struct pcie *pcie;
	struct pcie_write *write;
	uint64_t serial;
	uint32_t data; /* credits */
	bool is_known;
	sim_time at;    /* is_known: when it would be visible, were it alone */
	sim_time floor; /* what left behind it, and passed it, is visible then */
	struct write_packet *previous, *next;
};

/* One request of a group after the other. */
struct completion_walk {
	uint64_t address;
	uint32_t left,
		length; /* of the group from this one on, of this one; left is 0 behind the last */
	sim_time ready;
	uint64_t remainder;
};

/* Completions that are booked on the link ahead of their time: of the last group that has more than one request. */
struct completion_train {
	struct request_group *group;
	struct completion_walk next; /* of those that are booked since `mark`: the first */
	sim_time last_ready;         /* all is over then */
	struct pcie_link_mark mark;
};

struct tag_return {
	sim_time at;
	bool group_ends; /* at the same instant: group_arrived() will look for reads that wait */
};

struct mmio_slot {
	sim_time arrival;
	bool is_load;
	struct pcie_mmio_read *load; /* NULL: nobody waits for it any more */
	uint64_t offset;
	uint32_t length;
	uint8_t bytes[MMIO_BYTES_MAX];
};

struct read_queue {
	struct pcie_read *first, **last;
};

struct write_queue {
	struct pcie_write *first, **last;
};

/* Credits taken and when they come back, ascending. */
struct credit_return {
	sim_time at;
	uint32_t headers, data;
};

struct credit_ring {
	struct credit_return *returns; /* [size]: at most as many as there are headers */
	uint64_t size, first, count;
	uint64_t headers_free, data_free;
	uint64_t headers_out; /* taken, and not known when they come back */
};

enum direction { TO_HOST, TO_DEVICE };

struct pcie {
	struct block block;
	struct pcie_params param;
	struct pcie_counters count;
	struct pcie_gauges gauge;
	struct pcie_link to_host, to_device;
	bool dllps_counted;

	struct read_queue reads_waiting;
	/* [tags + 1]: the last tag may return just before its group. */
	struct request_group *groups, *groups_free;
	struct host *host; /* behind the root complex; NULL: latencies of the parameters alone */
	sim_time one_way;  /* link, switch, and flit */
	uint64_t tags_free;
	/* [tags]: a ring of the tags that are completed, ascending. */
	struct tag_return *tag_returns;
	uint64_t tag_return_first, tag_return_count;
	struct completion_train train;
	struct event tag_event; /* pending: a read waits for the first of these, or for an NPH */
	bool request_short;     /* a read waits for an NPH */
	struct credit_ring nonposted;

	struct write_queue writes_waiting;
	uint64_t writes_called, writes_sent; /* those that have bytes */
	struct credit_ring posted;
	uint64_t posted_data_unseen; /* credits of writes that are not visible */
	struct event credit_event;   /* pending: a write waits for the first of these */
	sim_time visible_at; /* of the writes sent: when the last of which that is known is */
	/* with a host: TLPs of writes in the order of departure, from the first that is not known to be visible on */
	struct write_packet *packets, *packets_free; /* packets: [posted_headers] */
	struct write_packet *packets_first, *packets_last;
	uint64_t packets_sent;
	struct pcie_order *order_first, **order_last; /* reads and loads behind these */

	struct mmio_slot *mmio; /* a ring; [mmio_slots], a power of two */
	uint64_t mmio_slots, mmio_first, mmio_count;
	uint64_t stores;       /* of these, those that are no loads */
	bool mmio_refused;     /* the handler has no room for the first */
	sim_time mmio_left_at; /* when the last one was on the link */
	struct event mmio_event;
	pcie_mmio_handler *mmio_handler;
	void *mmio_context;
	pcie_mmio_read_handler *mmio_read_handler;
	void *mmio_read_context;

	uint64_t acks_due[2], updates_due[2]; /* [direction]: TLPs since the last one */
};

static inline sim_time pcie_now(const struct pcie *pcie)
{
	return sim_now(pcie->block.sim);
}

#define TURN_SHIFT 35

static inline void pcie_schedule(struct pcie *pcie, struct event *event, sim_time at,
				 enum pcie_turn turn, uint64_t serial)
{
	uint64_t mask = (UINT64_C(1) << TURN_SHIFT) - 1;

	assert(event->owner == &pcie->block);
	sim_schedule_ranked(event, at, (uint64_t)turn << TURN_SHIFT | (serial & mask));
}

/* DLLPs that are due for `packets` TLPs of a direction, on the other one. */
void pcie_return_dllps(struct pcie *pcie, enum direction direction, uint64_t packets,
		       bool flow_controlled);

/* Packets on the link to the host now, or as soon as it is free: when the last one has left. */
sim_time pcie_to_host(struct pcie *pcie, uint64_t packets, uint64_t bytes, bool flow_controlled);

void pcie_issue_reads(struct pcie *pcie);

/* credit_ring: pcie_credits.c */
void credit_ring_init(struct credit_ring *ring, uint64_t headers, uint64_t data);
void credit_ring_fini(struct credit_ring *ring);
void credit_ring_reclaim(struct credit_ring *ring, sim_time now);
void credit_ring_take(struct credit_ring *ring, uint32_t headers, uint32_t data);
/* Of those taken: when they come back. */
void credit_ring_return(struct credit_ring *ring, uint32_t headers, uint32_t data,
			sim_time back_at);

uint64_t credit_ring_headers(const struct credit_ring *ring); /* free and taken */

static inline bool credit_ring_has(const struct credit_ring *ring, uint32_t headers, uint32_t data)
{
	return ring->headers_free >= headers && ring->data_free >= data;
}

static inline sim_time credit_ring_next(const struct credit_ring *ring)
{
	return ring->count ? ring->returns[ring->first].at : SIM_NEVER;
}

/* When there will be that many, as far as is known: SIM_NEVER. */
sim_time credit_ring_when(const struct credit_ring *ring, uint32_t headers, uint32_t data);

/* pcie_write.c: more is known of the write's packets, or of posted credits. */
void pcie_write_known(struct pcie *pcie, struct pcie_write *write, sim_time visible_at);
void pcie_posted_return(struct pcie *pcie, uint32_t data, sim_time visible_at);
sim_time pcie_write_in_order(struct pcie *pcie, const struct pcie_write *write, sim_time at);

/* pcie_completion.c: the group's first request has its data at event->time; all of it is completed. */
void pcie_complete_group(struct event *event);
/* A store or load of the CPU takes the link to the HCA, past completions: when it has left. */
sim_time pcie_pass_completions(struct pcie *pcie, uint64_t bytes);

/* pcie.c: the host has a request from `accepted` on, and its data at `ready`. */
void pcie_request_accepted(struct pcie *pcie, sim_time sent_at, sim_time accepted);
void pcie_request_ready(struct request_group *group, sim_time ready);
void pcie_await_room(struct pcie *pcie);

/* pcie_host.c: what leaves for a host, at the root complex at `arrival`. */
void pcie_host_read(struct request_group *group, sim_time arrival);
void pcie_host_write(struct pcie *pcie, struct pcie_write *write, uint64_t address, uint32_t length,
		     uint32_t data, sim_time arrival);
void pcie_host_init(struct pcie *pcie);
void pcie_host_fini(struct pcie *pcie);
/* order->known is set; order->until is known now, or will be. */
void pcie_order(struct pcie *pcie, struct pcie_order *order);
void pcie_order_cancel(struct pcie *pcie, struct pcie_order *order);

void pcie_write_init(struct pcie *pcie);
void pcie_write_fini(struct pcie *pcie);
void pcie_mmio_init(struct pcie *pcie);
void pcie_mmio_fini(struct pcie *pcie);

#endif
