/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that a bound is capacity over demand per operation, the lowest first; that a rate above it is a violation with resource and
 * metrics; and that a run far below it, with nothing busy, names where its work waits.
 */
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/bounds.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                \
	TEST(capacity_over_demand) \
	TEST(faster_than_possible) \
	TEST(waiting_in)           \
	TEST(no_operations)
SUITE(TESTS)

/* clang-format off */
#define DESK_GAUGES(X)                                       \
	X(clerk,  BUSY,   "letters", "writes")                 \
	X(tray,   POOL,   "letters", "has room")               \
	X(post,   QUEUE,  "letters", "on their way")           \
	X(busy,   WORK,   "writers", "with letters")
struct desk_gauges { DESK_GAUGES(GAUGE_FIELD) };
#define DESK_COUNTERS(X) X(wqes_completed, "letters", "written")

/* The type whose counter counts work requests. */
static const struct block_type desk_type = {
	.name = "transport",
	.params = (const struct param[]){{0}},
	.counters = (const struct counter[]){DESK_COUNTERS(COUNTER_ENTRY){0}},
	.gauges = (const struct gauge_info[]){DESK_GAUGES(GAUGE_ENTRY){0}},
};
/* clang-format on */

struct desk {
	struct sim *sim;
	struct block block;
	struct desk_gauges gauge;
	uint64_t completed;
};

/* 100 ns with work, in which 10 letters were written in `service` ps each; they were in the tray for 8 ns each, on their way 2 ns. */
static struct bounds work(struct desk *desk, sim_time service)
{
	*desk = (struct desk){.sim = sim_create(SIM_ENGINE_native, 1), .completed = 10};
	block_init(&desk->block, desk->sim, &desk_type, "desk", NULL, &desk->completed);
	block_gauges(&desk->block, (struct gauge *)&desk->gauge);
	desk->gauge.clerk.capacity = 1;
	desk->gauge.tray.capacity = 4;
	gauge_wait(&desk->gauge.busy, 0, true);
	gauge_enter(&desk->gauge.tray, 0, 1);
	gauge_enter(&desk->gauge.post, 0, 1);
	sim_run(desk->sim, 20000);
	gauge_leave(&desk->gauge.post, 20000, 1);
	sim_run(desk->sim, 80000);
	gauge_leave(&desk->gauge.tray, 80000, 1);
	sim_run(desk->sim, 100000);
	gauge_wait(&desk->gauge.busy, 100000, false);
	gauge_serve(&desk->gauge.clerk, 0, 10 * service);
	return bounds_find(desk->sim, 100000);
}

static void end(struct desk *desk)
{
	block_fini(&desk->block);
	sim_destroy(desk->sim);
}

static void test_capacity_over_demand(void)
{
	struct desk desk;
	struct bounds bounds = work(&desk, 7000);

	CU_ASSERT_STRING_EQUAL(bounds.operation, "work requests");
	CU_ASSERT_DOUBLE_EQUAL(bounds.measured, 100e6, 1); /* 10 in 100 ns */
	CU_ASSERT_EQUAL_FATAL(bounds.count, 2);
	CU_ASSERT_STRING_EQUAL(bounds.list[0].info->name, "clerk");
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[0].demand, 7000, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[0].rate, 1e12 / 7000, 1); /* 142.9 M/s */
	CU_ASSERT_STRING_EQUAL(bounds.list[1].info->name, "tray");
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[1].rate, 500e6, 1); /* 4 places, 8 ns each */
	CU_ASSERT_PTR_NULL(bounds.waits_in);
	desk.gauge.tray.beyond = 1; /* who finds room may take one more place than there is */
	bounds = bounds_find(desk.sim, 100000);
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[1].rate, 625e6, 1);
	CU_ASSERT_EQUAL(bounds.list[1].capacity, 5);
	end(&desk);
}

static void test_faster_than_possible(void)
{
	struct desk desk;
	struct bounds bounds = work(&desk, 8000);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	CU_ASSERT_EQUAL(bounds_check(&bounds, 125e6, 0, out), 0);
	CU_ASSERT_EQUAL(bounds_check(&bounds, 150e6, 0.2, out), 0); /* a fifth came from before */
	CU_ASSERT_EQUAL(bounds_check(&bounds, 126e6, 0, out), 1);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, "desk: bound of clerk: 126 M/s of work requests were "
				     "measured, room for 125 (8000 ps each, capacity 1)\n");
	free(text);
	end(&desk);
}

static void test_waiting_in(void)
{
	struct desk desk;
	struct bounds bounds = work(&desk, 2000);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	bounds_print_line(&bounds, out);
	fclose(out);
	/* 4 trays at 8 ns and a clerk at 2 ns let 500 M/s through. */
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "far below  20.0 % of the lowest bound (desk."));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(text, ", 500 M/s), and nothing is busy: waiting in desk.tray (has room)\n"));
	free(text);
	end(&desk);
}

static void test_no_operations(void)
{
	struct desk desk;
	struct bounds bounds = work(&desk, 7000);

	desk.completed = 0;
	bounds = bounds_find(desk.sim, 100000);
	CU_ASSERT_PTR_NULL(bounds.operation);
	CU_ASSERT_EQUAL(bounds.count, 0);
	end(&desk);
}
