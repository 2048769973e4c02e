/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_state: the declarations that pcie.c (reads), pcie_completion.c, pcie_write.c, pcie_mmio.c,
 * pcie_credits.c and pcie_host.c share. No other file includes them.
 */
#ifndef HCA_HOST_PCIE_STATE_H
#define HCA_HOST_PCIE_STATE_H

#include <assert.h>

#include "hca/host/host.h"
#include "hca/host/pcie.h"
#include "hca/host/pcie_link.h"
#include "hca/host/pcie_params.h"
#include "hca/host/tlp.h"
#include "sim/audit.h"

enum { PCIE_TRACE(TRACE_ENUM) };

enum { MMIO_BYTES_MAX = 64, MMIO_SLOTS_FIRST = 64, STORES_A_WQE = 16, CREDIT_DATA_BYTES = 16 };

/*
 * Order of the block's events at the same time. Two optimisations must not change this order: a
 * host that reports a time later, and a group of requests that shares events.
 */
enum pcie_rank { RANK_VISIBLE, RANK_COMPLETED, RANK_LOADED, RANK_ARRIVED, RANK_TAG, RANK_CREDIT };

/* Requests of one read that left at the same time. A group has a single request if a host is behind
 * the root complex. */
struct request_group {
	struct event event; /* completion of the first request, later arrival of the last one */
	struct pcie_read *read;
	uint64_t serial;            /* serial of the first request */
	uint32_t offset, length;    /* range of the read's bytes */
	struct pcie_train requests; /* times at which they are in order */
	bool unmapped;              /* the host has no bytes at the address */
	struct request_group *next_free;
	sim_time left_at; /* time at which the requests were passed to the link */
	/* only with a host */
	struct host_access access;
	struct pcie_order order;
	sim_time translated_at; /* SIM_NEVER while unknown */
};

/* A TLP of a write that left for a host and is not known to be visible yet. */
struct write_packet {
	struct event event; /* arrival at the root complex, later the end of the translation */
	struct host_access access;
	struct pcie *pcie;
	struct pcie_write *write;
	uint64_t serial;
	sim_time left_at;
	uint32_t data; /* credits */
	bool is_known;
	sim_time at;    /* is_known: time at which it is visible if no other write delays it */
	sim_time floor; /* time at which a packet that passed this one is visible */
	struct write_packet *previous, *next;
};

/* Iterates over the requests of a group, whose completions it books on the link. */
struct completion_walk {
	struct pcie_train ready; /* times at which the data of this and later requests is ready */
	/* this request and the next ones with as many completions: number of requests, number of
	 * completions of each request, and their bytes on the link */
	uint32_t equal, packets;
	uint64_t bytes;
	/* bytes of memory of the later requests */
	uint64_t address;
	uint32_t length;
	uint64_t place; /* place of this request's tag in tag_returns */
	/* requests before this one */
	uint64_t booked;   /* completions */
	uint64_t arrivals; /* sum of the times at which their last completions arrive */
	sim_time arrival;  /* the last of these times */
};

/* Completions that are booked on the link ahead of time. They belong to the last group. */
struct completion_train {
	struct request_group *group;
	struct completion_walk next; /* the first request that was booked after `mark` */
	uint64_t arrivals;           /* completion_walk.arrivals behind the last request */
	struct pcie_link_mark mark;
};

struct tag_return {
	sim_time at;
	/* a group ends at the same time, so that group_arrived() starts the waiting reads */
	bool group_ends;
};

struct mmio_slot {
	sim_time arrival;
	sim_time since; /* time at which the store got its credit */
	bool is_load;
	struct pcie_mmio_read *load; /* NULL if the load was cancelled */
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

/* Credits that will be returned at known times, one header and `data` credits for each TLP of a
 * train. The ring is ordered by time. */
struct credit_return {
	struct pcie_train train;
	uint32_t data;
};

struct credit_ring {
	struct credit_return *returns; /* [size]: at most one entry per header credit */
	uint64_t size, first, count;
	uint64_t headers_free, data_free;
	uint64_t headers_out; /* taken, with an unknown time of return */
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
	/* host behind the root complex, or NULL if only the latencies of the parameters apply */
	struct host *host;
	sim_time one_way; /* latency of link and switch, and one flit */
	uint64_t tags_free;
	/* [tags]: a ring of the tags whose request is completed, ordered by time. */
	struct tag_return *tag_returns;
	uint64_t tag_return_first, tag_return_count;
	struct completion_train train;
	/* pending while a read waits for the first tag or for an NPH credit */
	struct event tag_event;
	bool request_short; /* a read waits for an NPH credit */
	struct credit_ring nonposted;

	struct write_queue writes_waiting;
	uint64_t writes_called, writes_sent; /* writes with bytes */
	uint32_t strict_serial; /* serial of the last visible write that passes no earlier write */
	struct audit_order write_order;
	struct credit_ring posted;
	uint64_t posted_data_unseen; /* data credits of writes that are not visible */
	struct event credit_event; /* pending while a write waits for the first returned credits */
	sim_time visible_at;       /* latest visibility time that is known among the sent writes */
	/* With a host: write TLPs in order of departure. The list starts at the first TLP that is
	 * not known to be visible. */
	struct write_packet *packets, *packets_free; /* packets: [posted_headers] */
	struct write_packet *packets_first, *packets_last;
	uint64_t packets_sent;
	/* reads and loads that wait for these writes */
	struct pcie_order *order_first, **order_last;

	struct mmio_slot *mmio; /* a ring of [mmio_slots] entries, a power of two */
	uint64_t mmio_slots, mmio_first, mmio_count;
	uint64_t stores;       /* number of entries that are stores */
	bool mmio_refused;     /* the handler has no space for the first store */
	sim_time mmio_left_at; /* time at which the last entry was on the link */
	struct event mmio_event;
	pcie_mmio_handler *mmio_handler;
	void *mmio_context;
	pcie_mmio_read_handler *mmio_read_handler;
	void *mmio_read_context;

	uint64_t acks_due[2], updates_due[2]; /* [direction]: TLPs since the last ACK or update */
};

static inline sim_time pcie_now(const struct pcie *pcie)
{
	return sim_now(pcie->block.sim);
}

#define RANK_SHIFT 35

static inline void pcie_schedule(struct pcie *pcie, struct event *event, sim_time at,
				 enum pcie_rank rank, uint64_t serial)
{
	uint64_t mask = (UINT64_C(1) << RANK_SHIFT) - 1;

	assert(event->owner == &pcie->block);
	sim_schedule_ranked(event, at, (uint64_t)rank << RANK_SHIFT | (serial & mask));
}

/* Private to pcie_return_dllps(). */
void pcie_count_dllps(struct pcie *pcie, enum direction direction, uint64_t packets,
		      bool flow_controlled);

/* Adds the DLLPs that `packets` TLPs of `direction` cause on the opposite direction. */
static inline void pcie_return_dllps(struct pcie *pcie, enum direction direction, uint64_t packets,
				     bool flow_controlled)
{
	if (pcie->dllps_counted)
		pcie_count_dllps(pcie, direction, packets, flow_controlled);
}

/* Sends packets of `bytes` bytes on the link to the host, as soon as it is free. Sets `*arrivals`
 * to the times at which they arrive. */
static inline void pcie_to_host(struct pcie *pcie, struct pcie_train *arrivals, uint64_t bytes,
				uint32_t packets, bool flow_controlled)
{
	pcie_link_send_train(&pcie->to_host, arrivals, pcie_now(pcie), 0, bytes, packets);
	assert(arrivals->packets == packets); /* no packet passes others */
	pcie->count.to_host_bytes += packets * bytes;
	pcie_return_dllps(pcie, TO_HOST, packets, flow_controlled);
	pcie_train_delay(arrivals, pcie->one_way);
}

void pcie_issue_reads(struct pcie *pcie);

/* credit_ring: pcie_credits.c */
void pcie_credit_ring_init(struct credit_ring *ring, uint64_t headers, uint64_t data);
void pcie_credit_ring_fini(struct credit_ring *ring);
void pcie_credit_ring_reclaim(struct credit_ring *ring, sim_time now);
/* Takes the credits of `headers` TLPs with `data` credits each. */
void pcie_credit_ring_take(struct credit_ring *ring, uint32_t headers, uint32_t data);
/* Records that the credits of TLPs, `data` for each, return `latency` after a train's times. */
void pcie_credit_ring_return(struct credit_ring *ring, const struct pcie_train *train,
			     uint32_t data, sim_time latency);

/* Returns the number of all header credits, free and taken. */
uint64_t pcie_credit_ring_headers(const struct credit_ring *ring);

static inline sim_time credit_ring_next(const struct credit_ring *ring)
{
	return ring->count ? ring->returns[ring->first].train.at : SIM_NEVER;
}

/* Returns the time at which the credits of a TLP that waits are free, or SIM_NEVER if that time is
 * unknown. */
sim_time pcie_credit_ring_when(const struct credit_ring *ring, uint32_t data);

/* pcie_write.c: called when the visibility time of a write's packet is known. */
void pcie_write_known(struct pcie *pcie, struct pcie_write *write, sim_time visible_at);

/* pcie_completion.c: completes the requests of a group. The data of the first request is ready at
 * event->time. */
void pcie_complete_group(struct event *event);
/* Sends a CPU's store or load ahead of waiting completions. Returns the time at which its last byte
 * leaves. */
sim_time pcie_pass_completions(struct pcie *pcie, uint64_t bytes);

/* pcie.c: the host accepts the group's requests, and has the data of the first one at `ready`. */
void pcie_requests_accepted(const struct request_group *group);
void pcie_request_ready(struct request_group *group, sim_time ready);
void pcie_await_room(struct pcie *pcie);

/* pcie_host.c: requests and writes that arrive at a root complex with a host at `arrival`. */
void pcie_host_read(struct request_group *group, sim_time arrival);
void pcie_host_write(struct pcie *pcie, struct pcie_write *write, uint64_t address, uint32_t length,
		     uint32_t data, sim_time arrival);
void pcie_host_init(struct pcie *pcie);
void pcie_host_fini(struct pcie *pcie);
/* Determines order->until, now or later. The caller has set order->known. */
void pcie_order(struct pcie *pcie, struct pcie_order *order);
void pcie_order_cancel(struct pcie *pcie, struct pcie_order *order);

void pcie_write_init(struct pcie *pcie);
void pcie_write_fini(struct pcie *pcie);
void pcie_mmio_init(struct pcie *pcie);
void pcie_mmio_fini(struct pcie *pcie);

#endif
