/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_plots: pictures of a sweep: a metric over one of the swept keys, a curve for each combination of the others; with
 * intervals of confidence where several seeds were run.
 *
 *     results.csv or means.csv -> METRIC.dat, METRIC.gp, METRIC.svg
 */
#ifndef ANALYSIS_SWEEP_PLOTS_H
#define ANALYSIS_SWEEP_PLOTS_H

#include <stdbool.h>
#include <stddef.h>

struct sweep_plot {
	const char *folder;
	const char *key;           /* along the x axis; NULL: the first with several values */
	const char *metric;        /* a column of the table */
	const char *title, *label; /* of the picture, and of its y axis */
};

/* Where gnuplot is not installed, without the picture. false: *error. */
bool sweep_plot_write(const struct sweep_plot *plot, char *error, size_t error_bytes);

#endif
