/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a store returns zeroed memory aligned to a cache line, without overlaps, also across
 * its chunks. After its end it is empty and can be used again.
 */
#include <string.h>

#include "sim/arena.h"
#include "sim/sim.h"
#include "tests/support/suite.h"

#define TESTS(TEST)          \
	TEST(lines_of_zeros) \
	TEST(across_chunks)  \
	TEST(begins_anew)    \
	TEST(of_a_run)
SUITE(TESTS)

static bool is_zero(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

static void test_lines_of_zeros(void)
{
	struct arena arena = {0};
	unsigned char *one = arena_take(&arena, 1), *two = arena_take(&arena, 65),
		      *three = arena_take(&arena, 64);

	CU_ASSERT_EQUAL((uintptr_t)one % 64, 0);
	CU_ASSERT_PTR_EQUAL(two, one + 64);
	CU_ASSERT_PTR_EQUAL(three, two + 128);
	CU_ASSERT(is_zero(one, 256));
	arena_fini(&arena);
}

/* A chunk has 2 MiB. Its first line belongs to the arena. */
static void test_across_chunks(void)
{
	enum { ITEM = 3000, LINES = 47 * 64, ITEMS = 2000 };
	static unsigned char *items[ITEMS];
	const unsigned a_chunk = ((2u << 20) - 64) / LINES;
	struct arena arena = {0};

	for (unsigned i = 0; i < ITEMS; i++) {
		items[i] = arena_take(&arena, ITEM);
		CU_ASSERT(is_zero(items[i], ITEM));
		memset(items[i], (int)(i % 255 + 1), ITEM);
		CU_ASSERT_EQUAL((uintptr_t)items[i] % (2u << 20), 64 + i % a_chunk * LINES);
	}
	for (unsigned i = 0; i < ITEMS; i++) {
		CU_ASSERT_EQUAL(items[i][0], i % 255 + 1);
		CU_ASSERT_EQUAL(items[i][ITEM - 1], i % 255 + 1);
	}
	arena_fini(&arena);
}

static void test_begins_anew(void)
{
	struct arena arena = {0};

	for (unsigned round = 0; round < 3; round++) {
		unsigned char *whole = arena_take(&arena, ARENA_TAKE_MAX);

		CU_ASSERT(is_zero(whole, ARENA_TAKE_MAX));
		memset(whole, 0xff, ARENA_TAKE_MAX);
		arena_fini(&arena);
		CU_ASSERT_PTR_NULL(arena.chunks);
		CU_ASSERT_EQUAL(arena.left, 0);
	}
}

static void test_of_a_run(void)
{
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	unsigned char *one = sim_arena(sim, 100), *two = sim_arena(sim, 100);

	CU_ASSERT_PTR_EQUAL(two, one + 128);
	CU_ASSERT(is_zero(one, 228));
	sim_destroy(sim);
}
