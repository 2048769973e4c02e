/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_bins: times and slowdowns of a workload's flows by size, in bins that the user chooses.
 * Limits [10KB, 100KB] make three bins: up to 10 KB, above that up to 100 KB, and above 100 KB.
 */
#ifndef TRAFFIC_WORKLOAD_FLOW_BINS_H
#define TRAFFIC_WORKLOAD_FLOW_BINS_H

#include "sim/block.h"
#include "traffic/workload/flow_table.h"

/* Columns that identify the flows of a line: of, bytes_above_B, bytes_to_B. A workload of several
 * parts has a column before them. */
#define FLOW_BIN_KEYS 3

/* X(column, printed, unit, meaning); all columns except the first three count ended flows only. */
#define FLOW_BIN_COLUMNS(X)                                                     \
	X(flows, "%" PRIu32, "", "flows that were ready from run.warm_up on")   \
	X(done, "%" PRIu32, "", "flows that were completed")                    \
	X(failed, "%" PRIu32, "", "flows that ran out of retries")              \
	X(fct_mean_us, "%.6f", "us", "mean time of a flow, post to completion") \
	X(fct_p50_us, "%.6f", "us", "median of this time")                      \
	X(fct_p95_us, "%.6f", "us", "95th percentile of this time")             \
	X(fct_p99_us, "%.6f", "us", "99th percentile of this time")             \
	X(fct_p999_us, "%.6f", "us", "99.9th percentile of this time")          \
	X(slowdown_mean, "%.4f", "", "mean slowdown")                           \
	X(slowdown_p50, "%.4f", "", "median of the slowdown")                   \
	X(slowdown_p95, "%.4f", "", "95th percentile of the slowdown")          \
	X(slowdown_p99, "%.4f", "", "99th percentile of the slowdown")          \
	X(slowdown_p999, "%.4f", "", "99.9th percentile of the slowdown")

/* Writes a line for each bin of all flows, and one for all sizes (both limits empty). If the
 * workload has incasts, lines for the flows with and without these follow. Limits ascend. Flows
 * that were ready before `from` are left out. Times of a bin without completed flows are empty.
 * `parts` has the names of the workload's parts, and ends with NULL. Lines then exist for all
 * flows, with the part FLOW_BINS_ALL, and for each part. `parts` is NULL if there are no parts. */
#define FLOW_BINS_ALL "all"
void flow_bins_write(const struct flow_record *records, uint32_t count,
		     const struct param_sizes *limits, sim_time from, const char *const *parts,
		     FILE *out);

#endif
