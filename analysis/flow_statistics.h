/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_statistics: statistics of the flows or operations in result folders, for `hcasim stats` and
 * for reports. Intervals have 95 % (statistics.h).
 *
 *     one run                    mean by batch means behind the warm-up
 *     runs with several seeds    mean over the means of the runs
 *     both                       quantiles of all flows, with intervals from ranks
 */
#ifndef ANALYSIS_FLOW_STATISTICS_H
#define ANALYSIS_FLOW_STATISTICS_H

#include "analysis/statistics.h"

#define FLOW_QUANTILES(X) \
	X(p50, 0.5)       \
	X(p95, 0.95)      \
	X(p99, 0.99)      \
	X(p999, 0.999)
#define FLOW_QUANTILE_ENUM(name, share) FLOW_QUANTILE_##name,
enum { FLOW_QUANTILES(FLOW_QUANTILE_ENUM) FLOW_QUANTILE_COUNT };

#define FLOW_STATISTICS_OPERATIONS "latency_us" /* metric of operations.csv */

struct flow_statistics {
	size_t flows, warm_up; /* warm_up: flows at the start that are left out */
	struct interval mean;
	bool correlated;                                /* the interval of the mean is too narrow */
	struct interval quantiles[FLOW_QUANTILE_COUNT]; /* mean is NAN: unknown */
};

/* Returns the file with the column: latency_us, read_latency_us and write_latency_us are of
 * operations.csv, others of flows.csv. */
const char *flow_statistics_file(const char *metric);

/* Describe a column of one run, or of runs that differ by their seed alone. Return false and set
 * *error if a file cannot be read. */
bool flow_statistics_run(const char *folder, const char *metric, struct flow_statistics *statistics,
			 char *error, size_t error_bytes);
bool flow_statistics_group(const char *const *folders, size_t count, const char *metric,
			   struct flow_statistics *statistics, char *error, size_t error_bytes);

#endif
