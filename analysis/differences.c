/* SPDX-License-Identifier: Apache-2.0 */
/* differences: see differences.h. */
#include "analysis/differences.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void differences_add(struct values *values, const char *name, const char *unit, const char *text)
{
	if ((values->count & (values->count + 1)) == 0) { /* 0, 1, 3, 7 ...: full */
		size_t room = 2 * values->count + 1;
		values->list = realloc(values->list, room * sizeof(*values->list));
	}
	if (!values->list)
		abort();
	struct value *value = &values->list[values->count++];
	*value = (struct value){.name = strdup(name), .text = strdup(text), .unit = unit};
	if (!value->name || !value->text)
		abort();
}

void differences_free_values(struct values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		free(values->list[i].name);
		free(values->list[i].text);
	}
	free(values->list);
	*values = (struct values){0};
}

static double number_of(const char *text)
{
	char *end;
	double value = text ? strtod(text, &end) : (double)NAN;
	return !text || end == text || *end != '\0' ? (double)NAN : value;
}

/* A value that only one side has counts as a change by the whole value. */
static double change_of(const struct difference *difference)
{
	double a = difference->numbers[0], b = difference->numbers[1];
	return fabs((isnan(b) ? 0 : b) - (isnan(a) ? 0 : a));
}

static double size_of(const struct difference *difference, double slack)
{
	double larger = fmax(fabs(difference->numbers[0]), fabs(difference->numbers[1])) + slack;
	return isnan(larger) || larger <= 0 ? 1 : change_of(difference) / larger;
}

static struct difference make(const struct value *one, const struct value *other, double slack)
{
	const struct value *any = one ? one : other;
	struct difference made = {.name = strdup(any->name), .unit = any->unit, .alike = 1};
	if (!made.name)
		abort();
	made.texts[0] = one ? one->text : NULL;
	made.texts[1] = other ? other->text : NULL;
	made.numbers[0] = number_of(made.texts[0]);
	made.numbers[1] = number_of(made.texts[1]);
	made.size = size_of(&made, slack);
	return made;
}

static int by_name(const void *one, const void *other)
{
	return strcmp((*(const struct value *const *)one)->name,
		      (*(const struct value *const *)other)->name);
}

/* Returns pointers to the values in the order of their names, for bsearch(). */
static const struct value **sorted(const struct values *values)
{
	const struct value **list = calloc(values->count + 1, sizeof(const struct value *));
	if (!list)
		abort();
	for (size_t i = 0; i < values->count; i++)
		list[i] = &values->list[i];
	qsort(list, values->count, sizeof(const struct value *), by_name);
	return list;
}

static const struct value *find(const struct value **sorted, size_t count,
				const struct value *wanted)
{
	const struct value **found =
		bsearch(&wanted, sorted, count, sizeof(const struct value *), by_name);
	return found ? *found : NULL;
}

size_t differences_find(const struct values *one, const struct values *other, double slack,
			struct difference **list)
{
	const struct value **ones = sorted(one), **others = sorted(other);
	size_t count = 0;
	*list = calloc(one->count + other->count + 1, sizeof(**list));
	if (!*list)
		abort();
	for (size_t i = 0; i < one->count; i++) {
		const struct value *match = find(others, other->count, &one->list[i]);
		if (!match || strcmp(match->text, one->list[i].text) != 0)
			(*list)[count++] = make(&one->list[i], match, slack);
	}
	for (size_t i = 0; i < other->count; i++) {
		if (!find(ones, one->count, &other->list[i]))
			(*list)[count++] = make(NULL, &other->list[i], slack);
	}
	free(ones);
	free(others);
	return count;
}

void differences_free(struct difference *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i].name);
	free(list);
}

static bool same_text(const char *one, const char *other)
{
	return !one || !other ? one == other : strcmp(one, other) == 0;
}

/* Returns true if `name` differs from `pattern` in one part, which is not the last. Sets its place
 * and length in the pattern. A * in the pattern stands for any part. */
static bool differ_in_one_part(const char *pattern, const char *name, size_t *at, size_t *length)
{
	unsigned differing = 0;
	const char *begin = pattern;
	for (;;) {
		size_t one = strcspn(pattern, "."), other = strcspn(name, ".");
		if (one != other || strncmp(pattern, name, one) != 0) {
			differing++;
			*at = (size_t)(pattern - begin);
			*length = one;
		}
		pattern += one;
		name += other;
		if (*pattern == '\0' || *name == '\0')
			return *pattern == *name && differing == 1 && begin[*at + *length] != '\0';
		pattern++;
		name++;
	}
}

static bool merge(struct difference *into, const struct difference *from)
{
	size_t at = 0, length = 0;
	char *merged;
	if (!same_text(into->texts[0], from->texts[0]) ||
	    !same_text(into->texts[1], from->texts[1]) ||
	    !differ_in_one_part(into->name, from->name, &at, &length))
		return false;
	if (into->alike > 1 && (length != 1 || into->name[at] != '*'))
		return false; /* it stands for others that differ elsewhere */
	if (asprintf(&merged, "%.*s*%s", (int)at, into->name, into->name + at + length) < 0)
		abort();
	free(into->name);
	into->name = merged;
	into->alike++;
	return true;
}

size_t differences_merge(struct difference *list, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		size_t into = 0;
		while (into < kept && !merge(&list[into], &list[i]))
			into++;
		if (into < kept)
			free(list[i].name);
		else
			list[kept++] = list[i];
	}
	return kept;
}

static int by_size(const void *one, const void *other)
{
	const struct difference *a = one, *b = other;
	double a_change = change_of(a), b_change = change_of(b);
	if (a->size < b->size || a->size > b->size)
		return a->size < b->size ? 1 : -1;
	if (a_change < b_change || a_change > b_change)
		return a_change < b_change ? 1 : -1;
	return strcmp(a->name, b->name);
}

void differences_sort(struct difference *list, size_t count)
{
	qsort(list, count, sizeof(*list), by_size);
}
