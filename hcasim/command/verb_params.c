/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_params: implements hcasim params [BLOCK] [--json]: prints all parameters, from the lists
 * that the readers use.
 */
#include <stdio.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "hcasim/schema/scenario_sections.h"
#include "sim/json.h"
#include "sim/renamed_keys.h"

#define NAME_BYTES 64
#define BLOCKS_MAX 128

struct printer {
	const char *wanted; /* NULL: all lists */
	bool json, words;
	unsigned lists, params;
	char names[BLOCKS_MAX][NAME_BYTES]; /* names of all lists */
	unsigned name_count;
};

/* Returns true for the wanted list. "hca" stands for all its lists, "hca.pcie" for one. */
static bool is_wanted(const struct printer *printer, const char *name)
{
	const char *wanted = printer->wanted;
	size_t length = wanted ? strlen(wanted) : 0;
	return !wanted || strcmp(wanted, name) == 0 ||
	       (strncmp(wanted, name, length) == 0 && name[length] == '.');
}

static void print_json(struct printer *printer, const char *block, const struct param *param)
{
	const struct {
		const char *key, *value;
	} pairs[] = {{"block", block},
		     {"name", param->name},
		     {"kind", param_kind_name(param->kind)},
		     {"unit", param_kind_unit(param->kind)},
		     {"default", param->default_text},
		     {"range", param->range},
		     {"meaning", param->meaning},
		     {"source", param->source}};
	printf("%s\n  {", printer->params > 0 ? "," : "");
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		printf("%s\"%s\": ", i > 0 ? ", " : "", pairs[i].key);
		json_text(stdout, pairs[i].value);
	}
	printf("}");
}

static void print_list(struct printer *printer, const char *name, const char *meaning,
		       const struct param *list)
{
	if (!list)
		return;
	if (printer->name_count < BLOCKS_MAX)
		snprintf(printer->names[printer->name_count++], NAME_BYTES, "%s", name);
	if (!is_wanted(printer, name))
		return;
	printer->lists++;
	if (printer->words) {
		printf("%s\n", name);
		return;
	}
	if (!printer->json)
		printf("%s%s: %s\n", printer->lists > 1 ? "\n" : "", name, meaning);
	for (const struct param *param = list; param->name; param++) {
		if (printer->json) {
			print_json(printer, name, param);
		} else {
			printf("  %-20s %-10s %s\n", param->name, param->default_text,
			       param->meaning);
			printf("  %-31s %s%s%s\n", "", param_kind_unit(param->kind),
			       *param->range != '\0' ? "; " : "", param->range);
			printf("  %-31s source: %s\n", "", param->source);
		}
		printer->params++;
	}
}

static void print_sections(struct printer *printer, const char *owner, const char *meaning,
			   const struct param *list, const struct param_section *sections)
{
	char name[NAME_BYTES];
	print_list(printer, owner, meaning, list);
	for (const struct param_section *section = sections; section && section->name; section++) {
		snprintf(name, sizeof(name), "%s.%s", owner, section->name);
		print_list(printer, name, section->meaning, section->list);
	}
}

static void print_congestion(struct printer *printer)
{
	char name[NAME_BYTES];

	for (const struct congestion_ops *const *ops = congestion_list(); *ops; ops++) {
		snprintf(name, sizeof(name), "congestion.%s", (*ops)->name);
		print_list(printer, name, (*ops)->meaning, (*ops)->params);
	}
}

static int report_unknown(const struct printer *printer)
{
	const char *names[BLOCKS_MAX];
	for (unsigned i = 0; i < printer->name_count; i++)
		names[i] = printer->names[i];
	char hint[256];
	renamed_key_hint(renamed_key("list", printer->wanted), printer->wanted, names,
			 printer->name_count, hint, sizeof(hint));
	if (*hint != '\0')
		say("no list of parameters \"%s\"%s", printer->wanted, hint);
	else
		say("no list of parameters \"%s\"; hcasim params prints all lists",
		    printer->wanted);
	return EXIT_BAD_INPUT;
}

int verb_params(const struct arguments *arguments)
{
	static struct printer printer;
	printer = (struct printer){.wanted = arguments->word,
				   .json = arguments->json && !arguments->words,
				   .words = arguments->words};
	if (printer.json)
		printf("[");
	for (const struct scenario_section *section = scenario_sections; section->name; section++)
		print_sections(&printer, section->name, section->meaning, section->list,
			       section->sections);
	for (unsigned kind = 0; kind < COMPOSITE_COUNT; kind++) {
		const struct composite *composite = composite_of((enum composite_kind)kind);
		print_sections(&printer, composite->name, composite->meaning, composite->list,
			       composite->sections);
	}
	print_congestion(&printer);
	if (printer.json)
		printf("\n]\n");
	return printer.lists > 0 ? EXIT_GOOD : report_unknown(&printer);
}
