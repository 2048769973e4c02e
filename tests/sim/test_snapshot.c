/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the difference of two snapshots has the counters and areas of the time between them.
 * Service that is booked for later belongs to the later snapshot.
 */
#include "sim/snapshot.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(difference) \
	TEST(booked_for_later)
SUITE(TESTS)

/* clang-format off */
#define SHOP_COUNTERS(X) \
	X(sold, "goods", "sold") \
	X(left, "customers", "left")
#define SHOP_GAUGES(X) \
	X(clerk, BUSY,  "customers", "serves") \
	X(line,  QUEUE, "customers", "wait")
struct shop_counters { SHOP_COUNTERS(COUNTER_FIELD) };
struct shop_gauges { SHOP_GAUGES(GAUGE_FIELD) };
/* clang-format on */

enum { SOLD, LEFT, CLERK, LINE, VALUES };

static const struct block_type shop_type = {
	.name = "shop",
	.params = (const struct param[]){{0}},
	.counters = (const struct counter[]){SHOP_COUNTERS(COUNTER_ENTRY){0}},
	.gauges = (const struct gauge_info[]){SHOP_GAUGES(GAUGE_ENTRY){0}},
};

static struct sim *sim;
static struct block block;
static struct shop_counters count;
static struct shop_gauges gauge;
static struct snapshot snapshots[2];

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	count = (struct shop_counters){0};
	gauge = (struct shop_gauges){.clerk = {.capacity = 1}};
	block_init(&block, sim, &shop_type, "shop", NULL, (const uint64_t *)&count);
	block_gauges(&block, (struct gauge *)&gauge);
}

static uint64_t between(unsigned value)
{
	return snapshots[1].values[value] - snapshots[0].values[value];
}

static void end(void)
{
	snapshot_free(&snapshots[0]);
	snapshot_free(&snapshots[1]);
	block_fini(&block);
	sim_destroy(sim);
}

static void test_difference(void)
{
	begin();
	count.sold = 3;
	gauge_enter(&gauge.line, 0, 2);
	sim_run(sim, 10);
	snapshot_take(&snapshots[0], sim);
	CU_ASSERT_EQUAL(snapshots[0].count, VALUES);
	CU_ASSERT_EQUAL(snapshots[0].at, 10);
	sim_run(sim, 30);
	count.sold = 8;
	gauge_leave(&gauge.line, 30, 1);
	sim_run(sim, 40);
	snapshot_take(&snapshots[1], sim);
	CU_ASSERT_EQUAL(between(SOLD), 5);
	CU_ASSERT_EQUAL(between(LEFT), 0);
	CU_ASSERT_EQUAL(between(LINE), 2 * 20 + 10);
	end();
}

static void test_booked_for_later(void)
{
	begin();
	sim_run(sim, 10);
	gauge_serve(&gauge.clerk, 10, 20); /* until 30 */
	sim_run(sim, 15);
	snapshot_take(&snapshots[0], sim);
	CU_ASSERT_EQUAL(snapshots[0].values[CLERK], 5);
	gauge_serve(&gauge.clerk, 30, 20); /* until 50 */
	sim_run(sim, 45);
	snapshot_take(&snapshots[1], sim);
	CU_ASSERT_EQUAL(between(CLERK), 30);
	end();
}
