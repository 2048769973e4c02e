/* SPDX-License-Identifier: Apache-2.0 */
/* pipeline: see pipeline.h. A ring in the order in which packets may leave; it doubles when it is
 * full. */
#include "switch/pipeline.h"

#include <assert.h>
#include <stdlib.h>

#define ROOM_FIRST 4u

struct entry {
	sim_time ready_at;
	uint32_t bytes;
	uint32_t vl;
};

/* Ordered by cache lines: most packets use VL 0, and few are in the pipeline at a time. */
struct pipeline {
	struct entry *ring;
	uint32_t first, count, room; /* room is a power of two */
	struct pipeline_count vls[PORT_VLS];
	struct entry ring_inline[ROOM_FIRST] __attribute__((aligned(64)));
};

static struct entry *entry_at(struct pipeline *pipeline, uint32_t place)
{
	return &pipeline->ring[(pipeline->first + place) & (pipeline->room - 1)];
}

static void leave(struct pipeline *pipeline, const struct entry *entry)
{
	struct pipeline_count *vl = &pipeline->vls[entry->vl];

	assert(vl->packets && vl->bytes >= entry->bytes);
	vl->packets--;
	vl->bytes -= entry->bytes;
}

/* Removes packets that may leave by `now`. */
static void settle(struct pipeline *pipeline, sim_time now)
{
	while (pipeline->count && entry_at(pipeline, 0)->ready_at <= now) {
		leave(pipeline, entry_at(pipeline, 0));
		pipeline->first = (pipeline->first + 1) & (pipeline->room - 1);
		pipeline->count--;
	}
	if (!pipeline->count) /* the ring's first line is in the cache */
		pipeline->first = 0;
}

static void free_ring(struct pipeline *pipeline)
{
	if (pipeline->ring != pipeline->ring_inline)
		free(pipeline->ring);
}

static void grow(struct pipeline *pipeline)
{
	struct entry *ring = malloc(2 * pipeline->room * sizeof(*ring));

	assert(ring);
	for (uint32_t i = 0; i < pipeline->count; i++)
		ring[i] = *entry_at(pipeline, i);
	free_ring(pipeline);
	pipeline->ring = ring;
	pipeline->first = 0;
	pipeline->room *= 2;
}

/* Inserts a packet in order. A packet of a slow input is ready later than its arrival, by up to a
 * packet time. */
void pipeline_enter(struct pipeline *pipeline, const struct packet *packet, sim_time now)
{
	struct entry entry = {packet->head_at, packet->wire_bytes, packet->vl};
	uint32_t place;

	settle(pipeline, now);
	if (pipeline->count == pipeline->room)
		grow(pipeline);
	place = pipeline->count++;
	for (; place && entry_at(pipeline, place - 1)->ready_at > entry.ready_at; place--)
		*entry_at(pipeline, place) = *entry_at(pipeline, place - 1);
	*entry_at(pipeline, place) = entry;
	pipeline->vls[entry.vl].packets++;
	pipeline->vls[entry.vl].bytes += entry.bytes;
}

void pipeline_discard(struct pipeline *pipeline, const struct packet *packet)
{
	for (uint32_t i = 0; i < pipeline->count; i++) {
		const struct entry *entry = entry_at(pipeline, i);

		if (entry->ready_at != packet->head_at || entry->bytes != packet->wire_bytes ||
		    entry->vl != packet->vl)
			continue;
		leave(pipeline, entry);
		for (pipeline->count--; i < pipeline->count; i++)
			*entry_at(pipeline, i) = *entry_at(pipeline, i + 1);
		return;
	}
}

struct pipeline_count pipeline_count(struct pipeline *pipeline, unsigned vl, sim_time now)
{
	settle(pipeline, now);
	return pipeline->vls[vl];
}

struct pipeline *pipeline_create(void)
{
	struct pipeline *pipeline = aligned_alloc(_Alignof(struct pipeline), sizeof(*pipeline));

	assert(pipeline);
	*pipeline = (struct pipeline){.room = ROOM_FIRST};
	pipeline->ring = pipeline->ring_inline;
	return pipeline;
}

void pipeline_destroy(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	free_ring(pipeline);
	free(pipeline);
}
