/* SPDX-License-Identifier: Apache-2.0 */
/* stats_print: see stats.h. Both forms have the digits of statistics_texts(). */
#include <math.h>
#include <stdio.h>

#include "hcasim/command/stats.h"
#include "sim/json.h"

#define TEXT STATISTICS_TEXT_BYTES

#define NAME_OF(name, share) #name,
static const char *const quantile_names[] = {FLOW_QUANTILES(NAME_OF)};
static const char *const kind_names[] = {"run", "group", "pair"};

/* Returns the next axis of the sweep from `axis` on that is not the seed. */
static size_t next_axis(const struct stats *stats, size_t axis)
{
	return axis == stats->seed ? axis + 1 : axis;
}

/* Returns a pair's difference in % of the first value. The mean is NAN if the first value is 0. */
static struct interval relative_of(const struct stats_result *result)
{
	const struct interval *difference = &result->pair.difference;

	if (!(fabs(result->base) > 0))
		return (struct interval){NAN, NAN, 0};
	return (struct interval){100 * difference->mean / result->base,
				 100 * difference->half / fabs(result->base), difference->count};
}

/* ---- text ---- */

static void print_values(const struct stats *stats, size_t row)
{
	const char *between = "";

	for (size_t i = next_axis(stats, 0); i < stats->axes; i = next_axis(stats, i + 1)) {
		printf("%s%s=%s", between, stats->results->names[i],
		       table_cell(stats->results, row, i));
		between = " ";
	}
	printf("%s", *between ? "" : "all");
}

static void print_quantiles(const struct stats_result *result)
{
	for (unsigned i = 0; i < FLOW_QUANTILE_COUNT; i++) {
		char text[TEXT] = "unknown";

		if (isfinite(result->of.quantiles[i].mean))
			statistics_print(&result->of.quantiles[i], text);
		printf("  %s %s\n", quantile_names[i], text);
	}
}

static void print_run(const struct stats_result *result)
{
	char text[TEXT];

	statistics_print(&result->of.mean, text);
	printf("%s: %zu flows, the first %zu left out as warm-up\n", result->metric,
	       result->of.flows, result->of.warm_up);
	if (result->of.mean.count == 0)
		printf("  mean unknown: fewer flows than batches\n");
	else
		printf("  mean %s (%zu batches%s)\n", text, result->of.mean.count,
		       result->of.correlated
			       ? "; the batches are correlated, and the interval is too "
				 "narrow: run longer"
			       : "");
	print_quantiles(result);
}

static void print_group(const struct stats *stats, const struct stats_result *result)
{
	char text[TEXT];

	statistics_print(&result->of.mean, text);
	print_values(stats, result->row);
	printf(": %s of %zu flows in %zu runs\n  mean %s\n", result->metric, result->of.flows,
	       result->of.mean.count, text);
	print_quantiles(result);
}

static void print_pair(const struct stats *stats, const struct stats_result *result)
{
	const struct table *results = stats->results;
	const struct interval relative = relative_of(result);
	char text[TEXT];

	printf("%s, %s: %s to %s\n", result->metric, results->names[result->key],
	       table_cell(results, result->row, result->key),
	       table_cell(results, result->other_row, result->key));
	statistics_print(&result->pair.difference, text);
	printf("  difference %s", text);
	if (fabs(result->base) > 0) {
		statistics_print(&relative, text);
		printf(" (%s %%)", text);
	}
	if (isfinite(result->pair.effect))
		printf(", effect size %.1f, p %.1g", result->pair.effect, result->pair.p);
	printf(", %zu pairs\n", result->pair.difference.count);
}

void stats_print_text(const struct stats *stats)
{
	for (size_t i = 0; i < stats->count; i++) {
		if (stats->list[i].kind == STATS_RUN)
			print_run(&stats->list[i]);
		else if (stats->list[i].kind == STATS_GROUP)
			print_group(stats, &stats->list[i]);
		else
			print_pair(stats, &stats->list[i]);
	}
}

/* ---- JSON ---- */

/* Writes the digits that are known: {"value": 12.3, "half": 0.4}. Unknown numbers are null. */
static void json_interval(const char *name, const struct interval *interval)
{
	char mean[STATISTICS_NUMBER_BYTES], half[STATISTICS_NUMBER_BYTES];

	statistics_texts(interval, mean, half);
	printf(", \"%s\": ", name);
	if (*mean == '\0')
		printf("null");
	else
		printf("{\"value\": %s, \"half\": %s}", mean, *half != '\0' ? half : "null");
}

static void json_member(const char *name, const char *text)
{
	printf(", \"%s\": ", name);
	json_text(stdout, text);
}

static void json_flows(const struct stats_result *result)
{
	printf(", \"flows\": %zu", result->of.flows);
	json_interval("mean", &result->of.mean);
	for (unsigned i = 0; i < FLOW_QUANTILE_COUNT; i++)
		json_interval(quantile_names[i], &result->of.quantiles[i]);
}

static void json_run(const struct stats_result *result)
{
	json_flows(result);
	printf(", \"warm_up_flows\": %zu, \"batches\": %zu, \"correlated\": %s", result->of.warm_up,
	       result->of.mean.count, result->of.correlated ? "true" : "false");
}

static void json_group(const struct stats *stats, const struct stats_result *result)
{
	const char *between = "";

	json_flows(result);
	printf(", \"runs\": %zu, \"values\": {", result->of.mean.count);
	for (size_t i = next_axis(stats, 0); i < stats->axes; i = next_axis(stats, i + 1)) {
		printf("%s", between);
		json_text(stdout, stats->results->names[i]);
		printf(": ");
		json_text(stdout, table_cell(stats->results, result->row, i));
		between = ", ";
	}
	putchar('}');
}

static void json_pair(const struct stats *stats, const struct stats_result *result)
{
	const struct table *results = stats->results;
	const struct interval relative = relative_of(result);

	json_member("key", results->names[result->key]);
	json_member("first", table_cell(results, result->row, result->key));
	json_member("second", table_cell(results, result->other_row, result->key));
	printf(", \"pairs\": %zu", result->pair.difference.count);
	json_interval("difference", &result->pair.difference);
	json_interval("difference_percent", &relative);
	if (isfinite(result->pair.effect))
		printf(", \"effect_size\": %.1f, \"p\": %.1g", result->pair.effect, result->pair.p);
	else
		printf(", \"effect_size\": null, \"p\": null");
}

void stats_print_json(const struct stats *stats)
{
	printf("{\n  \"folder\": ");
	json_text(stdout, stats->folder);
	printf(",\n  \"results\": [");
	for (size_t i = 0; i < stats->count; i++) {
		const struct stats_result *result = &stats->list[i];

		printf("%s\n    {\"kind\": \"%s\"", i > 0 ? "," : "", kind_names[result->kind]);
		json_member("metric", result->metric);
		if (result->kind == STATS_RUN)
			json_run(result);
		else if (result->kind == STATS_GROUP)
			json_group(stats, result);
		else
			json_pair(stats, result);
		putchar('}');
	}
	printf("%s]\n}\n", stats->count > 0 ? "\n  " : "");
}
