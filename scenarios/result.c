/*
 * result: see result.h. No file holds a wall-clock time, a path of this machine or anything else that another run of
 * the same scenario would write differently.
 */
#include "scenarios/result.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scenarios/packet_record.h"
#include "sim/counters.h"
#include "sim/json.h"
#include "sim/trace.h"

#define PART ".part" /* behind the name of what is being written */

/* The files of a folder, each wanted or not. */
enum file_kind { FILE_PACKETS, FILE_TRACE, FILE_COUNTERS, FILE_SUMMARY, FILE_SCENARIO, FILE_COUNT };
static const char *const file_names[FILE_COUNT] = {
	"packets.pcapng", "trace.bin", "counters.json", "summary.json", "scenario.yaml",
};

struct result {
	const struct build *build;
	char folder[PATH_MAX];            /* its final name; "": none */
	char part[PATH_MAX];              /* where it is being written */
	char paths[FILE_COUNT][PATH_MAX]; /* where each is being written; "": not wanted */
	const char *finals[FILE_COUNT];   /* single files: where each is to stand */
	struct packet_record *packets;
	struct trace_file *trace;
};

__attribute__((format(printf, 3, 4))) static bool fail(char *why, size_t why_bytes,
						       const char *format, ...)
{
	va_list values;
	va_start(values, format);
	vsnprintf(why, why_bytes, format, values);
	va_end(values);
	return false;
}

static bool fits(const char *path, char *why, size_t why_bytes)
{
	if (strlen(path) + 64 < PATH_MAX)
		return true;
	return fail(why, why_bytes, "the name is too long: %.60s...", path);
}

/* Is there a directory that the path is in, and may one write there? */
static bool check_parent(const char *path, char *why, size_t why_bytes)
{
	char parent[PATH_MAX];
	snprintf(parent, sizeof(parent), "%s", path);
	char *slash = strrchr(parent, '/');
	if (slash == NULL)
		snprintf(parent, sizeof(parent), ".");
	else
		slash[slash == parent] = '\0';
	if (access(parent, W_OK | X_OK) == 0)
		return true;
	return fail(why, why_bytes, "%s cannot be written: %s: %s", path, parent, strerror(errno));
}

bool result_check(const struct result_paths *paths, char *why, size_t why_bytes)
{
	const char *files[] = {paths->packets, paths->trace, paths->counters};
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct stat status;
		if (files[i] == NULL)
			continue;
		if (!fits(files[i], why, why_bytes) || !check_parent(files[i], why, why_bytes))
			return false;
		if (stat(files[i], &status) == 0 && S_ISDIR(status.st_mode))
			return fail(why, why_bytes, "%s is a directory; expected a file", files[i]);
	}
	if (paths->folder == NULL)
		return true;
	if (!fits(paths->folder, why, why_bytes) || !check_parent(paths->folder, why, why_bytes))
		return false;
	if (rmdir(paths->folder) == 0 || errno == ENOENT) /* an empty one is as good as none */
		return true;
	return fail(why, why_bytes, "%s is there already, and not an empty folder", paths->folder);
}

/* Where that file is to be written; single: its own name, NULL: none. in_folder: the folder is to have it. */
static void choose_path(struct result *result, enum file_kind kind, const char *single,
			bool in_folder)
{
	result->finals[kind] = single;
	if (single != NULL)
		snprintf(result->paths[kind], PATH_MAX, "%.*s" PART, PATH_MAX - 16, single);
	else if (in_folder && *result->folder != '\0')
		snprintf(result->paths[kind], PATH_MAX, "%.*s/%s", PATH_MAX - 32, result->part,
			 file_names[kind]);
}

/* The scenario's patterns, or all blocks. */
static bool open_trace(struct result *result)
{
	const struct scenario *scenario = result->build->scenario;
	char *patterns = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&patterns, &length);
	if (out == NULL)
		abort();
	for (uint32_t i = 0; i < scenario->trace_count; i++)
		fprintf(out, "%s%s", i > 0 ? "," : "", scenario->traces[i]);
	if (scenario->trace_count == 0)
		fputc('*', out);
	fclose(out);
	result->trace = trace_open(result->build->sim, result->paths[FILE_TRACE], patterns);
	free(patterns);
	return result->trace != NULL;
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

struct result *result_begin(const struct build *build, const struct result_paths *paths, char *why,
			    size_t why_bytes)
{
	const struct scenario *scenario = build->scenario;
	struct result *result = calloc(1, sizeof(*result));
	if (result == NULL)
		abort();
	result->build = build;
	if (paths->folder != NULL) {
		snprintf(result->folder, PATH_MAX, "%s", paths->folder);
		for (size_t end = strlen(result->folder);
		     end > 1 && result->folder[end - 1] == '/';)
			result->folder[--end] = '\0';
		snprintf(result->part, PATH_MAX, "%.*s" PART, PATH_MAX - 16, result->folder);
		if (mkdir(result->part, 0777) != 0 && errno != EEXIST) {
			fail(why, why_bytes, "%s: %s", result->part, strerror(errno));
			free(result);
			return NULL;
		}
		remove_files(result->part); /* of a run that was killed */
	}
	choose_path(result, FILE_PACKETS, paths->packets, scenario->record.packets);
	choose_path(result, FILE_TRACE, paths->trace, scenario->trace_count > 0);
	choose_path(result, FILE_COUNTERS, paths->counters, scenario->record.counters);
	choose_path(result, FILE_SUMMARY, NULL, true);
	choose_path(result, FILE_SCENARIO, NULL, true);
	const char *bad = NULL;
	if (*result->paths[FILE_PACKETS] != '\0') {
		result->packets =
			packet_record_create(build->sim, build->pool, result->paths[FILE_PACKETS],
					     build->ports, build->port_count);
		bad = result->packets == NULL ? result->paths[FILE_PACKETS] : NULL;
	}
	if (bad == NULL && *result->paths[FILE_TRACE] != '\0' && !open_trace(result))
		bad = result->paths[FILE_TRACE];
	if (bad == NULL)
		return result;
	fail(why, why_bytes, "%s: %s", bad, strerror(errno));
	if (result->packets != NULL)
		packet_record_destroy(result->packets);
	free(result);
	return NULL;
}

/* Sum of the counters whose "block.counter" matches. false: none does. */
static bool sum_counters(const struct build *build, const char *pattern, uint64_t *sum)
{
	bool found = false;
	char name[256];
	*sum = 0;
	for (const struct block *block = sim_blocks(build->sim); block != NULL;
	     block = block->next) {
		const struct counter *counters = block->type->counters;
		for (unsigned i = 0;
		     counters != NULL && block->counts != NULL && counters[i].name != NULL; i++) {
			snprintf(name, sizeof(name), "%s.%s", block->name, counters[i].name);
			if (fnmatch(pattern, name, 0) != 0)
				continue;
			*sum += block->counts[i];
			found = true;
		}
	}
	return found;
}

unsigned result_compare(const struct build *build, FILE *out)
{
	const struct scenario *scenario = build->scenario;
	unsigned wrong = 0;
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expectation *expectation = &scenario->expectations[i];
		uint64_t sum;
		if (!sum_counters(build, expectation->counter, &sum)) {
			fprintf(out, "expected %s: there is no such counter\n",
				expectation->counter);
			wrong++;
		} else if (sum < expectation->low || sum > expectation->high) {
			fprintf(out, "expected %s in %" PRIu64 "..%" PRIu64 ": it is %" PRIu64 "\n",
				expectation->counter, expectation->low, expectation->high, sum);
			wrong++;
		}
	}
	return wrong;
}

static void print_summary(const struct result *result, const struct result_outcome *outcome,
			  uint64_t packets, FILE *out)
{
	const struct build *build = result->build;
	const struct scenario *scenario = build->scenario;
	fprintf(out,
		"{\n  \"seed\": %" PRIu64 ",\n  \"time_ps\": %" PRIu64 ",\n  \"events\": %" PRIu64,
		scenario->seed, sim_now(build->sim), sim_events_fired(build->sim));
	if (*result->paths[FILE_PACKETS] != '\0')
		fprintf(out, ",\n  \"packets_recorded\": %" PRIu64, packets);
	fprintf(out,
		",\n  \"exit_code\": %d,\n  \"trace_hash\": \"%016" PRIx64
		"\",\n  \"expectations\": [",
		outcome->exit_code, outcome->trace_hash);
	for (uint32_t i = 0; i < scenario->expectation_count; i++) {
		const struct scenario_expectation *expectation = &scenario->expectations[i];
		uint64_t sum;
		bool found = sum_counters(build, expectation->counter, &sum);
		bool met = found && sum >= expectation->low && sum <= expectation->high;
		fprintf(out, "%s\n    {\"counter\": ", i > 0 ? "," : "");
		json_text(out, expectation->counter);
		fprintf(out, ", \"value\": %" PRIu64 ", \"met\": %s}", sum, met ? "true" : "false");
	}
	fprintf(out, "%s]\n}\n", scenario->expectation_count > 0 ? "\n  " : "");
}

/* Closes the file that all was printed to. */
static bool close_file(FILE *file)
{
	bool good = ferror(file) == 0 && fflush(file) == 0;
	return fclose(file) == 0 && good;
}

/* Everything that is written at the end. The path that could not be written; NULL: none. */
static const char *write_files(struct result *result, const struct result_outcome *outcome,
			       uint64_t packets)
{
	for (unsigned kind = FILE_COUNTERS; kind < FILE_COUNT; kind++) {
		if (*result->paths[kind] == '\0')
			continue;
		FILE *out = fopen(result->paths[kind], "w");
		if (out == NULL)
			return result->paths[kind];
		if (kind == FILE_COUNTERS)
			counters_print_json(result->build->sim, NULL, out);
		else if (kind == FILE_SUMMARY)
			print_summary(result, outcome, packets, out);
		else
			scenario_print(result->build->scenario, out);
		if (!close_file(out))
			return result->paths[kind];
	}
	return NULL;
}

/* Puts all in place. The path that could not be; NULL: none. */
static const char *move_files(struct result *result)
{
	for (unsigned kind = 0; kind < FILE_COUNT; kind++) {
		if (result->finals[kind] != NULL &&
		    rename(result->paths[kind], result->finals[kind]) != 0)
			return result->finals[kind];
	}
	if (*result->folder != '\0' && rename(result->part, result->folder) != 0)
		return result->folder;
	return NULL;
}

bool result_finish(struct result *result, const struct result_outcome *outcome, char *why,
		   size_t why_bytes)
{
	const char *bad = NULL;
	int error = 0;
	uint64_t packets = result->packets != NULL ? packet_record_packets(result->packets) : 0;
	if (result->packets != NULL) {
		error = packet_record_destroy(result->packets);
		bad = error != 0 ? result->paths[FILE_PACKETS] : NULL;
	}
	if (result->trace != NULL && !trace_close(result->trace) && bad == NULL) {
		error = errno;
		bad = result->paths[FILE_TRACE];
	}
	if (bad == NULL) {
		bad = write_files(result, outcome, packets);
		if (bad == NULL)
			bad = move_files(result);
		error = errno;
	}
	if (bad != NULL)
		fail(why, why_bytes, "%s: %s", bad, strerror(error));
	free(result);
	return bad == NULL;
}
