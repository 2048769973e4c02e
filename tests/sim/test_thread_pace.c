/* SPDX-License-Identifier: Apache-2.0 */
/* Tests when measured real time changes the number of threads. */
#include "sim/thread_pace.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(one_thread_first)  \
	TEST(fast_threads_stay) \
	TEST(slow_threads_end)  \
	TEST(attempts_get_rare) \
	TEST(pauses_do_not_count)
SUITE(TESTS)

#define ONE_THREAD 10000000 /* ns of a block */

static uint64_t now;

static uint64_t fake_clock(void)
{
	return now;
}

/* Reports a block of one thread. Returns the decision of the pace. */
static bool one(struct thread_pace *pace)
{
	now += ONE_THREAD;
	return thread_pace_one(pace, PACE_BLOCK);
}

static bool several(struct thread_pace *pace, double speed)
{
	now += (uint64_t)(ONE_THREAD / speed);
	return thread_pace_several(pace, PACE_BLOCK);
}

/* Returns the number of blocks in one thread until threads are tried. */
static unsigned hold(struct thread_pace *pace)
{
	unsigned blocks = 1;

	while (!one(pace))
		blocks++;
	thread_pace_change(pace);
	return blocks;
}

static void begin(struct thread_pace *pace)
{
	thread_pace_init(pace, fake_clock);
	thread_pace_begin(pace);
}

static void test_one_thread_first(void)
{
	struct thread_pace pace;

	begin(&pace);
	CU_ASSERT_FALSE(thread_pace_one(&pace, 1));
	CU_ASSERT_EQUAL(hold(&pace), PACE_FIRST_HOLD);
}

static void test_fast_threads_stay(void)
{
	struct thread_pace pace;

	begin(&pace);
	hold(&pace);
	for (unsigned i = 0; i < 100; i++) {
		CU_ASSERT_FALSE(several(&pace, 1.7));
		if (i % 3 == 0)
			CU_ASSERT_FALSE(several(&pace, 0.8)); /* one slow block is chance */
	}
}

static void test_slow_threads_end(void)
{
	struct thread_pace pace;

	begin(&pace);
	hold(&pace);
	CU_ASSERT_FALSE(several(&pace, 0.9));
	CU_ASSERT_TRUE(several(&pace, 0.9));
	thread_pace_fail(&pace);
	hold(&pace);
	/* Threads that wait for a processor are stopped within a block. */
	now += 3 * ONE_THREAD + 5000000;
	CU_ASSERT_FALSE(thread_pace_several(&pace, 1));
	now++;
	CU_ASSERT_TRUE(thread_pace_several(&pace, 1));
}

static void test_attempts_get_rare(void)
{
	struct thread_pace pace;

	begin(&pace);
	hold(&pace);
	for (unsigned expected = PACE_LEAST_HOLD; expected <= PACE_MOST_HOLD; expected *= 2) {
		several(&pace, 0.5);
		CU_ASSERT_TRUE(several(&pace, 0.5));
		thread_pace_fail(&pace);
		CU_ASSERT_EQUAL(hold(&pace), expected);
	}
	thread_pace_fail(&pace);
	CU_ASSERT_EQUAL(hold(&pace), PACE_MOST_HOLD);
	for (unsigned i = 0; i < PACE_LEAST_HOLD; i++)
		CU_ASSERT_FALSE(several(&pace, 1.5));
	several(&pace, 0.5);
	CU_ASSERT_TRUE(several(&pace, 0.5));
	thread_pace_fail(&pace);
	CU_ASSERT_EQUAL(hold(&pace), PACE_LEAST_HOLD);
}

static void test_pauses_do_not_count(void)
{
	struct thread_pace pace;

	begin(&pace);
	hold(&pace);
	for (unsigned i = 0; i < 10; i++) {
		thread_pace_end(&pace);
		now += 100 * (uint64_t)ONE_THREAD;
		thread_pace_begin(&pace);
		CU_ASSERT_FALSE(several(&pace, 1.2));
	}
}
