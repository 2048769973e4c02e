/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_sweep: the sections `sweep` and `variants`. Each entry of `sweep` is an axis, and so is
 * `variants`. A sweep runs each combination of the values of all axes.
 *
 *     sweep:
 *       workload.offered_load: [0.2, 0.4]                          values
 *       seed: {from: 1, to: 5, step: 1}                            a range
 *       hosts.hca: [{pcie.lanes: 8, port.mtu: 1024B}]              keys that vary together
 *       hosts.hca.port: {slow: {rate: 25Gbps}, fast: {...}}        named values
 *       zip: {load.threads: [1, 8], load.tx_depth: [64, 8]}        lists that vary together
 *       design: {kind: random, points: 50, keys: {...}}            scenario_design.c
 *     variants: {lossless: {...}, lossy: {...}}                    named maps over the scenario
 */
#include "hcasim/schema/scenario_sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- builders ---- */

static void *grow(void *list, size_t count, size_t element_bytes)
{
	list = realloc(list, (count + 1) * element_bytes);
	if (!list)
		abort();
	return list;
}

struct scenario_sweep_axis *scenario_sweep_add_axis(struct scenario *scenario,
						    const struct yaml_node *node)
{
	scenario->axes = grow(scenario->axes, scenario->axis_count, sizeof(*scenario->axes));
	struct scenario_sweep_axis *axis = &scenario->axes[scenario->axis_count++];
	*axis = (struct scenario_sweep_axis){.line = node->key_line, .column = node->key_column};
	return axis;
}

void scenario_sweep_add_column(struct scenario_sweep_axis *axis, const char *name)
{
	axis->columns = grow(axis->columns, axis->column_count, sizeof(*axis->columns));
	axis->columns[axis->column_count++] = name;
}

struct scenario_sweep_value *scenario_sweep_add_value(struct scenario_sweep_axis *axis)
{
	axis->values = grow(axis->values, axis->count, sizeof(*axis->values));
	struct scenario_sweep_value *value = &axis->values[axis->count++];
	*value = (struct scenario_sweep_value){
		.cells = calloc(axis->column_count + 1, sizeof(*value->cells)),
		.sets = calloc(1, sizeof(*value->sets))};
	if (!value->cells || !value->sets)
		abort();
	for (uint32_t i = 0; i < axis->column_count; i++)
		scenario_sweep_set_cell(value, i, "");
	return value;
}

void scenario_sweep_set_cell(struct scenario_sweep_value *value, uint32_t column, const char *text)
{
	free(value->cells[column]);
	value->cells[column] = strdup(text);
	if (!value->cells[column])
		abort();
}

void scenario_sweep_set_key(struct scenario_sweep_value *value, const char *path, const char *text)
{
	size_t count = 0;
	while (value->sets[count])
		count++;
	value->sets = grow(value->sets, count + 1, sizeof(*value->sets));
	if (asprintf(&value->sets[count], "%s=%s", path, text) < 0)
		abort();
	value->sets[count + 1] = NULL;
}

static void print_flow(const struct yaml_node *node, FILE *out)
{
	bool is_map = node->kind == YAML_MAP;
	if (node->kind == YAML_NULL)
		return;
	if (node->kind == YAML_SCALAR) {
		if (node->quoted)
			scenario_print_text(node->text, out);
		else
			fprintf(out, "%s", node->text);
		return;
	}
	fputc(is_map ? '{' : '[', out);
	for (const struct yaml_node *child = node->children; child; child = child->next) {
		if (child != node->children)
			fprintf(out, ", ");
		if (is_map)
			fprintf(out, "%s: ", child->key);
		print_flow(child, out);
	}
	fputc(is_map ? '}' : ']', out);
}

char *scenario_sweep_text(const struct yaml_node *node)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		abort();
	print_flow(node, out);
	fclose(out);
	return text;
}

void scenario_sweep_set_tree(struct scenario_sweep_value *value, const char *path,
			     struct yaml_node *node)
{
	node->used = true;
	if (node->kind != YAML_MAP) {
		char *text = scenario_sweep_text(node);
		scenario_sweep_set_key(value, path, text);
		free(text);
		return;
	}
	for (struct yaml_node *child = node->children; child; child = child->next) {
		char *below;
		bool top = strcmp(path, ".") == 0;
		if (asprintf(&below, "%s%s%s", top ? "" : path, top ? "" : ".", child->key) < 0)
			abort();
		scenario_sweep_set_tree(value, below, child);
		free(below);
	}
}

bool scenario_sweep_number(struct scenario_reader *reader, struct yaml_node *node, bool has_unit,
			   double *number)
{
	const char *text = yaml_expect_text(node, "a number", reader->errors);
	char *end;
	if (!text)
		return false;
	*number = strtod(text, &end);
	if (*end == '\0' && end != text)
		return true;
	if (has_unit && end != text)
		yaml_error(reader->errors, node,
			   "\"%s\" is not a number; expected %.*s here, and unit: %s for the range",
			   text, (int)(end - text), text, end);
	else
		yaml_error(reader->errors, node, "\"%s\" is not a number", text);
	return false;
}

/* ---- kinds of axes ---- */

/* Adds a value of an axis with one column. A map or a list in `node` is shown as YAML. */
static void add_node(struct scenario_sweep_axis *axis, const char *path, struct yaml_node *node)
{
	struct scenario_sweep_value *value = scenario_sweep_add_value(axis);
	bool is_text = node->kind == YAML_SCALAR;
	char *text = is_text ? NULL : scenario_sweep_text(node);
	scenario_sweep_set_cell(value, 0, is_text ? node->text : text);
	if (is_text)
		scenario_sweep_set_key(value, path, node->text);
	else
		scenario_sweep_set_tree(value, path, node);
	free(text);
}

/* {from: 1, to: 16, step: 1}, {from: 1, to: 16, times: 2}, {from: 1, to: 8, times: 2, unit: KB}. */
static void read_range(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_sweep_axis *axis, const char *path)
{
	static const char *const names[] = {"from", "to", "step", "times", "unit"};
	enum { FROM, TO, STEP, TIMES, NUMBERS };
	double values[NUMBERS] = {0}, value;
	bool given[NUMBERS] = {false}, good = true;
	struct yaml_node *entry = yaml_get(node, "unit");
	const char *unit = entry ? yaml_expect_text(entry, "a unit", reader->errors) : "";
	for (size_t i = 0; i < NUMBERS; i++) {
		entry = yaml_get(node, names[i]);
		given[i] = entry && scenario_sweep_number(reader, entry, i != TIMES, &values[i]);
		good = good && given[i] == (entry != NULL);
	}
	yaml_refuse_unused(node, names, ARRAY_SIZE(names), reader->errors);
	if (!good)
		return;
	bool adds = given[STEP] && values[STEP] > 0, multiplies = given[TIMES] && values[TIMES] > 1;
	if (!given[FROM] || !given[TO] || adds == multiplies || values[FROM] > values[TO] ||
	    (multiplies && values[FROM] <= 0)) {
		yaml_error(reader->errors, node,
			   "expected from and to, and either step above 0 or times above 1");
		return;
	}
	value = values[FROM];
	for (unsigned i = 0; value <= values[TO] * (1 + 1e-12); i++) {
		char text[64];
		if (i == SCENARIO_SWEEP_VALUES_MAX) {
			yaml_error(reader->errors, node, "more than %d values", i);
			return;
		}
		snprintf(text, sizeof(text), "%.12g%s", value, unit ? unit : "");
		struct scenario_sweep_value *added = scenario_sweep_add_value(axis);
		scenario_sweep_set_cell(added, 0, text);
		scenario_sweep_set_key(added, path, text);
		value = adds ? values[FROM] + (i + 1) * values[STEP] : value * values[TIMES];
	}
}

/* {slow: {rate: 25Gbps}, fast: {rate: 100Gbps}}: a table shows the names. */
static void read_named(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_sweep_axis *axis, const char *path)
{
	for (struct yaml_node *child = node->children; child; child = child->next) {
		child->used = true;
		if (!scenario_name_valid(child->key))
			yaml_error(
				reader->errors, child,
				"\"%s\" is not a valid name; expected at most %d letters, digits, "
				"- and _",
				child->key, SCENARIO_NAME_BYTES);
		else if (child->kind == YAML_NULL) /* the file's own values */
			scenario_sweep_set_cell(scenario_sweep_add_value(axis), 0, child->key);
		else if (yaml_expect_map(child, "keys and values", reader->errors)) {
			struct scenario_sweep_value *value = scenario_sweep_add_value(axis);
			scenario_sweep_set_cell(value, 0, child->key);
			scenario_sweep_set_tree(value, path, child);
		}
	}
}

/* Returns true if no entry of the map is a scalar, so that its keys are names of values. */
static bool has_names(const struct yaml_node *map)
{
	for (const struct yaml_node *child = map->children; child; child = child->next)
		if (child->kind != YAML_MAP && child->kind != YAML_NULL)
			return false;
	return map->children;
}

static uint32_t count_of(const struct yaml_node *list)
{
	uint32_t count = 0;
	for (const struct yaml_node *child = list->children; child; child = child->next)
		count++;
	return count;
}

/* {KEY: [a, b], OTHER: [c, d]}: the first values together, then the second ones. */
static void read_zip(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario_sweep_axis *axis = scenario_sweep_add_axis(reader->scenario, node);
	uint32_t column = 0;
	if (!yaml_expect_map(node, "lists of equal length by key path", reader->errors))
		return;
	for (struct yaml_node *list = node->children; list; list = list->next) {
		list->used = true;
		if (!scenario_expect_list(reader, list, "values"))
			return;
		scenario_sweep_add_column(axis, list->key);
	}
	for (uint32_t i = 0; node->children && i < count_of(node->children); i++)
		scenario_sweep_add_value(axis);
	for (struct yaml_node *list = node->children; list; list = list->next, column++) {
		struct scenario_sweep_value *value = axis->values;
		if (count_of(list) != axis->count) {
			yaml_error(reader->errors, list,
				   "found %u values; expected %u, like \"%s\"", count_of(list),
				   axis->count, node->children->key);
			return;
		}
		for (struct yaml_node *child = list->children; child; child = child->next) {
			char *text = scenario_sweep_text(child);
			bool is_text = child->kind == YAML_SCALAR;
			scenario_sweep_set_cell(value, column, is_text ? child->text : text);
			scenario_sweep_set_tree(value++, list->key, child);
			free(text);
		}
	}
}

static void read_list(struct scenario_reader *reader, struct yaml_node *node,
		      struct scenario_sweep_axis *axis, const char *path)
{
	for (struct yaml_node *value = node->children; value; value = value->next) {
		if (value->kind == YAML_NULL)
			yaml_expect_text(value, "a value, or a map of keys", reader->errors);
		else if (value->kind == YAML_SCALAR && strcmp(path, ".") == 0)
			yaml_error(reader->errors, value, "found %s; expected a map of keys",
				   value->text);
		else
			add_node(axis, path, value);
	}
}

static void read_axis(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario_sweep_axis *axis = scenario_sweep_add_axis(reader->scenario, node);
	scenario_sweep_add_column(axis, node->key);
	if (node->kind == YAML_MAP && has_names(node))
		read_named(reader, node, axis, node->key);
	else if (node->kind == YAML_MAP)
		read_range(reader, node, axis, node->key);
	else if (scenario_expect_list(reader, node, "values, or {from, to, step}"))
		read_list(reader, node, axis, node->key);
}

static void refuse_empty(struct scenario_reader *reader, const struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	if (reader->errors->count == reader->errors_before &&
	    scenario->axes[scenario->axis_count - 1].count == 0)
		yaml_error(reader->errors, node, "no values");
}

/* ---- keys that two axes set ---- */

/* Collects the different keys that the values of an axis set. */
struct keys {
	char **list; /* "key.path=value", of which the path counts */
	size_t count;
};

static bool has_key(const struct keys *keys, const char *set)
{
	size_t length = strcspn(set, "=") + 1;
	for (size_t i = 0; i < keys->count; i++)
		if (strncmp(keys->list[i], set, length) == 0)
			return true;
	return false;
}

static struct keys keys_of(const struct scenario_sweep_axis *axis)
{
	struct keys keys = {0};
	for (uint32_t i = 0; i < axis->count; i++) {
		for (char **set = axis->values[i].sets; *set; set++) {
			if (has_key(&keys, *set))
				continue;
			keys.list = grow(keys.list, keys.count, sizeof(*keys.list));
			keys.list[keys.count++] = *set;
		}
	}
	return keys;
}

/* Reports each key that the axis and an earlier axis set: only one of the two values would have an
 * effect. */
static void refuse_twice(struct scenario_reader *reader, const struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	struct keys new_keys = keys_of(&scenario->axes[scenario->axis_count - 1]);
	for (uint32_t i = 0; i + 1 < scenario->axis_count; i++) {
		struct keys keys = keys_of(&scenario->axes[i]);
		for (size_t k = 0; k < new_keys.count; k++) {
			if (has_key(&keys, new_keys.list[k]))
				yaml_error(reader->errors, node, "%.*s is swept at line %u, too",
					   (int)strcspn(new_keys.list[k], "="), new_keys.list[k],
					   scenario->axes[i].line);
		}
		free(keys.list);
	}
	free(new_keys.list);
}

const char *const *scenario_sweep_read(struct scenario_reader *reader, struct yaml_node *node)
{
	if (!node || !yaml_expect_map(node, "values by key path", reader->errors))
		return NULL;
	for (struct yaml_node *axis = node->children; axis; axis = axis->next) {
		axis->used = true;
		if (strcmp(axis->key, "zip") == 0)
			read_zip(reader, axis);
		else if (strcmp(axis->key, "design") == 0)
			scenario_design_read(reader, axis);
		else
			read_axis(reader, axis);
		refuse_empty(reader, axis);
		refuse_twice(reader, axis);
	}
	return NULL;
}

const char *const *scenario_sweep_variants_read(struct scenario_reader *reader,
						struct yaml_node *node)
{
	if (!node || !yaml_expect_map(node, "maps of keys by name", reader->errors))
		return NULL;
	struct scenario_sweep_axis *axis = scenario_sweep_add_axis(reader->scenario, node);
	scenario_sweep_add_column(axis, "variant");
	read_named(reader, node, axis, ".");
	refuse_empty(reader, node);
	return NULL;
}

void scenario_sweep_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->axis_count; i++) {
		struct scenario_sweep_axis *axis = &scenario->axes[i];
		for (uint32_t k = 0; k < axis->count; k++) {
			for (uint32_t c = 0; c < axis->column_count; c++)
				free(axis->values[k].cells[c]);
			for (char **set = axis->values[k].sets; *set; set++)
				free(*set);
			free(axis->values[k].cells);
			free(axis->values[k].sets);
		}
		free(axis->values);
		free(axis->columns);
	}
	free(scenario->axes);
}
