/* pcie_link: see pcie_link.h. */
#include "hca/host/pcie_link.h"

#include <assert.h>

enum { SHARE_STEPS = 10000 }; /* resolution of dllp_share: keeps the fraction small */

/* clang-format off */
static const struct generation {
	uint64_t mega_transfers; /* a second, of one lane */
	uint64_t data, coded;    /* bits of data in bits on the lane; from generation 6 on, bytes in a flit's */
} generations[] = {
	[1] = { 2500,  8,   10  },
	[2] = { 5000,  8,   10  },
	[3] = { 8000,  128, 130 },
	[4] = { 16000, 128, 130 },
	[5] = { 32000, 128, 130 },
	[6] = { 64000, 242, 256 },
};
/* clang-format on */

static const struct generation *generation_get(uint32_t generation)
{
	assert(generation >= 1 && generation < ARRAY_SIZE(generations));
	return &generations[generation];
}

sim_time pcie_link_send(struct pcie_link *link, sim_time ready, uint64_t bytes)
{
	uint64_t parts = bytes * link->ps_numerator;

	assert(bytes <= UINT64_MAX / 2 / link->ps_numerator);
	if (ready > link->free_at)
		link->free_at = ready;
	else
		parts += link->remainder;
	link->free_at += parts / link->ps_denominator;
	link->remainder = parts % link->ps_denominator;
	return link->free_at;
}

sim_time pcie_link_pass(struct pcie_link *link, sim_time ready, sim_time after, uint64_t bytes)
{
	sim_time start = ready > after ? ready : after;
	sim_time duration = pcie_link_duration(link, bytes);

	if (link->free_at > start)
		link->free_at += duration;
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

void pcie_link_init(struct pcie_link *link, uint32_t generation, uint64_t lanes, double dllp_share)
{
	const struct generation *row = generation_get(generation);
	uint64_t lost = (uint64_t)(dllp_share * SHARE_STEPS + 0.5);
	uint64_t numerator = 8 * UINT64_C(1000000) * row->coded * SHARE_STEPS;
	uint64_t denominator = row->mega_transfers * lanes * row->data * (SHARE_STEPS - lost);
	uint64_t divisor;

	assert(lanes && lost < SHARE_STEPS);
	divisor = common_divisor(numerator, denominator);
	*link = (struct pcie_link){
		.ps_numerator = numerator / divisor,
		.ps_denominator = denominator / divisor,
	};
}
