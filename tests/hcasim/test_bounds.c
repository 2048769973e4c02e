/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a bound is capacity divided by demand per operation, lowest first. A higher rate is a
 * violation with resource and metrics. A run far below the bound, with nothing busy, names the
 * place where its work waits.
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
#define STATION_GAUGES(X) \
	X(server,  BUSY,   "jobs", "writes") \
	X(pool,   POOL,   "jobs", "has room") \
	X(post,   QUEUE,  "jobs", "on their way") \
	X(busy,   WORK,   "writers", "with letters")
struct station_gauges { STATION_GAUGES(GAUGE_FIELD) };
#define STATION_COUNTERS(X) X(wqes_completed, "jobs", "written")

/* The type with the counter of work requests. */
static const struct block_type station_type = {
	.name = "transport",
	.params = (const struct param[]){{0}},
	.counters = (const struct counter[]){STATION_COUNTERS(COUNTER_ENTRY){0}},
	.gauges = (const struct gauge_info[]){STATION_GAUGES(GAUGE_ENTRY){0}},
};
/* clang-format on */

struct station {
	struct sim *sim;
	struct block block;
	struct station_gauges gauge;
	uint64_t completed;
};

/* Makes 100 ns with work, in which 10 jobs take `service` ps each. They were in the pool for 8 ns
 * each, and in the queue for 2 ns. */
static struct bounds work(struct station *station, sim_time service)
{
	*station = (struct station){.sim = sim_create(SIM_ENGINE_native, 1), .completed = 10};
	block_init(&station->block, station->sim, &station_type, "station", NULL,
		   &station->completed);
	block_gauges(&station->block, (struct gauge *)&station->gauge);
	station->gauge.server.capacity = 1;
	station->gauge.pool.capacity = 4;
	gauge_wait(&station->gauge.busy, 0, true);
	gauge_enter(&station->gauge.pool, 0, 1);
	gauge_enter(&station->gauge.post, 0, 1);
	sim_run(station->sim, 20000);
	gauge_leave(&station->gauge.post, 20000, 1);
	sim_run(station->sim, 80000);
	gauge_leave(&station->gauge.pool, 80000, 1);
	sim_run(station->sim, 100000);
	gauge_wait(&station->gauge.busy, 100000, false);
	gauge_serve(&station->gauge.server, 0, 10 * service);
	return bounds_find(station->sim, 100000, NULL);
}

static void end(struct station *station)
{
	block_fini(&station->block);
	sim_destroy(station->sim);
}

static void test_capacity_over_demand(void)
{
	struct station station;
	struct bounds bounds = work(&station, 7000);

	CU_ASSERT_STRING_EQUAL(bounds.operation, "work requests");
	CU_ASSERT_DOUBLE_EQUAL(bounds.measured, 100e6, 1); /* 10 in 100 ns */
	CU_ASSERT_EQUAL_FATAL(bounds.count, 2);
	CU_ASSERT_STRING_EQUAL(bounds.list[0].info->name, "server");
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[0].demand, 7000, 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[0].rate, 1e12 / 7000, 1); /* 142.9 M/s */
	CU_ASSERT_STRING_EQUAL(bounds.list[1].info->name, "pool");
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[1].rate, 500e6, 1); /* 4 places, 8 ns each */
	CU_ASSERT_PTR_NULL(bounds.waits_in);
	station.gauge.pool.beyond = 1; /* an entry that finds room may exceed the capacity by one */
	bounds = bounds_find(station.sim, 100000, NULL);
	CU_ASSERT_DOUBLE_EQUAL(bounds.list[1].rate, 625e6, 1);
	CU_ASSERT_EQUAL(bounds.list[1].capacity, 5);
	end(&station);
}

static void test_faster_than_possible(void)
{
	struct station station;
	struct bounds bounds = work(&station, 8000);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	CU_ASSERT_EQUAL(bounds_check(&bounds, 125e6, 0, out), 0);
	CU_ASSERT_EQUAL(bounds_check(&bounds, 150e6, 0.2, out), 0); /* a fifth came from before */
	CU_ASSERT_EQUAL(bounds_check(&bounds, 126e6, 0, out), 1);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, "station: bound of server: 126 M/s of work requests were "
				     "measured, room for 125 (8000 ps each, capacity 1)\n");
	free(text);
	end(&station);
}

static void test_waiting_in(void)
{
	struct station station;
	struct bounds bounds = work(&station, 2000);
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	bounds_print_line(&bounds, out);
	fclose(out);
	/* 4 trays at 8 ns and a server at 2 ns let 500 M/s through. */
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "far below  20.0 % of the lowest bound (station."));
	CU_ASSERT_PTR_NOT_NULL(strstr(
		text, ", 500 M/s), and nothing is busy: waiting in station.pool (has room)\n"));
	free(text);
	end(&station);
}

static void test_no_operations(void)
{
	struct station station;
	struct bounds bounds = work(&station, 7000);

	station.completed = 0;
	bounds = bounds_find(station.sim, 100000, NULL);
	CU_ASSERT_PTR_NULL(bounds.operation);
	CU_ASSERT_EQUAL(bounds.count, 0);
	end(&station);
}
