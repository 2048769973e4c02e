/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_charts: charts of the flows of one run, or of several runs side by side:
 *
 *     slowdowns.csv -> sizes              slowdown by size of the flows
 *     flows.csv     -> slowdown, fct      share of the flows by slowdown, and by time
 */
#ifndef ANALYSIS_FLOW_CHARTS_H
#define ANALYSIS_FLOW_CHARTS_H

#include "analysis/chart.h"

struct charted_run {
	const char *name;   /* of its curves */
	const char *folder; /* of its results */
};

/* Adds the charts of flows. Consecutive runs of one name are one variant with several seeds. A run
 * without flows has no curve. Returns false and sets *error if a file cannot be read. */
bool flow_charts_add(struct charts *charts, const struct charted_run *runs, size_t count,
		     char *error, size_t error_bytes);

#endif
