/* SPDX-License-Identifier: Apache-2.0 */
/* wheel_fetch: see wheel_fetch.h. A slot has 8 events in a fat tree of 1024 hosts. */
#include "sim/wheel_fetch.h"

#define CACHE_LINE  64
#define FETCH_FIRST 16 /* entries of a slot for which the stages go by slots */
#define FETCH_APART 3  /* entries between two stages within a longer list */

/* Prefetches an event that fires soon, and the cache line after it with the beginning of its owner.
 * With thousands of blocks, neither is in the cache. */
static inline void fetch_event(const struct event *event)
{
	__builtin_prefetch((const void *)event, 1);
	__builtin_prefetch((const void *)((uintptr_t)event + CACHE_LINE), 1);
}

static inline void fetch_stage(const struct event *event, unsigned stage)
{
	if (event && event->fetch)
		event->fetch->stages[stage](event);
}

/* Returns the next occupied near slot after `number`, or WHEEL_NEAR_SLOTS if there is none. */
static inline uint32_t next_near(const struct wheel *wheel, uint32_t number)
{
	uint32_t word = ++number / 64;
	uint64_t slots;
	uint32_t words;

	if (number == WHEEL_NEAR_SLOTS)
		return number;
	slots = wheel->near_occupied[word] >> number % 64;
	if (slots)
		return number + (uint32_t)__builtin_ctzll(slots);
	words = wheel->near_words & ~1u << word;
	if (!words)
		return WHEEL_NEAR_SLOTS;
	word = (uint32_t)__builtin_ctz(words);
	return word * 64 + (uint32_t)__builtin_ctzll(wheel->near_occupied[word]);
}

void wheel_fetch_slots(const struct wheel *wheel, uint32_t number)
{
	for (int stage = 1; stage >= -1; stage--) {
		const struct wheel_chunk *chunk;

		number = next_near(wheel, number);
		if (number == WHEEL_NEAR_SLOTS)
			return;
		chunk = wheel->near_slots[number];
		for (uint32_t i = 0; i < chunk->count; i++)
			if (stage < 0)
				fetch_event(chunk->entries[i].event);
			else
				fetch_stage(chunk->entries[i].event, (unsigned)stage);
	}
}

void wheel_fetch_current(const struct wheel *wheel)
{
	uint32_t count = wheel->current_count;

	if (count > FETCH_FIRST)
		count = FETCH_FIRST;
	for (uint32_t i = 0; i < count; i++)
		fetch_stage(wheel->current[i].event, 2);
	fetch_stage(wheel->current[0].event, 3);
	if (count > 1)
		fetch_stage(wheel->current[1].event, 3);
}

struct event *wheel_fetch_ahead(const struct wheel *wheel, struct event *event)
{
	const struct wheel_entry *next = &wheel->current[wheel->current_next];
	uint32_t left = wheel->current_count - wheel->current_next;

	if (left > 1)
		fetch_stage(next[1].event, 3);
	if (__builtin_expect(wheel->current_count <= FETCH_FIRST, 1))
		return event;
	if (left > 4 * FETCH_APART + 1)
		fetch_event(next[4 * FETCH_APART + 1].event);
	if (left > 3 * FETCH_APART + 1)
		fetch_stage(next[3 * FETCH_APART + 1].event, 0);
	if (left > 2 * FETCH_APART + 1)
		fetch_stage(next[2 * FETCH_APART + 1].event, 1);
	if (left > FETCH_APART + 1)
		fetch_stage(next[FETCH_APART + 1].event, 2);
	return event;
}
