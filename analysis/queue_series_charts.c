/* SPDX-License-Identifier: Apache-2.0 */
/* queue_series_charts: see queue_series_charts.h. */
#include "analysis/queue_series_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table.h"

#define CURVES_MAX  8
#define POINTS_MAX  800  /* of a curve; more samples share a point, with their mean */
#define LEAST_SHARE 0.01 /* of the longest queue: shorter ones have no curve */

struct queue { /* of a priority of a port */
	const char *port, *priority;
	double most;
	size_t first_row;
};

/* The columns that the chart needs, and its queues, longest first. */
struct reading {
	const struct table *table;
	size_t time, port, priority, bytes;
	struct queue *queues;
	size_t count, room;
	double *times; /* of all samples */
	size_t time_count, time_room;
};

static bool is_queue(const struct reading *reading, size_t row, const struct queue *queue)
{
	return strcmp(table_cell(reading->table, row, reading->port), queue->port) == 0 &&
	       strcmp(table_cell(reading->table, row, reading->priority), queue->priority) == 0;
}

/* The queues of a sample have one order. The one behind `last` is the most likely. */
static size_t queue_of(struct reading *reading, size_t row, size_t last)
{
	for (size_t i = 1; i <= reading->count; i++)
		if (is_queue(reading, row, &reading->queues[(last + i) % reading->count]))
			return (last + i) % reading->count;
	if (reading->count == reading->room) {
		reading->room = reading->room > 0 ? 2 * reading->room : 64;
		reading->queues =
			realloc(reading->queues, reading->room * sizeof(*reading->queues));
		if (!reading->queues)
			abort();
	}
	reading->queues[reading->count] =
		(struct queue){.port = table_cell(reading->table, row, reading->port),
			       .priority = table_cell(reading->table, row, reading->priority),
			       .first_row = row};
	return reading->count++;
}

static void add_time(struct reading *reading, double time)
{
	if (reading->time_count == reading->time_room) {
		reading->time_room = reading->time_room > 0 ? 2 * reading->time_room : 256;
		reading->times =
			realloc(reading->times, reading->time_room * sizeof(*reading->times));
		if (!reading->times)
			abort();
	}
	reading->times[reading->time_count++] = time;
}

/* Adds the times of samples at which all queues were empty, which have no lines. */
static void fill_times(struct reading *reading)
{
	double *known = reading->times, gap = INFINITY;
	size_t count = reading->time_count;

	for (size_t i = 1; i < count; i++)
		gap = fmin(gap, known[i] - known[i - 1]);
	reading->times = NULL;
	reading->time_count = reading->time_room = 0;
	for (size_t i = 0; i < count; i++) {
		double from = i > 0 ? known[i - 1] : known[0];

		for (size_t k = 1; from + (double)k * gap < known[i] - gap / 2; k++)
			add_time(reading, from + (double)k * gap);
		add_time(reading, known[i]);
	}
	free(known);
}

static int compare(const void *one, const void *other)
{
	const struct queue *a = one, *b = other;

	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	return a->first_row < b->first_row ? -1 : a->first_row > b->first_row;
}

static void find_queues(struct reading *reading)
{
	const struct table *table = reading->table;

	size_t last = 0;

	for (size_t row = 0; row < table->rows; row++) {
		last = queue_of(reading, row, last);
		struct queue *queue = &reading->queues[last];
		double time = table_number(table, row, reading->time);

		queue->most = fmax(queue->most, table_number(table, row, reading->bytes));
		if (reading->time_count == 0 || time > reading->times[reading->time_count - 1])
			add_time(reading, time);
	}
	fill_times(reading);
	if (reading->count)
		qsort(reading->queues, reading->count, sizeof(*reading->queues), compare);
}

/* A sample without a line is 0. */
static void add_curve(struct chart *chart, const struct reading *reading, const struct queue *queue,
		      double scale, double time_scale)
{
	size_t step = (reading->time_count + POINTS_MAX - 1) / POINTS_MAX, row = queue->first_row;
	double sum = 0;
	char name[160];

	snprintf(name, sizeof(name), "%s, priority %s", queue->port, queue->priority);
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_LINE);

	for (size_t i = 0; i < reading->time_count; i++) {
		while (row < reading->table->rows &&
		       (table_number(reading->table, row, reading->time) < reading->times[i] ||
			!is_queue(reading, row, queue)))
			row++;
		if (row < reading->table->rows &&
		    table_number(reading->table, row, reading->time) == reading->times[i])
			sum += table_number(reading->table, row, reading->bytes);
		if ((i + 1) % step != 0)
			continue;
		chart_point_add(curve, reading->times[i] / time_scale, sum / (double)step / scale);
		sum = 0;
	}
}

static void add_chart(struct charts *charts, const struct reading *reading)
{
	double most = reading->queues[0].most;
	struct chart_unit bytes = chart_byte_unit(most);
	struct chart_unit time = chart_time_unit(reading->times[reading->time_count - 1]);
	struct chart *chart = chart_create(CHART_CURVES, "queues-by-priority",
					   "The longest queues by port and priority");
	size_t shown = 0;

	chart_axis_set(&chart->x, "time", time.name);
	chart_axis_set(&chart->y, "queue", bytes.name);
	chart->x.least = chart->y.least = 0;
	for (; shown < reading->count && shown < CURVES_MAX &&
	       reading->queues[shown].most > LEAST_SHARE * most;
	     shown++)
		add_curve(chart, reading, &reading->queues[shown], bytes.scale, time.scale);
	chart_note(chart, "%zu of %zu queues that were used.", shown, reading->count);
	charts_add(charts, chart);
}

bool queue_series_charts_add(struct charts *charts, const char *file, char *error,
			     size_t error_bytes)
{
	struct table *table = table_read(file, error, error_bytes);

	if (!table)
		return false;
	struct reading reading = {.table = table,
				  .time = table_column(table, "time_us"),
				  .port = table_column(table, "port"),
				  .priority = table_column(table, "priority"),
				  .bytes = table_column(table, "queue_bytes")};

	find_queues(&reading);
	if (reading.count > 0 && reading.queues[0].most > 0)
		add_chart(charts, &reading);
	free(reading.queues);
	free(reading.times);
	table_free(table);
	return true;
}
