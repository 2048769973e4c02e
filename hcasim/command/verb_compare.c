/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_compare: implements hcasim compare RUN OTHER: prints differences between the result folders
 * of two runs: settings, metrics, bottlenecks, stages of work requests, counters. Each part starts
 * with the largest difference.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/verb.h"
#include "hcasim/report/comparison.h"
#include "sim/json.h"

#define ERROR_BYTES 1024

/* Prints the change from the first to the second run. Times and shares have their unit. Other
 * values are in % of the first, or a factor if they are ten times as large. */
static void print_change(const struct difference *difference)
{
	double a = difference->numbers[0], b = difference->numbers[1];
	if (isnan(a) || isnan(b))
		printf("%12s", "");
	else if (strcmp(difference->unit, "%") == 0 || strcmp(difference->unit, "ns") == 0)
		printf("%+12.3f", b - a);
	else if (fabs(a) > 0 && b / a >= 10)
		printf("%6.0f times", b / a);
	else if (fabs(a) > 0)
		printf("%+10.1f %%", 100 * (b - a) / fabs(a));
	else
		printf("%12s", "new");
}

static void print_part(const struct comparison_part *part, bool all)
{
	size_t shown = all || part->count < part->shown ? part->count : part->shown;
	int width = 30;
	if (part->count == 0)
		return;
	printf("\n%s", part->heading);
	if (shown < part->count)
		printf(" (%zu of %zu differences; --verbose shows all)", shown, part->count);
	putchar('\n');
	for (size_t i = 0; i < shown; i++) {
		int length = (int)strlen(part->list[i].name);
		width = length > width ? length : width;
	}
	for (size_t i = 0; i < shown; i++) {
		const struct difference *difference = &part->list[i];
		printf("  %-*s %-12s %16s %16s ", width, difference->name, difference->unit,
		       difference->texts[0] ? difference->texts[0] : "-",
		       difference->texts[1] ? difference->texts[1] : "-");
		print_change(difference);
		if (difference->alike > 1)
			printf("  in %zu places", difference->alike);
		putchar('\n');
	}
}

static void print_text(const char *const *names, const struct run_values *runs,
		       const struct comparison_part *parts, size_t count, bool all)
{
	bool any = false;
	for (unsigned i = 0; i < 2; i++)
		printf("%-10s %s, bottleneck %s\n", i == 0 ? "first" : "second", names[i],
		       runs[i].bottleneck ? runs[i].bottleneck : "none: no resource was used");
	for (size_t i = 0; i < count; i++) {
		print_part(&parts[i], all);
		any |= parts[i].count > 0;
	}
	if (!any)
		printf("\nnothing differs\n");
}

static void print_json_value(const char *text, double number)
{
	if (!text)
		printf("null");
	else if (isfinite(number))
		printf("%.15g", number);
	else
		json_text(stdout, text);
}

static void print_json_part(const struct comparison_part *part)
{
	printf(",\n  \"%s\": [", part->name);
	for (size_t i = 0; i < part->count; i++) {
		const struct difference *difference = &part->list[i];
		printf("%s\n    {\"name\": ", i > 0 ? "," : "");
		json_text(stdout, difference->name);
		printf(", \"unit\": ");
		json_text(stdout, difference->unit);
		printf(", \"values\": [");
		print_json_value(difference->texts[0], difference->numbers[0]);
		printf(", ");
		print_json_value(difference->texts[1], difference->numbers[1]);
		printf("], \"places\": %zu}", difference->alike);
	}
	printf("%s]", part->count > 0 ? "\n  " : "");
}

static void print_json(const char *const *names, const struct run_values *runs,
		       const struct comparison_part *parts, size_t count)
{
	printf("{\n  \"runs\": [");
	for (unsigned i = 0; i < 2; i++) {
		printf("%s\n    {\"folder\": ", i > 0 ? "," : "");
		json_text(stdout, names[i]);
		printf(", \"bottleneck\": ");
		json_text(stdout, runs[i].bottleneck ? runs[i].bottleneck : "");
		putchar('}');
	}
	printf("\n  ]");
	for (size_t i = 0; i < count; i++)
		print_json_part(&parts[i]);
	printf("\n}\n");
}

static void compare(const struct arguments *arguments, const struct run_values *runs)
{
	struct comparison_part parts[COMPARISON_PART_COUNT];

	comparison_make(parts, runs);
	if (arguments->json)
		print_json(arguments->words_given, runs, parts, COMPARISON_PART_COUNT);
	else
		print_text(arguments->words_given, runs, parts, COMPARISON_PART_COUNT,
			   arguments->verbose);
	comparison_free(parts);
}

int verb_compare(const struct arguments *arguments)
{
	struct run_values runs[2] = {0};
	char error[ERROR_BYTES];
	bool good = true;
	for (unsigned i = 0; i < 2 && good; i++) {
		good = run_values_read(arguments->words_given[i], &runs[i], error, sizeof(error));
		if (!good)
			say("%s: %s", arguments->words_given[i], error);
	}
	if (good)
		compare(arguments, runs);
	for (unsigned i = 0; i < 2; i++)
		run_values_free(&runs[i]);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
