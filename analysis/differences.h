/* SPDX-License-Identifier: Apache-2.0 */
/*
 * differences: the values of two runs side by side: which of them differ, and by how much.
 *
 *     run folder --values_add()--> values of each --differences_find()--> those that differ --differences_sort()--> largest first
 *
 * A value has a name of parts between dots (host0.hca.pcie.lanes), a text, and a number if the text is one.
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
	char *name; /* with * for a part in which several alike differ: differences_merge() */
	const char *unit;
	const char *texts[2]; /* of the values, which outlive it; NULL: only the other has it */
	double numbers[2];    /* NAN: none, or no number */
	double size;          /* of the change over the larger value, 0 to 1; 1: no numbers */
	size_t alike;         /* how many it stands for */
};

/* Name and text are copied; the unit outlives the values. */
void values_add(struct values *values, const char *name, const char *unit, const char *text);
void values_free(struct values *values);

/* By name, each at most once in either; in the order of `one`, then what only `other` has. slack: is added to the larger value,
 * so that small counts do not lead; INFINITY: all sizes are 0, and changes are in order of their amounts. Returns how many; the caller frees *list by differences_free(). */
size_t differences_find(const struct values *one, const struct values *other, double slack,
			struct difference **list);
void differences_free(struct difference *list, size_t count);

/* Makes one of those that have the same values and names that differ in one part, and not in the last. Returns how many are left. */
size_t differences_merge(struct difference *list, size_t count);

/* The largest first; equally large ones by the difference of their numbers, then by name. */
void differences_sort(struct difference *list, size_t count);

#endif
