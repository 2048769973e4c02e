/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_sections: sections of a report for a sweep: metrics over a swept key with bottlenecks
 * marked, and the flows of its variants side by side. Tables have one row per point.
 */
#ifndef HCASIM_REPORT_SWEEP_SECTIONS_H
#define HCASIM_REPORT_SWEEP_SECTIONS_H

#include "analysis/sweep_charts.h"
#include "hcasim/report/report.h"

struct sweep_choice {
	/* key of the x axis; NULL: the first key with varying numbers */
	const char *key;
	const char *const *metrics; /* none: the most important metrics that vary */
	size_t metric_count;
};

/* Returns false and sets the report's error on failure. */
bool sweep_sections_add(struct report *report, const char *folder,
			const struct sweep_choice *choice);

#endif
