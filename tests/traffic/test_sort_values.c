/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that values are in the order of the standard sort: few values, many with duplicates, many
 * different ones, negative ones, and values that differ in a single digit.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"
#include "tests/support/suite.h"
#include "traffic/workload/sort_values.h"

#define TESTS(TEST)      \
	TEST(few)        \
	TEST(duplicates) \
	TEST(different)  \
	TEST(signs)      \
	TEST(one_digit)
SUITE(TESTS)

enum { FEW = 100, MANY = 50000 };

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

/* Sorts values of `low` + `step` * 0 .. `kinds` - 1. */
static void check(size_t count, double low, double step, uint32_t kinds)
{
	double *values = malloc(count * sizeof(double)), *sorted = malloc(count * sizeof(double));
	struct random random;

	CU_ASSERT_FATAL(values && sorted);
	random_init_named(&random, 1, "test", "values");
	for (size_t i = 0; i < count; i++)
		values[i] = low + step * (double)random_below(&random, kinds);
	memcpy(sorted, values, count * sizeof(double));
	qsort(sorted, count, sizeof(double), compare);
	sort_values(values, count);
	CU_ASSERT(memcmp(values, sorted, count * sizeof(double)) == 0);
	free(values);
	free(sorted);
}

static void test_few(void)
{
	check(FEW, 0, 1.5, 1000);
}

static void test_duplicates(void)
{
	check(MANY, 0, 0.001, 50);
}

static void test_different(void)
{
	check(MANY, 0, 0.001, 1000000000);
}

static void test_signs(void)
{
	check(MANY, -5e5, 1, 1000001);
}

static void test_one_digit(void)
{
	check(MANY, 1, 1.0 / (1 << 20), 1 << 20);
}
