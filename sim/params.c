/* SPDX-License-Identifier: Apache-2.0 */
/*
 * params: converts one value of a parameter list from and to text, by its kind.
 *
 *     yaml_override_params(), --set --param_parse()--> field of the params struct
 *     effective configuration       <--param_print()--
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/block.h"
#include "sim/quantity.h"
#include "sim/renamed_keys.h"
#include "sim/yaml.h"

#define CHOICES_MAX   32 /* candidates for a suggestion */
#define CHOICES_BYTES 512

static const struct quantity_unit time_units[] = {{"ps", PS, true}, {"ns", NS, true},
						  {"us", US, true}, {"ms", MS, true},
						  {"s", SEC, true}, {0}};
static const struct quantity_unit bytes_units[] = {{"B", 1, true},
						   {"KiB", 1 << 10, true},
						   {"MiB", 1 << 20, true},
						   {"GiB", 1 << 30, true},
						   {"KB", 1000, false},
						   {"MB", 1000000, false},
						   {"GB", 1000000000, false},
						   {0}};
static const struct quantity_unit rate_units[] = {{"bps", 1, true},
						  {"Kbps", 1000, true},
						  {"Mbps", 1000000, true},
						  {"Gbps", 1000000000, true},
						  {"Tbps", UINT64_C(1000000000000), true},
						  {0}};
static const struct quantity_unit freq_units[] = {{"Hz", 1, true},
						  {"KHz", 1000, true},
						  {"MHz", 1000000, true},
						  {"GHz", 1000000000, true},
						  {0}};
static const struct quantity_scale metres_scales[] = {
	{"m", 1, 1}, {"cm", 1, 100}, {"km", 1000, 1}, {0}};
static const struct quantity_scale ratio_scales[] = {{"", 1, 1}, {"%", 1, 100}, {0}};

static const struct quantity_unit *const whole_units[PARAM_KIND_COUNT] = {
	[PARAM_TIME] = time_units,
	[PARAM_BYTES] = bytes_units,
	[PARAM_RATE] = rate_units,
	[PARAM_FREQ] = freq_units,
};

/* A value of any kind. */
union value {
	uint64_t whole; /* COUNT, TIME, BYTES, RATE, FREQ */
	double real;    /* METRES, RATIO */
	bool flag;
	uint32_t choice;
	struct param_text text;
};

_Static_assert(sizeof(sim_time) == sizeof(uint64_t), "a time is stored as a whole number");

static bool is_real(enum param_kind kind)
{
	return kind == PARAM_METRES || kind == PARAM_RATIO;
}

bool param_is_list(enum param_kind kind)
{
	return kind == PARAM_SIZES || kind == PARAM_CYCLE;
}

/* Returns the largest value of a kind of whole numbers. */
static uint64_t most_of(enum param_kind kind)
{
	return kind == PARAM_TIME ? SIM_NEVER : UINT64_MAX;
}

const char *param_kind_name(enum param_kind kind)
{
#define KIND_NAME(kind, type, unit) #kind,
	static const char *const names[] = {PARAM_KINDS(KIND_NAME)};
	assert(kind < PARAM_KIND_COUNT);
	return names[kind];
}

const char *param_kind_unit(enum param_kind kind)
{
#define KIND_UNIT(kind, type, unit) unit,
	static const char *const units[] = {PARAM_KINDS(KIND_UNIT)};
	assert(kind < PARAM_KIND_COUNT);
	return units[kind];
}

/* Returns true if text[0..bytes) is one of the names in a|b|c, and writes its index. */
static bool find_choice(const char *range, const char *text, size_t bytes, uint32_t *index)
{
	*index = 0;
	for (const char *name = range;; (*index)++) {
		size_t length = strcspn(name, "|");
		if (length == bytes && strncmp(name, text, bytes) == 0)
			return true;
		if (name[length] == '\0')
			return false;
		name += length + 1;
	}
}

/* A range that starts with "auto|" has the special value 0, which is written `auto`. */
static const char auto_name[] = "auto";

static bool has_auto(const struct param *param)
{
	return whole_units[param->kind] && strncmp(param->range, "auto|", 5) == 0;
}

static bool parse_value(const struct param *param, const char *text, union value *value,
			char *error, size_t error_bytes)
{
	switch (param->kind) {
	case PARAM_FLAG:
		value->flag = strcmp(text, "true") == 0;
		if (value->flag || strcmp(text, "false") == 0)
			return true;
		snprintf(error, error_bytes, "is neither");
		return false;
	case PARAM_CHOICE:
		if (find_choice(param->range, text, strlen(text), &value->choice))
			return true;
		snprintf(error, error_bytes, "is not one of the choices");
		return false;
	case PARAM_METRES:
		return quantity_parse_real(text, metres_scales, &value->real, error, error_bytes);
	case PARAM_RATIO:
		return quantity_parse_real(text, ratio_scales, &value->real, error, error_bytes);
	case PARAM_TEXT:
		snprintf(value->text.text, sizeof(value->text.text), "%s", text);
		if (strlen(text) < sizeof(value->text.text) && !strpbrk(text, "\"\\\n\t"))
			return true;
		snprintf(error, error_bytes, "is too long, or has quotes, backslashes or tabs");
		return false;
	case PARAM_COUNT:
	case PARAM_TIME:
	case PARAM_BYTES:
	case PARAM_RATE:
	case PARAM_FREQ:
	case PARAM_SIZES:
	case PARAM_CYCLE:
	case PARAM_KIND_COUNT:
		break;
	}
	if (!quantity_parse(text, whole_units[param->kind], &value->whole, error, error_bytes))
		return false;
	if (value->whole <= most_of(param->kind))
		return true;
	value->whole = UINT64_MAX;
	snprintf(error, error_bytes, "is too large");
	return false;
}

/* Parses one bound of a range. A bound that does not parse is an error in the list. */
static union value parse_bound(const struct param *param, const char *text, size_t length)
{
	char bound[64], error[128] = "";
	union value value = {0};
	assert(length < sizeof(bound));
	memcpy(bound, text, length);
	bound[length] = '\0';
	if (!parse_value(param, bound, &value, error, sizeof(error))) {
		fprintf(stderr, "parameter %s: \"%s\" of its range %s\n", param->name, bound,
			error);
		abort();
	}
	return value;
}

static int compare_values(enum param_kind kind, union value a, union value b)
{
	if (is_real(kind))
		return (a.real > b.real) - (a.real < b.real);
	return (a.whole > b.whole) - (a.whole < b.whole);
}

/* Checks the range, which is "low..high" with optional bounds, or "a|b|c". */
static bool in_range(const struct param *param, union value value)
{
	const char *range = param->range + (has_auto(param) ? sizeof(auto_name) : 0);
	const char *dots = strstr(range, "..");
	if (*range == '\0' || param->kind == PARAM_FLAG || param->kind == PARAM_CHOICE ||
	    param->kind == PARAM_TEXT)
		return true;
	if (dots) {
		const char *low = range, *high = dots + 2;
		size_t low_bytes = (size_t)(dots - low), high_bytes = strlen(high);
		if (low_bytes > 0 &&
		    compare_values(param->kind, value, parse_bound(param, low, low_bytes)) < 0)
			return false;
		return high_bytes == 0 || compare_values(param->kind, value,
							 parse_bound(param, high, high_bytes)) <= 0;
	}
	for (const char *one = range;;) {
		size_t length = strcspn(one, "|");
		if (compare_values(param->kind, value, parse_bound(param, one, length)) == 0)
			return true;
		if (one[length] == '\0')
			return false;
		one += length + 1;
	}
}

/* Parses "[128B, 64KiB]", with or without brackets. The range applies to each size. A cycle is not
 * empty. */
static bool parse_sizes(const struct param *param, const char *text, void *params, char *error,
			size_t error_bytes)
{
	const char *separators = "[], ";
	struct param one = *param;
	struct param_sizes sizes = {.count = 0};

	one.kind = PARAM_BYTES;
	one.offset = 0;
	for (text += strspn(text, separators); *text; text += strspn(text, separators)) {
		size_t length = strcspn(text, separators);
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (sizes.count == PARAM_SIZES_MAX) {
			snprintf(error, error_bytes, "too many sizes; expected %s",
				 param_kind_unit(param->kind));
			return false;
		}
		if (!param_parse(&one, word, &sizes.bytes[sizes.count++], error, error_bytes))
			return false;
		text += length;
	}
	if (sizes.count == 0 && param->kind == PARAM_CYCLE) {
		snprintf(error, error_bytes, "an empty list; expected %s",
			 param_kind_unit(param->kind));
		return false;
	}
	memcpy((char *)params + param->offset, &sizes, sizeof(sizes));
	return true;
}

/* Adds the most similar choice to the message. */
static void suggest_choice(const struct param *param, const char *text, char *wrong,
			   size_t wrong_bytes)
{
	char section[64];
	char names[CHOICES_BYTES];
	const char *list[CHOICES_MAX];
	size_t count = 0, used = strlen(wrong);
	snprintf(names, sizeof(names), "%s", param->range);
	for (char *name = names, *end; name && count < CHOICES_MAX; name = end) {
		end = strchr(name, '|');
		if (end)
			*end++ = '\0';
		list[count++] = name;
	}
	snprintf(section, sizeof(section), "value.%s", param->name);
	const char *now = renamed_key(section, text);
	const char *near = now ? now : yaml_suggest(text, list, count);
	if (near)
		snprintf(wrong + used, wrong_bytes - used,
			 now ? " (it is now \"%s\")" : " (did you mean \"%s\"?)", near);
}

/* Writes the expected values. For a value that is too large, writes the largest value. */
static void say_expected(const struct param *param, bool large, char *text, size_t text_bytes)
{
	const char *range = param->range;
	size_t length = strlen(range);
	bool open = length == 0 || (length > 2 && strcmp(range + length - 2, "..") == 0);
	char most[64];
	if (param->kind == PARAM_CHOICE) {
		snprintf(text, text_bytes, "one of %s", range);
	} else if (large && open) {
		quantity_print(most_of(param->kind), whole_units[param->kind], most, sizeof(most));
		snprintf(text, text_bytes, "%s (%s%s)", param_kind_unit(param->kind),
			 length > 0 ? range : "0..", most);
	} else {
		snprintf(text, text_bytes, length > 0 ? "%s (%s)" : "%s",
			 param_kind_unit(param->kind), range);
	}
}

bool param_parse(const struct param *param, const char *text, void *params, char *error,
		 size_t error_bytes)
{
	char wrong[128] = "", expected[CHOICES_BYTES];
	union value value = {0};
	if (param_is_list(param->kind))
		return parse_sizes(param, text, params, error, error_bytes);
	bool automatic = has_auto(param) && strcmp(text, auto_name) == 0;
	bool good = automatic || parse_value(param, text, &value, wrong, sizeof(wrong));
	bool whole = param->kind == PARAM_COUNT || whole_units[param->kind];
	bool large = !good && whole && value.whole == UINT64_MAX;
	if (good && !automatic && !in_range(param, value)) {
		snprintf(wrong, sizeof(wrong), "is out of range");
		good = false;
	}
	if (!good && param->kind == PARAM_CHOICE)
		suggest_choice(param, text, wrong, sizeof(wrong));
	if (!good) {
		say_expected(param, large, expected, sizeof(expected));
		snprintf(error, error_bytes, "\"%.60s\" %s; expected %s", text, wrong, expected);
		return false;
	}
	char *field = (char *)params + param->offset;
	if (param->kind == PARAM_FLAG)
		memcpy(field, &value.flag, sizeof(value.flag));
	else if (param->kind == PARAM_CHOICE)
		memcpy(field, &value.choice, sizeof(value.choice));
	else if (param->kind == PARAM_TEXT)
		memcpy(field, &value.text, sizeof(value.text));
	else if (is_real(param->kind))
		memcpy(field, &value.real, sizeof(value.real));
	else
		memcpy(field, &value.whole, sizeof(value.whole));
	return true;
}

void params_default(const struct param *list, void *params)
{
	char error[256];
	for (const struct param *param = list; param->name; param++) {
		if (!param_parse(param, param->default_text, params, error, sizeof(error))) {
			fprintf(stderr, "default of parameter %s: %s\n", param->name, error);
			abort();
		}
	}
}

static void print_choice(const char *range, uint32_t choice, char *text, size_t text_bytes)
{
	for (; choice > 0; choice--) {
		range = strchr(range, '|');
		assert(range);
		range++;
	}
	snprintf(text, text_bytes, "%.*s", (int)strcspn(range, "|"), range);
}

/* Prints a cycle of one size without brackets. */
static void print_sizes(const struct param_sizes *sizes, bool cycle, char *text, size_t text_bytes)
{
	if (cycle && sizes->count == 1) {
		quantity_print(sizes->bytes[0], bytes_units, text, text_bytes);
		return;
	}
	size_t length = (size_t)snprintf(text, text_bytes, "[");
	for (uint32_t i = 0; i < sizes->count; i++) {
		char size[64];
		quantity_print(sizes->bytes[i], bytes_units, size, sizeof(size));
		length += (size_t)snprintf(text + length, text_bytes - length, "%s%s",
					   i ? ", " : "", size);
		assert(length < text_bytes);
	}
	snprintf(text + length, text_bytes - length, "]");
}

void param_copy(const struct param *param, const void *from, void *to)
{
	size_t bytes = sizeof(uint64_t);
	if (param->kind == PARAM_FLAG)
		bytes = sizeof(bool);
	else if (param->kind == PARAM_CHOICE)
		bytes = sizeof(uint32_t);
	else if (param->kind == PARAM_TEXT)
		bytes = sizeof(struct param_text);
	else if (param_is_list(param->kind))
		bytes = sizeof(struct param_sizes);
	else if (is_real(param->kind))
		bytes = sizeof(double);
	memcpy((char *)to + param->offset, (const char *)from + param->offset, bytes);
}

void param_print(const struct param *param, const void *params, char *text, size_t text_bytes)
{
	const char *field = (const char *)params + param->offset;
	union value value = {0};
	if (param->kind == PARAM_FLAG) {
		memcpy(&value.flag, field, sizeof(value.flag));
		snprintf(text, text_bytes, "%s", value.flag ? "true" : "false");
	} else if (param->kind == PARAM_CHOICE) {
		memcpy(&value.choice, field, sizeof(value.choice));
		print_choice(param->range, value.choice, text, text_bytes);
	} else if (param->kind == PARAM_TEXT) {
		snprintf(text, text_bytes, "%s", field);
	} else if (param_is_list(param->kind)) {
		struct param_sizes sizes;
		memcpy(&sizes, field, sizeof(sizes));
		print_sizes(&sizes, param->kind == PARAM_CYCLE, text, text_bytes);
	} else if (is_real(param->kind)) {
		memcpy(&value.real, field, sizeof(value.real));
		quantity_print_real(value.real, param->kind == PARAM_METRES ? "m" : "", text,
				    text_bytes);
	} else {
		memcpy(&value.whole, field, sizeof(value.whole));
		if (has_auto(param) && value.whole == 0)
			snprintf(text, text_bytes, "%s", auto_name);
		else
			quantity_print(value.whole, whole_units[param->kind], text, text_bytes);
	}
}
