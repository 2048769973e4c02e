/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that uses are exact shares of the time with work, which is the longest time of any gauge.
 * No use is limited to 1. A limit that stopped more queue pairs than had work is a violation with
 * block, gauge and figures. The order of resources names gauges that exist.
 */
#include <stdlib.h>
#include <string.h>

#include "hcasim/builder/build.h"
#include "hcasim/run/bottleneck.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                 \
	TEST(work_before_queues)    \
	TEST(held_up_more_than_all) \
	TEST(order_names_gauges)
SUITE(TESTS)

/* clang-format off */
#define STATION_GAUGES(X) \
	X(server,  BUSY,   "jobs", "writes") \
	X(pool,   POOL,   "jobs", "has room") \
	X(busy,   WORK,   "writers", "with letters") \
	X(fetch,  SHARE,  "writers", "without ink")
struct station_gauges { STATION_GAUGES(GAUGE_FIELD) };

static const struct block_type station_type = {
	.name = "station",
	.params = (const struct param[]){{0}},
	.gauges = (const struct gauge_info[]){STATION_GAUGES(GAUGE_ENTRY){0}},
};
/* clang-format on */

struct station {
	struct sim *sim;
	struct block block;
	struct station_gauges gauge;
};

static void begin(struct station *station)
{
	*station = (struct station){.sim = sim_create(SIM_ENGINE_native, 1)};
	block_init(&station->block, station->sim, &station_type, "host0.station", NULL, NULL);
	block_gauges(&station->block, (struct gauge *)&station->gauge);
	station->gauge.server.capacity = 1;
	station->gauge.pool.capacity = 4;
}

static void end(struct station *station)
{
	block_fini(&station->block);
	sim_destroy(station->sim);
}

static const struct use *use_of(const struct bottleneck *bottleneck, const char *name)
{
	for (unsigned i = 0; i < bottleneck->count; i++)
		if (strcmp(bottleneck->uses[i].info->name, name) == 0)
			return &bottleneck->uses[i];
	return NULL;
}

/* Letters are in the pool for 80 of 100 ns. Only for 25 of these 80 ns does a writer report
 * work. */
static void test_work_before_queues(void)
{
	struct bottleneck bottleneck;
	struct station station;

	begin(&station);
	gauge_enter(&station.gauge.pool, 0, 4);
	gauge_wait(&station.gauge.pool, 0, true);
	sim_run(station.sim, 55000);
	gauge_enter(&station.gauge.busy, sim_now(station.sim), 1);
	gauge_wait(&station.gauge.busy, sim_now(station.sim), true);
	sim_run(station.sim, 60000);
	gauge_wait(&station.gauge.pool, sim_now(station.sim), false);
	sim_run(station.sim, 80000);
	gauge_leave(&station.gauge.pool, sim_now(station.sim), 4);
	gauge_leave(&station.gauge.busy, sim_now(station.sim), 1);
	gauge_wait(&station.gauge.busy, sim_now(station.sim), false);
	gauge_serve(&station.gauge.server, 0, 60000);
	sim_run(station.sim, 100000);
	bottleneck = bottleneck_find(station.sim, sim_now(station.sim));
	CU_ASSERT_EQUAL(bottleneck.time, 80000);
	CU_ASSERT_EQUAL_FATAL(bottleneck.count, 2);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "server")->use, 0.75);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "pool")->use, 0.75);
	CU_ASSERT_EQUAL(use_of(&bottleneck, "pool")->mean, 4);
	CU_ASSERT_EQUAL(bottleneck_check(station.sim, stderr), 0);
	end(&station);
}

static void test_held_up_more_than_all(void)
{
	struct bottleneck bottleneck;
	struct station station;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	begin(&station);
	gauge_enter(&station.gauge.busy, 0, 1);
	gauge_wait(&station.gauge.busy, 0, true);
	gauge_enter(&station.gauge.fetch, 0, 2);
	sim_run(station.sim, 700);
	bottleneck = bottleneck_find(station.sim, sim_now(station.sim));
	CU_ASSERT_EQUAL_FATAL(bottleneck.count, 1);
	CU_ASSERT_EQUAL(bottleneck.uses[0].use, 2);
	CU_ASSERT_EQUAL(bottleneck_check(station.sim, out), 1);
	fclose(out);
	CU_ASSERT_STRING_EQUAL(text,
			       "host0.station: share of fetch: held up for 1400 writers x ps, "
			       "of 700 with work\n");
	free(text);
	end(&station);
}

/* Every block with gauges is in an adapter with the driver `load` whose server answers. */
static const char all_blocks[] =
	"hosts: {count: 2, hca: {preset: connectx3-fdr},\n"
	"  host: {iommu: {enabled: true}, llc: {enabled: true}, numa: {memory_node: remote}}}\n"
	"fabric: {topology: back-to-back, link: cable-fdr}\n"
	"load: {pattern: inbound, verb: write, paging: remote, server: {cores: 1}}\n";

static bool exists(const struct sim *sim, const char *name)
{
	char text[64];

	for (const struct block *block = sim_blocks(sim); block; block = block->next) {
		for (size_t i = 0; block->gauges && block->type->gauges[i].name; i++) {
			snprintf(text, sizeof(text), "%s.%s", block->type->name,
				 block->type->gauges[i].name);
			if (strcmp(text, name) == 0)
				return true;
		}
	}
	return false;
}

static void test_order_names_gauges(void)
{
	struct yaml_errors errors = {0};
	char error[256] = "";
	FILE *file = fopen("order.yaml", "w");

	CU_ASSERT_FATAL(file && fputs(all_blocks, file) >= 0 && fclose(file) == 0);
	struct scenario *scenario = scenario_read("order.yaml", NULL, 0, &errors);
	if (!scenario)
		printf("%s\n", yaml_errors_text(&errors));
	CU_ASSERT_PTR_NOT_NULL_FATAL(scenario);
	struct build *build =
		build_create(scenario, SIM_ENGINE_native, false, false, error, sizeof(error));
	CU_ASSERT_STRING_EQUAL_FATAL(error, "");
	for (size_t i = 0; bottleneck_order(i); i++) {
		if (!exists(build->sim, bottleneck_order(i)))
			printf("no gauge %s\n", bottleneck_order(i));
		CU_ASSERT(exists(build->sim, bottleneck_order(i)));
	}
	build_destroy(build);
	scenario_destroy(scenario);
	yaml_errors_free(&errors);
	remove("order.yaml");
}
