/*
 * compare: a simulated figure beside a published one: the error, and whether it is within the tolerance of its row.
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
	X(SHAPE,  0,     0)     /* order only: compare_order() */

#define COMPARE_ENUM(name, below, above) TOLERANCE_##name,
enum compare_tolerance { COMPARE_TOLERANCES(COMPARE_ENUM) TOLERANCE_COUNT };
/* clang-format on */

struct compare_point {
	double x;         /* of a curve's plot */
	double low, high; /* as published, in any unit; equal if it is one figure */
	double slack;     /* that reading it off a figure allows besides, in that unit */
	double ours;      /* in that unit */
};

/* "T1" and so on, as COMPARE_TOLERANCES has them. false: there is none of that name. */
bool compare_tolerance_find(const char *name, enum compare_tolerance *tolerance);
const char *compare_tolerance_name(enum compare_tolerance tolerance);

/* Of ours against the nearer end of what was published, 0 in between; a fraction of it. */
double compare_error(const struct compare_point *point);
bool compare_within(const struct compare_point *point, enum compare_tolerance tolerance);

/* Do our points have the ranks of the published ones, every two of them? Published changes below 2 % are none, and there ours may differ
 * by 10 % at most. */
bool compare_order(const struct compare_point *points, size_t count);

#endif
