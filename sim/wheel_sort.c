/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel_sort: see wheel_sort.h. Longer lists are distributed over buckets of 64 ps. Each bucket is
 * sorted by key, and entries of one key by order. Models that run in lockstep have many of these.
 * The method of each step depends on the number of entries: insertion, ranks, or digits.
 */
#include "sim/wheel_sort.h"

#include <assert.h>
#include <string.h>

#define FEW           4   /* entries that insertion sorts without a step before it */
#define SHORT_SORT    32  /* entries that are not distributed over buckets */
#define RANK_SORT     48  /* entries that are sorted by ranks; more are sorted by digits */
#define SEQUENCE_SORT 256 /* entries of one key whose sequence numbers insertion sorts */
#define DIGIT_BITS    7
#define BUCKET_BITS   6
#define BUCKETS       (1 << BUCKET_BITS)
#define BUCKET_SHIFT  (3 + WHEEL_SLOT_BITS - BUCKET_BITS) /* of a key: 64 ps */
#define KEY_BITS      (3 + WHEEL_SLOT_BITS) /* in which the keys of a near slot differ */

/* The values by which a step sorts. */
enum sort_value { VALUE_KEY, VALUE_ORIGIN, VALUE_ORDER };

static inline uint64_t value_of(const struct wheel_entry *entry, enum sort_value value)
{
	switch (value) {
	case VALUE_KEY:
		return entry->key & ((1u << KEY_BITS) - 1);
	case VALUE_ORIGIN:
		return entry->order >> EVENT_ORIGIN_SHIFT;
	case VALUE_ORDER:
		break;
	}
	return entry->order;
}

static inline void insertion_sort(struct wheel_entry *list, uint32_t count)
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

/* Four values, which the processor compares at once. */
typedef int32_t lanes __attribute__((vector_size(16)));
#define LANES     4
#define AT_ONCE   (4 * LANES) /* entries that are ranked at once */
#define RANK_BITS 6

_Static_assert(RANK_SORT <= 1 << RANK_BITS && RANK_SORT % AT_ONCE == 0, "an index has RANK_BITS");
_Static_assert(64 - EVENT_ORIGIN_SHIFT + RANK_BITS < 32, "an origin and an index fit into a lane");

/* Writes the number of smaller values for each of AT_ONCE values. */
static inline void rank(const int32_t *values, uint32_t count, const lanes *mine, lanes *ranks)
{
	lanes rank0 = {0}, rank1 = {0}, rank2 = {0}, rank3 = {0};

	for (uint32_t i = 0; i < count; i++) {
		lanes value = {values[i], values[i], values[i], values[i]};

		rank0 -= value < mine[0]; /* true is -1 */
		rank1 -= value < mine[1];
		rank2 -= value < mine[2];
		rank3 -= value < mine[3];
	}
	ranks[0] = rank0;
	ranks[1] = rank1;
	ranks[2] = rank2;
	ranks[3] = rank3;
}

/* Sorts by counting the smaller values for each entry. This needs many comparisons, but no
 * unpredictable branches. The index in the lower bits makes the sort stable. */
static inline __attribute__((always_inline)) void sort_by_rank(const struct wheel_entry *from,
							       struct wheel_entry *to,
							       uint32_t count,
							       enum sort_value value)
{
	union {
		int32_t each[RANK_SORT];
		lanes lanes[RANK_SORT / LANES];
	} values, ranks;

	for (uint32_t i = 0; i < count; i++)
		values.each[i] = (int32_t)(value_of(&from[i], value) << RANK_BITS | i);
	for (uint32_t first = 0; first < count; first += AT_ONCE)
		rank(values.each, count, &values.lanes[first / LANES], &ranks.lanes[first / LANES]);
	for (uint32_t i = 0; i < count; i++)
		to[ranks.each[i]] = from[i];
}

/* Performs one pass of a stable sort, by one digit of the values. */
static inline __attribute__((always_inline)) void distribute(const struct wheel_entry *from,
							     struct wheel_entry *to, uint32_t count,
							     enum sort_value value, uint32_t shift)
{
	uint32_t places[1 << DIGIT_BITS] = {0};
	uint32_t place = 0;

	for (uint32_t i = 0; i < count; i++)
		places[value_of(&from[i], value) >> shift & ((1u << DIGIT_BITS) - 1)]++;
	for (uint32_t digit = 0; digit < 1 << DIGIT_BITS; digit++) {
		uint32_t next = place + places[digit];

		places[digit] = place;
		place = next;
	}
	for (uint32_t i = 0; i < count; i++)
		to[places[value_of(&from[i], value) >> shift & ((1u << DIGIT_BITS) - 1)]++] =
			from[i];
}

/* Sorts to `to` by the digits in which the values differ. `from` is undefined afterwards. */
static inline __attribute__((always_inline)) void sort_by_digits(struct wheel_entry *from,
								 struct wheel_entry *to,
								 uint32_t count,
								 enum sort_value value)
{
	struct wheel_entry *target = to;
	uint64_t differs = 0;

	for (uint32_t i = 1; i < count; i++)
		differs |= value_of(&from[i], value) ^ value_of(&from[0], value);
	while (differs) {
		uint32_t shift = (uint32_t)__builtin_ctzll(differs);
		struct wheel_entry *sorted = to;

		distribute(from, to, count, value, shift);
		to = from;
		from = sorted;
		differs &= ~(((UINT64_C(1) << DIGIT_BITS) - 1) << shift);
	}
	if (from != target)
		memcpy(target, from, count * sizeof(*target));
}

static void sort_keys(struct wheel_entry *from, struct wheel_entry *to, uint32_t count)
{
	if (count <= RANK_SORT)
		sort_by_rank(from, to, count, VALUE_KEY);
	else
		sort_by_digits(from, to, count, VALUE_KEY);
}

/* Sorts entries of one key to `to`. Few have the same origin. Those are already sorted by their
 * sequence numbers, with exceptions. */
static void sort_orders(struct wheel_entry *from, struct wheel_entry *to, uint32_t count)
{
	if (count > SEQUENCE_SORT) {
		sort_by_digits(from, to, count, VALUE_ORDER);
		return;
	}
	if (count <= RANK_SORT)
		sort_by_rank(from, to, count, VALUE_ORIGIN);
	else
		sort_by_digits(from, to, count, VALUE_ORIGIN);
	insertion_sort(to, count);
}

/* Sorts entries that are sorted by key. `scratch` is undefined afterwards. */
static void sort_runs(struct wheel_entry *list, struct wheel_entry *scratch, uint32_t count)
{
	for (uint32_t first = 0, end; first < count; first = end) {
		end = first + 1;
		if (end == count || list[end].key != list[first].key)
			continue;
		while (++end < count && list[end].key == list[first].key)
			;
		if (end - first <= FEW) {
			insertion_sort(&list[first], end - first);
			continue;
		}
		memcpy(scratch, &list[first], (end - first) * sizeof(*list));
		sort_orders(scratch, &list[first], end - first);
	}
}

static bool has_one_key(const struct wheel_entry *list, uint32_t count)
{
	while (--count)
		if (list[count].key != list[0].key)
			return false;
	return true;
}

/* Sorts to `to`. `from` is undefined afterwards. */
static void sort_entries(struct wheel_entry *from, struct wheel_entry *to, uint32_t count)
{
	if (count <= FEW) {
		memcpy(to, from, count * sizeof(*to));
		insertion_sort(to, count);
	} else if (has_one_key(from, count)) {
		sort_orders(from, to, count);
	} else {
		sort_keys(from, to, count);
		sort_runs(to, from, count);
	}
}

static void sort_by_buckets(struct wheel_entry *list, struct wheel_entry *scratch, uint32_t count)
{
	uint32_t ends[BUCKETS] = {0};
	uint32_t place = 0;

	for (uint32_t i = 0; i < count; i++)
		ends[list[i].key >> BUCKET_SHIFT & (BUCKETS - 1)]++;
	for (uint32_t i = 0; i < BUCKETS; i++) {
		uint32_t next = place + ends[i];

		ends[i] = place;
		place = next;
	}
	for (uint32_t i = 0; i < count; i++)
		scratch[ends[list[i].key >> BUCKET_SHIFT & (BUCKETS - 1)]++] = list[i];
	for (uint32_t first = 0, end; first < count; first = end) {
		end = ends[scratch[first].key >> BUCKET_SHIFT & (BUCKETS - 1)];
		sort_entries(&scratch[first], &list[first], end - first);
	}
}

struct wheel_entry *wheel_sort(struct wheel_entry *list, struct wheel_entry *scratch,
			       uint32_t count)
{
	uint32_t sorted = 1;

	while (sorted < count && wheel_earlier(&list[sorted - 1], &list[sorted]))
		sorted++;
	if (sorted >= count)
		return list;
	if (count <= FEW) {
		insertion_sort(list, count);
		return list;
	}
	if (count <= SHORT_SORT) {
		sort_entries(list, scratch, count);
		return scratch;
	}
	sort_by_buckets(list, scratch, count);
	return list;
}
