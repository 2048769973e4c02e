/* SPDX-License-Identifier: Apache-2.0 */
/* comparison_sections: see comparison_sections.h. */
#include "hcasim/report/comparison_sections.h"

#include <ctype.h>
#include <math.h>

#include "hcasim/report/comparison.h"

#define COUNTERS_MAX 200 /* rows */

/* Prints the difference in % of the first value. For shares and times in ns, prints the absolute
 * difference. */
static void print_change(const struct difference *difference, char *text, size_t bytes)
{
	double a = difference->numbers[0], b = difference->numbers[1];
	bool share = difference->unit[0] == '%' ||
		     (difference->unit[0] == 'n' && difference->unit[1] == 's');
	*text = '\0';
	if (isnan(a) || isnan(b))
		return;
	if (share)
		snprintf(text, bytes, "%+.4g %s", b - a, difference->unit);
	else if (a > 0 || a < 0)
		snprintf(text, bytes, "%+.1f %%", 100 * (b - a) / fabs(a));
	else
		snprintf(text, bytes, "new");
}

static void add_part(struct report *report, const struct comparison_part *part,
		     const struct report_run runs[2])
{
	char names[2][128], text[64], title[128];
	snprintf(names[0], sizeof(names[0]), "%.100s:number", runs[0].name);
	snprintf(names[1], sizeof(names[1]), "%.100s:number", runs[1].name);
	const char *const columns[] = {"Name", "Unit", names[0], names[1], "Change:number", NULL};
	size_t count = part->count < COUNTERS_MAX ? part->count : COUNTERS_MAX;
	if (part->count == 0)
		return;
	snprintf(title, sizeof(title), "%c%s", toupper((unsigned char)*part->heading),
		 part->heading + 1);
	report_page_table(report->page, title, columns);
	for (size_t i = 0; i < count; i++) {
		const struct difference *difference = &part->list[i];
		report_page_cell(report->page, difference->name);
		report_page_cell(report->page, difference->unit);
		for (unsigned run = 0; run < 2; run++)
			report_page_cell(report->page,
					 difference->texts[run] ? difference->texts[run] : "-");
		print_change(difference, text, sizeof(text));
		report_page_cell(report->page, text);
	}
	report_page_table_end(report->page);
	if (count < part->count)
		report_page_text(report->page, "The largest differences. hcasim compare --verbose "
					       "prints all.");
}

void comparison_sections_add(struct report *report, const struct report_run runs[2],
			     const struct run_values values[2])
{
	struct comparison_part parts[COMPARISON_PART_COUNT];
	bool any = false;
	comparison_make(parts, values);
	report_page_section(report->page, "Differences",
			    "The largest difference is first in each table.");
	for (size_t i = 0; i < COMPARISON_PART_COUNT; i++) {
		add_part(report, &parts[i], runs);
		any |= parts[i].count > 0;
	}
	if (!any)
		report_page_text(report->page, "Nothing differs.");
	comparison_free(parts);
}
