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

/* subtitle: a line below the title. */
struct report_page *report_page_create(const char *title, const char *subtitle);
void report_page_free(struct report_page *page);

/* Begins a section. Later additions belong to it. A section without content is left out. text: a
 * paragraph below the title, "" for none. */
void report_page_section(struct report_page *page, const char *title, const char *text);

/* A value that the reader sees first. tone: "good", "bad", or "" for a neutral one. */
void report_page_tile(struct report_page *page, const char *label, const char *value,
		      const char *unit, const char *tone);

void report_page_chart(struct report_page *page, const struct chart *chart);

/* A paragraph. */
void report_page_text(struct report_page *page, const char *text);

/* A text in its own lines, closed unless the reader opens it. */
void report_page_lines(struct report_page *page, const char *title, const char *text);

/* Columns as "name", "name:number" or "name:verdict", up to a NULL. Then the cells, row by row, up
 * to report_page_table_end(). */
void report_page_table(struct report_page *page, const char *title, const char *const *columns);
void report_page_cell(struct report_page *page, const char *text);
void report_page_table_end(struct report_page *page);

/* For an item of another kind: the members behind its "kind" go to the stream, which is the page's.
 * Each begins with a comma. Until report_page_item_end(). */
FILE *report_page_item(struct report_page *page, const char *kind);
void report_page_item_end(struct report_page *page);

/* false: `out` could not be written. */
bool report_page_write(struct report_page *page, FILE *out);

#endif
