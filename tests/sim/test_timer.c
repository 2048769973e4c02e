/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a timer expires once, at the last deadline that was set, whether that was later or
 * earlier. Moving it later costs no event, and disarming leaves no pending event.
 */
#include "sim/block.h"
#include "sim/timer.h"
#include "tests/support/suite.h"

#define TESTS(TEST)        \
	TEST(moved_later)  \
	TEST(moved_sooner) \
	TEST(disarm)
SUITE(TESTS)

static const struct block_type plain = {.name = "plain"};
static struct sim *sim;
static struct block block;
static struct timer timer;
static unsigned expired;
static sim_time expired_at;

static void expire(struct timer *expiring)
{
	CU_ASSERT_PTR_EQUAL(expiring, &timer);
	CU_ASSERT_FALSE(timer_armed(expiring));
	expired++;
	expired_at = sim_now(sim);
}

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	block_init(&block, sim, &plain, "owner", NULL, NULL);
	timer_init(&timer, &block, expire);
	expired = 0;
}

static void end(void)
{
	block_fini(&block);
	sim_destroy(sim);
}

static void test_moved_later(void)
{
	begin();
	timer_arm(&timer, 100 * NS);
	for (unsigned i = 1; i <= 50; i++) {
		sim_run(sim, i * NS);
		timer_arm(&timer, 100 * NS);
	}
	sim_run(sim, 150 * NS);
	CU_ASSERT_EQUAL(expired, 0);
	CU_ASSERT_TRUE(timer_armed(&timer));
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(expired, 1);
	CU_ASSERT_EQUAL(expired_at, 150 * NS);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 2); /* one too early, one at the deadline */
	end();
}

static void test_moved_sooner(void)
{
	begin();
	timer_arm(&timer, 4 * MS);
	timer_arm(&timer, 7);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(expired, 1);
	CU_ASSERT_EQUAL(expired_at, 7);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 1);
	end();
}

static void test_disarm(void)
{
	begin();
	timer_arm(&timer, NS);
	timer_disarm(&timer);
	timer_disarm(&timer);
	CU_ASSERT_EQUAL(sim_next(sim), SIM_NEVER);
	timer_arm(&timer, 3 * NS);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(expired, 1);
	CU_ASSERT_EQUAL(expired_at, 3 * NS);
	end();
}
