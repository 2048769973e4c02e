/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the estimated error of a sample of phases: none for equal phases, no estimate for few
 * phases, Student's interval for independent ones, more for neighbours that are alike, and the
 * drift of phases that become longer.
 */
#include <math.h>

#include "hcasim/run/phase_sample.h"
#include "tests/support/suite.h"

#define TESTS(TEST)       \
	TEST(few_phases)  \
	TEST(equal)       \
	TEST(independent) \
	TEST(alike)       \
	TEST(drift)
SUITE(TESTS)

#define MANY 1000000000u

static double error_of(const double *values, uint32_t count, uint32_t skipped)
{
	struct phase_sample sample = {0};

	for (uint32_t i = 0; i < count; i++)
		phase_sample_add(&sample, values[i]);
	return phase_sample_error(&sample, skipped);
}

static void test_few_phases(void)
{
	const double values[PHASE_SAMPLE_MIN] = {1, 1, 1, 1, 1, 1, 1, 1};

	CU_ASSERT(isinf(error_of(values, PHASE_SAMPLE_MIN - 1, MANY)));
	CU_ASSERT(isinf(error_of(values, PHASE_SAMPLE_MIN, 0)));
}

static void test_equal(void)
{
	const double values[] = {5, 5, 5, 5, 5, 5, 5, 5};

	CU_ASSERT_EQUAL(error_of(values, 8, MANY), 0);
}

/* Mean 100, deviation sqrt(8 / 7), neighbours of negative correlation, no drift. The quantile of
 * Student's distribution with 7 degrees of freedom is 3.499. */
static void test_independent(void)
{
	const double values[] = {101, 99, 101, 99, 101, 99, 101, 99};
	double deviation = sqrt(8.0 / 7);

	CU_ASSERT_DOUBLE_EQUAL(error_of(values, 8, MANY), 3.499 * deviation * sqrt(1.0 / 8) / 100,
			       1e-5);
	CU_ASSERT_DOUBLE_EQUAL(error_of(values, 8, 8), 3.499 * deviation * sqrt(2.0 / 8) / 100,
			       1e-5);
}

static void test_alike(void)
{
	const double alternating[] = {101, 99, 101, 99, 99, 101, 99, 101};
	const double pairs[] = {101, 101, 99, 99, 99, 99, 101, 101};

	CU_ASSERT(error_of(pairs, 8, MANY) > 1.2 * error_of(alternating, 8, MANY));
}

static void test_drift(void)
{
	const double values[] = {100, 101, 102, 103, 104, 105, 106, 107};

	CU_ASSERT(error_of(values, 8, MANY) > 4 / 103.5);
}
