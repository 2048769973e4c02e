/* SPDX-License-Identifier: Apache-2.0 */
/* run_charts: see run_charts.h. JSON is YAML. */
#include "analysis/run_charts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/flow_series_charts.h"
#include "analysis/queue_series_charts.h"
#include "analysis/series_charts.h"
#include "analysis/table.h"

struct reading {
	const char *folder;
	char *error;
	size_t error_bytes;
};

static bool is_there(const struct reading *reading, const char *file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.3000s/%s", reading->folder, file);
	return access(path, R_OK) == 0;
}

static struct yaml_document *read_document(const struct reading *reading, const char *path)
{
	struct yaml_errors errors = {0};
	struct yaml_document *document = yaml_read_file(path, &errors);
	if (!document)
		snprintf(reading->error, reading->error_bytes, "%s", yaml_errors_text(&errors));
	yaml_errors_free(&errors);
	return document;
}

static double number_of(struct yaml_node *map, const char *key)
{
	struct yaml_node *node = yaml_get(map, key);
	return node && node->kind == YAML_SCALAR ? strtod(node->text, NULL) : (double)NAN;
}

/* ---- over time ---- */

/* Returns the rates of the ports' links. The caller frees the array. Ports that links.csv lacks
 * have none. */
static double *read_rates(const struct reading *reading, const struct series *series, bool *bad)
{
	char path[PATH_MAX];
	double *rates = calloc(series->port_count + 1, sizeof(*rates));
	struct table *links = NULL;
	if (!rates)
		abort();
	for (size_t i = 0; i < series->port_count; i++)
		rates[i] = NAN;
	if (is_there(reading, "links.csv", path)) {
		links = table_read(path, reading->error, reading->error_bytes);
		*bad |= !links;
	}
	size_t port = links ? table_column(links, "port") : 0;
	size_t rate = links ? table_column(links, "rate_gbps") : 0;
	if (links && port < links->columns && rate < links->columns) {
		for (size_t row = 0; row < links->rows; row++) {
			for (size_t i = 0; i < series->port_count; i++) {
				if (strcmp(series->ports[i], table_cell(links, row, port)) == 0)
					rates[i] = table_number(links, row, rate);
			}
		}
	}
	table_free(links);
	return rates;
}

static bool add_series(struct charts *charts, const struct reading *reading)
{
	char path[PATH_MAX];
	bool bad = false;
	if (!is_there(reading, "series.csv", path))
		return true;
	struct series *series = series_read(path, reading->error, reading->error_bytes);
	if (!series)
		return false;
	double *rates = read_rates(reading, series, &bad);
	struct yaml_document *scenario = NULL;
	if (!bad && is_there(reading, "scenario.yaml", path)) {
		scenario = read_document(reading, path);
		bad |= !scenario;
	}
	if (!bad)
		series_charts_add(charts, series, scenario ? yaml_root(scenario) : NULL, rates);
	if (scenario)
		yaml_close(scenario);
	free(rates);
	series_free(series);
	return !bad;
}

/* ---- of any run ---- */

static void add_bars(struct chart *chart, struct yaml_node *list, const char *key, double scale)
{
	struct chart_curve *curve = chart_curve_add(chart, "", CURVE_LINE);
	for (struct yaml_node *entry = list ? list->children : NULL; entry; entry = entry->next) {
		struct yaml_node *name = yaml_get(entry, "name");
		double number = number_of(entry, key);
		if (!name || name->kind != YAML_SCALAR || !isfinite(number))
			continue;
		chart_point_add(curve, (double)chart->y.name_count, scale * number);
		chart_axis_name(&chart->y, name->text);
	}
}

static void add_uses(struct charts *charts, struct yaml_node *root)
{
	struct chart *chart = chart_create(CHART_BARS, "uses", "Busy resources and waits");
	chart_axis_set(&chart->x, "share of the time with work", "%");
	chart->x.least = 0;
	chart->x.most = 100;
	add_bars(chart, yaml_get(root, "uses"), "use", 100);
	charts_add(charts, chart);
}

static void add_bounds(struct charts *charts, struct yaml_node *root)
{
	struct yaml_node *bounds = yaml_get(root, "bounds");
	struct yaml_node *unit = bounds ? yaml_get(bounds, "unit") : NULL;
	struct yaml_node *operation = bounds ? yaml_get(bounds, "operation") : NULL;
	char text[128];
	if (!bounds || !unit || !operation || unit->kind != YAML_SCALAR ||
	    operation->kind != YAML_SCALAR)
		return;
	struct chart *chart =
		chart_create(CHART_BARS, "bounds", "Maximum rate that each resource allows");
	double measured = number_of(bounds, "measured");
	chart_axis_set(&chart->x, operation->text, unit->text);
	chart->x.least = 0;
	add_bars(chart, yaml_get(bounds, "resources"), "bound", 1);
	snprintf(text, sizeof(text), "measured: %.4g %s", measured, unit->text);
	if (isfinite(measured))
		chart_level_add(chart, text, measured);
	chart_note(chart, "The lowest bound is at the top. Work that waits for latency stays below "
			  "every bound.");
	charts_add(charts, chart);
}

static bool add_summary(struct charts *charts, const struct reading *reading)
{
	char path[PATH_MAX];
	if (!is_there(reading, "summary.json", path))
		return true;
	struct yaml_document *document = read_document(reading, path);
	if (!document)
		return false;
	add_uses(charts, yaml_root(document));
	add_bounds(charts, yaml_root(document));
	yaml_close(document);
	return true;
}

static bool add_flow_series(struct charts *charts, const struct reading *reading)
{
	char path[PATH_MAX];
	return !is_there(reading, "flow_series.csv", path) ||
	       flow_series_charts_add(charts, path, reading->error, reading->error_bytes);
}

static bool add_queue_series(struct charts *charts, const struct reading *reading)
{
	char path[PATH_MAX];
	return !is_there(reading, "queue_series.csv", path) ||
	       queue_series_charts_add(charts, path, reading->error, reading->error_bytes);
}

bool run_charts_add(struct charts *charts, const char *folder, char *error, size_t error_bytes)
{
	const struct reading reading = {folder, error, error_bytes};
	return add_series(charts, &reading) && add_queue_series(charts, &reading) &&
	       add_flow_series(charts, &reading) && add_summary(charts, &reading);
}
