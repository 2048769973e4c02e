/*
 * published_study: runs a scenario with a workload, as `hcasim run` does, and takes one of its figures. Keys: scenario
 * (beside the row's file), values (a map of key paths and values that replace the file's, as --set takes them; the case's
 * own after those of the row), figure or counter, divide_by (the same, of the same run), times (it is multiplied),
 * seeds (the mean of so many runs, with the scenario's seed and those that follow it; `middle: median` takes their median).
 */
#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/runner/published.h"
#include "scenarios/runner/verb.h"
#include "scenarios/trial.h"
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

/* The case's scenario: its file, and what replaces its values. */
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
	if (name && yaml_expect_text(name, "a scenario's file", settings->errors))
		snprintf(choice->path, sizeof(choice->path), "%.*s%s",
			 slash ? (int)(slash - name->file) + 1 : 0, name->file, name->text);
	return choice;
}

/* All of it as one text; the caller's. */
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

/* What `key` names: a counter if it has the name of one, or else a figure. */
static bool find(const struct trial *trial, const struct build *build, const char *name,
		 double *value, char *why)
{
	const uint64_t *counter = counters_find(build->sim, name);

	if (!counter)
		return trial_find(trial, name, value, why, PUBLISHED_WHY_BYTES);
	*value = (double)*counter;
	return true;
}

static bool take(const struct published_settings *settings, const struct trial *trial,
		 const struct build *build, double *ours, char *why)
{
	const char *divisor = published_text(settings, "divide_by", "");
	double under = 1;

	if (!find(trial, build, published_text(settings, "figure", ""), ours, why) ||
	    (*divisor && !find(trial, build, divisor, &under, why)))
		return false;
	*ours *= published_number(settings, "times", 1) / under;
	return true;
}

/* ---- the run, kept for the next case: it may take another figure of it ---- */

struct kept_run {
	char *description; /* of the choice that it is of */
	struct scenario *scenario;
	struct build *build;
	struct trial *trial;
	bool good; /* what must always hold did */
};

void published_study_forget(void *kept)
{
	struct kept_run *run = kept;

	if (run->trial)
		trial_destroy(run->trial);
	if (run->build)
		build_destroy(run->build);
	scenario_destroy(run->scenario);
	free(run->description);
	free(run);
}

/* NULL: not to be had, and *why or the errors say why. */
static struct kept_run *make_run(const struct choice *choice, unsigned seed_offset,
				 struct yaml_errors *errors, char *why)
{
	struct kept_run *run = calloc(1, sizeof(*run));

	if (!run)
		abort();
	if (*choice->path)
		run->scenario = scenario_read(choice->path, choice->values.list,
					      choice->values.count, errors);
	if (!run->scenario) {
		snprintf(why, PUBLISHED_WHY_BYTES, "the file is wrong");
		free(run);
		return NULL;
	}
	run->description = describe(choice);
	run->scenario->seed += seed_offset;
	if (!run->scenario->has_workload)
		snprintf(why, PUBLISHED_WHY_BYTES, "the scenario has no workload");
	else
		run->build = build_create(run->scenario, SIM_KERNEL_native, false, false, why,
					  PUBLISHED_WHY_BYTES);
	if (run->build)
		run->trial = trial_create(run->build, why, PUBLISHED_WHY_BYTES);
	if (!run->trial) {
		published_study_forget(run);
		return NULL;
	}
	trial_run(run->trial, NULL, NULL);
	run->good = trial_check(run->trial, stderr) == 0;
	return run;
}

static bool take_of(const struct published_settings *settings, const struct kept_run *run,
		    double *ours, char *why)
{
	if (run->good)
		return take(settings, run->trial, run->build, ours, why);
	snprintf(why, PUBLISHED_WHY_BYTES, "what must always hold does not");
	return false;
}

static bool take_kept(const struct published_settings *settings, const struct choice *choice,
		      double *ours, char *why)
{
	struct kept_run *run = *settings->kept;
	char *description = describe(choice);

	if (run && strcmp(description, run->description) != 0) {
		published_study_forget(run);
		run = NULL;
	}
	free(description);
	if (!run)
		run = make_run(choice, 0, settings->errors, why);
	*settings->kept = run;
	return run && take_of(settings, run, ours, why);
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

/* The mean or median of runs of so many seeds, from the scenario's on. */
static bool take_seeds(const struct published_settings *settings, const struct choice *choice,
		       unsigned seeds, double *ours, char *why)
{
	const char *which = published_text(settings, "middle", "mean");
	bool median = strcmp(which, "median") == 0;
	double values[SEEDS_MAX];
	bool good = median || strcmp(which, "mean") == 0;

	if (!good)
		snprintf(why, PUBLISHED_WHY_BYTES, "middle: expected mean or median");
	for (unsigned i = 0; good && i < seeds; i++) {
		struct kept_run *run = make_run(choice, i, settings->errors, why);

		good = run && take_of(settings, run, &values[i], why);
		if (run)
			published_study_forget(run);
	}
	if (good)
		*ours = middle(median, values, seeds);
	return good;
}

bool published_study(const struct published_settings *settings, double *ours, char *why)
{
	struct choice *choice = choose(settings);
	unsigned seeds = (unsigned)published_number(settings, "seeds", 1);
	bool good = seeds > 0 && seeds <= SEEDS_MAX;

	if (!good)
		snprintf(why, PUBLISHED_WHY_BYTES, "seeds: expected 1..%d", SEEDS_MAX);
	else if (seeds == 1)
		good = take_kept(settings, choice, ours, why);
	else
		good = take_seeds(settings, choice, seeds, ours, why);
	free(choice);
	return good;
}
