/* SPDX-License-Identifier: Apache-2.0 */
/*
 * statistics: mean, confidence interval and quantiles of samples. Confidence intervals have 95 %
 * (Student's t, by GSL).
 *
 *     independent values (seeds)          statistics_interval()
 *     values of one run, in their order   statistics_warm_up(), statistics_batch_means()
 *     two variants with the same seeds    statistics_pair()
 *
 * statistics_print() prints no more digits than an interval leaves known.
 */
#ifndef ANALYSIS_STATISTICS_H
#define ANALYSIS_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

#define STATISTICS_CONFIDENCE 0.95

struct interval {
	double mean;  /* NAN without values */
	double half;  /* half of the width; NAN for fewer than two values */
	size_t count; /* independent values: seeds, batches or pairs */
};

struct interval statistics_interval(const double *values, size_t count);

/*
 * Returns the number of values at the start to leave out, because the run is not in its steady
 * state: MSER-5 (White, Simulation 69(6), 1997). It minimises the squared standard error of the
 * mean of the rest, by batches of five, and leaves out half of the values at most.
 */
size_t statistics_warm_up(const double *values, size_t count);

#define STATISTICS_BATCHES      20
#define STATISTICS_BATCHES_LESS 10

struct batch_means {
	struct interval interval; /* count is 0 if there are fewer values than batches */
	double correlation;       /* of one batch mean with the next */
	/* The batches are so short that neighbours are correlated. The interval is then too narrow,
	 * and the run too short. */
	bool correlated;
};

/* Returns the interval of the mean of correlated values, by the means of 20 batches. If these means
 * are correlated, uses 10 batches. */
struct batch_means statistics_batch_means(const double *values, size_t count);

struct pair {
	struct interval difference; /* second variant minus first */
	/* Mean difference in units of the differences' standard deviation, with Hedges' correction
	 * for few pairs (Cohen's d_z). NAN if all differences are equal. */
	double effect;
	double p; /* of the paired t test, two-sided; NAN for fewer than two pairs */
};

struct pair statistics_pair(const double *one, const double *other, size_t count);

#define STATISTICS_TEXT_BYTES   64
#define STATISTICS_NUMBER_BYTES (STATISTICS_TEXT_BYTES / 2 - 4)

/* Writes only the known digits. The half width has two digits if it begins with 1 or 2, otherwise
 * one. The mean ends at the same decimal place. Without an interval, writes three digits of the
 * mean, and no half width. Without a mean, writes two empty texts. */
void statistics_texts(const struct interval *interval, char mean[STATISTICS_NUMBER_BYTES],
		      char half[STATISTICS_NUMBER_BYTES]);

/* Writes the same digits as "12.3 +- 0.4". Without an interval, writes the mean, or "-". */
void statistics_print(const struct interval *interval, char text[STATISTICS_TEXT_BYTES]);

#endif
