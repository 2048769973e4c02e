/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_load: driver load: measures verbs under load (traffic/load/load.h). Keys: hca, host,
 * switch, link (presets or maps), first_host (differences of the first node's host), measure,
 * counter, times (a factor for the result), and the parameters of a load.
 */
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/published.h"
#include "hcasim/schema/preset.h"
#include "traffic/load/load.h"

enum { KEYS_MAX = 64 };

/* clang-format off */
#define MEASURES(X) LOAD_METRICS(X) X(counter, "", "") X(counter_mops, "", "")
/* clang-format on */

static const struct {
	const char *name;
	size_t place;
} measures[] = {
#define MEASURE_ROW(name, unit, meaning) {#name, offsetof(struct load_result, name)},
	MEASURES(MEASURE_ROW)
#undef MEASURE_ROW
};

/* Applies a key, first from the common settings, then from the case's own. */
static void read_composite(const struct published_settings *settings, const char *key,
			   enum composite_kind kind, void *params, uint64_t *given)
{
	struct yaml_node *maps[] = {settings->common, settings->own, settings->varied};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		struct yaml_node *node = maps[i] ? yaml_get(maps[i], key) : NULL;

		if (node)
			preset_read(kind, node, NULL, params, given, settings->errors);
	}
}

/* Refuses keys that have no meaning, because they are mistakes. */
static void refuse_others(struct yaml_node *map, struct yaml_errors *errors)
{
	const char *known[KEYS_MAX] = {"hca",  "host",    "first_host", "switch",
				       "link", "measure", "counter",    "times"};
	size_t count = 8;

	for (const struct param *param = load_place_param_list; param->name; param++)
		known[count++] = param->name;
	for (const struct param *param = load_param_list; param->name; param++)
		known[count++] = param->name;
	for (const struct param_section *section = load_sections; section->name; section++)
		known[count++] = section->name;
	yaml_refuse_unused(map, known, count, errors);
}

static void read_load(const struct published_settings *settings, struct load_params *params)
{
	struct yaml_node *maps[] = {settings->common, settings->own, settings->varied};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		if (!maps[i])
			continue;
		yaml_override_params(maps[i], load_place_param_list, params, settings->errors);
		yaml_override_params(maps[i], load_param_list, params, settings->errors);
		yaml_override_sections(maps[i], load_sections, params, settings->errors);
		refuse_others(maps[i], settings->errors);
	}
}

/* Returns the parameters of the first node's HCA if they differ from the others', otherwise NULL.
 * The caller frees them. */
static struct hca_params *read_first(const struct published_settings *settings,
				     const struct load_setup *setup)
{
	struct hca_params *first;

	if (!published_get(settings, "first_host"))
		return NULL;
	first = malloc(sizeof(*first));
	if (!first)
		abort();
	*first = setup->hca;
	read_composite(settings, "first_host", COMPOSITE_HOST, first, NULL);
	return first;
}

static void read_setup(const struct published_settings *settings, struct load_setup *setup)
{
	load_setup_default(setup);
	setup->counter = published_text(settings, "counter", NULL);
	read_composite(settings, "hca", COMPOSITE_HCA, &setup->hca, NULL);
	read_composite(settings, "host", COMPOSITE_HOST, &setup->hca, NULL);
	setup->first_hca = read_first(settings, setup);
	read_composite(settings, "switch", COMPOSITE_SWITCH, &setup->sw, NULL);
	read_composite(settings, "link", COMPOSITE_LINK, &setup->link, &setup->link_given);
	read_load(settings, &setup->load);
}

bool published_load(const struct published_settings *settings, double *ours, char *error)
{
	const char *measure = published_text(settings, "measure", "mops");
	double times = published_number(settings, "times", 1);
	struct load_setup *setup = calloc(1, sizeof(*setup));
	struct load_result result;
	unsigned before = settings->errors->count;
	bool good = false;

	if (!setup)
		abort();
	read_setup(settings, setup);
	if (settings->errors->count > before)
		snprintf(error, PUBLISHED_ERROR_BYTES, "the file has errors");
	else
		good = load_run(setup, &result, error, PUBLISHED_ERROR_BYTES);
	congestion_choice_fini(&setup->hca.congestion);
	free(setup->first_hca);
	free(setup);
	for (size_t i = 0; i < ARRAY_SIZE(measures) && good; i++) {
		if (strcmp(measures[i].name, measure) != 0)
			continue;
		*ours = *(const double *)(const void *)((const char *)&result + measures[i].place) *
			times;
		return true;
	}
	if (good)
		snprintf(error, PUBLISHED_ERROR_BYTES, "no measure \"%s\"", measure);
	return false;
}
