/* SPDX-License-Identifier: Apache-2.0 */
/* flow_charts: see flow_charts.h. */
#include "analysis/flow_charts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct group { /* of flows of about one size, summed over seeds */
	double bytes, p50, p95, p99;
	unsigned seeds;
};

static bool add_groups(const struct reading *reading, size_t run, struct group groups[GROUPS_MAX])
{
	bool bad = false;
	struct table *table = read_file(reading, run, "slowdowns.csv", &bad);
	if (!table)
		return !bad;
	size_t bytes = table_column(table, "bytes_max_B"),
	       p50 = table_column(table, "slowdown_p50");
	size_t p95 = table_column(table, "slowdown_p95"), p99 = table_column(table, "slowdown_p99");
	bool whole = bytes < table->columns && p50 < table->columns && p95 < table->columns &&
		     p99 < table->columns;
	for (size_t row = 0; whole && row < table->rows && row < GROUPS_MAX; row++) {
		struct group *group = &groups[row];
		if (!(table_number(table, row, p50) > 0))
			continue;
		group->bytes += table_number(table, row, bytes);
		group->p50 += table_number(table, row, p50);
		group->p95 += table_number(table, row, p95);
		group->p99 += table_number(table, row, p99);
		group->seeds++;
	}
	table_free(table);
	return true;
}

static bool sizes_differ(const struct group groups[GROUPS_MAX])
{
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < GROUPS_MAX && groups[i].seeds > 0; i++) {
		least = fmin(least, groups[i].bytes / groups[i].seeds);
		most = fmax(most, groups[i].bytes / groups[i].seeds);
	}
	return most > least;
}

/* Adds a variant: its median with a band. If it is the only variant, each percentile has a
 * curve. */
static void add_sizes(struct chart *chart, const char *name, bool alone,
		      const struct group groups[GROUPS_MAX])
{
	struct chart_curve *p99 =
		alone ? chart_curve_add(chart, "99th percentile", CURVE_POINTS) : NULL;
	struct chart_curve *p95 =
		alone ? chart_curve_add(chart, "95th percentile", CURVE_POINTS) : NULL;
	struct chart_curve *p50 =
		chart_curve_add(chart, alone ? "50th percentile" : name, CURVE_POINTS);
	for (size_t i = 0; i < GROUPS_MAX; i++) {
		const struct group *group = &groups[i];
		double seeds = group->seeds;
		if (group->seeds == 0)
			continue;
		if (alone) {
			chart_point_add(p99, group->bytes / seeds, group->p99 / seeds);
			chart_point_add(p95, group->bytes / seeds, group->p95 / seeds);
			chart_point_add(p50, group->bytes / seeds, group->p50 / seeds);
		} else {
			chart_band_add(p50, group->bytes / seeds, group->p50 / seeds,
				       group->p50 / seeds, group->p99 / seeds);
		}
	}
}

static bool chart_sizes(struct charts *charts, const struct reading *reading, bool alone)
{
	struct chart *chart = chart_create(CHART_CURVES, "sizes", "Slowdown by size of the flows");
	bool good = true;
	chart_axis_set(&chart->x, "largest flow of the group", "B");
	chart_axis_set(&chart->y, "slowdown", "");
	chart->x.logarithmic = true;
	chart->y.least = 0;
	for (size_t run = 0; good && run < reading->count;) {
		struct group groups[GROUPS_MAX] = {0};
		size_t first = run;
		while (good && run < reading->count && is_same_variant(reading, first, run))
			good = add_groups(reading, run++, groups);
		if (good && sizes_differ(groups))
			add_sizes(chart, reading->runs[first].name, alone, groups);
	}
	chart_note(chart, "Each point is a group of equally many flows.%s",
		   alone ? "" : " Lines are medians. Bands reach to the 99th percentile.");
	charts_add(charts, chart);
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
