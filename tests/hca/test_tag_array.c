/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a tag array keeps the most recently used keys of each set that were not removed. Under
 * uniform random use its hit ratio is its size divided by the number of keys.
 */
#include "hca/host/tag_array.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)   \
	TEST(lru)     \
	TEST(changed) \
	TEST(remove)  \
	TEST(hit_ratio)
SUITE(TESTS)

static struct tag_array array;

static bool insert(uint64_t number)
{
	return tag_array_insert(&array, number, array.ways, false, NULL) != TAG_NONE;
}

static void test_lru(void)
{
	uint64_t evicted;

	tag_array_init(&array, 8, 2, NULL); /* 4 sets: numbers of one set differ by 4 */
	CU_ASSERT_FALSE(tag_array_touch(&array, 0));
	CU_ASSERT_FALSE(insert(0));
	CU_ASSERT_FALSE(insert(4));
	CU_ASSERT_FALSE(insert(1)); /* another set */
	CU_ASSERT(tag_array_touch(&array, 0));
	CU_ASSERT(tag_array_has(&array, 4)); /* no use */
	CU_ASSERT(insert(8));                /* 4 goes: 0 was used after it */
	CU_ASSERT_FALSE(tag_array_has(&array, 4));
	CU_ASSERT(tag_array_touch(&array, 0));
	CU_ASSERT_FALSE(tag_array_touch(&array, 4));
	CU_ASSERT(tag_array_touch(&array, 8));
	CU_ASSERT_EQUAL(tag_array_insert(&array, 12, 2, true, &evicted), TAG_CLEAN);
	CU_ASSERT_EQUAL(evicted, 0);
	CU_ASSERT_FALSE(tag_array_touch(&array, 0));
	CU_ASSERT(tag_array_touch(&array, 1));
	tag_array_fini(&array);
}

static void test_changed(void)
{
	uint64_t evicted;

	tag_array_init(&array, 4, 4, NULL); /* one set */
	for (uint64_t number = 0; number < 4; number++)
		CU_ASSERT_EQUAL(tag_array_insert(&array, number, 4, number == 3, NULL), TAG_NONE);
	CU_ASSERT_FALSE(tag_array_change(&array, 9));
	CU_ASSERT(tag_array_change(&array, 0));
	/* In the first two ways are 0, which has changed and was used last, and 1. */
	CU_ASSERT_EQUAL(tag_array_insert(&array, 10, 2, false, &evicted), TAG_CLEAN);
	CU_ASSERT_EQUAL(evicted, 1);
	CU_ASSERT_EQUAL(array.place, 1);
	CU_ASSERT_EQUAL(tag_array_insert(&array, 11, 2, false, &evicted), TAG_CHANGED);
	CU_ASSERT_EQUAL(evicted, 0);
	tag_array_clear(&array);
	CU_ASSERT_FALSE(tag_array_has(&array, 11));
	CU_ASSERT_EQUAL(tag_array_insert(&array, 3, 4, false, NULL), TAG_NONE);
	tag_array_fini(&array);
}

static void test_remove(void)
{
	tag_array_init(&array, 16, 4, NULL);
	for (uint64_t key = 100; key < 116; key++)
		CU_ASSERT_FALSE(insert(key));
	CU_ASSERT_EQUAL(tag_array_remove(&array, 90, 10), 0);
	CU_ASSERT_EQUAL(tag_array_remove(&array, 100, 1), 1);
	CU_ASSERT_EQUAL(tag_array_remove(&array, 100, 1), 0);
	CU_ASSERT_EQUAL(tag_array_remove(&array, 98, 4), 1);  /* 101; by number */
	CU_ASSERT_EQUAL(tag_array_remove(&array, 50, 60), 8); /* 102..109; by scan */
	for (uint64_t key = 100; key < 116; key++)
		CU_ASSERT_EQUAL(tag_array_touch(&array, key), key >= 110);
	CU_ASSERT_FALSE(insert(200)); /* into a place that was made free */
	CU_ASSERT_EQUAL(tag_array_remove(&array, 0, UINT64_MAX), 7);
	tag_array_fini(&array);
}

/* If 64 of 256 keys fit, a quarter of the lookups hit, with LRU and with random replacement. */
static void test_hit_ratio(void)
{
	enum { LOOKUPS = 100000, KEYS = 256, ENTRIES = 64 };

	for (int round = 0; round < 4; round++) {
		struct random victims, keys;
		int hits = 0;

		random_init_named(&victims, 1, "test", "victims");
		random_init_named(&keys, 1, "test", "keys");
		tag_array_init(&array, ENTRIES, round < 2 ? 4 : ENTRIES,
			       round % 2 ? &victims : NULL);
		for (int i = 0; i < LOOKUPS; i++) {
			uint64_t key = random_u64(&keys) % KEYS;

			if (tag_array_touch(&array, key))
				hits++;
			else
				insert(key);
		}
		CU_ASSERT_DOUBLE_EQUAL(hits / (double)LOOKUPS, 0.25, 0.01);
		tag_array_fini(&array);
	}
}
