/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a pool hands out the item released last, that it grows, and that it clears the whole
 * item, or as many bytes as the caller asks for.
 */
#include "sim/pool.h"
#include "tests/support/suite.h"

#define TESTS(TEST)  \
	TEST(reuses) \
	TEST(grows)  \
	TEST(clears)
SUITE(TESTS)

enum { ITEM_BYTES = 64, SLAB_ITEMS = 2 };

static void test_reuses(void)
{
	struct pool pool;
	void *first, *second;

	pool_init(&pool, ITEM_BYTES, SLAB_ITEMS);
	first = pool_take(&pool);
	second = pool_take(&pool);
	pool_give(&pool, first);
	pool_give(&pool, second);
	CU_ASSERT_PTR_EQUAL(pool_take(&pool), second);
	CU_ASSERT_PTR_EQUAL(pool_take(&pool), first);
	pool_fini(&pool);
}

static void test_grows(void)
{
	struct pool pool;

	pool_init(&pool, ITEM_BYTES, SLAB_ITEMS);
	for (unsigned i = 0; i < 3 * SLAB_ITEMS; i++)
		memset(pool_take(&pool), 1, ITEM_BYTES);
	CU_ASSERT_EQUAL(pool.in_use, 3 * SLAB_ITEMS);
	pool_fini(&pool);
}

static void test_clears(void)
{
	struct pool pool;
	unsigned char *item;

	pool_init(&pool, ITEM_BYTES, SLAB_ITEMS);
	item = memset(pool_take(&pool), 1, ITEM_BYTES);
	pool_give(&pool, item);
	CU_ASSERT_PTR_EQUAL(pool_take_cleared(&pool, 32), item);
	CU_ASSERT_EQUAL(item[31], 0);
	CU_ASSERT_EQUAL(item[32], 1);
	pool_give(&pool, item);
	CU_ASSERT_PTR_EQUAL(pool_take_zeroed(&pool), item);
	CU_ASSERT_EQUAL(item[0], 0);
	CU_ASSERT_EQUAL(item[ITEM_BYTES - 1], 0);
	pool_fini(&pool);
}
