/* SPDX-License-Identifier: Apache-2.0 */
/* table: see table.h. */
#include "analysis/table.h"
#include "sim/input.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
	struct table *table;
	size_t in_line, line; /* fields of this line; number of earlier lines */
	size_t room;
	bool ragged;
};

static void add(struct table *table, struct reading *reading, const char *text)
{
	char ***list = reading->line == 0 ? &table->names : &table->cells;
	size_t count = reading->line == 0 ? reading->in_line
					  : table->rows * table->columns + reading->in_line;

	if (count >= reading->room || !*list) {
		reading->room = count < 64 ? 128 : count * 2;
		*list = realloc(*list, reading->room * sizeof(**list));
	}
	if (!*list || !((*list)[count] = strdup(text)))
		abort();
}

static void take_field(void *field, size_t length, void *context)
{
	struct reading *reading = context;

	(void)length;
	if (reading->line > 0 && reading->in_line == reading->table->columns) {
		reading->ragged = true;
		return;
	}
	add(reading->table, reading, field);
	reading->in_line++;
}

static void end_line(int end, void *context)
{
	struct reading *reading = context;
	struct table *table = reading->table;

	(void)end;
	if (reading->line == 0) {
		table->columns = reading->in_line;
		reading->room = 0;
	} else {
		reading->ragged |= reading->in_line != table->columns;
		for (; reading->in_line < table->columns; reading->in_line++)
			add(table, reading, "");
		table->rows++;
	}
	reading->line++;
	reading->in_line = 0;
}

static bool parse(FILE *in, struct table *table)
{
	struct reading reading = {.table = table};
	struct csv_parser parser;
	char buffer[65536];
	size_t length;
	bool good = csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) == 0;

	while (good && (length = fread(buffer, 1, sizeof(buffer), in)) > 0)
		good = csv_parse(&parser, buffer, length, take_field, end_line, &reading) == length;
	good = good && csv_fini(&parser, take_field, end_line, &reading) == 0;
	csv_free(&parser);
	return good && !reading.ragged && reading.line > 0 && table->columns > 0;
}

struct table *table_read(const char *file, char *error, size_t error_bytes)
{
	struct table *table;
	FILE *in = input_open(file);

	if (!in) {
		snprintf(error, error_bytes, "%s: %s", file, input_error());
		return NULL;
	}
	table = calloc(1, sizeof(*table));
	if (!table)
		abort();
	if (!parse(in, table)) {
		snprintf(error, error_bytes,
			 "%s is not a table: a line has more or fewer values than there are "
			 "names",
			 file);
		table_free(table);
		table = NULL;
	}
	fclose(in);
	return table;
}

void table_free(struct table *table)
{
	if (!table)
		return;
	for (size_t i = 0; i < table->columns && table->names; i++)
		free(table->names[i]);
	for (size_t i = 0; i < table->rows * table->columns; i++)
		free(table->cells[i]);
	free(table->names);
	free(table->cells);
	free(table);
}

size_t table_column(const struct table *table, const char *name)
{
	size_t i = 0;

	while (i < table->columns && strcmp(table->names[i], name) != 0)
		i++;
	return i;
}

const char *table_cell(const struct table *table, size_t row, size_t column)
{
	return table->cells[row * table->columns + column];
}

double table_number(const struct table *table, size_t row, size_t column)
{
	const char *text = table_cell(table, row, column);
	char *end;
	double value = strtod(text, &end);

	return end == text || *end != '\0' ? (double)NAN : value;
}

void table_print_field(const char *text, FILE *out)
{
	if (!strpbrk(text, ",\"\n"))
		fputs(text, out);
	else
		csv_fwrite(out, text, strlen(text));
}
