/* SPDX-License-Identifier: Apache-2.0 */
/* run_sections: see run_sections.h. */
#include "hcasim/report/run_sections.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/flow_charts.h"
#include "analysis/run_charts.h"
#include "hcasim/record/counter_lists.h"
#include "hcasim/report/flow_table_section.h"
#include "hcasim/report/published_section.h"
#include "hcasim/report/stage_charts.h"
#include "hcasim/report/topology_map.h"
#include "hcasim/run/bottleneck.h"
#include "hcasim/schema/metrics.h"

#define COUNTERS_MAX 3000 /* rows of the table */
#define TEXT_BYTES   512

/* clang-format off */
/* Metrics that summarise a run in one line, in this order. Metrics that the run lacks are left out.
 * X(name, label) */
#define HEADLINES(X)                                                                    \
	X(iops,          "IOPS")            X(latency_p50_us, "median operation")       \
	X(latency_p99_us, "99th percentile operation") X(cpu_us, "cores of an operation") \
	X(flows_done,    "flows done")      X(goodput_gbps,  "goodput")                 \
	X(fct_p50_us,    "median FCT")      X(fct_p99_us,    "99th percentile FCT")     \
	X(slowdown_p50,  "median slowdown") X(slowdown_p99,  "99th percentile slowdown") \
	X(mops,          "work requests")   X(gbps,          "data")                    \
	X(median_ns,     "median latency")  X(p99_ns,        "99th percentile latency") \
	X(drops,         "packets lost")    X(pauses,        "pause frames")
/* clang-format on */

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

static void add_number_tile(struct report_page *page, const char *label, double value,
			    const char *unit)
{
	char text[64];
	bool counted = strcmp(unit, "flows") == 0 || strcmp(unit, "packets") == 0;
	snprintf(text, sizeof(text), fabs(value) >= 1000 ? "%.0f" : "%.4g", value);
	report_page_tile(page, label, text, counted ? "" : unit, "");
}

/* ---- verdicts ---- */

static size_t count_of(const struct yaml_node *list)
{
	size_t count = 0;
	for (const struct yaml_node *entry = list ? list->children : NULL; entry;
	     entry = entry->next)
		count++;
	return count;
}

static void add_verdict_tiles(struct report_page *page, const struct yaml_node *summary)
{
	const struct yaml_node *expectations = report_entry(summary, "expectations");
	size_t count = count_of(expectations), met = 0;
	size_t broken = count_of(report_entry(summary, "violations"));
	char text[64];
	for (const struct yaml_node *one = expectations ? expectations->children : NULL; one;
	     one = one->next)
		met += strcmp(report_text(one, "met"), "true") == 0;
	snprintf(text, sizeof(text), "%zu of %zu", met, count);
	if (count > 0)
		report_page_tile(page, "expectations met", text, "", met == count ? "good" : "bad");
	snprintf(text, sizeof(text), "%zu", broken);
	report_page_tile(page, "laws violated", text, "", broken == 0 ? "good" : "bad");
	report_page_tile(page, "exit code", report_text(summary, "exit_code"), "",
			 strcmp(report_text(summary, "exit_code"), "0") == 0 ? "good" : "bad");
}

static void add_headlines(struct report_page *page, const struct yaml_node *summary)
{
	static const char *const names[][2] = {
#define HEADLINE(name, label) {#name, label},
		HEADLINES(HEADLINE)
#undef HEADLINE
	};
	const struct yaml_node *metrics = report_entry(summary, "metrics");
	add_number_tile(page, "simulated time", report_number(summary, "time_ps") / 1e6, "us");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		double value = report_number(metrics, names[i][0]);
		const struct metric_info *info = info_of(names[i][0]);
		if (isfinite(value))
			add_number_tile(page, names[i][1], value, info ? info->unit : "");
	}
}

/* Returns the most used resource as a text. */
static void add_bottleneck(struct report_page *page, const struct yaml_node *summary)
{
	const struct yaml_node *uses = report_entry(summary, "uses");
	const struct yaml_node *first = uses ? uses->children : NULL;
	char text[TEXT_BYTES];
	if (!first)
		return;
	double use = report_number(first, "use");
	snprintf(text, sizeof(text), "%s %s, %.1f %% of the time with work. %s",
		 use < BOTTLENECK_LEAST ? "No bottleneck. Used most:" : "Bottleneck:",
		 report_text(first, "name"), 100 * use, report_text(first, "meaning"));
	report_page_text(page, text);
}

/* Writes for example "at least 0.9": the bounds of the n-th expectation of the configuration. */
static void print_bounds(const struct yaml_node *expect, size_t number, char *text, size_t bytes)
{
	static const struct {
		const char *key, *words;
	} bounds[] = {{"equals", ""}, {"at_least", "at least "}, {"at_most", "at most "}};
	const struct yaml_node *entry = expect ? expect->children : NULL;
	size_t used = 0;
	while (entry && number-- > 0)
		entry = entry->next;
	*text = '\0';
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]) && used < bytes; i++) {
		double bound = report_number(entry, bounds[i].key);
		if (isfinite(bound))
			used += (size_t)snprintf(text + used, bytes - used, "%s%s%.9g",
						 used > 0 ? ", " : "", bounds[i].words, bound);
	}
}

static void add_expectations(struct report *report, const struct yaml_node *summary,
			     const struct yaml_node *scenario)
{
	static const char *const columns[] = {"Expectation", "Expected:number", "Measured:number",
					      "Unit",        "Published row",   "Verdict:verdict",
					      NULL};
	const struct yaml_node *list = report_entry(summary, "expectations");
	size_t number = 0;
	char text[TEXT_BYTES];
	if (count_of(list) == 0)
		return;
	report_page_table(report->page, "Expectations", columns);
	for (const struct yaml_node *one = list->children; one; one = one->next) {
		const char *metric = report_text(one, "metric");
		const struct metric_info *info = info_of(metric);
		report_page_cell(report->page, *metric ? metric : report_text(one, "counter"));
		print_bounds(report_entry(scenario, "expect"), number++, text, sizeof(text));
		report_page_cell(report->page, text);
		report_page_cell(report->page, report_text(one, "value"));
		report_page_cell(report->page, info ? info->unit : "");
		report_page_cell(report->page, report_text(one, "row"));
		report_page_cell(report->page,
				 strcmp(report_text(one, "met"), "true") == 0 ? "met" : "not met");
	}
	report_page_table_end(report->page);
}

static void add_violations(struct report *report, const struct yaml_node *summary)
{
	static const char *const columns[] = {"Violated law", NULL};
	const struct yaml_node *list = report_entry(summary, "violations");
	if (count_of(list) == 0)
		return;
	report_page_table(report->page, "Laws that every run must obey", columns);
	for (const struct yaml_node *one = list->children; one; one = one->next)
		report_page_cell(report->page, one->kind == YAML_SCALAR ? one->text : "");
	report_page_table_end(report->page);
}

bool run_sections_verdicts(struct report *report, const struct report_run *run, bool alone)
{
	struct yaml_document *summary = report_read(report, run->folder, "summary.json");
	struct yaml_document *scenario =
		summary ? report_read(report, run->folder, "scenario.yaml") : NULL;
	if (scenario) {
		report_page_section(report->page, alone ? "At a glance" : run->name, "");
		add_verdict_tiles(report->page, yaml_root(summary));
		add_headlines(report->page, yaml_root(summary));
		add_bottleneck(report->page, yaml_root(summary));
		add_violations(report, yaml_root(summary));
		add_expectations(report, yaml_root(summary), yaml_root(scenario));
	}
	yaml_close(summary);
	yaml_close(scenario);
	return *report->error == '\0';
}

/* ---- pictures ---- */

static bool add_flows(struct report *report, const struct report_run *runs, size_t count)
{
	struct charted_run charted[2] = {{0}};
	struct flow_table_row rows[2] = {{0}};
	struct charts charts = {0};
	for (size_t i = 0; i < count; i++)
		charted[i] = (struct charted_run){runs[i].name, runs[i].folder};
	bool good = flow_charts_add(&charts, charted, count, report->error, sizeof(report->error));
	report_page_section(report->page, "Flows",
			    "The slowdown of a flow is its completion time over the time in an "
			    "otherwise idle fabric.");
	for (size_t i = 0; good && i < count; i++)
		rows[i] = (struct flow_table_row){runs[i].name, &charted[i].folder, 1};
	good = good && flow_table_section_add(report, rows, count, false);
	report_charts(report, &charts, NULL, NULL);
	return good;
}

static bool add_requests(struct report *report, const struct report_run *runs,
			 const struct run_values *values, size_t count)
{
	struct charts charts = {0};
	char path[PATH_MAX];
	report_page_section(report->page, "Latency of work requests",
			    "Stages follow each other without a gap. Their sum is the latency.");
	stage_charts_add(&charts, runs, values, count);
	report_charts(report, &charts, NULL, NULL);
	for (size_t i = 0; i < count && *report->error == '\0'; i++) {
		if (report_has(runs[i].folder, "trace.bin", path) &&
		    stage_charts_add_trace(&charts, path, report->error, sizeof(report->error)))
			report_charts(report, &charts, count > 1 ? runs[i].name : NULL, NULL);
	}
	return *report->error == '\0';
}

/* Adds the numbers beside the picture. */
static void add_bounds_table(struct report *report, const struct yaml_node *bounds, const char *run)
{
	static const char *const columns[] = {"Resource", "Bound:number", "Unit",
					      "Measured share of it:number", NULL};
	const struct yaml_node *resources = report_entry(bounds, "resources");
	double measured = report_number(bounds, "measured");
	char text[TEXT_BYTES];
	if (count_of(resources) == 0)
		return;
	snprintf(text, sizeof(text), "%s%sBounds, measured: %.4g %s of %s", run ? run : "",
		 run ? ": " : "", measured, report_text(bounds, "unit"),
		 report_text(bounds, "operation"));
	report_page_table(report->page, text, columns);
	for (const struct yaml_node *one = resources->children; one; one = one->next) {
		double bound = report_number(one, "bound");
		report_page_cell(report->page, report_text(one, "name"));
		snprintf(text, sizeof(text), "%.4g", bound);
		report_page_cell(report->page, text);
		report_page_cell(report->page, report_text(bounds, "unit"));
		snprintf(text, sizeof(text), "%.1f %%", 100 * measured / bound);
		report_page_cell(report->page, text);
	}
	report_page_table_end(report->page);
}

static bool add_resources(struct report *report, struct charts *charts,
			  const struct report_run *runs, size_t count)
{
	report_page_section(report->page, "Resources",
			    "A resource near 100 % limits the run. A bound is the maximum rate "
			    "that a resource alone allows.");
	for (size_t i = 0; i < count; i++) {
		const char *run = count > 1 ? runs[i].name : NULL;
		struct yaml_document *summary = report_read(report, runs[i].folder, "summary.json");
		report_charts(report, &charts[i], run, " uses bounds ");
		if (summary)
			add_bounds_table(report, report_entry(yaml_root(summary), "bounds"), run);
		yaml_close(summary);
	}
	return *report->error == '\0';
}

bool run_sections_pictures(struct report *report, const struct report_run *runs,
			   const struct run_values *values, size_t count)
{
	struct charts charts[2] = {{0}, {0}};
	bool good = add_flows(report, runs, count);
	for (size_t i = 0; good && i < count; i++)
		good = run_charts_add(&charts[i], runs[i].folder, report->error,
				      sizeof(report->error));
	report_page_section(report->page, "Ports over time",
			    "Drag over a picture to zoom in. "
			    "Double-click to see all again.");
	for (size_t i = 0; good && i < count; i++)
		report_charts(report, &charts[i], count > 1 ? runs[i].name : NULL,
			      " queues queues-by-priority inputs rates links pauses ");
	report_page_section(report->page, "Chosen flows over time", "");
	for (size_t i = 0; good && i < count; i++)
		report_charts(report, &charts[i], count > 1 ? runs[i].name : NULL,
			      " flow-goodput flow-rates flow-windows flow-inflight flow-rtts ");
	report_page_section(report->page, "Topology", "");
	for (size_t i = 0; good && i < count; i++)
		good = topology_map_add(report, runs[i].folder, count > 1 ? runs[i].name : NULL);
	good = good && add_requests(report, runs, values, count) &&
	       add_resources(report, charts, runs, count);
	for (size_t i = 0; i < count; i++)
		charts_free(&charts[i]);
	return good;
}

/* ---- tables ---- */

static void add_metrics(struct report *report, const struct yaml_node *metrics)
{
	static const char *const columns[] = {"Metric", "Value:number", "Unit", "Meaning", NULL};
	if (count_of(metrics) == 0)
		return;
	report_page_section(report->page, "Metrics", "");
	report_page_table(report->page, "", columns);
	for (const struct yaml_node *metric = metrics->children; metric; metric = metric->next) {
		const struct metric_info *info = info_of(metric->key);
		report_page_cell(report->page, metric->key);
		report_page_cell(report->page, metric->kind == YAML_SCALAR ? metric->text : "");
		report_page_cell(report->page, info ? info->unit : "");
		report_page_cell(report->page, info ? info->meaning : "");
	}
	report_page_table_end(report->page);
}

/* Adds the metrics of each of several workloads, one line per workload. */
static void add_workloads(struct report *report, const struct yaml_node *workloads)
{
	static const char *const shown[] = {"flows",        "flows_done",   "flows_failed",
					    "goodput_gbps", "fct_p50_us",   "fct_p99_us",
					    "slowdown_p50", "slowdown_p99", NULL};
	static const char *const columns[] = {"Workload",
					      "Flows:number",
					      "Done:number",
					      "Failed:number",
					      "Goodput (Gb/s):number",
					      "Median FCT (us):number",
					      "99th percentile FCT (us):number",
					      "Median slowdown:number",
					      "99th percentile slowdown:number",
					      NULL};
	if (count_of(workloads) == 0)
		return;
	report_page_section(report->page, "Workloads", "");
	report_page_table(report->page, "", columns);
	for (const struct yaml_node *one = workloads->children; one; one = one->next) {
		report_page_cell(report->page, one->key);
		for (const char *const *name = shown; *name; name++)
			report_page_cell(report->page, report_text(one, *name));
	}
	report_page_table_end(report->page);
}

/* Adds the counters of one block. Returns their number. */
static size_t add_block(struct report *report, const struct yaml_node *block)
{
	const struct yaml_node *counters = report_entry(block, "counters");
	size_t count = 0;
	for (const struct yaml_node *one = counters ? counters->children : NULL; one;
	     one = one->next) {
		const struct counter *counter =
			counter_list_find(report_text(block, "type"), one->key);
		if (one->kind != YAML_SCALAR || strcmp(one->text, "0") == 0)
			continue;
		report_page_cell(report->page, block->key);
		report_page_cell(report->page, one->key);
		report_page_cell(report->page, one->text);
		report_page_cell(report->page, counter ? counter->unit : "");
		report_page_cell(report->page, counter ? counter->meaning : "");
		count++;
	}
	return count;
}

static bool add_counters(struct report *report, const char *folder)
{
	static const char *const columns[] = {"Block", "Counter", "Value:number",
					      "Unit",  "Meaning", NULL};
	char path[PATH_MAX];
	size_t count = 0;
	if (!report_has(folder, "counters.json", path))
		return true;
	struct yaml_document *document = report_read(report, folder, "counters.json");
	if (!document)
		return false;
	report_page_section(report->page, "Counters", "Counters that are 0 are left out.");
	report_page_table(report->page, "", columns);
	const struct yaml_node *block = yaml_root(document)->children;
	for (; block && count < COUNTERS_MAX; block = block->next)
		count += add_block(report, block);
	report_page_table_end(report->page);
	if (block)
		report_page_text(report->page, "More blocks are in counters.json.");
	yaml_close(document);
	return true;
}

bool run_sections_tables(struct report *report, const struct report_run *run)
{
	struct yaml_document *summary = report_read(report, run->folder, "summary.json");
	if (!summary)
		return false;
	add_workloads(report, report_entry(yaml_root(summary), "workloads"));
	bool good = published_section_add(report, yaml_root(summary));
	add_metrics(report, report_entry(yaml_root(summary), "metrics"));
	yaml_close(summary);
	return good && add_counters(report, run->folder);
}
