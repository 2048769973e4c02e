/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_design: the entry `design` of a sweep. It draws points in the space of several keys,
 * where all combinations would be too many. Each key is a column of the tables.
 *
 *     design:
 *       kind: latin_hypercube     random: independent; sobol: quasi-random (at most 40 keys)
 *       points: 50
 *       seed: 1                   of random and latin_hypercube; default 1
 *       keys:
 *         load.threads: {from: 1, to: 64, scale: log, whole: true}
 *         workload.bytes: {from: 1, to: 100, unit: KB}
 *         hosts.hca.pcie.lanes: [8, 16]
 *
 * The sequence is GSL's. Latin hypercube: McKay, Beckman, Conover, Technometrics 21(2), 1979.
 */
#include <gsl/gsl_qrng.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_sweep.h"

#define SOBOL_KEYS_MAX 40 /* dimensions of gsl_qrng_sobol */

enum design_kind { RANDOM, LATIN_HYPERCUBE, SOBOL, DESIGN_KINDS };
static const char *const kind_names[] = {"random", "latin_hypercube", "sobol"};

struct design {
	struct scenario_reader *reader;
	enum design_kind kind;
	size_t points, keys;
	unsigned long seed;
};

/* The range of one key. */
struct range {
	double from, to;
	bool log, whole;
	const char *unit;
};

static bool read_flag(struct design *design, struct yaml_node *map, const char *key,
		      const char *yes, const char *no, bool *flag)
{
	struct yaml_node *node = yaml_get(map, key);
	const char *text = node ? yaml_expect_text(node, yes, design->reader->errors) : no;
	if (!text)
		return false;
	*flag = strcmp(text, yes) == 0;
	if (*flag || strcmp(text, no) == 0)
		return true;
	yaml_error(design->reader->errors, node, "found %s; expected %s or %s", text, yes, no);
	return false;
}

static bool read_range(struct design *design, struct yaml_node *node, struct range *range)
{
	static const char *const names[] = {"from", "to", "scale", "whole", "unit"};
	struct scenario_reader *reader = design->reader;
	struct yaml_node *from = yaml_get(node, "from"), *to = yaml_get(node, "to");
	struct yaml_node *unit = yaml_get(node, "unit");
	bool good = from && to && scenario_sweep_number(reader, from, true, &range->from) &&
		    scenario_sweep_number(reader, to, true, &range->to);
	range->unit = unit ? yaml_expect_text(unit, "a unit", reader->errors) : "";
	good = good && range->unit &&
	       read_flag(design, node, "scale", "log", "linear", &range->log) &&
	       read_flag(design, node, "whole", "true", "false", &range->whole);
	yaml_refuse_unused(node, names, ARRAY_SIZE(names), reader->errors);
	if (good && (range->from > range->to || (range->log && range->from <= 0)))
		good = false;
	if (!good)
		yaml_error(reader->errors, node,
			   "expected from and to in ascending order; above 0 with scale: log");
	return good;
}

/* Fills points x keys numbers in [0, 1), row by row. */
static void draw(const struct design *design, double *numbers)
{
	size_t points = design->points, keys = design->keys;
	if (design->kind == SOBOL) {
		gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)keys);
		for (size_t i = 0; i < points; i++)
			gsl_qrng_get(sequence, numbers + i * keys);
		gsl_qrng_free(sequence);
		return;
	}
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	size_t *order = calloc(points, sizeof(*order));
	if (!order)
		abort();
	gsl_rng_set(random, design->seed);
	for (size_t key = 0; key < keys; key++) {
		for (size_t i = 0; i < points; i++)
			order[i] = i;
		gsl_ran_shuffle(random, order, points, sizeof(*order));
		for (size_t i = 0; i < points; i++) {
			double number = gsl_rng_uniform(random);
			if (design->kind == LATIN_HYPERCUBE) /* one point in each of the strata */
				number = ((double)order[i] + number) / (double)points;
			numbers[i * keys + key] = number;
		}
	}
	free(order);
	gsl_rng_free(random);
}

static void set_number(struct scenario_sweep_value *value, uint32_t column, const char *path,
		       const struct range *range, double place)
{
	char text[64];
	double number = range->log ? range->from * pow(range->to / range->from, place)
				   : range->from + place * (range->to - range->from);
	if (range->whole) { /* each whole number of a linear range is equally likely */
		number = range->log ? round(number)
				    : range->from + floor(place * (range->to - range->from + 1));
	}
	snprintf(text, sizeof(text), "%.6g%s", number, range->unit);
	scenario_sweep_set_cell(value, column, text);
	scenario_sweep_set_key(value, path, text);
}

static void set_choice(struct scenario_sweep_value *value, uint32_t column, struct yaml_node *list,
		       double place)
{
	size_t count = 0;
	for (const struct yaml_node *child = list->children; child; child = child->next)
		count++;
	struct yaml_node *chosen = list->children;
	for (size_t i = (size_t)(place * (double)count); i > 0; i--)
		chosen = chosen->next;
	char *text = scenario_sweep_text(chosen);
	scenario_sweep_set_cell(value, column, chosen->kind == YAML_SCALAR ? chosen->text : text);
	scenario_sweep_set_tree(value, list->key, chosen);
	free(text);
}

static void read_keys(struct design *design, struct scenario_sweep_axis *axis,
		      struct yaml_node *keys)
{
	double *numbers = calloc(design->points * design->keys, sizeof(*numbers));
	uint32_t column = 0;
	if (!numbers)
		abort();
	draw(design, numbers);
	for (size_t i = 0; i < design->points; i++)
		scenario_sweep_add_value(axis);
	for (struct yaml_node *key = keys->children; key; key = key->next, column++) {
		struct range range = {0};
		key->used = true;
		bool is_list = key->kind == YAML_LIST && key->children;
		if (!is_list &&
		    (!yaml_expect_map(key, "{from, to} or a list", design->reader->errors) ||
		     !read_range(design, key, &range)))
			break;
		for (size_t i = 0; i < design->points; i++) {
			double place = numbers[i * design->keys + column];
			if (is_list)
				set_choice(&axis->values[i], column, key, place);
			else
				set_number(&axis->values[i], column, key->key, &range, place);
		}
	}
	free(numbers);
}

static bool read_kind(struct design *design, struct yaml_node *node)
{
	const char *text =
		node ? yaml_expect_text(node, "a kind", design->reader->errors) : "random";
	for (unsigned i = 0; text && i < DESIGN_KINDS; i++) {
		design->kind = (enum design_kind)i;
		if (strcmp(text, kind_names[i]) == 0)
			return true;
	}
	if (text)
		yaml_error(design->reader->errors, node,
			   "found %s; expected random, latin_hypercube or sobol", text);
	return false;
}

/* Reads a whole number. Returns the default if the key is absent, and 0 after an error. */
static unsigned long read_count(struct design *design, struct yaml_node *map, const char *key,
				unsigned long otherwise, unsigned long most)
{
	struct yaml_node *node = yaml_get(map, key);
	double number = (double)otherwise;
	if (node && !scenario_sweep_number(design->reader, node, false, &number))
		return 0;
	if (number >= 1 && number <= (double)most && number == floor(number))
		return (unsigned long)number;
	yaml_error(design->reader->errors, node ? node : map,
		   "%s: expected a whole number from 1 to %lu", key, most);
	return 0;
}

void scenario_design_read(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const names[] = {"kind", "points", "seed", "keys"};
	struct scenario_sweep_axis *axis = scenario_sweep_add_axis(reader->scenario, node);
	struct design design = {.reader = reader};
	if (!yaml_expect_map(node, "kind, points and keys", reader->errors))
		return;
	struct yaml_node *keys = yaml_get(node, "keys");
	bool good = read_kind(&design, yaml_get(node, "kind"));
	design.points = read_count(&design, node, "points", 0, SCENARIO_SWEEP_VALUES_MAX);
	design.seed = read_count(&design, node, "seed", 1, UINT32_MAX);
	yaml_refuse_unused(node, names, ARRAY_SIZE(names), reader->errors);
	if (!keys || !yaml_expect_map(keys, "ranges by key path", reader->errors)) {
		if (!keys)
			yaml_error(reader->errors, node, "expected keys: {KEY.PATH: {from, to}}");
		return;
	}
	for (struct yaml_node *key = keys->children; key; key = key->next, design.keys++)
		scenario_sweep_add_column(axis, key->key);
	if (design.kind == SOBOL && design.keys > SOBOL_KEYS_MAX) {
		yaml_error(reader->errors, keys, "%zu keys; kind: sobol has at most %d",
			   design.keys, SOBOL_KEYS_MAX);
		return;
	}
	if (good && design.points > 0 && design.seed > 0 && design.keys > 0)
		read_keys(&design, axis, keys);
}
