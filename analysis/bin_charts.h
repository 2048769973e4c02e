/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bin_charts: charts of a sweep's flows over the bins of flow sizes: slowdowns and times. One curve
 * per combination of values. Curves have confidence intervals if seeds are swept.
 *
 *     bin_means.csv or bins.csv --bin_charts_add()--> charts
 */
#ifndef ANALYSIS_BIN_CHARTS_H
#define ANALYSIS_BIN_CHARTS_H

#include "analysis/sweep_charts.h"

/* Adds the charts of a sweep that has been read. A sweep without bins, or with flows in one bin
 * alone, adds none. Flows of incasts are left out if there are others. Returns false on failure and
 * writes the reason to `error`. */
bool bin_charts_add(struct charts *charts, const struct sweep_tables *sweep, char *error,
		    size_t error_bytes);

#endif
