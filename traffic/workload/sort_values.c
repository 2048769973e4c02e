/* SPDX-License-Identifier: Apache-2.0 */
/* sort_values: see sort_values.h. Counts the different values in a hash table that stays in the
 * cache. If there are too many, sorts by digits: unlike comparisons, their number for each value
 * does not grow with the number of values. */
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

/* ---- sort by digits ---- */

#define DIGIT_BITS 11
#define DIGITS     6 /* of 64 bits */
#define RADIX      (1u << DIGIT_BITS)
#define SIGN       (UINT64_C(1) << 63)

/* Returns a number whose order is that of the value. */
static uint64_t key_of(double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits & SIGN ? ~bits : bits | SIGN;
}

static uint64_t digit_of(double value, unsigned digit)
{
	return key_of(value) >> digit * DIGIT_BITS & (RADIX - 1);
}

/* Distributes the values by a digit, in a stable order. Returns false, with nothing done, if all
 * have the same digit. */
static bool distribute(const double *from, double *to, size_t count, unsigned digit)
{
	size_t places[RADIX] = {0}, place = 0;

	for (size_t i = 0; i < count; i++)
		places[digit_of(from[i], digit)]++;
	if (places[digit_of(from[0], digit)] == count)
		return false;
	for (size_t i = 0; i < RADIX; i++) {
		size_t many = places[i];

		places[i] = place;
		place += many;
	}
	for (size_t i = 0; i < count; i++)
		to[places[digit_of(from[i], digit)]++] = from[i];
	return true;
}

static void sort_by_digits(double *values, size_t count)
{
	double *room = malloc(count * sizeof(values[0])), *from = values, *to = room;

	assert(room);
	for (unsigned digit = 0; digit < DIGITS; digit++) {
		double *before = from;

		if (!distribute(from, to, count, digit))
			continue;
		from = to;
		to = before;
	}
	if (from != values)
		memcpy(values, from, count * sizeof(values[0]));
	free(room);
}

void sort_values(double *values, size_t count)
{
	struct place *places;

	if (count < FEW) {
		gsl_sort(values, 1, count);
		return;
	}
	places = calloc(PLACES, sizeof(*places));
	assert(places);
	if (!sort_tallied(values, count, places))
		sort_by_digits(values, count);
	free(places);
}
