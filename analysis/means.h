/* SPDX-License-Identifier: Apache-2.0 */
/*
 * means: of points of a sweep that differ by their seed alone: the mean of each metric, and half the width of its 95 %
 * confidence interval (Student's t; the runs are independent).
 */
#ifndef ANALYSIS_MEANS_H
#define ANALYSIS_MEANS_H

#include <stdbool.h>

#include "analysis/table.h"

#define MEANS_HALF "_half" /* behind a metric's name: half the width of its interval */

/* Writes a table: the first `axes` columns of `results` but for `repeated`, `runs`, then each column from `metrics` on and its
 * half width; in the order of the first lines. A value that is no number is left out of its mean. false: errno says why. */
bool means_write(const struct table *results, size_t axes, size_t repeated, size_t metrics,
		 const char *file);

#endif
