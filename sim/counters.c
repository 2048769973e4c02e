/* SPDX-License-Identifier: Apache-2.0 */
/* counters: see counters.h. */
#include "sim/counters.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "sim/gauge.h"
#include "sim/json.h"

#define GAUGE_VALUES 5

static const char *const gauge_names[GAUGE_VALUES] = {"capacity", "level", "level_max", "area_ps",
						      "stalled_ps"};

static void gauge_values(const struct gauge *gauge, sim_time now, uint64_t values[GAUGE_VALUES])
{
	values[0] = gauge->capacity;
	values[1] = gauge->level;
	values[2] = gauge->level_max;
	values[3] = gauge_area(gauge, now);
	values[4] = gauge_stalled(gauge, now);
}

static bool selected(const struct block *block, const char *pattern)
{
	bool counts = block->counts && block->type->counters;

	return (counts || block->gauges) && (!pattern || fnmatch(pattern, block->name, 0) == 0);
}

void counters_print_text(const struct sim *sim, const char *pattern, FILE *out)
{
	for (const struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct counter *counters = block->type->counters;

		if (!selected(block, pattern))
			continue;
		for (size_t i = 0; block->counts && counters[i].name; i++)
			fprintf(out, "%s.%s=%" PRIu64 "\n", block->name, counters[i].name,
				block->counts[i]);
	}
}

static void print_gauges_json(struct block *block, FILE *out)
{
	const struct gauge *gauges = gauges_read(block);
	uint64_t values[GAUGE_VALUES];

	if (!gauges)
		return;
	fputs(", \"gauges\": {", out);
	for (size_t i = 0; block->type->gauges[i].name; i++) {
		const struct gauge_info *info = &block->type->gauges[i];

		fputs(i != 0 ? ",\n\t" : "\n\t", out);
		json_text(out, info->name);
		fprintf(out, ": {\"kind\": \"%s\", \"unit\": ", gauge_kind_name(info->kind));
		json_text(out, info->unit);
		gauge_values(&gauges[i], sim_now(block->sim), values);
		for (unsigned at = 0; at < GAUGE_VALUES; at++)
			fprintf(out, ", \"%s\": %" PRIu64, gauge_names[at], values[at]);
		fputc('}', out);
	}
	fputc('}', out);
}

void counters_print_json(const struct sim *sim, const char *pattern, FILE *out)
{
	const char *separator = "\n";

	fputc('{', out);
	for (struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct counter *counters = block->type->counters;

		if (!selected(block, pattern))
			continue;
		fputs(separator, out);
		separator = ",\n";
		json_text(out, block->name);
		fputs(": {\"type\": ", out);
		json_text(out, block->type->name);
		fputs(", \"counters\": {", out);
		for (size_t i = 0; block->counts && counters[i].name; i++) {
			fputs(i != 0 ? ", " : "", out);
			json_text(out, counters[i].name);
			fputs(": ", out);
			json_u64(out, block->counts[i]);
		}
		fputc('}', out);
		print_gauges_json(block, out);
		fputc('}', out);
	}
	fputs("\n}\n", out);
}

const uint64_t *counters_find(const struct sim *sim, const char *name)
{
	for (const struct block *block = sim_blocks(sim); block; block = block->next) {
		const struct counter *counters = block->type->counters;
		size_t length = strlen(block->name);

		if (!block->counts || !counters || strncmp(name, block->name, length) != 0 ||
		    name[length] != '.')
			continue;
		for (size_t i = 0; counters[i].name; i++) {
			if (strcmp(name + length + 1, counters[i].name) == 0)
				return &block->counts[i];
		}
	}
	return NULL;
}
