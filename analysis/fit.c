/* SPDX-License-Identifier: Apache-2.0 */
/* fit: see fit.h. The simplex moves in [0, 1] for each number. Points outside are moved to the
 * bound, at additional cost. */
#include "analysis/fit.h"

#include <assert.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCAN_POINTS = 7, SIMPLEX_STEPS = 60, STRIDE_MAX = 4, SLAB_POINTS = 64 };

#define SIMPLEX_SIZE  0.15 /* of the first simplex, of the bounds' width */
#define SIMPLEX_LEAST 0.002

struct point {
	uint64_t values[FIT_NUMBERS_MAX];
	double cost;
	double *residuals;
};

struct search {
	struct fit *fit;
	struct point *points; /* all evaluated points */
	size_t count, room;
	struct point best;
	double *residuals;
	bool failed;
};

static const struct point *find(const struct search *search, const uint64_t *values)
{
	size_t bytes = search->fit->number_count * sizeof(values[0]);

	for (size_t i = 0; i < search->count; i++)
		if (memcmp(search->points[i].values, values, bytes) == 0)
			return &search->points[i];
	return NULL;
}

static void keep(struct search *search, const struct point *point)
{
	if (search->count == search->room) {
		search->room += SLAB_POINTS;
		search->points = realloc(search->points, search->room * sizeof(*point));
		assert(search->points);
	}
	search->points[search->count++] = *point;
	if (search->count == 1 || point->cost < search->best.cost)
		search->best = *point;
}

/* Returns the sum of the squares of the residuals. */
static double cost_of(struct search *search, const uint64_t *values)
{
	struct fit *fit = search->fit;
	const struct point *known = find(search, values);
	struct point point = {.cost = 0};

	if (known)
		return known->cost;
	memcpy(point.values, values, fit->number_count * sizeof(values[0]));
	if (search->failed || !fit->measure(fit->context, values, search->residuals)) {
		search->failed = true;
		return GSL_POSINF;
	}
	for (size_t i = 0; i < fit->residual_count; i++)
		point.cost += search->residuals[i] * search->residuals[i];
	point.residuals = malloc(fit->residual_count * sizeof(point.residuals[0]));
	assert(point.residuals);
	memcpy(point.residuals, search->residuals,
	       fit->residual_count * sizeof(point.residuals[0]));
	keep(search, &point);
	return point.cost;
}

/* ---- from [0, 1] to numbers and back ---- */

static uint64_t number_at(const struct fit_number *number, double place)
{
	double within = fmin(fmax(place, 0), 1);
	double value =
		(double)number->low * pow((double)number->high / (double)number->low, within);
	uint64_t steps = (uint64_t)llround(value / (double)number->step);

	return steps * number->step;
}

static double place_of(const struct fit_number *number, uint64_t value)
{
	if (number->low == number->high)
		return 0;
	return log((double)value / (double)number->low) /
	       log((double)number->high / (double)number->low);
}

static double simplex_cost(const gsl_vector *places, void *context)
{
	struct search *search = context;
	uint64_t values[FIT_NUMBERS_MAX];
	double outside = 0;

	for (size_t i = 0; i < search->fit->number_count; i++) {
		double place = gsl_vector_get(places, i);

		outside += fmax(-place, 0) + fmax(place - 1, 0);
		values[i] = number_at(&search->fit->numbers[i], place);
	}
	return cost_of(search, values) * (1 + outside) + outside;
}

/* ---- the search ---- */

/* Returns start points: the current values, and points over the bounds of each number in turn. */
static void scan(struct search *search)
{
	struct fit *fit = search->fit;
	uint64_t values[FIT_NUMBERS_MAX];

	for (size_t i = 0; i < fit->number_count; i++) {
		const struct fit_number *number = &fit->numbers[i];
		bool inside = number->value >= number->low && number->value <= number->high;

		values[i] = inside ? number->value / number->step * number->step
				   : number_at(number, 0.5);
	}
	cost_of(search, values);
	for (size_t i = 0; i < fit->number_count && !search->failed; i++) {
		for (int j = 0; j < SCAN_POINTS && !search->failed; j++) {
			values[i] = number_at(&fit->numbers[i], (double)j / (SCAN_POINTS - 1));
			cost_of(search, values);
		}
		values[i] = search->best.values[i];
	}
}

static void simplex(struct search *search)
{
	size_t count = search->fit->number_count;
	gsl_multimin_function function = {simplex_cost, count, search};
	gsl_multimin_fminimizer *minimizer =
		gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, count);
	gsl_vector *start = gsl_vector_alloc(count), *sizes = gsl_vector_alloc(count);

	for (size_t i = 0; i < count; i++) {
		double place = place_of(&search->fit->numbers[i], search->best.values[i]);

		gsl_vector_set(start, i, place);
		gsl_vector_set(sizes, i, place > 0.5 ? -SIMPLEX_SIZE : SIMPLEX_SIZE);
	}
	gsl_multimin_fminimizer_set(minimizer, &function, start, sizes);
	for (int i = 0; i < SIMPLEX_STEPS && !search->failed; i++)
		if (gsl_multimin_fminimizer_iterate(minimizer) ||
		    gsl_multimin_fminimizer_size(minimizer) < SIMPLEX_LEAST)
			break;
	gsl_multimin_fminimizer_free(minimizer);
	gsl_vector_free(start);
	gsl_vector_free(sizes);
}

/* Returns the neighbour of the best point that differs by -1, 0 or 1 strides in each number. The
 * digits of `which` to base 3 select the differences. Returns false if the neighbour is out of
 * bounds. */
static bool neighbour(const struct search *search, unsigned which, uint64_t stride,
		      uint64_t values[FIT_NUMBERS_MAX])
{
	for (size_t i = 0; i < search->fit->number_count; i++, which /= 3) {
		const struct fit_number *number = &search->fit->numbers[i];
		uint64_t far = stride * number->step, value = search->best.values[i];

		if (which % 3 == 1 && value + far > number->high)
			return false;
		if (which % 3 == 2 && value < number->low + far)
			return false;
		values[i] = which % 3 == 1 ? value + far : which % 3 == 2 ? value - far : value;
	}
	return true;
}

/* Tries all neighbours until none is better. It tries distant neighbours first, then nearer
 * neighbours. */
static void neighbours(struct search *search)
{
	unsigned count = 1;

	for (size_t i = 0; i < search->fit->number_count; i++)
		count *= 3;
	for (uint64_t stride = STRIDE_MAX; stride > 0 && !search->failed; stride /= 2) {
		double before;

		do {
			before = search->best.cost;
			for (unsigned which = 1; which < count; which++) {
				uint64_t values[FIT_NUMBERS_MAX];

				if (neighbour(search, which, stride, values))
					cost_of(search, values);
			}
		} while (search->best.cost < before && !search->failed);
	}
}

/* ---- standard errors ---- */

/* Writes the slopes of the residuals with one number, from its neighbours within the bounds. */
static bool slopes_of(const struct search *search, size_t index, gsl_matrix *slopes)
{
	const struct fit_number *number = &search->fit->numbers[index];
	uint64_t low[FIT_NUMBERS_MAX], high[FIT_NUMBERS_MAX];
	const struct point *below, *above;

	memcpy(low, search->best.values, sizeof(low));
	memcpy(high, search->best.values, sizeof(high));
	low[index] -= low[index] >= number->low + number->step ? number->step : 0;
	high[index] += high[index] + number->step <= number->high ? number->step : 0;
	below = find(search, low); /* neighbours() has measured them all */
	above = find(search, high);
	if (low[index] == high[index] || !below || !above)
		return false;
	for (size_t i = 0; i < search->fit->residual_count; i++)
		gsl_matrix_set(slopes, i, index,
			       (above->residuals[i] - below->residuals[i]) /
				       (double)(high[index] - low[index]));
	return true;
}

/* Calculates the covariance of a least-squares fit. It is the variance of the residuals times the
 * inverse of the slopes' normal matrix (Seber, Wild, Nonlinear Regression, 1989, 2.1). */
static void standard_errors(const struct search *search)
{
	struct fit *fit = search->fit;
	size_t count = fit->number_count, rows = fit->residual_count;
	gsl_matrix *slopes, *normal;
	bool good = rows > count;

	for (size_t i = 0; i < count; i++)
		fit->numbers[i].error = GSL_NAN;
	if (!good)
		return;
	slopes = gsl_matrix_calloc(rows, count);
	normal = gsl_matrix_calloc(count, count);
	for (size_t i = 0; i < count && good; i++)
		good = slopes_of(search, i, slopes);
	gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, slopes, slopes, 0, normal);
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	good = good && gsl_linalg_cholesky_decomp1(normal) == GSL_SUCCESS &&
	       gsl_linalg_cholesky_invert(normal) == GSL_SUCCESS;
	gsl_set_error_handler(handler);
	for (size_t i = 0; i < count && good; i++) {
		double variance = search->best.cost / (double)(rows - count);

		fit->numbers[i].error = sqrt(variance * gsl_matrix_get(normal, i, i));
	}
	gsl_matrix_free(slopes);
	gsl_matrix_free(normal);
}

bool fit_run(struct fit *fit)
{
	struct search search = {.fit = fit};

	assert(fit->number_count >= 1 && fit->number_count <= FIT_NUMBERS_MAX);
	assert(fit->residual_count >= 1);
	for (size_t i = 0; i < fit->number_count; i++)
		assert(fit->numbers[i].low >= 1 && fit->numbers[i].low <= fit->numbers[i].high &&
		       fit->numbers[i].step >= 1);
	search.residuals = calloc(fit->residual_count, sizeof(search.residuals[0]));
	assert(search.residuals);
	scan(&search);
	if (!search.failed)
		simplex(&search);
	if (!search.failed)
		neighbours(&search);
	for (size_t i = 0; i < fit->number_count && !search.failed; i++)
		fit->numbers[i].value = search.best.values[i];
	if (!search.failed)
		standard_errors(&search);
	fit->measured = (unsigned)search.count;
	fit->error =
		search.failed ? GSL_POSINF : sqrt(search.best.cost / (double)fit->residual_count);
	for (size_t i = 0; i < search.count; i++)
		free(search.points[i].residuals);
	free(search.points);
	free(search.residuals);
	return !search.failed;
}
