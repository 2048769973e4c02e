/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel: the queue of pending events of the engines native and systemc. It is a timing wheel with
 * one level of 1024 fine slots, and levels of 64 coarse slots above, exact to the picosecond.
 *
 *     near      one slot for each of the 1024 groups of 4096 ps that share the cursor's upper bits
 *     far       level n: one slot for each of the 64 groups of 2^(22 + 6 n) ps
 *     current   the events of the near slot that was reached last, sorted by (key, order)
 *     late      a small heap of events inserted at or before the cursor (delay 0, or a time before
 *               the end of current), if too many entries of current would have to move for them
 *
 * The highest bit in which a time differs from the cursor determines the level. The lowest near
 * slot therefore holds the earliest events, or the lowest slot of the lowest far level if no near
 * slot is occupied. A far slot that is reached is distributed over the slots below. A near slot
 * that is reached is sorted into the current list. Slots hold (key, order, event) in chunks of 256
 * bytes. Distribution and sorting therefore read entries in sequence, and sorting touches no event.
 */
#ifndef SIM_WHEEL_H
#define SIM_WHEEL_H

#include "sim/arena.h"
#include "sim/event_heap.h"
#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WHEEL_SLOT_BITS  12 /* a near slot is 4096 ps */
#define WHEEL_NEAR_BITS  10
#define WHEEL_NEAR_SLOTS (1 << WHEEL_NEAR_BITS)
#define WHEEL_NEAR_WORDS (WHEEL_NEAR_SLOTS / 64)
#define WHEEL_FAR_SHIFT  (WHEEL_SLOT_BITS + WHEEL_NEAR_BITS)
#define WHEEL_FAR_BITS   6
#define WHEEL_FAR_SLOTS  (1 << WHEEL_FAR_BITS)
#define WHEEL_FAR_LEVELS 7 /* 22 + 7 * 6 bits cover SIM_NEVER */

/* Container in event->place, beside the address of the entry. An event of the current list is
 * in a slot too. Its time is at or before the cursor, and its entry is no longer valid. */
#define WHEEL_IN_SLOT 2

struct wheel_entry {
	uint64_t key;
	uint64_t order;
	struct event *event; /* NULL if cancelled */
};

/* Entries of a slot: four cache lines. */
#define WHEEL_CHUNK_BYTES   256
#define WHEEL_CHUNK_ENTRIES 10
struct wheel_chunk {
	struct wheel_chunk *next;
	uint32_t count;
	struct wheel_entry entries[WHEEL_CHUNK_ENTRIES];
};

struct wheel {
	sim_time cursor;       /* all events in the slots are after this time */
	uint32_t current_next; /* index into current[]; earlier entries have fired */
	uint32_t current_count;
	struct wheel_entry *current, *scratch; /* `scratch` is used for sorting */
	struct event_heap late;
	uint32_t current_capacity;
	uint32_t near_words; /* one bit per word of near_occupied */
	uint32_t far_levels; /* one bit per far level with an occupied slot */
	uint32_t chunks;     /* all, free or not */
	bool fetches;        /* events and their blocks do not fit into the cache */
	const struct arena *blocks;
	struct wheel_chunk *free_chunks;
	struct wheel_slab *slabs;                 /* memory of all chunks */
	uint64_t near_occupied[WHEEL_NEAR_WORDS]; /* one bit per slot */
	uint64_t far_occupied[WHEEL_FAR_LEVELS];
	/* newest chunk first; all others are full */
	struct wheel_chunk *near_slots[WHEEL_NEAR_SLOTS];
	struct wheel_chunk *far_slots[WHEEL_FAR_LEVELS][WHEEL_FAR_SLOTS];
};

/* Returns a lower bound of the time of the earliest event, or SIM_NEVER if the wheel is empty.
 * The call is cheap. The bound is exact once wheel_pop() has come near that event. */
sim_time wheel_bound(struct wheel *wheel);

/* `blocks` is the memory of the blocks whose events enter the wheel. */
void wheel_init(struct wheel *wheel, const struct arena *blocks);
void wheel_fini(struct wheel *wheel);

/* Adds an empty chunk to a near slot, which has no chunk with room. Returns the chunk. */
struct wheel_chunk *wheel_add_chunk(struct wheel *wheel, uint32_t number);

/* Inserts an event whose time is not in a near slot. */
void wheel_insert_elsewhere(struct wheel *wheel, struct event *event);

/* Appends an entry to a chunk, which must have room. */
static inline void wheel_append(struct wheel_chunk *chunk, uint64_t key, uint64_t order,
				struct event *event)
{
	struct wheel_entry *entry = &chunk->entries[chunk->count++];

	*entry = (struct wheel_entry){key, order, event};
	event->place = (uintptr_t)entry | WHEEL_IN_SLOT;
}

/* Inserts an event whose key and order are set. Sets its place. wheel_remove() removes it. */
static inline void wheel_insert(struct wheel *wheel, struct event *event)
{
	sim_time time = event->key >> 3;
	uint32_t number = (time >> WHEEL_SLOT_BITS) & (WHEEL_NEAR_SLOTS - 1);
	struct wheel_chunk *chunk;

	if (__builtin_expect(time <= wheel->cursor || (time ^ wheel->cursor) >> WHEEL_FAR_SHIFT,
			     0)) {
		wheel_insert_elsewhere(wheel, event);
		return;
	}
	chunk = wheel->near_slots[number];
	if (!chunk || chunk->count == WHEEL_CHUNK_ENTRIES)
		chunk = wheel_add_chunk(wheel, number);
	wheel_append(chunk, event->key, event->order, event);
}

void wheel_remove(struct wheel *wheel, struct event *event);

/* Removes and returns the earliest event whose key is at most `limit`. Returns NULL if there is
 * none. */
struct event *wheel_pop(struct wheel *wheel, uint64_t limit);

/* Returns the earliest event without removing it, or NULL if the wheel is empty. The cursor
 * does not move. */
struct event *wheel_first(struct wheel *wheel);

/* Calls `visit` for each pending event, in any order. It must not change the wheel. */
void wheel_visit(const struct wheel *wheel, void (*visit)(void *context, const struct event *event),
		 void *context);

#ifdef __cplusplus
}
#endif
#endif
