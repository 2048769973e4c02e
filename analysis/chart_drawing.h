/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart_drawing: writes a chart as files for papers: FOLDER/NAME.dat and FOLDER/NAME.gp. If the
 * program gnuplot is installed, it draws FOLDER/NAME.svg and FOLDER/NAME.png.
 */
#ifndef ANALYSIS_CHART_DRAWING_H
#define ANALYSIS_CHART_DRAWING_H

#include "analysis/chart.h"

bool chart_drawing_possible(void); /* returns true if gnuplot is installed */

/* Writes the files of a chart. Returns false and sets *error if a file could not be written or
 * gnuplot failed. */
bool chart_drawing_write(const struct chart *chart, const char *folder, char *error,
			 size_t error_bytes);

#endif
