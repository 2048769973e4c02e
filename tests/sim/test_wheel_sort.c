/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that wheel_sort() sorts lists of all lengths by (key, order), as qsort() does: lists of
 * random times, of few times and of one time, with one origin and with many.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"
#include "sim/wheel_sort.h"
#include "tests/support/suite.h"

#define TESTS(TEST)    \
	TEST(as_qsort) \
	TEST(sorted_stays)
SUITE(TESTS)

enum { ENTRIES = 700 };

static int compare(const void *one, const void *other)
{
	const struct wheel_entry *a = one, *b = other;

	return wheel_earlier(a, b) ? -1 : wheel_earlier(b, a);
}

/* Sorts a list of `count` entries with that many times and origins. */
static void sort_some(struct random *random, uint32_t count, uint64_t times, uint64_t origins)
{
	static struct wheel_entry list[ENTRIES], scratch[ENTRIES], expected[ENTRIES];
	const struct wheel_entry *sorted;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t time = 5u << WHEEL_SLOT_BITS | random_below(random, times);
		uint64_t origin = random_below(random, origins);
		/* two in a hundred are not in the sequence of the others */
		uint64_t sequence = random_below(random, 50) ? i : ENTRIES + i;

		list[i] = (struct wheel_entry){time << 3 | random_below(random, 2),
					       origin << EVENT_ORIGIN_SHIFT | sequence, NULL};
	}
	memcpy(expected, list, sizeof(list));
	qsort(expected, count, sizeof(expected[0]), compare);
	sorted = wheel_sort(list, scratch, count);
	CU_ASSERT(memcmp(sorted, expected, count * sizeof(expected[0])) == 0);
}

static void test_as_qsort(void)
{
	static const uint64_t times[] = {1, 2, 5, 60, 4096}, origins[] = {1, 3, 200, 1 << 24};
	struct random random;

	random_init_named(&random, 1, "test", "wheel_sort");
	for (uint32_t count = 1; count <= ENTRIES; count += count < 80 ? 1 : 31)
		for (unsigned i = 0; i < ARRAY_SIZE(times); i++)
			for (unsigned j = 0; j < ARRAY_SIZE(origins); j++)
				sort_some(&random, count, times[i], origins[j]);
}

static void test_sorted_stays(void)
{
	struct wheel_entry list[] = {{8, 1, NULL}, {8, 2, NULL}, {16, 1, NULL}}, scratch[3];

	CU_ASSERT_PTR_EQUAL(wheel_sort(list, scratch, 3), list);
}
