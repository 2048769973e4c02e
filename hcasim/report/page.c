/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page: see page.h. Each item is kept separately in memory until it is complete. A section without
 * items can thus be left out.
 */
#include "hcasim/report/page.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/chart_json.h"
#include "hcasim/report/page_parts.h"
#include "sim/json.h"

struct report_page {
	char *title;
	char *text; /* the JSON so far, of bytes */
	size_t bytes;
	FILE *json;
	char *section_title, *section_text; /* begun, but without items; NULL: none */
	unsigned sections, items;           /* items: of the present section */
	unsigned columns, cells;            /* of the present table */
	unsigned tiles;
};

static char *copy(const char *text)
{
	char *twin = strdup(text);
	if (!twin)
		abort();
	return twin;
}

static void member(FILE *json, const char *key, const char *text)
{
	fprintf(json, ",\"%s\":", key);
	json_text(json, text);
}

struct report_page *report_page_create(const char *title, const char *subtitle)
{
	struct report_page *page = calloc(1, sizeof(*page));
	if (!page)
		abort();
	page->json = open_memstream(&page->text, &page->bytes);
	if (!page->json)
		abort();
	page->title = copy(title);
	fputs("{\"colours\":", page->json);
	chart_json_write_colours(page->json);
	member(page->json, "title", title);
	member(page->json, "subtitle", subtitle);
	fputs(",\"sections\":[", page->json);
	return page;
}

void report_page_free(struct report_page *page)
{
	if (page->json)
		fclose(page->json);
	free(page->text);
	free(page->title);
	free(page->section_title);
	free(page->section_text);
	free(page);
}

static void end_tiles(struct report_page *page)
{
	if (page->tiles > 0)
		fputs("]}", page->json);
	page->tiles = 0;
}

static void end_section(struct report_page *page)
{
	end_tiles(page);
	if (page->items > 0)
		fputs("]}", page->json);
	page->items = 0;
}

void report_page_section(struct report_page *page, const char *title, const char *text)
{
	end_section(page);
	free(page->section_title);
	free(page->section_text);
	page->section_title = copy(title);
	page->section_text = copy(text);
}

/* The first item opens its section. */
static FILE *begin_item(struct report_page *page, const char *kind)
{
	end_tiles(page);
	if (page->items == 0) {
		fputs(page->sections++ > 0 ? ",{\"title\":" : "{\"title\":", page->json);
		json_text(page->json, page->section_title ? page->section_title : "");
		member(page->json, "text", page->section_text ? page->section_text : "");
		fputs(",\"items\":[", page->json);
	}
	fprintf(page->json, "%s{\"kind\":\"%s\"", page->items++ > 0 ? "," : "", kind);
	return page->json;
}

FILE *report_page_item(struct report_page *page, const char *kind)
{
	return begin_item(page, kind);
}

void report_page_item_end(struct report_page *page)
{
	fputc('}', page->json);
}

void report_page_tile(struct report_page *page, const char *label, const char *value,
		      const char *unit, const char *tone)
{
	if (page->tiles == 0) {
		begin_item(page, "tiles");
		fputs(",\"tiles\":[", page->json);
	}
	fputs(page->tiles++ > 0 ? ",{\"label\":" : "{\"label\":", page->json);
	json_text(page->json, label);
	member(page->json, "value", value);
	member(page->json, "unit", unit);
	member(page->json, "tone", tone);
	fputc('}', page->json);
}

void report_page_chart(struct report_page *page, const struct chart *chart)
{
	begin_item(page, "chart");
	fputs(",\"chart\":", page->json);
	chart_json_write(chart, page->json);
	report_page_item_end(page);
}

void report_page_text(struct report_page *page, const char *text)
{
	begin_item(page, "text");
	member(page->json, "text", text);
	report_page_item_end(page);
}

void report_page_lines(struct report_page *page, const char *title, const char *text)
{
	begin_item(page, "lines");
	member(page->json, "title", title);
	member(page->json, "text", text);
	report_page_item_end(page);
}

void report_page_table(struct report_page *page, const char *title, const char *const *columns)
{
	begin_item(page, "table");
	member(page->json, "title", title);
	fputs(",\"columns\":[", page->json);
	page->cells = 0;
	for (page->columns = 0; columns[page->columns]; page->columns++) {
		const char *name = columns[page->columns], *colon = strrchr(name, ':');
		char *alone = strndup(name, colon ? (size_t)(colon - name) : strlen(name));
		if (!alone)
			abort();
		fputs(page->columns > 0 ? ",{\"name\":" : "{\"name\":", page->json);
		json_text(page->json, alone);
		member(page->json, "kind", colon ? colon + 1 : "text");
		fputc('}', page->json);
		free(alone);
	}
	fputs("],\"rows\":[", page->json);
}

void report_page_cell(struct report_page *page, const char *text)
{
	unsigned column = page->cells % page->columns;
	fputs(column > 0 ? "," : page->cells > 0 ? ",[" : "[", page->json);
	json_text(page->json, text);
	page->cells++;
	if (column + 1 == page->columns)
		fputc(']', page->json);
}

void report_page_table_end(struct report_page *page)
{
	fputc(']', page->json);
	report_page_item_end(page);
}

/* Writes JSON into a script element, and escapes "<". There "<" could end the element or begin a
 * comment. JSON has it only in strings. */
static void write_json(const char *json, FILE *out)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	}
}

static void write_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			fputc(*text, out);
	}
}

/* Writes the frame, with each part in its place. */
bool report_page_write(struct report_page *page, FILE *out)
{
	const struct {
		const char *name, *text;
	} parts[] = {{"{{UPLOT_STYLE}}", uplot_style},
		     {"{{STYLE}}", page_style},
		     {"{{UPLOT_SCRIPT}}", uplot_script},
		     {"{{DRAWINGS}}", page_drawings},
		     {"{{SCRIPT}}", page_script},
		     {"{{TITLE}}", NULL},
		     {"{{DATA}}", NULL}};
	end_section(page);
	fputs("]}", page->json);
	fclose(page->json);
	page->json = NULL;
	for (const char *rest = page_html; *rest;) {
		size_t i = 0, count = sizeof(parts) / sizeof(parts[0]);
		while (i < count && strncmp(rest, parts[i].name, strlen(parts[i].name)) != 0)
			i++;
		if (i == count) {
			fputc(*rest++, out);
			continue;
		}
		rest += strlen(parts[i].name);
		if (parts[i].text)
			fputs(parts[i].text, out);
		else if (strcmp(parts[i].name, "{{TITLE}}") == 0)
			write_text(page->title, out);
		else
			write_json(page->text, out);
	}
	return ferror(out) == 0;
}
