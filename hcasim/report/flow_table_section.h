/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flow_table_section: a table of flows with their intervals of 95 % confidence, a row for each run
 * or combination of a sweep's values. The figures and digits are those of `hcasim stats`.
 *
 *     flows.csv --flow_statistics_run(), _group()--> table of the page
 */
#ifndef HCASIM_REPORT_FLOW_TABLE_SECTION_H
#define HCASIM_REPORT_FLOW_TABLE_SECTION_H

#include "hcasim/report/report.h"

/* A row: one run, or runs that differ by their seed alone. */
struct flow_table_row {
	const char *name;
	const char *const *folders;
	size_t count;
};

/* Adds the table to the current section. Rows whose first folder lacks flows.csv have no line.
 * `of_group`: the rows are combinations of a sweep, also if they have one run. Returns false with
 * report->error set if a file cannot be read. */
bool flow_table_section_add(struct report *report, const struct flow_table_row *rows, size_t count,
			    bool of_group);

#endif
