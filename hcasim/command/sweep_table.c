/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_table: the tables of a sweep.
 *
 *     DIR/results.csv    one line per point: its values, folder, exit code, name, bottleneck,
 *                        lowest bound, then all metrics
 *     DIR/means.csv      means of the metrics over the seeds, if those are swept
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/means.h"
#include "analysis/table.h"
#include "hcasim/command/sweep.h"
#include "hcasim/run/bottleneck.h"
#include "hcasim/schema/metrics.h"
#include "sim/json.h"

static const struct metric_info *metrics_of(const struct sweep *sweep)
{
	return sweep->scenario->has_load ? metric_load_list : metric_list;
}

#define ALL_WORKLOADS UINT32_MAX

/* Metrics of operations, if a workload of the file has pattern storage. The list is empty
 * otherwise. */
static const struct metric_info *storage_metrics_of(const struct sweep *sweep, uint32_t workload)
{
	static const struct metric_info none[] = {{0}};
	const struct scenario *scenario = sweep->scenario;
	for (uint32_t i = 0; i < scenario->workload_count; i++)
		if (scenario->workloads[i].params.pattern == PATTERN_storage &&
		    (workload == ALL_WORKLOADS || i == workload))
			return metric_storage_list;
	return none;
}

static void print_metrics(const struct metric_info *info, struct yaml_node *map, FILE *out)
{
	for (; info->name; info++) {
		struct yaml_node *metric = map ? yaml_get(map, info->name) : NULL;
		fprintf(out, ",%s", metric && metric->kind == YAML_SCALAR ? metric->text : "");
	}
}

static uint32_t workloads_of(const struct sweep *sweep)
{
	return sweep->scenario->has_workloads ? sweep->scenario->workload_count : 0;
}

/* Prints the metrics of each of several workloads. The columns belong to the file's own values,
 * even if a variant has other workloads. */
static void print_workloads(const struct sweep *sweep, struct yaml_node *root, FILE *out)
{
	struct yaml_node *all = root ? yaml_get(root, "workloads") : NULL;
	for (uint32_t i = 0; i < workloads_of(sweep); i++) {
		struct yaml_node *map =
			all ? yaml_get(all, sweep->scenario->workloads[i].name) : NULL;
		print_metrics(metric_workload_list, map, out);
		print_metrics(storage_metrics_of(sweep, i), map, out);
	}
}

static void print_workload_names(const struct sweep *sweep, FILE *out)
{
	for (uint32_t i = 0; i < workloads_of(sweep); i++) {
		const char *name = sweep->scenario->workloads[i].name;
		for (const struct metric_info *info = metric_workload_list; info->name; info++)
			fprintf(out, ",%s.%s", name, info->name);
		for (const struct metric_info *info = storage_metrics_of(sweep, i); info->name;
		     info++)
			fprintf(out, ",%s.%s", name, info->name);
	}
}

/* Prints the bottleneck of the run, which is the first of its uses, or "none". */
static void print_bottleneck(struct yaml_node *root, FILE *out)
{
	struct yaml_node *uses = root ? yaml_get(root, "uses") : NULL;
	struct yaml_node *first = uses && uses->kind == YAML_LIST ? uses->children : NULL;
	struct yaml_node *name = first ? yaml_get(first, "name") : NULL;
	struct yaml_node *use = first ? yaml_get(first, "use") : NULL;
	if (!root)
		return;
	if (name && use && name->text && use->text && strtod(use->text, NULL) >= BOTTLENECK_LEAST)
		table_print_field(name->text, out);
	else
		fprintf(out, "none");
}

/* Prints the resource with the lowest bound of the rate, and this bound. Both are empty if no bound
 * is known. */
static void print_bound(struct yaml_node *root, FILE *out)
{
	struct yaml_node *bounds = root ? yaml_get(root, "bounds") : NULL;
	struct yaml_node *list = bounds ? yaml_get(bounds, "resources") : NULL;
	struct yaml_node *first = list && list->kind == YAML_LIST ? list->children : NULL;
	struct yaml_node *name = first ? yaml_get(first, "name") : NULL;
	struct yaml_node *bound = first ? yaml_get(first, "bound") : NULL;
	if (name && name->text)
		table_print_field(name->text, out);
	fprintf(out, ",%s", bound && bound->text ? bound->text : "");
}

/* Prints the line of a point from its summary. JSON is read as YAML. */
static void print_line(const struct sweep *sweep, size_t point, FILE *out)
{
	char path[PATH_MAX], name[SWEEP_NAME_BYTES];
	struct yaml_errors errors = {0};
	sweep_resume_path(sweep, point, "/summary.json", path);
	struct yaml_document *document = yaml_read_file(path, &errors);
	struct yaml_node *root = document ? yaml_root(document) : NULL;
	struct yaml_node *code = root ? yaml_get(root, "exit_code") : NULL;
	struct yaml_node *metrics = root ? yaml_get(root, "metrics") : NULL;
	sweep_columns_print_values(sweep, point, out);
	sweep_names_write(sweep, point, name);
	fprintf(out, "%s,%s,", sweep->points[point].name,
		code && code->kind == YAML_SCALAR ? code->text : "");
	table_print_field(name, out);
	fputc(',', out);
	print_bottleneck(root, out);
	fputc(',', out);
	print_bound(root, out);
	print_metrics(metrics_of(sweep), metrics, out);
	print_metrics(storage_metrics_of(sweep, ALL_WORKLOADS), metrics, out);
	print_workloads(sweep, root, out);
	fputc('\n', out);
	if (document)
		yaml_close(document);
	yaml_errors_free(&errors);
}

/* Columns between the values of a point and its metrics. */
#define RESULT_COLUMNS 6

static bool write_table(const struct sweep *sweep)
{
	char path[PATH_MAX], part[PATH_MAX + 8];
	snprintf(path, sizeof(path), "%.3000s/results.csv", sweep->folder);
	snprintf(part, sizeof(part), "%s" SWEEP_PART, path);
	FILE *out = fopen(part, "w");
	if (!out) {
		say("%s: %s", part, strerror(errno));
		return false;
	}
	sweep_columns_print_names(sweep, out);
	fprintf(out, "point,exit_code,name,bottleneck,lowest_bound_of,lowest_bound");
	for (const struct metric_info *info = metrics_of(sweep); info->name; info++)
		fprintf(out, ",%s", info->name);
	for (const struct metric_info *info = storage_metrics_of(sweep, ALL_WORKLOADS); info->name;
	     info++)
		fprintf(out, ",%s", info->name);
	print_workload_names(sweep, out);
	fputc('\n', out);
	for (size_t i = 0; i < sweep->count; i++)
		print_line(sweep, i, out);
	bool good = ferror(out) == 0;
	if (fclose(out) != 0 || !good || rename(part, path) != 0) {
		say("%s: %s", path, strerror(errno));
		unlink(part);
		return false;
	}
	fprintf(stderr, "%zu of %zu points, %s\n", sweep->done, sweep->count, path);
	return true;
}

/* Prints the lines of results.csv, each as a JSON object (--json). */
static bool print_json(const struct sweep *sweep)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	snprintf(path, sizeof(path), "%.3000s/results.csv", sweep->folder);
	struct table *results = table_read(path, error, sizeof(error));
	if (!results) {
		say("%s", error);
		return false;
	}
	for (size_t row = 0; row < results->rows; row++) {
		printf("%s\n  {", row > 0 ? "," : "[");
		for (size_t column = 0; column < results->columns; column++) {
			const char *text = table_cell(results, row, column);
			double number = table_number(results, row, column);
			printf("%s", column > 0 ? ", " : "");
			json_text(stdout, results->names[column]);
			printf(": ");
			if (*text == '\0')
				printf("null");
			else if (column == sweep_columns_count(sweep) || !isfinite(number))
				json_text(stdout, text); /* point: a name, digits or not */
			else
				printf("%.15g", number);
		}
		putchar('}');
	}
	printf("\n]\n");
	table_free(results);
	return true;
}

/* Writes the means over the seeds, if seeds are swept. */
static bool write_means(const struct sweep *sweep)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	size_t columns = sweep_columns_count(sweep), seed = columns;
	struct table *results;
	if (!sweep_columns_find_seed(sweep, &seed))
		return true;
	snprintf(path, sizeof(path), "%.3000s/results.csv", sweep->folder);
	results = table_read(path, error, sizeof(error));
	if (!results) {
		say("%s", error);
		return false;
	}
	snprintf(path, sizeof(path), "%.3000s/means.csv", sweep->folder);
	bool good = means_write(results, columns, seed, columns + RESULT_COLUMNS, path);
	if (!good)
		say("%s: %s", path, strerror(errno));
	table_free(results);
	return good;
}

bool sweep_table_write(const struct sweep *sweep)
{
	return write_table(sweep) && sweep_names_link(sweep) && write_means(sweep) &&
	       sweep_bins_write(sweep) && sweep_database_write(sweep) &&
	       (!sweep->arguments->json || print_json(sweep));
}
