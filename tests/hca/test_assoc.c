/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that the set-associative map keeps what it should: the most recently used of each set, exactly those that were
 * not removed; and that under uniform random use its hit ratio is its size divided by the number of keys.
 */
#include "hca/context/assoc.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)  \
	TEST(lru)    \
	TEST(remove) \
	TEST(hit_ratio)
SUITE(TESTS)

static void test_lru(void)
{
	struct assoc *assoc = assoc_create(8, 2, NULL); /* 4 sets: keys of one set differ by 4 */

	CU_ASSERT_FALSE(assoc_touch(assoc, 0));
	CU_ASSERT_FALSE(assoc_insert(assoc, 0, NULL));
	CU_ASSERT_FALSE(assoc_insert(assoc, 4, NULL));
	CU_ASSERT_FALSE(assoc_insert(assoc, 1, NULL)); /* another set */
	CU_ASSERT(assoc_touch(assoc, 0));
	CU_ASSERT(assoc_has(assoc, 4));          /* no use */
	CU_ASSERT(assoc_insert(assoc, 8, NULL)); /* 4 goes: 0 was used after it */
	CU_ASSERT_FALSE(assoc_has(assoc, 4));
	CU_ASSERT(assoc_touch(assoc, 0));
	CU_ASSERT_FALSE(assoc_touch(assoc, 4));
	CU_ASSERT(assoc_touch(assoc, 8));
	CU_ASSERT(assoc_insert(assoc, 12, NULL)); /* 0 goes */
	CU_ASSERT_FALSE(assoc_touch(assoc, 0));
	CU_ASSERT(assoc_touch(assoc, 1));
	assoc_destroy(assoc);
}

static void test_remove(void)
{
	struct assoc *assoc = assoc_create(16, 4, NULL);

	for (uint64_t key = 100; key < 116; key++)
		CU_ASSERT_FALSE(assoc_insert(assoc, key, NULL));
	CU_ASSERT_EQUAL(assoc_remove(assoc, 90, 10), 0);
	CU_ASSERT_EQUAL(assoc_remove(assoc, 100, 1), 1);
	CU_ASSERT_EQUAL(assoc_remove(assoc, 100, 1), 0);
	CU_ASSERT_EQUAL(assoc_remove(assoc, 98, 4), 1);  /* 101; by key */
	CU_ASSERT_EQUAL(assoc_remove(assoc, 50, 60), 8); /* 102..109; by scan */
	for (uint64_t key = 100; key < 116; key++)
		CU_ASSERT_EQUAL(assoc_touch(assoc, key), key >= 110);
	CU_ASSERT_FALSE(assoc_insert(assoc, 200, NULL)); /* into a place that was made free */
	CU_ASSERT_EQUAL(assoc_remove(assoc, 0, UINT64_MAX), 7);
	assoc_destroy(assoc);
}

/* LRU or random, 64 of 256 keys fit: a quarter of the lookups hit. */
static void test_hit_ratio(void)
{
	enum { LOOKUPS = 100000, KEYS = 256, ENTRIES = 64 };

	for (int round = 0; round < 4; round++) {
		struct random victims, keys;
		struct assoc *assoc;
		int hits = 0;

		random_init_named(&victims, 1, "test", "victims");
		random_init_named(&keys, 1, "test", "keys");
		assoc = assoc_create(ENTRIES, round < 2 ? 4 : ENTRIES, round % 2 ? &victims : NULL);
		for (int i = 0; i < LOOKUPS; i++) {
			uint64_t key = random_u64(&keys) % KEYS;

			if (assoc_touch(assoc, key))
				hits++;
			else
				assoc_insert(assoc, key, NULL);
		}
		CU_ASSERT_DOUBLE_EQUAL(hits / (double)LOOKUPS, 0.25, 0.01);
		assoc_destroy(assoc);
	}
}
