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
	while (ring->count && ring->returns[ring->first].train.at <= now) {
		struct credit_return *next = &ring->returns[ring->first];
		uint32_t headers = pcie_train_split(&next->train, now).packets;

		ring->headers_free += headers;
		ring->data_free += (uint64_t)headers * next->data;
		if (next->train.packets)
			return;
		if (++ring->first == ring->size)
			ring->first = 0;
		ring->count--;
	}
}

void pcie_credit_ring_take(struct credit_ring *ring, uint32_t headers, uint32_t data)
{
	uint64_t data_taken = (uint64_t)headers * data;

	assert(headers && headers <= ring->headers_free && data_taken <= ring->data_free);
	ring->headers_free -= headers;
	ring->headers_out += headers;
	ring->data_free -= data_taken;
}

/* Returns the place of return number `i` in order of time, from 0. */
static struct credit_return *return_of(const struct credit_ring *ring, uint64_t i)
{
	uint64_t place = ring->first + i;

	return &ring->returns[place < ring->size ? place : place - ring->size];
}

/* Moves the last return in front of later ones. Times mostly ascend. Single TLPs that pass others
 * (relaxed ordering, an IO-TLB hit) return earlier. */
static void sort_last(struct credit_ring *ring)
{
	struct credit_return last = *return_of(ring, ring->count - 1), *before;
	uint64_t place = ring->count - 1;

	for (; place > 0 && (before = return_of(ring, place - 1))->train.last > last.train.at;
	     place--) {
		assert(before->train.at > last.train.last);
		*return_of(ring, place) = *before;
	}
	*return_of(ring, place) = last;
}

void pcie_credit_ring_return(struct credit_ring *ring, const struct pcie_train *train,
			     uint32_t data, sim_time latency)
{
	struct credit_return *last = return_of(ring, ring->count);

	assert(train->packets && train->packets <= ring->headers_out && ring->count < ring->size);
	ring->headers_out -= train->packets;
	last->train = *train;
	last->data = data;
	pcie_train_delay(&last->train, latency);
	if (ring->count++ && return_of(ring, ring->count - 2)->train.last > last->train.at)
		sort_last(ring);
}

sim_time pcie_credit_ring_when(const struct credit_ring *ring, uint32_t data)
{
	uint64_t data_free = ring->data_free;

	for (uint64_t i = 0; i < ring->count; i++) {
		struct credit_return next = *return_of(ring, i);

		for (; next.train.packets; pcie_train_next(&next.train)) {
			data_free += next.data;
			if (data_free >= data)
				return next.train.at;
		}
	}
	return SIM_NEVER;
}

uint64_t pcie_credit_ring_headers(const struct credit_ring *ring)
{
	uint64_t headers = ring->headers_free + ring->headers_out;

	for (uint64_t i = 0; i < ring->count; i++)
		headers += return_of(ring, i)->train.packets;
	return headers;
}
