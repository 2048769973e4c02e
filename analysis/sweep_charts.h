/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_charts: charts of a metric over a swept key. Each combination of the other keys has a
 * curve. Curves have confidence intervals if several seeds are swept, and marks name the bottleneck
 * of each point.
 *
 *     results.csv, means.csv --sweep_charts_read()--> sweep --sweep_charts_add()--> charts
 */
#ifndef ANALYSIS_SWEEP_CHARTS_H
#define ANALYSIS_SWEEP_CHARTS_H

#include "analysis/chart.h"
#include "analysis/table.h"

struct sweep_tables {
	char *folder;
	struct table *results; /* a row a run */
	struct table *means;   /* one row per point; the rows of `results` if no seed is swept */
	size_t axes;           /* columns of `means` that are swept keys: the first ones */
	size_t metrics;        /* the first column of `means` that is a metric */
};

/* Returns NULL and sets *error on failure. sweep_charts_free() frees the result. */
struct sweep_tables *sweep_charts_read(const char *folder, char *error, size_t error_bytes);
void sweep_charts_free(struct sweep_tables *sweep);

/* Returns true if the column has more than one value. */
bool sweep_charts_varies(const struct sweep_tables *sweep, size_t column);

/* Find a column of `means`. Return false if it does not exist. *error then names the nearest
 * column. */
bool sweep_charts_find_key(const struct sweep_tables *sweep, const char *name, size_t *column,
			   char *error, size_t error_bytes);
bool sweep_charts_find_metric(const struct sweep_tables *sweep, const char *name, size_t *column,
			      char *error, size_t error_bytes);
size_t sweep_charts_first_key(const struct sweep_tables *sweep); /* that varies */

/* Returns "lossy balance=ecmp": the values of a row's keys, except the keys in two columns. Keys
 * that do not vary are left out. The caller frees the text. */
char *sweep_charts_name(const struct sweep_tables *sweep, size_t row, size_t except, size_t also);

/* A metric to be drawn. */
struct sweep_metric {
	size_t column;
	const char *name; /* of the chart's files */
	const char *title, *unit;
	double logarithmic_from; /* ratio of the largest to the smallest value */
};

/* Ratio of the values of a metric from which its axis is logarithmic. */
#define SWEEP_LOGARITHMIC 1000

/* Adds the charts of a metric over the key in column `key`: one chart, or several charts with the
 * same axis if the sweep has more combinations of the other keys than a reader can tell apart. */
void sweep_charts_add(struct charts *charts, const struct sweep_tables *sweep, size_t key,
		      const struct sweep_metric *metric);

#endif
