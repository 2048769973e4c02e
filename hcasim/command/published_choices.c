/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_choices: choices that a row made where its publication states no value, and their
 * effect on the row's verdict:
 *
 *     choices: {tx_depth: 16, outstanding: [5, 16], hca.wqe_fetch.ahead: 8}
 *
 * A key is a path below `set`; for the drivers study and program it is a path in the scenario. Its
 * values come from the cases, or from the default if no case sets it. published_robust() measures
 * the row with all values of a key halved, then doubled.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/published.h"

enum { MAP_BYTES = 1024, KEY_BYTES = 256 };

/* ---- where a value stands ---- */

/* Returns true for drivers that run a scenario and vary it by key paths. */
static bool has_scenario(const struct published_row *row)
{
	return row->driver == published_study || row->driver == published_program;
}

static struct yaml_node *child(const struct yaml_node *map, const char *key, size_t length)
{
	struct yaml_node *entry = map && map->kind == YAML_MAP ? map->children : NULL;

	while (entry && (strncmp(entry->key, key, length) != 0 || entry->key[length]))
		entry = entry->next;
	return entry;
}

/* Returns the text at a key path of a map, or NULL. */
static const char *text_at(const struct published_row *row, struct yaml_node *map, const char *key)
{
	if (has_scenario(row)) {
		map = child(child(map, "values", strlen("values")), key, strlen(key));
		return map ? map->text : NULL;
	}
	for (size_t length; map && *key; key += length + (key[length] == '.')) {
		length = strcspn(key, ".");
		map = child(map, key, length);
	}
	return map ? map->text : NULL;
}

static const char *text_of(const struct published_row *row, struct yaml_node *own,
			   struct yaml_node *common, const char *key)
{
	const char *text = text_at(row, own, key);

	return text ? text : text_at(row, common, key);
}

/* ---- reading ---- */

static struct yaml_node *first_value(const struct published_choice *choice)
{
	return choice->values->kind == YAML_LIST ? choice->values->children : choice->values;
}

static bool lists(const struct published_choice *choice, const char *text)
{
	bool many = choice->values->kind == YAML_LIST;

	for (struct yaml_node *node = first_value(choice); node; node = many ? node->next : NULL)
		if (node->text && strcmp(node->text, text) == 0)
			return true;
	return false;
}

/* Checks that the list contains the value of a case, so that the list stays complete. */
static void check_case(const struct published_row *row, const struct published_choice *choice,
		       const struct published_case *of, struct yaml_node *own,
		       struct yaml_errors *errors)
{
	const char *text = text_of(row, own, of->common, choice->key);

	if (text && !lists(choice, text))
		yaml_error(errors, choice->values, "case \"%s\" has %s: %s, which is not listed",
			   of->name, choice->key, text);
}

static void read_choice(struct published_row *row, struct yaml_node *entry,
			struct yaml_errors *errors)
{
	struct published_choice *choice = &row->choices[row->choice_count++];
	struct yaml_node *first;
	char *end;

	entry->used = true;
	*choice = (struct published_choice){.key = entry->key, .values = entry};
	first = first_value(choice);
	if (!first || !yaml_expect_text(first, "a value, or a list of values", errors))
		return;
	choice->number = strtod(first->text, &end) > 0 && end != first->text && !first->quoted;
	for (size_t i = 0; i < row->case_count; i++) {
		const struct published_case *of = &row->cases[i];

		check_case(row, choice, of, of->own, errors);
		if (of->minus)
			check_case(row, choice, of, of->minus, errors);
		if (of->over)
			check_case(row, choice, of, of->over, errors);
	}
}

void published_choices_read(struct published_row *row, struct yaml_node *map,
			    struct yaml_errors *errors)
{
	size_t count = 0;

	row->choices_listed = map;
	if (!map || !yaml_expect_map(map, "{key: value}, {} if the row chose nothing", errors))
		return;
	for (struct yaml_node *entry = map->children; entry; entry = entry->next)
		count++;
	row->choices = calloc(count + 1, sizeof(row->choices[0]));
	assert(row->choices);
	for (struct yaml_node *entry = map->children; entry; entry = entry->next)
		read_choice(row, entry, errors);
}

/* ---- halving and doubling ---- */

/* "16" by 0.5: "8". Whole numbers, bytes and picoseconds stay whole, and 1 at least. */
static void scale(const char *text, double factor, char *into, size_t bytes)
{
	char *unit;
	double value = strtod(text, &unit) * factor;
	bool whole = strcmp(unit, "B") == 0 || strcmp(unit, "ps") == 0 ||
		     (!*unit && !strpbrk(text, ".eE"));

	snprintf(into, bytes, "%.9g%s", whole ? fmax(floor(value), 1) : value, unit);
}

/* Writes {a: {b: VALUE}} for a.b, or {values: {"a.b": VALUE}} for a scenario. */
static void write_map(const struct published_row *row, const char *key, const char *value,
		      char *into, size_t bytes)
{
	size_t depth = 0, at = 0;

	if (has_scenario(row)) {
		snprintf(into, bytes, "{values: {\"%s\": \"%s\"}}", key, value);
		return;
	}
	for (size_t length; *key && at < bytes; key += length + (key[length] == '.'), depth++) {
		length = strcspn(key, ".");
		at += (size_t)snprintf(into + at, bytes - at, "{%.*s: ", (int)length, key);
	}
	for (at += (size_t)snprintf(into + at, bytes - at, "%s", value); depth > 0 && at < bytes;
	     depth--)
		at += (size_t)snprintf(into + at, bytes - at, "}");
}

struct yaml_document *published_choice_map(const struct published_row *row, struct yaml_node *own,
					   struct yaml_node *common, struct yaml_errors *errors)
{
	const struct published_choice *choice = row->scale.choice;
	const char *text = choice ? text_of(row, own, common, choice->key) : NULL;
	char value[KEY_BYTES], map[MAP_BYTES];

	if (!choice)
		return NULL;
	scale(text ? text : first_value(choice)->text, row->scale.factor, value, sizeof(value));
	write_map(row, choice->key, value, map, sizeof(map));
	return yaml_read_text("choices", map, errors);
}

/* ---- effect of choices on the verdict ---- */

/* Everything that published_run() writes. */
struct verdicts {
	struct published_case *cases;
	bool *orders;
};

static void keep(const struct published_row *row, struct verdicts *kept)
{
	kept->cases = calloc(row->case_count + 1, sizeof(kept->cases[0]));
	kept->orders = calloc(row->order_count + 1, sizeof(kept->orders[0]));
	assert(kept->cases && kept->orders);
	memcpy(kept->cases, row->cases, row->case_count * sizeof(kept->cases[0]));
	for (size_t i = 0; i < row->order_count; i++)
		kept->orders[i] = row->orders[i].passed;
}

static void restore(struct published_row *row, struct verdicts *kept)
{
	memcpy(row->cases, kept->cases, row->case_count * sizeof(kept->cases[0]));
	for (size_t i = 0; i < row->order_count; i++)
		row->orders[i].passed = kept->orders[i];
	free(kept->cases);
	free(kept->orders);
}

static void try(struct published_row *row, const struct published_choice *choice, double factor,
		struct published_experiment *experiment)
{
	struct yaml_errors errors = {0};
	const char *end = "";
	size_t at = 0;
	bool many = choice->values->kind == YAML_LIST;

	for (struct yaml_node *node = first_value(choice); node && at < sizeof(experiment->text);
	     node = many ? node->next : NULL) {
		char value[KEY_BYTES];

		scale(node->text, factor, value, sizeof(value));
		at += (size_t)snprintf(experiment->text + at, sizeof(experiment->text) - at, "%s%s",
				       end, value);
		end = ", ";
	}
	row->scale = (struct published_scale){choice, factor};
	published_run(row, &errors);
	row->scale = (struct published_scale){NULL, 1};
	experiment->measured = errors.count == 0 && published_measured(row);
	experiment->passed = experiment->measured && published_passed(row);
	for (size_t i = 0; i < row->case_count; i++)
		experiment->cases_passed += row->cases[i].passed;
	yaml_errors_free(&errors);
}

bool published_robust(struct published_row *row)
{
	bool passed = published_passed(row), fragile = false;
	struct verdicts kept;

	if (!published_measured(row))
		return false;
	keep(row, &kept);
	for (size_t i = 0; i < row->choice_count; i++) {
		struct published_choice *choice = &row->choices[i];

		for (unsigned k = 0; k < 2 && choice->number; k++) {
			try(row, choice, k == 0 ? 0.5 : 2, &choice->experiments[k]);
			fragile |= choice->experiments[k].measured &&
				   choice->experiments[k].passed != passed;
		}
	}
	restore(row, &kept);
	return fragile;
}
