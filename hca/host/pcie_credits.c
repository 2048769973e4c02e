/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pcie_credits: flow control credits of one kind of TLP. A ring holds the number of free credits,
 * and the return times of taken credits. Times are known in advance, so a return costs an event
 * only if a transaction waits for it. PCI Express Base Specification 2.6.1.
 */
#include <assert.h>
#include <stdlib.h>

#include "hca/host/pcie_state.h"

void pcie_credit_ring_init(struct credit_ring *ring, uint64_t headers, uint64_t data)
{
	*ring = (struct credit_ring){.size = headers, .headers_free = headers, .data_free = data};
	ring->returns = calloc(headers, sizeof(ring->returns[0]));
	assert(ring->returns);
}

void pcie_credit_ring_fini(struct credit_ring *ring)
{
	free(ring->returns);
}

void pcie_credit_ring_reclaim(struct credit_ring *ring, sim_time now)
{
	while (ring->count && ring->returns[ring->first].at <= now) {
		ring->headers_free += ring->returns[ring->first].headers;
		ring->data_free += ring->returns[ring->first].data;
		if (++ring->first == ring->size)
			ring->first = 0;
		ring->count--;
	}
}

void pcie_credit_ring_take(struct credit_ring *ring, uint32_t headers, uint32_t data)
{
	assert(headers && credit_ring_has(ring, headers, data));
	ring->headers_free -= headers;
	ring->headers_out += headers;
	ring->data_free -= data;
}

/* Inserts a return in order of time, searching from the end. Times mostly ascend. TLPs that pass
 * others (relaxed ordering, an IO-TLB hit) return earlier. */
void pcie_credit_ring_return(struct credit_ring *ring, uint32_t headers, uint32_t data,
			     sim_time back_at)
{
	uint64_t place = ring->first + ring->count;

	assert(headers && headers <= ring->headers_out && ring->count < ring->size);
	ring->headers_out -= headers;
	if (place >= ring->size)
		place -= ring->size;
	for (uint64_t left = ring->count; left > 0; left--) {
		uint64_t before = place ? place - 1 : ring->size - 1;

		if (ring->returns[before].at <= back_at)
			break;
		ring->returns[place] = ring->returns[before];
		place = before;
	}
	ring->returns[place] = (struct credit_return){back_at, headers, data};
	ring->count++;
}

sim_time pcie_credit_ring_when(const struct credit_ring *ring, uint32_t headers, uint32_t data)
{
	uint64_t headers_free = ring->headers_free, data_free = ring->data_free;

	for (uint64_t i = 0; i < ring->count; i++) {
		const struct credit_return *next = &ring->returns[(ring->first + i) % ring->size];

		headers_free += next->headers;
		data_free += next->data;
		if (headers_free >= headers && data_free >= data)
			return next->at;
	}
	return SIM_NEVER;
}

uint64_t pcie_credit_ring_headers(const struct credit_ring *ring)
{
	uint64_t headers = ring->headers_free + ring->headers_out;

	for (uint64_t i = 0; i < ring->count; i++)
		headers += ring->returns[(ring->first + i) % ring->size].headers;
	return headers;
}
