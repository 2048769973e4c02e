/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_link: one direction of the link, as what serializes TLPs one after the other. Rates are exact fractions: a
 * train of packets without gaps takes the exact time of its bytes, rounded down once.
 *
 * PCI Express Base Specification 4.2 (encodings, SKIP), 3.6 (DLLPs; as a share of the rate, by the guide tables or counted).
 */
#ifndef HCA_HOST_PCIE_LINK_H
#define HCA_HOST_PCIE_LINK_H

#include "sim/sim.h"

enum { PCIE_DLLP_BYTES = 8 }; /* with framing */
enum { PCIE_LINK_BOOKINGS = 16 };

/* Packets without gaps that pass, at a time to come. */
struct pcie_booking {
	sim_time start, duration;
};

struct pcie_link {                             /* embedded in its owner */
	uint64_t ps_numerator, ps_denominator; /* picoseconds a byte */
	uint64_t remainder; /* of the last packet's end, in 1/ps_denominator ps */
	sim_time free_at;   /* when the last packet given has left */
	uint64_t known_bytes, known_remainder; /* the last length that was divided, and its parts */
	sim_time known_duration;
	/* Generation 6: a TLP is checked and passed on with its whole flit; else 0. */
	sim_time flit_time;
	/* Counted DLLPs that no idle time has taken yet: before the next TLP. */
	uint64_t dllp_bytes_owed;
	sim_time asked_at;                              /* of the last pcie_link_send() */
	struct pcie_booking booked[PCIE_LINK_BOOKINGS]; /* a ring, by start */
	unsigned booked_first, booked_count;
};

/* The link as it was before pcie_link_send(), which pcie_link_back() takes back: what passed has been booked since by none. */
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

/* generation: 1..6. dllp_share: the part of the rate that is not for TLPs. */
void pcie_link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, double dllp_share);

/*
 * The same with the DLLPs that the specification's guide tables allow a receiver to send: an ACK and a credit update for
 * each limit of that table, on each lane, and SKIP. It is how the pciebench model counts; generation 6 has neither.
 */
void pcie_link_init_guide(struct pcie_link *link, uint32_t generation, uint64_t lanes,
			  uint64_t mps);

/* The same with SKIP alone, for pcie_link_owe(). */
void pcie_link_init_counted(struct pcie_link *link, uint32_t generation, uint64_t lanes);

/* The link has so many DLLPs to send: idle time takes them, or the next TLP waits for them. */
void pcie_link_owe(struct pcie_link *link, uint64_t dllps);

/* A packet (or train of packets) ready at `ready`, never earlier than the one before: when its last byte leaves. */
sim_time pcie_link_send(struct pcie_link *link, sim_time ready, uint64_t bytes);

/*
 * The same for one that passes those that wait: they leave the later, but those whose times were already told. `after`:
 * when the one before it left. It may be ready in the future: the link has that time for no other, and no packet waits for it
 * before.
 */
sim_time pcie_link_pass(struct pcie_link *link, sim_time ready, sim_time after, uint64_t bytes);

/* Adds the duration of a packet that follows without a gap. remainder: that of the packet before, in 1/ps_denominator ps. */
sim_time pcie_link_next(const struct pcie_link *link, sim_time at, uint64_t bytes,
			uint64_t *remainder);

/* How long so many bytes take, rounded down. */
sim_time pcie_link_duration(const struct pcie_link *link, uint64_t bytes);

/* After encoding, before DLLPs; rounded down. */
uint64_t pcie_link_raw_bps(uint32_t generation, uint64_t lanes);

/* What is left for TLPs, with their overhead; rounded down. */
uint64_t pcie_link_tlp_bps(const struct pcie_link *link);

/* Limit for ACKs and guide for credit updates, in symbol times: tables 3-7 to 3-9 and 2-42 to 2-44. */
uint64_t pcie_link_guide_symbols(uint32_t generation, uint64_t lanes, uint64_t mps);

#endif
