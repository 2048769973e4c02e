/* counters: see counters.h. */
#include "sim/counters.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "sim/json.h"

static bool selected(const struct block *block, const char *pattern)
{
	return block->counts != NULL && block->type->counters != NULL &&
	       (pattern == NULL || fnmatch(pattern, block->name, 0) == 0);
}

void counters_print_text(const struct sim *sim, const char *pattern, FILE *out)
{
	for (const struct block *block = sim_blocks(sim); block != NULL; block = block->next) {
		const struct counter *counters = block->type->counters;

		if (!selected(block, pattern))
			continue;
		for (size_t i = 0; counters[i].name != NULL; i++)
			fprintf(out, "%s.%s=%" PRIu64 "\n", block->name, counters[i].name,
				block->counts[i]);
	}
}

void counters_print_json(const struct sim *sim, const char *pattern, FILE *out)
{
	const char *separator = "\n";

	fputc('{', out);
	for (const struct block *block = sim_blocks(sim); block != NULL; block = block->next) {
		const struct counter *counters = block->type->counters;

		if (!selected(block, pattern))
			continue;
		fputs(separator, out);
		separator = ",\n";
		json_text(out, block->name);
		fputs(": {\"type\": ", out);
		json_text(out, block->type->name);
		fputs(", \"counters\": {", out);
		for (size_t i = 0; counters[i].name != NULL; i++) {
			fputs(i != 0 ? ", " : "", out);
			json_text(out, counters[i].name);
			fputs(": ", out);
			json_u64(out, block->counts[i]);
		}
		fputs("}}", out);
	}
	fputs("\n}\n", out);
}

const uint64_t *counters_find(const struct sim *sim, const char *name)
{
	for (const struct block *block = sim_blocks(sim); block != NULL; block = block->next) {
		const struct counter *counters = block->type->counters;
		size_t length = strlen(block->name);

		if (!selected(block, NULL) || strncmp(name, block->name, length) != 0 ||
		    name[length] != '.')
			continue;
		for (size_t i = 0; counters[i].name != NULL; i++) {
			if (strcmp(name + length + 1, counters[i].name) == 0)
				return &block->counts[i];
		}
	}
	return NULL;
}
