/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the charts of a metric of a sweep. A chart has at most CHART_CURVES_MAX curves. With more
 * combinations, one key has a chart for each of its values, on the same axis. Two keys choose
 * colour and dash. The points of a design are one curve.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/sweep_charts.h"
#include "tests/support/suite.h"

#define TESTS(TEST)            \
	TEST(two_keys)         \
	TEST(many_curves)      \
	TEST(points_of_design) \
	TEST(one_bottleneck)
SUITE(TESTS)

static const char folder[] = "sweep_charts";
static char error[256];

#define HEAD "variant,load,kmax,point,bottleneck,lowest_bound_of,lowest_bound,gbps\n"

static FILE *begin_table(void)
{
	mkdir(folder, 0777);
	FILE *out = fopen("sweep_charts/results.csv", "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(HEAD, out);
	return out;
}

static struct charts draw(FILE *out)
{
	struct charts charts = {0};

	fclose(out);
	struct sweep_tables *sweep = sweep_charts_read(folder, error, sizeof(error));

	CU_ASSERT_PTR_NOT_NULL_FATAL(sweep);
	sweep_charts_add(&charts, sweep, table_column(sweep->means, "load"),
			 &(struct sweep_metric){.column = table_column(sweep->means, "gbps"),
						.name = "gbps",
						.title = "Data",
						.unit = "Gb/s",
						.logarithmic_from = SWEEP_LOGARITHMIC});
	sweep_charts_free(sweep);
	return charts;
}

static void write_sweep(FILE *out, unsigned variants, unsigned loads, unsigned kmaxes)
{
	for (unsigned v = 0; v < variants; v++)
		for (unsigned l = 0; l < loads; l++)
			for (unsigned k = 0; k < kmaxes; k++)
				fprintf(out, "v%u,0.%u,%uKB,p%u-%u-%u,none,,,%u\n", v, l + 1,
					100 + k, v, l, k, 10 * v + l + k + 1);
}

static void test_two_keys(void)
{
	FILE *out = begin_table();

	write_sweep(out, 2, 3, 4);
	struct charts charts = draw(out);

	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	const struct chart *chart = charts.list[0];

	CU_ASSERT_STRING_EQUAL(chart->title, "Data");
	CU_ASSERT_EQUAL_FATAL(chart->curve_count, 8);
	CU_ASSERT(chart->styled);
	for (unsigned i = 0; i < 8; i++) {
		CU_ASSERT_EQUAL(chart->curves[i]->colour, i % 4);
		CU_ASSERT_EQUAL(chart->curves[i]->dash, i / 4);
		CU_ASSERT_EQUAL(chart->curves[i]->count, 3);
	}
	CU_ASSERT_STRING_EQUAL(chart->curves[5]->name, "v1 kmax=101KB");
	charts_free(&charts);
}

static void test_many_curves(void)
{
	FILE *out = begin_table();

	write_sweep(out, 4, 3, 17);
	struct charts charts = draw(out);
	static const char *const titles[] = {"kmax=100KB: Data", "kmax=105KB: Data",
					     "kmax=110KB: Data", "kmax=116KB: Data"};

	CU_ASSERT_EQUAL_FATAL(charts.count, 4);
	for (unsigned i = 0; i < 4; i++) {
		const struct chart *chart = charts.list[i];

		CU_ASSERT_STRING_EQUAL(chart->title, titles[i]);
		CU_ASSERT_EQUAL_FATAL(chart->curve_count, 4);
		CU_ASSERT_STRING_EQUAL(chart->curves[3]->name, "v3");
		CU_ASSERT_EQUAL(chart->curves[3]->colour, 3);
		CU_ASSERT_EQUAL(chart->y.most, 10 * 3 + 2 + 16 + 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(chart->note, "4 of 17 values of kmax"));
	}
	CU_ASSERT_STRING_EQUAL(charts.list[1]->name, "gbps-kmax=105KB");
	charts_free(&charts);
}

static void test_points_of_design(void)
{
	FILE *out = begin_table();

	for (unsigned i = 0; i < 20; i++)
		fprintf(out, "v%u,0.%u,%uKB,p%u,none,,,%u\n", i % 2, 10 + i, 100 + 7 * i, i, i);
	struct charts charts = draw(out);

	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	CU_ASSERT_EQUAL_FATAL(charts.list[0]->curve_count, 1);
	CU_ASSERT_EQUAL(charts.list[0]->curves[0]->count, 20);
	CU_ASSERT_EQUAL(charts.list[0]->curves[0]->style, CURVE_DOTS);
	charts_free(&charts);
}

/* A resource that limits all points is in the note. Numbers are left out of many resources. */
static void test_one_bottleneck(void)
{
	FILE *out = begin_table();

	for (unsigned i = 0; i < 4; i++)
		fprintf(out, "v,0.%u,1KB,p%u,leaf0.link,,,%u\n", i + 1, i, i);
	struct charts charts = draw(out);

	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	CU_ASSERT_EQUAL(charts.list[0]->mark_count, 0);
	CU_ASSERT_STRING_EQUAL(charts.list[0]->note, "The bottleneck of all points is leaf0.link.");
	charts_free(&charts);

	out = begin_table();
	for (unsigned i = 0; i < 9; i++)
		fprintf(out, "v,0.%u,1KB,p%u,%s%u.link,,,%u\n", i + 1, i, i % 3 ? "leaf" : "spine",
			i, i);
	charts = draw(out);
	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	CU_ASSERT_EQUAL(charts.list[0]->mark_count, 9);
	CU_ASSERT_EQUAL(chart_mark_kinds(charts.list[0]), 2);
	CU_ASSERT_STRING_EQUAL(charts.list[0]->marks[0].text, "spine*.link");
	charts_free(&charts);
}
