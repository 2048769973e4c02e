/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table: a CSV file in memory, as runs and sweeps write them: a line of names, then lines of
 * values. Read by libcsv.
 */
#ifndef ANALYSIS_TABLE_H
#define ANALYSIS_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct table {
	char **names;
	char **cells; /* row by row */
	size_t columns, rows;
};

/* Returns NULL and sets *error on failure. table_free() frees the result. */
struct table *table_read(const char *file, char *error, size_t error_bytes);
void table_free(struct table *table);

/* Returns the number of the column, or table->columns if no column has that name. */
size_t table_column(const struct table *table, const char *name);

/* Returns the text of a cell, which the table owns. Rows and columns count from 0. */
const char *table_cell(const struct table *table, size_t row, size_t column);

/* Returns the number in a cell, or NAN if the text is not a plain number. */
double table_number(const struct table *table, size_t row, size_t column);

/* Writes a text as a field, in quotes if necessary. */
void table_print_field(const char *text, FILE *out);

#endif
