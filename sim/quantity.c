/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quantity: a decimal number is represented by digits and a power of ten. It is multiplied by its
 * unit in 128 bits, and the result must be a whole number: "0.3ps" is an error, never 0 ps.
 */
#include "sim/quantity.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS_MAX   25 /* 10^25 times the largest scale, 10^12, is below 2^128 */
#define EXPONENT_MAX 99 /* larger exponents are limited to about this value */

__extension__ typedef unsigned __int128 wide;

#define DIGITS_END ((wide)10000000000000 * 1000000000000) /* 10^DIGITS_MAX */

struct decimal {
	wide digits;
	unsigned fraction; /* number of digits after the point */
	bool large;        /* not all digits fit */
	const char *rest;  /* text after the number and blanks */
};

/* Parses "e3" or "e-3" after the digits. Other letters are a unit. */
static const char *read_exponent(const char *at, int *exponent)
{
	bool minus = at[0] != '\0' && at[1] == '-';
	const char *digit = at + 1 + (at[0] != '\0' && (at[1] == '-' || at[1] == '+'));
	*exponent = 0;
	if ((*at != 'e' && *at != 'E') || !isdigit((unsigned char)*digit))
		return at;
	for (; isdigit((unsigned char)*digit); digit++) {
		if (*exponent < EXPONENT_MAX)
			*exponent = 10 * *exponent + (*digit - '0');
	}
	*exponent = minus ? -*exponent : *exponent;
	return digit;
}

/* Moves the decimal point. */
static void apply_exponent(struct decimal *decimal, int exponent)
{
	for (; exponent > 0 && decimal->digits != 0; exponent--) {
		if (decimal->fraction > 0)
			decimal->fraction--;
		else if (decimal->digits < DIGITS_END / 10)
			decimal->digits *= 10;
		else
			decimal->large = true;
	}
	for (; exponent < 0 && decimal->digits != 0; exponent++)
		decimal->fraction++;
}

static bool read_decimal(const char *text, struct decimal *decimal, char *error, size_t error_bytes)
{
	const char *at = text;
	int exponent;
	bool point = false, any = false;
	*decimal = (struct decimal){0};
	if (*at == '-') {
		snprintf(error, error_bytes, "is negative");
		return false;
	}
	for (; isdigit((unsigned char)*at) || (*at == '.' && !point); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		any = true;
		decimal->fraction += point;
		if (decimal->digits < DIGITS_END / 10)
			decimal->digits = 10 * decimal->digits + (unsigned)(*at - '0');
		else if (!point)
			decimal->large = true;
		else
			break;
	}
	if (isdigit((unsigned char)*at)) {
		snprintf(error, error_bytes, "has too many digits");
		return false;
	}
	if (!any || (point && at[-1] == '.')) {
		snprintf(error, error_bytes, "is not a number");
		return false;
	}
	at = read_exponent(at, &exponent);
	apply_exponent(decimal, exponent);
	while (decimal->fraction > 0 && decimal->digits % 10 == 0) {
		decimal->digits /= 10;
		decimal->fraction--;
	}
	if (decimal->fraction > DIGITS_MAX) {
		snprintf(error, error_bytes, "has too many digits");
		return false;
	}
	while (*at == ' ')
		at++;
	decimal->rest = at;
	return true;
}

static bool too_large(uint64_t *value, char *error, size_t error_bytes)
{
	*value = UINT64_MAX;
	snprintf(error, error_bytes, "is too large");
	return false;
}

static bool read_hexadecimal(const char *text, uint64_t *value, char *error, size_t error_bytes)
{
	size_t digits = strspn(text + 2, "0123456789abcdefABCDEF");
	if (digits == 0 || text[2 + digits] != '\0') {
		snprintf(error, error_bytes, "is not a number");
		return false;
	}
	if (digits > 16)
		return too_large(value, error, error_bytes);
	*value = strtoull(text, NULL, 16);
	return true;
}

static const struct quantity_unit *find_unit(const struct quantity_unit *units, const char *name,
					     char *error, size_t error_bytes)
{
	const struct quantity_unit *near = NULL;
	for (const struct quantity_unit *unit = units; unit->name; unit++) {
		if (strcmp(unit->name, name) == 0)
			return unit;
		if (strcasecmp(unit->name, name) == 0)
			near = unit;
	}
	if (*name == '\0')
		snprintf(error, error_bytes, "has no unit");
	else if (near)
		snprintf(error, error_bytes, "has the unit \"%s\": did you mean \"%s\"?", name,
			 near->name);
	else
		snprintf(error, error_bytes, "has the unknown unit \"%s\"", name);
	return NULL;
}

bool quantity_parse(const char *text, const struct quantity_unit *units, uint64_t *value,
		    char *error, size_t error_bytes)
{
	struct decimal decimal;
	uint64_t scale = 1;
	*value = 0;
	if (!units && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return read_hexadecimal(text, value, error, error_bytes);
	if (!read_decimal(text, &decimal, error, error_bytes))
		return false;
	if (!units && *decimal.rest != '\0') {
		snprintf(error, error_bytes, "has \"%s\" after the number", decimal.rest);
		return false;
	}
	if (units && (decimal.digits != 0 || *decimal.rest != '\0')) {
		const struct quantity_unit *unit =
			find_unit(units, decimal.rest, error, error_bytes);
		if (!unit)
			return false;
		scale = unit->scale;
	}
	if (decimal.large)
		return too_large(value, error, error_bytes);
	wide product = decimal.digits * scale, power = 1;
	for (unsigned i = 0; i < decimal.fraction; i++)
		power *= 10;
	if (product % power != 0) {
		snprintf(error, error_bytes, "is not a whole number%s%s", units ? " of " : "",
			 units ? units[0].name : "");
		return false;
	}
	if (product / power > UINT64_MAX)
		return too_large(value, error, error_bytes);
	*value = (uint64_t)(product / power);
	return true;
}

void quantity_print(uint64_t value, const struct quantity_unit *units, char *text,
		    size_t text_bytes)
{
	const struct quantity_unit *chosen = units;
	if (!units) {
		snprintf(text, text_bytes, "%" PRIu64, value);
		return;
	}
	for (const struct quantity_unit *unit = units; unit->name; unit++) {
		bool decimal = unit->scale % 10 == 0; /* any fraction of the unit can be written */
		if (unit->printed && value >= unit->scale && (decimal || value % unit->scale == 0))
			chosen = unit;
	}
	uint64_t whole = value / chosen->scale, rest = value % chosen->scale;
	char fraction[32] = "";
	if (rest != 0) {
		size_t length = 1;
		fraction[0] = '.';
		for (uint64_t place = chosen->scale / 10; rest != 0; place /= 10) {
			assert(place > 0);
			fraction[length++] = (char)('0' + rest / place);
			rest %= place;
		}
		fraction[length] = '\0';
	}
	snprintf(text, text_bytes, "%" PRIu64 "%s%s", whole, fraction, chosen->name);
}

bool quantity_parse_real(const char *text, const struct quantity_scale *scales, double *value,
			 char *error, size_t error_bytes)
{
	size_t length = strspn(text, "+-0123456789.");
	*value = 0;
	if (length > 0 && (text[length] == 'e' || text[length] == 'E') &&
	    strchr("+-0123456789", text[length + 1]) && text[length + 1] != '\0')
		length += 1 + strspn(text + length + 1, "+-0123456789");
	char number[64];
	if (length >= sizeof(number)) {
		snprintf(error, error_bytes, "has too many digits");
		return false;
	}
	memcpy(number, text, length);
	number[length] = '\0';
	char *end = NULL;
	double real = strtod(number, &end);
	if (length == 0 || *end != '\0') {
		snprintf(error, error_bytes, "is not a number");
		return false;
	}
	const char *unit = text + length + strspn(text + length, " ");
	for (const struct quantity_scale *scale = scales; scale->name; scale++) {
		if (strcmp(scale->name, unit) == 0) {
			*value = real * scale->times / scale->over;
			if (*value == 0)
				*value = 0; /* no negative zero */
			if (isfinite(*value))
				return true;
			snprintf(error, error_bytes, "is too large");
			return false;
		}
	}
	if (*unit != '\0')
		snprintf(error, error_bytes, "has the unknown unit \"%s\"", unit);
	else if (real == 0)
		return true;
	else
		snprintf(error, error_bytes, "has no unit");
	return false;
}

void quantity_print_real(double value, const char *unit, char *text, size_t text_bytes)
{
	char number[64];
	double size = fabs(value);
	bool fixed = size == 0 || (size >= 1e-4 && size < 1e15);
	for (int precision = 0; precision <= 20; precision++) {
		snprintf(number, sizeof(number), fixed ? "%.*f" : "%.*e", precision, value);
		if (strtod(number, NULL) == value)
			break;
	}
	snprintf(text, text_bytes, "%s%s", number, unit);
}
