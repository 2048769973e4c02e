/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_block: see plugin_block.h. */
#include "sim/plugin_block.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/foreign.h"
#include "sim/yaml.h"

#define NAMES_MAX  64
#define VALUES_MAX 256
#define BETWEEN    ", "

static uint64_t next_random(void *self)
{
	struct plugin_block *plugin = self;

	return random_u64(&plugin->random);
}

static void write_trace(void *self, unsigned point, uint64_t first, uint64_t second)
{
	struct plugin_block *plugin = self;

	if (point >= plugin->point_count)
		foreign_fail(plugin->owner, "trace()",
			     "trace point %u of %u; expected an index of trace_points", point,
			     plugin->point_count);
	trace(&plugin->block, point, 0, first, second);
}

static void add_count(void *self, unsigned counter, uint64_t by)
{
	struct plugin_block *plugin = self;

	if (counter >= plugin->counter_count)
		foreign_fail(plugin->owner, "count()",
			     "counter %u of %u; expected an index of counters", counter,
			     plugin->counter_count);
	plugin->counts[counter] += by;
}

static const struct plugin_services services = {
	.random = next_random,
	.trace = write_trace,
	.count = add_count,
};

static const struct counter no_counters[1];
static const struct trace_point no_points[1];

void plugin_block_init(struct plugin_block *plugin, struct sim *sim, const char *name,
		       const char *type, const char *owner, const struct counter *counters,
		       const struct trace_point *points)
{
	*plugin = (struct plugin_block){
		.host = {&services, plugin},
		.owner = owner,
		.type = {.name = type,
			 .counters = counters ? counters : no_counters,
			 .trace_points = points ? points : no_points},
	};
	while (plugin->type.counters[plugin->counter_count].name)
		plugin->counter_count++;
	while (plugin->type.trace_points[plugin->point_count].name)
		plugin->point_count++;
	plugin->counts = calloc(plugin->counter_count + 1, sizeof(plugin->counts[0]));
	assert(plugin->counts);
	block_init(&plugin->block, sim, &plugin->type, name, NULL, plugin->counts);
	random_init(&plugin->random, &plugin->block, "plugin");
}

void plugin_block_fini(struct plugin_block *plugin)
{
	block_fini(&plugin->block);
	free(plugin->counts);
}

static bool set(const struct param *list, void *params, const char *name, const char *value,
		char *error, size_t error_bytes)
{
	const char *names[NAMES_MAX], *near;
	size_t count = 0;

	for (const struct param *param = list; param && param->name; param++) {
		if (!strcmp(param->name, name))
			return param_parse(param, value, params, error, error_bytes);
		if (count < NAMES_MAX)
			names[count++] = param->name;
	}
	near = yaml_suggest(name, names, count);
	snprintf(error, error_bytes, "no parameter `%s`%s%s%s", name, near ? "; did you mean " : "",
		 near ? near : "", near ? "?" : "");
	return false;
}

bool plugin_block_values(const struct param *list, void *params, const char *values, char *error,
			 size_t error_bytes)
{
	char text[VALUES_MAX], *rest = text, *entry;

	snprintf(text, sizeof(text), "%s", values);
	while ((entry = strsep(&rest, BETWEEN))) {
		char *value = strchr(entry, '=');

		if (!*entry)
			continue;
		if (!value) {
			snprintf(error, error_bytes, "\"%s\" is no value; expected key=value",
				 entry);
			return false;
		}
		*value = '\0';
		if (!set(list, params, entry, value + 1, error, error_bytes))
			return false;
	}
	return true;
}
