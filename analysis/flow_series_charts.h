/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_series_charts: charts of selected flows over time (flow_series.csv). They show arrived data,
 * allowed rate, window, data in flight and round-trip times. Each chart has a curve per flow.
 */
#ifndef ANALYSIS_FLOW_SERIES_CHARTS_H
#define ANALYSIS_FLOW_SERIES_CHARTS_H

#include "analysis/chart.h"

/* Adds the charts of the file. Returns false on failure and writes the reason to `error`. */
bool flow_series_charts_add(struct charts *charts, const char *file, char *error,
			    size_t error_bytes);

#endif
