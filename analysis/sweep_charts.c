/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_charts: see sweep_charts.h. */
#include "analysis/sweep_charts.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/means.h"
#include "analysis/sweep_panels.h"
#include "sim/renamed_keys.h"

#define LABELS_MAX  16 /* on an axis */
#define LOGARITHMIC 50 /* from this ratio of the largest to the smallest value of the key on */
#define MARKS_MAX   4  /* kinds of marks of a chart */
#define BAND_PART   2  /* height of an axis at most, over the largest value */
#define NAME_BYTES  256

#define SIDE_BY_SIDE 0.5 /* width of the curves at a name of the axis */

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

/* Returns the number that a value begins with, and sets *unit to the rest. */
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

char *sweep_charts_name(const struct sweep_tables *sweep, size_t row, size_t except, size_t also)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool any = false;
	if (!out)
		abort();
	for (size_t i = 0; i < sweep->axes; i++) {
		const char *name = sweep->means->names[i], *dot = strrchr(name, '.');
		bool variant = strcmp(name, "variant") == 0;
		if (i == except || i == also || !sweep_charts_varies(sweep, i))
			continue;
		fprintf(out, "%s%s%s%s", any ? " " : "",
			variant ? ""
			: dot   ? dot + 1
				: name,
			variant ? "" : "=", table_cell(sweep->means, row, i));
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

/* All that the curves of a metric share. */
struct drawing {
	const struct sweep_tables *sweep;
	struct key key;
	size_t metric, half; /* columns; half of the interval is a column if seeds are swept */
	struct sweep_panels panels;
};

static bool is_of_curve(const struct drawing *drawing, size_t first, size_t row)
{
	return drawing->panels.single ||
	       is_same_curve(drawing->sweep, drawing->key.column, first, row);
}

static void set_style(const struct drawing *drawing, size_t row, struct chart_curve *curve)
{
	const struct sweep_panels *panels = &drawing->panels;
	if (panels->single)
		curve->style = CURVE_DOTS;
	if (panels->colour == SIZE_MAX)
		return;
	curve->colour = (unsigned)sweep_panels_rank(drawing->sweep, panels->colour, row);
	curve->dash = (unsigned)sweep_panels_rank(drawing->sweep, panels->dash, row);
}

/* Returns the distance of the curve's points from the names of the axis. Curves with intervals
 * stand side by side there. */
static double offset_of(const struct chart *chart, const struct drawing *drawing, size_t number,
			size_t count)
{
	if (chart->x.name_count == 0 || drawing->half == drawing->sweep->means->columns)
		return 0;
	return SIDE_BY_SIDE * (((double)number + 0.5) / (double)count - 0.5);
}

static void add_curve(struct chart *chart, const struct drawing *drawing, size_t first,
		      double offset)
{
	const struct table *table = drawing->sweep->means;
	char *name = sweep_charts_name(drawing->sweep, first, drawing->key.column,
				       drawing->panels.split);
	struct chart_curve *curve =
		chart_curve_add(chart, drawing->panels.single ? "" : name, CURVE_POINTS);
	free(name);
	set_style(drawing, first, curve);
	for (size_t row = first; row < table->rows; row++) {
		double y = table_number(table, row, drawing->metric);
		double width = drawing->half < table->columns
				       ? table_number(table, row, drawing->half)
				       : (double)NAN;
		double x = position(chart, table, &drawing->key, row) + offset;
		const char *bottleneck;
		if (!is_of_curve(drawing, first, row) || !isfinite(y))
			continue;
		chart_band_add(curve, x, y, y - width, y + width);
		bottleneck = bottleneck_of(drawing->sweep, row);
		if (bottleneck && *bottleneck && strcmp(bottleneck, "none") != 0)
			chart_mark_add(chart, x, y, bottleneck);
	}
}

/* ---- marks ---- */

/* "leaf0.port12.link" becomes "leaf*.port*.link". */
static void omit_numbers(char *text)
{
	char *to = text;
	for (const char *from = text; *from; from++) {
		if (!isdigit((unsigned char)*from))
			*to++ = *from;
		else if (to == text || to[-1] != '*')
			*to++ = '*';
	}
	*to = '\0';
}

/* Keeps marks that a reader can tell apart. A resource that limits all points is named in the note
 * instead. */
static void tidy_marks(struct chart *chart)
{
	size_t points = 0, kinds = chart_mark_kinds(chart);
	for (size_t i = 0; i < chart->curve_count; i++)
		points += chart->curves[i]->count;
	if (kinds > MARKS_MAX) {
		for (size_t i = 0; i < chart->mark_count; i++)
			omit_numbers(chart->marks[i].text);
		kinds = chart_mark_kinds(chart);
	}
	bool same = kinds == 1 && chart->mark_count == points;
	if (same)
		chart_note(chart, "The bottleneck of all points is %s.", chart->marks[0].text);
	if (kinds > MARKS_MAX)
		chart_note(chart, "results.csv names the bottlenecks of the points.");
	if (!same && kinds <= MARKS_MAX)
		return;
	for (size_t i = 0; i < chart->mark_count; i++)
		free(chart->marks[i].text);
	chart->mark_count = 0;
}

/* ---- charts ---- */

/* Returns a chart with the curves of a panel. */
static struct chart *make_panel(const struct drawing *drawing, const struct sweep_metric *metric,
				size_t panel)
{
	const struct sweep_panels *panels = &drawing->panels;
	const struct table *table = drawing->sweep->means;
	size_t curves = 0, firsts[CHART_CURVES_MAX];
	char name[2 * NAME_BYTES], value[NAME_BYTES] = "", *title;
	if (panels->split != SIZE_MAX) {
		const char *key = table->names[panels->split], *dot = strrchr(key, '.');
		snprintf(value, sizeof(value), "%s=%s", dot ? dot + 1 : key,
			 table_cell(table, panels->rows[panel], panels->split));
	}
	snprintf(name, sizeof(name), "%s%s%s", metric->name, *value ? "-" : "", value);
	for (char *at = name; *at; at++)
		*at = isalnum((unsigned char)*at) || strchr("._-=", *at) ? *at : '-';
	if (asprintf(&title, "%s%s%s", value, *value ? ": " : "", metric->title) < 0)
		abort();
	struct chart *chart = chart_create(CHART_CURVES, name, title);
	free(title);
	set_key_axis(chart, table, &drawing->key);
	chart_axis_set(&chart->y, table->names[drawing->metric], metric->unit);
	chart->styled = panels->colour != SIZE_MAX;
	for (size_t row = 0; row < table->rows; row++) {
		if (!sweep_panels_has(panels, drawing->sweep, panel, row) ||
		    (panels->single ? row > 0
				    : !is_first_of_curve(drawing->sweep, drawing->key.column, row)))
			continue;
		if (curves < CHART_CURVES_MAX)
			firsts[curves] = row;
		curves++;
	}
	size_t shown = curves < CHART_CURVES_MAX ? curves : CHART_CURVES_MAX;
	for (size_t i = 0; i < shown; i++)
		add_curve(chart, drawing, firsts[i], offset_of(chart, drawing, i, shown));
	if (drawing->sweep->means != drawing->sweep->results)
		chart_note(chart, "Means over the seeds, with intervals of 95 %% confidence.");
	if (curves > CHART_CURVES_MAX)
		chart_note(chart, "%d of %zu combinations of the other keys.", CHART_CURVES_MAX,
			   curves);
	if (panels->single)
		chart_note(chart, "Each point is a run. The other keys differ between the points.");
	if (panels->values > panels->count)
		chart_note(chart, "%zu of %zu values of %s have a picture.", panels->count,
			   panels->values, table->names[panels->split]);
	tidy_marks(chart);
	return chart;
}

/* The least and the largest values of charts, and the largest end of a band. */
struct extent {
	double least, most, band;
};

static void widen(const struct chart *chart, struct extent *extent)
{
	for (size_t i = 0; i < chart->curve_count; i++) {
		const struct chart_curve *curve = chart->curves[i];
		for (size_t k = 0; k < curve->count; k++) {
			const struct chart_point *point = &curve->points[k];
			extent->least =
				fmin(extent->least, isfinite(point->low) ? point->low : point->y);
			extent->most = fmax(extent->most, point->y);
			extent->band =
				fmax(extent->band, isfinite(point->high) ? point->high : point->y);
		}
	}
}

/* Gives all panels the same axis. An axis is logarithmic if the values are above 0 and their ratio
 * is large. Bands that are much wider than the values leave a linear axis. */
static void set_scale(struct chart *const *charts, size_t count, double logarithmic_from)
{
	struct extent extent = {INFINITY, -INFINITY, -INFINITY};
	for (size_t i = 0; i < count; i++)
		widen(charts[i], &extent);
	bool logarithmic = extent.least > 0 && extent.band / extent.least >= logarithmic_from;
	bool cut = !logarithmic && extent.most > 0 && extent.band > BAND_PART * extent.most;
	for (size_t i = 0; i < count; i++) {
		struct chart_axis *axis = &charts[i]->y;
		axis->logarithmic = logarithmic;
		if (count > 1 || !logarithmic)
			axis->least = logarithmic ? extent.least : 0;
		if (cut)
			axis->most = BAND_PART * extent.most;
		else if (count > 1 && extent.most > 0)
			axis->most = extent.band;
		if (cut)
			chart_note(charts[i], "Intervals continue beyond the axis.");
	}
}

void sweep_charts_add(struct charts *charts, const struct sweep_tables *sweep, size_t key,
		      const struct sweep_metric *metric)
{
	const struct table *table = sweep->means;
	struct drawing drawing = {
		.sweep = sweep, .key = measure_key(table, key), .metric = metric->column};
	struct chart *panels[SWEEP_PANELS_MAX];
	char half[NAME_BYTES];
	snprintf(half, sizeof(half), "%s" MEANS_HALF, table->names[metric->column]);
	drawing.half = table_column(table, half);
	sweep_panels_choose(&drawing.panels, sweep, key);
	for (size_t i = 0; i < drawing.panels.count; i++)
		panels[i] = make_panel(&drawing, metric, i);
	set_scale(panels, drawing.panels.count, metric->logarithmic_from);
	for (size_t i = 0; i < drawing.panels.count; i++)
		charts_add(charts, panels[i]);
}
