/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a fit finds the whole numbers, one or three, that generated the data, on a rough
 * surface and from a bad start. It stays within bounds and steps, measures no point twice, and ends
 * at a point that cannot be measured. Standard errors equal the result of linear regression. They
 * are unknown if the data do not determine a number.
 */
#include <math.h>
#include <string.h>

#include "analysis/fit.h"
#include "sim/block.h"
#include "tests/support/suite.h"

#define TESTS(TEST)               \
	TEST(two_numbers)         \
	TEST(errors)              \
	TEST(one_number_in_steps) \
	TEST(bounds)              \
	TEST(not_measured)
SUITE(TESTS)

enum { POINTS_MAX = 1024 };

static struct {
	uint64_t values[FIT_NUMBERS_MAX];
} seen[POINTS_MAX];
static unsigned seen_count;
static size_t number_count;

static void note(const uint64_t *values)
{
	size_t bytes = number_count * sizeof(values[0]);

	for (unsigned i = 0; i < seen_count; i++)
		CU_ASSERT(memcmp(seen[i].values, values, bytes) != 0);
	CU_ASSERT_FATAL(seen_count < POINTS_MAX);
	memcpy(seen[seen_count++].values, values, bytes);
}

/* Returns a latency by size: base + per_kb * size, as a card measures it. */
static bool line(void *context, const uint64_t *values, double *residuals)
{
	const double *made_with = context;

	note(values);
	for (int size = 1; size <= 4; size++)
		*residuals++ = log(((double)values[0] + (double)values[1] * size) /
				   (made_with[0] + made_with[1] * size));
	return true;
}

/* Returns a rate that falls in steps when a cache is too small. */
static bool cache(void *context, const uint64_t *values, double *residuals)
{
	const double *made_with = context;

	note(values);
	for (int queues = 1; queues <= 8; queues++) {
		double ours = fmin(1, floor((double)values[0] / 8) * 8 / (100.0 * queues));
		double theirs = fmin(1, made_with[0] / (100.0 * queues));

		*residuals++ = ours - theirs;
	}
	return true;
}

static bool never(void *context, const uint64_t *values, double *residuals)
{
	(void)context;
	(void)residuals;
	note(values);
	return seen_count < 3;
}

/* y = 1000 + 10 x at x = 1 .. 6, and noise of 8 that neither number explains; the second kind has
 * no slope with the second number. */
static bool regression(void *context, const uint64_t *values, double *residuals)
{
	static const double noise[] = {8, -8, -8, 8, 8, -8};
	const bool *flat = context;

	note(values);
	for (int x = 1; x <= 6; x++)
		*residuals++ = (double)values[0] + (*flat ? 0 : (double)values[1] * x) -
			       (1000 + (*flat ? 0 : 10.0 * x) + noise[x - 1]);
	return true;
}

static void run(struct fit *fit, bool good)
{
	seen_count = 0;
	number_count = fit->number_count;
	CU_ASSERT_EQUAL(fit_run(fit), good);
}

static void test_errors(void)
{
	bool flat = false;
	struct fit_number numbers[] = {{1, 4000, 1, 900, 0}, {1, 100, 1, 50, 0}};
	struct fit fit = {.numbers = numbers,
			  .number_count = 2,
			  .residual_count = 6,
			  .measure = regression,
			  .context = &flat};
	double variance;

	run(&fit, true);
	variance = fit.error * fit.error * 6 / 4; /* residuals of 6 points, 2 numbers */
	/* slope: variance / sum (x - mean)^2
	 * intercept: variance * sum x^2 / (n sum (x - mean)^2) */
	CU_ASSERT_DOUBLE_EQUAL(numbers[1].error, sqrt(variance / 17.5), 1e-6);
	CU_ASSERT_DOUBLE_EQUAL(numbers[0].error, sqrt(variance * 91 / (6 * 17.5)), 1e-6);
	flat = true;
	run(&fit, true);
	CU_ASSERT_TRUE(isnan(numbers[0].error) && isnan(numbers[1].error));
}

static void test_two_numbers(void)
{
	double made_with[] = {586, 287};
	struct fit_number numbers[] = {{100, 2000, 1, 100, 0}, {50, 1000, 1, 999, 0}};
	struct fit fit = {numbers, 2, 4, line, made_with, 0, 0};

	run(&fit, true);
	CU_ASSERT_EQUAL(numbers[0].value, 586);
	CU_ASSERT_EQUAL(numbers[1].value, 287);
	CU_ASSERT_EQUAL(fit.error, 0);
	CU_ASSERT_EQUAL(fit.measured, seen_count);
}

static void test_one_number_in_steps(void)
{
	double made_with[] = {416};
	struct fit_number numbers[] = {{16, 4096, 4, 16, 0}};
	struct fit fit = {numbers, 1, 8, cache, made_with, 0, 0};

	run(&fit, true);
	CU_ASSERT(numbers[0].value >= 416 && numbers[0].value < 424); /* 8 of them are alike */
	CU_ASSERT_EQUAL(numbers[0].value % 4, 0);
	CU_ASSERT_EQUAL(fit.error, 0);
	CU_ASSERT(fit.measured < 100);
}

static void test_bounds(void)
{
	double made_with[] = {586, 287};
	struct fit_number numbers[] = {{100, 500, 10, 300, 0}, {287, 287, 1, 287, 0}};
	struct fit fit = {numbers, 2, 4, line, made_with, 0, 0};

	run(&fit, true);
	CU_ASSERT_EQUAL(numbers[0].value, 500);
	CU_ASSERT_EQUAL(numbers[1].value, 287);
	for (unsigned i = 0; i < seen_count; i++) {
		CU_ASSERT(seen[i].values[0] >= 100 && seen[i].values[0] <= 500);
		CU_ASSERT_EQUAL(seen[i].values[0] % 10, 0);
		CU_ASSERT_EQUAL(seen[i].values[1], 287);
	}
}

static void test_not_measured(void)
{
	struct fit_number numbers[] = {{1, 100, 1, 50, 0}};
	struct fit fit = {numbers, 1, 1, never, NULL, 0, 0};

	run(&fit, false);
	CU_ASSERT_EQUAL(seen_count, 3);
	CU_ASSERT_EQUAL(numbers[0].value, 50);
}
