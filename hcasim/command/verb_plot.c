/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_plot: hcasim plot DIR: pictures of what a run or a sweep has left there (analysis/run_plots.h, sweep_plots.h).
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "analysis/plot.h"
#include "analysis/run_plots.h"
#include "analysis/sweep_plots.h"
#include "hcasim/command/verb.h"
#include "hcasim/schema/metrics.h"

#define ERROR_BYTES 1024
#define LABEL_BYTES 128
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
		plot_can_draw() ? "" : ": only their commands, *.gp: gnuplot is not installed");
	return EXIT_GOOD;
}

/* What it is, with its unit; NULL: it is of no list, as `flow0.fct_us` is not. */
static const struct metric_info *find_metric(const char *name)
{
	int index = metric_index(metric_list, name);

	if (index >= 0)
		return &metric_list[index];
	index = metric_index(load_metric_list, name);
	return index >= 0 ? &load_metric_list[index] : NULL;
}

static int plot_sweep(const struct arguments *arguments)
{
	char error[ERROR_BYTES];

	if (arguments->metric_count == 0) {
		say("which metrics? expected --metric NAME, a column of %s/results.csv",
		    arguments->word);
		return EXIT_BAD_INPUT;
	}
	for (size_t i = 0; i < arguments->metric_count; i++) {
		const char *name = arguments->metrics[i];
		const struct metric_info *info = find_metric(name);
		char label[LABEL_BYTES], title[TITLE_BYTES];
		const struct sweep_plot plot = {.folder = arguments->word,
						.key = arguments->x_key,
						.metric = name,
						.title = title,
						.label = label};

		snprintf(label, sizeof(label), "%s%s%s%s", name, info && *info->unit ? " (" : "",
			 info ? info->unit : "", info && *info->unit ? ")" : "");
		/* a meaning alone may go on from the metric above it: "their 95th percentile" */
		snprintf(title, sizeof(title), "%s%s%s", name, info ? ": " : "",
			 info ? info->meaning : "");
		if (!sweep_plot_write(&plot, error, sizeof(error))) {
			say("%s", error);
			return EXIT_BAD_INPUT;
		}
	}
	return finish(arguments, (unsigned)arguments->metric_count);
}

static int plot_run(const struct arguments *arguments)
{
	char error[ERROR_BYTES];
	unsigned count;

	if (arguments->metric_count > 0 || arguments->x_key) {
		say("%s is of a run; --metric and --x are for those of sweeps", arguments->word);
		return EXIT_BAD_INPUT;
	}
	if (!run_plots_write(arguments->word, &count, error, sizeof(error))) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	if (count == 0)
		say("%s has neither flows that were finished nor record: {series: TIME} to plot",
		    arguments->word);
	return count > 0 ? finish(arguments, count) : EXIT_BAD_INPUT;
}

int verb_plot(const struct arguments *arguments)
{
	if (has(arguments->word, "results.csv"))
		return plot_sweep(arguments);
	if (has(arguments->word, "summary.json"))
		return plot_run(arguments);
	say("%s is no result folder: it has neither the summary.json of a run nor the results.csv "
	    "of a "
	    "sweep",
	    arguments->word);
	return EXIT_BAD_INPUT;
}
