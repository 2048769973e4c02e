/* SPDX-License-Identifier: Apache-2.0 */
/* flow_charts: see flow_charts.h. */
#include "analysis/flow_charts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/statistics.h"
#include "analysis/table.h"

#define GROUPS_MAX 64  /* of slowdowns.csv */
#define STEPS_MAX  400 /* points of a distribution */

struct reading {
	const struct charted_run *runs;
	size_t count;
	char *error;
	size_t error_bytes;
};

/* Returns the table of a run, or NULL if the run has none. If the table cannot be read, returns
 * NULL and sets *bad. */
static struct table *read_file(const struct reading *reading, size_t run, const char *file,
			       bool *bad)
{
	char path[PATH_MAX];
	struct table *table;
	snprintf(path, sizeof(path), "%.3000s/%s", reading->runs[run].folder, file);
	if (access(path, R_OK) != 0)
		return NULL;
	table = table_read(path, reading->error, reading->error_bytes);
	*bad |= !table;
	return table;
}

static bool is_same_variant(const struct reading *reading, size_t one, size_t other)
{
	return strcmp(reading->runs[one].name, reading->runs[other].name) == 0;
}

/* ---- slowdown by size ---- */

enum { P50, P95, P99, PERCENTILES };
static const char *const columns[PERCENTILES] = {"slowdown_p50", "slowdown_p95", "slowdown_p99"};
static const char *const names[PERCENTILES] = {"50th percentile", "95th percentile",
					       "99th percentile"};

struct group {                       /* of flows of about one size */
	double bytes;                /* summed over seeds */
	double *values[PERCENTILES]; /* by seed */
	size_t seeds;
};

static void make_groups(struct group groups[GROUPS_MAX], size_t seeds)
{
	for (size_t i = 0; i < GROUPS_MAX; i++) {
		groups[i] = (struct group){0};
		for (unsigned k = 0; k < PERCENTILES; k++) {
			groups[i].values[k] = calloc(seeds + 1, sizeof(double));
			if (!groups[i].values[k])
				abort();
		}
	}
}

static void free_groups(struct group groups[GROUPS_MAX])
{
	for (size_t i = 0; i < GROUPS_MAX; i++)
		for (unsigned k = 0; k < PERCENTILES; k++)
			free(groups[i].values[k]);
}

static bool add_groups(const struct reading *reading, size_t run, struct group groups[GROUPS_MAX])
{
	bool bad = false, whole = true;
	struct table *table = read_file(reading, run, "slowdowns.csv", &bad);
	if (!table)
		return !bad;
	size_t bytes = table_column(table, "bytes_max_B"), at[PERCENTILES];
	for (unsigned k = 0; k < PERCENTILES; k++) {
		at[k] = table_column(table, columns[k]);
		whole &= at[k] < table->columns;
	}
	whole &= bytes < table->columns;
	for (size_t row = 0; whole && row < table->rows && row < GROUPS_MAX; row++) {
		struct group *group = &groups[row];
		if (!(table_number(table, row, at[P50]) > 0))
			continue;
		group->bytes += table_number(table, row, bytes);
		for (unsigned k = 0; k < PERCENTILES; k++)
			group->values[k][group->seeds] = table_number(table, row, at[k]);
		group->seeds++;
	}
	table_free(table);
	return true;
}

static bool sizes_differ(const struct group groups[GROUPS_MAX])
{
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < GROUPS_MAX && groups[i].seeds > 0; i++) {
		least = fmin(least, groups[i].bytes / (double)groups[i].seeds);
		most = fmax(most, groups[i].bytes / (double)groups[i].seeds);
	}
	return most > least;
}

/* Adds a percentile: its mean over the seeds with the interval of that mean. */
static void add_percentile(struct chart *chart, const char *name, unsigned percentile,
			   const struct group groups[GROUPS_MAX])
{
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_POINTS);
	for (size_t i = 0; i < GROUPS_MAX; i++) {
		const struct group *group = &groups[i];
		if (group->seeds == 0)
			continue;
		struct interval interval =
			statistics_interval(group->values[percentile], group->seeds);
		chart_band_add(curve, group->bytes / (double)group->seeds, interval.mean,
			       interval.mean - interval.half, interval.mean + interval.half);
	}
}

static struct chart *create_sizes(const char *name, const char *title)
{
	struct chart *chart = chart_create(CHART_CURVES, name, title);
	chart_axis_set(&chart->x, "largest flow of the group", "B");
	chart_axis_set(&chart->y, "slowdown", "");
	chart->x.logarithmic = true;
	chart->y.least = 0;
	return chart;
}

static void note_sizes(struct chart *chart, bool seeds)
{
	chart_note(chart, "Each point is a group of equally many flows.%s",
		   seeds ? " Lines are means over the seeds. Bands are intervals of 95 % "
			   "confidence over the seeds."
			 : "");
}

/* One variant has a curve for each percentile. Several variants have a curve each, for the median
 * and for the 99th percentile. */
static bool chart_sizes(struct charts *charts, const struct reading *reading, bool alone)
{
	struct chart *chart = create_sizes("sizes", alone ? "Slowdown by size of the flows"
							  : "Median slowdown by size");
	struct chart *tail = create_sizes("sizes_p99", "99th percentile of the slowdown by size");
	bool good = true, seeds = false;
	for (size_t run = 0; good && run < reading->count;) {
		struct group groups[GROUPS_MAX];
		size_t first = run;
		make_groups(groups, reading->count);
		while (good && run < reading->count && is_same_variant(reading, first, run))
			good = add_groups(reading, run++, groups);
		seeds |= run - first > 1;
		for (unsigned k = PERCENTILES; alone && good && sizes_differ(groups) && k-- > 0;)
			add_percentile(chart, names[k], k, groups);
		if (!alone && good && sizes_differ(groups)) {
			add_percentile(chart, reading->runs[first].name, P50, groups);
			add_percentile(tail, reading->runs[first].name, P99, groups);
		}
		free_groups(groups);
	}
	note_sizes(chart, seeds);
	note_sizes(tail, seeds);
	charts_add(charts, chart);
	charts_add(charts, tail);
	return good;
}

/* ---- distributions ---- */

struct numbers {
	double *list;
	size_t count;
};

static int by_number(const void *one, const void *other)
{
	double first = *(const double *)one, second = *(const double *)other;
	return first < second ? -1 : first > second;
}

static bool add_numbers(const struct reading *reading, size_t run, const char *column,
			struct numbers *numbers)
{
	bool bad = false;
	struct table *table = read_file(reading, run, "flows.csv", &bad);
	if (!table)
		return !bad;
	size_t at = table_column(table, column);
	numbers->list =
		realloc(numbers->list, (numbers->count + table->rows + 1) * sizeof(*numbers->list));
	if (!numbers->list)
		abort();
	for (size_t row = 0; at < table->columns && row < table->rows; row++) {
		double number = table_number(table, row, at);
		if (number > 0)
			numbers->list[numbers->count++] = number;
	}
	table_free(table);
	return true;
}

static void add_distribution(struct chart *chart, const char *name, struct numbers *numbers)
{
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_STEPS);
	size_t step = numbers->count / STEPS_MAX + 1;
	if (numbers->count == 0)
		return;
	qsort(numbers->list, numbers->count, sizeof(*numbers->list), by_number);
	chart_point_add(curve, numbers->list[0], 0);
	for (size_t i = step - 1; i < numbers->count; i += step)
		chart_point_add(curve, numbers->list[i], (double)(i + 1) / (double)numbers->count);
	chart_point_add(curve, numbers->list[numbers->count - 1], 1);
}

static bool chart_distribution(struct charts *charts, const struct reading *reading, bool alone,
			       const char *name, const char *column, const char *title,
			       const char *label, const char *unit)
{
	struct chart *chart = chart_create(CHART_CURVES, name, title);
	bool good = true;
	chart_axis_set(&chart->x, label, unit);
	chart_axis_set(&chart->y, "share of the flows", "");
	chart->x.logarithmic = true;
	chart->y.least = 0;
	chart->y.most = 1;
	for (size_t run = 0; good && run < reading->count;) {
		struct numbers numbers = {0};
		size_t first = run;
		while (good && run < reading->count && is_same_variant(reading, first, run))
			good = add_numbers(reading, run++, column, &numbers);
		add_distribution(chart, alone ? "" : reading->runs[first].name, &numbers);
		free(numbers.list);
	}
	charts_add(charts, chart);
	return good;
}

bool flow_charts_add(struct charts *charts, const struct charted_run *runs, size_t count,
		     char *error, size_t error_bytes)
{
	const struct reading reading = {runs, count, error, error_bytes};
	bool alone = count > 0 && is_same_variant(&reading, 0, count - 1);
	return chart_sizes(charts, &reading, alone) &&
	       chart_distribution(charts, &reading, alone, "slowdown", "slowdown",
				  "Distribution of the flows' slowdown", "slowdown", "") &&
	       chart_distribution(charts, &reading, alone, "fct", "fct_us",
				  "Distribution of flow completion times", "flow completion time",
				  "us");
}
