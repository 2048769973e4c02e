/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fluid_plot: writes rates and queue over time of a packet run and its fluid model to one table. If
 * gnuplot is installed, also draws one picture.
 */
#ifndef ANALYSIS_FLUID_PLOT_H
#define ANALYSIS_FLUID_PLOT_H

#include "analysis/fluid_model.h"

/* Values at one time. Rates are means over all flows. For packets, the table also has the smallest
 * and the largest rate. Egress is the model that marks departing packets. NAN means no value. */
struct fluid_sample {
	double time; /* seconds */
	double packet_queue_bytes, packet_rate_bps, packet_rate_least_bps, packet_rate_most_bps;
	double fluid_queue_bytes, fluid_rate_bps;
	double egress_queue_bytes, egress_rate_bps;
};

/* Writes FOLDER/fluid.csv, fluid.gp and fluid.svg. Returns false if a file cannot be written, or if
 * gnuplot fails. */
bool fluid_plot_write(const char *folder, const char *title, const struct fluid_sample *samples,
		      size_t count);

#endif
