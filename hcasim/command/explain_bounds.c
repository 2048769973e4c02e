/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_bounds: implements hcasim explain RUN --bounds. Prints the rate that each resource
 * allows, lowest first, and the rate of the run. The source is the summary.json of the result
 * folder (see hcasim/run/bounds.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/explain_summary.h"
#include "hcasim/command/verb.h"
#include "sim/json.h"

static double share_of(struct yaml_node *bounds, struct yaml_node *resource)
{
	return explain_summary_number(bounds, "measured") /
	       explain_summary_number(resource, "bound");
}

static void print_text(struct yaml_node *bounds, struct yaml_node *first)
{
	const char *unit = explain_summary_text(bounds, "unit");
	printf("measured: %.6g %s of %s, %.1f %% of the lowest bound\n",
	       explain_summary_number(bounds, "measured"), unit,
	       explain_summary_text(bounds, "operation"), 100 * share_of(bounds, first));
	if (*explain_summary_text(bounds, "waits_in") != '\0')
		printf("nothing is busy: waiting in %s\n",
		       explain_summary_text(bounds, "waits_in"));
	printf("\n%14s  %8s  %-34s %14s %10s %s\n", "bound", "measured", "resource", "each takes",
	       "capacity", "kind");
	for (struct yaml_node *at = first; at; at = at->next)
		printf("%10.6g %s  %6.1f %%  %-34s %11.6g ps %10s %s\n",
		       explain_summary_number(at, "bound"), unit, 100 * share_of(bounds, at),
		       explain_summary_text(at, "name"), explain_summary_number(at, "demand_ps"),
		       explain_summary_text(at, "capacity"), explain_summary_text(at, "kind"));
}

static void print_json(struct yaml_node *bounds, struct yaml_node *first)
{
	printf("{\"operation\": ");
	json_text(stdout, explain_summary_text(bounds, "operation"));
	printf(", \"unit\": ");
	json_text(stdout, explain_summary_text(bounds, "unit"));
	printf(", \"measured\": %s, \"waits_in\": ", explain_summary_text(bounds, "measured"));
	json_text(stdout, explain_summary_text(bounds, "waits_in"));
	printf(", \"resources\": [");
	for (struct yaml_node *at = first; at; at = at->next) {
		printf("%s\n  {\"name\": ", at != first ? "," : "");
		json_text(stdout, explain_summary_text(at, "name"));
		printf(", \"kind\": \"%s\", \"bound\": %s, \"measured_share\": %.6f, "
		       "\"demand_ps\": %s, "
		       "\"capacity\": %s}",
		       explain_summary_text(at, "kind"), explain_summary_text(at, "bound"),
		       share_of(bounds, at), explain_summary_text(at, "demand_ps"),
		       explain_summary_text(at, "capacity"));
	}
	printf("]}\n");
}

int explain_bounds(const struct arguments *arguments)
{
	struct explain_summary summary;
	int code = EXIT_BAD_INPUT;
	explain_summary_open(&summary, arguments->word);
	struct yaml_node *bounds = explain_summary_get(&summary, "bounds");
	struct yaml_node *list =
		bounds && bounds->kind == YAML_MAP ? yaml_get(bounds, "resources") : NULL;
	if (!bounds) {
		say("%s: no bounds in this file; expected a folder written by hcasim run --out DIR",
		    summary.path);
	} else if (!list || list->kind != YAML_LIST || !list->children) {
		say("%s: nothing was completed in that run", summary.path);
	} else {
		(arguments->json ? print_json : print_text)(bounds, list->children);
		code = EXIT_GOOD;
	}
	explain_summary_close(&summary);
	return code;
}
