/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_counters: hcasim counters [BLOCK] [--json]: every counter that counters.json may hold, by
 * the type of its block, and every metric that `expect` may bound.
 */
#include <stdio.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "hcasim/record/counter_lists.h"
#include "hcasim/schema/metrics.h"
#include "sim/json.h"
#include "sim/renamed_keys.h"

#define TYPES_MAX 64

/* clang-format off */
#define METRIC_LIST(list) (const struct counter[]){list(COUNTER_ENTRY) {0}}
static const struct counter_list metric_lists[] = {
	{"metrics",      "metrics of a workload's run, with their names in expect, results.csv and "
	 "plots", METRIC_LIST(METRICS)},
	{"flow_metrics",
	 "metrics of a flow: flow3.NAME",                         METRIC_LIST(FLOW_METRICS)},
	{"port_metrics", "metrics of a recorded port: switch0.port2.NAME",
	 METRIC_LIST(PORT_METRICS)},
	{"workload_metrics", "metrics of one of several workloads: storage.NAME",
	 METRIC_LIST(WORKLOAD_METRICS)},
	{"storage_metrics",
	 "metrics of operations of pattern storage, of the run or of a workload",
	 METRIC_LIST(STORAGE_METRICS)},
	{"load_metrics",
	 "metrics of a load",                                     METRIC_LIST(LOAD_METRICS)},
	{0},
};
/* clang-format on */

static const struct counter_list *const all_lists[] = {counter_lists, metric_lists};

static void print_text(const struct counter_list *list, bool first)
{
	printf("%s%s: %s\n", first ? "" : "\n", list->type, list->meaning);
	for (const struct counter *counter = list->counters; counter->name; counter++)
		printf("  %-22s %-10s %s\n", counter->name, counter->unit, counter->meaning);
}

static void print_json(const struct counter_list *list, bool first)
{
	for (const struct counter *counter = list->counters; counter->name; counter++) {
		printf("%s\n  {\"block\": \"%s\", \"name\": \"%s\", \"unit\": ", first ? "" : ",",
		       list->type, counter->name);
		json_text(stdout, counter->unit);
		printf(", \"meaning\": ");
		json_text(stdout, counter->meaning);
		putchar('}');
		first = false;
	}
}

static void print_word(const struct counter_list *list, bool first)
{
	(void)first;
	printf("%s\n", list->type);
}

static int report_unknown(const char *wanted)
{
	const char *types[TYPES_MAX];
	size_t count = 0;
	for (size_t i = 0; i < ARRAY_SIZE(all_lists); i++) {
		for (const struct counter_list *list = all_lists[i];
		     list->type && count < TYPES_MAX; list++)
			types[count++] = list->type;
	}
	char hint[256];
	renamed_key_hint(renamed_key("counter", wanted), wanted, types, count, hint, sizeof(hint));
	if (*hint != '\0')
		say("no block of type \"%s\" has counters%s", wanted, hint);
	else
		say("no block of type \"%s\" has counters; hcasim counters lists all", wanted);
	return EXIT_BAD_INPUT;
}

int verb_counters(const struct arguments *arguments)
{
	bool first = true, json = arguments->json && !arguments->words;
	if (json)
		putchar('[');
	for (size_t i = 0; i < ARRAY_SIZE(all_lists); i++) {
		for (const struct counter_list *list = all_lists[i]; list->type; list++) {
			if (arguments->word && strcmp(arguments->word, list->type) != 0)
				continue;
			(arguments->words ? print_word
			 : json           ? print_json
					  : print_text)(list, first);
			first = false;
		}
	}
	if (json)
		printf("\n]\n");
	return first ? report_unknown(arguments->word) : EXIT_GOOD;
}
