/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison: differences between two runs, by part, for `hcasim compare` and reports.
 */
#ifndef HCASIM_REPORT_COMPARISON_H
#define HCASIM_REPORT_COMPARISON_H

#include <math.h>
#include <stdint.h>

#include "hcasim/report/run_values.h"

#define COMPARISON_SHOWN 20 /* counters shown; --verbose shows all */
#define COMPARISON_SLACK \
	10.0 /* added to the larger counter, so that 1 and 3 do not count as a large difference */

/* clang-format off */
/* X(part, heading, slack, maximum number shown), in the order of the report */
#define COMPARISON_PARTS(X) \
	X(settings, \
	  "different settings", \
	  0, \
	  SIZE_MAX) \
	X(metrics, "metrics", 0, SIZE_MAX) \
	X(uses, \
	  "usage of the most used resources, as a share of the time with work", \
	  (double)INFINITY, \
	  SIZE_MAX) \
	X(sends, \
	  "stages of send work requests, mean", \
	  (double)INFINITY, \
	  SIZE_MAX) \
	X(receives, \
	  "stages of receive work requests, mean", \
	  (double)INFINITY, \
	  SIZE_MAX) \
	X(counters, "counters", COMPARISON_SLACK, COMPARISON_SHOWN)
#define COMPARISON_ENUM(name, heading, slack, shown) COMPARISON_##name,
enum { COMPARISON_PARTS(COMPARISON_ENUM) COMPARISON_PART_COUNT };
/* clang-format on */

struct comparison_part {
	const char *name, *heading;
	struct difference *list;
	size_t count, shown;
};

/* Fills all parts from two runs. The runs must outlive the parts. */
void comparison_make(struct comparison_part parts[COMPARISON_PART_COUNT],
		     const struct run_values runs[2]);
void comparison_free(struct comparison_part parts[COMPARISON_PART_COUNT]);

#endif
