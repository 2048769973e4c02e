/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the judgement of published figures. Each tolerance admits its error and no more, on either
 * side, also factors of two and of ten. The judgement also compares ranks and knees of curves.
 * Groups of flows by size have the right contents.
 */
#include <math.h>
#include <string.h>

#include "analysis/compare.h"
#include "tests/support/suite.h"
#include "traffic/workload/flow_table.h"

#define TESTS(TEST)      \
	TEST(tolerances) \
	TEST(shape)      \
	TEST(knees)      \
	TEST(groups)
SUITE(TESTS)

static bool within(double ours, const char *name)
{
	struct compare_tolerance tolerance;
	/* The reading error of a figure does not widen the tolerance. */
	const struct compare_point point = {.low = 100, .high = 100, .reading = 50, .ours = ours};

	CU_ASSERT_TRUE_FATAL(compare_tolerance_find(name, &tolerance));
	CU_ASSERT_STRING_EQUAL(tolerance.name, name);
	return compare_within(&point, &tolerance);
}

static void test_tolerances(void)
{
	static const struct {
		const char *name;
		double low, high;
	} rows[] = {{"EXACT", 99.5, 100.5}, {"T1", 98, 102},  {"T2", 90, 110},
		    {"T3", 80, 120},        {"X2", 50, 200},  {"X10", 10, 1000},
		    {"2.5%", 97.5, 102.5},  {"30%", 70, 130}, {"+-5", 95, 105}};
	struct compare_tolerance tolerance;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_TRUE(within(rows[i].low + 1e-6, rows[i].name));
		CU_ASSERT_FALSE(within(rows[i].low - 1e-3, rows[i].name));
		CU_ASSERT_TRUE(within(rows[i].high - 1e-6, rows[i].name));
		CU_ASSERT_FALSE(within(rows[i].high + 1e-3, rows[i].name));
	}
	CU_ASSERT_FALSE(compare_tolerance_find("X3", &tolerance));
	CU_ASSERT_FALSE(compare_tolerance_find("%", &tolerance));
	CU_ASSERT_FALSE(compare_tolerance_find("5", &tolerance));
	CU_ASSERT_FALSE(compare_tolerance_find("+-5%", &tolerance));
	CU_ASSERT_FALSE(compare_tolerance_find("-5%", &tolerance));
}

static bool same_shape(double one, double two, double three)
{
	/* level between the first and the last, lower between them */
	const struct compare_point points[] = {{.low = 100, .high = 100, .ours = one},
					       {.low = 64, .high = 64, .ours = two},
					       {.low = 101, .high = 101, .ours = three}};

	return compare_order(points, 3);
}

static void test_shape(void)
{
	CU_ASSERT_TRUE(same_shape(10, 5, 10));
	CU_ASSERT_TRUE(same_shape(10, 5, 9.01));  /* 10 % apart at most where theirs are level */
	CU_ASSERT_FALSE(same_shape(10, 5, 8.99)); /* although it rises from its neighbour */
	CU_ASSERT_FALSE(same_shape(8.99, 5, 10));
	CU_ASSERT_FALSE(same_shape(0.62, 0.50, 0.54));
	CU_ASSERT_FALSE(same_shape(10, 11, 10)); /* it rises where theirs fall */
	CU_ASSERT_TRUE(same_shape(10, 9.9, 10)); /* less than 2 %: no direction */
}

/* 100 up to x = 4, then 80, 60, 40: it leaves its level, by 10 %, at 4 * sqrt(2). Simulated values,
 * with the same curve `times` further. */
static bool same_knees(double times, bool mirrored)
{
	struct compare_point points[7];

	for (unsigned i = 0; i < 7; i++) {
		double x = ldexp(1, (int)i), y = x / times;
		unsigned at = mirrored ? 6 - i : i;

		points[at].x = mirrored ? 64 / x : x;
		points[at].low = points[at].high = x <= 4 ? 100 : 100 - 20 * log2(x / 4);
		points[at].ours = y <= 4 ? 10 : 10 - 2 * log2(y / 4);
	}
	return compare_knees(points, 7);
}

static void test_knees(void)
{
	struct compare_point level[] = {{.x = 1, .low = 5, .ours = 5},
					{.x = 2, .low = 5, .ours = 5},
					{.x = 3, .low = 1, .ours = 5}};

	for (unsigned mirrored = 0; mirrored < 2; mirrored++) {
		CU_ASSERT_TRUE(same_knees(1, mirrored));
		CU_ASSERT_TRUE(same_knees(1.4, mirrored));
		CU_ASSERT_TRUE(same_knees(1 / 1.4, mirrored));
		CU_ASSERT_FALSE(same_knees(1.7, mirrored));
		CU_ASSERT_FALSE(same_knees(1 / 1.7, mirrored));
	}
	CU_ASSERT_FALSE(compare_knees(level, 3)); /* the simulated curve has no knee */
	level[2].low = 5;
	CU_ASSERT_TRUE(compare_knees(level, 3)); /* neither has one */
	level[2].low = 1;
	level[2].x = 0;
	CU_ASSERT_TRUE(compare_knees(level, 3)); /* no axis */
}

/* 40 flows have 1000 to 40,000 bytes. The k-th flow takes k times its ideal time. One more flow
 * belongs to an incast, one is a barrier, and one is early. */
static void test_groups(void)
{
	struct flow_record records[43];
	struct flow_group groups[FLOW_GROUPS];
	const struct flow_choice choice = {
		.high = UINT64_MAX, .from = 1 * US, .kinds = FLOW_OF_PATTERN};
	struct flow_summary summary;

	memset(records, 0, sizeof(records));
	for (uint32_t i = 0; i < 43; i++)
		records[i] = (struct flow_record){.flow = i,
						  .source = 1,
						  .bytes = 40000 - 1000 * (i % 40),
						  .ready = 1 * US,
						  .started = 3 * US,
						  .finished = 1 * US + (40 - i % 40) * 10 * US,
						  .ideal = 10 * US,
						  .status = FLOW_done};
	records[40].incast = 1;
	records[41].source = 0;
	records[42].ready = 0;
	CU_ASSERT_EQUAL(flow_table_group(records, 43, &choice, groups), FLOW_GROUPS);
	for (unsigned i = 0; i < FLOW_GROUPS; i++) {
		CU_ASSERT_EQUAL(groups[i].flows, 2);
		CU_ASSERT_EQUAL(groups[i].bytes_max, 2000.0 * (i + 1));
		CU_ASSERT_DOUBLE_EQUAL(groups[i].slowdown_p50, 2 * i + 1.5, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(groups[i].slowdown_p95, 2 * i + 1.95, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(groups[i].fct_p50, 10 * (2 * i + 1.5), 1e-9);
	}
	CU_ASSERT_EQUAL(flow_table_group(records, 7, &choice, groups), 7);
	summary = flow_table_summarise(
		records, 43, &(struct flow_choice){.high = UINT64_MAX, .kinds = FLOW_OF_INCAST});
	CU_ASSERT_EQUAL(summary.done, 1);
	CU_ASSERT_DOUBLE_EQUAL(summary.fct_p999_us, 400, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(summary.sent_p999_us, 398, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(summary.sent_mean_us, 398, 1e-9);
	summary = flow_table_summarise(records, 43, &(struct flow_choice){.high = UINT64_MAX});
	CU_ASSERT_EQUAL(summary.done, 42);
	summary = flow_table_summarise(records, 43, &choice);
	CU_ASSERT_EQUAL(summary.done, 40);
	CU_ASSERT_DOUBLE_EQUAL(summary.slowdown_mean, 20.5, 1e-9);
}
