/* SPDX-License-Identifier: Apache-2.0 */
/* flow_table_section: see flow_table_section.h. */
#include "hcasim/report/flow_table_section.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "analysis/flow_statistics.h"

#define TEXT_BYTES 64

static const char *const metrics[] = {"fct_us", "slowdown"};

static void add_interval(struct report *report, const struct interval *interval)
{
	char text[STATISTICS_TEXT_BYTES] = "unknown";

	if (isfinite(interval->mean))
		statistics_print(interval, text);
	report_page_cell(report->page, text);
}

static void add_row(struct report *report, const char *name, const char *metric, bool of_group,
		    const struct flow_statistics *flows)
{
	char text[TEXT_BYTES];

	report_page_cell(report->page, name);
	report_page_cell(report->page, metric);
	snprintf(text, sizeof(text), "%zu", flows->flows);
	report_page_cell(report->page, text);
	snprintf(text, sizeof(text), "%zu", of_group ? flows->mean.count : flows->warm_up);
	report_page_cell(report->page, text);
	add_interval(report, &flows->mean);
	for (unsigned i = 0; i < FLOW_QUANTILE_COUNT; i++)
		add_interval(report, &flows->quantiles[i]);
}

static bool describe(struct report *report, const struct flow_table_row *row, const char *metric,
		     bool of_group, struct flow_statistics *flows)
{
	return of_group ? flow_statistics_group(row->folders, row->count, metric, flows,
						report->error, sizeof(report->error))
			: flow_statistics_run(row->folders[0], metric, flows, report->error,
					      sizeof(report->error));
}

bool flow_table_section_add(struct report *report, const struct flow_table_row *rows, size_t count,
			    bool of_group)
{
#define QUANTILE_COLUMN(name, share) #name ":number",
	const char *const columns[] = {of_group ? "Values" : "Run",
				       "Metric",
				       "Flows:number",
				       of_group ? "Seeds:number" : "Warm-up flows:number",
				       "Mean:number",
				       FLOW_QUANTILES(QUANTILE_COLUMN) NULL};
#undef QUANTILE_COLUMN
	bool any = false, correlated = false, good = true;

	for (size_t i = 0; good && i < count * 2; i++) {
		const struct flow_table_row *row = &rows[i / 2];
		const char *metric = metrics[i % 2];
		struct flow_statistics flows;
		char path[PATH_MAX];

		if (row->count == 0 ||
		    !report_has(row->folders[0], flow_statistics_file(metric), path))
			continue;
		good = describe(report, row, metric, of_group, &flows);
		if (!good)
			break;
		if (!any)
			report_page_table(report->page,
					  of_group ? "Flows, with intervals of 95 % confidence "
						     "(mean: over the seeds)"
						   : "Flows, with intervals of 95 % confidence "
						     "(mean: by batch means behind the warm-up)",
					  columns);
		any = true;
		correlated |= !of_group && flows.correlated;
		add_row(report, row->name, metric, of_group, &flows);
	}
	if (any)
		report_page_table_end(report->page);
	if (correlated)
		report_page_text(report->page,
				 "The batches of a run are correlated, and the interval of its "
				 "mean is too narrow: run longer.");
	return good;
}
