/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_plots: pictures of what a run of a workload has left in its folder, by gnuplot, which reads the run's own tables:
 *
 *     series.csv    -> queues.svg, rates.svg   over time, of the ports with the longest queues
 *     flows.csv     -> slowdown.svg            what share of the flows has at most that slowdown, and that time
 *     slowdowns.csv -> sizes.svg               slowdown by size of the flows, if they differ: 50th, 95th, 99th percentile
 *     summary.json  -> uses.svg                of a load: which resources were busy or waited for, and how much of the time
 */
#ifndef ANALYSIS_RUN_PLOTS_H
#define ANALYSIS_RUN_PLOTS_H

#include <stdbool.h>
#include <stddef.h>

/* Writes FOLDER/NAME.gp and, where gnuplot is installed, NAME.svg; *count is how many. false: *error. */
bool run_plots_write(const char *folder, unsigned *count, char *error, size_t error_bytes);

#endif
