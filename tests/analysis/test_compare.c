/*
 * Proves how published figures are judged: each tolerance admits its error and no more, on either side, also factors of two and
 * of ten; and groups of flows by size hold what they should.
 */
#include <string.h>

#include "analysis/compare.h"
#include "tests/support/suite.h"
#include "traffic/workload/flow_table.h"

#define TESTS(TEST)      \
	TEST(tolerances) \
	TEST(shape)      \
	TEST(groups)
SUITE(TESTS)

static bool within(double ours, const char *name)
{
	enum compare_tolerance tolerance;
	const struct compare_point point = {.low = 100, .high = 100, .ours = ours};

	CU_ASSERT_TRUE_FATAL(compare_tolerance_find(name, &tolerance));
	CU_ASSERT_STRING_EQUAL(compare_tolerance_name(tolerance), name);
	return compare_within(&point, tolerance);
}

static void test_tolerances(void)
{
	static const struct {
		const char *name;
		double low, high;
	} rows[] = {{"EXACT", 99.5, 100.5}, {"T1", 98, 102}, {"T2", 90, 110},
		    {"T3", 80, 120},        {"X2", 50, 200}, {"X10", 10, 1000}};
	enum compare_tolerance tolerance;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CU_ASSERT_TRUE(within(rows[i].low + 1e-6, rows[i].name));
		CU_ASSERT_FALSE(within(rows[i].low - 1e-3, rows[i].name));
		CU_ASSERT_TRUE(within(rows[i].high - 1e-6, rows[i].name));
		CU_ASSERT_FALSE(within(rows[i].high + 1e-3, rows[i].name));
	}
	CU_ASSERT_FALSE(compare_tolerance_find("X3", &tolerance));
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

/* 40 flows of 1000 to 40,000 bytes, the k-th takes k times its ideal time; one of an incast, one barrier, one early. */
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
	summary = flow_table_summarise(records, 43, &(struct flow_choice){.high = UINT64_MAX});
	CU_ASSERT_EQUAL(summary.done, 42);
	summary = flow_table_summarise(records, 43, &choice);
	CU_ASSERT_EQUAL(summary.done, 40);
	CU_ASSERT_DOUBLE_EQUAL(summary.slowdown_mean, 20.5, 1e-9);
}
