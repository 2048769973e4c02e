/* SPDX-License-Identifier: Apache-2.0 */
/* chart_json: see chart_json.h. JSON has no NaN, so NaN is written as null. */
#include "analysis/chart_json.h"

#include <math.h>

#include "sim/json.h"

static void write_number(double number, FILE *out)
{
	if (isfinite(number))
		fprintf(out, "%.9g", number);
	else
		fputs("null", out);
}

static void write_key(const char *key, FILE *out)
{
	fprintf(out, ",\"%s\":", key);
}

static void write_member(const char *key, const char *text, FILE *out)
{
	write_key(key, out);
	json_text(out, text ? text : "");
}

static void write_axis(const char *key, const struct chart_axis *axis, FILE *out)
{
	write_key(key, out);
	fputs("{\"label\":", out);
	json_text(out, axis->label ? axis->label : "");
	write_member("unit", axis->unit, out);
	fprintf(out, ",\"logarithmic\":%s,\"least\":", axis->logarithmic ? "true" : "false");
	write_number(axis->least, out);
	write_key("most", out);
	write_number(axis->most, out);
	write_key("names", out);
	for (size_t i = 0; i < axis->name_count; i++) {
		fputc(i > 0 ? ',' : '[', out);
		json_text(out, axis->names[i]);
	}
	fputs(axis->name_count > 0 ? "]" : "[]", out);
	write_key("ticks", out);
	for (size_t i = 0; i < axis->tick_count; i++) {
		fputc(i > 0 ? ',' : '[', out);
		write_number(axis->ticks[i], out);
	}
	fputs(axis->tick_count > 0 ? "]}" : "[]}", out);
}

/* Writes one member of all points as an array. */
static void write_points(const char *key, const struct chart_curve *curve, size_t member, FILE *out)
{
	write_key(key, out);
	fputc('[', out);
	for (size_t i = 0; i < curve->count; i++) {
		const struct chart_point *point = &curve->points[i];
		const double members[] = {point->x, point->y, point->low, point->high};
		fputs(i > 0 ? "," : "", out);
		write_number(members[member], out);
	}
	fputc(']', out);
}

static void write_curve(const struct chart *chart, size_t number, FILE *out)
{
	static const char *const styles[] = {
		[CURVE_LINE] = "line",
		[CURVE_STEPS] = "steps",
		[CURVE_POINTS] = "points",
		[CURVE_DOTS] = "dots",
	};
	const struct chart_curve *curve = chart->curves[number];
	fputs(number > 0 ? ",{\"name\":" : "{\"name\":", out);
	json_text(out, curve->name);
	write_member("style", styles[curve->style], out);
	fprintf(out, ",\"colour\":%u,\"dash\":%u", curve->colour, curve->dash);
	write_key("right", out);
	fputs(curve->right ? "true" : "false", out);
	if (chart->kind != CHART_MAP || number == 0) /* rows of a map are alike in x */
		write_points("x", curve, 0, out);
	write_points("y", curve, 1, out);
	if (chart_has_band(curve)) {
		write_points("low", curve, 2, out);
		write_points("high", curve, 3, out);
	}
	fputc('}', out);
}

static void write_levels(const struct chart *chart, FILE *out)
{
	fputs(",\"levels\":[", out);
	for (size_t i = 0; i < chart->level_count; i++) {
		fputs(i > 0 ? ",{\"name\":" : "{\"name\":", out);
		json_text(out, chart->levels[i].name);
		write_key("value", out);
		write_number(chart->levels[i].value, out);
		fputc('}', out);
	}
	fputc(']', out);
}

static void write_spans(const struct chart *chart, FILE *out)
{
	write_member("span_name", chart->span_name, out);
	fputs(",\"spans\":[", out);
	for (size_t i = 0; i < chart->span_count; i++) {
		fputs(i > 0 ? ",[" : "[", out);
		write_number(chart->spans[i].from, out);
		fputc(',', out);
		write_number(chart->spans[i].to, out);
		fputc(']', out);
	}
	fputc(']', out);
}

static void write_marks(const struct chart *chart, FILE *out)
{
	fputs(",\"marks\":[", out);
	for (size_t i = 0; i < chart->mark_count; i++) {
		fputs(i > 0 ? ",{\"x\":" : "{\"x\":", out);
		write_number(chart->marks[i].x, out);
		write_key("y", out);
		write_number(chart->marks[i].y, out);
		write_member("text", chart->marks[i].text, out);
		fprintf(out, ",\"kind\":%zu}", chart_mark_kind(chart, i));
	}
	fputc(']', out);
}

void chart_json_write(const struct chart *chart, FILE *out)
{
	static const char *const kinds[] = {
		[CHART_CURVES] = "curves", [CHART_BARS] = "bars", [CHART_MAP] = "map"};
	fprintf(out, "{\"kind\":\"%s\"", kinds[chart->kind]);
	write_member("name", chart->name, out);
	write_member("title", chart->title, out);
	write_member("note", chart->note, out);
	write_axis("x", &chart->x, out);
	write_axis("y", &chart->y, out);
	write_axis("scale", &chart->right, out);
	write_key("curves", out);
	fputc('[', out);
	for (size_t i = 0; i < chart->curve_count; i++)
		write_curve(chart, i, out);
	fputc(']', out);
	write_levels(chart, out);
	write_spans(chart, out);
	write_marks(chart, out);
	fputc('}', out);
}

void chart_json_write_colours(FILE *out)
{
#define COLOUR(value) "\"#" #value "\"",
	static const char *const colours[] = {CHART_COLOURS(COLOUR)};
#undef COLOUR
	for (size_t i = 0; i < sizeof(colours) / sizeof(colours[0]); i++) {
		fputc(i > 0 ? ',' : '[', out);
		fwrite(colours[i], 1, sizeof("\"#000000\"") - 1, out);
	}
	fputc(']', out);
}
