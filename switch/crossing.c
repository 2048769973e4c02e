/* SPDX-License-Identifier: Apache-2.0 */
/* crossing: see crossing.h. A ring in the order in which packets may leave; it doubles when it is full. */
#include "switch/crossing.h"

#include <assert.h>
#include <stdlib.h>

#define ROOM_FIRST 16u

struct entry {
	sim_time ready_at;
	uint32_t bytes;
	uint32_t vl;
};

struct crossing {
	struct entry *ring;
	uint32_t first, count, room; /* room: a power of two */
	struct crossing_count vls[PORT_VLS];
};

static struct entry *entry_at(struct crossing *crossing, uint32_t place)
{
	return &crossing->ring[(crossing->first + place) & (crossing->room - 1)];
}

static void leave(struct crossing *crossing, const struct entry *entry)
{
	struct crossing_count *vl = &crossing->vls[entry->vl];

	assert(vl->packets && vl->bytes >= entry->bytes);
	vl->packets--;
	vl->bytes -= entry->bytes;
}

/* Those that may leave by `now` have crossed. */
static void settle(struct crossing *crossing, sim_time now)
{
	while (crossing->count && entry_at(crossing, 0)->ready_at <= now) {
		leave(crossing, entry_at(crossing, 0));
		crossing->first = (crossing->first + 1) & (crossing->room - 1);
		crossing->count--;
	}
}

static void grow(struct crossing *crossing)
{
	struct entry *ring = malloc(2 * crossing->room * sizeof(*ring));

	assert(ring);
	for (uint32_t i = 0; i < crossing->count; i++)
		ring[i] = *entry_at(crossing, i);
	free(crossing->ring);
	crossing->ring = ring;
	crossing->first = 0;
	crossing->room *= 2;
}

/* Packets of slow inputs are ready later than they came, by up to a packet's time. */
void crossing_enter(struct crossing *crossing, const struct packet *packet, sim_time now)
{
	struct entry entry = {packet->head_at, packet->wire_bytes, packet->vl};
	uint32_t place;

	settle(crossing, now);
	if (crossing->count == crossing->room)
		grow(crossing);
	place = crossing->count++;
	for (; place && entry_at(crossing, place - 1)->ready_at > entry.ready_at; place--)
		*entry_at(crossing, place) = *entry_at(crossing, place - 1);
	*entry_at(crossing, place) = entry;
	crossing->vls[entry.vl].packets++;
	crossing->vls[entry.vl].bytes += entry.bytes;
}

void crossing_discard(struct crossing *crossing, const struct packet *packet)
{
	for (uint32_t i = 0; i < crossing->count; i++) {
		const struct entry *entry = entry_at(crossing, i);

		if (entry->ready_at != packet->head_at || entry->bytes != packet->wire_bytes ||
		    entry->vl != packet->vl)
			continue;
		leave(crossing, entry);
		for (crossing->count--; i < crossing->count; i++)
			*entry_at(crossing, i) = *entry_at(crossing, i + 1);
		return;
	}
}

struct crossing_count crossing_count(struct crossing *crossing, unsigned vl, sim_time now)
{
	settle(crossing, now);
	return crossing->vls[vl];
}

struct crossing *crossing_create(void)
{
	struct crossing *crossing = calloc(1, sizeof(*crossing));

	assert(crossing);
	crossing->room = ROOM_FIRST;
	crossing->ring = malloc(crossing->room * sizeof(*crossing->ring));
	assert(crossing->ring);
	return crossing;
}

void crossing_destroy(struct crossing *crossing)
{
	if (!crossing)
		return;
	free(crossing->ring);
	free(crossing);
}
