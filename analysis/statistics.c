/* SPDX-License-Identifier: Apache-2.0 */
/* statistics: see statistics.h. */
#include "analysis/statistics.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MSER_BATCH     5
#define DIGITS_WITHOUT 3 /* of a mean without an interval */
#define DIGITS_MAX     12

static double half_width(double deviation, size_t count)
{
	return gsl_cdf_tdist_Pinv(0.5 + STATISTICS_CONFIDENCE / 2, (double)(count - 1)) *
	       deviation / sqrt((double)count);
}

struct interval statistics_interval(const double *values, size_t count)
{
	struct interval interval = {NAN, NAN, count};

	if (count > 0)
		interval.mean = gsl_stats_mean(values, 1, count);
	if (count > 1)
		interval.half = half_width(gsl_stats_sd(values, 1, count), count);
	return interval;
}

size_t statistics_warm_up(const double *values, size_t count)
{
	size_t batches = count / MSER_BATCH, best = 0;
	double sum = 0, squares = 0, least = INFINITY;

	/* from the end, so that sums of the rest grow by one batch */
	for (size_t i = batches; i-- > 0;) {
		double mean = gsl_stats_mean(values + i * MSER_BATCH, 1, MSER_BATCH);
		double rest = (double)(batches - i), error;

		sum += mean;
		squares += mean * mean;
		if (i > batches / 2 || rest < 2)
			continue;
		error = (squares - sum * sum / rest) / (rest * rest);
		if (error <= least) {
			least = error;
			best = i;
		}
	}
	return best * MSER_BATCH;
}

static struct batch_means batches_of(const double *values, size_t count, size_t batches)
{
	struct batch_means result = {.interval = {NAN, NAN, 0}, .correlation = NAN};
	double *means = calloc(batches, sizeof(*means));
	size_t each = count / batches;

	assert(means);
	if (each > 0) {
		const double *first = values + count % batches; /* the rest is left out */

		for (size_t i = 0; i < batches; i++)
			means[i] = gsl_stats_mean(first + i * each, 1, each);
		result.interval = statistics_interval(means, batches);
		result.correlation = gsl_stats_lag1_autocorrelation(means, 1, batches);
		/* one-sided, 95 %, of independent normal values */
		result.correlated =
			result.correlation > -1 / (double)batches + 1.645 / sqrt((double)batches);
	}
	free(means);
	return result;
}

struct batch_means statistics_batch_means(const double *values, size_t count)
{
	struct batch_means result = batches_of(values, count, STATISTICS_BATCHES);

	return result.correlated ? batches_of(values, count, STATISTICS_BATCHES_LESS) : result;
}

struct pair statistics_pair(const double *one, const double *other, size_t count)
{
	double *differences = calloc(count + 1, sizeof(*differences));
	struct pair pair = {.effect = NAN, .p = NAN};
	double deviation, freedom = (double)count - 1;

	assert(differences);
	for (size_t i = 0; i < count; i++)
		differences[i] = other[i] - one[i];
	pair.difference = statistics_interval(differences, count);
	deviation = count > 1 ? gsl_stats_sd(differences, 1, count) : 0;
	free(differences);
	if (count < 2 || !(deviation > 0))
		return pair;
	pair.effect = pair.difference.mean / deviation;
	if (count > 2) /* Hedges, J. Educational Statistics 6(2), 1981: the approximation */
		pair.effect *= 1 - 3 / (4 * freedom - 1);
	pair.p = 2 * gsl_cdf_tdist_Q(fabs(pair.difference.mean) / deviation * sqrt((double)count),
				     freedom);
	return pair;
}

/* Returns the number of decimals behind the point that a half width leaves known. */
static int decimals_of(double half)
{
	int first = -(int)floor(log10(half)); /* of the first digit */
	double lead = half * pow(10, first);

	return lead < 3 ? first + 1 : first;
}

static void print_to(double value, int decimals, char *text, size_t bytes)
{
	double unit = pow(10, -decimals);

	if (decimals >= 0)
		snprintf(text, bytes, "%.*f", decimals < DIGITS_MAX ? decimals : DIGITS_MAX, value);
	else
		snprintf(text, bytes, "%.0f", round(value / unit) * unit);
}

void statistics_texts(const struct interval *interval, char mean[STATISTICS_NUMBER_BYTES],
		      char half[STATISTICS_NUMBER_BYTES])
{
	*mean = *half = '\0';
	if (!isfinite(interval->mean))
		return;
	if (isfinite(interval->half) && interval->half > 0) {
		int decimals = decimals_of(interval->half);

		print_to(interval->mean, decimals, mean, STATISTICS_NUMBER_BYTES);
		print_to(interval->half, decimals, half, STATISTICS_NUMBER_BYTES);
	} else {
		snprintf(mean, STATISTICS_NUMBER_BYTES, "%.*g", DIGITS_WITHOUT, interval->mean);
	}
}

void statistics_print(const struct interval *interval, char text[STATISTICS_TEXT_BYTES])
{
	char mean[STATISTICS_NUMBER_BYTES], half[STATISTICS_NUMBER_BYTES];

	statistics_texts(interval, mean, half);
	snprintf(text, STATISTICS_TEXT_BYTES, "%s%s%s", *mean != '\0' ? mean : "-",
		 *half != '\0' ? " +- " : "", half);
}
