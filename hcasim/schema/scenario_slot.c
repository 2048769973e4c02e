/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_slot: host of an adapter (`host:` beside `hca:`). Both presets contain values for it.
 * Later sources take precedence:
 *
 *     adapter's preset  <  host's preset  <  keys `hca` and `host` of the scenario
 *
 * An adapter's preset assumes a host. If the host's preset has another value, that value is used,
 * with a warning.
 */
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/preset.h"
#include "hcasim/schema/scenario_read.h"

enum { VALUE_BYTES = 128 };

typedef void slot_visit(void *context, const struct param_section *section,
			const struct param *param);

/* Visits all parameters of hosts. */
static void visit_all(slot_visit *visit, void *context)
{
	for (const struct param_section *section = composite_of(COMPOSITE_HOST)->sections;
	     section->name; section++)
		for (const struct param *param = section->list; param->name; param++)
			visit(context, section, param);
}

static void print_value(const struct param_section *section, const struct param *param,
			const void *params, char text[VALUE_BYTES])
{
	param_print(param, (const char *)params + section->offset, text, VALUE_BYTES);
}

static bool is_said(const struct yaml_node *map, const struct param_section *section,
		    const struct param *param)
{
	const struct yaml_node *node = map->kind == YAML_MAP ? map->children : NULL;
	while (node && strcmp(node->key, section->name) != 0)
		node = node->next;
	node = node && node->kind == YAML_MAP ? node->children : NULL;
	while (node && strcmp(node->key, param->name) != 0)
		node = node->next;
	return node;
}

struct slot_check {
	struct scenario_reader *reader;
	const struct yaml_node *adapter, *slot;
	const void *defaults, *assumed, *found, *said_by_slot;
	bool has_preset;
	char *differences; /* differences between presets */
	size_t length;
	FILE *out;
};

/* Refuses a value that the scenario sets in both places, differently. */
static void refuse_twice(void *context, const struct param_section *section,
			 const struct param *param)
{
	const struct slot_check *check = context;
	char here[VALUE_BYTES], there[VALUE_BYTES];
	if (!is_said(check->adapter, section, param) || !is_said(check->slot, section, param))
		return;
	print_value(section, param, check->said_by_slot, here);
	print_value(section, param, check->found, there);
	if (strcmp(here, there) != 0)
		yaml_error(check->reader->errors, check->slot,
			   "%s.%s is %s here and %s in hca; remove one of them", section->name,
			   param->name, here, there);
}

/* Notes a value that the presets of the adapter and of the host set differently. */
static void note_difference(void *context, const struct param_section *section,
			    const struct param *param)
{
	struct slot_check *check = context;
	char here[VALUE_BYTES], there[VALUE_BYTES], nobody[VALUE_BYTES];
	if (is_said(check->adapter, section, param) || is_said(check->slot, section, param))
		return;
	print_value(section, param, check->found, here);
	print_value(section, param, check->assumed, there);
	print_value(section, param, check->defaults, nobody);
	/* the preset of a card determines lanes and generation, if only by the default */
	bool of_card =
		check->has_preset && strcmp(section->name, "pcie") == 0 &&
		(strcmp(param->name, "generation") == 0 || strcmp(param->name, "lanes") == 0);
	if (strcmp(here, there) != 0 && (of_card || strcmp(there, nobody) != 0))
		fprintf(check->out, "%s%s.%s %s, not %s", ftell(check->out) > 0 ? "; " : "",
			section->name, param->name, here, there);
}

static void *copy_of(const void *params)
{
	size_t bytes = composite_of(COMPOSITE_HCA)->bytes;
	void *copy = malloc(bytes);
	if (!copy)
		abort();
	return memcpy(copy, params, bytes);
}

void scenario_slot_read(struct scenario_reader *reader, struct yaml_node *adapter,
			struct yaml_node *slot, struct hca_params *params)
{
	unsigned before = reader->errors->count;
	if (!params) {
		yaml_error(reader->errors, slot, "an adapter of fidelity endpoint has no host");
		return;
	}
	void *defaults = composite_create(COMPOSITE_HCA), *assumed = copy_of(params);
	preset_read(COMPOSITE_HOST, slot, NULL, params, NULL, reader->errors);
	void *said_by_slot = copy_of(params);
	if (reader->errors->count == before && adapter && adapter->kind == YAML_MAP) {
		static const char *const others[] = {"preset", NULL};
		composite_override(COMPOSITE_HOST, adapter, others, params, reader->errors);
	}
	struct slot_check check = {.reader = reader,
				   .adapter = adapter ? adapter : slot,
				   .slot = slot,
				   .defaults = defaults,
				   .assumed = assumed,
				   .found = params,
				   .said_by_slot = said_by_slot,
				   .has_preset = adapter && (adapter->kind == YAML_SCALAR ||
							     (adapter->kind == YAML_MAP &&
							      yaml_get(adapter, "preset")))};
	check.out = open_memstream(&check.differences, &check.length);
	if (!check.out)
		abort();
	if (reader->errors->count == before) {
		if (adapter)
			visit_all(refuse_twice, &check);
		visit_all(note_difference, &check);
	}
	fclose(check.out);
	if (check.length > 0)
		yaml_error(&reader->scenario->warnings, slot,
			   "warning: the presets of host and hca differ; the preset of host "
			   "applies: %s",
			   check.differences);
	free(check.differences);
	free(said_by_slot);
	free(assumed);
	free(defaults);
}
