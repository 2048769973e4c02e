/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plot: a curve, ours over theirs, as a table of numbers and, where the program gnuplot is installed, a picture of it.
 */
#ifndef ANALYSIS_PLOT_H
#define ANALYSIS_PLOT_H

#include <stdio.h>

#include "analysis/compare.h"

struct plot {
	const char *folder, *name; /* FOLDER/NAME.dat, .gp and .svg */
	const char *title, *x_label, *y_label;
	bool x_logarithmic;
	const struct compare_point *points;
	size_t count;
};

bool plot_can_draw(void); /* is there a gnuplot? */

/* What the commands of NAME.gp begin with: a picture NAME.svg with a title, a grid, and the names of the curves beside it. */
void plot_begin(const char *name, const char *title, FILE *out);

/* Closes FOLDER/NAME.gp and draws it, if there is a gnuplot. false: it could not be written, or gnuplot failed. */
bool plot_finish(const char *folder, const char *name, FILE *out);

/* false: a file could not be written, or gnuplot failed. */
bool plot_write(const struct plot *plot);

#endif
