/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences: finds the values that differ between two runs, and the size of each difference.
 *
 *     run folder --differences_add()--> values of each --differences_find()--> those that differ
 *                --differences_sort()--> largest first
 *
 * A value has a name of parts between dots (host0.hca.pcie.lanes), a text, and a number if the text
 * is one.
 */
#ifndef ANALYSIS_DIFFERENCES_H
#define ANALYSIS_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

struct value {
	char *name, *text;
	const char *unit; /* the caller's */
};

struct values {
	struct value *list;
	size_t count;
};

struct difference {
	char *name; /* `*`: a part that differs among merged names, see differences_merge() */
	const char *unit;
	/* texts of the values, owned by the caller; NULL: the other side alone has the value */
	const char *texts[2];
	double numbers[2]; /* NAN: none, or no number */
	/* change divided by the larger value, 0 to 1; 1 if the values are not numbers */
	double size;
	size_t alike; /* number of differences merged into this one */
};

/* Name and text are copied. The unit is not copied and must outlive the values. */
void differences_add(struct values *values, const char *name, const char *unit, const char *text);
void differences_free_values(struct values *values);

/* Finds the differences of two sets of values. A name occurs at most once in each set. The list has
 * the order of `one`. Names of `other` alone follow. `slack` is added to the larger value, so that
 * small counts do not come first. With INFINITY all sizes are 0, and the order is by the difference
 * of the numbers. Returns the number of differences. The caller frees *list with
 * differences_free(). */
size_t differences_find(const struct values *one, const struct values *other, double slack,
			struct difference **list);
void differences_free(struct difference *list, size_t count);

/* Merges differences with the same values whose names differ in one part, except the last part.
 * Returns the remaining number. */
size_t differences_merge(struct difference *list, size_t count);

/* Sorts by size, largest first, then by the difference of the numbers, then by name. */
void differences_sort(struct difference *list, size_t count);

#endif
