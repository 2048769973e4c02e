/* SPDX-License-Identifier: Apache-2.0 */
/* series: see series.h. */
#include "analysis/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

#define NAME_OF(name) #name,
static const char *const value_names[] = {SERIES_VALUES(NAME_OF)};

static void *allocate(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

/* Rows come port by port in one order, so the port is nearly always the one after the last. */
static size_t find_port(struct series *series, const char *name, size_t after)
{
	for (size_t i = 0; i < series->port_count; i++) {
		size_t port = (after + i) % series->port_count;
		if (strcmp(series->ports[port], name) == 0)
			return port;
	}
	series->ports[series->port_count] = strdup(name);
	if (!series->ports[series->port_count])
		abort();
	return series->port_count++;
}

static bool find_columns(const struct table *table, size_t columns[SERIES_VALUE_COUNT])
{
	bool found = table_column(table, "time_us") < table->columns &&
		     table_column(table, "port") < table->columns;
	for (size_t i = 0; i < SERIES_VALUE_COUNT; i++) {
		columns[i] = table_column(table, value_names[i]);
		found &= columns[i] < table->columns;
	}
	return found;
}

/* Reads the ports and times first, because they determine the number of values. */
static void read_rows(struct series *series, const struct table *table,
		      const size_t columns[SERIES_VALUE_COUNT])
{
	size_t at = table_column(table, "time_us"), name = table_column(table, "port");
	size_t *ports = allocate(table->rows, sizeof(*ports));
	size_t *times = allocate(table->rows, sizeof(*times));
	series->ports = allocate(table->rows, sizeof(char *));
	series->times = allocate(table->rows, sizeof(double));
	for (size_t row = 0; row < table->rows; row++) {
		double time = table_number(table, row, at);
		if (series->time_count == 0 || time > series->times[series->time_count - 1])
			series->times[series->time_count++] = time;
		times[row] = series->time_count - 1;
		ports[row] = find_port(series, table_cell(table, row, name),
				       row > 0 ? ports[row - 1] + 1 : 0);
	}
	size_t count = series->time_count * series->port_count;
	for (size_t value = 0; value < SERIES_VALUE_COUNT; value++) {
		series->values[value] = allocate(count, sizeof(double));
		for (size_t row = 0; row < table->rows; row++)
			series->values[value][times[row] * series->port_count + ports[row]] =
				table_number(table, row, columns[value]);
	}
	free(ports);
	free(times);
}

struct series *series_read(const char *file, char *error, size_t error_bytes)
{
	size_t columns[SERIES_VALUE_COUNT];
	struct table *table = table_read(file, error, error_bytes);
	if (!table)
		return NULL;
	struct series *series = NULL;
	if (find_columns(table, columns)) {
		series = allocate(1, sizeof(*series));
		read_rows(series, table, columns);
	} else {
		snprintf(error, error_bytes, "%s: not the columns of a run's series", file);
	}
	table_free(table);
	return series;
}

void series_free(struct series *series)
{
	if (!series)
		return;
	for (size_t i = 0; i < series->port_count; i++)
		free(series->ports[i]);
	for (size_t i = 0; i < SERIES_VALUE_COUNT; i++)
		free(series->values[i]);
	free(series->ports);
	free(series->times);
	free(series);
}

double series_at(const struct series *series, enum series_value value, size_t time, size_t port)
{
	return series->values[value][time * series->port_count + port];
}

double series_most(const struct series *series, enum series_value value, size_t port)
{
	double most = 0;
	for (size_t time = 0; time < series->time_count; time++)
		most = fmax(most, series_at(series, value, time, port));
	return most;
}

double series_mean(const struct series *series, enum series_value value, size_t port)
{
	double sum = 0;
	for (size_t time = 0; time < series->time_count; time++)
		sum += series_at(series, value, time, port);
	return series->time_count > 0 ? sum / (double)series->time_count : 0;
}

struct rank {
	size_t port;
	double size;
};

static int by_size(const void *one, const void *other)
{
	const struct rank *first = one, *second = other;
	if (first->size > second->size || first->size < second->size)
		return first->size > second->size ? -1 : 1;
	return first->port < second->port ? -1 : first->port > second->port;
}

size_t *series_rank(const struct series *series, enum series_value value, bool by_mean)
{
	struct rank *ranks = allocate(series->port_count, sizeof(*ranks));
	size_t *ports = allocate(series->port_count, sizeof(*ports));
	for (size_t port = 0; port < series->port_count; port++)
		ranks[port] = (struct rank){port, by_mean ? series_mean(series, value, port)
							  : series_most(series, value, port)};
	qsort(ranks, series->port_count, sizeof(*ranks), by_size);
	for (size_t i = 0; i < series->port_count; i++)
		ports[i] = ranks[i].port;
	free(ranks);
	return ports;
}
