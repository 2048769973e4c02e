/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_link: one direction of the PCIe link, which serialises TLPs. Rates are exact fractions: a
 * train of packets without gaps takes the exact time of its bytes, rounded down once.
 *
 * PCI Express Base Specification 4.2 (encodings, SKIP) and 3.6 (DLLPs, modelled as a share of the
 * rate, by the guide tables, or counted).
 */
#ifndef HCA_HOST_PCIE_LINK_H
#define HCA_HOST_PCIE_LINK_H

#include <assert.h>

#include "sim/sim.h"

enum { PCIE_DLLP_BYTES = 8 }; /* with framing */
enum { PCIE_LINK_BOOKINGS = 16 };

/* Packets of one length that follow each other without gaps, and a time of each packet. Members
 * that change together are apart, because a wide load of two waits for their separate stores. */
struct pcie_train {
	sim_time at;        /* time of the first packet */
	uint64_t remainder; /* remainder of `at`, in 1/denominator ps */
	sim_time last;      /* time of the last packet */
	/* step from one packet to the next: duration and its remainder */
	sim_time duration;
	uint64_t rest, denominator;
	uint64_t times; /* sum of the times of all packets */
	uint32_t packets;
};

/* Initialises a train of packets that have the same time. It sets one member at a time, because a
 * copy of a whole struct waits for members that were stored just before. */
static inline void pcie_train_init(struct pcie_train *train, sim_time at, uint32_t packets)
{
	train->at = at;
	train->last = at;
	train->times = packets * at;
	train->remainder = 0;
	train->packets = packets;
	train->duration = 0;
	train->rest = 0;
	train->denominator = 1;
}

/* Removes the first packet. */
static inline void pcie_train_next(struct pcie_train *train)
{
	train->packets--;
	train->times -= train->at;
	train->at += train->duration;
	train->remainder += train->rest;
	if (train->remainder >= train->denominator) {
		train->remainder -= train->denominator;
		train->at++;
	}
}

/* Removes the first `packets` packets. */
static inline void pcie_train_skip(struct pcie_train *train, uint32_t packets)
{
	if (packets == train->packets)
		train->packets = 0;
	else
		while (packets--)
			pcie_train_next(train);
}

/* Moves all times of a train by `delay`. */
static inline void pcie_train_delay(struct pcie_train *train, sim_time delay)
{
	train->at += delay;
	train->last += delay;
	train->times += train->packets * delay;
}

/* Removes the packets whose times are not after `until`. Returns these packets. */
static inline struct pcie_train pcie_train_split(struct pcie_train *train, sim_time until)
{
	struct pcie_train head = *train, tail = *train;

	if (tail.last <= until) {
		train->packets = 0;
		return head;
	}
	for (; tail.at <= until; pcie_train_next(&tail))
		head.last = tail.at;
	head.packets -= tail.packets;
	head.times -= tail.times;
	*train = tail;
	return head;
}

/* A future reservation of the link for passing packets without gaps. */
struct pcie_booking {
	sim_time start, duration;
};

struct pcie_link {                             /* embedded in its owner */
	uint64_t ps_numerator, ps_denominator; /* picoseconds a byte */
	uint64_t remainder; /* remainder of the last packet's end, in 1/ps_denominator ps */
	sim_time free_at;   /* time at which the last packet has left */
	/* the last length that was divided, and the quotient's parts */
	uint64_t known_bytes, known_remainder;
	sim_time known_duration;
	sim_time asked_at; /* time of the last pcie_link_send() */
	/* Bytes of counted DLLPs that were not sent in idle time. They leave before the next
	 * TLP. */
	uint64_t dllp_bytes_owed;
	unsigned booked_first, booked_count;
	struct pcie_booking booked[PCIE_LINK_BOOKINGS]; /* a ring, ordered by start */
	/* Generation 6: duration of a flit, because a TLP is checked and forwarded with its whole
	 * flit. Otherwise 0. */
	sim_time flit_time;
};

/*
 * State of the link before pcie_link_send(), to which pcie_link_back() returns. No passing packet
 * may be booked between the two calls.
 */
struct pcie_link_mark {
	uint64_t remainder, dllp_bytes_owed;
	sim_time free_at, asked_at;
	unsigned booked_first, booked_count;
};

static inline struct pcie_link_mark pcie_link_mark(const struct pcie_link *link)
{
	return (struct pcie_link_mark){link->remainder, link->dllp_bytes_owed, link->free_at,
				       link->asked_at,  link->booked_first,    link->booked_count};
}

static inline void pcie_link_back(struct pcie_link *link, const struct pcie_link_mark *mark)
{
	link->remainder = mark->remainder;
	link->dllp_bytes_owed = mark->dllp_bytes_owed;
	link->free_at = mark->free_at;
	link->asked_at = mark->asked_at;
	link->booked_first = mark->booked_first;
	link->booked_count = mark->booked_count;
}

/*
 * Initialises a link of `generation` 1 to 6. `dllp_share` is the share of the rate that TLPs cannot
 * use.
 */
void pcie_link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, double dllp_share);

/*
 * Initialises a link with the DLLPs of the specification's guide tables: an ACK and a credit update
 * per limit of the table, on each lane, and SKIP. The pciebench model counts DLLPs in this way.
 * Generation 6 has no guide tables.
 */
void pcie_link_init_guide(struct pcie_link *link, uint32_t generation, uint64_t lanes,
			  uint64_t mps);

/* Initialises a link with SKIP only. pcie_link_owe() adds the DLLPs. */
void pcie_link_init_counted(struct pcie_link *link, uint32_t generation, uint64_t lanes);

/* Adds `dllps` DLLPs to send. They use idle time, or the next TLP waits for them. */
void pcie_link_owe(struct pcie_link *link, uint64_t dllps);

/* Private to pcie_link_send(): takes the bookings that start before a packet that is ready at
 * `ready`. Returns the bytes of the packet and of the DLLPs that leave before it. */
uint64_t pcie_link_insert(struct pcie_link *link, sim_time ready, uint64_t bytes);
/* Private to pcie_link_send(): divides a length. Many successive packets have the same length, so
 * the quotient is kept. */
void pcie_link_divide(struct pcie_link *link, uint64_t bytes);

/*
 * Sends a packet or a train of packets. `ready` must not be earlier than in the previous call.
 * Returns the time at which the last byte leaves.
 */
static inline sim_time pcie_link_send(struct pcie_link *link, sim_time ready, uint64_t bytes)
{
	assert(ready >= link->asked_at);
	link->asked_at = ready;
	if (link->booked_count || link->dllp_bytes_owed)
		bytes = pcie_link_insert(link, ready, bytes);
	if (bytes != link->known_bytes)
		pcie_link_divide(link, bytes);
	if (ready > link->free_at) {
		link->free_at = ready;
		link->remainder = 0;
	}
	link->free_at += link->known_duration;
	link->remainder += link->known_remainder;
	if (link->remainder >= link->ps_denominator) {
		link->remainder -= link->ps_denominator;
		link->free_at++;
	}
	return link->free_at;
}

/* Private to pcie_link_send_train(): sends further packets behind the first packet of a train. */
void pcie_link_extend(struct pcie_link *link, struct pcie_train *train, sim_time step,
		      uint64_t bytes, uint32_t packets);

/*
 * Sends packets of `bytes` bytes, at most `packets`. The first packet is ready at `ready`, each
 * further one `step` later, or one picosecond more. Sends one packet if a gap or a passing packet
 * may follow it. Sets `*train` to the times at which the packets leave.
 */
static inline void pcie_link_send_train(struct pcie_link *link, struct pcie_train *train,
					sim_time ready, sim_time step, uint64_t bytes,
					uint32_t packets)
{
	pcie_train_init(train, pcie_link_send(link, ready, bytes), 1);
	if (packets > 1)
		pcie_link_extend(link, train, step, bytes, packets);
}

/*
 * Sends a packet that passes the waiting packets. These leave later, unless their times have been
 * returned. `after` is the time at which the previous passing packet left. `ready` may be in the
 * future: the link is then reserved for that time, and no packet waits before it. Returns the time
 * at which the last byte leaves.
 */
sim_time pcie_link_pass(struct pcie_link *link, sim_time ready, sim_time after, uint64_t bytes);

/* Returns the duration of `bytes` on the link, rounded down. */
sim_time pcie_link_duration(const struct pcie_link *link, uint64_t bytes);

/* Returns the rate after encoding and before DLLPs, rounded down. */
uint64_t pcie_link_raw_bps(uint32_t generation, uint64_t lanes);

/* Returns the rate available to TLPs, including their overhead, rounded down. */
uint64_t pcie_link_tlp_bps(const struct pcie_link *link);

/*
 * Returns the limit for ACKs and the guide for credit updates in symbol times (tables 3-7 to 3-9
 * and 2-42 to 2-44).
 */
uint64_t pcie_link_guide_symbols(uint32_t generation, uint64_t lanes, uint64_t mps);

#endif
