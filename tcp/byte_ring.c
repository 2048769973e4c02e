/* SPDX-License-Identifier: Apache-2.0 */
/* byte_ring: see byte_ring.h. */
#include "tcp/byte_ring.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN UINT64_C(4096)

/* Returns the bytes from `offset` to the end of the memory, at most `count`. */
static uint32_t straight(const struct byte_ring *ring, uint64_t offset, uint64_t count)
{
	uint64_t left = ring->capacity - (offset & (ring->capacity - 1));

	return (uint32_t)(left < count ? left : count);
}

static void grow(struct byte_ring *ring, uint64_t bytes)
{
	struct byte_ring larger = {.capacity = ring->capacity ? ring->capacity : CAPACITY_MIN,
				   .first = ring->first,
				   .end = ring->end};

	while (larger.capacity < bytes)
		larger.capacity *= 2;
	larger.bytes = malloc(larger.capacity);
	assert(larger.bytes);
	for (uint64_t at = ring->first; at < ring->end;) {
		uint32_t part = straight(ring, at, ring->end - at);

		byte_ring_put(&larger, at, ring->bytes + (at & (ring->capacity - 1)), part);
		at += part;
	}
	free(ring->bytes);
	*ring = larger;
}

void byte_ring_put(struct byte_ring *ring, uint64_t offset, const uint8_t *bytes, uint32_t count)
{
	assert(offset >= ring->first);
	if (offset + count - ring->first > ring->capacity)
		grow(ring, offset + count - ring->first);
	if (ring->end < offset + count)
		ring->end = offset + count;
	while (count > 0) {
		uint32_t part = straight(ring, offset, count);

		memcpy(ring->bytes + (offset & (ring->capacity - 1)), bytes, part);
		offset += part;
		bytes += part;
		count -= part;
	}
}

void byte_ring_get(const struct byte_ring *ring, uint64_t offset, uint8_t *bytes, uint32_t count)
{
	assert(offset >= ring->first && offset + count <= ring->end);
	while (count > 0) {
		uint32_t part = straight(ring, offset, count);

		memcpy(bytes, ring->bytes + (offset & (ring->capacity - 1)), part);
		offset += part;
		bytes += part;
		count -= part;
	}
}

const uint8_t *byte_ring_front(const struct byte_ring *ring, uint64_t *count)
{
	assert(ring->first + *count <= ring->end);
	*count = straight(ring, ring->first, *count);
	return ring->bytes + (ring->first & (ring->capacity - 1));
}

void byte_ring_drop(struct byte_ring *ring, uint64_t offset)
{
	assert(offset <= ring->end);
	if (ring->first < offset)
		ring->first = offset;
}

void byte_ring_free(struct byte_ring *ring)
{
	free(ring->bytes);
	*ring = (struct byte_ring){.first = ring->end, .end = ring->end};
}
