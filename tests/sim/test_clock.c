/*
 * Proves that computed clock edges do not drift: exact picoseconds after 10^12 edges, for periods that are no whole
 * number of picoseconds, and that edge numbers invert them.
 */
#include <CUnit/Basic.h>

#include "sim/clock.h"

static void test_whole_period(void)
{
	struct clock clock;

	clock_init_hertz(&clock, 250000000);
	CU_ASSERT_EQUAL(clock.numerator, 4000);
	CU_ASSERT_EQUAL(clock.denominator, 1);
	CU_ASSERT_EQUAL(clock_edge(&clock, 0), 0);
	CU_ASSERT_EQUAL(clock_edge(&clock, 3), 12 * NS);
	CU_ASSERT_EQUAL(clock_align(&clock, 0), 0);
	CU_ASSERT_EQUAL(clock_align(&clock, 1), 4 * NS);
	CU_ASSERT_EQUAL(clock_align(&clock, 4 * NS), 4 * NS);
	CU_ASSERT_EQUAL(clock_after(&clock, 4 * NS + 1, 2), 16 * NS);
}

static void test_no_drift(void)
{
	struct clock clock;

	clock_init_hertz(&clock, 644531250); /* 1551.5151... ps */
	CU_ASSERT_EQUAL(clock.numerator, 51200);
	CU_ASSERT_EQUAL(clock.denominator, 33);
	CU_ASSERT_EQUAL(clock_edge(&clock, 1), 1551);
	CU_ASSERT_EQUAL(clock_edge(&clock, 33), 51200);
	CU_ASSERT_EQUAL(clock_edge(&clock, UINT64_C(1000000000000)), UINT64_C(1551515151515151));
	CU_ASSERT_EQUAL(clock_edge(&clock, UINT64_C(1000000000023)), UINT64_C(1551515151550836));
	clock_init_hertz(&clock, 333333333);
	CU_ASSERT_EQUAL(clock_edge(&clock, UINT64_C(333333333) * 1000), 1000 * SEC);
}

static void test_byte_time(void)
{
	struct clock fdr;

	clock_init_period(&fdr, 8 * SEC, UINT64_C(54545454545)); /* 56 Gb/s FDR after 64b/66b */
	CU_ASSERT_EQUAL(clock_edge(&fdr, 1), 146);
	CU_ASSERT_EQUAL(clock_edge(&fdr, 4096), 600746);
	CU_ASSERT_EQUAL(clock_edge(&fdr, UINT64_C(54545454545) / 5), 8 * SEC / 5);
}

static void test_numbers_invert_edges(void)
{
	static const uint64_t frequencies[] = {1,         33333333,   644531250,
					       999999937, 1000000000, UINT64_C(3000000001)};

	for (size_t i = 0; i < ARRAY_SIZE(frequencies); i++) {
		struct clock clock;

		clock_init_hertz(&clock, frequencies[i]);
		for (uint64_t n = 1; n < frequencies[i] * 1000; n = n * 3 + 1) {
			sim_time edge = clock_edge(&clock, n);

			CU_ASSERT_EQUAL(clock_edge_number(&clock, edge), n);
			CU_ASSERT_EQUAL(clock_edge_number(&clock, edge + 1), n + 1);
			CU_ASSERT_EQUAL(clock_align(&clock, edge), edge);
		}
	}
}

int main(void)
{
	CU_TestInfo tests[] = {{"whole period", test_whole_period},
			       {"no drift", test_no_drift},
			       {"byte time", test_byte_time},
			       {"numbers invert edges", test_numbers_invert_edges},
			       CU_TEST_INFO_NULL};
	CU_SuiteInfo suites[] = {{"clock", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};

	CU_initialize_registry();
	CU_register_suites(suites);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	return CU_get_number_of_failures() != 0;
}
