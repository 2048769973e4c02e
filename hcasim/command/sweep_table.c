/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_table: the tables of a sweep.
 *
 *     DIR/results.csv    a line a point: its values, folder, exit code, name, bottleneck, then all metrics
 *     DIR/means.csv      their means over the seeds, if those are swept
 *     DIR/cost.csv       a line a run: CPU time, wall time, memory. It depends on the machine, so it is no part of the results
 *     DIR/by-name/NAME   a link to the folder of the point with these values: "threads=8,qps=2"
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/means.h"
#include "analysis/table.h"
#include "hcasim/command/sweep.h"
#include "hcasim/run/bottleneck.h"
#include "hcasim/schema/metrics.h"
#include "sim/json.h"

#define POINT_NAME_BYTES 200 /* a file may be called so */

static const struct metric_info *metrics_of(const struct sweep *sweep)
{
	return sweep->scenario->has_load ? load_metric_list : metric_list;
}

const struct scenario_sweep_value *sweep_value(const struct sweep *sweep, size_t point,
					       uint32_t axis)
{
	const struct scenario *scenario = sweep->scenario;
	for (uint32_t i = scenario->axis_count - 1; i > axis; i--)
		point /= scenario->axes[i].count;
	return &scenario->axes[axis].values[point % scenario->axes[axis].count];
}

void sweep_path(const struct sweep *sweep, size_t point, const char *file, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%.3000s/%s%s", sweep->folder, sweep->points[point].name, file);
}

double sweep_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- names ---- */

/* The last part of the axis's key, or all of it where another axis ends alike. */
static const char *short_key(const struct scenario *scenario, uint32_t axis)
{
	const char *path = scenario->axes[axis].path, *dot = strrchr(path, '.');
	if (!dot || dot[1] == '\0')
		return path;
	for (uint32_t i = 0; i < scenario->axis_count; i++) {
		const char *other = strrchr(scenario->axes[i].path, '.');
		other = other ? other + 1 : scenario->axes[i].path;
		if (i != axis && strcmp(other, dot + 1) == 0)
			return path;
	}
	return dot + 1;
}

struct text {
	char *bytes;
	size_t length;
};

/* What a file's name may well have; other letters are left out. */
static void add(struct text *text, const char *more)
{
	for (; *more && text->length + 1 < POINT_NAME_BYTES; more++)
		if (isalnum((unsigned char)*more) || strchr(".,=+-_", *more))
			text->bytes[text->length++] = *more;
	text->bytes[text->length] = '\0';
}

/* "threads=8,qps=2". Of a map, what it sets below the axis's key: "pcie.lanes=8,pcie.generation=3". */
static void name_point(const struct sweep *sweep, size_t point, char name[POINT_NAME_BYTES])
{
	struct text text = {.bytes = name};
	add(&text, "");
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		const struct scenario_sweep_value *value = sweep_value(sweep, point, i);
		const char *path = sweep->scenario->axes[i].path;
		size_t above = strcmp(path, ".") == 0 ? 0 : strlen(path) + 1;
		if (*value->text != '{') {
			add(&text, text.length > 0 ? "," : "");
			add(&text, short_key(sweep->scenario, i));
			add(&text, "=");
			add(&text, value->text);
			continue;
		}
		for (char **set = value->sets; *set; set++) {
			add(&text, text.length > 0 ? "," : "");
			add(&text, *set + above);
		}
	}
	if (text.length == 0)
		add(&text, "as-the-file");
}

static bool write_links(const struct sweep *sweep)
{
	char folder[PATH_MAX], link[PATH_MAX + POINT_NAME_BYTES + 32], name[POINT_NAME_BYTES];
	char target[32], found[32];
	snprintf(folder, sizeof(folder), "%.3000s/by-name", sweep->folder);
	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", folder, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < sweep->count; i++) {
		if (!sweep->points[i].finished)
			continue;
		name_point(sweep, i, name);
		snprintf(target, sizeof(target), "../%s", sweep->points[i].name);
		snprintf(link, sizeof(link), "%s/%s", folder, name);
		ssize_t length = readlink(link, found, sizeof(found) - 1);
		found[length > 0 ? length : 0] = '\0';
		if (length > 0 && strcmp(found, target) == 0)
			continue;
		if (length > 0) /* values that differ in what a name leaves out */
			snprintf(link, sizeof(link), "%s/%s,%s", folder, name,
				 sweep->points[i].name);
		if (symlink(target, link) != 0 && errno != EEXIST) {
			say("%s: %s", link, strerror(errno));
			return false;
		}
	}
	return true;
}

/* ---- cost ---- */

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

void sweep_add_cost(const struct sweep *sweep, size_t point, const struct rusage *usage)
{
	char path[PATH_MAX], name[POINT_NAME_BYTES];
	snprintf(path, sizeof(path), "%.3000s/cost.csv", sweep->folder);
	FILE *out = fopen(path, "a");
	if (!out)
		return; /* results.csv, in the same folder, will say why */
	fseek(out, 0, SEEK_END);
	if (ftell(out) == 0)
		fprintf(out, "point,name,cpu_seconds,wall_seconds,peak_memory_mb\n");
	name_point(sweep, point, name);
	fprintf(out, "%s,", sweep->points[point].name);
	table_print_field(name, out);
	fprintf(out, ",%.3f,%.3f,%.1f\n", seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime),
		sweep_seconds() - sweep->points[point].began, (double)usage->ru_maxrss / 1024);
	fclose(out);
}

/* ---- results ---- */

/* What limited the run: the first of its uses, which is the cause, or "none". */
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

/* What the point's summary says; JSON is YAML. */
static void print_line(const struct sweep *sweep, size_t point, FILE *out)
{
	char path[PATH_MAX], name[POINT_NAME_BYTES];
	struct yaml_errors errors = {0};
	sweep_path(sweep, point, "/summary.json", path);
	struct yaml_document *document = yaml_read_file(path, &errors);
	struct yaml_node *root = document ? yaml_root(document) : NULL;
	struct yaml_node *code = root ? yaml_get(root, "exit_code") : NULL;
	struct yaml_node *metrics = root ? yaml_get(root, "metrics") : NULL;
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		table_print_field(sweep_value(sweep, point, i)->text, out);
		fputc(',', out);
	}
	name_point(sweep, point, name);
	fprintf(out, "%s,%s,", sweep->points[point].name,
		code && code->kind == YAML_SCALAR ? code->text : "");
	table_print_field(name, out);
	fputc(',', out);
	print_bottleneck(root, out);
	for (const struct metric_info *info = metrics_of(sweep); info->name; info++) {
		struct yaml_node *metric = metrics ? yaml_get(metrics, info->name) : NULL;
		fprintf(out, ",%s", metric && metric->kind == YAML_SCALAR ? metric->text : "");
	}
	fputc('\n', out);
	if (document)
		yaml_close(document);
	yaml_errors_free(&errors);
}

/* Between the values of a point and its metrics: point, exit_code, name, bottleneck. */
#define RESULT_COLUMNS 4

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
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		table_print_field(sweep->scenario->axes[i].path, out);
		fputc(',', out);
	}
	fprintf(out, "point,exit_code,name,bottleneck");
	for (const struct metric_info *info = metrics_of(sweep); info->name; info++)
		fprintf(out, ",%s", info->name);
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

/* --json: the lines of results.csv, each an object. */
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
			else if (column == sweep->scenario->axis_count || !isfinite(number))
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

/* Over the seeds, if they are swept. */
static bool write_means(const struct sweep *sweep)
{
	char path[PATH_MAX], error[PATH_MAX + 128];
	uint32_t axes = sweep->scenario->axis_count, seed = 0;
	struct table *results;
	while (seed < axes && strcmp(sweep->scenario->axes[seed].path, "seed") != 0)
		seed++;
	if (seed == axes)
		return true;
	snprintf(path, sizeof(path), "%.3000s/results.csv", sweep->folder);
	results = table_read(path, error, sizeof(error));
	if (!results) {
		say("%s", error);
		return false;
	}
	snprintf(path, sizeof(path), "%.3000s/means.csv", sweep->folder);
	bool good = means_write(results, axes, seed, axes + RESULT_COLUMNS, path);
	if (!good)
		say("%s: %s", path, strerror(errno));
	table_free(results);
	return good;
}

bool sweep_write(const struct sweep *sweep)
{
	return write_table(sweep) && write_links(sweep) && write_means(sweep) &&
	       (!sweep->arguments->json || print_json(sweep));
}
