/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit: finds the whole numbers between bounds for which measurements agree best with given values:
 * the sum of squared residuals is smallest. The fit first scans the bounds. From the best point it
 * runs GSL's simplex of Nelder and Mead on a logarithmic scale, and then tries the neighbours. It
 * uses no derivatives and measures no point twice, because a measurement may be rough and
 * expensive.
 */
#ifndef ANALYSIS_FIT_H
#define ANALYSIS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIT_NUMBERS_MAX = 4 };

struct fit_number {
	uint64_t low, high; /* bounds, 1 <= low <= high */
	uint64_t step;      /* values, low and high are multiples of it */
	uint64_t value;     /* in: start value, if it is within the bounds; out: best value */
	/* out: standard error of the value, by the slopes of the residuals around it. NAN if the
	 * residuals do not determine the numbers, or if there are too few residuals. */
	double error;
};

/* Calculates the residuals of these values. Returns false to end the fit, if a measurement
 * fails. */
typedef bool fit_measure(void *context, const uint64_t *values, double *residuals);

struct fit {
	struct fit_number *numbers;
	size_t number_count, residual_count;
	fit_measure *measure;
	void *context;
	/* out: */
	unsigned measured; /* points, all different */
	double error;      /* root mean square of the residuals at the best point */
};

/* Runs the fit. Returns false if a point could not be measured. */
bool fit_run(struct fit *fit);

#endif
