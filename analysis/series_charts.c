/* SPDX-License-Identifier: Apache-2.0 */
/* series_charts: see series_charts.h. */
#include "analysis/series_charts.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/quantity.h"

#define PORTS_MAX  8   /* curves of a chart */
#define POINTS_MAX 800 /* of a curve; more samples share a point */
#define CELLS_MAX  240 /* of a row of a map */
#define ROWS_MAX   64  /* of a map */
#define LEVELS_MAX 4
#define LEAST_PART 100 /* a curve below this share of the largest is left out */

static struct chart_unit set_time_axis(struct chart *chart, const struct series *series)
{
	double end = series->times[series->time_count - 1];
	struct chart_unit unit = chart_time_unit(end);
	chart_axis_set(&chart->x, "time", unit.name);
	chart->x.least = 0;
	chart->x.most = end / unit.scale;
	return unit;
}

/* ---- curves ---- */

/* Adds the samples. Several samples share a point: their mean, and a band from the least to the
 * most. */
static void add_samples(struct chart_curve *curve, const struct series *series,
			enum series_value value, size_t port, double scale, double time_scale)
{
	size_t step = (series->time_count + POINTS_MAX - 1) / POINTS_MAX;
	for (size_t first = 0; first < series->time_count; first += step) {
		double sum = 0, least = INFINITY, most = -INFINITY;
		size_t end = first + step < series->time_count ? first + step : series->time_count;
		for (size_t time = first; time < end; time++) {
			double number = series_at(series, value, time, port) / scale;
			sum += number;
			least = fmin(least, number);
			most = fmax(most, number);
		}
		if (step == 1)
			chart_point_add(curve, series->times[first] / time_scale, sum);
		else
			chart_band_add(curve, series->times[end - 1] / time_scale,
				       sum / (double)(end - first), least, most);
	}
}

static double interval_begin(const struct series *series, size_t time)
{
	return time > 0 ? series->times[time - 1] : 0;
}

/* Marks the times at which one of the ports was paused. */
static void add_pauses(struct chart *chart, const struct series *series, const size_t *ports,
		       size_t count, double time_scale)
{
	double gap = series->times[series->time_count - 1] / POINTS_MAX;
	for (size_t time = 0; time < series->time_count; time++) {
		bool paused = false;
		double begin = interval_begin(series, time);
		for (size_t i = 0; i < count; i++)
			paused |= series_at(series, SERIES_paused_us, time, ports[i]) > 0;
		if (paused && chart->span_count > 0 &&
		    begin - chart->spans[chart->span_count - 1].to * time_scale < gap)
			begin = chart->spans[chart->span_count - 1].to * time_scale;
		if (paused)
			chart_span_add(chart, begin / time_scale, series->times[time] / time_scale);
	}
	if (chart->span_count > 0 && !chart->span_name)
		chart->span_name = strdup("one of these ports is paused");
}

/* Returns how many of the ranked ports have a curve that is visible above the axis. */
static size_t count_shown(const struct series *series, enum series_value value, const size_t *ports)
{
	double largest = series_most(series, value, ports[0]);
	size_t count = 0;
	while (count < series->port_count && count < PORTS_MAX && largest > 0 &&
	       series_most(series, value, ports[count]) > largest / LEAST_PART)
		count++;
	return count;
}

static struct chart *chart_ports(const struct series *series, enum series_value value,
				 const size_t *ports, size_t count, const char *name,
				 const char *title, const char *label, struct chart_unit unit)
{
	struct chart *chart = chart_create(CHART_CURVES, name, title);
	struct chart_unit time = set_time_axis(chart, series);
	chart_axis_set(&chart->y, label, unit.name);
	chart->y.least = 0;
	for (size_t i = 0; i < count; i++)
		add_samples(chart_curve_add(chart, series->ports[ports[i]], CURVE_LINE), series,
			    value, ports[i], unit.scale, time.scale);
	if (count > 0)
		add_pauses(chart, series, ports, count, time.scale);
	size_t step = (series->time_count + POINTS_MAX - 1) / POINTS_MAX;
	if (step > 1)
		chart_note(chart,
			   "%zu of %zu ports. A point is the mean of %zu samples, and the "
			   "band reaches from the least to the largest.",
			   count, series->port_count, step);
	else
		chart_note(chart, "%zu of %zu ports.", count, series->port_count);
	return chart;
}

/* ---- thresholds ---- */

static double number_of(const struct yaml_node *map, const char *key)
{
	static const struct quantity_unit bytes[] = {{"B", 1, true},         {"KB", 1000, true},
						     {"KiB", 1024, true},    {"MB", 1000000, true},
						     {"MiB", 1 << 20, true}, {NULL, 0, false}};
	uint64_t value;
	char error[64];
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		if (strcmp(node->key, key) == 0 && node->kind == YAML_SCALAR &&
		    quantity_parse(node->text, bytes, &value, error, sizeof(error)))
			return (double)value;
	}
	return 0;
}

static bool has_text(const struct yaml_node *map, const char *key, const char *text)
{
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		if (strcmp(node->key, key) == 0 && node->kind == YAML_SCALAR)
			return strcmp(node->text, text) == 0;
	}
	return false;
}

static void add_level(struct chart *chart, const char *name, double bytes, struct chart_unit unit)
{
	char text[96];
	for (size_t i = 0; i < chart->level_count; i++) {
		if (fabs(chart->levels[i].value * unit.scale - bytes) < 0.5)
			return;
	}
	snprintf(text, sizeof(text), "%s %.4g %s", name, bytes / unit.scale, unit.name);
	if (bytes > 0 && chart->level_count < LEVELS_MAX)
		chart_level_add(chart, text, bytes / unit.scale);
}

/* Adds the marking thresholds of all switches in the configuration. Thresholds that grow with the
 * link's rate are left out, because no single line shows them. */
static void add_marking(struct chart *chart, const struct yaml_node *node, struct chart_unit unit)
{
	if (node->kind == YAML_MAP && node->key && strcmp(node->key, "ecn") == 0) {
		if (!has_text(node, "mark", "off") && has_text(node, "per_rate", "0bps")) {
			add_level(chart, "ECN kmin", number_of(node, "kmin"), unit);
			add_level(chart, "ECN kmax", number_of(node, "kmax"), unit);
		}
		return;
	}
	for (const struct yaml_node *child = node->children; child; child = child->next)
		add_marking(chart, child, unit);
}

static void add_pausing(struct chart *chart, const struct yaml_node *node, struct chart_unit unit)
{
	if (node->kind == YAML_MAP && node->key && strcmp(node->key, "port") == 0) {
		add_level(chart, "PFC xoff", number_of(node, "xoff"), unit);
		return;
	}
	for (const struct yaml_node *child = node->children; child; child = child->next)
		add_pausing(chart, child, unit);
}

static const struct yaml_node *fabric_of(const struct yaml_node *scenario)
{
	for (const struct yaml_node *node = scenario ? scenario->children : NULL; node;
	     node = node->next) {
		if (strcmp(node->key, "fabric") == 0)
			return node;
	}
	return NULL;
}

/* A threshold far above the curves would flatten them. */
static void drop_far_levels(struct chart *chart, double most)
{
	size_t kept = 0;
	for (size_t i = 0; i < chart->level_count; i++) {
		if (chart->levels[i].value <= 3 * most)
			chart->levels[kept++] = chart->levels[i];
		else
			free(chart->levels[i].name);
	}
	chart->level_count = kept;
}

/* ---- maps ---- */

/* Returns the mean of the samples of a cell, divided by `scale`. */
static double cell(const struct series *series, enum series_value value, size_t port, size_t number,
		   size_t cells, bool of_time, double scale)
{
	size_t first = number * series->time_count / cells;
	size_t end = (number + 1) * series->time_count / cells;
	double sum = 0, time = series->times[end - 1] - interval_begin(series, first);
	for (size_t i = first; i < end; i++)
		sum += series_at(series, value, i, port);
	return of_time ? sum / time : sum / (double)(end - first) / scale;
}

static void add_map(struct charts *charts, const struct series *series, enum series_value value,
		    const double *scales, const char *name, const char *title, const char *label)
{
	struct chart *chart = chart_create(CHART_MAP, name, title);
	struct chart_unit unit = set_time_axis(chart, series);
	size_t *ports = series_rank(series, value, true), rows = 0;
	size_t cells = series->time_count < CELLS_MAX ? series->time_count : CELLS_MAX;
	double duration = series->times[series->time_count - 1];
	chart_axis_set(&chart->right, label, "%");
	chart->right.least = 0;
	for (size_t i = 0; i < series->port_count && rows < ROWS_MAX; i++) {
		size_t port = ports[i];
		struct chart_curve *curve;
		if (!(series_most(series, value, port) > 0) || (scales && !(scales[port] > 0)))
			continue;
		curve = chart_curve_add(chart, series->ports[port], CURVE_LINE);
		rows++;
		for (size_t number = 0; number < cells; number++)
			chart_point_add(curve,
					((double)number + 0.5) * duration / (double)cells /
						unit.scale,
					100 * cell(series, value, port, number, cells, !scales,
						   scales ? scales[port] : 1));
	}
	if (scales)
		chart->right.most = 100;
	if (rows < series->port_count)
		chart_note(chart, "The first %zu of %zu ports, the largest mean at the top.", rows,
			   series->port_count);
	else
		chart_note(chart, "The largest mean is at the top.");
	charts_add(charts, chart);
	free(ports);
}

void series_charts_add(struct charts *charts, const struct series *series,
		       const struct yaml_node *scenario, const double *rates_gbps)
{
	const struct yaml_node *fabric = fabric_of(scenario);
	if (series->time_count == 0)
		return;
	size_t *queues = series_rank(series, SERIES_queue_bytes, false);
	size_t *inputs = series_rank(series, SERIES_input_bytes, false);
	size_t *rates = series_rank(series, SERIES_rate_gbps, true);
	size_t shown = count_shown(series, SERIES_queue_bytes, queues);
	double most = series_most(series, SERIES_queue_bytes, queues[0]);
	struct chart_unit unit = chart_byte_unit(most);
	struct chart *chart = chart_ports(series, SERIES_queue_bytes, queues, shown, "queues",
					  "Ports with the longest queues", "queue", unit);
	if (fabric)
		add_marking(chart, fabric, unit);
	drop_far_levels(chart, most / unit.scale);
	charts_add(charts, chart);

	most = series_most(series, SERIES_input_bytes, inputs[0]);
	unit = chart_byte_unit(most);
	chart = chart_ports(series, SERIES_input_bytes, inputs,
			    count_shown(series, SERIES_input_bytes, inputs), "inputs",
			    "Inputs with the most stored bytes", "stored", unit);
	if (fabric)
		add_pausing(chart, fabric, unit);
	drop_far_levels(chart, most / unit.scale);
	charts_add(charts, chart);

	charts_add(charts, chart_ports(series, SERIES_rate_gbps, rates,
				       count_shown(series, SERIES_rate_gbps, rates), "rates",
				       "Data rates of the busiest ports", "rate",
				       (struct chart_unit){"Gb/s", 1}));
	add_map(charts, series, SERIES_rate_gbps, rates_gbps, "links", "Use of the links over time",
		"use of the link");
	add_map(charts, series, SERIES_paused_us, NULL, "pauses", "Pauses over time, by port",
		"share of the time paused, summed over priorities");
	free(queues);
	free(inputs);
	free(rates);
}
