/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_plot: implements hcasim plot DIR: draws charts of the result folder of a run or a sweep
 * (analysis/chart.h).
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/chart_drawing.h"
#include "analysis/flow_charts.h"
#include "analysis/run_charts.h"
#include "analysis/sweep_charts.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/metrics.h"

#define ERROR_BYTES 1024
#define TITLE_BYTES 256

static bool has(const char *folder, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/%s", folder, file);
	return access(path, R_OK) == 0;
}

static int finish(const struct arguments *arguments, unsigned count)
{
	fprintf(stderr, "%u picture%s in %s%s\n", count, count == 1 ? "" : "s", arguments->word,
		chart_drawing_possible() ? ""
					 : ": only their commands, *.gp: gnuplot is not installed");
	return EXIT_GOOD;
}

/* Returns the list entry of a metric, or NULL if it is in no list, for example `flow0.fct_us`. */
static const struct metric_info *find_metric(const char *name)
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

/* Draws all charts into the folder. */
static int draw(const struct arguments *arguments, const struct charts *charts)
{
	char error[ERROR_BYTES];
	for (size_t i = 0; i < charts->count; i++) {
		if (!chart_drawing_write(charts->list[i], arguments->word, error, sizeof(error))) {
			say("%s", error);
			return EXIT_BAD_INPUT;
		}
	}
	return finish(arguments, (unsigned)charts->count);
}

/* Adds a chart of a sweep's metric. Returns false and writes the reason to *error on failure. */
static bool add_metric(const struct arguments *arguments, const struct sweep_tables *sweep,
		       const char *name, struct charts *charts, char *error, size_t error_bytes)
{
	const struct metric_info *info = find_metric(name);
	size_t key = sweep_charts_first_key(sweep), metric;
	char title[TITLE_BYTES];
	if ((arguments->x_key &&
	     !sweep_charts_find_key(sweep, arguments->x_key, &key, error, error_bytes)) ||
	    !sweep_charts_find_metric(sweep, name, &metric, error, error_bytes))
		return false;
	/* the name precedes the meaning */
	snprintf(title, sizeof(title), "%s%s%s", name, info ? ": " : "", info ? info->meaning : "");
	sweep_charts_add(charts, sweep, key,
			 &(struct sweep_metric){.column = metric,
						.name = name,
						.title = title,
						.unit = info ? info->unit : "",
						.logarithmic_from = SWEEP_LOGARITHMIC});
	return true;
}

static int plot_sweep(const struct arguments *arguments)
{
	char error[ERROR_BYTES];
	struct charts charts = {0};
	struct sweep_tables *sweep;
	int code = EXIT_BAD_INPUT;

	if (arguments->metric_count == 0) {
		say("no metric; expected --metric NAME, a column of %s/results.csv",
		    arguments->word);
		return EXIT_BAD_INPUT;
	}
	sweep = sweep_charts_read(arguments->word, error, sizeof(error));
	bool good = sweep != NULL;
	for (size_t i = 0; good && i < arguments->metric_count; i++)
		good = add_metric(arguments, sweep, arguments->metrics[i], &charts, error,
				  sizeof(error));
	if (good)
		code = draw(arguments, &charts);
	else
		say("%s", error);
	charts_free(&charts);
	sweep_charts_free(sweep);
	return code;
}

static int plot_run(const struct arguments *arguments)
{
	const struct charted_run run = {"", arguments->word};
	char error[ERROR_BYTES];
	struct charts charts = {0};
	int code = EXIT_BAD_INPUT;

	if (arguments->metric_count > 0 || arguments->x_key) {
		say("%s is the folder of a run; --metric and --x are for sweeps", arguments->word);
		return EXIT_BAD_INPUT;
	}
	if (!flow_charts_add(&charts, &run, 1, error, sizeof(error)) ||
	    !run_charts_add(&charts, arguments->word, error, sizeof(error)))
		say("%s", error);
	else if (charts.count == 0)
		say("%s has nothing to plot: no finished flows, and no record: {series: TIME}",
		    arguments->word);
	else
		code = draw(arguments, &charts);
	charts_free(&charts);
	return code;
}

int verb_plot(const struct arguments *arguments)
{
	if (has(arguments->word, "results.csv"))
		return plot_sweep(arguments);
	if (has(arguments->word, "summary.json"))
		return plot_run(arguments);
	say("%s is not a result folder: it has neither the summary.json of a run nor the "
	    "results.csv of a sweep",
	    arguments->word);
	return EXIT_BAD_INPUT;
}
