/* SPDX-License-Identifier: Apache-2.0 */
/*
 * published_study: driver study: runs a scenario with a workload, as `hcasim run` does, and takes
 * one of its metrics. Keys:
 *
 * - scenario: file, relative to the row's file
 * - values: map of key paths and values that replace the file's, as for --set. Values of the case
 *   replace values of the row. Values of the original's size are applied last
 * - metric, or counter
 * - divide_by: a metric or counter of the same run
 * - times: a factor for the result
 * - seeds: number of runs whose mean is taken, with the scenario's seed and the following seeds.
 *   `middle: median` takes the median
 * - least_of: map of one key path with a list of values. Each value is a run, and the smallest
 *   result is taken
 */
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hcasim/command/progress.h"
#include "hcasim/command/published.h"
#include "hcasim/command/verb.h"
#include "hcasim/run/experiment.h"
#include "hcasim/schema/metrics.h"
#include "sim/counters.h"

enum { SEEDS_MAX = 1000, VALUES_MAX = 32, VALUE_BYTES = 512, PATH_BYTES = 4096 };

struct values {
	char texts[VALUES_MAX][VALUE_BYTES];
	const char *list[VALUES_MAX];
	size_t count;
};

static void add_values(struct values *values, struct yaml_node *map, struct yaml_errors *errors)
{
	if (!map || !yaml_expect_map(map, "{key.path: value}", errors))
		return;
	for (struct yaml_node *entry = map->children; entry; entry = entry->next) {
		const char *text = yaml_expect_text(entry, "a value, lists in quotes", errors);
		char *into = values->texts[values->count];

		entry->used = true;
		if (!text)
			continue;
		if (values->count == VALUES_MAX) {
			yaml_error(errors, entry, "more than %d values", VALUES_MAX);
			return;
		}
		snprintf(into, VALUE_BYTES, "%s=%s", entry->key, text);
		values->list[values->count++] = into;
	}
}

/* Scenario of a case: its file, and the values that replace values of the file. */
struct choice {
	char path[PATH_BYTES];
	struct values values;
};

static struct choice *choose(const struct published_settings *settings)
{
	struct yaml_node *name = published_get(settings, "scenario");
	struct choice *choice = calloc(1, sizeof(*choice));
	const char *slash = name ? strrchr(name->file, '/') : NULL;

	if (!choice)
		abort();
	if (settings->common)
		add_values(&choice->values, yaml_get(settings->common, "values"), settings->errors);
	if (settings->own)
		add_values(&choice->values, yaml_get(settings->own, "values"), settings->errors);
	if (settings->full)
		add_values(&choice->values, yaml_get(settings->full, "values"), settings->errors);
	if (settings->varied)
		add_values(&choice->values, yaml_get(settings->varied, "values"), settings->errors);
	if (name && yaml_expect_text(name, "a scenario's file", settings->errors))
		snprintf(choice->path, sizeof(choice->path), "%.*s%s",
			 slash ? (int)(slash - name->file) + 1 : 0, name->file, name->text);
	return choice;
}

/* Returns the choice as one text, which the caller frees. */
static char *describe(const struct choice *choice)
{
	size_t length;
	char *text = NULL;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		abort();
	fputs(choice->path, out);
	for (size_t i = 0; i < choice->values.count; i++)
		fprintf(out, "\n%s", choice->values.list[i]);
	fclose(out);
	return text;
}

/* Finds a counter by name, or else a metric. */
static bool find(const struct experiment *experiment, const struct build *build, const char *name,
		 double *value, char *error)
{
	const uint64_t *counter = counters_find(build->sim, name);

	if (!counter)
		return experiment_find(experiment, name, value, error, PUBLISHED_ERROR_BYTES);
	*value = (double)*counter;
	return true;
}

static bool take(const struct published_settings *settings, const struct experiment *experiment,
		 const struct build *build, double *ours, char *error)
{
	const char *divisor = published_text(settings, "divide_by", "");
	double under = 1;

	if (!find(experiment, build, published_text(settings, "metric", ""), ours, error) ||
	    (*divisor && !find(experiment, build, divisor, &under, error)))
		return false;
	*ours *= published_number(settings, "times", 1) / under;
	return true;
}

/* ---- runs kept for the next case: the last one complete, earlier ones as metrics only ---- */

struct kept_run {
	char *description; /* the choice of the run */
	struct scenario *scenario;
	struct build *build; /* NULL: only metrics are kept */
	struct experiment *experiment;
	bool good; /* the invariants held */
	double metrics[METRIC_COUNT];
	struct kept_run *before;
};

/* Frees everything except the metrics. */
static void strip(struct kept_run *run)
{
	if (run->experiment)
		experiment_destroy(run->experiment);
	if (run->build)
		build_destroy(run->build);
	scenario_destroy(run->scenario);
	run->experiment = NULL;
	run->build = NULL;
	run->scenario = NULL;
}

static void forget(struct kept_run *run)
{
	strip(run);
	free(run->description);
	free(run);
}

void published_study_forget(void *kept)
{
	for (struct kept_run *run = kept, *before; run; run = before) {
		before = run->before;
		forget(run);
	}
}

static void show(void *context, sim_time now, uint32_t done, uint32_t flows)
{
	progress_show(context, now, done, flows, "flows");
}

/* Returns the number of flows that failed or did not end. */
static void count_flows(const struct published_settings *settings, const struct kept_run *run)
{
	double flows = run->metrics[METRIC_flows];

	*settings->flows = fmax(*settings->flows, flows);
	*settings->unfinished =
		fmax(*settings->unfinished, flows - run->metrics[METRIC_flows_done]);
}

/* Returns NULL on failure, with the reason in *error or `errors`. */
static struct kept_run *make_run(const struct choice *choice, unsigned seed_offset,
				 struct yaml_errors *errors, char *error)
{
	struct kept_run *run = calloc(1, sizeof(*run));

	if (!run)
		abort();
	if (*choice->path)
		run->scenario = scenario_read(choice->path, choice->values.list,
					      choice->values.count, errors);
	if (!run->scenario) {
		snprintf(error, PUBLISHED_ERROR_BYTES, "the file has errors");
		free(run);
		return NULL;
	}
	run->description = describe(choice);
	run->scenario->seed += seed_offset;
	if (!run->scenario->has_workload)
		snprintf(error, PUBLISHED_ERROR_BYTES, "the scenario has no workload");
	else
		run->build = build_create(run->scenario, SIM_ENGINE_native, false, false, error,
					  PUBLISHED_ERROR_BYTES);
	if (run->build)
		run->experiment = experiment_create(run->build, error, PUBLISHED_ERROR_BYTES);
	if (!run->experiment) {
		forget(run);
		return NULL;
	}
	struct progress progress = progress_begin();

	experiment_advance(run->experiment, SIM_NEVER, show, &progress);
	progress_end(&progress);
	run->good = experiment_check(run->experiment, stderr) == 0;
	for (unsigned i = 0; i < METRIC_COUNT; i++) {
		char none[PUBLISHED_ERROR_BYTES];

		run->good &= experiment_find(run->experiment, metric_list[i].name, &run->metrics[i],
					     none, sizeof(none)) ||
			     isnan(run->metrics[i]);
	}
	return run;
}

static bool take_of(const struct published_settings *settings, const struct kept_run *run,
		    double *ours, char *error)
{
	count_flows(settings, run);
	if (run->good)
		return take(settings, run->experiment, run->build, ours, error);
	snprintf(error, PUBLISHED_ERROR_BYTES, "the run violates its invariants");
	return false;
}

/* Returns a kept run that has the metrics, or is complete if `is_metric` is false. Returns NULL if
 * there is none. */
static struct kept_run *find_kept(struct kept_run *run, const char *description, bool is_metric)
{
	while (run && (strcmp(description, run->description) != 0 || !(run->build || is_metric)))
		run = run->before;
	return run;
}

static bool take_kept(const struct published_settings *settings, const struct choice *choice,
		      double *ours, char *error)
{
	int metric = metric_index(metric_list, published_text(settings, "metric", ""));
	bool is_metric = metric >= 0 && !*published_text(settings, "divide_by", "");
	char *description = describe(choice);
	struct kept_run *run = find_kept(*settings->kept, description, is_metric);

	free(description);
	if (!run) {
		struct kept_run *last = *settings->kept;

		if (last)
			strip(last);
		run = make_run(choice, 0, settings->errors, error);
		if (!run)
			return false;
		run->before = last;
		*settings->kept = run;
	}
	if (run->build)
		return take_of(settings, run, ours, error);
	count_flows(settings, run);
	*ours = run->metrics[metric] * published_number(settings, "times", 1);
	if (!run->good)
		snprintf(error, PUBLISHED_ERROR_BYTES, "the run violates its invariants");
	else if (isnan(*ours))
		snprintf(error, PUBLISHED_ERROR_BYTES, "the run has no value of %s",
			 metric_list[metric].name);
	return run->good && !isnan(*ours);
}

/* Takes the smallest result of the runs with each value of a list. */
static bool take_least(const struct published_settings *settings, struct choice *choice,
		       struct yaml_node *map, double *ours, char *error)
{
	struct yaml_node *entry = map->children;
	bool good = entry && !entry->next && entry->children;
	size_t place = choice->values.count;

	if (!good || place == VALUES_MAX) {
		yaml_error(settings->errors, map, "expected {key.path: [value, value]}");
		return false;
	}
	entry->used = true;
	choice->values.count++;
	choice->values.list[place] = choice->values.texts[place];
	*ours = INFINITY;
	for (struct yaml_node *item = entry->children; item && good; item = item->next) {
		const char *text = yaml_expect_text(item, "a value", settings->errors);
		double value = INFINITY;

		item->used = true;
		snprintf(choice->values.texts[place], VALUE_BYTES, "%s=%s", entry->key,
			 text ? text : "");
		good = text && take_kept(settings, choice, &value, error);
		if (value < *ours)
			*ours = value;
	}
	return good;
}

static int compare(const void *one, const void *other)
{
	double a = *(const double *)one, b = *(const double *)other;

	return a < b ? -1 : a > b;
}

static double middle(bool median, double *values, size_t count)
{
	if (!median)
		return gsl_stats_mean(values, 1, count);
	qsort(values, count, sizeof(values[0]), compare);
	return gsl_stats_median_from_sorted_data(values, 1, count);
}

/* Takes the mean or median of runs with consecutive seeds, starting with the scenario's. */
static bool take_seeds(const struct published_settings *settings, const struct choice *choice,
		       unsigned seeds, double *ours, char *error)
{
	const char *which = published_text(settings, "middle", "mean");
	bool median = strcmp(which, "median") == 0;
	double values[SEEDS_MAX];
	bool good = median || strcmp(which, "mean") == 0;

	if (!good)
		snprintf(error, PUBLISHED_ERROR_BYTES, "middle: expected mean or median");
	for (unsigned i = 0; good && i < seeds; i++) {
		struct kept_run *run = make_run(choice, i, settings->errors, error);

		good = run && take_of(settings, run, &values[i], error);
		if (run)
			forget(run);
	}
	if (good)
		*ours = middle(median, values, seeds);
	return good;
}

/* Refuses keys that have no meaning, because they are mistakes. */
static bool knows_keys(const struct published_settings *settings)
{
	static const char *const known[] = {"scenario", "values", "metric", "divide_by",
					    "times",    "middle", "seeds",  "least_of"};
	struct yaml_node *maps[] = {settings->common, settings->own, settings->varied};

	for (size_t i = 0; i < ARRAY_SIZE(maps) && settings->errors->count == 0; i++) {
		if (!maps[i])
			continue;
		for (size_t k = 0; k < ARRAY_SIZE(known); k++)
			yaml_get(maps[i], known[k]);
		yaml_refuse_unused(maps[i], known, ARRAY_SIZE(known), settings->errors);
	}
	return settings->errors->count == 0;
}

bool published_study(const struct published_settings *settings, double *ours, char *error)
{
	if (!knows_keys(settings))
		return false;
	struct choice *choice = choose(settings);
	struct yaml_node *least = published_get(settings, "least_of");
	unsigned seeds = (unsigned)published_number(settings, "seeds", 1);
	bool good = seeds > 0 && seeds <= SEEDS_MAX;

	if (!good)
		snprintf(error, PUBLISHED_ERROR_BYTES, "seeds: expected 1..%d", SEEDS_MAX);
	else if (least)
		good = take_least(settings, choice, least, ours, error);
	else if (seeds == 1)
		good = take_kept(settings, choice, ours, error);
	else
		good = take_seeds(settings, choice, seeds, ours, error);
	free(choice);
	return good;
}
