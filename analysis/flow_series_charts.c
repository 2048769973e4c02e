/* SPDX-License-Identifier: Apache-2.0 */
/* flow_series_charts: see flow_series_charts.h. */
#include "analysis/flow_series_charts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/table.h"

#define FLOWS_MAX  12   /* curves of a chart */
#define POINTS_MAX 2000 /* of a curve; more lines share a point, with their mean */

static const struct {
	const char *column, *name, *title, *label, *unit;
	double scale;
} shown[] = {
	{"goodput_gbps", "flow-goodput", "Goodput of flows", "arrived payload", "Gb/s", 1},
	{"rate_gbps", "flow-rates", "Rate that congestion control allows", "allowed rate", "Gb/s",
	 1},
	{"cwnd_bytes", "flow-windows", "Congestion windows", "window", "KB", 1e3},
	{"inflight_bytes", "flow-inflight", "Data in flight", "sent, not acknowledged", "KB", 1e3},
	{"rtt_us", "flow-rtts", "Round-trip times", "round-trip time", "us", 1},
};

/* The columns of the file that all charts need. */
struct reading {
	const struct table *table;
	size_t time, flow;
	double flows[FLOWS_MAX];
	size_t flow_count;
	struct chart_unit time_unit;
};

static void find_flows(struct reading *reading)
{
	for (size_t row = 0; row < reading->table->rows; row++) {
		double flow = table_number(reading->table, row, reading->flow);
		size_t i = 0;

		while (i < reading->flow_count && reading->flows[i] != flow)
			i++;
		if (i == reading->flow_count && i < FLOWS_MAX)
			reading->flows[reading->flow_count++] = flow;
	}
}

/* Adds a curve of the flow's values. Empty fields are left out. */
static void add_curve(struct chart *chart, const struct reading *reading, double flow,
		      size_t column, double scale)
{
	const struct table *table = reading->table;
	size_t lines = 0, step, taken = 0;
	double time = 0, sum = 0;
	char name[32];

	for (size_t row = 0; row < table->rows; row++)
		lines += table_number(table, row, reading->flow) == flow;
	step = (lines + POINTS_MAX - 1) / POINTS_MAX;
	snprintf(name, sizeof(name), "flow %.0f", flow);
	struct chart_curve *curve = chart_curve_add(chart, name, CURVE_LINE);

	for (size_t row = 0; row < table->rows; row++) {
		double value = table_number(table, row, column);

		if (table_number(table, row, reading->flow) != flow || !isfinite(value))
			continue;
		time += table_number(table, row, reading->time);
		sum += value;
		if (++taken < step)
			continue;
		chart_point_add(curve, time / (double)taken / reading->time_unit.scale,
				sum / (double)taken / scale);
		time = sum = 0;
		taken = 0;
	}
}

bool flow_series_charts_add(struct charts *charts, const char *file, char *error,
			    size_t error_bytes)
{
	struct table *table = table_read(file, error, error_bytes);

	if (!table)
		return false;
	struct reading reading = {.table = table,
				  .time = table_column(table, "time_us"),
				  .flow = table_column(table, "flow")};

	reading.time_unit = chart_time_unit(
		table->rows > 0 ? table_number(table, table->rows - 1, reading.time) : 0);
	find_flows(&reading);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		size_t column = table_column(table, shown[i].column);
		struct chart *chart = chart_create(CHART_CURVES, shown[i].name, shown[i].title);

		chart_axis_set(&chart->x, "time", reading.time_unit.name);
		chart_axis_set(&chart->y, shown[i].label, shown[i].unit);
		chart->y.least = 0;
		for (size_t k = 0; column < table->columns && k < reading.flow_count; k++)
			add_curve(chart, &reading, reading.flows[k], column, shown[i].scale);
		charts_add(charts, chart);
	}
	table_free(table);
	return true;
}
