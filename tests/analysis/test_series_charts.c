/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the charts of a run over time. Queues by priority: the longest have curves, longest first,
 * and a sample without a line is 0. Chosen flows: a curve per flow, without the fields that are
 * empty. Ports: queues and rates in the units of the largest, pauses as spans, thresholds of the
 * configuration as levels. A file that is no table is refused by name.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flow_series_charts.h"
#include "analysis/queue_series_charts.h"
#include "analysis/series.h"
#include "analysis/series_charts.h"
#include "tests/analysis/support/find_chart.h"
#include "tests/support/suite.h"

#define TESTS(TEST)              \
	TEST(queues_by_priority) \
	TEST(empty_queues)       \
	TEST(chosen_flows)       \
	TEST(ports)              \
	TEST(refuses)
SUITE(TESTS)

static const char file[] = "series_charts.csv";
static char error[256];

static const char *write_text(const char *text)
{
	FILE *out = fopen(file, "w");

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(text, out);
	fclose(out);
	*error = '\0';
	return file;
}

static bool is_point(const struct chart_curve *curve, size_t number, double x, double y)
{
	return number < curve->count && fabs(curve->points[number].x - x) < 1e-9 &&
	       fabs(curve->points[number].y - y) < 1e-9;
}

static void test_queues_by_priority(void)
{
	struct charts charts = {0};
	const char *text = "time_us,port,priority,queue_bytes,input_bytes,paused_us\n"
			   "1,a,0,1000,0,0\n1,a,3,4000,0,0\n1,b,0,10,0,0\n"
			   "2,a,0,2000,0,0\n"
			   "4,a,3,8000,0,0\n";

	CU_ASSERT(queue_series_charts_add(&charts, write_text(text), error, sizeof(error)));
	CU_ASSERT_EQUAL_FATAL(charts.count, 1);
	const struct chart *chart = charts.list[0];

	CU_ASSERT_STRING_EQUAL(chart->name, "queues-by-priority");
	CU_ASSERT_STRING_EQUAL(chart->y.unit, "KB");
	CU_ASSERT_EQUAL_FATAL(chart->curve_count, 2); /* b has less than 1 % of the longest */
	CU_ASSERT_STRING_EQUAL(chart->curves[0]->name, "a, priority 3");
	CU_ASSERT_STRING_EQUAL(chart->curves[1]->name, "a, priority 0");
	CU_ASSERT_EQUAL(chart->curves[0]->count, 4);
	for (unsigned i = 0; i < 4; i++) {
		static const double longest[] = {4, 0, 0, 8}, other[] = {1, 2, 0, 0};

		CU_ASSERT(is_point(chart->curves[0], i, i + 1, longest[i]));
		CU_ASSERT(is_point(chart->curves[1], i, i + 1, other[i]));
	}
	CU_ASSERT_STRING_EQUAL(chart->note, "2 of 3 queues that were used.");
	charts_free(&charts);
}

static void test_empty_queues(void)
{
	struct charts charts = {0};

	CU_ASSERT(queue_series_charts_add(
		&charts, write_text("time_us,port,priority,queue_bytes,input_bytes,paused_us\n"),
		error, sizeof(error)));
	CU_ASSERT(queue_series_charts_add(
		&charts,
		write_text("time_us,port,priority,queue_bytes,input_bytes,paused_us\n"
			   "1,a,0,0,500,0\n"),
		error, sizeof(error)));
	CU_ASSERT_EQUAL(charts.count, 0);
	charts_free(&charts);
}

static void test_chosen_flows(void)
{
	struct charts charts = {0};
	const char *text = "time_us,flow,goodput_gbps,rate_gbps,cwnd_bytes,inflight_bytes,rtt_us\n"
			   "10,2,50,100,,1000,\n10,7,40,90,20000,2000,\n20,2,55,80,,3000,4.5\n";

	CU_ASSERT(flow_series_charts_add(&charts, write_text(text), error, sizeof(error)));
	CU_ASSERT_EQUAL(charts.count, 5);
	const struct chart *rates = find_chart(&charts, "flow-rates");
	const struct chart *windows = find_chart(&charts, "flow-windows");
	const struct chart *times = find_chart(&charts, "flow-rtts");

	CU_ASSERT_FATAL(rates && windows && times);
	CU_ASSERT_EQUAL_FATAL(rates->curve_count, 2);
	CU_ASSERT_STRING_EQUAL(rates->curves[0]->name, "flow 2");
	CU_ASSERT(is_point(rates->curves[0], 1, 20, 80));
	CU_ASSERT_EQUAL_FATAL(windows->curve_count, 1); /* flow 2 has no window */
	CU_ASSERT_STRING_EQUAL(windows->curves[0]->name, "flow 7");
	CU_ASSERT(is_point(windows->curves[0], 0, 10, 20)); /* KB */
	CU_ASSERT_EQUAL_FATAL(times->curve_count, 1);
	CU_ASSERT(times->curves[0]->count == 1 && is_point(times->curves[0], 0, 20, 4.5));
	charts_free(&charts);
}

static void test_ports(void)
{
	struct charts charts = {0};
	const char *text =
		"time_us,port,queue_bytes,input_bytes,rate_gbps,paused_us,pauses_received\n"
		"1,a,2000000,0,10,0,0\n1,b,1000,0,90,0,0\n"
		"2,a,3000000,0,20,0.5,1\n2,b,1000,0,95,0,0\n";
	struct series *series = series_read(write_text(text), error, sizeof(error));
	const double rates[] = {100, 100};

	CU_ASSERT_PTR_NOT_NULL_FATAL(series);
	CU_ASSERT_EQUAL(series_most(series, SERIES_queue_bytes, 0), 3000000);
	CU_ASSERT_EQUAL(series_mean(series, SERIES_rate_gbps, 1), 92.5);
	series_charts_add(&charts, series, NULL, rates);
	const struct chart *queues = find_chart(&charts, "queues"),
			   *sent = find_chart(&charts, "rates");

	CU_ASSERT_FATAL(queues && sent);
	CU_ASSERT_STRING_EQUAL(queues->y.unit, "MB");
	CU_ASSERT_EQUAL_FATAL(queues->curve_count, 1); /* b would be a line along the axis */
	CU_ASSERT(is_point(queues->curves[0], 1, 2, 3));
	CU_ASSERT(queues->span_count == 1 && queues->spans[0].from == 1 &&
		  queues->spans[0].to == 2);
	CU_ASSERT_EQUAL_FATAL(sent->curve_count, 2);
	CU_ASSERT_STRING_EQUAL(sent->curves[0]->name, "b"); /* sent most */
	CU_ASSERT_PTR_NULL(find_chart(&charts, "inputs"));  /* nothing was stored */
	CU_ASSERT_PTR_NOT_NULL(find_chart(&charts, "pauses"));
	series_free(series);
	charts_free(&charts);
}

static void test_refuses(void)
{
	struct charts charts = {0};

	CU_ASSERT_FALSE(
		queue_series_charts_add(&charts, write_text("a,b\n1\n"), error, sizeof(error)));
	CU_ASSERT_EQUAL(strncmp(error, file, strlen(file)), 0);
	CU_ASSERT_FALSE(
		flow_series_charts_add(&charts, write_text("a,b\n1\n"), error, sizeof(error)));
	CU_ASSERT_EQUAL(strncmp(error, file, strlen(file)), 0);
	CU_ASSERT_EQUAL(charts.count, 0);
	remove(file);
}
