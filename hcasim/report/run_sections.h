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

/* The main results, with expectations and violated laws. run: which of two runs; NULL: the only
 * one. Returns false if the report has an error. */
bool run_sections_verdicts(struct report *report, const struct report_run *run, bool alone);

/* Flows, time, topology, work requests, resources, of `count` runs. false: the report's error. */
bool run_sections_pictures(struct report *report, const struct report_run *runs,
			   const struct run_values *values, size_t count);

/* All metrics, and all counters that are not 0. false: the report's error. */
bool run_sections_tables(struct report *report, const struct report_run *run);

#endif
