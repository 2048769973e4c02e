/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity: numbers with units as a user writes them ("100Gbps", "4.096us", "64KiB"), read and
 * written without rounding: a whole number of the smallest unit, or an error.
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
	uint64_t scale; /* in the smallest unit */
	bool printed;   /* quantity_print() may choose it */
};

/* units: from small to large, ends with a NULL name. No units: a plain whole number, also as 0x...
 * A zero needs no unit; "1.5e3" is 1500. false: *error says what is wrong with the text, and *value is UINT64_MAX if it is
 * more than that, else 0. */
bool quantity_parse(const char *text, const struct quantity_unit *units, uint64_t *value,
		    char *error, size_t error_bytes);

/* The shortest text that quantity_parse() reads as that value. */
void quantity_print(uint64_t value, const struct quantity_unit *units, char *text,
		    size_t text_bytes);

/* A decimal fraction with an optional unit, each unit a divisor or a multiple of one: "0.5m", "1%".
 */
struct quantity_scale {
	const char *name;
	double times, over;
};

/* scales: ends with a NULL name; the one with an empty name allows a number with no unit. false: as quantity_parse(), and
 * *value is INFINITY or 0. */
bool quantity_parse_real(const char *text, const struct quantity_scale *scales, double *value,
			 char *error, size_t error_bytes);

/* The shortest decimal text that reads back as the same double, and the unit behind it. */
void quantity_print_real(double value, const char *unit, char *text, size_t text_bytes);

#endif
