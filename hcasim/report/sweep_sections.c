/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_sections: see sweep_sections.h. */
#include "hcasim/report/sweep_sections.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/bin_charts.h"
#include "analysis/flow_charts.h"
#include "analysis/sweep_panels.h"
#include "hcasim/report/flow_table_section.h"
#include "hcasim/schema/metrics.h"

#define METRICS_MAX   8    /* maximum number of metrics without --metric */
#define FLOW_ROWS_MAX 200  /* combinations in the table of flows */
#define POINTS_MAX    2000 /* rows of the table */
#define TEXT_BYTES    512

/* The most important metrics of a sweep, in this order. */
static const char *const preferred[] = {
	"slowdown_p99", "slowdown_mean", "fct_p99_us", "goodput_gbps", "mops",      "gbps",
	"median_ns",    "p99_ns",        "drops",      "pause_us",     "ecn_marks", "jain",
};

/* The most important metrics of a sweep with operations of pattern storage, in this order. */
static const char *const preferred_operations[] = {
	"iops",   "latency_p50_us",       "latency_p99_us", "data_gbps",
	"cpu_us", "operation_wire_bytes", "drops",          "timeouts",
};

struct reading {
	struct report *report;
	const struct sweep_tables *sweep;
	size_t key;
	size_t metrics[METRICS_MAX * 4];
	size_t metric_count;
};

static const struct metric_info *info_of(const char *name)
{
	int index = metric_index(metric_list, name);
	if (index >= 0)
		return &metric_list[index];
	index = metric_index(metric_storage_list, name);
	if (index >= 0)
		return &metric_storage_list[index];
	index = metric_index(metric_load_list, name);
	return index >= 0 ? &metric_load_list[index] : NULL;
}

/* ---- which key and metrics ---- */

/* Returns the key with the most values that are numbers, and the first of several such keys. If no
 * key has numbers, returns the first key whose values differ. */
static size_t choose_key(const struct sweep_tables *sweep)
{
	size_t best = sweep_charts_first_key(sweep), most = 1;
	for (size_t column = 0; column < sweep->axes; column++) {
		const char *text = table_cell(sweep->means, 0, column);
		size_t values =
			isdigit((unsigned char)*text) ? sweep_panels_values(sweep, column) : 0;
		if (values > most) {
			best = column;
			most = values;
		}
	}
	return best;
}

/* Flows of such a sweep are messages of protocols. */
static bool has_operations(const struct sweep_tables *sweep)
{
	return table_column(sweep->means, "operations_done") < sweep->means->columns;
}

static bool choose(struct reading *reading, const struct sweep_choice *choice)
{
	const struct sweep_tables *sweep = reading->sweep;
	struct report *report = reading->report;
	size_t most = sizeof(reading->metrics) / sizeof(reading->metrics[0]), column;
	reading->key = choose_key(sweep);
	if (choice->key && !sweep_charts_find_key(sweep, choice->key, &reading->key, report->error,
						  sizeof(report->error)))
		return false;
	for (size_t i = 0; i < choice->metric_count && reading->metric_count < most; i++) {
		if (!sweep_charts_find_metric(sweep, choice->metrics[i], &column, report->error,
					      sizeof(report->error)))
			return false;
		reading->metrics[reading->metric_count++] = column;
	}
	bool operations = has_operations(sweep);
	const char *const *names = operations ? preferred_operations : preferred;
	size_t names_count = operations ? sizeof(preferred_operations) / sizeof(names[0])
					: sizeof(preferred) / sizeof(names[0]);
	for (size_t i = 0;
	     choice->metric_count == 0 && reading->metric_count < METRICS_MAX && i < names_count;
	     i++) {
		column = table_column(sweep->means, names[i]);
		if (column >= sweep->metrics && column < sweep->means->columns &&
		    sweep_charts_varies(sweep, column))
			reading->metrics[reading->metric_count++] = column;
	}
	return true;
}

static void add_metrics(struct reading *reading)
{
	struct report *report = reading->report;
	struct charts charts = {0};
	char title[TEXT_BYTES];
	report_page_section(report->page, "Metrics over the swept keys",
			    "A symbol at a point names its bottleneck. Select a name in the legend "
			    "to hide its curve.");
	for (size_t i = 0; i < reading->metric_count; i++) {
		const char *name = reading->sweep->means->names[reading->metrics[i]];
		const struct metric_info *info = info_of(name);
		snprintf(title, sizeof(title), "%s%s%s", name, info ? ": " : "",
			 info ? info->meaning : "");
		sweep_charts_add(&charts, reading->sweep, reading->key,
				 &(struct sweep_metric){.column = reading->metrics[i],
							.name = name,
							.title = title,
							.unit = info ? info->unit : "",
							.logarithmic_from = SWEEP_LOGARITHMIC});
	}
	report_charts(report, &charts, NULL, NULL);
}

/* ---- flows ---- */

static bool is_point_of(const struct sweep_tables *sweep, size_t run, size_t row)
{
	for (size_t i = 0; i < sweep->axes; i++) {
		size_t column = table_column(sweep->results, sweep->means->names[i]);
		if (column >= sweep->results->columns ||
		    strcmp(table_cell(sweep->results, run, column),
			   table_cell(sweep->means, row, i)) != 0)
			return false;
	}
	return true;
}

/* The runs of the rows of a sweep's table. */
struct row_runs {
	char **names;                /* of the rows, for the table */
	const char **folders;        /* row after row */
	struct flow_table_row *rows; /* each has its part of the folders */
	size_t count;                /* of the rows */
	size_t folder_count;
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

static void collect_runs(struct row_runs *all, const struct sweep_tables *sweep)
{
	size_t point = table_column(sweep->results, "point");
	size_t rows = sweep->means->rows;
	all->count = rows < FLOW_ROWS_MAX ? rows : FLOW_ROWS_MAX;
	all->names = take(all->count, sizeof(*all->names));
	all->rows = take(all->count, sizeof(*all->rows));
	all->folders = take(sweep->results->rows, sizeof(*all->folders));
	for (size_t row = 0; row < all->count; row++) {
		all->names[row] = sweep_charts_name(sweep, row, SIZE_MAX, SIZE_MAX);
		all->rows[row].name = all->names[row];
		all->rows[row].folders = all->folders + all->folder_count;
		for (size_t run = 0; point < sweep->results->columns && run < sweep->results->rows;
		     run++) {
			char *folder;
			if (!is_point_of(sweep, run, row))
				continue;
			if (asprintf(&folder, "%s/%s", sweep->folder,
				     table_cell(sweep->results, run, point)) < 0)
				abort();
			all->folders[all->folder_count++] = folder;
			all->rows[row].count++;
		}
	}
}

static void free_runs(struct row_runs *all)
{
	for (size_t i = 0; i < all->folder_count; i++)
		free((char *)all->folders[i]);
	for (size_t row = 0; row < all->count; row++)
		free(all->names[row]);
	free(all->names);
	free(all->rows);
	free(all->folders);
}

/* Returns the row with the largest value of the key, or the last row if the values are no
 * numbers. */
static size_t largest_row(const struct sweep_tables *sweep, size_t key)
{
	size_t largest = sweep->means->rows - 1;
	for (size_t row = 0; row < sweep->means->rows; row++) {
		if (strtod(table_cell(sweep->means, row, key), NULL) >
		    strtod(table_cell(sweep->means, largest, key), NULL))
			largest = row;
	}
	return largest;
}

/* Draws the flows of all combinations side by side. If the combinations are too many, draws the
 * combinations with the largest value of the key `reading->key`. */
static bool chart_flows(struct reading *reading, const struct row_runs *all, struct charts *charts,
			char *text, size_t text_bytes)
{
	const struct sweep_tables *sweep = reading->sweep;
	struct report *report = reading->report;
	bool whole = sweep->means->rows <= CHART_CURVES_MAX;
	size_t largest = largest_row(sweep, reading->key), shown = 0, count = 0;
	const char *value = table_cell(sweep->means, largest, reading->key);
	struct charted_run *runs = take(all->folder_count, sizeof(*runs));
	char *names[CHART_CURVES_MAX];
	for (size_t row = 0; row < all->count && shown < CHART_CURVES_MAX; row++) {
		if (!whole && strcmp(table_cell(sweep->means, row, reading->key), value) != 0)
			continue;
		names[shown] =
			sweep_charts_name(sweep, row, whole ? SIZE_MAX : reading->key, SIZE_MAX);
		for (size_t i = 0; i < all->rows[row].count; i++)
			runs[count++] =
				(struct charted_run){names[shown], all->rows[row].folders[i]};
		shown++;
	}
	if (whole)
		snprintf(text, text_bytes, "The pictures show all %zu combinations of values.",
			 shown);
	else
		snprintf(text, text_bytes,
			 "The pictures show %zu combinations with %s=%s. The table has %zu of %zu "
			 "combinations.",
			 shown, sweep->means->names[reading->key], value, all->count,
			 sweep->means->rows);
	bool good = flow_charts_add(charts, runs, count, report->error, sizeof(report->error));
	for (size_t i = 0; i < shown; i++)
		free(names[i]);
	free(runs);
	return good;
}

static bool add_flows(struct reading *reading)
{
	struct report *report = reading->report;
	struct row_runs all = {0};
	struct charts charts = {0};
	char text[TEXT_BYTES];
	collect_runs(&all, reading->sweep);
	bool good = chart_flows(reading, &all, &charts, text, sizeof(text));
	report_page_section(report->page, "Flows of the points", text);
	good = good && flow_table_section_add(report, all.rows, all.count, true);
	report_charts(report, &charts, NULL, NULL);
	free_runs(&all);
	return good;
}

static bool add_bins(struct reading *reading)
{
	struct report *report = reading->report;
	struct charts charts = {0};
	bool good = bin_charts_add(&charts, reading->sweep, report->error, sizeof(report->error));
	report_page_section(report->page, "Flows by size",
			    "Times and slowdowns of the flows in each bin of sizes (run.bins), "
			    "from bins.csv.");
	report_charts(report, &charts, NULL, NULL);
	return good;
}

/* ---- points ---- */

/* The row of a run shows whether the run failed. */
static void add_tiles(struct reading *reading)
{
	const struct table *runs = reading->sweep->results;
	size_t code = table_column(runs, "exit_code"), good = 0;
	char text[64];
	for (size_t run = 0; code < runs->columns && run < runs->rows; run++)
		good += strcmp(table_cell(runs, run, code), "0") == 0;
	report_page_section(reading->report->page, "At a glance", "");
	snprintf(text, sizeof(text), "%zu", runs->rows);
	report_page_tile(reading->report->page, "runs", text, "", "");
	snprintf(text, sizeof(text), "%zu", reading->sweep->means->rows);
	report_page_tile(reading->report->page, "combinations of values", text, "", "");
	snprintf(text, sizeof(text), "%zu of %zu", good, runs->rows);
	report_page_tile(reading->report->page, "runs with exit code 0", text, "",
			 good == runs->rows ? "good" : "bad");
}

/* Adds the swept keys, then the bottleneck, then the drawn metrics. */
static void add_points(struct reading *reading)
{
	const struct table *runs = reading->sweep->results;
	struct report_page *page = reading->report->page;
	size_t keys = table_column(runs, "point"), bottleneck = table_column(runs, "bottleneck");
	size_t shown = runs->rows < POINTS_MAX ? runs->rows : POINTS_MAX, count = 0;
	size_t columns[64];
	char *names[65] = {0};
	for (size_t i = 0; i < keys && count < 16; i++)
		columns[count++] = i;
	if (bottleneck < runs->columns)
		columns[count++] = bottleneck;
	for (size_t i = 0; i < reading->metric_count; i++) {
		size_t column =
			table_column(runs, reading->sweep->means->names[reading->metrics[i]]);
		if (column < runs->columns)
			columns[count++] = column;
	}
	for (size_t i = 0; i < count; i++) {
		const struct metric_info *info = info_of(runs->names[columns[i]]);
		if (asprintf(&names[i], "%s%s%s%s%s", runs->names[columns[i]],
			     info && *info->unit ? " (" : "", info ? info->unit : "",
			     info && *info->unit ? ")" : "", info ? ":number" : ":text") < 0)
			abort();
	}
	report_page_section(page, "Points",
			    "One row per run. Select the name of a column to "
			    "sort.");
	report_page_table(page, "", (const char *const *)names);
	for (size_t run = 0; run < shown; run++) {
		for (size_t i = 0; i < count; i++)
			report_page_cell(page, table_cell(runs, run, columns[i]));
	}
	report_page_table_end(page);
	if (shown < runs->rows)
		report_page_text(page, "More points are in results.csv.");
	for (size_t i = 0; i < count; i++)
		free(names[i]);
}

bool sweep_sections_add(struct report *report, const char *folder,
			const struct sweep_choice *choice)
{
	struct sweep_tables *sweep =
		sweep_charts_read(folder, report->error, sizeof(report->error));
	struct reading reading = {.report = report, .sweep = sweep};
	bool good = sweep && choose(&reading, choice);
	if (good) {
		add_tiles(&reading);
		add_metrics(&reading);
		if (!has_operations(sweep))
			good = add_bins(&reading) && add_flows(&reading);
		add_points(&reading);
	}
	sweep_charts_free(sweep);
	return good;
}
