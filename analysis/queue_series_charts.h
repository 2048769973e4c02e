/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_series_charts: the queues of ports by priority over time (queue_series.csv). The chart has
 * a curve for each of the longest queues.
 */
#ifndef ANALYSIS_QUEUE_SERIES_CHARTS_H
#define ANALYSIS_QUEUE_SERIES_CHARTS_H

#include "analysis/chart.h"

/* Adds the chart of the file. Returns false on failure and writes the reason to `error`. */
bool queue_series_charts_add(struct charts *charts, const char *file, char *error,
			     size_t error_bytes);

#endif
