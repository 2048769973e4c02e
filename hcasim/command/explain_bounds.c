/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_bounds: hcasim explain RUN --bounds: what each resource of a run would let through, the lowest first, beside what the
 * run got through, by the summary.json of its result folder (hcasim/run/bounds.h says what a bound is).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "sim/json.h"
#include "sim/yaml.h"

static const char *text_of(struct yaml_node *map, const char *key)
{
	struct yaml_node *node = yaml_get(map, key);
	return node != NULL && node->kind == YAML_SCALAR ? node->text : "";
}

static double number_of(struct yaml_node *map, const char *key)
{
	return strtod(text_of(map, key), NULL);
}

static double share_of(struct yaml_node *bounds, struct yaml_node *resource)
{
	return number_of(bounds, "measured") / number_of(resource, "bound");
}

static void print_text(struct yaml_node *bounds, struct yaml_node *first)
{
	const char *unit = text_of(bounds, "unit");
	printf("measured: %.6g %s of %s, %.1f %% of the lowest bound\n",
	       number_of(bounds, "measured"), unit, text_of(bounds, "operation"),
	       100 * share_of(bounds, first));
	if (*text_of(bounds, "waits_in") != '\0')
		printf("nothing is busy: waiting in %s\n", text_of(bounds, "waits_in"));
	printf("\n%14s  %8s  %-34s %14s %10s %s\n", "bound", "measured", "resource", "each takes",
	       "capacity", "kind");
	for (struct yaml_node *at = first; at != NULL; at = at->next)
		printf("%10.6g %s  %6.1f %%  %-34s %11.6g ps %10s %s\n", number_of(at, "bound"),
		       unit, 100 * share_of(bounds, at), text_of(at, "name"),
		       number_of(at, "demand_ps"), text_of(at, "capacity"), text_of(at, "kind"));
}

static void print_json(struct yaml_node *bounds, struct yaml_node *first)
{
	printf("{\"operation\": ");
	json_text(stdout, text_of(bounds, "operation"));
	printf(", \"unit\": ");
	json_text(stdout, text_of(bounds, "unit"));
	printf(", \"measured\": %s, \"waits_in\": ", text_of(bounds, "measured"));
	json_text(stdout, text_of(bounds, "waits_in"));
	printf(", \"resources\": [");
	for (struct yaml_node *at = first; at != NULL; at = at->next) {
		printf("%s\n  {\"name\": ", at != first ? "," : "");
		json_text(stdout, text_of(at, "name"));
		printf(", \"kind\": \"%s\", \"bound\": %s, \"measured_share\": %.6f, "
		       "\"demand_ps\": %s, "
		       "\"capacity\": %s}",
		       text_of(at, "kind"), text_of(at, "bound"), share_of(bounds, at),
		       text_of(at, "demand_ps"), text_of(at, "capacity"));
	}
	printf("]}\n");
}

int explain_bounds(const struct arguments *arguments)
{
	char path[PATH_MAX];
	struct yaml_errors errors = {0};
	int code = EXIT_BAD_INPUT;
	snprintf(path, sizeof(path), "%s/summary.json", arguments->word);
	struct yaml_document *document = yaml_read_file(path, &errors);
	struct yaml_node *root = document != NULL ? yaml_root(document) : NULL;
	struct yaml_node *bounds =
		root != NULL && root->kind == YAML_MAP ? yaml_get(root, "bounds") : NULL;
	struct yaml_node *list =
		bounds != NULL && bounds->kind == YAML_MAP ? yaml_get(bounds, "resources") : NULL;
	if (errors.text != NULL)
		fputs(errors.text, stderr);
	if (bounds == NULL) {
		say("%s: no bounds; expected the result folder of a run (hcasim run --out)", path);
	} else if (list == NULL || list->kind != YAML_LIST || list->children == NULL) {
		say("%s: nothing was completed in that run", path);
	} else {
		(arguments->json ? print_json : print_text)(bounds, list->children);
		code = EXIT_GOOD;
	}
	if (document != NULL)
		yaml_close(document);
	yaml_errors_free(&errors);
	return code;
}
