/* SPDX-License-Identifier: Apache-2.0 */
/* published_section: see published_section.h. */
#include "hcasim/report/published_section.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/install_paths.h"

#define TEXT_BYTES 512

/* Returns true for the first expectation that names this row. */
static bool is_first(const struct yaml_node *expectations, const struct yaml_node *one)
{
	for (const struct yaml_node *other = expectations->children; other != one;
	     other = other->next)
		if (strcmp(report_text(other, "row"), report_text(one, "row")) == 0)
			return false;
	return true;
}

/* Adds the measured values of the run for this row. */
static void add_measured(struct report *report, const struct yaml_node *expectations,
			 const char *row)
{
	static const char *const columns[] = {"This run", "Measured:number", "Verdict:verdict",
					      NULL};
	report_page_table(report->page, "", columns);
	for (const struct yaml_node *one = expectations->children; one; one = one->next) {
		bool metric = report_entry(one, "metric");
		if (strcmp(report_text(one, "row"), row) != 0)
			continue;
		report_page_cell(report->page, report_text(one, metric ? "metric" : "counter"));
		report_page_cell(report->page, report_text(one, "value"));
		report_page_cell(report->page,
				 strcmp(report_text(one, "met"), "true") == 0 ? "met" : "not met");
	}
	report_page_table_end(report->page);
}

static void add_cases(struct report *report, const struct yaml_node *root)
{
	static const char *const columns[] = {"Published case", "From:number", "To:number", "Unit",
					      NULL};
	const struct yaml_node *cases = report_entry(root, "expect");
	report_page_table(report->page, "", columns);
	for (const struct yaml_node *one = cases ? cases->children : NULL; one; one = one->next) {
		const char *from = report_text(one, "published"), *to = report_text(one, "to");
		const char *unit = report_text(one, "unit");
		if (*from == '\0')
			continue;
		report_page_cell(report->page, report_text(one, "case"));
		report_page_cell(report->page, from);
		report_page_cell(report->page, *to != '\0' ? to : from);
		report_page_cell(report->page, *unit != '\0' ? unit : report_text(root, "unit"));
	}
	report_page_table_end(report->page);
}

static bool add_row(struct report *report, const struct yaml_node *expectations, const char *row)
{
	char name[64], path[PATH_MAX], text[TEXT_BYTES];
	struct yaml_errors errors = {0};
	snprintf(name, sizeof(name), "scenarios/published/%.32s.yaml", row);
	if (strchr(row, '/') || !install_paths_data(name, path)) {
		snprintf(text, sizeof(text), "%s: not among the rows of this installation.", row);
		report_page_text(report->page, text);
		add_measured(report, expectations, row);
		return true;
	}
	struct yaml_document *document = yaml_read_file(path, &errors);
	if (!document) {
		snprintf(report->error, sizeof(report->error), "%s", yaml_errors_text(&errors));
		yaml_errors_free(&errors);
		return false;
	}
	const struct yaml_node *root = yaml_root(document);
	snprintf(text, sizeof(text), "%s: %s. %s. Source: %s. hcasim published %s runs all cases.",
		 row, report_text(root, "what"), report_text(root, "hardware"),
		 report_text(root, "source"), row);
	report_page_text(report->page, text);
	add_measured(report, expectations, row);
	add_cases(report, root);
	yaml_close(document);
	yaml_errors_free(&errors);
	return true;
}

bool published_section_add(struct report *report, const struct yaml_node *summary)
{
	const struct yaml_node *expectations = report_entry(summary, "expectations");
	bool good = true;
	report_page_section(
		report->page, "Published figures",
		"The rows that expectations of this run name. A row may have cases with "
		"other values than this run, in its own unit.");
	for (const struct yaml_node *one = expectations ? expectations->children : NULL;
	     good && one; one = one->next) {
		const char *row = report_text(one, "row");
		if (*row != '\0' && is_first(expectations, one))
			good = add_row(report, expectations, row);
	}
	return good;
}
