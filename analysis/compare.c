/* SPDX-License-Identifier: Apache-2.0 */
/* compare: see compare.h. */
#include "analysis/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double order_step = 0.02;
/* simulated values within this share of each other are level */
static const double level_band = 0.10;

static const double knee_factor = 1.5;

static const struct compare_tolerance tolerances[] = {
#define COMPARE_ROW(name, below, above) {#name, below, above, 0, false},
	COMPARE_TOLERANCES(COMPARE_ROW)
#undef COMPARE_ROW
};

bool compare_tolerance_find(const char *text, struct compare_tolerance *tolerance)
{
	bool absolute = strncmp(text, "+-", 2) == 0;
	double number;
	char *end;

	for (size_t i = 0; i < sizeof(tolerances) / sizeof(tolerances[0]); i++) {
		if (strcmp(tolerances[i].name, text) != 0)
			continue;
		*tolerance = tolerances[i];
		tolerance->shape = strcmp(text, "SHAPE") == 0;
		return true;
	}
	number = strtod(text + (absolute ? 2 : 0), &end);
	if (!isfinite(number) || number < 0 || strcmp(end, absolute ? "" : "%") != 0 || end == text)
		return false;
	*tolerance = (struct compare_tolerance){.name = text};
	if (absolute)
		tolerance->amount = number;
	else
		tolerance->below = tolerance->above = number / 100;
	return true;
}

static double difference(const struct compare_point *point)
{
	if (point->ours < point->low)
		return point->ours - point->low;
	return point->ours > point->high ? point->ours - point->high : 0;
}

double compare_error(const struct compare_point *point)
{
	double off = difference(point), end = off < 0 ? point->low : point->high;

	if (off == 0)
		return 0;
	return end == 0 ? copysign(INFINITY, off) : off / fabs(end);
}

bool compare_within(const struct compare_point *point, const struct compare_tolerance *tolerance)
{
	double error = compare_error(point);

	return (error >= -tolerance->below && error <= tolerance->above) ||
	       fabs(difference(point)) <= tolerance->amount;
}

static int direction(double from, double to)
{
	double most = fmax(fabs(from), fabs(to));

	return fabs(to - from) <= order_step * most ? 0 : to > from ? 1 : -1;
}

/* Checks that the simulated curve rises, falls and stays level where the published curve does. */
static bool same_step(const struct compare_point *from, const struct compare_point *to)
{
	int theirs = direction(from->low, to->low), ours = direction(from->ours, to->ours);
	double most = fmax(fabs(from->ours), fabs(to->ours));

	if (theirs == 0)
		return fabs(to->ours - from->ours) <= level_band * most;
	return ours != -theirs;
}

bool compare_order(const struct compare_point *points, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = i + 1; j < count; j++)
			if (!same_step(&points[i], &points[j]))
				return false;
	return true;
}

/* ---- knees ---- */

struct curve {
	const struct compare_point *points;
	size_t count;
	bool ours, backwards;
};

static const struct compare_point *at(const struct curve *curve, size_t i)
{
	return &curve->points[curve->backwards ? curve->count - 1 - i : i];
}

static double value(const struct curve *curve, size_t i)
{
	return curve->ours ? at(curve, i)->ours : at(curve, i)->low;
}

/* Returns the distance of a value from the first level of the curve, in units of the band. */
static double off_level(const struct curve *curve, size_t i)
{
	double level = value(curve, 0);

	return fabs(value(curve, i) - level) / (level_band * fabs(level));
}

/* Returns the x at which the curve leaves its level, interpolated by the logarithm of x. Returns 0
 * if it does not leave the level. *level_points is the number of level points before it. */
static double knee(const struct curve *curve, size_t *level_points)
{
	size_t i = 1;
	double before, after, share;

	while (i < curve->count && off_level(curve, i) <= 1)
		i++;
	*level_points = i;
	if (i == curve->count)
		return 0;
	before = off_level(curve, i - 1);
	after = off_level(curve, i);
	share = (1 - before) / (after - before);
	return at(curve, i - 1)->x * pow(at(curve, i)->x / at(curve, i - 1)->x, share);
}

static bool same_knee(const struct compare_point *points, size_t count, bool backwards)
{
	const struct curve theirs = {points, count, false, backwards};
	const struct curve ours = {points, count, true, backwards};
	size_t level, any;
	double published = knee(&theirs, &level), simulated = knee(&ours, &any);

	if (level < 2 || published <= 0)
		return true;
	return simulated > 0 && fmax(published / simulated, simulated / published) <= knee_factor;
}

bool compare_knees(const struct compare_point *points, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (points[i].x <= 0 || (i > 0 && points[i].x <= points[i - 1].x))
			return true; /* no axis */
	return count < 3 || (same_knee(points, count, false) && same_knee(points, count, true));
}
