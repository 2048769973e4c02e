/* SPDX-License-Identifier: Apache-2.0 */
/* wheel: see wheel.h. */
#include "sim/wheel.h"

#include <assert.h>
#include <stdlib.h>

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define CHUNK_BYTES    256
#define CHUNK_ENTRIES  15
#define SLAB_CHUNKS    64
#define SHORT_SORT     30 /* two chunks */
#define SORT_LEVEL_MAX 2  /* slots of 4 ns */

struct wheel_entry {
	uint64_t key;
	struct event *event;
};

struct wheel_chunk {
	struct wheel_chunk *next;
	uint32_t count;
	struct wheel_entry entries[CHUNK_ENTRIES];
};
_Static_assert(sizeof(struct wheel_chunk) == CHUNK_BYTES, "four cache lines a chunk");

struct wheel_slab {
	struct wheel_chunk chunks[SLAB_CHUNKS];
	struct wheel_slab *next;
};

/* event->where: in a slot it is IN_SLOT plus the number of the slot, level * WHEEL_SLOTS + slot. */
enum { NOT_PENDING, IN_CURRENT, IN_LATE, IN_SLOT };

static void grow_free_chunks(struct wheel *wheel)
{
	size_t bytes = (sizeof(struct wheel_slab) + CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
	struct wheel_slab *slab = aligned_alloc(CHUNK_BYTES, bytes);

	assert(slab);
	slab->next = wheel->slabs;
	wheel->slabs = slab;
	for (int i = 0; i < SLAB_CHUNKS; i++) {
		slab->chunks[i].next = wheel->free_chunks;
		wheel->free_chunks = &slab->chunks[i];
	}
}

static struct wheel_chunk *take_chunk(struct wheel *wheel)
{
	struct wheel_chunk *chunk;

	if (unlikely(!wheel->free_chunks))
		grow_free_chunks(wheel);
	chunk = wheel->free_chunks;
	wheel->free_chunks = chunk->next;
	return chunk;
}

static void release_chunk(struct wheel *wheel, struct wheel_chunk *chunk)
{
	chunk->next = wheel->free_chunks;
	wheel->free_chunks = chunk;
}

static inline uint32_t level_of(const struct wheel *wheel, sim_time time)
{
	return (uint32_t)(63 - __builtin_clzll((time ^ wheel->cursor) | 1)) / WHEEL_LEVEL_BITS;
}

static inline void empty_slot(struct wheel *wheel, uint32_t level, uint32_t slot)
{
	wheel->slots[level][slot] = NULL;
	wheel->occupied[level] &= ~(UINT64_C(1) << slot);
	if (wheel->occupied[level] == 0)
		wheel->occupied_levels &= ~(1u << level);
}

static inline void insert_in_slot(struct wheel *wheel, uint64_t key, struct event *event)
{
	sim_time time = key >> 3;
	uint32_t level = level_of(wheel, time);
	uint32_t slot = (time >> (level * WHEEL_LEVEL_BITS)) & (WHEEL_SLOTS - 1);
	struct wheel_chunk *chunk = wheel->slots[level][slot];
	struct wheel_entry *entry;

	if (!chunk || unlikely(chunk->count == CHUNK_ENTRIES)) {
		struct wheel_chunk *fresh = take_chunk(wheel);

		fresh->next = chunk;
		fresh->count = 0;
		wheel->occupied[level] |= UINT64_C(1) << slot;
		wheel->occupied_levels |= 1u << level;
		wheel->slots[level][slot] = chunk = fresh;
	}
	entry = &chunk->entries[chunk->count++];
	*entry = (struct wheel_entry){key, event};
	event->place = entry;
	event->where = IN_SLOT + (level << WHEEL_LEVEL_BITS | slot);
}

void wheel_insert(struct wheel *wheel, struct event *event)
{
	if (likely(event->key >> 3 > wheel->cursor)) {
		insert_in_slot(wheel, event->key, event);
	} else {
		event->where = IN_LATE;
		event_heap_insert(&wheel->late, event);
	}
}

static inline bool earlier(const struct wheel_current *a, const struct wheel_current *b)
{
	return a->key < b->key || (a->key == b->key && a->order < b->order);
}

/* Each goes to where the number of smaller keys says: many comparisons, but no branch that the
 * processor would guess wrong, as it does at each step of an insertion sort of random keys. */
static void sort_by_rank(struct wheel_current *list, uint32_t count)
{
	struct wheel_current copy[SHORT_SORT];
	uint64_t keys[SHORT_SORT];

	for (uint32_t i = 0; i < count; i++) {
		copy[i] = list[i];
		keys[i] = list[i].key;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = keys[i];
		uint32_t rank = 0;

		for (uint32_t j = 0; j < i; j++)
			rank += keys[j] <= key;
		for (uint32_t j = i + 1; j < count; j++)
			rank += keys[j] < key;
		list[rank] = copy[i];
	}
}

static void insertion_sort(struct wheel_current *list, uint32_t count)
{
	for (uint32_t sorted = 1; sorted < count; sorted++) {
		struct wheel_current moving = list[sorted];
		uint32_t gap = sorted;

		for (; gap > 0 && earlier(&moving, &list[gap - 1]); gap--)
			list[gap] = list[gap - 1];
		if (gap != sorted)
			list[gap] = moving;
	}
}

/* One pass: stable, by eight bits of the key or of the order. */
static void distribute(const struct wheel_current *from, struct wheel_current *to, uint32_t count,
		       bool by_key, uint32_t shift)
{
	uint32_t places[256] = {0};
	uint32_t place = 0;

	for (uint32_t i = 0; i < count; i++)
		places[(by_key ? from[i].key : from[i].order) >> shift & 255]++;
	for (uint32_t digit = 0; digit < 256; digit++) {
		uint32_t next = place + places[digit];

		places[digit] = place;
		place = next;
	}
	for (uint32_t i = 0; i < count; i++)
		to[places[(by_key ? from[i].key : from[i].order) >> shift & 255]++] = from[i];
}

/* Sorts many events of one time, mostly of different origins, by the digits in which their
 * orders differ. */
static void sort_by_digits(struct wheel *wheel, uint32_t count)
{
	struct wheel_current *from = wheel->current, *to = wheel->scratch, *sorted;
	uint64_t keys = 0, orders = 0;

	for (uint32_t i = 1; i < count; i++) {
		keys |= from[i].key ^ from[0].key;
		orders |= from[i].order ^ from[0].order;
	}
	for (uint32_t shift = 0; shift < 128; shift += 8) {
		bool by_key = shift >= 64;

		if (!((by_key ? keys : orders) >> (shift & 63) & 255))
			continue;
		distribute(from, to, count, by_key, shift & 63);
		sorted = to;
		to = from;
		from = sorted;
	}
	wheel->current = from;
	wheel->scratch = to;
}

static void sort_current(struct wheel *wheel, uint32_t count)
{
	struct wheel_current *list = wheel->current;
	uint32_t sorted = 1;

	while (sorted < count && earlier(&list[sorted - 1], &list[sorted]))
		sorted++;
	if (sorted >= count)
		return;
	if (count > SHORT_SORT) {
		sort_by_digits(wheel, count);
		return;
	}
	sort_by_rank(list, count);
	insertion_sort(list, count); /* what shares a key goes by order */
}

static void allocate_current(struct wheel *wheel)
{
	wheel->current = malloc(wheel->current_capacity * sizeof(*wheel->current));
	wheel->scratch = malloc(wheel->current_capacity * sizeof(*wheel->scratch));
	assert(wheel->current && wheel->scratch);
}

/* Chunks are newest first, so they fill the list from its end: what was scheduled in order is
 * then sorted already. */
static void slot_to_current(struct wheel *wheel, struct wheel_chunk *chunk, uint32_t count)
{
	uint32_t end = count;

	if (count > wheel->current_capacity) {
		wheel->current_capacity = 2 * count;
		free(wheel->current);
		free(wheel->scratch);
		allocate_current(wheel);
	}
	while (chunk) {
		struct wheel_chunk *next = chunk->next;

		end -= chunk->count;
		for (uint32_t i = 0; i < chunk->count; i++) {
			struct event *event = chunk->entries[i].event;

			wheel->current[end + i] =
				(struct wheel_current){chunk->entries[i].key, event->order, event};
		}
		release_chunk(wheel, chunk);
		chunk = next;
	}
	sort_current(wheel, count);
	for (uint32_t i = 0; i < count; i++) {
		wheel->current[i].event->where = IN_CURRENT;
		wheel->current[i].event->slot = i;
	}
	wheel->current_next = 0;
	wheel->current_count = count;
	wheel->cursor = wheel->current[count - 1].key >> 3;
}

/* Whether the slot may become the current list, all of which is then at or before the cursor. A
 * slot of an upper level never does: while its list lasts, what is scheduled before its end
 * goes through the heap. */
static bool is_short(const struct wheel_chunk *chunk, uint32_t level, sim_time limit,
		     uint32_t *count)
{
	*count = 0;
	if (level > SORT_LEVEL_MAX)
		return false;
	for (; chunk; chunk = chunk->next) {
		*count += chunk->count;
		if (level > 0 && *count > SHORT_SORT)
			return false;
		for (uint32_t i = 0; level > 0 && i < chunk->count; i++)
			if (chunk->entries[i].key >> 3 > limit)
				return false;
	}
	return true;
}

/* Oldest first, so that the order of insertion survives and the sort at the end has little to do.
 */
static void spread_slot(struct wheel *wheel, struct wheel_chunk *chunk)
{
	struct wheel_chunk *oldest = NULL;

	while (chunk) {
		struct wheel_chunk *next = chunk->next;

		chunk->next = oldest;
		oldest = chunk;
		chunk = next;
	}
	while (oldest) {
		struct wheel_chunk *next = oldest->next;

		for (uint32_t i = 0; i < oldest->count; i++)
			insert_in_slot(wheel, oldest->entries[i].key, oldest->entries[i].event);
		release_chunk(wheel, oldest);
		oldest = next;
	}
}

/* First event of the current list and the late heap; NULL: both are empty. */
static inline struct event *first_at_cursor(const struct wheel *wheel, uint32_t *current_next)
{
	struct event *late = event_heap_first(&wheel->late);
	struct event *event;

	while (*current_next < wheel->current_count && !wheel->current[*current_next].event)
		++*current_next;
	if (*current_next == wheel->current_count)
		return late;
	event = wheel->current[*current_next].event;
	if (late &&
	    (late->key < event->key || (late->key == event->key && late->order < event->order)))
		return late;
	return event;
}

#define CACHE_LINE  64
#define FETCH_AHEAD 3

/* Brings the event that fires soon after this one into the cache, and the line behind it, where
 * what it concerns begins: with thousands of blocks none of it would be there. */
static inline void fetch_ahead(const struct wheel *wheel)
{
	uint32_t ahead = wheel->current_next + FETCH_AHEAD;
	uintptr_t event; /* 0: cancelled */

	if (ahead >= wheel->current_count)
		return;
	event = (uintptr_t)wheel->current[ahead].event;
	__builtin_prefetch((const void *)event, 1);
	__builtin_prefetch((const void *)(event + CACHE_LINE), 1);
}

struct event *wheel_pop(struct wheel *wheel, sim_time limit)
{
	for (;;) {
		struct event *event = first_at_cursor(wheel, &wheel->current_next);
		uint32_t level, slot, shift, count;
		struct wheel_chunk *chunk;
		sim_time start;

		if (event) {
			if (event->key >> 3 > limit)
				return NULL;
			if (event->where == IN_LATE)
				event_heap_remove(&wheel->late, event);
			else
				wheel->current_next++;
			fetch_ahead(wheel);
			event->where = NOT_PENDING;
			return event;
		}
		if (wheel->occupied_levels == 0)
			return NULL;
		level = (uint32_t)__builtin_ctz(wheel->occupied_levels);
		slot = (uint32_t)__builtin_ctzll(wheel->occupied[level]);
		chunk = wheel->slots[level][slot];
		if (chunk->count == 1 && !chunk->next) {
			/* Alone in its slot: it needs no spreading and no sorting. */
			if (chunk->entries[0].key >> 3 > limit)
				return NULL;
			event = chunk->entries[0].event;
			wheel->cursor = chunk->entries[0].key >> 3;
			empty_slot(wheel, level, slot);
			release_chunk(wheel, chunk);
			event->where = NOT_PENDING;
			return event;
		}
		shift = (level + 1) * WHEEL_LEVEL_BITS;
		start = shift >= 64 ? 0 : wheel->cursor >> shift << shift;
		start |= (sim_time)slot << (level * WHEEL_LEVEL_BITS);
		if (start > limit)
			return NULL;
		empty_slot(wheel, level, slot);
		if (is_short(chunk, level, limit, &count)) {
			slot_to_current(wheel, chunk, count);
		} else {
			wheel->cursor = start;
			spread_slot(wheel, chunk);
		}
	}
}

static void remove_from_slot(struct wheel *wheel, struct event *event)
{
	uint32_t number = event->where - IN_SLOT;
	uint32_t level = number >> WHEEL_LEVEL_BITS;
	uint32_t slot = number & (WHEEL_SLOTS - 1);
	struct wheel_chunk *chunk = wheel->slots[level][slot];
	struct wheel_entry *entry = event->place;
	struct wheel_entry *last = &chunk->entries[--chunk->count];

	assert(entry->event == event);
	if (entry != last) {
		*entry = *last;
		entry->event->place = entry;
	}
	if (chunk->count == 0) {
		wheel->slots[level][slot] = chunk->next;
		if (!chunk->next)
			empty_slot(wheel, level, slot);
		release_chunk(wheel, chunk);
	}
}

void wheel_remove(struct wheel *wheel, struct event *event)
{
	if (event->where >= IN_SLOT)
		remove_from_slot(wheel, event);
	else if (event->where == IN_LATE)
		event_heap_remove(&wheel->late, event);
	else
		wheel->current[event->slot].event = NULL;
	event->where = NOT_PENDING;
}

struct event *wheel_first(const struct wheel *wheel)
{
	uint32_t current_next = wheel->current_next;
	struct event *first = first_at_cursor(wheel, &current_next);
	uint32_t level, slot;
	uint64_t first_key = UINT64_MAX;

	if (first || wheel->occupied_levels == 0)
		return first;
	level = (uint32_t)__builtin_ctz(wheel->occupied_levels);
	slot = (uint32_t)__builtin_ctzll(wheel->occupied[level]);
	for (const struct wheel_chunk *chunk = wheel->slots[level][slot]; chunk;
	     chunk = chunk->next) {
		for (uint32_t i = 0; i < chunk->count; i++) {
			const struct wheel_entry *entry = &chunk->entries[i];

			if (!first || entry->key < first_key ||
			    (entry->key == first_key && entry->event->order < first->order)) {
				first = entry->event;
				first_key = entry->key;
			}
		}
	}
	return first;
}

sim_time wheel_bound(const struct wheel *wheel)
{
	uint32_t current_next = wheel->current_next;
	struct event *first = first_at_cursor(wheel, &current_next);
	uint32_t level, shift;
	const struct wheel_chunk *chunk;
	sim_time bound = SIM_NEVER;
	uint64_t slot;

	if (first)
		return event_time(first);
	if (wheel->occupied_levels == 0)
		return SIM_NEVER;
	level = (uint32_t)__builtin_ctz(wheel->occupied_levels);
	slot = (uint64_t)__builtin_ctzll(wheel->occupied[level]);
	chunk = wheel->slots[level][slot];
	shift = level * WHEEL_LEVEL_BITS;
	if (chunk->next) /* the slot's first picosecond */
		return (wheel->cursor >> shift >> WHEEL_LEVEL_BITS << WHEEL_LEVEL_BITS | slot)
		       << shift;
	for (uint32_t i = 0; i < chunk->count; i++)
		if (chunk->entries[i].key >> 3 < bound)
			bound = chunk->entries[i].key >> 3;
	return bound;
}

void wheel_init(struct wheel *wheel)
{
	*wheel = (struct wheel){.current_capacity = 256};
	allocate_current(wheel);
	event_heap_init(&wheel->late);
}

void wheel_fini(struct wheel *wheel)
{
	while (wheel->slabs) {
		struct wheel_slab *slab = wheel->slabs;

		wheel->slabs = slab->next;
		free(slab);
	}
	event_heap_fini(&wheel->late);
	free(wheel->current);
	free(wheel->scratch);
}
