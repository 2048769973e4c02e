/*
 * verb_counters: hcasim counters [BLOCK] [--json]: every counter that counters.json may hold, by the type of its block.
 */
#include <stdio.h>
#include <string.h>

#include "scenarios/record/counter_lists.h"
#include "scenarios/runner/verb.h"
#include "sim/json.h"

#define TYPES_MAX 64

static void print_text(const struct counter_list *list, bool first)
{
	printf("%s%s: %s\n", first ? "" : "\n", list->type, list->meaning);
	for (const struct counter *counter = list->counters; counter->name != NULL; counter++)
		printf("  %-22s %-10s %s\n", counter->name, counter->unit, counter->meaning);
}

static void print_json(const struct counter_list *list, bool first)
{
	for (const struct counter *counter = list->counters; counter->name != NULL; counter++) {
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
	for (const struct counter_list *list = counter_lists;
	     list->type != NULL && count < TYPES_MAX; list++)
		types[count++] = list->type;
	const char *near = yaml_suggest(wanted, types, count);
	if (near != NULL)
		say("no block of type \"%s\" counts; did you mean \"%s\"?", wanted, near);
	else
		say("no block of type \"%s\" counts; hcasim counters shows all", wanted);
	return EXIT_BAD_INPUT;
}

int verb_counters(const struct arguments *arguments)
{
	bool first = true, json = arguments->json && !arguments->words;
	if (json)
		putchar('[');
	for (const struct counter_list *list = counter_lists; list->type != NULL; list++) {
		if (arguments->word != NULL && strcmp(arguments->word, list->type) != 0)
			continue;
		(arguments->words ? print_word : json ? print_json : print_text)(list, first);
		first = false;
	}
	if (json)
		printf("\n]\n");
	return first ? report_unknown(arguments->word) : EXIT_GOOD;
}
