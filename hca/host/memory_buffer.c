/* SPDX-License-Identifier: Apache-2.0 */
/* memory_buffer: see memory.h. One contiguous range of addresses, backed by an array. */
#include <assert.h>
#include <string.h>

#include "hca/host/memory.h"
#include "sim/sim.h"
#include "sim/sparse.h"

struct memory_buffer {
	struct memory memory;
	uint64_t base;
	uint64_t size_bytes;
	uint8_t bytes[];
};

static uint8_t *place_of(struct memory *memory, uint64_t address, uint32_t length)
{
	struct memory_buffer *buffer = container_of(memory, struct memory_buffer, memory);
	uint64_t offset = address - buffer->base; /* wraps below base and is then too large */

	if (offset > buffer->size_bytes || length > buffer->size_bytes - offset)
		return NULL;
	return buffer->bytes + offset;
}

static bool buffer_read(struct memory *memory, uint64_t address, void *bytes, uint32_t length)
{
	const uint8_t *place = place_of(memory, address, length);

	if (place && length)
		memcpy(bytes, place, length);
	return place;
}

static bool buffer_write(struct memory *memory, uint64_t address, const void *bytes,
			 uint32_t length)
{
	uint8_t *place = place_of(memory, address, length);

	if (place && length)
		memcpy(place, bytes, length);
	return place;
}

static const struct memory_ops buffer_ops = {.load = buffer_read, .store = buffer_write};

struct memory *memory_buffer_create(uint64_t base, uint64_t bytes)
{
	struct memory_buffer *buffer = sparse_create(sizeof(*buffer) + bytes);

	assert(base + bytes >= base);
	buffer->memory = (struct memory){.ops = &buffer_ops, .name = "buffer", .has_bytes = true};
	buffer->base = base;
	buffer->size_bytes = bytes;
	return &buffer->memory;
}

void memory_buffer_destroy(struct memory *memory)
{
	struct memory_buffer *buffer = container_of(memory, struct memory_buffer, memory);

	if (memory)
		sparse_destroy(buffer, sizeof(*buffer) + buffer->size_bytes);
}
