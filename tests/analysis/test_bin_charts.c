/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the charts of a sweep over bins of flow sizes: a curve for each combination of values, and
 * for each of several workloads, over the names of the bins; without the lines about all sizes; of
 * the pattern alone where there are incasts.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/bin_charts.h"
#include "analysis/table.h"
#include "tests/analysis/support/find_chart.h"
#include "tests/support/suite.h"

#define TESTS(TEST)               \
	TEST(curves_of_values)    \
	TEST(curves_of_workloads) \
	TEST(sweeps_without_bins)
SUITE(TESTS)

static const char folder[] = "bin_charts";
static char error[256];

static void write_file(const char *name, const char *text)
{
	char path[64];

	mkdir(folder, 0777);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *out = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(text, out);
	fclose(out);
}

static const struct chart_curve *curve_of(const struct chart *chart, const char *text)
{
	for (size_t i = 0; chart && i < chart->curve_count; i++)
		if (strstr(chart->curves[i]->name, text))
			return chart->curves[i];
	return NULL;
}

static void read_sweep(struct charts *charts)
{
	struct sweep_tables *sweep = sweep_charts_read(folder, error, sizeof(error));

	CU_ASSERT_PTR_NOT_NULL_FATAL(sweep);
	CU_ASSERT(bin_charts_add(charts, sweep, error, sizeof(error)));
	sweep_charts_free(sweep);
}

static void test_curves_of_values(void)
{
	struct charts charts = {0};

	write_file("results.csv",
		   "balance,point,exit_code,name,bottleneck,lowest_bound_of,"
		   "lowest_bound,flows\necmp,p0,0,n,none,,,4\nspray,p1,0,n,none,,,4\n");
	write_file("bins.csv",
		   "balance,of,bytes_above_B,bytes_to_B,flows,slowdown_mean\n"
		   "ecmp,all,,10000,2,9\necmp,all,,,4,9\n"
		   "ecmp,pattern,,10000,2,1.5\necmp,pattern,10000,,2,3\necmp,pattern,,,4,2\n"
		   "spray,all,,10000,2,9\nspray,all,,,4,9\n"
		   "spray,pattern,,10000,2,1.25\nspray,pattern,10000,,2,2\nspray,pattern,,,4,2\n");
	read_sweep(&charts);
	const struct chart *chart = find_chart(&charts, "bins-slowdown_mean");

	CU_ASSERT_PTR_NOT_NULL_FATAL(chart);
	CU_ASSERT_STRING_EQUAL(chart->title, "Mean slowdown by flow size, without incasts");
	CU_ASSERT_EQUAL(chart->curve_count, 2);
	CU_ASSERT_EQUAL_FATAL(chart->x.name_count, 2);
	CU_ASSERT_STRING_EQUAL(chart->x.names[0], "up to 10 KB");
	CU_ASSERT_STRING_EQUAL(chart->x.names[1], "above 10 KB");
	const struct chart_curve *ecmp = curve_of(chart, "ecmp");

	CU_ASSERT_PTR_NOT_NULL_FATAL(ecmp);
	CU_ASSERT_EQUAL_FATAL(ecmp->count, 2);
	CU_ASSERT(ecmp->points[0].y == 1.5 && ecmp->points[1].y == 3);
	charts_free(&charts);
}

static void test_curves_of_workloads(void)
{
	struct charts charts = {0};

	write_file("bins.csv", "balance,workload,of,bytes_above_B,bytes_to_B,flows,slowdown_mean\n"
			       "ecmp,all,all,,10000,2,1.5\necmp,all,all,10000,,2,3\n"
			       "ecmp,store,all,,10000,2,1.25\necmp,store,all,10000,,2,5\n"
			       "spray,all,all,,10000,2,1.5\nspray,all,all,10000,,2,3\n"
			       "spray,store,all,,10000,2,1.75\nspray,store,all,10000,,2,6\n");
	read_sweep(&charts);
	const struct chart *chart = find_chart(&charts, "bins-slowdown_mean");

	CU_ASSERT_PTR_NOT_NULL_FATAL(chart);
	CU_ASSERT_EQUAL_FATAL(chart->curve_count, 4);
	bool found = false;

	for (size_t i = 0; i < chart->curve_count; i++) {
		const struct chart_curve *curve = chart->curves[i];

		if (strstr(curve->name, "spray") && strstr(curve->name, "store"))
			found = curve->count == 2 && curve->points[1].y == 6;
	}
	CU_ASSERT(found);
	charts_free(&charts);
}

static void test_sweeps_without_bins(void)
{
	struct charts charts = {0};
	char path[64];

	snprintf(path, sizeof(path), "%s/bins.csv", folder);
	unlink(path);
	read_sweep(&charts);
	CU_ASSERT_EQUAL(charts.count, 0);
	snprintf(path, sizeof(path), "%s/results.csv", folder);
	unlink(path);
	rmdir(folder);
}
