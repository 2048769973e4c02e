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

/* NULL: *error. For table_free(). */
struct table *table_read(const char *file, char *error, size_t error_bytes);
void table_free(struct table *table);

/* table->columns: there is none of that name. */
size_t table_column(const struct table *table, const char *name);

/* Rows and columns count from 0. The text is the table's. */
const char *table_cell(const struct table *table, size_t row, size_t column);

/* NAN: it is no plain number. */
double table_number(const struct table *table, size_t row, size_t column);

/* Text as a field, in quotes if it needs them. */
void table_print_field(const char *text, FILE *out);

#endif
