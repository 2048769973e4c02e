/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart: one chart as data: axes with units, curves with bands, levels, spans and marks. All charts
 * of results use this format:
 *
 *     result files --run_charts, sweep_charts--> chart --chart_drawing--> SVG and PNG, by gnuplot
 *                                                chart --chart_json-----> a page, by uPlot
 */
#ifndef ANALYSIS_CHART_H
#define ANALYSIS_CHART_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
/* Colours that readers with red-green colour blindness can distinguish (Okabe, Ito, Tol). */
#define CHART_COLOURS(X) \
	X(0072b2) X(d55e00) X(009e73) X(cc79a7) X(e69f00) X(56b4e9) \
	X(000000) X(882255) X(999933) X(44aa99) X(7f7f7f) X(5e3c99)
/* clang-format on */

#define CHART_ONE(value) +1
enum {
	CHART_COLOUR_COUNT = 0 CHART_COLOURS(CHART_ONE),
	CHART_DASH_COUNT = 4,                 /* forms of a line: full, and three broken ones */
	CHART_CURVES_MAX = CHART_COLOUR_COUNT /* number that a reader can tell apart */
};
#undef CHART_ONE

enum chart_kind {
	CHART_CURVES, /* y over x */
	CHART_BARS,   /* horizontal: each curve's points are (position on the y axis, length) */
	CHART_MAP,    /* a row per curve, a colour per value */
};

enum chart_style {
	CURVE_LINE,
	CURVE_STEPS,
	CURVE_POINTS, /* with a line between the points */
	CURVE_DOTS,   /* points alone */
};

struct chart_axis {
	char *label, *unit; /* unit "": none */
	bool logarithmic;
	double least, most; /* NAN: from the values */
	char **names;       /* labels of the positions 0, 1, ...; NULL: the axis has numbers */
	size_t name_count;
	double *ticks; /* positions of the labels; NULL: automatic */
	size_t tick_count;
};

struct chart_point {
	double x, y;
	double low, high; /* limits of a band around y, or ends of a bar; NAN: no limit */
};

struct chart_curve {
	char *name;
	enum chart_style style;
	bool right;            /* belongs to the right axis */
	unsigned colour, dash; /* below CHART_COLOUR_COUNT and CHART_DASH_COUNT */
	struct chart_point *points;
	size_t count, room;
};

struct chart_level { /* a line across the chart: a threshold */
	char *name;
	double value;
};

struct chart_span { /* a stretch of the x axis */
	double from, to;
};

struct chart_mark { /* a point with a text; marks with the same text have the same form */
	double x, y;
	char *text;
};

struct chart {
	enum chart_kind kind;
	char *name;  /* of its files */
	char *title; /* contents in words */
	char *note;  /* omissions, or a hint for reading; NULL: no note */
	bool styled; /* colours and dashes of the curves have a meaning */
	struct chart_axis x, y, right;
	struct chart_curve **curves;
	size_t curve_count;
	struct chart_level *levels;
	size_t level_count;
	char *span_name; /* meaning of the spans */
	struct chart_span *spans;
	size_t span_count;
	struct chart_mark *marks;
	size_t mark_count;
};

struct charts {
	struct chart **list;
	size_t count;
};

struct chart *chart_create(enum chart_kind kind, const char *name, const char *title);
void chart_free(struct chart *chart);

/* Adds sentences to the note. */
void chart_note(struct chart *chart, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A unit of an axis, in bytes or microseconds. */
struct chart_unit {
	const char *name;
	double scale;
};

/* Returns the unit in which the largest number of bytes has up to three digits before the point. */
struct chart_unit chart_byte_unit(double most);

/* Returns the unit for times up to `most_us`. */
struct chart_unit chart_time_unit(double most_us);

void chart_axis_set(struct chart_axis *axis, const char *label, const char *unit);
void chart_axis_name(struct chart_axis *axis, const char *name); /* the next position */
void chart_axis_tick(struct chart_axis *axis, double value);     /* once each */

/* Adds a curve, which the chart owns, and returns it. Its colour differs from the colours of the
 * curves before it. */
struct chart_curve *chart_curve_add(struct chart *chart, const char *name, enum chart_style style);
void chart_point_add(struct chart_curve *curve, double x, double y);
void chart_band_add(struct chart_curve *curve, double x, double y, double low, double high);
void chart_level_add(struct chart *chart, const char *name, double value);
/* Adds a span. Spans must come in order of `from`. A span that begins where the last span ends
 * extends the last span. */
void chart_span_add(struct chart *chart, double from, double to);
void chart_mark_add(struct chart *chart, double x, double y, const char *text);

bool chart_has_band(const struct chart_curve *curve);

/* Returns the number of the mark's kind, from 0. Marks with the same text are one kind. */
size_t chart_mark_kind(const struct chart *chart, size_t mark);

/* Returns the number of kinds of marks. */
size_t chart_mark_kinds(const struct chart *chart);

/* Returns for example "queue (KB)". The caller frees the text. */
char *chart_axis_title(const struct chart_axis *axis);

/* Adds a chart, which the list then owns. Curves without points are left out. A chart without
 * curves is freed instead. A curve that covers an earlier curve gets another dash, so that both
 * remain visible. */
void charts_add(struct charts *charts, struct chart *chart);
void charts_free(struct charts *charts);

#endif
