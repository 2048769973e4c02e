/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report: state shared by all parts of a report: the page, the charts that are also drawn as files,
 * and the first error. A report describes one run, two runs side by side, or a sweep.
 *
 *     result folders --run_sections, comparison_sections, sweep_sections--> struct report --> HTML,
 *                                                                                    SVG and PNG
 */
#ifndef HCASIM_REPORT_REPORT_H
#define HCASIM_REPORT_REPORT_H

#include "hcasim/report/page.h"
#include "sim/yaml.h"

struct report_run {
	const char *name;   /* as the user wrote it */
	const char *folder; /* of its results */
};

struct report {
	struct report_page *page;
	struct charts pictures; /* all charts of the page */
	char error[1024];       /* "": none */
	const char *version;    /* of hcasim */
};

/* Returns true if the folder has this file. `path` has PATH_MAX bytes. */
bool report_has(const char *folder, const char *file, char *path);

/* Reads a file of YAML or JSON in the folder. Returns NULL and sets the report's error on failure.
 * The caller closes it with yaml_close(). */
struct yaml_document *report_read(struct report *report, const char *folder, const char *file);

/* Reads at most `bytes_max` bytes of a text file. Returns NULL if there is none. The caller frees
 * the result. */
char *report_read_text(const char *folder, const char *file, size_t bytes_max);

/* Returns the text of a map's entry, or "" if it is absent. */
const char *report_text(const struct yaml_node *map, const char *key);
double report_number(const struct yaml_node *map, const char *key); /* NAN: there is none */
const struct yaml_node *report_entry(const struct yaml_node *map, const char *key);

/* Adds charts to the present section, and keeps them as figures. The list is empty afterwards.
 * `run` names the run of the charts if there are several. `only` has the names of the added charts,
 * with a space before and after each name. NULL adds all charts. Other charts stay in the list. */
void report_charts(struct report *report, struct charts *charts, const char *run, const char *only);

#endif
