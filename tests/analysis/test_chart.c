/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests charts: adjacent spans become one, and marks with the same text have the same style. A tick
 * appears once. Curves and charts without points are omitted.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/chart.h"
#include "tests/support/suite.h"

#define TESTS(TEST)          \
	TEST(spans)          \
	TEST(marks)          \
	TEST(axes)           \
	TEST(covered_curves) \
	TEST(empty)
SUITE(TESTS)

static void test_spans(void)
{
	struct chart *chart = chart_create(CHART_CURVES, "spans", "");

	chart_span_add(chart, 1, 2);
	chart_span_add(chart, 2, 4);
	chart_span_add(chart, 3, 3.5);
	chart_span_add(chart, 5, 6);
	CU_ASSERT_EQUAL_FATAL(chart->span_count, 2);
	CU_ASSERT_EQUAL(chart->spans[0].from, 1);
	CU_ASSERT_EQUAL(chart->spans[0].to, 4);
	CU_ASSERT_EQUAL(chart->spans[1].from, 5);
	chart_free(chart);
}

static void test_marks(void)
{
	struct chart *chart = chart_create(CHART_CURVES, "marks", "");

	chart_mark_add(chart, 1, 1, "link");
	chart_mark_add(chart, 2, 1, "core");
	chart_mark_add(chart, 3, 1, "link");
	chart_mark_add(chart, 4, 1, "pcie");
	CU_ASSERT_EQUAL(chart_mark_kind(chart, 0), 0);
	CU_ASSERT_EQUAL(chart_mark_kind(chart, 1), 1);
	CU_ASSERT_EQUAL(chart_mark_kind(chart, 2), 0);
	CU_ASSERT_EQUAL(chart_mark_kind(chart, 3), 2);
	chart_free(chart);
}

static void test_axes(void)
{
	struct chart *chart = chart_create(CHART_CURVES, "axes", "");
	char *title;

	chart_axis_tick(&chart->x, 64);
	chart_axis_tick(&chart->x, 8);
	chart_axis_tick(&chart->x, 64);
	CU_ASSERT_EQUAL(chart->x.tick_count, 2);
	chart_axis_set(&chart->x, "size", "B");
	title = chart_axis_title(&chart->x);
	CU_ASSERT_STRING_EQUAL(title, "size (B)");
	free(title);
	chart_axis_set(&chart->x, "slowdown", "");
	title = chart_axis_title(&chart->x);
	CU_ASSERT_STRING_EQUAL(title, "slowdown");
	free(title);
	chart_free(chart);
}

/* A curve that covers another one has another dash. */
static void test_covered_curves(void)
{
	struct chart *chart = chart_create(CHART_CURVES, "covered", "");
	struct charts charts = {0};

	for (unsigned i = 0; i < 3; i++) {
		struct chart_curve *curve = chart_curve_add(chart, "curve", CURVE_LINE);

		chart_point_add(curve, 1, 10);
		chart_point_add(curve, 2, i == 1 ? 50 : 100 + i / 10.0);
	}
	charts_add(&charts, chart);
	CU_ASSERT_EQUAL(chart->curves[0]->dash, 0);
	CU_ASSERT_EQUAL(chart->curves[1]->dash, 0);
	CU_ASSERT_EQUAL(chart->curves[2]->dash, 1);
	CU_ASSERT_EQUAL(chart->curves[2]->colour, 2);
	charts_free(&charts);
}

static void test_empty(void)
{
	struct chart *chart = chart_create(CHART_CURVES, "empty", "");
	struct charts charts = {0};

	chart_point_add(chart_curve_add(chart, "nothing", CURVE_LINE), 1, NAN);
	charts_add(&charts, chart);
	CU_ASSERT_EQUAL(charts.count, 0);

	chart = chart_create(CHART_CURVES, "some", "");
	chart_curve_add(chart, "nothing", CURVE_LINE);
	chart_band_add(chart_curve_add(chart, "something", CURVE_LINE), 1, 2, 1.5, 2.5);
	charts_add(&charts, chart);
	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	CU_ASSERT_EQUAL_FATAL(chart->curve_count, 1);
	CU_ASSERT_STRING_EQUAL(chart->curves[0]->name, "something");
	CU_ASSERT(chart_has_band(chart->curves[0]));
	charts_free(&charts);
}
