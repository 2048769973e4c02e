/* SPDX-License-Identifier: Apache-2.0 */
/*
 * means: means of points of a sweep that differ by their seed alone. Each metric has its mean and
 * half the width of its 95 % confidence interval (Student's t). The runs are independent.
 */
#ifndef ANALYSIS_MEANS_H
#define ANALYSIS_MEANS_H

#include <stdbool.h>

#include "analysis/table.h"

#define MEANS_HALF "_half" /* suffix of a metric's name: half the width of its interval */

/* Writes a table in the order of the first lines. Columns: the first `axes` columns of `results`
 * without `repeated`, `runs`, then each column from `metrics` on with its half width. A value that
 * is not a number is left out of the mean. Returns false and sets errno on failure. */
bool means_write(const struct table *results, size_t axes, size_t repeated, size_t metrics,
		 const char *file);

#endif
