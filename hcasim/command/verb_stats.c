/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_stats: hcasim stats DIR: statistics of the flows of a run or a sweep. It prints only digits
 * that the confidence intervals support.
 *
 *     run     mean of a column of flows.csv or operations.csv by batch means behind the warm-up,
 *             and quantiles
 *     sweep   for each combination of values: mean over the seeds, and quantiles of the flows of
 *             all seeds; --by KEY: a metric's difference between two values, in pairs of points
 *             that are equal otherwise
 *
 * stats_print.c prints the results.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/stats.h"
#include "hcasim/command/verb.h"

#define ERROR_BYTES 512

/* Returns a file of the folder, or NULL, having said why. */
static struct table *read(const char *folder, const char *file)
{
	char path[PATH_MAX], error[ERROR_BYTES];
	struct table *table;

	snprintf(path, sizeof(path), "%.3000s/%s", folder, file);
	table = table_read(path, error, sizeof(error));
	if (!table)
		say("%s", error);
	return table;
}

static bool has_file(const char *folder, const char *file)
{
	char path[PATH_MAX];
	FILE *in;

	snprintf(path, sizeof(path), "%.3000s/%s", folder, file);
	in = fopen(path, "r");
	if (in)
		fclose(in);
	return in != NULL;
}

/* Returns the column, or table->columns, having said that there is none. */
static size_t find_column(const struct table *table, const char *name, const char *folder,
			  const char *file)
{
	size_t column = table_column(table, name);

	if (column == table->columns)
		say("%s/%s has no column %s", folder, file, name);
	return column;
}

/* ---- flows ---- */

/* Adds a result to the list. Returns the place of its figures. */
static struct stats_result *add_result(struct stats *stats, enum stats_kind kind,
				       const char *metric)
{
	struct stats_result *result;

	stats->list = realloc(stats->list, (stats->count + 1) * sizeof(*stats->list));
	if (!stats->list)
		abort();
	result = &stats->list[stats->count++];
	*result = (struct stats_result){.kind = kind, .metric = metric};
	return result;
}

static bool describe_run(struct stats *stats, const char *metric)
{
	struct flow_statistics flows;
	char error[ERROR_BYTES];

	if (!flow_statistics_run(stats->folder, metric, &flows, error, sizeof(error))) {
		say("%s", error);
		return false;
	}
	add_result(stats, STATS_RUN, metric)->of = flows;
	return true;
}

/* ---- sweeps ---- */

/* Compares two rows by their axes without two columns. */
static bool is_equal(const struct stats *stats, size_t one, size_t other, size_t without,
		     size_t without_too)
{
	for (size_t i = 0; i < stats->axes; i++)
		if (i != without && i != without_too &&
		    strcmp(table_cell(stats->results, one, i),
			   table_cell(stats->results, other, i)) != 0)
			return false;
	return true;
}

/* Describes the group of points that begins with the row. Points of a group differ only by the
 * seed. */
static bool describe_group(struct stats *stats, size_t first, const char *metric)
{
	char **folders = calloc(stats->results->rows + 1, sizeof(*folders)), error[ERROR_BYTES];
	struct flow_statistics flows;
	size_t count = 0;

	if (!folders)
		abort();
	for (size_t row = first; row < stats->results->rows; row++) {
		if (!is_equal(stats, first, row, stats->seed, stats->seed))
			continue;
		if (asprintf(&folders[count++], "%s/%s", stats->folder,
			     table_cell(stats->results, row, stats->point)) < 0)
			abort();
	}
	bool good = flow_statistics_group((const char *const *)folders, count, metric, &flows,
					  error, sizeof(error));

	if (good) {
		struct stats_result *result = add_result(stats, STATS_GROUP, metric);

		result->row = first;
		result->of = flows;
	} else {
		say("%s", error);
	}
	while (count > 0)
		free(folders[--count]);
	free(folders);
	return good;
}

static bool describe_sweep(struct stats *stats, const char *metric)
{
	for (size_t row = 0; row < stats->results->rows; row++) {
		bool is_first = true;

		for (size_t before = 0; before < row && is_first; before++)
			is_first = !is_equal(stats, before, row, stats->seed, stats->seed);
		if (is_first && !describe_group(stats, row, metric))
			return false;
	}
	return true;
}

/* ---- pairs ---- */

/* Compares the values of the key in two rows, over all pairs of points that are equal otherwise. */
static void compare(struct stats *stats, size_t key, size_t first, size_t second, size_t metric)
{
	const struct table *results = stats->results;
	double *ones = calloc(results->rows + 1, sizeof(*ones));
	double *others = calloc(results->rows + 1, sizeof(*others));
	struct stats_result *result = add_result(stats, STATS_PAIR, results->names[metric]);
	size_t count = 0;
	double sum = 0;

	if (!ones || !others)
		abort();
	for (size_t row = 0; row < results->rows; row++) {
		for (size_t with = 0; with < results->rows; with++) {
			double one = table_number(results, row, metric);
			double other = table_number(results, with, metric);

			if (strcmp(table_cell(results, row, key),
				   table_cell(results, first, key)) != 0 ||
			    strcmp(table_cell(results, with, key),
				   table_cell(results, second, key)) != 0 ||
			    !is_equal(stats, row, with, key, key) || !isfinite(one) ||
			    !isfinite(other))
				continue;
			ones[count] = one;
			others[count++] = other;
			sum += one;
		}
	}
	result->key = key;
	result->row = first;
	result->other_row = second;
	result->pair = statistics_pair(ones, others, count);
	result->base = count ? sum / (double)count : 0;
	free(ones);
	free(others);
}

/* Compares the first value of the key with each other one. */
static bool compare_by(struct stats *stats, const char *key_name, const char *metric_name)
{
	const struct table *results = stats->results;
	size_t key = find_column(results, key_name, stats->folder, "results.csv");
	size_t metric = find_column(results, metric_name, stats->folder, "results.csv");

	if (key == results->columns || metric == results->columns)
		return false;
	if (key >= stats->axes) {
		say("%s is not swept; expected a swept key", key_name);
		return false;
	}
	for (size_t row = 1; row < results->rows; row++) {
		const char *value = table_cell(results, row, key);
		bool is_new = true;

		for (size_t before = 0; before < row && is_new; before++)
			is_new = strcmp(table_cell(results, before, key), value) != 0;
		if (is_new)
			compare(stats, key, 0, row, metric);
	}
	return true;
}

/* Opens a sweep's table. Returns false, having said why. */
static bool open_folder(struct stats *stats, const char *by)
{
	if (!has_file(stats->folder, "results.csv")) {
		if (by)
			say("%s is not a sweep; --by compares points of a sweep", stats->folder);
		return !by;
	}
	stats->results = read(stats->folder, "results.csv");
	if (!stats->results)
		return false;
	stats->axes = stats->point = table_column(stats->results, "point");
	stats->seed = table_column(stats->results, "seed");
	return true;
}

static bool describe(struct stats *stats, const char *by, const char *metric)
{
	if (by)
		return compare_by(stats, by, metric ? metric : "fct_mean_us");
	if (stats->results)
		return describe_sweep(stats, metric ? metric : "fct_us");
	if (!metric && has_file(stats->folder, "operations.csv"))
		metric = FLOW_STATISTICS_OPERATIONS;
	return describe_run(stats, metric ? metric : "fct_us");
}

int verb_stats(const struct arguments *arguments)
{
	struct stats stats = {.folder = arguments->word};
	bool good = open_folder(&stats, arguments->by);

	if (good && arguments->metric_count == 0)
		good = describe(&stats, arguments->by, NULL);
	for (size_t i = 0; i < arguments->metric_count && good; i++)
		good = describe(&stats, arguments->by, arguments->metrics[i]);
	if (good && arguments->json)
		stats_print_json(&stats);
	else if (good)
		stats_print_text(&stats);
	table_free(stats.results);
	free(stats.list);
	return good ? EXIT_GOOD : EXIT_BAD_INPUT;
}
