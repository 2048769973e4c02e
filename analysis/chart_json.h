/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chart_json: a chart as JSON, for pages that draw it themselves.
 *
 *     chart --chart_json_write()--> {"kind": "curves", "title": ..., "curves": [...]}
 */
#ifndef ANALYSIS_CHART_JSON_H
#define ANALYSIS_CHART_JSON_H

#include <stdio.h>

#include "analysis/chart.h"

void chart_json_write(const struct chart *chart, FILE *out);

/* Writes the list of colours of curves: ["#0072b2", ...]. */
void chart_json_write_colours(FILE *out);

#endif
