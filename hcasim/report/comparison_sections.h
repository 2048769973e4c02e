/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comparison_sections: the differences of two runs as tables, as `hcasim compare` prints them.
 */
#ifndef HCASIM_REPORT_COMPARISON_SECTIONS_H
#define HCASIM_REPORT_COMPARISON_SECTIONS_H

#include "hcasim/report/report.h"
#include "hcasim/report/run_values.h"

void comparison_sections_add(struct report *report, const struct report_run runs[2],
			     const struct run_values values[2]);

#endif
