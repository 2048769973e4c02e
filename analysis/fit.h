/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit: finds whole numbers between bounds with which something measured comes nearest to what it should be: the least sum of
 * squares of its residuals. A scan of the bounds first, then GSL's simplex of Nelder and Mead from the best of it, on a
 * logarithmic scale, then the neighbours. What is measured may be rough and expensive: no slopes, and no point twice.
 */
#ifndef ANALYSIS_FIT_H
#define ANALYSIS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FIT_NUMBERS_MAX = 4 };

struct fit_number {
	uint64_t low, high; /* bounds, 1 <= low <= high */
	uint64_t step;      /* only multiples of it; low and high are such */
	uint64_t value;     /* in: where to begin, if that is within the bounds; out: the best */
};

/* Residuals for these values. false: they cannot be measured, and the fit ends. */
typedef bool fit_measure(void *context, const uint64_t *values, double *residuals);

struct fit {
	struct fit_number *numbers;
	size_t number_count, residual_count;
	fit_measure *measure;
	void *context;
	/* out: */
	unsigned measured; /* points, all different */
	double error;      /* root of the mean square of the residuals, at the best */
};

/* false: a point could not be measured. */
bool fit_run(struct fit *fit);

#endif
