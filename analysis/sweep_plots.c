/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_plots: see sweep_plots.h. */
#include "analysis/sweep_plots.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/means.h"
#include "analysis/plot.h"
#include "analysis/table.h"
#include "sim/renamed_keys.h"

#define LABELS_MAX    16   /* on an axis */
#define LOGARITHMIC_Y 1000 /* as LOGARITHMIC, of metrics */
#define LOGARITHMIC   50   /* from this ratio of the largest to the smallest on */

struct drawing {
	const struct sweep_plot *plot;
	struct table *table;
	size_t axes, key, metric, half; /* columns; half: table->columns if there is none */
	bool numeric;                   /* the key's values are numbers, all in one unit */
	const char *unit;
	double least, most;
	char *error;
	size_t error_bytes;
};

/* The table of means if there is one, and how many of its columns are swept keys. */
static bool read_table(struct drawing *drawing)
{
	char path[PATH_MAX];
	const char *after = "runs";

	snprintf(path, sizeof(path), "%.3000s/means.csv", drawing->plot->folder);
	if (access(path, R_OK) != 0) {
		snprintf(path, sizeof(path), "%.3000s/results.csv", drawing->plot->folder);
		after = "point";
	}
	drawing->table = table_read(path, drawing->error, drawing->error_bytes);
	if (!drawing->table)
		return false;
	drawing->axes = table_column(drawing->table, after);
	if (drawing->axes < drawing->table->columns && drawing->table->rows > 0)
		return true;
	snprintf(drawing->error, drawing->error_bytes, "%s is no table of a sweep", path);
	return false;
}

static bool find_column(struct drawing *drawing, const char *name, const char *what, size_t first,
			size_t end, size_t *column)
{
	char **names = drawing->table->names;
	char hint[256];

	*column = table_column(drawing->table, name);
	if (*column >= first && *column < end)
		return true;
	renamed_key_hint(renamed_key_of_column(name), name, (const char *const *)names + first,
			 end - first, hint, sizeof(hint));
	snprintf(drawing->error, drawing->error_bytes, "%s has no %s \"%s\"%s",
		 drawing->plot->folder, what, name, hint);
	return false;
}

static size_t first_varied(const struct table *table, size_t axes)
{
	for (size_t column = 0; column < axes; column++) {
		for (size_t row = 1; row < table->rows; row++) {
			if (strcmp(table_cell(table, 0, column), table_cell(table, row, column)) !=
			    0)
				return column;
		}
	}
	return 0;
}

/* The number that a value begins with, and its unit. */
static double split(const char *text, const char **unit)
{
	char *end;
	double value = strtod(text, &end);

	*unit = end;
	return end == text ? (double)NAN : value;
}

static void measure_key(struct drawing *drawing)
{
	drawing->least = INFINITY;
	drawing->most = -INFINITY;
	drawing->numeric = true;
	split(table_cell(drawing->table, 0, drawing->key), &drawing->unit);
	for (size_t row = 0; row < drawing->table->rows; row++) {
		const char *unit;
		double value = split(table_cell(drawing->table, row, drawing->key), &unit);

		drawing->numeric &= isfinite(value) && strcmp(unit, drawing->unit) == 0;
		drawing->least = fmin(drawing->least, value);
		drawing->most = fmax(drawing->most, value);
	}
}

/* ---- curves ---- */

static bool is_same_curve(const struct drawing *drawing, size_t one, size_t other)
{
	for (size_t i = 0; i < drawing->axes; i++) {
		if (i != drawing->key && strcmp(table_cell(drawing->table, one, i),
						table_cell(drawing->table, other, i)) != 0)
			return false;
	}
	return true;
}

static bool is_first_of_curve(const struct drawing *drawing, size_t row)
{
	for (size_t i = 0; i < row; i++) {
		if (is_same_curve(drawing, i, row))
			return false;
	}
	return true;
}

/* "switch.balance=ecmp load=0.4": the last part of each key. */
static void print_curve_name(const struct drawing *drawing, size_t row, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < drawing->axes; i++) {
		const char *name = drawing->table->names[i], *dot = strrchr(name, '.');

		if (i == drawing->key)
			continue;
		fprintf(out, "%s%s=%s", any ? " " : "", dot ? dot + 1 : name,
			table_cell(drawing->table, row, i));
		any = true;
	}
}

static void print_curve(const struct drawing *drawing, size_t first, FILE *out)
{
	const struct table *table = drawing->table;

	fprintf(out, "# ");
	print_curve_name(drawing, first, out);
	fputc('\n', out);
	for (size_t row = first; row < table->rows; row++) {
		const char *unit, *text = table_cell(table, row, drawing->key);
		double half = drawing->half < table->columns
				      ? table_number(table, row, drawing->half)
				      : 0;

		if (!is_same_curve(drawing, first, row) ||
		    !isfinite(table_number(table, row, drawing->metric)))
			continue;
		if (drawing->numeric)
			fprintf(out, "%.12g", split(text, &unit));
		else
			fprintf(out, "\"%s\"", text);
		fprintf(out, " %s %.9g\n", table_cell(table, row, drawing->metric),
			isfinite(half) ? half : 0);
	}
	fprintf(out, "\n\n");
}

static FILE *open_part(const struct drawing *drawing, const char *extension)
{
	char path[PATH_MAX];
	FILE *out;

	snprintf(path, sizeof(path), "%.3000s/%s.%s", drawing->plot->folder, drawing->plot->metric,
		 extension);
	out = fopen(path, "w");
	if (!out)
		snprintf(drawing->error, drawing->error_bytes, "%s: %s", path, strerror(errno));
	return out;
}

static bool write_curves(const struct drawing *drawing)
{
	FILE *out = open_part(drawing, "dat");
	bool good;

	if (!out)
		return false;
	for (size_t row = 0; row < drawing->table->rows; row++) {
		if (is_first_of_curve(drawing, row))
			print_curve(drawing, row, out);
	}
	good = ferror(out) == 0;
	return fclose(out) == 0 && good;
}

/* The largest value over the smallest; 0: some are not above 0. */
static double spread(const struct drawing *drawing)
{
	double least = INFINITY, most = 0;

	for (size_t row = 0; row < drawing->table->rows; row++) {
		double value = table_number(drawing->table, row, drawing->metric);

		least = isfinite(value) ? fmin(least, value) : least;
		most = isfinite(value) ? fmax(most, value) : most;
	}
	return least > 0 && most > 0 ? most / least : 0;
}

/* With a label at each value that was swept. */
static void print_logarithmic(const struct drawing *drawing, FILE *out)
{
	const struct table *table = drawing->table;
	unsigned labels = 0;

	fprintf(out, "set logscale x 2\nset xtics (");
	for (size_t row = 0; row < table->rows && labels < LABELS_MAX; row++) {
		const char *unit, *text = table_cell(table, row, drawing->key);
		bool known = false;

		for (size_t i = 0; i < row && !known; i++)
			known = strcmp(table_cell(table, i, drawing->key), text) == 0;
		if (!known)
			fprintf(out, "%s%.12g", labels++ > 0 ? ", " : "", split(text, &unit));
	}
	fprintf(out, ")\n");
}

static bool write_picture(const struct drawing *drawing)
{
	FILE *out = open_part(drawing, "gp");
	unsigned curves = 0;
	bool bars = drawing->half < drawing->table->columns;

	if (!out)
		return false;
	plot_begin(drawing->plot->metric, drawing->plot->title, out);
	fprintf(out, "set xlabel \"%s%s%s%s\" noenhanced\nset ylabel \"%s\" noenhanced\n",
		drawing->table->names[drawing->key], drawing->numeric && *drawing->unit ? " (" : "",
		drawing->numeric ? drawing->unit : "",
		drawing->numeric && *drawing->unit ? ")" : "", drawing->plot->label);
	fprintf(out, "set yrange [0:*]\n");
	if (drawing->numeric && drawing->least > 0 && drawing->most / drawing->least >= LOGARITHMIC)
		print_logarithmic(drawing, out);
	if (spread(drawing) >= LOGARITHMIC_Y)
		fprintf(out, "set logscale y\nset yrange [*:*]\n");
	/* nothing lies on the frame */
	fprintf(out, "set offsets graph 0.03, graph 0.03, graph 0.03, 0\n");
	for (size_t row = 0; row < drawing->table->rows; row++) {
		if (!is_first_of_curve(drawing, row))
			continue;
		fprintf(out, "%s'%s.dat' index %u using %s with %s title \"",
			curves == 0 ? "plot " : ", ", drawing->plot->metric, curves,
			drawing->numeric ? bars ? "1:2:3" : "1:2"
			: bars           ? "0:2:3:xtic(1)"
					 : "0:2:xtic(1)",
			bars ? "yerrorlines" : "linespoints");
		print_curve_name(drawing, row, out);
		fprintf(out, "\" noenhanced");
		curves++;
	}
	fputc('\n', out);
	if (plot_finish(drawing->plot->folder, drawing->plot->metric, out))
		return true;
	snprintf(drawing->error, drawing->error_bytes, "%s/%s.gp: not written, or gnuplot failed",
		 drawing->plot->folder, drawing->plot->metric);
	return false;
}

bool sweep_plot_write(const struct sweep_plot *plot, char *error, size_t error_bytes)
{
	struct drawing drawing = {.plot = plot, .error = error, .error_bytes = error_bytes};
	char half[128];
	bool good = read_table(&drawing);

	if (good && plot->key)
		good = find_column(&drawing, plot->key, "swept key", 0, drawing.axes, &drawing.key);
	else if (good)
		drawing.key = first_varied(drawing.table, drawing.axes);
	good = good && find_column(&drawing, plot->metric, "metric", drawing.axes + 1,
				   drawing.table->columns, &drawing.metric);
	if (good) {
		snprintf(half, sizeof(half), "%s" MEANS_HALF, plot->metric);
		drawing.half = table_column(drawing.table, half);
		measure_key(&drawing);
		good = write_curves(&drawing) && write_picture(&drawing);
	}
	table_free(drawing.table);
	return good;
}
