/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel: the queue of pending events of the engines native and systemc. It is a hierarchical
 * timing wheel with 64 slots per level, exact to the picosecond.
 *
 *     level 0   one slot for each of the 64 picoseconds that share the cursor's upper bits
 *     level n   one slot for each of the 64 groups of 64^n picoseconds
 *     current   the events of the slot that was reached last, sorted by (key, order)
 *     late      a small heap of the events inserted at or before the cursor (delay 0, or a time
 *               before the end of current)
 *
 * The highest bit in which a time differs from the cursor determines its level. The lowest slot
 * of the lowest occupied level therefore holds the earliest events. A slot that is reached
 * becomes the current list if it is short or a single picosecond. Otherwise its events are
 * distributed over the levels below. Slots hold (key, event) pairs in chunks of 256 bytes, so
 * that distribution reads them in sequence and follows no pointers.
 */
#ifndef SIM_WHEEL_H
#define SIM_WHEEL_H

#include "sim/event_heap.h"
#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WHEEL_LEVEL_BITS 6
#define WHEEL_SLOTS      (1 << WHEEL_LEVEL_BITS)
#define WHEEL_LEVELS     11 /* 11 * 6 bits cover SIM_NEVER */

struct wheel_chunk;

struct wheel_current {
	uint64_t key;
	uint64_t order;
	struct event *event; /* NULL if cancelled */
};

struct wheel {
	sim_time cursor;          /* all events in the slots are after this time */
	uint32_t occupied_levels; /* one bit per level */
	uint32_t current_next;    /* index into current[]; earlier entries have fired */
	uint32_t current_count;
	uint32_t current_capacity;
	struct wheel_current *current, *scratch; /* `scratch` is used for sorting */
	struct event_heap late;
	struct wheel_chunk *free_chunks;
	struct wheel_slab *slabs;        /* memory of all chunks */
	uint64_t occupied[WHEEL_LEVELS]; /* one bit per slot */
	struct wheel_chunk
		*slots[WHEEL_LEVELS][WHEEL_SLOTS]; /* newest chunk first; all others are full */
};

/* Returns a lower bound of the time of the earliest event, or SIM_NEVER if the wheel is empty.
 * The call is cheap. The bound is exact once wheel_pop() has come near that event. */
sim_time wheel_bound(const struct wheel *wheel);

void wheel_init(struct wheel *wheel);
void wheel_fini(struct wheel *wheel);

/* Inserts an event whose key and order are set. Sets its place, where and slot. wheel_remove()
 * removes it. */
void wheel_insert(struct wheel *wheel, struct event *event);
void wheel_remove(struct wheel *wheel, struct event *event);

/* Removes and returns the earliest event whose key is at most `limit`. Returns NULL if there is
 * none. The cursor does not pass `limit`. */
struct event *wheel_pop(struct wheel *wheel, uint64_t limit);

/* Returns the earliest event without removing it, or NULL if the wheel is empty. The cursor
 * does not move. */
struct event *wheel_first(const struct wheel *wheel);

#ifdef __cplusplus
}
#endif
#endif
