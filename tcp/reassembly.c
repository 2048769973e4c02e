/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reassembly: see reassembly.h.
 */
#include "tcp/reassembly.h"

#include <stdlib.h>
#include <string.h>

#define CAPACITY_FIRST 8

void reassembly_init(struct reassembly *reassembly)
{
	*reassembly = (struct reassembly){0};
}

void reassembly_fini(struct reassembly *reassembly)
{
	free(reassembly->ranges);
}

/* Returns the first range that ends at `sequence` or later. */
static uint32_t find(const struct reassembly *reassembly, uint64_t sequence)
{
	uint32_t low = 0, high = reassembly->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (reassembly->ranges[middle].end >= sequence)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Replaces `count` ranges from `at` on by one range. */
static void replace(struct reassembly *reassembly, uint32_t at, uint32_t count,
		    struct reassembly_range range)
{
	if (count == 0 && reassembly->count == reassembly->capacity) {
		reassembly->capacity =
			reassembly->capacity ? 2 * reassembly->capacity : CAPACITY_FIRST;
		reassembly->ranges = realloc(reassembly->ranges,
					     reassembly->capacity * sizeof(*reassembly->ranges));
		if (!reassembly->ranges)
			abort();
	}
	memmove(reassembly->ranges + at + 1, reassembly->ranges + at + count,
		(reassembly->count - at - count) * sizeof(range));
	reassembly->ranges[at] = range;
	reassembly->count = reassembly->count - count + 1;
}

/* Records range `at` as the one that grew last. */
static void remember(struct reassembly *reassembly, uint32_t at)
{
	const struct reassembly_range *range = &reassembly->ranges[at];
	uint64_t kept[TCP_SACK_MAX] = {range->start};
	unsigned count = 1;

	for (unsigned i = 0; i < reassembly->recent_count && count < TCP_SACK_MAX; i++) {
		uint64_t number = reassembly->recent[i];

		if (number < range->start || number >= range->end)
			kept[count++] = number;
	}
	memcpy(reassembly->recent, kept, sizeof(kept));
	reassembly->recent_count = count;
}

void reassembly_add(struct reassembly *reassembly, struct reassembly_range range,
		    void (*new_bytes)(void *context, uint64_t start, uint64_t end), void *context)
{
	struct reassembly_range whole = range;
	uint32_t at = find(reassembly, range.start), count = 0;
	uint64_t from = range.start;

	for (; at + count < reassembly->count; count++) {
		const struct reassembly_range *old = &reassembly->ranges[at + count];

		if (old->start > range.end)
			break;
		if (old->start > from)
			new_bytes(context, from, old->start);
		if (old->end > from)
			from = old->end;
		if (old->start < whole.start)
			whole.start = old->start;
		if (old->end > whole.end)
			whole.end = old->end;
	}
	if (from < range.end)
		new_bytes(context, from, range.end);
	replace(reassembly, at, count, whole);
	remember(reassembly, at);
}

uint64_t reassembly_advance(struct reassembly *reassembly, uint64_t next)
{
	uint32_t gone = 0;

	while (gone < reassembly->count && reassembly->ranges[gone].start <= next) {
		if (reassembly->ranges[gone].end > next)
			next = reassembly->ranges[gone].end;
		gone++;
	}
	if (!gone)
		return next;
	reassembly->count -= gone;
	memmove(reassembly->ranges, reassembly->ranges + gone,
		reassembly->count * sizeof(*reassembly->ranges));
	return next;
}

bool reassembly_has(const struct reassembly *reassembly, struct reassembly_range range)
{
	uint32_t at = find(reassembly, range.end);

	return at < reassembly->count && reassembly->ranges[at].start <= range.start;
}

unsigned reassembly_blocks(struct reassembly *reassembly, unsigned room,
			   struct reassembly_range *blocks)
{
	unsigned count = 0, kept = 0;

	if (reassembly->duplicate.end > reassembly->duplicate.start && room > 0)
		blocks[count++] = reassembly->duplicate;
	reassembly->duplicate = (struct reassembly_range){0};
	for (unsigned i = 0; i < reassembly->recent_count; i++) {
		uint64_t number = reassembly->recent[i];
		uint32_t at = find(reassembly, number + 1);

		if (at == reassembly->count || reassembly->ranges[at].start > number)
			continue; /* no gap is left before it */
		reassembly->recent[kept++] = number;
		if (count < room)
			blocks[count++] = reassembly->ranges[at];
	}
	reassembly->recent_count = kept;
	return count;
}
