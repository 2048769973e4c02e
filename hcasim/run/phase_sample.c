/* SPDX-License-Identifier: Apache-2.0 */
/* phase_sample: see phase_sample.h. */
#include "hcasim/run/phase_sample.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics.h>
#include <math.h>

#define CONFIDENCE 0.99
/* Largest correlation of neighbours for which the variance of the mean is estimated. */
#define CORRELATION_MAX 0.9

void phase_sample_add(struct phase_sample *sample, double value)
{
	assert(sample->count < PHASE_SAMPLE_MAX);
	sample->values[sample->count++] = value;
}

/* Returns the factor by which the variance of a mean of correlated values exceeds that of
 * independent ones, for a first-order autoregressive process. */
static double inflation(double correlation)
{
	if (correlation <= 0)
		return 1;
	if (correlation > CORRELATION_MAX)
		return INFINITY;
	return (1 + correlation) / (1 - correlation);
}

double phase_sample_error(const struct phase_sample *sample, uint32_t skipped)
{
	uint32_t count = sample->count, half = count / 2;
	const double *values = sample->values;
	if (count < PHASE_SAMPLE_MIN || skipped == 0)
		return INFINITY;
	double mean = gsl_stats_mean(values, 1, count);
	double deviation = gsl_stats_sd(values, 1, count);
	if (deviation == 0)
		return 0;
	double drift = fabs(gsl_stats_mean(values, 1, half) -
			    gsl_stats_mean(values + count - half, 1, half));
	double share = 1.0 / count + 1.0 / skipped;
	double variance = inflation(gsl_stats_lag1_autocorrelation(values, 1, count)) * share;
	double quantile = gsl_cdf_tdist_Pinv((1 + CONFIDENCE) / 2, count - 1);
	return (quantile * deviation * sqrt(variance) + drift) / mean;
}
