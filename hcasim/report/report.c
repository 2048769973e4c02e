/* SPDX-License-Identifier: Apache-2.0 */
/* report: see report.h. JSON is YAML. */
#include "hcasim/report/report.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool report_has(const char *folder, const char *file, char *path)
{
	snprintf(path, PATH_MAX, "%.3000s/%s", folder, file);
	return access(path, R_OK) == 0;
}

struct yaml_document *report_read(struct report *report, const char *folder, const char *file)
{
	char path[PATH_MAX];
	struct yaml_errors errors = {0};
	snprintf(path, sizeof(path), "%.3000s/%s", folder, file);
	struct yaml_document *document = yaml_read_file(path, &errors);
	if (!document)
		snprintf(report->error, sizeof(report->error), "%s", yaml_errors_text(&errors));
	yaml_errors_free(&errors);
	return document;
}

char *report_read_text(const char *folder, const char *file, size_t bytes_max)
{
	char path[PATH_MAX];
	if (!report_has(folder, file, path))
		return NULL;
	FILE *in = fopen(path, "r");
	char *text = calloc(1, bytes_max + 1);
	if (!text)
		abort();
	if (!in || fread(text, 1, bytes_max, in) == 0) {
		free(text);
		text = NULL;
	}
	if (in)
		fclose(in);
	return text;
}

const struct yaml_node *report_entry(const struct yaml_node *map, const char *key)
{
	if (!map || map->kind != YAML_MAP)
		return NULL;
	for (const struct yaml_node *node = map->children; node; node = node->next) {
		if (strcmp(node->key, key) == 0)
			return node;
	}
	return NULL;
}

const char *report_text(const struct yaml_node *map, const char *key)
{
	const struct yaml_node *node = report_entry(map, key);
	return node && node->kind == YAML_SCALAR ? node->text : "";
}

double report_number(const struct yaml_node *map, const char *key)
{
	const char *text = report_text(map, key);
	char *end;
	double number = strtod(text, &end);
	return end == text ? (double)NAN : number;
}

/* "queues" of the run "a/wide" is "queues-a-wide". */
static void rename_of_run(struct chart *chart, const char *run)
{
	char *name, *title;
	if (asprintf(&name, "%s-%s", chart->name, run) < 0 ||
	    asprintf(&title, "%s: %s", run, chart->title) < 0)
		abort();
	for (char *at = name; *at; at++)
		*at = isalnum((unsigned char)*at) || strchr("._-=,", *at) ? *at : '-';
	free(chart->name);
	free(chart->title);
	chart->name = name;
	chart->title = title;
}

static bool is_wanted(const struct chart *chart, const char *only)
{
	char name[128];
	snprintf(name, sizeof(name), " %s ", chart->name);
	return !only || strstr(only, name);
}

void report_charts(struct report *report, struct charts *charts, const char *run, const char *only)
{
	size_t left = 0;
	for (size_t i = 0; i < charts->count; i++) {
		struct chart *chart = charts->list[i];
		if (!is_wanted(chart, only)) {
			charts->list[left++] = chart;
			continue;
		}
		if (run)
			rename_of_run(chart, run);
		report_page_chart(report->page, chart);
		charts_add(&report->pictures, chart);
	}
	charts->count = left;
	if (left == 0)
		charts_free(charts);
}
