/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel: the queue of pending events of the engines native and systemc: a hierarchical timing wheel of 64
 * slots a level, exact to the picosecond.
 *
 *     level 0   one slot for each of the 64 picoseconds that share the cursor's upper bits
 *     level n   one slot for each of the 64 groups of 64^n picoseconds
 *     current   the events of the slot that was reached last, sorted by (key, order)
 *     late      a small heap: events inserted at or before the cursor (delay 0, or sooner than the end of current)
 *
 * The level of a time is that of the highest bit in which it differs from the cursor, so the lowest slot of
 * the lowest occupied level holds the earliest events. A slot that is reached becomes the current list if it
 * is short or a single picosecond; otherwise its events are spread over the levels below. Slots hold (key,
 * event) packed in chunks of 256 bytes: spreading reads them in sequence instead of following a pointer into each event.
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
#define WHEEL_LEVELS     11 /* 11 * 6 bits >= those of SIM_NEVER */

struct wheel_chunk;

struct wheel_current {
	uint64_t key;
	uint64_t order;
	struct event *event; /* NULL: cancelled */
};

struct wheel {
	sim_time cursor;          /* no event in the slots is at or before it */
	uint32_t occupied_levels; /* one bit a level */
	uint32_t current_next;    /* of current[]; what is before it has left */
	uint32_t current_count;
	uint32_t current_capacity;
	struct wheel_current *current, *scratch; /* scratch: to sort many */
	struct event_heap late;
	struct wheel_chunk *free_chunks;
	struct wheel_slab *slabs;        /* memory of all chunks */
	uint64_t occupied[WHEEL_LEVELS]; /* one bit a slot */
	struct wheel_chunk *slots[WHEEL_LEVELS]
				 [WHEEL_SLOTS]; /* newest chunk first; only that one is not full */
};

/* Nothing is earlier; SIM_NEVER: empty. Cheap, and exact once wheel_pop() has come near. */
sim_time wheel_bound(const struct wheel *wheel);

void wheel_init(struct wheel *wheel);
void wheel_fini(struct wheel *wheel);

/* event->key and event->order are set; sets place, where and slot. */
void wheel_insert(struct wheel *wheel, struct event *event);
void wheel_remove(struct wheel *wheel, struct event *event);

/* Takes out the earliest event whose key is at most `limit`, NULL: none. The cursor does not pass
 * `limit`. */
struct event *wheel_pop(struct wheel *wheel, uint64_t limit);

/* The earliest event, which stays; NULL: none. The cursor does not move. */
struct event *wheel_first(const struct wheel *wheel);

#ifdef __cplusplus
}
#endif
#endif
