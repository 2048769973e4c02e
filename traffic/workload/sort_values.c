/* SPDX-License-Identifier: Apache-2.0 */
/* sort_values: see sort_values.h. Counts the different values in a hash table that stays in the
 * cache. If there are too many, the usual sort is faster. */
#include "traffic/workload/sort_values.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PLACES   (1u << 14)
#define DISTINCT (PLACES / 4) /* different values at most */
#define FEW      4096         /* values for which the table does not pay; chosen, not measured */

struct place {
	double value;
	size_t count; /* 0: free */
};

static struct place *find(struct place *places, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = bits * UINT64_C(0x9e3779b97f4a7c15) >> 32;
	while (places[bits % PLACES].count &&
	       memcmp(&places[bits % PLACES].value, &value, sizeof(value)) != 0)
		bits++;
	return &places[bits % PLACES];
}

static int compare(const void *one, const void *other)
{
	double a = ((const struct place *)one)->value, b = ((const struct place *)other)->value;

	return (a > b) - (a < b);
}

/* Returns the number of different values, or more than DISTINCT if there are too many. */
static size_t tally(const double *values, size_t count, struct place *places)
{
	size_t distinct = 0;

	for (size_t i = 0; i < count && distinct <= DISTINCT; i++) {
		struct place *place = find(places, values[i]);

		distinct += !place->count++;
		place->value = values[i];
	}
	return distinct;
}

static bool sort_tallied(double *values, size_t count, struct place *places)
{
	size_t distinct = tally(values, count, places), place = 0;

	if (distinct > DISTINCT)
		return false;
	distinct = 0;
	for (size_t i = 0; i < PLACES; i++)
		if (places[i].count)
			places[distinct++] = places[i];
	qsort(places, distinct, sizeof(places[0]), compare);
	for (size_t i = 0; i < distinct; i++)
		for (size_t copies = places[i].count; copies; copies--)
			values[place++] = places[i].value;
	return true;
}

void sort_values(double *values, size_t count)
{
	struct place *places = count < FEW ? NULL : calloc(PLACES, sizeof(*places));

	assert(places || count < FEW);
	if (!places || !sort_tallied(values, count, places))
		gsl_sort(values, 1, count);
	free(places);
}
