/* SPDX-License-Identifier: Apache-2.0 */
/* provenance: see provenance.h. */
#include "hcasim/report/provenance.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CONFIGURATION_MAX 600000 /* bytes that are shown */
#define TEXT_BYTES        512

static void add_row(struct report_page *page, const char *name, const char *value)
{
	report_page_cell(page, name);
	report_page_cell(page, value);
}

/* Computes the hash of a whole file (FNV-1a, 64 bits). Returns false if there is no such file. */
static bool hash_file(const char *path, uint64_t *hash)
{
	FILE *in = fopen(path, "r");
	int byte;
	*hash = UINT64_C(0xcbf29ce484222325);
	if (!in)
		return false;
	while ((byte = fgetc(in)) != EOF)
		*hash = (*hash ^ (uint64_t)byte) * UINT64_C(0x100000001b3);
	fclose(in);
	return true;
}

static void print_time(time_t time, char *text, size_t bytes)
{
	struct tm parts;
	if (!gmtime_r(&time, &parts) || strftime(text, bytes, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
		*text = '\0';
}

static void add_run(struct report_page *page, const struct report_run *run, bool alone)
{
	char path[PATH_MAX], name[TEXT_BYTES], text[TEXT_BYTES];
	uint64_t hash;
	struct stat status;
	const char *of = alone ? "" : run->name;
	snprintf(name, sizeof(name), "Result folder %.200s", alone ? "" : of);
	add_row(page, name, run->folder);
	if (report_has(run->folder, "scenario.yaml", path) && hash_file(path, &hash)) {
		snprintf(name, sizeof(name), "Hash of the configuration %.200s", of);
		snprintf(text, sizeof(text), "%016" PRIx64 " (FNV-1a of scenario.yaml)", hash);
		add_row(page, name, text);
	}
	if ((report_has(run->folder, "summary.json", path) ||
	     report_has(run->folder, "results.csv", path)) &&
	    stat(path, &status) == 0) {
		snprintf(name, sizeof(name), "Results written %.200s", of);
		print_time(status.st_mtime, text, sizeof(text));
		add_row(page, name, text);
	}
}

static void add_machine(struct report *report)
{
	struct utsname machine;
	char text[TEXT_BYTES];
	add_row(report->page, "Version of hcasim that wrote the report", report->version);
	print_time(time(NULL), text, sizeof(text));
	add_row(report->page, "Report written", text);
	if (uname(&machine) != 0)
		return;
	snprintf(text, sizeof(text), "%.60s, %.60s %.60s, %.60s, %ld processors", machine.nodename,
		 machine.sysname, machine.release, machine.machine, sysconf(_SC_NPROCESSORS_ONLN));
	add_row(report->page, "Report written on", text);
}

/* Adds the commands that repeat the runs. The effective configuration determines whether the
 * command is `run` or `exec`. */
static void add_commands(struct report *report, const struct report_run *runs, size_t count,
			 const char *report_command)
{
	char *text = NULL, path[PATH_MAX];
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	bool programs = false;
	if (!out)
		abort();
	for (size_t i = 0; i < count; i++) {
		if (!report_has(runs[i].folder, "scenario.yaml", path)) {
			fprintf(out, "hcasim sweep FILE --out %s\n", runs[i].folder);
			continue;
		}
		struct yaml_document *scenario =
			report_read(report, runs[i].folder, "scenario.yaml");
		const struct yaml_node *root = scenario ? yaml_root(scenario) : NULL;
		bool alone = report_entry(root, "workload") || report_entry(root, "load") ||
			     report_entry(root, "programs");
		programs |= !alone;
		fprintf(out, "hcasim %s %s/scenario.yaml --out again%s%s\n", alone ? "run" : "exec",
			runs[i].folder, count > 1 ? (i == 0 ? "-1" : "-2") : "",
			alone ? "" : " -- host0: PROGRAM ARGS : host1: PROGRAM ARGS");
		yaml_close(scenario);
	}
	fprintf(out, "%s\n", report_command);
	fclose(out);
	report_page_lines(report->page, "Commands that reproduce the results", text);
	if (programs)
		report_page_text(report->page, "The result folder does not hold the command lines "
					       "of the programs.");
	free(text);
}

void provenance_add(struct report *report, const struct report_run *runs, size_t count,
		    const char *report_command)
{
	static const char *const columns[] = {"What", "Value", NULL};
	report_page_section(report->page, "Provenance",
			    "The same configuration and seed give the same results, byte for byte, "
			    "on any machine.");
	report_page_table(report->page, "", columns);
	for (size_t i = 0; i < count; i++)
		add_run(report->page, &runs[i], count == 1);
	add_machine(report);
	report_page_table_end(report->page);
	add_commands(report, runs, count, report_command);
	for (size_t i = 0; i < count; i++) {
		char *text = report_read_text(runs[i].folder, "scenario.yaml", CONFIGURATION_MAX);
		char title[TEXT_BYTES];
		snprintf(title, sizeof(title), "Effective configuration%s%.200s",
			 count > 1 ? " of " : "", count > 1 ? runs[i].name : "");
		if (text && strlen(text) == CONFIGURATION_MAX)
			snprintf(title, sizeof(title),
				 "Effective configuration, its first %d "
				 "bytes",
				 CONFIGURATION_MAX);
		if (text)
			report_page_lines(report->page, title, text);
		free(text);
	}
}
