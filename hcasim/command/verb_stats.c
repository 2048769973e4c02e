/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_stats: hcasim stats DIR: statistics of the flows of a run or a sweep. It prints only digits
 * that the confidence intervals support.
 *
 *     run     mean of a column of flows.csv by batch means behind the warm-up, and quantiles
 *     sweep   for each combination of values: mean over the seeds, and quantiles of the flows of
 *             all seeds; --by KEY: a metric's difference between two values, in pairs of points
 *             that are equal otherwise
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/histogram.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "hcasim/command/verb.h"

#define DIGITS      3
#define UNIT        1e-6 /* of values in flows.csv: six decimals */
#define ERROR_BYTES 512
#define TEXT        STATISTICS_TEXT_BYTES
#define Z_95        1.959964

static const double shares[] = {0.5, 0.95, 0.99, 0.999};
static const char *const share_names[] = {"p50", "p95", "p99", "p999"};

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

/* ---- values of a run ---- */

struct value {
	double at, value;
};

static int by_time(const void *one, const void *other)
{
	const struct value *a = one, *b = other;

	return (a->at > b->at) - (a->at < b->at);
}

/* Reads a column of flows.csv in the order of the flows' starts. Returns NULL on failure. */
static double *read_flows(const char *folder, const char *metric, size_t *count)
{
	struct table *flows = read(folder, "flows.csv");
	size_t column, start;
	struct value *list;
	double *values;

	*count = 0;
	if (!flows)
		return NULL;
	column = find_column(flows, metric, folder, "flows.csv");
	start = table_column(flows, "started_us");
	list = calloc(flows->rows + 1, sizeof(*list));
	values = calloc(flows->rows + 1, sizeof(*values));
	if (!list || !values)
		abort();
	for (size_t row = 0; row < flows->rows && column < flows->columns; row++) {
		double value = table_number(flows, row, column);

		if (isfinite(value) && value >= 0)
			list[(*count)++] = (struct value){table_number(flows, row, start), value};
	}
	qsort(list, *count, sizeof(*list), by_time);
	for (size_t i = 0; i < *count; i++)
		values[i] = list[i].value;
	if (column == flows->columns) {
		free(values);
		values = NULL;
	}
	table_free(flows);
	free(list);
	return values;
}

/* A quantile is known if the ranks of its interval exist (binomial; Conover, Practical
 * Nonparametric Statistics, 1999, 3.2). */
static void print_quantiles(const struct histogram *histogram)
{
	double count = (double)histogram_count(histogram);

	for (unsigned i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		double reach = Z_95 * sqrt(shares[i] * (1 - shares[i]) / count);
		char text[TEXT] = "unknown";

		if (count > 0 && shares[i] + reach < 1 && shares[i] > reach) {
			double low = histogram_quantile(histogram, shares[i] - reach);
			double high = histogram_quantile(histogram, shares[i] + reach);
			const struct interval interval = {histogram_quantile(histogram, shares[i]),
							  (high - low) / 2, 2};

			statistics_print(&interval, text);
		}
		printf("  %s %s\n", share_names[i], text);
	}
}

static int describe_run(const char *folder, const char *metric)
{
	size_t count, warm_up;
	double *values = read_flows(folder, metric, &count);
	struct histogram *histogram;
	struct batch_means means;
	char text[TEXT];

	if (!values)
		return EXIT_BAD_INPUT;
	histogram = histogram_create(DIGITS, UNIT);
	warm_up = statistics_warm_up(values, count);
	means = statistics_batch_means(values + warm_up, count - warm_up);
	for (size_t i = warm_up; i < count; i++)
		histogram_add(histogram, values[i]);
	statistics_print(&means.interval, text);
	printf("%s: %zu flows, the first %zu left out as warm-up\n", metric, count, warm_up);
	if (means.interval.count == 0)
		printf("  mean unknown: fewer flows than batches\n");
	else
		printf("  mean %s (%zu batches%s)\n", text, means.interval.count,
		       means.correlated ? "; they depend on each other: too narrow, run longer"
					: "");
	print_quantiles(histogram);
	histogram_destroy(histogram);
	free(values);
	return EXIT_GOOD;
}

/* ---- sweeps ---- */

struct points {
	const char *folder;
	struct table *results;
	size_t axes, seed, point; /* columns; seed is axes if it is not swept */
};

/* Compares two rows by their axes without two columns. */
static bool is_equal(const struct points *points, size_t one, size_t other, size_t without,
		     size_t without_too)
{
	for (size_t i = 0; i < points->axes; i++)
		if (i != without && i != without_too &&
		    strcmp(table_cell(points->results, one, i),
			   table_cell(points->results, other, i)) != 0)
			return false;
	return true;
}

static void print_values(const struct points *points, size_t row, size_t without)
{
	const char *between = "";

	for (size_t i = 0; i < points->axes; i++) {
		if (i == points->seed || i == without)
			continue;
		printf("%s%s=%s", between, points->results->names[i],
		       table_cell(points->results, row, i));
		between = " ";
	}
	printf("%s", *between ? "" : "all");
}

/* Adds the flows of one point. Returns false on failure. */
static bool add_point(const struct points *points, size_t row, const char *metric,
		      struct histogram *histogram, double *mean)
{
	char folder[PATH_MAX];
	size_t count;
	double *values, sum = 0;

	snprintf(folder, sizeof(folder), "%.3000s/%s", points->folder,
		 table_cell(points->results, row, points->point));
	values = read_flows(folder, metric, &count);
	if (!values)
		return false;
	for (size_t i = 0; i < count; i++) {
		histogram_add(histogram, values[i]);
		sum += values[i];
	}
	*mean = count ? sum / (double)count : NAN;
	free(values);
	return true;
}

/* Prints the group of points that begins with the row: those that differ by the seed alone. */
static bool describe_group(const struct points *points, size_t first, const char *metric)
{
	struct histogram *histogram = histogram_create(DIGITS, UNIT);
	double *means = calloc(points->results->rows + 1, sizeof(*means));
	struct interval interval;
	size_t runs = 0;
	bool good = true;
	char text[TEXT];

	if (!means)
		abort();
	for (size_t row = first; row < points->results->rows && good; row++) {
		struct histogram *part;

		if (!is_equal(points, first, row, points->seed, points->seed))
			continue;
		part = histogram_create(DIGITS, UNIT);
		good = add_point(points, row, metric, part, &means[runs]);
		histogram_merge(histogram, part);
		histogram_destroy(part);
		runs += isfinite(means[runs]) ? 1 : 0;
	}
	if (good) {
		interval = statistics_interval(means, runs);
		statistics_print(&interval, text);
		print_values(points, first, points->seed);
		printf(": %s of %llu flows in %zu runs\n  mean %s\n", metric,
		       (unsigned long long)histogram_count(histogram), runs, text);
		print_quantiles(histogram);
	}
	histogram_destroy(histogram);
	free(means);
	return good;
}

static int describe_sweep(const struct points *points, const char *metric)
{
	for (size_t row = 0; row < points->results->rows; row++) {
		bool is_first = true;

		for (size_t before = 0; before < row && is_first; before++)
			is_first = !is_equal(points, before, row, points->seed, points->seed);
		if (is_first && !describe_group(points, row, metric))
			return EXIT_BAD_INPUT;
	}
	return EXIT_GOOD;
}

/* ---- pairs ---- */

static void print_pair(const struct pair *pair, double base)
{
	char text[TEXT];

	statistics_print(&pair->difference, text);
	printf("  difference %s", text);
	if (fabs(base) > 0) {
		const struct interval relative = {100 * pair->difference.mean / base,
						  100 * pair->difference.half / fabs(base),
						  pair->difference.count};

		statistics_print(&relative, text);
		printf(" (%s %%)", text);
	}
	if (isfinite(pair->effect))
		printf(", effect size %.1f, p %.1g", pair->effect, pair->p);
	printf(", %zu pairs\n", pair->difference.count);
}

/* Compares two values of the key, over all pairs of points that are equal otherwise. */
static void compare(const struct points *points, size_t key, const char *first, const char *second,
		    size_t metric)
{
	const struct table *results = points->results;
	double *ones = calloc(results->rows + 1, sizeof(*ones));
	double *others = calloc(results->rows + 1, sizeof(*others));
	struct pair pair;
	size_t count = 0;
	double sum = 0;

	if (!ones || !others)
		abort();
	for (size_t row = 0; row < results->rows; row++) {
		for (size_t with = 0; with < results->rows; with++) {
			double one = table_number(results, row, metric);
			double other = table_number(results, with, metric);

			if (strcmp(table_cell(results, row, key), first) != 0 ||
			    strcmp(table_cell(results, with, key), second) != 0 ||
			    !is_equal(points, row, with, key, key) || !isfinite(one) ||
			    !isfinite(other))
				continue;
			ones[count] = one;
			others[count++] = other;
			sum += one;
		}
	}
	pair = statistics_pair(ones, others, count);
	printf("%s, %s: %s to %s\n", results->names[metric], results->names[key], first, second);
	print_pair(&pair, count ? sum / (double)count : 0);
	free(ones);
	free(others);
}

/* Compares the first value of the key with each other one. */
static int compare_by(const struct points *points, const char *key_name, const char *metric_name)
{
	const struct table *results = points->results;
	size_t key = find_column(results, key_name, points->folder, "results.csv");
	size_t metric = find_column(results, metric_name, points->folder, "results.csv");

	if (key == results->columns || metric == results->columns)
		return EXIT_BAD_INPUT;
	if (key >= points->axes) {
		say("%s is not swept; expected a swept key", key_name);
		return EXIT_BAD_INPUT;
	}
	for (size_t row = 1; row < results->rows; row++) {
		const char *value = table_cell(results, row, key);
		bool is_new = true;

		for (size_t before = 0; before < row && is_new; before++)
			is_new = strcmp(table_cell(results, before, key), value) != 0;
		if (is_new)
			compare(points, key, table_cell(results, 0, key), value, metric);
	}
	return EXIT_GOOD;
}

static int describe(const char *folder, const char *by, const char *metric)
{
	struct points points = {.folder = folder};
	int code;

	if (!has_file(folder, "results.csv")) {
		if (!by)
			return describe_run(folder, metric ? metric : "fct_us");
		say("%s is no sweep, and --by compares points of a sweep", folder);
		return EXIT_BAD_INPUT;
	}
	points.results = read(folder, "results.csv");
	if (!points.results)
		return EXIT_BAD_INPUT;
	points.axes = points.point = table_column(points.results, "point");
	points.seed = table_column(points.results, "seed");
	if (by)
		code = compare_by(&points, by, metric ? metric : "fct_mean_us");
	else
		code = describe_sweep(&points, metric ? metric : "fct_us");
	table_free(points.results);
	return code;
}

int verb_stats(const struct arguments *arguments)
{
	int code = EXIT_GOOD;

	if (arguments->metric_count == 0)
		return describe(arguments->word, arguments->by, NULL);
	for (size_t i = 0; i < arguments->metric_count && code == EXIT_GOOD; i++)
		code = describe(arguments->word, arguments->by, arguments->metrics[i]);
	return code;
}
