/* SPDX-License-Identifier: Apache-2.0 */
/* chart: see chart.h. */
#include "analysis/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COVERED 0.005 /* share of the largest value within which a curve hides another */

static char *copy_text(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		abort();
	return copy;
}

/* Returns the list of `count` members with room for one more member. */
static void *grow(void *list, size_t count, size_t bytes)
{
	list = realloc(list, (count + 1) * bytes);
	if (!list)
		abort();
	return list;
}

static void axis_init(struct chart_axis *axis)
{
	*axis = (struct chart_axis){.least = NAN, .most = NAN};
	axis->label = copy_text("");
	axis->unit = copy_text("");
}

struct chart *chart_create(enum chart_kind kind, const char *name, const char *title)
{
	struct chart *chart = calloc(1, sizeof(*chart));
	if (!chart)
		abort();
	chart->kind = kind;
	chart->name = copy_text(name);
	chart->title = copy_text(title);
	axis_init(&chart->x);
	axis_init(&chart->y);
	axis_init(&chart->right);
	return chart;
}

static void axis_free(struct chart_axis *axis)
{
	for (size_t i = 0; i < axis->name_count; i++)
		free(axis->names[i]);
	free(axis->names);
	free(axis->ticks);
	free(axis->label);
	free(axis->unit);
}

static void curve_free(struct chart_curve *curve)
{
	free(curve->name);
	free(curve->points);
	free(curve);
}

void chart_free(struct chart *chart)
{
	if (!chart)
		return;
	axis_free(&chart->x);
	axis_free(&chart->y);
	axis_free(&chart->right);
	for (size_t i = 0; i < chart->curve_count; i++)
		curve_free(chart->curves[i]);
	for (size_t i = 0; i < chart->level_count; i++)
		free(chart->levels[i].name);
	for (size_t i = 0; i < chart->mark_count; i++)
		free(chart->marks[i].text);
	free(chart->curves);
	free(chart->levels);
	free(chart->spans);
	free(chart->span_name);
	free(chart->marks);
	free(chart->name);
	free(chart->title);
	free(chart->note);
	free(chart);
}

void chart_note(struct chart *chart, const char *format, ...)
{
	va_list arguments;
	char *text, *whole;
	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0 ||
	    asprintf(&whole, "%s%s%s", chart->note ? chart->note : "", chart->note ? " " : "",
		     text) < 0)
		abort();
	va_end(arguments);
	free(text);
	free(chart->note);
	chart->note = whole;
}

static struct chart_unit unit_of(const struct chart_unit *units, double most)
{
	while (units->scale > 1 && most < units->scale)
		units++;
	return *units;
}

struct chart_unit chart_byte_unit(double most)
{
	static const struct chart_unit units[] = {{"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}};

	return unit_of(units, most);
}

struct chart_unit chart_time_unit(double most_us)
{
	static const struct chart_unit units[] = {{"s", 1e6}, {"ms", 1e3}, {"us", 1}};

	return unit_of(units, most_us / 10);
}

void chart_axis_set(struct chart_axis *axis, const char *label, const char *unit)
{
	free(axis->label);
	free(axis->unit);
	axis->label = copy_text(label);
	axis->unit = copy_text(unit);
}

void chart_axis_name(struct chart_axis *axis, const char *name)
{
	axis->names = grow(axis->names, axis->name_count, sizeof(*axis->names));
	axis->names[axis->name_count++] = copy_text(name);
}

void chart_axis_tick(struct chart_axis *axis, double value)
{
	for (size_t i = 0; i < axis->tick_count; i++) {
		if (fabs(axis->ticks[i] - value) <= fabs(value) * 1e-12)
			return;
	}
	axis->ticks = grow(axis->ticks, axis->tick_count, sizeof(*axis->ticks));
	axis->ticks[axis->tick_count++] = value;
}

struct chart_curve *chart_curve_add(struct chart *chart, const char *name, enum chart_style style)
{
	struct chart_curve *curve = calloc(1, sizeof(*curve));
	if (!curve)
		abort();
	chart->curves = grow(chart->curves, chart->curve_count, sizeof(struct chart_curve *));
	curve->colour = (unsigned)chart->curve_count % CHART_COLOUR_COUNT;
	curve->dash = (unsigned)chart->curve_count / CHART_COLOUR_COUNT % CHART_DASH_COUNT;
	chart->curves[chart->curve_count++] = curve;
	curve->name = copy_text(name);
	curve->style = style;
	return curve;
}

void chart_band_add(struct chart_curve *curve, double x, double y, double low, double high)
{
	if (curve->count == curve->room) {
		curve->room = curve->room < 32 ? 64 : curve->room * 2;
		curve->points = realloc(curve->points, curve->room * sizeof(*curve->points));
		if (!curve->points)
			abort();
	}
	curve->points[curve->count++] = (struct chart_point){x, y, low, high};
}

void chart_point_add(struct chart_curve *curve, double x, double y)
{
	chart_band_add(curve, x, y, NAN, NAN);
}

void chart_level_add(struct chart *chart, const char *name, double value)
{
	chart->levels = grow(chart->levels, chart->level_count, sizeof(*chart->levels));
	chart->levels[chart->level_count++] = (struct chart_level){copy_text(name), value};
}

void chart_span_add(struct chart *chart, double from, double to)
{
	if (chart->span_count > 0 && chart->spans[chart->span_count - 1].to >= from) {
		chart->spans[chart->span_count - 1].to =
			fmax(to, chart->spans[chart->span_count - 1].to);
		return;
	}
	chart->spans = grow(chart->spans, chart->span_count, sizeof(*chart->spans));
	chart->spans[chart->span_count++] = (struct chart_span){from, to};
}

void chart_mark_add(struct chart *chart, double x, double y, const char *text)
{
	chart->marks = grow(chart->marks, chart->mark_count, sizeof(*chart->marks));
	chart->marks[chart->mark_count++] = (struct chart_mark){x, y, copy_text(text)};
}

bool chart_has_band(const struct chart_curve *curve)
{
	for (size_t i = 0; i < curve->count; i++) {
		if (isfinite(curve->points[i].low) && isfinite(curve->points[i].high))
			return true;
	}
	return false;
}

size_t chart_mark_kind(const struct chart *chart, size_t mark)
{
	size_t kind = 0;
	for (size_t i = 0; i <= mark; i++) {
		size_t first = 0;
		while (strcmp(chart->marks[first].text, chart->marks[i].text) != 0)
			first++;
		if (strcmp(chart->marks[i].text, chart->marks[mark].text) == 0)
			return kind;
		kind += first == i;
	}
	return kind;
}

size_t chart_mark_kinds(const struct chart *chart)
{
	size_t kinds = 0;
	for (size_t i = 0; i < chart->mark_count; i++)
		kinds += chart_mark_kind(chart, i) == kinds;
	return kinds;
}

char *chart_axis_title(const struct chart_axis *axis)
{
	char *title;
	bool unit = *axis->unit != '\0';
	if (asprintf(&title, "%s%s%s%s", axis->label, unit ? " (" : "", axis->unit,
		     unit ? ")" : "") < 0)
		abort();
	return title;
}

static bool has_points(const struct chart_curve *curve)
{
	for (size_t i = 0; i < curve->count; i++) {
		if (isfinite(curve->points[i].y))
			return true;
	}
	return false;
}

/* Returns true if all points of the curves are at the same places, but for a small share of the
 * largest value. */
static bool is_covered(const struct chart_curve *one, const struct chart_curve *other, double most)
{
	if (one->count != other->count)
		return false;
	for (size_t i = 0; i < one->count; i++) {
		double apart = fabs(one->points[i].y - other->points[i].y);
		if (fabs(one->points[i].x - other->points[i].x) > 0 || !(apart <= most * COVERED))
			return false;
	}
	return true;
}

static double largest_of(const struct chart *chart)
{
	double most = 0;
	for (size_t i = 0; i < chart->curve_count; i++) {
		for (size_t k = 0; k < chart->curves[i]->count; k++)
			most = fmax(most, fabs(chart->curves[i]->points[k].y));
	}
	return most;
}

/* Gives a curve that covers an earlier curve the next dash. */
static void separate_curves(struct chart *chart)
{
	double most = largest_of(chart);
	for (size_t i = 1; i < chart->curve_count; i++) {
		for (size_t k = i; k-- > 0;) {
			if (!is_covered(chart->curves[k], chart->curves[i], most))
				continue;
			chart->curves[i]->dash = (chart->curves[k]->dash + 1) % CHART_DASH_COUNT;
			break;
		}
	}
}

void charts_add(struct charts *charts, struct chart *chart)
{
	size_t full = 0;
	for (size_t i = 0; i < chart->curve_count; i++) {
		if (has_points(chart->curves[i]))
			chart->curves[full++] = chart->curves[i];
		else
			curve_free(chart->curves[i]);
	}
	chart->curve_count = full;
	if (full == 0) {
		chart_free(chart);
		return;
	}
	if (chart->kind == CHART_CURVES && !chart->styled)
		separate_curves(chart);
	charts->list = grow(charts->list, charts->count, sizeof(struct chart *));
	charts->list[charts->count++] = chart;
}

void charts_free(struct charts *charts)
{
	for (size_t i = 0; i < charts->count; i++)
		chart_free(charts->list[i]);
	free(charts->list);
	*charts = (struct charts){0};
}
