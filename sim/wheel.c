/* SPDX-License-Identifier: Apache-2.0 */
/* wheel: see wheel.h. */
#include "sim/wheel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/wheel_fetch.h"
#include "sim/wheel_sort.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define SLAB_CHUNKS 64
/* Chunks and bytes of blocks from which events are prefetched. Chosen with the benchmarks. */
#define FETCH_CHUNKS 64
#define FETCH_BYTES  ((size_t)8 << 20)

struct wheel_slab {
	struct wheel_chunk chunks[SLAB_CHUNKS];
	struct wheel_slab *next;
};

#define LATE_MOVES 64 /* entries of the current list that an insertion may move */

/* A slot, and its bit in the words of occupied slots. */
struct slot {
	struct wheel_chunk **chunks;
	uint64_t *occupied; /* one bit per slot */
	uint32_t *words;    /* one bit per word of `occupied` */
	uint32_t bit, word;
};

static __attribute__((noinline)) void grow_free_chunks(struct wheel *wheel)
{
	size_t bytes = (sizeof(struct wheel_slab) + WHEEL_CHUNK_BYTES - 1) / WHEEL_CHUNK_BYTES *
		       WHEEL_CHUNK_BYTES;
	struct wheel_slab *slab = aligned_alloc(WHEEL_CHUNK_BYTES, bytes);

	assert(slab);
	wheel->fetches = wheel->chunks >= FETCH_CHUNKS && wheel->blocks->bytes >= FETCH_BYTES;
	wheel->chunks += SLAB_CHUNKS;
	slab->next = wheel->slabs;
	wheel->slabs = slab;
	for (int i = 0; i < SLAB_CHUNKS; i++) {
		slab->chunks[i].next = wheel->free_chunks;
		wheel->free_chunks = &slab->chunks[i];
	}
}

static void release_chunk(struct wheel *wheel, struct wheel_chunk *chunk)
{
	chunk->next = wheel->free_chunks;
	wheel->free_chunks = chunk;
}

static inline struct slot near_slot(struct wheel *wheel, uint32_t number)
{
	return (struct slot){&wheel->near_slots[number], &wheel->near_occupied[number / 64],
			     &wheel->near_words, number % 64, number / 64};
}

static inline struct slot far_slot(struct wheel *wheel, uint32_t level, uint32_t number)
{
	return (struct slot){&wheel->far_slots[level][number], &wheel->far_occupied[level],
			     &wheel->far_levels, number, level};
}

static inline uint32_t far_shift(uint32_t level)
{
	return WHEEL_FAR_SHIFT + level * WHEEL_FAR_BITS;
}

/* Returns the slot of a time after the cursor. */
static inline struct slot slot_of(struct wheel *wheel, sim_time time)
{
	uint64_t differs = time ^ wheel->cursor;
	uint32_t level;

	if (likely(differs >> WHEEL_FAR_SHIFT == 0))
		return near_slot(wheel, (time >> WHEEL_SLOT_BITS) & (WHEEL_NEAR_SLOTS - 1));
	level = ((uint32_t)(63 - __builtin_clzll(differs)) - WHEEL_FAR_SHIFT) / WHEEL_FAR_BITS;
	return far_slot(wheel, level, (time >> far_shift(level)) & (WHEEL_FAR_SLOTS - 1));
}

/* Returns the slot with the earliest events after the cursor, and its first picosecond. At least
 * one slot must be occupied. */
static inline struct slot lowest_slot(struct wheel *wheel, sim_time *start)
{
	uint32_t number, level, end;

	if (likely(wheel->near_words)) {
		number = (uint32_t)__builtin_ctz(wheel->near_words);
		number = number * 64 + (uint32_t)__builtin_ctzll(wheel->near_occupied[number]);
		*start = wheel->cursor >> WHEEL_FAR_SHIFT << WHEEL_FAR_SHIFT |
			 (sim_time)number << WHEEL_SLOT_BITS;
		return near_slot(wheel, number);
	}
	level = (uint32_t)__builtin_ctz(wheel->far_levels);
	number = (uint32_t)__builtin_ctzll(wheel->far_occupied[level]);
	end = far_shift(level + 1);
	*start = end >= 64 ? 0 : wheel->cursor >> end << end;
	*start |= (sim_time)number << far_shift(level);
	return far_slot(wheel, level, number);
}

static inline void mark_empty(const struct slot *slot)
{
	*slot->occupied &= ~(UINT64_C(1) << slot->bit);
	if (*slot->occupied == 0)
		*slot->words &= ~(1u << slot->word);
}

static inline struct wheel_chunk *empty_slot(const struct slot *slot)
{
	struct wheel_chunk *chunk = *slot->chunks;

	*slot->chunks = NULL;
	mark_empty(slot);
	return chunk;
}

/* Adds an empty chunk to a slot. A chunk must be free. */
static inline struct wheel_chunk *add_chunk(struct wheel *wheel, const struct slot *slot)
{
	struct wheel_chunk *chunk = wheel->free_chunks;

	wheel->free_chunks = chunk->next;
	chunk->next = *slot->chunks;
	chunk->count = 0;
	*slot->occupied |= UINT64_C(1) << slot->bit;
	*slot->words |= 1u << slot->word;
	*slot->chunks = chunk;
	return chunk;
}

/* Keeps the registers of wheel_add_chunk() free. */
static __attribute__((noinline)) struct wheel_chunk *grow_and_add(struct wheel *wheel,
								  uint32_t number)
{
	grow_free_chunks(wheel);
	return wheel_add_chunk(wheel, number);
}

struct wheel_chunk *wheel_add_chunk(struct wheel *wheel, uint32_t number)
{
	struct slot slot = near_slot(wheel, number);

	if (unlikely(!wheel->free_chunks))
		return grow_and_add(wheel, number);
	return add_chunk(wheel, &slot);
}

static __attribute__((noinline)) void insert_in_slot(struct wheel *wheel, uint64_t key,
						     uint64_t order, struct event *event)
{
	struct slot slot = slot_of(wheel, key >> 3);
	struct wheel_chunk *chunk = *slot.chunks;

	if (!chunk || chunk->count == WHEEL_CHUNK_ENTRIES) {
		if (unlikely(!wheel->free_chunks))
			grow_free_chunks(wheel);
		chunk = add_chunk(wheel, &slot);
	}
	wheel_append(chunk, key, order, event);
}

/* Inserts an event at or before the cursor. Most are near the end of the current list, where few
 * entries must move. */
static __attribute__((noinline)) void insert_late(struct wheel *wheel, struct event *event)
{
	const struct wheel_entry entry = {event->key, event->order, event};
	uint32_t first = wheel->current_next, count = wheel->current_count, place;

	if (first == count)
		wheel->current_next = wheel->current_count = first = count = 0;
	if (count > first + LATE_MOVES)
		first = count - LATE_MOVES;
	for (place = count; place > first; place--)
		if (wheel_earlier(&wheel->current[place - 1], &entry))
			break; /* an equal entry is cancelled, and stays behind */
	if (count == wheel->current_capacity || (place == first && first > wheel->current_next)) {
		event_heap_insert(&wheel->late, event);
		return;
	}
	memmove(&wheel->current[place + 1], &wheel->current[place],
		(count - place) * sizeof(entry));
	wheel->current[place] = entry;
	wheel->current_count++;
	event->place = WHEEL_IN_SLOT;
}

void wheel_insert_elsewhere(struct wheel *wheel, struct event *event)
{
	if (event->key >> 3 <= wheel->cursor)
		insert_late(wheel, event);
	else
		insert_in_slot(wheel, event->key, event->order, event);
}

static void allocate_current(struct wheel *wheel)
{
	wheel->current = malloc(wheel->current_capacity * sizeof(*wheel->current));
	wheel->scratch = malloc(wheel->current_capacity * sizeof(*wheel->scratch));
	assert(wheel->current && wheel->scratch);
}

static void grow_current(struct wheel *wheel, uint32_t count)
{
	wheel->current_capacity = 2 * count;
	free(wheel->current);
	free(wheel->scratch);
	allocate_current(wheel);
}

/* Copies a slot to the current list. The newest chunk is first, so the list is filled from its end.
 * Events that were scheduled in order are then already sorted. */
static void slot_to_current(struct wheel *wheel, struct wheel_chunk *chunk)
{
	uint32_t count = 0, end;
	struct wheel_entry *sorted;

	wheel->current_next = 0;
	for (const struct wheel_chunk *each = chunk; each; each = each->next)
		count += each->count;
	if (unlikely(count > wheel->current_capacity))
		grow_current(wheel, count);
	end = count;
	while (chunk) {
		struct wheel_chunk *next = chunk->next;

		end -= chunk->count;
		memcpy(&wheel->current[end], chunk->entries,
		       chunk->count * sizeof(chunk->entries[0]));
		release_chunk(wheel, chunk);
		chunk = next;
	}
	sorted = wheel_sort(wheel->current, wheel->scratch, count);
	if (sorted != wheel->current) {
		wheel->scratch = wheel->current;
		wheel->current = sorted;
	}
	wheel->current_count = count;
	wheel->cursor = wheel->current[count - 1].key >> 3;
}

/* Distributes a slot, oldest chunk first. The order of insertion is kept, and the final sort has
 * little to do. */
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
			insert_in_slot(wheel, oldest->entries[i].key, oldest->entries[i].order,
				       oldest->entries[i].event);
		release_chunk(wheel, oldest);
		oldest = next;
	}
}

/* Returns the first event of the current list and the late heap, or NULL if both are empty. */
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

/* Makes a near slot the current list, or distributes a far slot. */
static void open_slot(struct wheel *wheel, const struct slot *slot, sim_time start)
{
	bool is_near = slot->words == &wheel->near_words;
	struct wheel_chunk *chunk = empty_slot(slot);

	if (!is_near) {
		wheel->cursor = start;
		spread_slot(wheel, chunk);
		return;
	}
	slot_to_current(wheel, chunk);
	if (wheel->fetches) {
		wheel_fetch_slots(wheel, (start >> WHEEL_SLOT_BITS) & (WHEEL_NEAR_SLOTS - 1));
		wheel_fetch_current(wheel);
	}
}

/* Returns the earliest entry of a chunk, or NULL if another entry has the same time. No branch
 * depends on the order of the entries, which a processor cannot predict. */
static inline struct wheel_entry *alone_and_first(struct wheel_chunk *chunk)
{
	struct wheel_entry *first = &chunk->entries[0], *end = first + chunk->count;
	sim_time earliest = first->key >> 3;
	bool alone = true;

	for (struct wheel_entry *entry = first + 1; entry < end; entry++) {
		sim_time time = entry->key >> 3;

		if (unlikely(time == earliest))
			alone = false;
		alone |= time < earliest;
		first = time < earliest ? entry : first;
		earliest = time < earliest ? time : earliest;
	}
	return alone ? first : NULL;
}

/* Removes and returns an event that is the first of the only chunk of a slot. */
static inline struct event *take_first(struct wheel *wheel, const struct slot *slot,
				       struct wheel_entry *first)
{
	struct wheel_chunk *chunk = *slot->chunks;
	struct event *event = first->event;

	wheel->cursor = first->key >> 3;
	if (--chunk->count == 0) {
		(void)empty_slot(slot);
		release_chunk(wheel, chunk);
	} else if (first != &chunk->entries[chunk->count]) {
		*first = chunk->entries[chunk->count];
		first->event->place = (uintptr_t)first | WHEEL_IN_SLOT;
	}
	event->place = 0;
	return event;
}

/* Removes and returns the earliest event, in the cases that wheel_pop() leaves. */
static __attribute__((noinline)) struct event *pop_any(struct wheel *wheel, sim_time limit)
{
	struct event *event;

	while (!(event = first_at_cursor(wheel, &wheel->current_next))) {
		struct slot slot;
		sim_time start;

		if (!(wheel->near_words | wheel->far_levels))
			return NULL;
		slot = lowest_slot(wheel, &start);
		if (start > limit)
			return NULL;
		open_slot(wheel, &slot, start);
	}
	if (event->key >> 3 > limit)
		return NULL;
	if (event->place & EVENT_IN_HEAP)
		event_heap_remove(&wheel->late, event);
	else
		wheel->current_next++;
	event->place = 0;
	return wheel->fetches ? wheel_fetch_ahead(wheel, event) : event;
}

struct event *wheel_pop(struct wheel *wheel, sim_time limit)
{
	if (unlikely(wheel->late.count))
		return pop_any(wheel, limit);
	if (likely(wheel->current_next < wheel->current_count)) {
		const struct wheel_entry *entry = &wheel->current[wheel->current_next];

		if (unlikely(!entry->event))
			return pop_any(wheel, limit);
		if (entry->key >> 3 > limit)
			return NULL;
		wheel->current_next++;
		entry->event->place = 0;
		return wheel->fetches ? wheel_fetch_ahead(wheel, entry->event) : entry->event;
	}
	if (!wheel->fetches && wheel->near_words) { /* in small models most slots have few events */
		sim_time start;
		struct slot slot = lowest_slot(wheel, &start);
		struct wheel_chunk *chunk = *slot.chunks;
		struct wheel_entry *first = chunk->next ? NULL : alone_and_first(chunk);

		if (first)
			return first->key >> 3 > limit ? NULL : take_first(wheel, &slot, first);
	}
	return pop_any(wheel, limit);
}

static void remove_from_slot(struct wheel *wheel, struct event *event)
{
	struct slot slot = slot_of(wheel, event->key >> 3);
	struct wheel_chunk *chunk = *slot.chunks;
	struct wheel_entry *entry = (struct wheel_entry *)(event->place - WHEEL_IN_SLOT);
	struct wheel_entry *last = &chunk->entries[--chunk->count];

	assert(entry->event == event);
	if (entry != last) {
		*entry = *last;
		entry->event->place = (uintptr_t)entry | WHEEL_IN_SLOT;
	}
	if (chunk->count == 0) {
		*slot.chunks = chunk->next;
		if (!chunk->next)
			mark_empty(&slot);
		release_chunk(wheel, chunk);
	}
}

/* Removes an event from the current list by a binary search. */
static void remove_from_current(struct wheel *wheel, const struct event *event)
{
	const struct wheel_entry sought = {event->key, event->order, NULL};
	uint32_t low = wheel->current_next, high = wheel->current_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (wheel_earlier(&wheel->current[middle], &sought))
			low = middle + 1;
		else
			high = middle;
	}
	assert(low < wheel->current_count && wheel->current[low].event == event);
	wheel->current[low].event = NULL;
}

void wheel_remove(struct wheel *wheel, struct event *event)
{
	if (event->place & EVENT_IN_HEAP)
		event_heap_remove(&wheel->late, event);
	else if (event->key >> 3 > wheel->cursor)
		remove_from_slot(wheel, event);
	else
		remove_from_current(wheel, event);
	event->place = 0;
}

struct event *wheel_first(struct wheel *wheel)
{
	uint32_t current_next = wheel->current_next;
	const struct wheel_entry *first = NULL;
	struct event *at_cursor = first_at_cursor(wheel, &current_next);
	sim_time start;

	if (at_cursor || !(wheel->near_words | wheel->far_levels))
		return at_cursor;
	for (const struct wheel_chunk *chunk = *lowest_slot(wheel, &start).chunks; chunk;
	     chunk = chunk->next)
		for (uint32_t i = 0; i < chunk->count; i++)
			if (!first || wheel_earlier(&chunk->entries[i], first))
				first = &chunk->entries[i];
	return first->event;
}

static void visit_slot(const struct wheel_chunk *chunk,
		       void (*visit)(void *context, const struct event *event), void *context)
{
	for (; chunk; chunk = chunk->next)
		for (uint32_t i = 0; i < chunk->count; i++)
			visit(context, chunk->entries[i].event);
}

void wheel_visit(const struct wheel *wheel, void (*visit)(void *context, const struct event *event),
		 void *context)
{
	for (uint32_t i = wheel->current_next; i < wheel->current_count; i++)
		if (wheel->current[i].event)
			visit(context, wheel->current[i].event);
	for (uint32_t i = 0; i < wheel->late.count; i++)
		visit(context, wheel->late.entries[i].event);
	for (uint32_t i = 0; i < WHEEL_NEAR_SLOTS; i++)
		if (wheel->near_occupied[i / 64] >> i % 64 & 1)
			visit_slot(wheel->near_slots[i], visit, context);
	for (uint32_t level = 0; level < WHEEL_FAR_LEVELS; level++)
		for (uint32_t i = 0; i < WHEEL_FAR_SLOTS; i++)
			if (wheel->far_occupied[level] >> i & 1)
				visit_slot(wheel->far_slots[level][i], visit, context);
}

sim_time wheel_bound(struct wheel *wheel)
{
	uint32_t current_next = wheel->current_next;
	struct event *first = first_at_cursor(wheel, &current_next);
	const struct wheel_chunk *chunk;
	sim_time start, bound = SIM_NEVER;

	if (first)
		return event_time(first);
	if (!(wheel->near_words | wheel->far_levels))
		return SIM_NEVER;
	chunk = *lowest_slot(wheel, &start).chunks;
	if (chunk->next)
		return start;
	for (uint32_t i = 0; i < chunk->count; i++)
		if (chunk->entries[i].key >> 3 < bound)
			bound = chunk->entries[i].key >> 3;
	return bound;
}

void wheel_init(struct wheel *wheel, const struct arena *blocks)
{
	*wheel = (struct wheel){.current_capacity = 256, .blocks = blocks};
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
