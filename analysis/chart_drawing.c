/* SPDX-License-Identifier: Apache-2.0 */
/* chart_drawing: see chart_drawing.h. */
#include "analysis/chart_drawing.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WIDTH         960
#define HEIGHT        600
#define ROW_HEIGHT    30  /* of a bar, or of a row of a map */
#define ROWS_HEIGHT   150 /* of what is around them */
#define LEGEND_WIDTH  840 /* pixels of a row of the legend */
#define LEGEND_ROW    20  /* pixels */
#define LETTER_WIDTH  9
#define SAMPLE_WIDTH  60 /* of the line before a title */
#define NAMES_MAX     40 /* rows of a map with a name */
#define MARKS_BEGIN   30 /* their line types follow the line types of curves */
#define MARK_SHAPES   7
#define PALETTE       "0 '#f4f7fb', 0.35 '#9ecae1', 0.7 '#3182bd', 1 '#08306b'"
#define COLOUR(value) #value,

static const char *const colours[] = {CHART_COLOURS(COLOUR)};

bool chart_drawing_possible(void)
{
	char *path = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = NULL;
	char file[PATH_MAX];
	bool found = false;

	if (!path)
		abort();
	for (char *directory = strtok_r(path, ":", &rest); directory && !found;
	     directory = strtok_r(NULL, ":", &rest)) {
		snprintf(file, sizeof(file), "%s/gnuplot", directory);
		found = access(file, X_OK) == 0;
	}
	free(path);
	return found;
}

/* ---- the numbers ---- */

/* Writes the data: a block for each curve, a block for the corners of the spans, and a block for
 * each kind of mark.
 */
static void write_numbers(const struct chart *chart, FILE *out)
{
	fprintf(out, "# %s\n", chart->title);
	for (size_t i = 0; i < chart->curve_count; i++) {
		const struct chart_curve *curve = chart->curves[i];
		bool map = chart->kind == CHART_MAP, band = chart_has_band(curve);
		fprintf(out, "# %s\n", curve->name);
		for (size_t j = 0; j < curve->count; j++) {
			const struct chart_point *point = &curve->points[j];
			if (map)
				fprintf(out, "%.9g %zu %.9g\n", point->x, i, point->y);
			else if (band)
				fprintf(out, "%.9g %.9g %.9g %.9g\n", point->x, point->y,
					point->low, point->high);
			else
				fprintf(out, "%.9g %.9g\n", point->x, point->y);
		}
		fputs(map ? "" : "\n\n", out); /* rows of a map are one block */
	}
	for (size_t i = 0; i < chart->span_count; i++)
		fprintf(out, "%.9g 0\n%.9g 1\n%.9g 1\n%.9g 0\n\n", chart->spans[i].from,
			chart->spans[i].from, chart->spans[i].to, chart->spans[i].to);
	fputs(chart->span_count > 0 ? "\n" : "", out);
	for (size_t kind = 0, found = 1; found > 0; kind++) {
		found = 0;
		for (size_t i = 0; i < chart->mark_count; i++) {
			if (chart_mark_kind(chart, i) != kind)
				continue;
			if (found++ == 0)
				fprintf(out, "# %s\n", chart->marks[i].text);
			fprintf(out, "%.9g %.9g\n", chart->marks[i].x, chart->marks[i].y);
		}
		fputs(found > 0 ? "\n\n" : "", out);
	}
}

/* ---- the commands ---- */

static void print_text(const char *text, FILE *out)
{
	fputc('\'', out);
	for (; *text; text++)
		fputs(*text == '\'' ? "''" : (char[]){*text, '\0'}, out);
	fputc('\'', out);
}

static void print_label(const char *command, const struct chart_axis *axis, FILE *out)
{
	char *title = chart_axis_title(axis);
	if (*title != '\0') {
		fprintf(out, "set %s ", command);
		print_text(title, out);
		/* an empty row keeps the legend away from the label */
		fputs(strcmp(command, "xlabel") == 0 ? ".\"\\n\" offset 0,0.4\n" : "\n", out);
	}
	free(title);
}

static void print_range(const char *command, const struct chart_axis *axis, FILE *out)
{
	fprintf(out, "set %s [", command);
	fprintf(out, isfinite(axis->least) ? "%.9g:" : "*:", axis->least);
	fprintf(out, isfinite(axis->most) ? "%.9g]\n" : "*]\n", axis->most);
}

/* Writes labels at the positions that have names, at no more than `most` positions. */
static void print_names(const char *command, const struct chart_axis *axis, size_t most, FILE *out)
{
	size_t step = (axis->name_count - 1) / most + 1;
	fprintf(out, "set %s (", command);
	for (size_t i = 0; i < axis->name_count; i += step) {
		fputs(i > 0 ? ", " : "", out);
		print_text(axis->names[i], out);
		fprintf(out, " %zu", i);
	}
	fprintf(out, ")\n");
}

static void print_axis(const char *letter, const struct chart_axis *axis, FILE *out)
{
	char command[16];
	snprintf(command, sizeof(command), "%slabel", letter);
	print_label(command, axis, out);
	if (axis->logarithmic && axis->tick_count == 0)
		fprintf(out, "set format %s '%%.0s%%c'\n", letter);
	snprintf(command, sizeof(command), "%srange", letter);
	if (axis->name_count > 0)
		fprintf(out, "set %s [-0.3:%.1f]\n", command, (double)axis->name_count - 0.7);
	else
		print_range(command, axis, out);
	if (axis->logarithmic)
		fprintf(out, "set logscale %s %u\n", letter, axis->tick_count > 0 ? 2u : 10u);
	snprintf(command, sizeof(command), "%stics", letter);
	if (axis->name_count > 0)
		print_names(command, axis, SIZE_MAX, out);
	for (size_t i = 0; i < axis->tick_count; i++)
		fprintf(out, "%s%.12g%s", i > 0 ? ", " : "set xtics (", axis->ticks[i],
			i + 1 == axis->tick_count ? ")\n" : "");
}

/* Returns the height of the rows of the legend behind the third row, which fit into the picture. */
static unsigned legend_height(const struct chart *chart)
{
	size_t longest = 1, titles = chart->level_count + chart_mark_kinds(chart);
	for (size_t i = 0; i < chart->curve_count; i++) {
		size_t length = strlen(chart->curves[i]->name);
		titles += length > 0;
		longest = length > longest ? length : longest;
	}
	for (size_t i = 0; i < chart->level_count; i++) {
		size_t length = strlen(chart->levels[i].name);
		longest = length > longest ? length : longest;
	}
	for (size_t i = 0; i < chart->mark_count; i++) {
		size_t length = strlen(chart->marks[i].text);
		longest = length > longest ? length : longest;
	}
	size_t columns = LEGEND_WIDTH / (longest * LETTER_WIDTH + SAMPLE_WIDTH);
	size_t rows = (titles + (columns > 0 ? columns : 1) - 1) / (columns > 0 ? columns : 1);
	return rows > 3 ? (unsigned)(rows - 3) * LEGEND_ROW : 0;
}

static unsigned height_of(const struct chart *chart)
{
	size_t rows = chart->kind == CHART_BARS  ? chart->y.name_count * chart->curve_count
		      : chart->kind == CHART_MAP ? chart->curve_count
						 : 0;
	size_t row = chart->kind == CHART_BARS && chart->curve_count > 1 ? ROW_HEIGHT * 2 / 3
									 : ROW_HEIGHT;
	size_t height = ROWS_HEIGHT + row * rows;
	if (rows == 0)
		return HEIGHT + legend_height(chart);
	return height > 2 * HEIGHT ? 2 * HEIGHT : height < 260 ? 260 : (unsigned)height;
}

static void print_style(const struct chart *chart, FILE *out)
{
	fprintf(out,
		"set terminal svg size %u,%u font 'sans,14' noenhanced background 'white'\n"
		"set output '%s.svg'\nset title ",
		WIDTH, height_of(chart), chart->name);
	print_text(chart->title, out);
	fprintf(out, "\nset border 3 linecolor rgb '#555555'\nset tics nomirror out\n"
		     "set grid linetype 1 linewidth 0.5 linecolor rgb '#dddddd'\n"
		     "set key outside bottom center horizontal reverse Left samplen 2 width 2\n"
		     "set datafile missing 'NaN'\n");
	/* no two curves alike */
	for (unsigned i = 0; i < chart->curve_count && chart->kind != CHART_MAP; i++) {
		const struct chart_curve *curve = chart->curves[i];
		fprintf(out,
			"set linetype %u linecolor rgb '#%s' dashtype %u pointtype %u linewidth "
			"2\n",
			i + 1, colours[curve->colour], curve->dash + 1, curve->colour + 1);
	}
	for (unsigned i = 0; i < MARK_SHAPES; i++)
		fprintf(out, "set linetype %u linecolor rgb '#333333' pointtype %u pointsize 1.6\n",
			MARKS_BEGIN + i, i * 2 + 4);
}

/* Begins the next element of a plot command. */
static void begin(unsigned *drawn, FILE *out)
{
	fputs((*drawn)++ == 0 ? "plot " : ", \\\n  ", out);
}

static void print_curve(const struct chart *chart, size_t number, unsigned *drawn, FILE *out)
{
	const struct chart_curve *curve = chart->curves[number];
	bool band = chart_has_band(curve), bars = chart->x.name_count > 0 || curve->count < 2;
	const char *axes = curve->right ? " axes x1y2" : "";
	if (band && !bars) {
		begin(drawn, out);
		fprintf(out,
			"'%s.dat' index %zu using 1:3:4%s with filledcurves linecolor rgb '#%s' "
			"fillstyle transparent solid 0.18 noborder notitle",
			chart->name, number, axes, colours[curve->colour]);
	}
	begin(drawn, out);
	fprintf(out, "'%s.dat' index %zu using %s%s with %s linetype %zu ", chart->name, number,
		band && bars ? "1:2:3:4" : "1:2", axes,
		band && bars                   ? "yerrorlines"
		: curve->style == CURVE_DOTS   ? "points"
		: curve->style == CURVE_POINTS ? "linespoints"
		: curve->style == CURVE_STEPS  ? "steps"
					       : "lines",
		number + 1);
	fputs(*curve->name ? "title " : "notitle", out);
	if (*curve->name)
		print_text(curve->name, out);
}

/* Draws the marks. Their blocks follow the blocks of curves and spans, one block per kind of
 * mark. */
static void print_marks(const struct chart *chart, unsigned *drawn, FILE *out)
{
	size_t block = chart->curve_count + (chart->span_count > 0);
	for (size_t i = 0, kinds = 0; i < chart->mark_count; i++) {
		if (chart_mark_kind(chart, i) != kinds)
			continue;
		begin(drawn, out);
		fprintf(out, "'%s.dat' index %zu using 1:2 with points linetype %zu title ",
			chart->name, block + kinds, MARKS_BEGIN + kinds % MARK_SHAPES);
		print_text(chart->marks[i].text, out);
		kinds++;
	}
}

static void print_curves(const struct chart *chart, FILE *out)
{
	unsigned drawn = 0;
	bool right = false;
	for (size_t i = 0; i < chart->curve_count; i++)
		right |= chart->curves[i]->right;
	print_axis("x", &chart->x, out);
	print_axis("y", &chart->y, out);
	if (right) {
		fprintf(out, "set y2tics\nset border 11\n");
		print_axis("y2", &chart->right, out);
	} else if (chart->span_count > 0) {
		fprintf(out, "set y2range [0:1]\n");
	}
	/* nothing lies on the frame */
	fprintf(out, isfinite(chart->x.most)
			     ? "set offsets 0, 0, graph 0.04, 0\n"
			     : "set offsets graph 0.02, graph 0.02, graph 0.04, 0\n");
	if (chart->span_count > 0) {
		begin(&drawn, out);
		fprintf(out,
			"'%s.dat' index %zu using 1:2 axes x1y2 with filledcurves closed linecolor "
			"rgb '#f3c6bd' title ",
			chart->name, chart->curve_count);
		print_text(chart->span_name ? chart->span_name : "", out);
	}
	for (size_t i = 0; i < chart->curve_count; i++)
		print_curve(chart, i, &drawn, out);
	for (size_t i = 0; i < chart->level_count; i++) {
		begin(&drawn, out);
		fprintf(out, "%.9g with lines linewidth 1.2 dashtype %zu linecolor rgb '#444444' ",
			chart->levels[i].value, i + 2);
		fputs("title ", out);
		print_text(chart->levels[i].name, out);
	}
	print_marks(chart, &drawn, out);
	fputc('\n', out);
}

/* Draws bars, the first at the top. The ends of a bar are columns 3 and 4, or 0 and column 2. */
static void print_bars(const struct chart *chart, FILE *out)
{
	unsigned drawn = 0;
	double group = (double)chart->curve_count, half = 0.36 / group;
	print_axis("x", &chart->x, out);
	print_names("ytics", &chart->y, SIZE_MAX, out);
	fprintf(out, "set yrange [%zu.5:-0.5]\nset style fill solid 0.75 noborder\n",
		chart->y.name_count - 1);
	fprintf(out, "set offsets 0, graph 0.12, 0, 0\nset grid noytics\n");
	for (size_t i = 0; i < chart->curve_count; i++) {
		bool band = chart_has_band(chart->curves[i]);
		double offset = ((double)i - (group - 1) / 2) * 0.8 / group;
		begin(&drawn, out);
		fprintf(out, "'%s.dat' index %zu using ", chart->name, i);
		if (band)
			fprintf(out, "(($3+$4)/2):($1%+.3f):(($4-$3)/2):(%.3f)", offset, half);
		else
			fprintf(out, "($2/2):($1%+.3f):(abs($2)/2):(%.3f)", offset, half);
		fprintf(out, " with boxxyerror linetype %zu ", i + 1);
		fputs(*chart->curves[i]->name ? "title " : "notitle", out);
		if (*chart->curves[i]->name)
			print_text(chart->curves[i]->name, out);
		begin(&drawn, out);
		fprintf(out,
			"'%s.dat' index %zu using %s:($1%+.3f):(sprintf('%%.4g', $2)) with "
			"labels left offset 0.6,0 font ',11' notitle",
			chart->name, i, band ? "4" : "2", offset);
	}
	for (size_t i = 0; i < chart->level_count; i++) {
		fprintf(out, i == 0 ? ", \\\n  " : ", ");
		fprintf(out,
			"'+' using (%.9g):($0 < 2 ? $0 * %zu - 0.5 : NaN) with lines linewidth 2 "
			"dashtype %zu linecolor rgb '#444444' title ",
			chart->levels[i].value, chart->y.name_count, i + 2);
		print_text(chart->levels[i].name, out);
	}
	fputc('\n', out);
}

static void print_map(const struct chart *chart, FILE *out)
{
	struct chart_axis rows = {0};
	for (size_t i = 0; i < chart->curve_count; i++)
		chart_axis_name(&rows, chart->curves[i]->name);
	print_axis("x", &chart->x, out);
	print_names("ytics", &rows, NAMES_MAX, out);
	fprintf(out, "set yrange [%zu.5:-0.5]\nset palette defined (" PALETTE ")\nunset grid\n",
		chart->curve_count - 1);
	print_range("cbrange", &chart->right, out);
	print_label("cblabel", &chart->right, out);
	fprintf(out, "plot '%s.dat' using 1:2:3 with image notitle\n", chart->name);
	for (size_t i = 0; i < rows.name_count; i++)
		free(rows.names[i]);
	free(rows.names);
}

static void write_commands(const struct chart *chart, FILE *out)
{
	print_style(chart, out);
	if (chart->kind == CHART_BARS)
		print_bars(chart, out);
	else if (chart->kind == CHART_MAP)
		print_map(chart, out);
	else
		print_curves(chart, out);
	fprintf(out,
		"if (strstrt(GPVAL_TERMINALS, 'pngcairo')) {\n"
		"  set terminal pngcairo size %u,%u font 'sans,14' fontscale 2 linewidth 2 "
		"pointscale 2 noenhanced background 'white'\n"
		"  set output '%s.png'\n  replot\n}\n",
		2 * WIDTH, 2 * height_of(chart), chart->name);
}

/* ---- files ---- */

/* Runs gnuplot in the folder. */
static bool draw(const char *folder, const char *name)
{
	char file[PATH_MAX];
	int status;
	pid_t child = fork();

	if (child == 0) {
		snprintf(file, sizeof(file), "%s.gp", name);
		if (chdir(folder) == 0)
			execlp("gnuplot", "gnuplot", file, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

typedef void write_file(const struct chart *chart, FILE *out);

static bool write_one(const struct chart *chart, const char *folder, const char *extension,
		      write_file *write, char *error, size_t error_bytes)
{
	char path[PATH_MAX];
	FILE *out;
	bool good;

	snprintf(path, sizeof(path), "%.3000s/%.512s.%s", folder, chart->name, extension);
	out = fopen(path, "w");
	good = out != NULL;
	if (out) {
		write(chart, out);
		good = ferror(out) == 0;
		good = fclose(out) == 0 && good;
	}
	if (!good)
		snprintf(error, error_bytes, "%s: %s", path, strerror(errno));
	return good;
}

bool chart_drawing_write(const struct chart *chart, const char *folder, char *error,
			 size_t error_bytes)
{
	if (!write_one(chart, folder, "dat", write_numbers, error, error_bytes) ||
	    !write_one(chart, folder, "gp", write_commands, error, error_bytes))
		return false;
	if (!chart_drawing_possible() || draw(folder, chart->name))
		return true;
	snprintf(error, error_bytes, "%s/%s.gp: gnuplot cannot draw it", folder, chart->name);
	return false;
}
