/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compare: a simulated figure beside a published one: the error, and whether it is within the
 * tolerance of its row.
 */
#ifndef ANALYSIS_COMPARE_H
#define ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/*        name    relative error, below and above */
#define COMPARE_TOLERANCES(X) \
	X(EXACT,  0.005, 0.005) \
	X(T1,     0.02,  0.02)  \
	X(T2,     0.10,  0.10)  \
	X(T3,     0.20,  0.20)  \
	X(X2,     0.5,   1)     /* a factor of two */ \
	X(X10,    0.9,   9)     /* the order of magnitude */ \
	X(SHAPE,  0,     0)     /* ranks and knees only: compare_order(), compare_knees() */
/* clang-format on */

/* Tolerance of a figure: a name of the list, "5%", or "+-0.1" in the unit of the figure. */
struct compare_tolerance {
	const char *name;
	double below, above; /* relative */
	double amount;       /* absolute */
	bool shape;
};

struct compare_point {
	double x;         /* of a curve's plot */
	double low, high; /* published range, in any unit; equal for a single value */
	/* reading error of a plot, in the same unit; it does not widen the tolerance */
	double reading;
	double ours; /* in that unit */
};

/* Reads a tolerance. `text` outlives it. Returns false if the text is not a tolerance. */
bool compare_tolerance_find(const char *text, struct compare_tolerance *tolerance);

/* Returns the relative error of a simulated value against the nearer end of the published range. It
 * is 0 within the range. */
double compare_error(const struct compare_point *point);
bool compare_within(const struct compare_point *point, const struct compare_tolerance *tolerance);

/* Returns whether each two simulated points have the same order as the published points. Two
 * published points that differ by less than 2 % are equal. The simulated points may then differ by
 * 10 %. */
bool compare_order(const struct compare_point *points, size_t count);

/* Returns true if the knees of both curves are close. The simulated curve must leave its first
 * level, and reach its last level, within a factor of 1.5 in x of the published curve. A level is
 * at least two points within 10 % of the first or last point. A curve without levels has no
 * knee. */
bool compare_knees(const struct compare_point *points, size_t count);

#endif
