/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison: what differs between two runs, part by part, as `hcasim compare` and a report show it.
 */
#ifndef HCASIM_REPORT_COMPARISON_H
#define HCASIM_REPORT_COMPARISON_H

#include <math.h>
#include <stdint.h>

#include "hcasim/report/run_values.h"

#define COMPARISON_SHOWN 20 /* counters; all with --verbose */
#define COMPARISON_SLACK \
	10.0 /* added to the larger counter, so that 1 and 3 are no great difference */

/* clang-format off */
/* X(part, heading, slack, how many are shown): in the order of the report */
#define COMPARISON_PARTS(X)                                                                                         \
	X(settings, "set differently",                                      0,           SIZE_MAX)       \
	X(metrics,  "metrics",                                              0,           SIZE_MAX)       \
	X(uses,     "use of what was used most, of the time with work",     (double)INFINITY, SIZE_MAX)          \
	X(sends,    "stages of work requests, mean",                        (double)INFINITY, SIZE_MAX)          \
	X(receives, "stages of receives, mean",                             (double)INFINITY, SIZE_MAX)          \
	X(counters, "counters",                                             COMPARISON_SLACK, COMPARISON_SHOWN)
#define COMPARISON_ENUM(name, heading, slack, shown) COMPARISON_##name,
enum { COMPARISON_PARTS(COMPARISON_ENUM) COMPARISON_PART_COUNT };
/* clang-format on */

struct comparison_part {
	const char *name, *heading;
	struct difference *list;
	size_t count, shown;
};

/* Fills all parts from two runs, which outlive them. */
void comparison_make(struct comparison_part parts[COMPARISON_PART_COUNT],
		     const struct run_values runs[2]);
void comparison_free(struct comparison_part parts[COMPARISON_PART_COUNT]);

#endif
