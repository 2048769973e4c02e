/*
 * verb_study: what `hcasim run FILE` does when the file has a workload: plays it, prints the values, and with --out
 * writes flows.csv, summary.json, counters.json and the effective scenario.yaml.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "scenarios/result.h"
#include "scenarios/runner/verb.h"
#include "sim/counters.h"

#define WHY_BYTES 1024

struct output {
	const struct fabric_study *study;
	const struct study_run *run;
	struct study_values values;
};

static double value_of(const struct output *output, const struct study_value *value)
{
	return *(const double *)(const void *)((const char *)&output->values + value->offset);
}

static void write_flows(const struct output *output, FILE *out)
{
	uint32_t count;
	const struct flow_record *records = study_run_flows(output->run, &count);

	flow_table_write(records, count, out);
}

static void write_summary(const struct output *output, FILE *out)
{
	fputs("{", out);
	for (const struct study_value *value = study_value_list; value->name; value++)
		fprintf(out, "%s\n  \"%s\": %.9g", value == study_value_list ? "" : ",",
			value->name, value_of(output, value));
	fputs("\n}\n", out);
}

static void write_counters(const struct output *output, FILE *out)
{
	counters_print_json(study_run_sim(output->run), NULL, out);
}

static void write_scenario(const struct output *output, FILE *out)
{
	study_print(output->study, out);
}

static const struct {
	const char *name;
	void (*write)(const struct output *output, FILE *out);
} files[] = {
	{"flows.csv", write_flows},
	{"summary.json", write_summary},
	{"counters.json", write_counters},
	{"scenario.yaml", write_scenario},
};

static bool write_folder(const struct output *output, const char *folder)
{
	char path[PATH_MAX];

	if (mkdir(folder, 0777) && errno != EEXIST) {
		say("%s: %s", folder, strerror(errno));
		return false;
	}
	for (unsigned i = 0; i < ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		FILE *out = fopen(path, "w");

		if (out)
			files[i].write(output, out);
		if (!out || fclose(out)) {
			say("%s: %s", path, strerror(errno));
			return false;
		}
	}
	return true;
}

static void print_values(const struct output *output)
{
	for (const struct study_value *value = study_value_list; value->name; value++)
		printf("%-14s %14.6g %-5s %s\n", value->name, value_of(output, value), value->unit,
		       value->meaning);
}

static int play(const struct arguments *arguments, const struct fabric_study *study)
{
	char why[WHY_BYTES] = "";
	struct study_run *run = study_run_create(study, arguments->kernel, why, sizeof(why));
	struct output output = {.study = study, .run = run};
	int code = EXIT_GOOD;

	if (!run) {
		say("%s: %s", study->file, why);
		return EXIT_BAD_INPUT;
	}
	study_run_play(run);
	output.values = study_run_values(run);
	print_values(&output);
	if (study_compare(study, &output.values, stderr))
		code = EXIT_NOT_AS_EXPECTED;
	if (arguments->out && !write_folder(&output, arguments->out))
		code = EXIT_BAD_INPUT;
	study_run_destroy(run);
	return code;
}

static bool check_arguments(const struct arguments *arguments)
{
	const struct result_paths paths = {.folder = arguments->out};
	char why[WHY_BYTES] = "";

	if (arguments->pcap || arguments->trace || arguments->counters) {
		say("--pcap, --trace and --counters are for scenarios with programs; a workload "
		    "has "
		    "--out");
		return false;
	}
	if (result_check(&paths, why, sizeof(why)))
		return true;
	say("%s", why);
	return false;
}

struct fabric_study *arguments_study(const struct arguments *arguments)
{
	struct yaml_errors errors = {0};
	struct fabric_study *study = study_read(arguments->word, arguments->overrides,
						arguments->override_count, &errors);

	if (errors.text)
		fputs(errors.text, stderr);
	if (!study)
		say("%u problem%s in %s", errors.count, errors.count == 1 ? "" : "s",
		    arguments->word);
	yaml_errors_free(&errors);
	return study;
}

int verb_study(const struct arguments *arguments)
{
	struct fabric_study *study;
	int code;

	if (!check_arguments(arguments))
		return EXIT_BAD_INPUT;
	study = arguments_study(arguments);
	if (!study)
		return EXIT_BAD_INPUT;
	code = play(arguments, study);
	study_destroy(study);
	return code;
}
