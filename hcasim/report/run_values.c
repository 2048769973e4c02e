/* SPDX-License-Identifier: Apache-2.0 */
/* run_values: see run_values.h. JSON is YAML. */
#include "hcasim/report/run_values.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hca/work/latency_stages.h"
#include "hcasim/record/counter_lists.h"
#include "hcasim/run/bottleneck.h"
#include "hcasim/schema/metrics.h"

#define NAME_BYTES 512

static const char *text_of(struct yaml_node *map, const char *key)
{
	struct yaml_node *node = yaml_get(map, key);
	return node && node->kind == YAML_SCALAR ? node->text : "";
}

static double number_of(struct yaml_node *map, const char *key)
{
	return strtod(text_of(map, key), NULL);
}

void run_values_add_tree(struct values *values, const char *name, const struct yaml_node *node)
{
	char below[NAME_BYTES];
	unsigned number = 0;
	if (node->kind == YAML_SCALAR)
		differences_add(values, name, "", node->text);
	for (const struct yaml_node *child = node->children; child; child = child->next) {
		const char *dot = *name != '\0' ? "." : "";
		if (node->kind == YAML_MAP)
			snprintf(below, sizeof(below), "%s%s%s", name, dot, child->key);
		else
			snprintf(below, sizeof(below), "%s%s%u", name, dot, number++);
		run_values_add_tree(values, below, child);
	}
}

/* Reads the settings without `expect`, which does not affect a run. */
static void read_settings(struct run_values *run, struct yaml_node *root)
{
	for (const struct yaml_node *key = root->children; key; key = key->next) {
		if (strcmp(key->key, "expect") != 0)
			run_values_add_tree(&run->settings, key->key, key);
	}
}

static const char *unit_of(const char *metric)
{
	const struct metric_info *const lists[] = {metric_list, metric_load_list,
						   metric_workload_list, metric_storage_list};
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		int index = metric_index(lists[i], metric);
		if (index >= 0)
			return lists[i][index].unit;
	}
	return "";
}

/* Adds the metrics of the whole run, or of a workload, whose name then stands before theirs. */
static void add_metrics(struct values *values, const char *workload, const struct yaml_node *node)
{
	char name[NAME_BYTES];
	for (const struct yaml_node *metric = node ? node->children : NULL; metric;
	     metric = metric->next) {
		snprintf(name, sizeof(name), "%s%s%s", workload, *workload != '\0' ? "." : "",
			 metric->key);
		if (metric->kind == YAML_SCALAR)
			differences_add(values, name, unit_of(metric->key), metric->text);
	}
}

static void read_summary(struct run_values *run, struct yaml_node *root)
{
	char text[64];
	snprintf(text, sizeof(text), "%.6f", number_of(root, "time_ps") / (double)US);
	differences_add(&run->metrics, "time", "us", text);
	struct yaml_node *workloads = yaml_get(root, "workloads"), *uses = yaml_get(root, "uses");
	add_metrics(&run->metrics, "", yaml_get(root, "metrics"));
	for (struct yaml_node *workload = workloads ? workloads->children : NULL; workload;
	     workload = workload->next)
		add_metrics(&run->metrics, workload->key, workload);
	for (struct yaml_node *use = uses ? uses->children : NULL; use; use = use->next) {
		snprintf(text, sizeof(text), "%.1f", 100 * number_of(use, "use"));
		differences_add(&run->uses, text_of(use, "name"), "%", text);
		if (!run->bottleneck &&
		    asprintf(&run->bottleneck, "%s%s %s %%: %s",
			     number_of(use, "use") < BOTTLENECK_LEAST ? "none; most used: " : "",
			     text_of(use, "name"), text, text_of(use, "meaning")) < 0)
			abort();
	}
}

/* Returns the sum of a counter of the `latency` blocks of all adapters. */
static double sum_of(struct yaml_node *blocks, const char *counter)
{
	double sum = 0;
	for (struct yaml_node *block = blocks->children; block; block = block->next) {
		if (strcmp(text_of(block, "type"), "latency") == 0)
			sum += number_of(yaml_get(block, "counters"), counter);
	}
	return sum;
}

static void add_mean(struct values *stages, struct yaml_node *blocks, const char *stage,
		     const char *counter, double requests)
{
	char text[64];
	double sum = sum_of(blocks, counter);
	snprintf(text, sizeof(text), "%.3f", sum / requests / (double)NS);
	differences_add(stages, stage, "ns", text);
}

static void read_stages(struct run_values *run, struct yaml_node *blocks)
{
	double sends = sum_of(blocks, "completions"), receives = sum_of(blocks, "received");
#define SEND(name, field, end) add_mean(&run->sends, blocks, #field, #field, sends);
#define RECEIVE(name, field, end) \
	add_mean(&run->receives, blocks, #field, "received_" #field, receives);
	if (sends > 0) {
		LATENCY_STAGES(SEND)
		add_mean(&run->sends, blocks, "latency", "latency", sends);
	}
	if (receives > 0) {
		RECEIVE_STAGES(RECEIVE)
		add_mean(&run->receives, blocks, "latency", "received_latency", receives);
	}
#undef SEND
#undef RECEIVE
}

static void read_counters(struct run_values *run, struct yaml_node *blocks)
{
	char name[NAME_BYTES];
	for (struct yaml_node *block = blocks->children; block; block = block->next) {
		const char *type = text_of(block, "type");
		struct yaml_node *counters = yaml_get(block, "counters");
		struct yaml_node *first = counters ? counters->children : NULL;
		if (strcmp(type, "latency") == 0)
			continue;
		for (struct yaml_node *value = first; value; value = value->next) {
			const struct counter *counter = counter_list_find(type, value->key);
			snprintf(name, sizeof(name), "%s.%s", block->key, value->key);
			if (value->kind == YAML_SCALAR)
				differences_add(&run->counters, name, counter ? counter->unit : "",
						value->text);
		}
	}
	read_stages(run, blocks);
}

typedef void read_root(struct run_values *run, struct yaml_node *root);

/* Reads one file of the folder. Returns false and writes the reason to *error on failure. */
static bool read_file(const char *folder, const char *name, read_root *read, struct run_values *run,
		      char *error, size_t error_bytes)
{
	char path[PATH_MAX];
	struct yaml_errors errors = {0};
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	struct yaml_document *document = yaml_read_file(path, &errors);
	bool good = document && yaml_root(document)->kind == YAML_MAP;
	bool old = good && yaml_get(yaml_root(document), "figures");
	if (good && !old)
		read(run, yaml_root(document));
	else if (old)
		snprintf(error, error_bytes,
			 "%s: an older version of hcasim wrote this folder (\"figures\"); expected "
			 "\"metrics\"; run its scenario.yaml again",
			 path);
	else
		snprintf(error, error_bytes,
			 "%sexpected the result folder of a run (--out), with its %s",
			 errors.kept > 0 ? yaml_errors_text(&errors) : "", name);
	yaml_close(document);
	yaml_errors_free(&errors);
	return good && !old;
}

bool run_values_read(const char *folder, struct run_values *run, char *error, size_t error_bytes)
{
	char counters[PATH_MAX];
	*run = (struct run_values){0};
	snprintf(counters, sizeof(counters), "%s/counters.json", folder);
	return read_file(folder, "summary.json", read_summary, run, error, error_bytes) &&
	       read_file(folder, "scenario.yaml", read_settings, run, error, error_bytes) &&
	       (access(counters, F_OK) != 0 || /* record: {counters: false} */
		read_file(folder, "counters.json", read_counters, run, error, error_bytes));
}

void run_values_free(struct run_values *run)
{
	differences_free_values(&run->settings);
	differences_free_values(&run->metrics);
	differences_free_values(&run->uses);
	differences_free_values(&run->sends);
	differences_free_values(&run->receives);
	differences_free_values(&run->counters);
	free(run->bottleneck);
}
