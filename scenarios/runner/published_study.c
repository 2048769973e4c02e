/*
 * published_study: runs a scenario with a workload, as `hcasim run` does, and takes one of its figures. Keys: scenario
 * (beside the row's file), values (a map of key paths and values that replace the file's, as --set takes them; the case's
 * own after those of the row), figure or counter, divide_by (the same, of the same run), times (it is multiplied),
 * seeds (the mean of so many runs, with the scenario's seed and those that follow it).
 */
#include <stdlib.h>
#include <string.h>

#include "scenarios/runner/published.h"
#include "scenarios/runner/verb.h"
#include "scenarios/trial.h"
#include "sim/counters.h"

enum { VALUES_MAX = 32, VALUE_BYTES = 512, PATH_BYTES = 4096 };

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

static struct scenario *read_scenario(const struct published_settings *settings)
{
	struct yaml_node *name = published_get(settings, "scenario");
	struct values *values = calloc(1, sizeof(*values));
	const char *slash = name ? strrchr(name->file, '/') : NULL;
	struct scenario *scenario = NULL;
	char path[PATH_BYTES];

	if (!values)
		abort();
	if (settings->common)
		add_values(values, yaml_get(settings->common, "values"), settings->errors);
	if (settings->own)
		add_values(values, yaml_get(settings->own, "values"), settings->errors);
	if (name && yaml_expect_text(name, "a scenario's file", settings->errors)) {
		snprintf(path, sizeof(path), "%.*s%s", slash ? (int)(slash - name->file) + 1 : 0,
			 name->file, name->text);
		scenario = scenario_read(path, values->list, values->count, settings->errors);
	}
	free(values);
	return scenario;
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

static bool run(const struct published_settings *settings, const struct scenario *scenario,
		double *ours, char *why)
{
	struct build *build =
		build_create(scenario, SIM_KERNEL_native, false, false, why, PUBLISHED_WHY_BYTES);
	struct trial *trial = build ? trial_create(build, why, PUBLISHED_WHY_BYTES) : NULL;
	bool good = false;

	if (trial) {
		trial_run(trial, NULL, NULL);
		good = trial_check(trial, stderr) == 0;
		if (good)
			good = take(settings, trial, build, ours, why);
		else
			snprintf(why, PUBLISHED_WHY_BYTES, "what must always hold does not");
		trial_destroy(trial);
	}
	if (build)
		build_destroy(build);
	return good;
}

static bool run_seeds(const struct published_settings *settings, struct scenario *scenario,
		      double *ours, char *why)
{
	unsigned seeds = (unsigned)published_number(settings, "seeds", 1);
	double sum = 0;
	bool good = seeds > 0;

	if (!good)
		snprintf(why, PUBLISHED_WHY_BYTES, "seeds: expected 1 or more");
	for (unsigned i = 0; good && i < seeds; i++, scenario->seed++) {
		good = run(settings, scenario, ours, why);
		sum += *ours;
	}
	*ours = sum / seeds;
	return good;
}

bool published_study(const struct published_settings *settings, double *ours, char *why)
{
	struct scenario *scenario = read_scenario(settings);
	bool good;

	if (!scenario) {
		snprintf(why, PUBLISHED_WHY_BYTES, "the file is wrong");
		return false;
	}
	good = scenario->has_workload;
	if (good)
		good = run_seeds(settings, scenario, ours, why);
	else
		snprintf(why, PUBLISHED_WHY_BYTES, "the scenario has no workload");
	scenario_destroy(scenario);
	return good;
}
