/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_bottleneck: hcasim explain RUN --bottleneck: what the work of a run waited for most, by the summary.json of its
 * result folder (hcasim/run/bottleneck.h says how it is found).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "hcasim/run/bottleneck.h"
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

static enum gauge_kind kind_of(struct yaml_node *use)
{
	const char *text = text_of(use, "kind");
	enum gauge_kind kind = GAUGE_SERVER;
	while (kind + 1 < GAUGE_KIND_COUNT && strcmp(gauge_kind_name(kind), text) != 0)
		kind++;
	return kind;
}

static void print_uses(struct yaml_node *uses, double work_ps)
{
	struct yaml_node *first = uses->children;
	if (number_of(first, "use") < BOTTLENECK_LEAST)
		printf("bottleneck: none: nothing was used for more than %.0f %% of the time with "
		       "work\n",
		       100 * BOTTLENECK_LEAST);
	else
		printf("bottleneck: %s\n", text_of(first, "name"));
	printf("%.3f us with work\n\n%8s  %-34s %12s %10s %10s %-12s %s\n", work_ps / 1e6, "use",
	       "queue or resource", "mean", "most", "room", "unit", "what");
	for (struct yaml_node *use = first; use != NULL; use = use->next) {
		const char *room = text_of(use, "capacity");
		bool pool = kind_of(use) == GAUGE_POOL;
		printf("%6.1f %%  %-34s %12.3f %10s %10s %-12s %s: %s\n",
		       100 * number_of(use, "use"), text_of(use, "name"), number_of(use, "mean"),
		       strcmp(text_of(use, "most"), "0") != 0 ? text_of(use, "most") : "-",
		       pool && strcmp(room, "0") != 0 ? room : "-", text_of(use, "unit"),
		       bottleneck_verb(kind_of(use)), text_of(use, "meaning"));
	}
}

int explain_bottleneck(const struct arguments *arguments)
{
	char path[PATH_MAX];
	struct yaml_errors errors = {0};
	int code = EXIT_BAD_INPUT;
	snprintf(path, sizeof(path), "%s/summary.json", arguments->word);
	struct yaml_document *document = yaml_read_file(path, &errors);
	struct yaml_node *root = document != NULL ? yaml_root(document) : NULL;
	struct yaml_node *uses =
		root != NULL && root->kind == YAML_MAP ? yaml_get(root, "uses") : NULL;
	if (errors.text != NULL)
		fputs(errors.text, stderr);
	if (uses == NULL || uses->kind != YAML_LIST) {
		say("%s: no uses of queues; expected the result folder of a run (hcasim run --out)",
		    path);
	} else if (uses->children == NULL) {
		say("%s: nothing was used in that run", path);
	} else {
		print_uses(uses, number_of(root, "work_ps"));
		code = EXIT_GOOD;
	}
	if (document != NULL)
		yaml_close(document);
	yaml_errors_free(&errors);
	return code;
}
