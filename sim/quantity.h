/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity: reads and writes numbers with units as a user writes them ("100Gbps", "4.096us",
 * "64KiB"), without rounding. A value is a whole number of the smallest unit; any other text is
 * an error.
 *
 *     params.c --quantity_parse()--> uint64_t     uint64_t --quantity_print()--> "4.096us"
 */
#ifndef SIM_QUANTITY_H
#define SIM_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct quantity_unit {
	const char *name;
	uint64_t scale; /* size in the smallest unit */
	bool printed;   /* quantity_print() may choose it */
};

/* Parses a number with a unit. `units` is ordered from small to large and ends with a NULL
 * name. Without units, the text is a whole number, decimal or as 0x... A zero needs no unit;
 * "1.5e3" is 1500. Returns false on failure and writes the reason to `error`. *value is then
 * UINT64_MAX if the number is too large, otherwise 0. */
bool quantity_parse(const char *text, const struct quantity_unit *units, uint64_t *value,
		    char *error, size_t error_bytes);

/* Writes the shortest text that quantity_parse() reads as this value. */
void quantity_print(uint64_t value, const struct quantity_unit *units, char *text,
		    size_t text_bytes);

/* A unit of a decimal fraction, as in "0.5m" or "1%". The unit multiplies by `times` and
 * divides by `over`. */
struct quantity_scale {
	const char *name;
	double times, over;
};

/* Parses a decimal fraction. `scales` ends with a NULL name; a scale with an empty name allows
 * a number without a unit. Returns false on failure, as quantity_parse() does. *value is then
 * INFINITY or 0. */
bool quantity_parse_real(const char *text, const struct quantity_scale *scales, double *value,
			 char *error, size_t error_bytes);

/* Writes the shortest decimal text that reads back as the same double, followed by the unit. */
void quantity_print_real(double value, const char *unit, char *text, size_t text_bytes);

#endif
