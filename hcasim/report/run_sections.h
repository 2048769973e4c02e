/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_sections: sections of a report for one run, or for two runs side by side.
 *
 *     summary.json, flows.csv, series.csv, counters.json ... --> sections of the page
 */
#ifndef HCASIM_REPORT_RUN_SECTIONS_H
#define HCASIM_REPORT_RUN_SECTIONS_H

#include "hcasim/report/report.h"
#include "hcasim/report/run_values.h"

/* Adds the main results, with expectations and violated laws. `alone` is true if the report has
 * only this run. Returns false and sets the report's error on failure. */
bool run_sections_verdicts(struct report *report, const struct report_run *run, bool alone);

/* Adds flows, time, topology, work requests and resources of `count` runs. Returns false and sets
 * the report's error on failure. */
bool run_sections_pictures(struct report *report, const struct report_run *runs,
			   const struct run_values *values, size_t count);

/* Adds all metrics, and all counters that are not 0. Returns false and sets the report's error on
 * failure. */
bool run_sections_tables(struct report *report, const struct report_run *run);

#endif
