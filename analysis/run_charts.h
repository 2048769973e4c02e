/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_charts: charts of the result folder of one run, except those of flows
 * (analysis/flow_charts.h):
 *
 *     series.csv, links.csv, scenario.yaml
 *                  -> queues, inputs, rates   over time, with thresholds and pauses
 *                  -> links, pauses           over time, a row a port
 *     queue_series.csv -> queues-by-priority  over time
 *     summary.json -> uses, bounds            what was busy, and what it would let through
 */
#ifndef ANALYSIS_RUN_CHARTS_H
#define ANALYSIS_RUN_CHARTS_H

#include "analysis/chart.h"

/* Adds the charts of a run. Returns false and sets *error if a file cannot be read. */
bool run_charts_add(struct charts *charts, const char *folder, char *error, size_t error_bytes);

#endif
