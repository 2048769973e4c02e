/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_charts: see sweep_charts.h. */
#include "analysis/sweep_charts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/means.h"
#include "sim/renamed_keys.h"

#define LABELS_MAX    16   /* on an axis */
#define LOGARITHMIC   50   /* from this ratio of the largest to the smallest on */
#define LOGARITHMIC_Y 1000 /* the same, of metrics */
#define NAME_BYTES    256

/* ---- reading ---- */

struct sweep_tables *sweep_charts_read(const char *folder, char *error, size_t error_bytes)
{
	char path[PATH_MAX];
	struct sweep_tables *sweep = calloc(1, sizeof(*sweep));
	const char *after = "point";
	if (!sweep)
		abort();
	sweep->folder = strdup(folder);
	snprintf(path, sizeof(path), "%.3000s/results.csv", folder);
	sweep->results = table_read(path, error, error_bytes);
	sweep->means = sweep->results;
	if (sweep->results) {
		snprintf(path, sizeof(path), "%.3000s/means.csv", folder);
		if (access(path, R_OK) == 0) {
			sweep->means = table_read(path, error, error_bytes);
			after = "runs";
		}
	}
	if (sweep->means) {
		sweep->axes = table_column(sweep->means, after);
		sweep->metrics = table_column(sweep->means, "lowest_bound") + 1;
		if (sweep->metrics > sweep->means->columns)
			sweep->metrics = sweep->axes + 1;
		if (sweep->axes < sweep->means->columns && sweep->means->rows > 0)
			return sweep;
		snprintf(error, error_bytes, "%s is not a table of a sweep", path);
	}
	sweep_charts_free(sweep);
	return NULL;
}

void sweep_charts_free(struct sweep_tables *sweep)
{
	if (!sweep)
		return;
	if (sweep->means != sweep->results)
		table_free(sweep->means);
	table_free(sweep->results);
	free(sweep->folder);
	free(sweep);
}

bool sweep_charts_varies(const struct sweep_tables *sweep, size_t column)
{
	for (size_t row = 1; row < sweep->means->rows; row++) {
		if (strcmp(table_cell(sweep->means, 0, column),
			   table_cell(sweep->means, row, column)) != 0)
			return true;
	}
	return false;
}

size_t sweep_charts_first_key(const struct sweep_tables *sweep)
{
	for (size_t column = 0; column < sweep->axes; column++) {
		if (sweep_charts_varies(sweep, column))
			return column;
	}
	return 0;
}

static bool find_column(const struct sweep_tables *sweep, const char *name, const char *what,
			size_t first, size_t end, size_t *column, char *error, size_t error_bytes)
{
	char **names = sweep->means->names;
	char hint[NAME_BYTES];

	*column = table_column(sweep->means, name);
	if (*column >= first && *column < end)
		return true;
	renamed_key_hint(renamed_key_of_column(name), name, (const char *const *)names + first,
			 end - first, hint, sizeof(hint));
	snprintf(error, error_bytes, "%s has no %s \"%s\"%s", sweep->folder, what, name, hint);
	return false;
}

bool sweep_charts_find_key(const struct sweep_tables *sweep, const char *name, size_t *column,
			   char *error, size_t error_bytes)
{
	return find_column(sweep, name, "swept key", 0, sweep->axes, column, error, error_bytes);
}

bool sweep_charts_find_metric(const struct sweep_tables *sweep, const char *name, size_t *column,
			      char *error, size_t error_bytes)
{
	return find_column(sweep, name, "metric", sweep->metrics, sweep->means->columns, column,
			   error, error_bytes);
}

/* ---- the key's axis ---- */

struct key {
	size_t column;
	bool numeric; /* the values are numbers, all in one unit */
	const char *unit;
	double least, most;
};

/* The number that a value begins with, and its unit. */
static double split(const char *text, const char **unit)
{
	char *end;
	double value = strtod(text, &end);

	*unit = end;
	return end == text ? (double)NAN : value;
}

static struct key measure_key(const struct table *table, size_t column)
{
	struct key key = {column, true, "", INFINITY, -INFINITY};
	split(table_cell(table, 0, column), &key.unit);
	for (size_t row = 0; row < table->rows; row++) {
		const char *unit;
		double value = split(table_cell(table, row, column), &unit);

		key.numeric &= isfinite(value) && strcmp(unit, key.unit) == 0;
		key.least = fmin(key.least, value);
		key.most = fmax(key.most, value);
	}
	return key;
}

static void set_key_axis(struct chart *chart, const struct table *table, const struct key *key)
{
	const char *unit;
	chart_axis_set(&chart->x, table->names[key->column], key->numeric ? key->unit : "");
	chart->x.logarithmic =
		key->numeric && key->least > 0 && key->most / key->least >= LOGARITHMIC;
	for (size_t row = 0; row < table->rows; row++) {
		const char *text = table_cell(table, row, key->column);
		bool known = false;
		for (size_t i = 0; i < chart->x.name_count && !known; i++)
			known = strcmp(chart->x.names[i], text) == 0;
		if (!key->numeric && !known)
			chart_axis_name(&chart->x, text);
		else if (chart->x.logarithmic && chart->x.tick_count < LABELS_MAX)
			chart_axis_tick(&chart->x, split(text, &unit));
	}
}

/* Returns the position of a row on the x axis. */
static double position(const struct chart *chart, const struct table *table, const struct key *key,
		       size_t row)
{
	const char *unit, *text = table_cell(table, row, key->column);
	size_t place = 0;
	if (key->numeric)
		return split(text, &unit);
	while (strcmp(chart->x.names[place], text) != 0)
		place++;
	return (double)place;
}

/* ---- curves ---- */

static bool is_same_curve(const struct sweep_tables *sweep, size_t key, size_t one, size_t other)
{
	for (size_t i = 0; i < sweep->axes; i++) {
		if (i != key && strcmp(table_cell(sweep->means, one, i),
				       table_cell(sweep->means, other, i)) != 0)
			return false;
	}
	return true;
}

static bool is_first_of_curve(const struct sweep_tables *sweep, size_t key, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (is_same_curve(sweep, key, i, row))
			return false;
	}
	return true;
}

/* "balance=ecmp load=0.4": the last component of each key that varies. */
static char *curve_name(const struct sweep_tables *sweep, size_t key, size_t row)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool any = false;
	if (!out)
		abort();
	for (size_t i = 0; i < sweep->axes; i++) {
		const char *name = sweep->means->names[i], *dot = strrchr(name, '.');
		if (i == key || !sweep_charts_varies(sweep, i))
			continue;
		fprintf(out, "%s%s=%s", any ? " " : "", dot ? dot + 1 : name,
			table_cell(sweep->means, row, i));
		any = true;
	}
	fclose(out);
	return text;
}

/* Returns the bottleneck that all runs of a row have. Returns NULL if it is unknown, or differs
 * between seeds. */
static const char *bottleneck_of(const struct sweep_tables *sweep, size_t row)
{
	const struct table *runs = sweep->results;
	size_t column = table_column(runs, "bottleneck");
	const char *found = NULL;
	for (size_t run = 0; column < runs->columns && run < runs->rows; run++) {
		bool same = true;
		for (size_t i = 0; i < sweep->axes && same; i++) {
			size_t axis = table_column(runs, sweep->means->names[i]);
			same = axis < runs->columns &&
			       strcmp(table_cell(runs, run, axis),
				      table_cell(sweep->means, row, i)) == 0;
		}
		if (same && found && strcmp(found, table_cell(runs, run, column)) != 0)
			return NULL;
		if (same)
			found = table_cell(runs, run, column);
	}
	return found;
}

static void add_curve(struct chart *chart, const struct sweep_tables *sweep, const struct key *key,
		      size_t metric, size_t half, size_t first)
{
	const struct table *table = sweep->means;
	char *name = curve_name(sweep, key->column, first);
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_POINTS);
	free(name);
	for (size_t row = first; row < table->rows; row++) {
		double y = table_number(table, row, metric);
		double width = half < table->columns ? table_number(table, row, half) : (double)NAN;
		double x = position(chart, table, key, row);
		const char *bottleneck;
		if (!is_same_curve(sweep, key->column, first, row) || !isfinite(y))
			continue;
		chart_band_add(curve, x, y, y - width, y + width);
		bottleneck = bottleneck_of(sweep, row);
		if (bottleneck && *bottleneck && strcmp(bottleneck, "none") != 0)
			chart_mark_add(chart, x, y, bottleneck);
	}
}

/* Returns the largest value divided by the smallest value. Returns 0 if a value is not above 0. */
static double spread(const struct table *table, size_t metric)
{
	double least = INFINITY, most = 0;

	for (size_t row = 0; row < table->rows; row++) {
		double value = table_number(table, row, metric);

		least = isfinite(value) ? fmin(least, value) : least;
		most = isfinite(value) ? fmax(most, value) : most;
	}
	return least > 0 && most > 0 ? most / least : 0;
}

struct chart *sweep_charts_make(const struct sweep_tables *sweep, size_t key_column, size_t metric,
				const char *title, const char *unit)
{
	const struct table *table = sweep->means;
	struct key key = measure_key(table, key_column);
	struct chart *chart = chart_create(CHART_CURVES, table->names[metric], title);
	char half[NAME_BYTES];
	size_t curves = 0;
	snprintf(half, sizeof(half), "%s" MEANS_HALF, table->names[metric]);
	set_key_axis(chart, table, &key);
	chart_axis_set(&chart->y, table->names[metric], unit);
	chart->y.logarithmic = spread(table, metric) >= LOGARITHMIC_Y;
	if (!chart->y.logarithmic)
		chart->y.least = 0;
	for (size_t row = 0; row < table->rows; row++) {
		if (is_first_of_curve(sweep, key_column, row) && curves++ < CHART_CURVES_MAX)
			add_curve(chart, sweep, &key, metric, table_column(table, half), row);
	}
	if (curves > CHART_CURVES_MAX)
		chart_note(chart, "%d of %zu combinations of the other keys.", CHART_CURVES_MAX,
			   curves);
	else if (table != sweep->results)
		chart_note(chart, "Means over the seeds, with intervals of 95 %% confidence.");
	return chart;
}
