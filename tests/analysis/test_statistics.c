/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests statistics and histograms. Intervals of 95 % contain the known mean in 93 to 97 % of the
 * samples: of normal, uniform, exponential and lognormal values, by batch means of values that
 * depend on each other, and of paired differences. The warm-up of a run that starts far from its
 * mean is left out. Printed digits are those that are known. A quantile is exact to its digits, and
 * a merged histogram is that of all values.
 */
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/histogram.h"
#include "analysis/statistics.h"
#include "sim/random.h"
#include "tests/support/suite.h"

#define TESTS(TEST)     \
	TEST(coverage)  \
	TEST(batches)   \
	TEST(warm_up)   \
	TEST(pairs)     \
	TEST(small)     \
	TEST(digits)    \
	TEST(quantiles) \
	TEST(merge)
SUITE(TESTS)

#define SAMPLES 10000
#define VALUES  4000

static double values[VALUES], others[VALUES];

static void begin(struct random *random, const char *purpose)
{
	random_init_named(random, 1, "statistics", purpose);
}

static void check_coverage(const char *what, unsigned inside, unsigned samples)
{
	double share = (double)inside / samples;

	CU_ASSERT(share >= 0.93 && share <= 0.97);
	printf("  %-28s %.2f %% of %u intervals\n", what, 100 * share, samples);
}

static bool contains(const struct interval *interval, double mean)
{
	return fabs(interval->mean - mean) <= interval->half;
}

static double draw(struct random *random, unsigned kind)
{
	switch (kind) {
	case 0:
		return 5 + gsl_ran_gaussian(&random->gsl, 2);
	case 1:
		return gsl_ran_flat(&random->gsl, 0, 10);
	case 2:
		return gsl_ran_exponential(&random->gsl, 5);
	default:
		return 5 * gsl_ran_lognormal(&random->gsl, -0.125, 0.5);
	}
}

static void test_coverage(void)
{
	static const char *const names[] = {"normal, n = 5", "uniform, n = 10",
					    "exponential, n = 100", "lognormal, n = 100"};
	static const size_t counts[] = {5, 10, 100, 100};
	struct random random;

	for (unsigned kind = 0; kind < 4; kind++) {
		unsigned inside = 0;

		begin(&random, names[kind]);
		for (unsigned i = 0; i < SAMPLES; i++) {
			struct interval interval;

			for (size_t j = 0; j < counts[kind]; j++)
				values[j] = draw(&random, kind);
			interval = statistics_interval(values, counts[kind]);
			inside += contains(&interval, 5);
		}
		check_coverage(names[kind], inside, SAMPLES);
	}
}

/* Draws values of a first-order autoregressive process with that mean. */
static void correlated(struct random *random, double factor, double mean, double start)
{
	double last = start - mean;

	for (size_t i = 0; i < VALUES; i++) {
		last = factor * last + gsl_ran_gaussian(&random->gsl, 1);
		values[i] = mean + last;
	}
}

static void test_batches(void)
{
	static const double factors[] = {0, 0.5, 0.9};
	struct random random;

	for (unsigned kind = 0; kind < 3; kind++) {
		unsigned inside = 0, naive = 0, samples = 2000;
		char name[64];

		snprintf(name, sizeof(name), "batch means, correlation %.1f", factors[kind]);
		begin(&random, name);
		for (unsigned i = 0; i < samples; i++) {
			struct batch_means means;
			struct interval interval;

			correlated(&random, factors[kind], 7, 7);
			means = statistics_batch_means(values, VALUES);
			inside += contains(&means.interval, 7);
			interval = statistics_interval(values, VALUES);
			naive += contains(&interval, 7);
		}
		check_coverage(name, inside, samples);
		if (kind == 2) /* as if the values were independent */
			CU_ASSERT(naive < samples / 2);
	}
}

static void test_warm_up(void)
{
	struct random random;
	struct batch_means means;
	size_t cut;

	begin(&random, "warm-up");
	correlated(&random, 0.98, 0, 400); /* e-fold in 50 values; noise 5 */
	cut = statistics_warm_up(values, VALUES);
	CU_ASSERT(cut >= 100 && cut <= 600);
	means = statistics_batch_means(values + cut, VALUES - cut);
	CU_ASSERT(fabs(means.interval.mean) < 3);
	correlated(&random, 0.98, 0, 0);
	CU_ASSERT(statistics_warm_up(values, VALUES) < VALUES / 2 + 1);
	for (size_t i = 0; i < 100; i++)
		values[i] = 1;
	CU_ASSERT_EQUAL(statistics_warm_up(values, 100), 0);
	for (size_t i = 0; i < VALUES; i++) /* one long ramp: no steady state */
		values[i] = (double)i;
	CU_ASSERT_TRUE(statistics_batch_means(values, VALUES).correlated);
}

static void test_pairs(void)
{
	struct random random;
	unsigned inside = 0, found = 0;
	double effects = 0;

	begin(&random, "pairs");
	for (unsigned i = 0; i < SAMPLES; i++) {
		struct pair pair;

		for (size_t j = 0; j < 8; j++) { /* the effect of the seed is common to both */
			double common = gsl_ran_gaussian(&random.gsl, 100);

			values[j] = common;
			others[j] = common + 3 + gsl_ran_gaussian(&random.gsl, 2);
		}
		pair = statistics_pair(values, others, 8);
		inside += contains(&pair.difference, 3);
		found += pair.p < 0.05;
		effects += pair.effect;
	}
	check_coverage("paired differences, n = 8", inside, SAMPLES);
	CU_ASSERT(found > SAMPLES * 9 / 10);
	CU_ASSERT_DOUBLE_EQUAL(effects / SAMPLES, 1.5, 0.05);
	inside = 0;
	for (unsigned i = 0; i < SAMPLES; i++) { /* no difference: p < 0.05 in 5 % */
		for (size_t j = 0; j < 8; j++) {
			values[j] = gsl_ran_gaussian(&random.gsl, 1);
			others[j] = gsl_ran_gaussian(&random.gsl, 1);
		}
		inside += statistics_pair(values, others, 8).p >= 0.05;
	}
	check_coverage("p of no difference", inside, SAMPLES);
}

static void test_small(void)
{
	const double one[] = {4, 6}, same[] = {5, 7};
	struct interval interval = statistics_interval(one, 0);

	CU_ASSERT_TRUE(isnan(interval.mean) && isnan(interval.half));
	interval = statistics_interval(one, 1);
	CU_ASSERT_EQUAL(interval.mean, 4);
	CU_ASSERT_TRUE(isnan(interval.half));
	interval = statistics_interval(one, 2); /* t of one degree of freedom: 12.706 */
	CU_ASSERT_DOUBLE_EQUAL(interval.half, 12.7062, 0.0001);
	CU_ASSERT_TRUE(isnan(statistics_pair(one, same, 2).p));
	CU_ASSERT_EQUAL(statistics_pair(one, same, 2).difference.mean, 1);
	CU_ASSERT_EQUAL(statistics_batch_means(one, 2).interval.count, 0);
	CU_ASSERT_EQUAL(statistics_warm_up(one, 2), 0);
}

static void prints(double mean, double half, const char *expected)
{
	const struct interval interval = {mean, half, 5};
	char text[STATISTICS_TEXT_BYTES];

	statistics_print(&interval, text);
	CU_ASSERT_STRING_EQUAL(text, expected);
	if (strcmp(text, expected) != 0)
		printf("%s, expected %s\n", text, expected);
}

static void test_digits(void)
{
	prints(12.3456, 0.4321, "12.3 +- 0.4");
	prints(12.3456, 0.1321, "12.35 +- 0.13");
	prints(123456, 789, "123500 +- 800");
	prints(123456, 1789, "123500 +- 1800");
	prints(0.00123456, 0.00004321, "0.00123 +- 0.00004");
	prints(4, 100, "0 +- 100");
	prints(-2.5, 0.25, "-2.50 +- 0.25");
	prints(12.3456, NAN, "12.3");
	prints(12.3456, 0, "12.3");
	prints(NAN, NAN, "-");
}

static int ascending(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static void test_quantiles(void)
{
	static const double shares[] = {0, 0.01, 0.5, 0.9, 0.99, 0.999, 1};
	struct random random;

	begin(&random, "quantiles");
	for (unsigned digits = 1; digits <= HISTOGRAM_DIGITS_MAX; digits++) {
		struct histogram *histogram = histogram_create(digits, 1e-6);
		double error = pow(10, -(double)digits);

		for (size_t i = 0; i < VALUES; i++) {
			values[i] = gsl_ran_lognormal(&random.gsl, 3, 3);
			histogram_add(histogram, values[i]);
		}
		qsort(values, VALUES, sizeof(values[0]), ascending);
		for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
			size_t rank = (size_t)fmax(1, ceil(shares[i] * VALUES));
			double found = histogram_quantile(histogram, shares[i]);

			CU_ASSERT_DOUBLE_EQUAL(found / values[rank - 1], 1, error);
		}
		CU_ASSERT_EQUAL(histogram_least(histogram), values[0]);
		CU_ASSERT_EQUAL(histogram_most(histogram), values[VALUES - 1]);
		histogram_destroy(histogram);
	}
}

static void test_merge(void)
{
	struct histogram *all = histogram_create(3, 1e-6), *parts[2];
	struct random random;

	begin(&random, "merge");
	CU_ASSERT_TRUE(isnan(histogram_quantile(all, 0.5)) && isnan(histogram_mean(all)));
	for (unsigned part = 0; part < 2; part++) {
		parts[part] = histogram_create(3, 1e-6);
		for (size_t i = 0; i < VALUES; i++) {
			double value = gsl_ran_exponential(&random.gsl, part ? 1000 : 1);

			histogram_add(parts[part], value);
			histogram_add(all, value);
		}
	}
	histogram_merge(parts[0], parts[1]);
	CU_ASSERT_EQUAL(histogram_count(parts[0]), 2 * VALUES);
	for (double share = 0; share <= 1; share += 1.0 / 64)
		CU_ASSERT_EQUAL(histogram_quantile(parts[0], share),
				histogram_quantile(all, share));
	CU_ASSERT_DOUBLE_EQUAL(histogram_mean(parts[0]), histogram_mean(all), 1e-9);
	histogram_destroy(parts[0]);
	histogram_destroy(parts[1]);
	histogram_destroy(all);
}
