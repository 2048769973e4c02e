/* SPDX-License-Identifier: Apache-2.0 */
/*
 * histogram: counts of values in bins of a constant relative width, as HdrHistogram has them. A
 * quantile is exact to the given number of significant digits. Histograms of the same digits can be
 * merged. The result equals one histogram of all values.
 */
#ifndef ANALYSIS_HISTOGRAM_H
#define ANALYSIS_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

struct histogram;

#define HISTOGRAM_DIGITS_MAX 4

/* Creates an empty histogram. `digits` is 1 to HISTOGRAM_DIGITS_MAX. Values below `unit` count as
 * 0. */
struct histogram *histogram_create(unsigned digits, double unit);
void histogram_destroy(struct histogram *histogram); /* NULL is allowed */

/* Adds a value, which must be finite and not negative. */
void histogram_add(struct histogram *histogram, double value);
/* Adds the values of `from`, which must have the same digits and unit. */
void histogram_merge(struct histogram *into, const struct histogram *from);

uint64_t histogram_count(const struct histogram *histogram);
/* Return the exact mean, minimum and maximum. NAN without values. */
double histogram_mean(const struct histogram *histogram);
double histogram_least(const struct histogram *histogram);
double histogram_most(const struct histogram *histogram);

/* Returns the quantile: the value of rank ceil(share * count). NAN without values. */
double histogram_quantile(const struct histogram *histogram, double share);

#endif
