/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_bottleneck: implements hcasim explain RUN --bottleneck: prints the resources that a run
 * waited for most, from the summary.json of its result folder (see hcasim/run/bottleneck.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/explain_summary.h"
#include "hcasim/command/verb.h"
#include "hcasim/run/bottleneck.h"
#include "sim/json.h"

static enum gauge_kind kind_of(struct yaml_node *use)
{
	const char *text = explain_summary_text(use, "kind");
	enum gauge_kind kind = GAUGE_BUSY;
	while (kind + 1 < GAUGE_KIND_COUNT && strcmp(gauge_kind_name(kind), text) != 0)
		kind++;
	return kind;
}

static void print_text(const struct explain_summary *summary, struct yaml_node *first)
{
	double work_ps = explain_summary_number(summary->root, "work_ps");
	if (explain_summary_number(first, "use") < BOTTLENECK_LEAST)
		printf("bottleneck: none: no resource was used for more than %.0f %% of the time "
		       "with work\n",
		       100 * BOTTLENECK_LEAST);
	else
		printf("bottleneck: %s\n", explain_summary_text(first, "name"));
	printf("%.3f us with work\n\n%8s  %-34s %12s %10s %10s %-12s %s\n", work_ps / 1e6, "use",
	       "queue or resource", "mean", "most", "room", "unit", "what");
	for (struct yaml_node *use = first; use; use = use->next) {
		const char *room = explain_summary_text(use, "capacity");
		bool pool = kind_of(use) == GAUGE_POOL;
		printf("%6.1f %%  %-34s %12.3f %10s %10s %-12s %s: %s\n",
		       100 * explain_summary_number(use, "use"), explain_summary_text(use, "name"),
		       explain_summary_number(use, "mean"),
		       strcmp(explain_summary_text(use, "most"), "0") != 0
			       ? explain_summary_text(use, "most")
			       : "-",
		       pool && strcmp(room, "0") != 0 ? room : "-",
		       pool ? explain_summary_text(use, "unit") : "-",
		       bottleneck_verb(kind_of(use)), explain_summary_text(use, "meaning"));
	}
}

static void print_json(const struct explain_summary *summary, struct yaml_node *first)
{
	static const struct {
		const char *key;
		bool number;
	} keys[] = {{"name", false}, {"kind", false},    {"use", true},   {"mean", true},
		    {"most", true},  {"capacity", true}, {"unit", false}, {"meaning", false}};
	printf("{\"bottleneck\": ");
	if (explain_summary_number(first, "use") < BOTTLENECK_LEAST)
		printf("null");
	else
		json_text(stdout, explain_summary_text(first, "name"));
	printf(", \"work_ps\": %s, \"uses\": [", explain_summary_text(summary->root, "work_ps"));
	for (struct yaml_node *use = first; use; use = use->next) {
		printf("%s\n  {", use != first ? "," : "");
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			printf("%s\"%s\": ", i > 0 ? ", " : "", keys[i].key);
			if (keys[i].number)
				printf("%s", explain_summary_text(use, keys[i].key));
			else
				json_text(stdout, explain_summary_text(use, keys[i].key));
		}
		putchar('}');
	}
	printf("]}\n");
}

int explain_bottleneck(const struct arguments *arguments)
{
	struct explain_summary summary;
	int code = EXIT_BAD_INPUT;
	explain_summary_open(&summary, arguments->word);
	struct yaml_node *uses = explain_summary_get(&summary, "uses");
	if (!uses || uses->kind != YAML_LIST) {
		say("%s: no resource usage in this file; expected a folder written by hcasim run "
		    "--out DIR",
		    summary.path);
	} else if (!uses->children) {
		say("%s: nothing was used in that run", summary.path);
	} else {
		(arguments->json ? print_json : print_text)(&summary, uses->children);
		code = EXIT_GOOD;
	}
	explain_summary_close(&summary);
	return code;
}
