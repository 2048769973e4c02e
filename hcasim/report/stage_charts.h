/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stage_charts: charts of the time of work requests in each stage (hca/work/latency_stages.h):
 *
 *     counters.json -> stages, receive-stages   means, of one run or of two beside each other
 *     trace.bin     -> median-request, slow-request   the request at a percentile of latency
 */
#ifndef HCASIM_REPORT_STAGE_CHARTS_H
#define HCASIM_REPORT_STAGE_CHARTS_H

#include "hcasim/report/report.h"
#include "hcasim/report/run_values.h"

/* Adds charts of the mean stages of `count` runs. */
void stage_charts_add(struct charts *charts, const struct report_run *runs,
		      const struct run_values *values, size_t count);

/* Adds charts of single requests of a trace, whose end may be missing. Returns false and sets
 * *error on failure. */
bool stage_charts_add_trace(struct charts *charts, const char *file, char *error,
			    size_t error_bytes);

#endif
