/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_plot: a run of packets beside the fluid model of the same: rates and queue over time in one table, and, where
 * the program gnuplot is installed, in one picture.
 */
#ifndef ANALYSIS_FLUID_PLOT_H
#define ANALYSIS_FLUID_PLOT_H

#include "analysis/fluid_model.h"

/* At one time; rates are the mean of all flows, and of packets the least and the greatest, too. Egress: the model with marks on what
 * leaves; NAN: there is none. */
struct fluid_sample {
	double time; /* seconds */
	double packet_queue_bytes, packet_rate_bps, packet_rate_least_bps, packet_rate_most_bps;
	double fluid_queue_bytes, fluid_rate_bps;
	double egress_queue_bytes, egress_rate_bps;
};

/* FOLDER/fluid.csv, fluid.gp and fluid.svg. false: a file could not be written, or gnuplot failed. */
bool fluid_plot_write(const char *folder, const char *title, const struct fluid_sample *samples,
		      size_t count);

#endif
