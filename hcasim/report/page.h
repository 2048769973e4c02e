/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page: a report as one HTML file that opens offline. It collects sections as JSON, and writes them
 * into the frame of page/page.html. The scripts of page/ draw them in the reader's browser.
 *
 *     report_page_section(), _chart(), _table() ... --> JSON --report_page_write()--> HTML
 *
 * Texts may have any bytes: none of them can end the JSON or the HTML element around it.
 */
#ifndef HCASIM_REPORT_PAGE_H
#define HCASIM_REPORT_PAGE_H

#include <stdbool.h>
#include <stdio.h>

#include "analysis/chart.h"

struct report_page;

/* Creates a page. The subtitle is a line below the title. */
struct report_page *report_page_create(const char *title, const char *subtitle);
void report_page_free(struct report_page *page);

/* Begins a section. Later additions belong to it. A section without content is left out. `text` is
 * a paragraph below the title, or "". */
void report_page_section(struct report_page *page, const char *title, const char *text);

/* Adds a value that the reader sees first. `tone` is "good", "bad", or "" for neutral. */
void report_page_tile(struct report_page *page, const char *label, const char *value,
		      const char *unit, const char *tone);

void report_page_chart(struct report_page *page, const struct chart *chart);

/* Adds a paragraph. */
void report_page_text(struct report_page *page, const char *text);

/* Adds a preformatted text, which is hidden until the reader opens it. */
void report_page_lines(struct report_page *page, const char *title, const char *text);

/* Begins a table. Columns are "name", "name:number" or "name:verdict", up to a NULL. The caller
 * then adds the cells, row by row, and calls report_page_table_end(). */
void report_page_table(struct report_page *page, const char *title, const char *const *columns);
void report_page_cell(struct report_page *page, const char *text);
void report_page_table_end(struct report_page *page);

/* Begins an item of another kind. The caller writes the members after "kind" to the returned
 * stream, each with a leading comma, and calls report_page_item_end(). The page owns the stream. */
FILE *report_page_item(struct report_page *page, const char *kind);
void report_page_item_end(struct report_page *page);

/* Writes the page. Returns false if `out` could not be written. */
bool report_page_write(struct report_page *page, FILE *out);

#endif
