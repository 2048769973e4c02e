/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that curves of slowdown by size are means over the seeds, and that their bands are the
 * intervals of Student's t over the seeds, by hand: for two seeds, half of the interval is 12.7062
 * standard errors. One seed has no band. Several variants have pictures of the median and of the
 * 99th percentile. The reader says what its numbers are.
 */
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/flow_charts.h"
#include "tests/analysis/support/find_chart.h"
#include "tests/support/suite.h"

#define TESTS(TEST)            \
	TEST(one_variant)      \
	TEST(several_variants) \
	TEST(single_runs)
SUITE(TESTS)

#define T_ONE 12.7062047 /* 97.5 % quantile of Student's t with one degree of freedom */

static char error[256];

/* A run with two groups of flows; the percentiles of the second are `more` higher. */
static void write_run(const char *folder, double p50, double p99, double more)
{
	char path[64];

	mkdir(folder, 0777);
	snprintf(path, sizeof(path), "%s/slowdowns.csv", folder);
	FILE *out = fopen(path, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fprintf(out, "bytes_max_B,slowdown_p50,slowdown_p95,slowdown_p99\n1000,%g,%g,%g\n", p50,
		(p50 + p99) / 2, p99);
	fprintf(out, "9000,%g,%g,%g\n", p50 + more, (p50 + p99) / 2 + more, p99 + more);
	fclose(out);
}

/* Checks the first two points of a curve against the mean of two values and their interval. */
static void check(const struct chart_curve *curve, const char *name, double one, double other,
		  double more)
{
	double mean = (one + other) / 2, half = T_ONE * fabs(one - other) / 2;

	CU_ASSERT_STRING_EQUAL(curve->name, name);
	CU_ASSERT_EQUAL_FATAL(curve->count, 2);
	for (unsigned i = 0; i < 2; i++) {
		const struct chart_point *point = &curve->points[i];

		CU_ASSERT_DOUBLE_EQUAL(point->x, i ? 9000 : 1000, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(point->y, mean + i * more, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(point->low, mean + i * more - half, 1e-5);
		CU_ASSERT_DOUBLE_EQUAL(point->high, mean + i * more + half, 1e-5);
	}
}

static void test_one_variant(void)
{
	const struct charted_run runs[] = {{"same", "flows1"}, {"same", "flows2"}};
	struct charts charts = {0};

	write_run("flows1", 2, 6, 1);
	write_run("flows2", 3, 9, 1);
	CU_ASSERT_FATAL(flow_charts_add(&charts, runs, 2, error, sizeof(error)));
	const struct chart *sizes = find_chart(&charts, "sizes");

	CU_ASSERT_PTR_NOT_NULL_FATAL(sizes);
	CU_ASSERT_EQUAL_FATAL(sizes->curve_count, 3);
	check(sizes->curves[0], "99th percentile", 6, 9, 1);
	check(sizes->curves[1], "95th percentile", 4, 6, 1);
	check(sizes->curves[2], "50th percentile", 2, 3, 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(sizes->note, "Bands are intervals of 95 % confidence over the seeds."));
	CU_ASSERT_PTR_NULL(find_chart(&charts, "sizes_p99"));
	charts_free(&charts);
}

static void test_several_variants(void)
{
	const struct charted_run runs[] = {
		{"a", "flows1"}, {"a", "flows2"}, {"b", "flows3"}, {"b", "flows4"}};
	struct charts charts = {0};

	write_run("flows1", 2, 6, 1);
	write_run("flows2", 3, 9, 1);
	write_run("flows3", 4, 8, 2);
	write_run("flows4", 4.5, 7, 2);
	CU_ASSERT_FATAL(flow_charts_add(&charts, runs, 4, error, sizeof(error)));
	const struct chart *sizes = find_chart(&charts, "sizes"),
			   *tail = find_chart(&charts, "sizes_p99");

	CU_ASSERT_FATAL(sizes && tail && sizes->curve_count == 2 && tail->curve_count == 2);
	check(sizes->curves[0], "a", 2, 3, 1);
	check(sizes->curves[1], "b", 4, 4.5, 2);
	check(tail->curves[0], "a", 6, 9, 1);
	check(tail->curves[1], "b", 8, 7, 2);
	charts_free(&charts);
}

static void test_single_runs(void)
{
	const struct charted_run runs[] = {{"a", "flows1"}, {"b", "flows2"}};
	struct charts charts = {0};

	write_run("flows1", 2, 6, 1);
	write_run("flows2", 3, 9, 1);
	CU_ASSERT_FATAL(flow_charts_add(&charts, runs, 2, error, sizeof(error)));
	const struct chart *sizes = find_chart(&charts, "sizes");

	CU_ASSERT_FATAL(sizes && sizes->curve_count == 2);
	CU_ASSERT(!chart_has_band(sizes->curves[0]) && !chart_has_band(sizes->curves[1]));
	CU_ASSERT_DOUBLE_EQUAL(sizes->curves[1]->points[1].y, 4, 1e-9);
	CU_ASSERT_PTR_NULL(strstr(sizes->note, "seeds"));
	charts_free(&charts);
}
