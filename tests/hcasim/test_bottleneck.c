/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Proves that uses are exact shares of the time with work, which is the longest that a gauge tells of; that none is cut off at 1;
 * and that a limit of queue pairs that held up more of them than had work is a violation with block, gauge and metrics.
 */
#include <stdlib.h>
#include <string.h>

#include "hcasim/run/bottleneck.h"
#include "tests/support/suite.h"

#define TESTS(TEST)              \
	TEST(work_before_queues) \
	TEST(held_up_more_than_all)
SUITE(TESTS)

/* clang-format off */
#define DESK_GAUGES(X)                                      \
	X(clerk,  BUSY,   "letters", "writes")                \
	X(tray,   POOL,   "letters", "has room")              \
	X(busy,   WORK,   "writers", "with letters")          \
	X(fetch,  SHARE,  "writers", "without ink")
struct desk_gauges { DESK_GAUGES(GAUGE_FIELD) };

static const struct block_type desk_type = {
	.name = "desk",
	.params = (const struct param[]){{0}},
	.gauges = (const struct gauge_info[]){DESK_GAUGES(GAUGE_ENTRY){0}},
};
/* clang-format on */

struct desk {
	struct sim *sim;
	struct block block;
	struct desk_gauges gauge;
};

static void begin(struct desk *desk)
{
	*desk = (struct desk){.sim = sim_create(SIM_ENGINE_native, 1)};
	block_init(&desk->block, desk->sim, &desk_type, "host0.desk", NULL, NULL);
	block_gauges(&desk->block, (struct gauge *)&desk->gauge);
	desk->gauge.clerk.capacity = 1;
	desk->gauge.tray.capacity = 4;
}

static void end(struct desk *desk)
{
	block_fini(&desk->block);
	sim_destroy(desk->sim);
}

static const struct use *use_of(const struct bottleneck *bottleneck, const char *name)
{
	for (unsigned i = 0; i < bottleneck->count; i++)
		if (strcmp(bottleneck->uses[i].info->name, name) == 0)
			return &bottleneck->uses[i];
	return NULL;
}

/* Letters pile up in the tray for 80 of 100 ns; for 25 of these only, a writer is known to have one. */
static void test_work_before_queues(void)
{
	struct bottleneck bottleneck;
	struct desk desk;

	begin(&desk);
	gauge_enter(&desk.gauge.tray, 0, 4);
	gauge_wait(&desk.gauge.tray, 0, true);
	sim_run(desk.sim, 55000);
	gauge_enter(&desk.gauge.busy, sim_now(desk.sim), 1);
	gauge_wait(&desk.gauge.busy, sim_now(desk.sim), true);
	sim_run(desk.sim, 60000);
	gauge_wait(&desk.gauge.tray, sim_now(desk.sim), false);
	sim_run(desk.sim, 80000);
	gauge_leave(&desk.gauge.tray, sim_now(desk.sim), 4);
	gauge_leave(&desk.gauge.busy, sim_now(desk.sim), 1);
	gauge_wait(&desk.gauge.busy, sim_now(desk.sim), false);
	gauge_serve(&desk.gauge.clerk, 0, 60000);
	sim_run(desk.sim, 100000);
	bottleneck = bottleneck_find(desk.sim, sim_now(desk.sim));
	CU_ASSERT_EQUAL(bottleneck.time, 80000);
	CU_ASSERT_EQUAL_FATAL(bottleneck.count, 2);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "clerk")->use, 0.75);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "tray")->use, 0.75);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "tray")->mean, 4);
	CU_ASSERT_EQUAL(bottleneck_check(desk.sim, stderr), 0);
	end(&desk);
}

static void test_held_up_more_than_all(void)
{
	struct bottleneck bottleneck;
	struct desk desk;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	begin(&desk);
	gauge_enter(&desk.gauge.busy, 0, 1);
	gauge_wait(&desk.gauge.busy, 0, true);
	gauge_enter(&desk.gauge.fetch, 0, 2);
	sim_run(desk.sim, 700);
	bottleneck = bottleneck_find(desk.sim, sim_now(desk.sim));
	CU_ASSERT_EQUAL_FATAL(bottleneck.count, 1);
	CU_ASSERT_EQUAL(bottleneck.uses[0].use, 2);
	CU_ASSERT_EQUAL(bottleneck_check(desk.sim, out), 1);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text, "host0.desk: share of fetch: held up for 1400 writers x ps, "
				     "of 700 with work\n");
	free(text);
	end(&desk);
}
