/* SPDX-License-Identifier: Apache-2.0 */
/* pcie_link: see pcie_link.h. */
#include "hca/host/pcie_link.h"

#include <assert.h>
#include <stdbool.h>

enum {
	SHARE_STEPS = 10000, /* resolution of dllp_share; limits the size of the fraction */
	SKIP_SYMBOLS = 4,
	SKIP_INTERVAL = 1538, /* symbols, the longest interval allowed */
	FLIT_BYTES = 256,
	FLIT_TLP_BYTES = 236, /* the other bytes: 6 B of ACKs and credits, 8 B of CRC, 6 B of FEC */
	FIRST_FLIT_GENERATION = 6,
};

/* clang-format off */
static const struct generation {
	uint64_t mega_transfers; /* millions of transfers per second of one lane */
	/* data bits of a code block; from generation 6 on, data bytes of a flit */
	uint64_t data;
	/* encoded bits of a code block; from generation 6 on, bytes of a flit */
	uint64_t coded;
	/* internal delay of the receiver in the guide tables, in symbols */
	uint64_t delay_symbols;
} generations[] = {
	[1] = { 2500, 8, 10, 19 },
	[2] = { 5000, 8, 10, 70 },
	[3] = { 8000, 128, 130, 115 },
	[4] = { 16000, 128, 130, 115 },
	[5] = { 32000, 128, 130, 115 },
	[6] = { 64000, 242, 256, 115 },
};
/* clang-format on */

static const struct generation *generation_get(uint32_t generation)
{
	assert(generation >= 1 && generation < ARRAY_SIZE(generations));
	return &generations[generation];
}

/* Returns the bytes of DLLPs that leave before the packet. The idle time since the last packet has
 * sent the other DLLPs. */
static uint64_t dllps_before(struct pcie_link *link, sim_time ready)
{
	uint64_t owed = link->dllp_bytes_owed, idle = 0;

	if (ready > link->free_at)
		idle = (ready - link->free_at) * link->ps_denominator / link->ps_numerator;
	link->dllp_bytes_owed = 0;
	return owed > idle ? owed - idle : 0;
}

void pcie_link_divide(struct pcie_link *link, uint64_t bytes)
{
	uint64_t parts = bytes * link->ps_numerator;

	assert(bytes <= UINT64_MAX / 2 / link->ps_numerator);
	link->known_bytes = bytes;
	link->known_duration = parts / link->ps_denominator;
	link->known_remainder = parts % link->ps_denominator;
}

/* Adds the bookings that start before a packet that is ready at `ready`. */
static void take_booked(struct pcie_link *link, sim_time ready)
{
	while (link->booked_count) {
		const struct pcie_booking *booking = &link->booked[link->booked_first];

		if (booking->start > (ready > link->free_at ? ready : link->free_at))
			return;
		if (booking->start > link->free_at) {
			link->free_at = booking->start;
			link->remainder = 0;
		}
		link->free_at += booking->duration;
		link->booked_first = (link->booked_first + 1) % PCIE_LINK_BOOKINGS;
		link->booked_count--;
	}
}

/* Books the link from `start`, which is not earlier than the previous booking. If the ring is full,
 * the last booking is extended. */
static void book(struct pcie_link *link, sim_time start, sim_time duration)
{
	unsigned next = (link->booked_first + link->booked_count) % PCIE_LINK_BOOKINGS;
	struct pcie_booking *last =
		&link->booked[(next + PCIE_LINK_BOOKINGS - 1) % PCIE_LINK_BOOKINGS];

	if (link->booked_count &&
	    (link->booked_count == PCIE_LINK_BOOKINGS || last->start + last->duration == start)) {
		last->duration += duration;
		return;
	}
	link->booked[next] = (struct pcie_booking){start, duration};
	link->booked_count++;
}

uint64_t pcie_link_insert(struct pcie_link *link, sim_time ready, uint64_t bytes)
{
	take_booked(link, ready);
	return bytes + dllps_before(link, ready);
}

void pcie_link_extend(struct pcie_link *link, struct pcie_train *train, sim_time step,
		      uint64_t bytes, uint32_t packets)
{
	struct pcie_train next;

	if (bytes != link->known_bytes) /* DLLPs left before the first packet */
		pcie_link_divide(link, bytes);
	if (link->booked_count || link->known_duration <= step)
		return;
	train->remainder = link->remainder;
	train->packets = packets;
	train->duration = link->known_duration;
	train->rest = link->known_remainder;
	train->denominator = link->ps_denominator;
	for (next = *train; next.packets > 1; train->times += next.at)
		pcie_train_next(&next);
	link->remainder = next.remainder;
	link->free_at = train->last = next.at;
}

void pcie_link_owe(struct pcie_link *link, uint64_t dllps)
{
	link->dllp_bytes_owed += dllps * PCIE_DLLP_BYTES;
}

sim_time pcie_link_pass(struct pcie_link *link, sim_time ready, sim_time after, uint64_t bytes)
{
	sim_time start = ready > after ? ready : after;
	sim_time duration = pcie_link_duration(link, bytes);

	if (link->free_at > start)
		link->free_at += duration;
	else
		book(link, start, duration);
	return start + duration;
}

sim_time pcie_link_duration(const struct pcie_link *link, uint64_t bytes)
{
	return bytes * link->ps_numerator / link->ps_denominator;
}

uint64_t pcie_link_raw_bps(uint32_t generation, uint64_t lanes)
{
	const struct generation *row = generation_get(generation);

	return row->mega_transfers * 1000000 * lanes * row->data / row->coded;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Initialises a link. TLPs can use part / whole of the raw rate. */
static void link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, uint64_t part,
		      uint64_t whole)
{
	const struct generation *row = generation_get(generation);
	bool flits = generation >= FIRST_FLIT_GENERATION; /* flits have reserved space for DLLPs */
	uint64_t numerator = 8 * UINT64_C(1000000) * row->coded * (flits ? 1 : whole);
	uint64_t denominator =
		row->mega_transfers * lanes * (flits ? FLIT_TLP_BYTES : row->data * part);
	uint64_t divisor;

	assert(lanes && part && part <= whole);
	divisor = common_divisor(numerator, denominator);
	*link = (struct pcie_link){
		.ps_numerator = numerator / divisor,
		.ps_denominator = denominator / divisor,
		.flit_time =
			flits ? FLIT_BYTES * 8 * UINT64_C(1000000) / (row->mega_transfers * lanes)
			      : 0,
	};
}

void pcie_link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, double dllp_share)
{
	uint64_t lost = (uint64_t)(dllp_share * SHARE_STEPS + 0.5);

	assert(lost < SHARE_STEPS);
	link_init(link, generation, lanes, SHARE_STEPS - lost, SHARE_STEPS);
}

void pcie_link_init_guide(struct pcie_link *link, uint32_t generation, uint64_t lanes, uint64_t mps)
{
	uint64_t limit = pcie_link_guide_symbols(generation, lanes, mps);
	uint64_t whole = limit * SKIP_INTERVAL;

	link_init(link, generation, lanes,
		  whole - 2 * PCIE_DLLP_BYTES * SKIP_INTERVAL - SKIP_SYMBOLS * limit, whole);
}

void pcie_link_init_counted(struct pcie_link *link, uint32_t generation, uint64_t lanes)
{
	link_init(link, generation, lanes, SKIP_INTERVAL - SKIP_SYMBOLS, SKIP_INTERVAL);
}

/* Returns (largest TLP) x factor / lanes + delay. The factor, in tenths, depends on payload and
 * lanes. */
uint64_t pcie_link_guide_symbols(uint32_t generation, uint64_t lanes, uint64_t mps)
{
	enum { TLP_OVERHEAD = 28, PAYLOADS = 3, WIDTHS = 3 };
	static const uint64_t tenths[PAYLOADS][WIDTHS] = {
		/* columns: up to 4 lanes, 8 lanes, more lanes */
		{14, 25, 30}, /* 128 B */
		{14, 25, 30}, /* 256 B */
		{10, 10, 20}, /* 512 B and above */
	};
	unsigned row = mps <= 128 ? 0 : mps <= 256 ? 1 : 2;
	unsigned column = lanes <= 4 ? 0 : lanes <= 8 ? 1 : 2;

	return (mps + TLP_OVERHEAD) * tenths[row][column] / (10 * lanes) +
	       generation_get(generation)->delay_symbols;
}

uint64_t pcie_link_tlp_bps(const struct pcie_link *link)
{
	return (uint64_t)(8e12 * (double)link->ps_denominator / (double)link->ps_numerator);
}
