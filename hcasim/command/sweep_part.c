/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_part: selects one part of the points of a sweep (--part). One process runs the points of
 * each part. The processes may run at the same time, on any machines that share the folder. The
 * parts are equal shares of the points in the order of their folders' names. Points with one
 * configuration are in one part.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/sweep.h"

#define PARTS_MAX 100000

static int by_name(const void *one, const void *other)
{
	const struct sweep_point *const *left = one, *const *right = other;

	return strcmp((*left)->name, (*right)->name);
}

size_t sweep_part_assign(struct sweep *sweep, size_t parts)
{
	struct sweep_point **sorted = calloc(sweep->count + 1, sizeof(*sorted));
	size_t names = 0;

	if (!sorted)
		abort();
	for (size_t i = 0; i < sweep->count; i++)
		sorted[i] = &sweep->points[i];
	qsort(sorted, sweep->count, sizeof(*sorted), by_name);
	for (size_t i = 0; i < sweep->count; i++) {
		if (i == 0 || strcmp(sorted[i]->name, sorted[i - 1]->name) != 0)
			names++;
		sorted[i]->part = (names - 1) % parts;
	}
	free(sorted);
	return names;
}

bool sweep_part_read(const char *text, size_t *part, size_t *parts)
{
	int length = 0;

	if (sscanf(text, "%zu/%zu%n", part, parts, &length) == 2 && text[length] == '\0' &&
	    *parts >= 1 && *parts <= PARTS_MAX && *part < *parts)
		return true;
	say("--part \"%s\" is not a part; expected NUMBER/PARTS, as 0/4 to 3/4, with at most %d "
	    "parts",
	    text, PARTS_MAX);
	return false;
}
