/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_bottleneck: hcasim explain RUN --bottleneck: what the work of a run waited for most, by the summary.json of its
 * result folder (hcasim/run/bottleneck.h says how it is found).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/explain_summary.h"
#include "hcasim/command/verb.h"
#include "hcasim/run/bottleneck.h"

static enum gauge_kind kind_of(struct yaml_node *use)
{
	const char *text = explain_text(use, "kind");
	enum gauge_kind kind = GAUGE_BUSY;
	while (kind + 1 < GAUGE_KIND_COUNT && strcmp(gauge_kind_name(kind), text) != 0)
		kind++;
	return kind;
}

static void print_uses(struct yaml_node *uses, double work_ps)
{
	struct yaml_node *first = uses->children;
	if (explain_number(first, "use") < BOTTLENECK_LEAST)
		printf("bottleneck: none: nothing was used for more than %.0f %% of the time with "
		       "work\n",
		       100 * BOTTLENECK_LEAST);
	else
		printf("bottleneck: %s\n", explain_text(first, "name"));
	printf("%.3f us with work\n\n%8s  %-34s %12s %10s %10s %-12s %s\n", work_ps / 1e6, "use",
	       "queue or resource", "mean", "most", "room", "unit", "what");
	for (struct yaml_node *use = first; use; use = use->next) {
		const char *room = explain_text(use, "capacity");
		bool pool = kind_of(use) == GAUGE_POOL;
		printf("%6.1f %%  %-34s %12.3f %10s %10s %-12s %s: %s\n",
		       100 * explain_number(use, "use"), explain_text(use, "name"),
		       explain_number(use, "mean"),
		       strcmp(explain_text(use, "most"), "0") != 0 ? explain_text(use, "most")
								   : "-",
		       pool && strcmp(room, "0") != 0 ? room : "-", explain_text(use, "unit"),
		       bottleneck_verb(kind_of(use)), explain_text(use, "meaning"));
	}
}

int explain_bottleneck(const struct arguments *arguments)
{
	struct explain_summary summary;
	int code = EXIT_BAD_INPUT;
	explain_summary_open(&summary, arguments->word);
	struct yaml_node *uses = explain_summary_get(&summary, "uses");
	if (!uses || uses->kind != YAML_LIST) {
		say("%s: no uses of queues; expected the result folder of a run (hcasim run --out)",
		    summary.path);
	} else if (!uses->children) {
		say("%s: nothing was used in that run", summary.path);
	} else {
		print_uses(uses, explain_number(summary.root, "work_ps"));
		code = EXIT_GOOD;
	}
	explain_summary_close(&summary);
	return code;
}
