/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that the sums of a gauge are exact for any changes and any start: occupancy over time,
 * waiting time, and a departure announced in advance. Counter files have them under the block's
 * name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/counters.h"
#include "sim/gauge.h"
#include "tests/support/suite.h"

#define TESTS(TEST)          \
	TEST(sums_over_time) \
	TEST(what_files_hold)
SUITE(TESTS)

/* clang-format off */
#define SHOP_GAUGES(X) \
	X(clerk, BUSY,   "customers", "serves") \
	X(seats, POOL,   "seats",     "taken")
struct shop_gauges { SHOP_GAUGES(GAUGE_FIELD) };
/* clang-format on */

struct shop {
	struct block block;
	struct shop_gauges gauge;
	uint64_t served;
};

static void settle(struct block *block)
{
	struct shop *shop = container_of(block, struct shop, block);

	shop->gauge.clerk.area = shop->served * 7;
}

static const struct block_type shop_type = {
	.name = "shop",
	.params = (const struct param[]){{0}},
	.gauges = (const struct gauge_info[]){SHOP_GAUGES(GAUGE_ENTRY){0}},
	.settle = settle,
};

static void step(struct sim *sim, sim_time until)
{
	sim_run(sim, until);
	CU_ASSERT_EQUAL_FATAL(sim_now(sim), until);
}

static void test_sums_over_time(void)
{
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct gauge gauge = {.capacity = 3};

	step(sim, 1000000007); /* sums do not begin at time 0 */
	gauge_enter(&gauge, sim_now(sim), 2);
	step(sim, sim_now(sim) + 10);
	CU_ASSERT_EQUAL(gauge_area(&gauge, sim_now(sim)), 20);
	gauge_enter(&gauge, sim_now(sim), 1);
	gauge_wait(&gauge, sim_now(sim), true);
	gauge_wait(&gauge, sim_now(sim), true); /* once */
	step(sim, sim_now(sim) + 5);
	CU_ASSERT_EQUAL(gauge_area(&gauge, sim_now(sim)), 35);
	CU_ASSERT_EQUAL(gauge_stalled(&gauge, sim_now(sim)), 5);
	gauge_wait(&gauge, sim_now(sim), false);
	gauge_leave(&gauge, sim_now(sim), 3);
	step(sim, sim_now(sim) + 100);
	CU_ASSERT_EQUAL(gauge_area(&gauge, sim_now(sim)), 35);
	CU_ASSERT_EQUAL(gauge_stalled(&gauge, sim_now(sim)), 5);
	CU_ASSERT_EQUAL(gauge.level, 0);
	CU_ASSERT_EQUAL(gauge.level_max, 3);
	gauge_enter(&gauge, sim_now(sim), 1);
	gauge_leave(&gauge, sim_now(sim) + 9, 1); /* when it will have left */
	CU_ASSERT_EQUAL(gauge_area(&gauge, sim_now(sim)), 44);
	sim_destroy(sim);
}

static void test_what_files_hold(void)
{
	struct sim *sim = sim_create(SIM_ENGINE_native, 1);
	struct shop shop = {.served = 6};
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	block_init(&shop.block, sim, &shop_type, "shop", NULL, NULL);
	block_gauges(&shop.block, (struct gauge *)&shop.gauge);
	shop.gauge.seats.capacity = 4;
	step(sim, 11);
	gauge_enter(&shop.gauge.seats, sim_now(sim), 2);
	gauge_wait(&shop.gauge.seats, sim_now(sim), true);
	step(sim, 14);
	counters_print_json(sim, "*", out);
	fclose(out);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"area_ps\": 42,")); /* up to the present time */
	CU_ASSERT_PTR_NOT_NULL(strstr(
		text, "\"seats\": {\"kind\": \"POOL\", \"unit\": \"seats\", \"capacity\": 4, "
		      "\"level\": 2, \"level_max\": 2, \"area_ps\": 6, \"stalled_ps\": 3}"));
	free(text);
	block_fini(&shop.block);
	sim_destroy(sim);
}
