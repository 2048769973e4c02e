/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequence_svg: a message sequence chart as a picture (sequence.h). Time runs down. Each instant at
 * which something happens has a row of its own, so distances do not represent times.
 */
#include "hcasim/report/sequence.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH  900
#define LEFT   270 /* the two lifelines */
#define RIGHT  630
#define TOP    64
#define ROW    20
#define LEGEND 46

struct drawing {
	const struct sequence *sequence;
	sim_time *instants;
	size_t count;
	FILE *out;
};

static int by_time(const void *one, const void *other)
{
	sim_time a = *(const sim_time *)one, b = *(const sim_time *)other;
	return a < b ? -1 : a > b;
}

static void find_instants(struct drawing *drawing)
{
	const struct sequence *sequence = drawing->sequence;
	size_t kept = 0;
	drawing->instants = calloc(2 * sequence->count + 1, sizeof(*drawing->instants));
	if (!drawing->instants)
		abort();
	for (size_t i = 0; i < sequence->count; i++) {
		drawing->instants[drawing->count++] = sequence->list[i].at;
		if (sequence->list[i].until != SIM_NEVER)
			drawing->instants[drawing->count++] = sequence->list[i].until;
	}
	qsort(drawing->instants, drawing->count, sizeof(sim_time), by_time);
	for (size_t i = 0; i < drawing->count; i++) {
		if (i == 0 || drawing->instants[i] != drawing->instants[i - 1])
			drawing->instants[kept++] = drawing->instants[i];
	}
	drawing->count = kept;
}

static double row_of(const struct drawing *drawing, sim_time at)
{
	const sim_time *found =
		bsearch(&at, drawing->instants, drawing->count, sizeof(at), by_time);
	return TOP + ROW * (1 + (double)(found - drawing->instants));
}

static void write_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			fputc(*text, out);
	}
}

static void draw_time(const struct drawing *drawing, sim_time at, unsigned side)
{
	fprintf(drawing->out,
		"<text class=\"time\" x=\"%d\" y=\"%.1f\" text-anchor=\"%s\">%.3f</text>\n",
		side == 0 ? 62 : WIDTH - 62, row_of(drawing, at) + 4, side == 0 ? "end" : "start",
		(double)at / (double)US);
}

static const char *colour_of(enum sequence_kind kind)
{
#define COLOUR(name, travels, colour, words) colour,
	static const char *const colours[] = {SEQUENCE_KINDS(COLOUR)};
#undef COLOUR
	return colours[kind];
}

/* A lost packet ends half-way, in a cross. */
static void draw_line(const struct drawing *drawing, const struct sequence_event *event)
{
	bool lost = event->until == SIM_NEVER, right = event->side == 0;
	double from = right ? LEFT : RIGHT, to = right ? RIGHT : LEFT;
	double top = row_of(drawing, event->at);
	double bottom = lost ? top + ROW * 0.7 : row_of(drawing, event->until);
	const char *colour = colour_of(event->kind);
	to = lost ? from + (to - from) * 0.62 : to;
	fprintf(drawing->out,
		"<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"1.6\"%s%s/>\n", from,
		top, to, bottom, colour, event->again ? " stroke-dasharray=\"6 4\"" : "",
		lost ? "" : " marker-end=\"url(#arrow)\"");
	if (lost)
		fprintf(drawing->out,
			"<path d=\"M%.1f %.1fl10 10m0 -10l-10 10\" stroke=\"#b3261e\" "
			"stroke-width=\"2.4\"/>\n",
			to - 5, bottom - 5);
}

static void draw_label(const struct drawing *drawing, const struct sequence_event *event)
{
	bool lost = event->until == SIM_NEVER, right = event->side == 0;
	fprintf(drawing->out,
		"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\" class=\"label\">",
		right ? LEFT + 8.0 : RIGHT - 8.0, row_of(drawing, event->at) - 3,
		right ? "start" : "end", colour_of(event->kind));
	write_text(event->text, drawing->out);
	fprintf(drawing->out, "%s%s</text>\n", event->again ? ", retransmitted" : "",
		lost ? ", lost" : "");
	draw_time(drawing, event->at, event->side);
	if (!lost)
		draw_time(drawing, event->until, 1 - event->side);
}

static void draw_local(const struct drawing *drawing, const struct sequence_event *event)
{
	double x = event->side == 0 ? LEFT : RIGHT, y = row_of(drawing, event->at);
	fprintf(drawing->out, "<circle cx=\"%.0f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y,
		colour_of(event->kind));
	fprintf(drawing->out, "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">",
		event->side == 0 ? x - 9 : x + 9, y + 4, event->side == 0 ? "end" : "start",
		colour_of(event->kind));
	write_text(event->text, drawing->out);
	fputs("</text>\n", drawing->out);
	draw_time(drawing, event->at, event->side);
}

/* Draws the legend of the kinds that the chart has. */
static void draw_legend(const struct drawing *drawing, double y)
{
	static const char *const words[] = {
#define WORDS(name, travels, colour, words) words,
		SEQUENCE_KINDS(WORDS)
#undef WORDS
	};
	double x = 20;
	for (unsigned kind = 0; kind < SEQUENCE_KIND_COUNT; kind++) {
		bool any = false;
		for (size_t i = 0; i < drawing->sequence->count; i++)
			any |= drawing->sequence->list[i].kind == kind;
		if (!any)
			continue;
		double width = 26 + 7.2 * (double)strlen(words[kind]);
		if (x + width > WIDTH - 10) {
			x = 20;
			y += 18;
		}
		fprintf(drawing->out,
			"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>"
			"<text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x, y, colour_of(kind), x + 9, y + 4, words[kind]);
		x += width;
	}
}

static void draw_frame(const struct drawing *drawing, double bottom)
{
	FILE *out = drawing->out;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
		"viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<style>.time{fill:#666;font-size:11px}.host{font-size:15px;font-weight:600}"
		".label{paint-order:stroke;stroke:#fff;stroke-width:3px}path{fill:none}</style>\n"
		"<defs><marker id=\"arrow\" viewBox=\"0 0 10 10\" refX=\"10\" refY=\"5\" "
		"markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\">"
		"<path d=\"M0 0L10 5L0 10z\" style=\"fill:#444\"/></marker></defs>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
		WIDTH, bottom + LEGEND + 20, WIDTH, bottom + LEGEND + 20);
	fprintf(out,
		"<text class=\"time\" x=\"62\" y=\"%d\" text-anchor=\"end\">time (us)</text>\n"
		"<text class=\"time\" x=\"%d\" y=\"%d\">time (us)</text>\n",
		TOP - 22, WIDTH - 62, TOP - 22);
	for (unsigned side = 0; side < 2; side++) {
		int x = side == 0 ? LEFT : RIGHT;
		fprintf(out, "<text class=\"host\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">", x,
			TOP - 22);
		write_text(drawing->sequence->hosts[side], out);
		fprintf(out,
			"</text>\n<path d=\"M%d %dV%.1f\" stroke=\"#999999\" "
			"stroke-width=\"1.5\"/>\n",
			x, TOP - 10, bottom);
	}
}

void sequence_draw(const struct sequence *sequence, FILE *out)
{
	struct drawing drawing = {.sequence = sequence, .out = out};
	find_instants(&drawing);
	double bottom = TOP + ROW * ((double)drawing.count + 1.5);
	draw_frame(&drawing, bottom);
	for (size_t i = 0; i < sequence->count; i++) {
		if (sequence->list[i].kind < SEQUENCE_DOORBELL)
			draw_line(&drawing, &sequence->list[i]);
		else
			draw_local(&drawing, &sequence->list[i]);
	}
	for (size_t i = 0; i < sequence->count; i++) { /* no line crosses a label */
		if (sequence->list[i].kind < SEQUENCE_DOORBELL)
			draw_label(&drawing, &sequence->list[i]);
	}
	draw_legend(&drawing, bottom + 24);
	fputs("</svg>\n", out);
	free(drawing.instants);
}
