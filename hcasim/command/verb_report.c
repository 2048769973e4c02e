/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_report: hcasim report RUN [OTHER]: the results of a run or a sweep, or of two runs, as one
 * HTML file that opens offline. With --figures, each picture is also an SVG and a PNG file.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/chart_drawing.h"
#include "hcasim/command/verb.h"
#include "hcasim/report/comparison_sections.h"
#include "hcasim/report/provenance.h"
#include "hcasim/report/run_sections.h"
#include "hcasim/report/sweep_sections.h"

#define COMMAND_BYTES (2 * PATH_MAX + 64)

/* Returns the folder without slashes at its end. */
static const char *name_of(const char *folder, char *name, size_t bytes)
{
	snprintf(name, bytes, "%s", folder);
	for (size_t end = strlen(name); end > 1 && name[end - 1] == '/'; end--)
		name[end - 1] = '\0';
	return name;
}

static bool fill_runs(struct report *report, const struct report_run *runs, size_t count)
{
	struct run_values values[2] = {0};
	bool good = true;
	for (size_t i = 0; good && i < count; i++)
		good = run_values_read(runs[i].folder, &values[i], report->error,
				       sizeof(report->error));
	for (size_t i = 0; good && i < count; i++)
		good = run_sections_verdicts(report, &runs[i], count == 1);
	if (good && count == 2)
		comparison_sections_add(report, runs, values);
	good = good && run_sections_pictures(report, runs, values, count);
	if (good && count == 1)
		good = run_sections_tables(report, &runs[0]);
	for (size_t i = 0; i < count; i++)
		run_values_free(&values[i]);
	return good;
}

static bool fill(struct report *report, const struct arguments *arguments,
		 const struct report_run *runs, size_t count, bool sweep)
{
	const struct sweep_choice choice = {arguments->x_key, arguments->metrics,
					    arguments->metric_count};
	char command[COMMAND_BYTES];
	bool good = sweep ? sweep_sections_add(report, runs[0].folder, &choice)
			  : fill_runs(report, runs, count);
	snprintf(command, sizeof(command), "hcasim report %s%s%s", runs[0].folder,
		 count > 1 ? " " : "", count > 1 ? runs[1].folder : "");
	if (good)
		provenance_add(report, runs, count, command);
	return good;
}

/* Removes the file again if it could not be written completely. */
static bool write_page(struct report *report, const char *path)
{
	FILE *out = fopen(path, "w");
	bool good = out && report_page_write(report->page, out);
	if (out)
		good = fclose(out) == 0 && good;
	if (!good)
		say("%s: %s", path, strerror(errno));
	if (!good && out)
		remove(path);
	return good;
}

static bool draw_pictures(struct report *report, const char *folder)
{
	if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", folder, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < report->pictures.count; i++) {
		if (!chart_drawing_write(report->pictures.list[i], folder, report->error,
					 sizeof(report->error)))
			return false;
	}
	fprintf(stderr, "%zu pictures in %s%s\n", report->pictures.count, folder,
		chart_drawing_possible() ? ""
					 : ": only their commands, *.gp: gnuplot is not installed");
	return true;
}

static int write_report(const struct arguments *arguments, const struct report_run *runs,
			size_t count, bool sweep)
{
	char title[2 * PATH_MAX + 16], path[PATH_MAX];
	struct report report = {.version = HCASIM_VERSION};
	struct stat status;
	snprintf(title, sizeof(title), "%s%s%s", runs[0].name, count > 1 ? " and " : "",
		 count > 1 ? runs[1].name : "");
	report.page = report_page_create(title, sweep       ? "A sweep of hcasim"
						: count > 1 ? "Two runs of hcasim"
							    : "A run of hcasim");
	bool good = fill(&report, arguments, runs, count, sweep);
	if (arguments->out)
		snprintf(path, sizeof(path), "%s", arguments->out);
	else
		snprintf(path, sizeof(path), "%.3000s/report.html", runs[0].folder);
	if (good && (good = write_page(&report, path)) && stat(path, &status) == 0)
		fprintf(stderr, "%s, %.1f MB\n", path, (double)status.st_size / 1e6);
	if (good && arguments->pictures)
		good = draw_pictures(&report, arguments->pictures);
	if (*report.error)
		say("%s", report.error);
	report_page_free(report.page);
	charts_free(&report.pictures);
	return good && *report.error == '\0' ? EXIT_GOOD : EXIT_BAD_INPUT;
}

int verb_report(const struct arguments *arguments)
{
	char names[2][PATH_MAX], path[PATH_MAX];
	struct report_run runs[2];
	size_t count = arguments->word_count;
	bool sweep = count == 1 && report_has(arguments->words_given[0], "results.csv", path);
	for (size_t i = 0; i < count; i++) {
		const char *folder = arguments->words_given[i];
		runs[i].name = runs[i].folder = name_of(folder, names[i], sizeof(names[i]));
		if (sweep || report_has(folder, "summary.json", path))
			continue;
		say("%s is not a result folder: it has neither the summary.json of a run nor%s the "
		    "results.csv of a sweep",
		    folder, count > 1 ? " (of one folder alone)" : "");
		return EXIT_BAD_INPUT;
	}
	if (!sweep && (arguments->metric_count > 0 || arguments->x_key)) {
		say("--metric and --x are for the report of a sweep");
		return EXIT_BAD_INPUT;
	}
	return write_report(arguments, runs, count, sweep);
}
