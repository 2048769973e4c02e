/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel_sort: see wheel_sort.h. The method depends on the number of entries: ranks, then buckets of
 * 64 ps, then digits.
 */
#include "sim/wheel_sort.h"

#include <assert.h>
#include <string.h>

#define SHORT_SORT  16
#define BUCKET_SORT 2048 /* a bucket counts in 16 bits */

/* Sorts by counting the smaller keys of each entry. This needs many comparisons, but no
 * unpredictable branches. An insertion sort of random keys has one such branch per step. */
static void sort_by_rank(struct wheel_entry *list, uint32_t count)
{
	struct wheel_entry copy[SHORT_SORT];
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

static void insertion_sort(struct wheel_entry *list, uint32_t count)
{
	for (uint32_t sorted = 1; sorted < count; sorted++) {
		struct wheel_entry moving = list[sorted];
		uint32_t gap = sorted;

		for (; gap > 0 && wheel_earlier(&moving, &list[gap - 1]); gap--)
			list[gap] = list[gap - 1];
		if (gap != sorted)
			list[gap] = moving;
	}
}

/* Performs one pass of a stable sort, by eight bits of the key or of the order. */
static void distribute(const struct wheel_entry *from, struct wheel_entry *to, uint32_t count,
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

/* Sorts by the digits in which orders and keys differ. Serves many events of one time. */
static void sort_by_digits(struct wheel_entry *list, struct wheel_entry *scratch, uint32_t count)
{
	struct wheel_entry *from = list, *to = scratch, *sorted;
	uint64_t keys = 0, orders = 0;

	for (uint32_t i = 1; i < count; i++) {
		keys |= list[i].key ^ list[0].key;
		orders |= list[i].order ^ list[0].order;
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
	if (from != list)
		memcpy(list, from, count * sizeof(*list));
}

#define BUCKET_BITS  6
#define BUCKETS      (1 << BUCKET_BITS)
#define BUCKET_SHIFT (3 + WHEEL_SLOT_BITS - BUCKET_BITS) /* of a key: 64 ps */

/* Sorts the entries of a near slot by 64 ps, and then the entries of each 64 ps. */
static void sort_by_buckets(struct wheel_entry *list, struct wheel_entry *scratch, uint32_t count)
{
	uint16_t sizes[BUCKETS] = {0};
	uint32_t places[BUCKETS];
	uint32_t place = 0;

	assert(count <= BUCKET_SORT);
	for (uint32_t i = 0; i < count; i++)
		sizes[list[i].key >> BUCKET_SHIFT & (BUCKETS - 1)]++;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		places[i] = place;
		place += sizes[i];
	}
	for (uint32_t i = 0; i < count; i++)
		scratch[places[list[i].key >> BUCKET_SHIFT & (BUCKETS - 1)]++] = list[i];
	memcpy(list, scratch, count * sizeof(*list));
	for (uint32_t first = 0; first < count;) {
		uint32_t size = sizes[list[first].key >> BUCKET_SHIFT & (BUCKETS - 1)];

		if (size > SHORT_SORT)
			sort_by_digits(&list[first], scratch, size);
		else if (size > 1)
			insertion_sort(&list[first], size);
		first += size;
	}
}

void wheel_sort(struct wheel_entry *list, struct wheel_entry *scratch, uint32_t count)
{
	uint32_t sorted = 1;

	while (sorted < count && wheel_earlier(&list[sorted - 1], &list[sorted]))
		sorted++;
	if (sorted >= count)
		return;
	if (count <= SHORT_SORT) {
		sort_by_rank(list, count);
		insertion_sort(list, count); /* entries with equal keys are sorted by order */
	} else if (count <= BUCKET_SORT) {
		sort_by_buckets(list, scratch, count);
	} else {
		sort_by_digits(list, scratch, count);
	}
}
