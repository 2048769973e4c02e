/* compare: see compare.h. */
#include "analysis/compare.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double order_step = 0.02;
static const double level_band = 0.10; /* of ours, where theirs are level */

static const struct {
	const char *name;
	double below, above;
} tolerances[TOLERANCE_COUNT] = {
#define COMPARE_ROW(name, below, above) [TOLERANCE_##name] = {#name, below, above},
	COMPARE_TOLERANCES(COMPARE_ROW)
#undef COMPARE_ROW
};

bool compare_tolerance_find(const char *name, enum compare_tolerance *tolerance)
{
	for (unsigned i = 0; i < TOLERANCE_COUNT; i++) {
		if (strcmp(tolerances[i].name, name) != 0)
			continue;
		*tolerance = (enum compare_tolerance)i;
		return true;
	}
	return false;
}

const char *compare_tolerance_name(enum compare_tolerance tolerance)
{
	assert(tolerance < TOLERANCE_COUNT);
	return tolerances[tolerance].name;
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

bool compare_within(const struct compare_point *point, enum compare_tolerance tolerance)
{
	struct compare_point read = *point;
	double error;

	assert(tolerance < TOLERANCE_COUNT);
	read.low -= point->slack;
	read.high += point->slack;
	error = compare_error(&read);
	return error >= -tolerances[tolerance].below && error <= tolerances[tolerance].above;
}

static int direction(double from, double to)
{
	double most = fmax(fabs(from), fabs(to));

	return fabs(to - from) <= order_step * most ? 0 : to > from ? 1 : -1;
}

/* Ours rise or fall between these points where theirs do, and stay level where theirs do. */
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
