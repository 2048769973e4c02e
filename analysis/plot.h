/*
 * plot: a curve, ours over theirs, as a table of numbers and, where the program gnuplot is installed, a picture of it.
 */
#ifndef ANALYSIS_PLOT_H
#define ANALYSIS_PLOT_H

#include "analysis/compare.h"

struct plot {
	const char *folder, *name; /* FOLDER/NAME.dat, .gp and .svg */
	const char *title, *x_label, *y_label;
	bool x_logarithmic;
	const struct compare_point *points;
	size_t count;
};

bool plot_can_draw(void); /* is there a gnuplot? */

/* Runs the commands of FOLDER/NAME.gp there. false: gnuplot failed. */
bool plot_draw(const char *folder, const char *name);

/* false: a file could not be written, or gnuplot failed. */
bool plot_write(const struct plot *plot);

#endif
