/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result: see result.h. Two runs of the same scenario write the same bytes. Therefore no file
 * contains wall-clock time, or paths of this machine except paths that the scenario names.
 */
#include "hcasim/record/result.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hcasim/record/leftovers.h"
#include "hcasim/record/packet_record.h"
#include "hcasim/record/summary.h"
#include "sim/counters.h"
#include "sim/renamed_keys.h"
#include "sim/trace.h"

#define PART ".part" /* suffix of an unfinished file */

/* The files of a folder, each wanted or not. */
enum file_kind {
	FILE_PACKETS,
	FILE_TRACE,
	FILE_COUNTERS,
	FILE_SUMMARY,
	FILE_SCENARIO,
	FILE_FLOWS,
	FILE_SERIES,
	FILE_LINKS,
	FILE_SLOWDOWNS,
	FILE_SWITCHES,
	FILE_BINS,
	FILE_FLOW_SERIES,
	FILE_QUEUES,
	FILE_QUEUE_SERIES,
	FILE_OPERATIONS,
	FILE_COUNT
};
static const char *const file_names[FILE_COUNT] = {
	"packets.pcapng", "trace.bin",       "counters.json", "summary.json",     "scenario.yaml",
	"flows.csv",      "series.csv",      "links.csv",     "slowdowns.csv",    "switches.csv",
	"bins.csv",       "flow_series.csv", "queues.csv",    "queue_series.csv", "operations.csv",
};

struct result {
	const struct build *build;
	char folder[PATH_MAX]; /* its final name; "": none */
	char part[PATH_MAX];   /* its name while it is written */
	/* names of the files while they are written; "": not requested */
	char paths[FILE_COUNT][PATH_MAX];
	const char *finals[FILE_COUNT]; /* single files: the final path of each */
	struct packet_record *packets;
	struct trace_file *trace;
	int lock; /* lock of the folder that is written; -1: none */
};

__attribute__((format(printf, 3, 4))) static bool fail(char *error, size_t error_bytes,
						       const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(error, error_bytes, format, values);
	va_end(values);
	return false;
}

static bool fits(const char *path, char *error, size_t error_bytes)
{
	if (strlen(path) + 64 < PATH_MAX)
		return true;
	return fail(error, error_bytes, "the name is too long: %.60s...", path);
}

/* Checks that the parent folder of the path exists and is writable. */
static bool check_parent(const char *path, char *error, size_t error_bytes)
{
	char parent[PATH_MAX];
	snprintf(parent, sizeof(parent), "%s", path);
	char *slash = strrchr(parent, '/');
	if (!slash)
		snprintf(parent, sizeof(parent), ".");
	else
		slash[slash == parent] = '\0';
	if (access(parent, W_OK | X_OK) == 0)
		return true;
	return fail(error, error_bytes, "%s cannot be written: %s: %s", path, parent,
		    strerror(errno));
}

bool result_check(const struct result_paths *paths, char *error, size_t error_bytes)
{
	const char *files[] = {paths->packets, paths->trace, paths->counters};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stat status;
		if (!files[i])
			continue;
		if (!fits(files[i], error, error_bytes) ||
		    !check_parent(files[i], error, error_bytes))
			return false;
		if (stat(files[i], &status) != 0 || S_ISREG(status.st_mode))
			continue;
		return fail(error, error_bytes, "%s is a %s; expected a file", files[i],
			    S_ISDIR(status.st_mode) ? "directory" : "FIFO, socket or device");
	}
	if (!paths->folder)
		return true;
	if (!fits(paths->folder, error, error_bytes) ||
	    !check_parent(paths->folder, error, error_bytes))
		return false;
	if (rmdir(paths->folder) == 0 || errno == ENOENT) /* an empty folder is accepted */
		return true;
	return fail(error, error_bytes, "%s exists and is not an empty folder", paths->folder);
}

/* Chooses the path of a file. `single` is the name of a single file, or NULL. `in_folder`: the
 * folder contains the file. */
static void choose_path(struct result *result, enum file_kind kind, const char *single,
			bool in_folder)
{
	result->finals[kind] = single;
	if (single)
		snprintf(result->paths[kind], PATH_MAX, "%.*s" PART, PATH_MAX - 16, single);
	else if (in_folder && *result->folder != '\0')
		snprintf(result->paths[kind], PATH_MAX, "%.*s/%s", PATH_MAX - 32, result->part,
			 file_names[kind]);
}

/* Returns the patterns of the scenario, or a pattern for all blocks. */
static bool open_trace(struct result *result)
{
	const struct scenario *scenario = result->build->scenario;
	char *patterns = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&patterns, &length);
	if (!out)
		abort();
	for (uint32_t i = 0; i < scenario->trace_count; i++)
		fprintf(out, "%s%s", i > 0 ? "," : "", scenario->traces[i]);
	if (scenario->trace_count == 0)
		fputc('*', out);
	fclose(out);
	result->trace = trace_open(result->build->sim, result->paths[FILE_TRACE], patterns);
	free(patterns);
	if (result->trace)
		trace_limit(result->trace, scenario->record.max_bytes);
	return result->trace;
}

static void remove_files(const char *folder)
{
	char path[PATH_MAX];
	for (unsigned kind = 0; kind < FILE_COUNT; kind++) {
		int length = snprintf(path, sizeof(path), "%s/%s", folder, file_names[kind]);
		if (length < (int)sizeof(path))
			unlink(path);
	}
}

void result_discard(const char *folder)
{
	char part[PATH_MAX];
	snprintf(part, sizeof(part), "%.*s" PART, PATH_MAX - 16, folder);
	remove_files(part);
	rmdir(part);
}

/* Removes files that were not moved to their place. */
static void remove_parts(const struct result *result)
{
	for (unsigned kind = 0; kind < FILE_COUNT; kind++) {
		if (result->finals[kind])
			unlink(result->paths[kind]);
	}
	if (*result->folder != '\0')
		result_discard(result->folder);
}

bool result_counter(const struct build *build, const char *pattern, uint64_t *sum)
{
	bool found = false;
	char name[256];
	*sum = 0;
	for (const struct block *block = sim_blocks(build->sim); block; block = block->next) {
		const struct counter *counters = block->type->counters;
		for (unsigned i = 0; counters && block->counts && counters[i].name; i++) {
			snprintf(name, sizeof(name), "%s.%s", block->name, counters[i].name);
			if (fnmatch(pattern, name, 0) != 0)
				continue;
			*sum += block->counts[i];
			found = true;
		}
	}
	return found;
}

static bool is_block(const struct build *build, const char *pattern)
{
	for (const struct block *block = sim_blocks(build->sim); block; block = block->next)
		if (fnmatch(pattern, block->name, 0) == 0)
			return true;
	return false;
}

bool result_names(const struct build *build, char *error, size_t error_bytes)
{
	static const char as[] = "expected a name as counters.json has them, * for any text";
	const struct scenario *scenario = build->scenario;
	char path[32], hint[128];
	uint64_t sum;
	for (uint32_t i = 0; i < scenario->trace_count; i++) {
		if (is_block(build, scenario->traces[i]))
			continue;
		renamed_key_hint(renamed_key_of_block(scenario->traces[i]), NULL, NULL, 0, hint,
				 sizeof(hint));
		snprintf(error, error_bytes, "record: trace: no block matches \"%s\"%s; %s",
			 scenario->traces[i], hint, as);
		snprintf(path, sizeof(path), "record.trace.%u", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const char *counter = scenario->expectations[i].counter;
		if (!counter || result_counter(build, counter, &sum))
			continue;
		renamed_key_hint(renamed_key_of_counter(counter), NULL, NULL, 0, hint,
				 sizeof(hint));
		snprintf(error, error_bytes, "expect: no counter matches \"%s\"%s; %s", counter,
			 hint, as);
		snprintf(path, sizeof(path), "expect.%u.counter", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	return true;
}

/* Creates the temporary folder. A killed run may have left one. */
static bool open_part(struct result *result, char *error, size_t error_bytes)
{
	if (mkdir(result->part, 0777) != 0 && errno != EEXIST)
		return fail(error, error_bytes, "%s: %s", result->part, strerror(errno));
	result->lock = leftovers_lock(result->part, error, error_bytes);
	if (result->lock < 0)
		return false;
	remove_files(result->part);
	return true;
}

static void close_part(const struct result *result)
{
	if (result->lock >= 0)
		close(result->lock);
}

/* Returns true if the folder of a run has that file. messages: the run has records of messages. */
static bool has_file(const struct scenario *scenario, enum file_kind kind, bool messages)
{
	switch (kind) {
	case FILE_PACKETS:
		return scenario->record.packets;
	case FILE_TRACE:
		return scenario->trace_count > 0;
	case FILE_COUNTERS:
		return scenario->record.counters;
	case FILE_FLOWS:
		return (scenario->has_workload || messages) && scenario->record.flows;
	case FILE_SERIES:
		return scenario->has_workload && scenario->record.series > 0;
	case FILE_FLOW_SERIES:
		return scenario->has_workload && scenario->series_flow_count > 0;
	case FILE_QUEUES:
	case FILE_QUEUE_SERIES:
		return scenario->has_workload && scenario->record.queues;
	case FILE_LINKS:
		return scenario->has_workload || scenario->has_load || messages;
	case FILE_SLOWDOWNS:
	case FILE_BINS:
		return scenario->has_workload;
	case FILE_SWITCHES:
		return scenario->has_workload || scenario->has_load;
	case FILE_OPERATIONS:
		return scenario_has_storage(scenario) && scenario->record.flows;
	case FILE_SUMMARY:
	case FILE_SCENARIO:
	case FILE_COUNT:
		break;
	}
	return true;
}

struct result *result_begin(const struct build *build, const struct result_paths *paths,
			    char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (!result_names(build, error, error_bytes))
		return NULL;
	struct result *result = calloc(1, sizeof(*result));
	if (!result)
		abort();
	result->build = build;
	result->lock = -1;
	if (paths->folder) {
		snprintf(result->folder, PATH_MAX, "%s", paths->folder);
		for (size_t end = strlen(result->folder);
		     end > 1 && result->folder[end - 1] == '/';)
			result->folder[--end] = '\0';
		snprintf(result->part, PATH_MAX, "%.*s" PART, PATH_MAX - 16, result->folder);
		if (!open_part(result, error, error_bytes)) {
			free(result);
			return NULL;
		}
	}
	const char *const single[FILE_COUNT] = {[FILE_PACKETS] = paths->packets,
						[FILE_TRACE] = paths->trace,
						[FILE_COUNTERS] = paths->counters};
	for (unsigned kind = 0; kind < FILE_COUNT; kind++)
		choose_path(result, kind, single[kind], has_file(scenario, kind, paths->messages));
	bool good = true;
	if (*result->paths[FILE_PACKETS] != '\0') {
		result->packets = packet_record_create(build, result->paths[FILE_PACKETS], error,
						       error_bytes);
		good = result->packets;
	}
	if (good && *result->paths[FILE_TRACE] != '\0' && !open_trace(result))
		good = fail(error, error_bytes, "%s: %s", result->paths[FILE_TRACE],
			    strerror(errno));
	if (good) {
		leftovers_watch(result->paths[0], FILE_COUNT,
				*result->folder != '\0' ? result->part : NULL);
		return result;
	}
	if (result->packets)
		packet_record_destroy(result->packets);
	remove_parts(result);
	close_part(result);
	free(result);
	return NULL;
}

/* Returns false and writes the reason to *error if there is no such metric. */
static bool find_metric(const struct result_outcome *outcome, const char *name, double *value,
			char *error, size_t error_bytes)
{
	if (!outcome->load)
		return outcome->experiment &&
		       experiment_find(outcome->experiment, name, value, error, error_bytes);
	*value = metric_of_load(outcome->load, metric_index(metric_load_list, name));
	if (isnan(*value))
		snprintf(error, error_bytes, "no value: the load failed, or completed nothing");
	return !isnan(*value);
}

bool result_judge(const struct build *build, const struct result_outcome *outcome,
		  const struct scenario_expectation *expectation, double *value, bool *known,
		  char *error, size_t error_bytes)
{
	if (expectation->metric) {
		*known = find_metric(outcome, expectation->metric, value, error, error_bytes);
		return *known && *value >= expectation->least && *value <= expectation->most;
	}
	uint64_t sum;
	*known = result_counter(build, expectation->counter, &sum);
	*value = (double)sum;
	assert(*known); /* result_names() */
	return sum >= expectation->low && sum <= expectation->high;
}

static void print_bounds(const struct scenario_expectation *expectation, FILE *out)
{
	if (!expectation->metric)
		fprintf(out, "%" PRIu64 "..%" PRIu64, expectation->low, expectation->high);
	else if (!isfinite(expectation->most))
		fprintf(out, "%.6g or more", expectation->least);
	else if (!isfinite(expectation->least))
		fprintf(out, "%.6g or less", expectation->most);
	else
		fprintf(out, "%.6g..%.6g", expectation->least, expectation->most);
}

static unsigned compare(const struct build *build, const struct result_outcome *outcome, bool all,
			FILE *out)
{
	const struct scenario *scenario = build->scenario;
	unsigned wrong = 0;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expectation *expectation = &scenario->expectations[i];
		char error[256] = "";
		double value = 0;
		bool known;
		bool met = result_judge(build, outcome, expectation, &value, &known, error,
					sizeof(error));
		wrong += !met && expectation->gated;
		if (met && !all)
			continue;
		fprintf(out, "%s%s%s%s ", met ? "met " : "",
			expectation->row ? expectation->row : "", expectation->row ? ": " : "",
			met || expectation->gated ? "expected" : "not gated, expected");
		fputs(expectation->metric ? expectation->metric : expectation->counter, out);
		if (!known) {
			fprintf(out, ": %s\n", error);
			continue;
		}
		fprintf(out, " in ");
		print_bounds(expectation, out);
		if (expectation->metric)
			fprintf(out, ": found %.6g\n", value);
		else
			fprintf(out, ": found %" PRIu64 "\n", (uint64_t)value);
	}
	return wrong;
}

unsigned result_compare(const struct build *build, FILE *out)
{
	return compare(build, &(struct result_outcome){0}, false, out);
}

unsigned result_compare_metrics(const struct build *build, const struct result_outcome *outcome,
				FILE *out)
{
	return compare(build, outcome, true, out);
}

sim_time result_ended(const struct build *build, const struct result_outcome *outcome)
{
	return outcome->experiment ? experiment_ended(outcome->experiment) : sim_now(build->sim);
}

sim_time result_worked(const struct build *build, const struct result_outcome *outcome)
{
	return outcome->experiment ? experiment_worked(outcome->experiment) : sim_now(build->sim);
}

void result_outcome_fini(struct result_outcome *outcome)
{
	violations_fini(&outcome->violations);
}

void result_print_summary(const struct build *build, const struct result_outcome *outcome,
			  FILE *out)
{
	summary_print(build, outcome, NULL, out);
}

/* Flushes and closes a file. Returns false if writing failed. */
static bool close_file(FILE *file)
{
	bool good = ferror(file) == 0 && fflush(file) == 0;
	return fclose(file) == 0 && good;
}

static void write_flows(const struct result_outcome *outcome, FILE *out)
{
	if (outcome->experiment)
		experiment_write_flows(outcome->experiment, out);
	else
		flow_table_write(outcome->records, outcome->record_count, NULL, out);
}

/* Prints one of the files that are written at the end. Returns false if it could not be kept during
 * the run. */
static bool print_file(const struct build *build, const struct result_outcome *outcome,
		       enum file_kind kind, const uint64_t *packets, FILE *out)
{
	if (kind == FILE_COUNTERS)
		counters_print_json(build->sim, NULL, out);
	else if (kind == FILE_SUMMARY)
		summary_print(build, outcome, packets, out);
	else if (kind == FILE_SCENARIO)
		scenario_print(build->scenario, out);
	else if (kind == FILE_FLOWS)
		write_flows(outcome, out);
	else if (kind == FILE_SERIES)
		return experiment_write_series(outcome->experiment, out);
	else if (kind == FILE_FLOW_SERIES)
		return experiment_write_flow_series(outcome->experiment, out);
	else if (kind == FILE_QUEUE_SERIES)
		return experiment_write_queue_series(outcome->experiment, out);
	else if (kind == FILE_QUEUES)
		experiment_write_queues(outcome->experiment, out);
	else if (kind == FILE_SLOWDOWNS)
		experiment_write_groups(outcome->experiment, out);
	else if (kind == FILE_BINS)
		experiment_write_bins(outcome->experiment, out);
	else if (kind == FILE_OPERATIONS)
		experiment_write_operations(outcome->experiment, out);
	else if (kind == FILE_SWITCHES)
		experiment_write_switches(build, out);
	else
		experiment_write_links(build, result_ended(build, outcome), out);
	return true;
}

bool result_print_file(const struct build *build, const struct result_outcome *outcome,
		       const char *name, FILE *out)
{
	for (unsigned kind = FILE_COUNTERS; kind < FILE_COUNT; kind++)
		if (strcmp(name, file_names[kind]) == 0)
			return has_file(build->scenario, kind, false) &&
			       print_file(build, outcome, kind, NULL, out);
	return false;
}

/* Writes everything that is written at the end. Returns the path that could not be written, or
 * NULL. */
static const char *write_files(struct result *result, const struct result_outcome *outcome,
			       uint64_t packets)
{
	const uint64_t *recorded = *result->paths[FILE_PACKETS] != '\0' ? &packets : NULL;
	for (unsigned kind = FILE_COUNTERS; kind < FILE_COUNT; kind++) {
		if (*result->paths[kind] == '\0')
			continue;
		FILE *out = fopen(result->paths[kind], "w");
		if (!out)
			return result->paths[kind];
		bool good = print_file(result->build, outcome, kind, recorded, out);
		if (!close_file(out) || !good)
			return result->paths[kind];
	}
	return NULL;
}

/* Moves everything to its place. Returns the path that could not be moved, or NULL. */
static const char *move_files(struct result *result)
{
	for (unsigned kind = 0; kind < FILE_COUNT; kind++) {
		if (result->finals[kind] && rename(result->paths[kind], result->finals[kind]) != 0)
			return result->finals[kind];
	}
	if (*result->folder != '\0' && rename(result->part, result->folder) != 0)
		return result->folder;
	return NULL;
}

static void say_full(const struct result *result, enum file_kind kind, sim_time since)
{
	if (since != SIM_NEVER)
		fprintf(stderr,
			"hcasim: %s: record.max_bytes is reached; records after %.6g us are "
			"dropped\n",
			result->finals[kind] ? result->finals[kind] : file_names[kind],
			(double)since / (double)US);
}

static void say_ring(const struct result *result)
{
	char text[256];
	if (packet_record_describe(result->packets, text, sizeof(text)))
		fprintf(stderr, "hcasim: %s: %s\n",
			result->finals[FILE_PACKETS] ? result->finals[FILE_PACKETS]
						     : file_names[FILE_PACKETS],
			text);
}

bool result_finish(struct result *result, const struct result_outcome *outcome, char *error,
		   size_t error_bytes)
{
	const char *bad = NULL;
	int failure = 0;
	uint64_t packets = 0;
	if (result->packets) {
		packet_record_end(result->packets, outcome->exit_code != 0);
		packets = packet_record_packets(result->packets);
		say_full(result, FILE_PACKETS, packet_record_full_since(result->packets));
		say_ring(result);
	}
	if (result->trace)
		say_full(result, FILE_TRACE, trace_full_since(result->trace));
	if (result->packets) {
		failure = packet_record_destroy(result->packets);
		bad = failure != 0 ? result->paths[FILE_PACKETS] : NULL;
	}
	if (result->trace && !trace_close(result->trace) && !bad) {
		failure = errno;
		bad = result->paths[FILE_TRACE];
	}
	if (!bad) {
		bad = write_files(result, outcome, packets);
		if (!bad)
			bad = move_files(result);
		failure = errno;
	}
	if (bad) {
		fail(error, error_bytes, "%s: %s", bad, strerror(failure));
		remove_parts(result);
	}
	leftovers_leave();
	close_part(result);
	free(result);
	return !bad;
}
