/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_cpu: implements hcasim explain RUN --cpu. Prints the processor time of each program by
 * purpose, programs side by side. The source is the summary.json of the result folder (see
 * verbs-shim/cpu_time.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/explain_summary.h"
#include "hcasim/command/verb.h"
#include "sim/json.h"
#include "verbs-shim/cpu_time.h"

#define COLUMNS 4 /* programs side by side */

static const char *const kind_names[] = {
#define KIND_NAME(name, mode, meaning) #name,
	CPU_KINDS(KIND_NAME)};
static const char *const kind_meanings[] = {
#define KIND_MEANING(name, mode, meaning) meaning,
	CPU_KINDS(KIND_MEANING)};

static uint64_t number_of(struct yaml_node *map, const char *key)
{
	return strtoull(explain_summary_text(map, key), NULL, 10);
}

static uint64_t time_of(struct yaml_node *program, const char *kind)
{
	struct yaml_node *kinds = yaml_get(program, "kinds_ps");

	return kinds && kinds->kind == YAML_MAP ? number_of(kinds, kind) : 0;
}

static double percent(uint64_t time, uint64_t total)
{
	return total ? 100 * (double)time / (double)total : 0;
}

static void print_cell(uint64_t time, uint64_t total)
{
	printf("  %14.3f %6.1f%%", (double)time / 1e6, percent(time, total));
}

static void print_line(const char *name, struct yaml_node *first, struct yaml_node *end)
{
	bool any = false;

	for (struct yaml_node *at = first; at != end; at = at->next)
		any |= time_of(at, name) > 0;
	if (!any)
		return;
	printf("%-14s", name);
	for (struct yaml_node *at = first; at != end; at = at->next)
		print_cell(time_of(at, name), number_of(at, "cpu_ps"));
	putchar('\n');
}

static void print_side_by_side(struct yaml_node *first, struct yaml_node *end)
{
	printf("%-14s", "us");
	for (struct yaml_node *at = first; at != end; at = at->next) {
		char head[256];

		snprintf(head, sizeof(head), "%s %s", explain_summary_text(at, "host"),
			 explain_summary_text(at, "program"));
		printf("  %22s", head);
	}
	putchar('\n');
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++)
		print_line(kind_names[kind], first, end);
	printf("%-14s", "total");
	for (struct yaml_node *at = first; at != end; at = at->next)
		print_cell(number_of(at, "cpu_ps"), number_of(at, "cpu_ps"));
	printf("\n%-14s", "of it system");
	for (struct yaml_node *at = first; at != end; at = at->next)
		print_cell(number_of(at, "system_ps"), number_of(at, "cpu_ps"));
	putchar('\n');
}

static void print_meanings(struct yaml_node *first)
{
	for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++) {
		bool any = false;

		for (struct yaml_node *at = first; at; at = at->next)
			any |= time_of(at, kind_names[kind]) > 0;
		if (any)
			printf("%-14s  %s\n", kind_names[kind], kind_meanings[kind]);
	}
}

static void print_text(struct yaml_node *first)
{
	for (struct yaml_node *at = first; at;) {
		struct yaml_node *end = at;

		for (unsigned i = 0; i < COLUMNS && end; i++)
			end = end->next;
		print_side_by_side(at, end);
		putchar('\n');
		at = end;
	}
	print_meanings(first);
}

static void print_json(struct yaml_node *first)
{
	printf("{\"programs\": [");
	for (struct yaml_node *at = first; at; at = at->next) {
		uint64_t total = number_of(at, "cpu_ps");

		printf("%s\n  {\"host\": ", at != first ? "," : "");
		json_text(stdout, explain_summary_text(at, "host"));
		printf(", \"program\": ");
		json_text(stdout, explain_summary_text(at, "program"));
		printf(", \"cpu_ps\": %" PRIu64 ", \"system_ps\": %" PRIu64 ", \"kinds\": [", total,
		       number_of(at, "system_ps"));
		for (unsigned kind = 0; kind < CPU_KIND_COUNT; kind++) {
			uint64_t time = time_of(at, kind_names[kind]);

			printf("%s\n    {\"kind\": \"%s\", \"mode\": \"%s\", \"time_ps\": %" PRIu64
			       ", \"share\": %.6f}",
			       kind ? "," : "", kind_names[kind],
			       cpu_kind_is_system((enum cpu_kind)kind) ? "system" : "user", time,
			       percent(time, total) / 100);
		}
		printf("]}");
	}
	puts("]}");
}

int explain_cpu(const struct arguments *arguments)
{
	struct explain_summary summary;
	int code = EXIT_BAD_INPUT;
	struct yaml_node *list;

	explain_summary_open(&summary, arguments->word);
	list = explain_summary_get(&summary, "cpu");
	if (!summary.document) {
		/* its errors have been printed */
	} else if (!list || list->kind != YAML_LIST || !list->children) {
		say("%s: no processor time in this file; expected a folder of a run with "
		    "programs%s",
		    summary.path, arguments->cpu ? "" : ", or with trace: [...]");
	} else {
		(arguments->json ? print_json : print_text)(list->children);
		code = EXIT_GOOD;
	}
	explain_summary_close(&summary);
	return code;
}
