/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_sweep: hcasim sweep FILE -j N --out DIR: a run for each combination of the values that the scenario sweeps, each in
 * a process and a folder of its own. The folder is named after the effective configuration and what its files hold, and a
 * run moves it to its place when it is whole: what is there already is finished, and is not run again.
 *
 *     DIR/POINT/{scenario.yaml,summary.json,...}     tables beside them: sweep_table.c
 *
 * SIGINT, SIGTERM and SIGHUP end the runs under way and leave nothing of them; the same command goes on with the others.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hcasim/command/sweep.h"
#include "hcasim/record/leftovers.h"
#include "hcasim/record/result.h"

#define POINTS_MAX 1000000
#define ROOM       ((size_t)64 << 10) /* for a result, at least */

#define ERROR_BYTES 1024

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t ended_by; /* 0: none of them came */

static void on_end(int signal)
{
	ended_by = signal;
}

/* wait() returns when one comes. */
static void catch_ends(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		sigaction(end_signals[i], &action, NULL);
}

/* Is "key.path=value: ..." about a key that the axis sets? */
static bool is_of_axis(const struct scenario_sweep_axis *axis, const char *text)
{
	for (uint32_t i = 0; i < axis->count; i++) {
		for (char **set = axis->values[i].sets; *set; set++) {
			size_t length = strcspn(*set, "=") + 1;
			if (strncmp(text, *set, length) == 0)
				return true;
		}
	}
	return false;
}

/* A value of the sweep is an override as one of --set is; but it stands in the file. */
static void print_errors(const struct scenario *scenario, char *text)
{
	static const char set[] = "--set ";
	for (char *line = text, *rest; (line = strtok_r(line, "\n", &rest)); line = NULL) {
		const char *value = strncmp(line, set, strlen(set)) == 0 ? line + strlen(set) : "";
		for (uint32_t i = 0; i < scenario->axis_count; i++) {
			const struct scenario_sweep_axis *axis = &scenario->axes[i];
			if (!is_of_axis(axis, value))
				continue;
			fprintf(stderr, "%s:%u:%u: sweep: ", scenario->file, axis->line,
				axis->column);
			line += strlen(set);
		}
		fprintf(stderr, "%s\n", line);
	}
}

/* The scenario with the values of that point; NULL, having said what is wrong. */
static struct scenario *read_point(const struct sweep *sweep, size_t point)
{
	const struct arguments *arguments = sweep->arguments;
	const struct scenario *scenario = sweep->scenario;
	size_t count = 0, room = arguments->override_count + 1;
	for (uint32_t i = 0; i < scenario->axis_count; i++)
		for (char **set = sweep_value(sweep, point, i)->sets; *set; set++)
			room++;
	char **overrides = calloc(room, sizeof(*overrides));
	struct yaml_errors errors = {0};
	if (!overrides)
		abort();
	for (size_t i = 0; i < arguments->override_count; i++)
		overrides[count++] = strdup(arguments->overrides[i]);
	for (uint32_t i = 0; i < scenario->axis_count; i++)
		for (char **set = sweep_value(sweep, point, i)->sets; *set; set++)
			overrides[count++] = strdup(*set);
	if (!arguments->expect) /* it is of the file's own values */
		overrides[count++] = strdup("expect=[]");
	struct scenario *read =
		scenario_read(arguments->word, (const char *const *)overrides, count, &errors);
	if (errors.text)
		print_errors(scenario, errors.text);
	yaml_errors_free(&errors);
	for (size_t i = 0; i < count; i++)
		free(overrides[i]);
	free(overrides);
	return read;
}

/* All points are read before the first one runs, so that mistakes come out at once. */
static bool find_points(struct sweep *sweep)
{
	bool good = true;
	sweep->count = 1;
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++)
		sweep->count *= sweep->scenario->axes[i].count;
	if (sweep->count > POINTS_MAX) {
		say("%zu points; at most %d are possible", sweep->count, POINTS_MAX);
		return false;
	}
	sweep->points = calloc(sweep->count, sizeof(*sweep->points));
	if (!sweep->points)
		abort();
	for (size_t i = 0; good && i < sweep->count; i++) {
		struct stat status;
		char path[PATH_MAX];
		struct scenario *scenario = read_point(sweep, i);
		good = scenario && (scenario->has_workload || scenario->has_load);
		if (scenario && !good)
			say("%s: no workload or load to sweep", scenario->file);
		if (good)
			snprintf(sweep->points[i].name, sizeof(sweep->points[i].name),
				 "%016" PRIx64, scenario_hash(scenario));
		scenario_destroy(scenario);
		sweep_path(sweep, i, "/summary.json", path);
		sweep->points[i].finished = good && stat(path, &status) == 0;
		sweep->done += sweep->points[i].finished;
	}
	return good;
}

static void print_point(const struct sweep *sweep, size_t point)
{
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++)
		fprintf(stderr, " %s=%s", sweep->scenario->axes[i].path,
			sweep_value(sweep, point, i)->text);
	fputc('\n', stderr);
}

/* Is the same configuration at work already, for another combination of values? */
static bool is_twin_running(const struct sweep *sweep, size_t point)
{
	for (size_t i = 0; i < point; i++) {
		if (sweep->points[i].process > 0 &&
		    strcmp(sweep->points[i].name, sweep->points[point].name) == 0)
			return true;
	}
	return false;
}

static void start(struct sweep *sweep, size_t point)
{
	fflush(NULL);
	pid_t process = fork();
	if (process < 0) {
		say("fork: %s", strerror(errno));
		sweep->failed = true;
		return;
	}
	if (process == 0) {
		char path[PATH_MAX];
		catch_ends(SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* or two sweeps would write one point */
		struct scenario *scenario = read_point(sweep, point);
		sweep_path(sweep, point, "", path);
		int code = !scenario ? EXIT_BAD_INPUT
				     : (scenario->has_load ? run_load : run_workload)(
					       sweep->arguments, scenario, path, NULL, stderr);
		fflush(NULL);
		_exit(code);
	}
	sweep->points[point].process = process;
	sweep->points[point].began = sweep_seconds();
	sweep->running++;
}

/* Is there room for more, after a run whose result could not be written? */
static bool can_write(const struct sweep *sweep)
{
	char path[PATH_MAX], room[4096] = "";
	snprintf(path, sizeof(path), "%.3000s/room" SWEEP_PART, sweep->folder);
	FILE *out = fopen(path, "w");
	bool good = out;
	for (size_t i = 0; good && i < ROOM; i += sizeof(room))
		good = fwrite(room, sizeof(room), 1, out) == 1;
	good = good && fflush(out) == 0;
	if (!good)
		say("%s: %s: no more points are run", sweep->folder, strerror(errno));
	if (out)
		fclose(out);
	unlink(path);
	return good;
}

static void print_ended(const struct sweep *sweep, size_t point, bool good)
{
	fprintf(stderr, "%zu/%zu %s%s:", sweep->done, sweep->count, sweep->points[point].name,
		good                            ? ""
		: sweep->points[point].finished ? " not as expected"
						: " failed");
	print_point(sweep, point);
}

/* One run has ended, or a signal came. */
static void wait_for_one(struct sweep *sweep)
{
	int status;
	struct stat there;
	char path[PATH_MAX];
	struct rusage usage;
	pid_t process = wait4(-1, &status, 0, &usage);
	if (process < 0)
		return;
	for (size_t i = 0; i < sweep->count; i++) {
		if (sweep->points[i].process != process)
			continue;
		sweep->points[i].process = 0;
		sweep->running--;
		sweep_path(sweep, i, "/summary.json", path);
		sweep->points[i].finished = stat(path, &there) == 0;
		sweep->done += sweep->points[i].finished;
		if (sweep->points[i].finished)
			sweep_add_cost(sweep, i, &usage);
		bool good = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_GOOD;
		sweep->failed |= !good;
		if (!sweep->points[i].finished) {
			sweep_path(sweep, i, "", path);
			result_discard(path);
		}
		if (good || !ended_by)
			print_ended(sweep, i, good);
		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_INPUT)
			sweep->full = sweep->full || !can_write(sweep);
	}
}

static void run_all(struct sweep *sweep)
{
	for (size_t i = 0; i < sweep->count && !ended_by && !sweep->full; i++) {
		struct stat status;
		char path[PATH_MAX];
		while (!ended_by &&
		       (sweep->running >= sweep->arguments->jobs || is_twin_running(sweep, i)))
			wait_for_one(sweep);
		sweep_path(sweep, i, "/summary.json", path);
		if (!sweep->points[i].finished && stat(path, &status) == 0) {
			sweep->points[i].finished = true;
			sweep->done++;
		}
		if (!sweep->points[i].finished && !ended_by && !sweep->full)
			start(sweep, i);
	}
	for (size_t i = 0; i < sweep->count && ended_by; i++) {
		if (sweep->points[i].process > 0)
			kill(sweep->points[i].process, SIGTERM);
	}
	while (sweep->running > 0)
		wait_for_one(sweep);
}

static int run_sweep(struct sweep *sweep)
{
	if (sweep->scenario->axis_count == 0) {
		say("%s: no sweep; expected sweep: {KEY.PATH: [VALUE, ...]}",
		    sweep->scenario->file);
		return EXIT_BAD_INPUT;
	}
	if (mkdir(sweep->folder, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", sweep->folder, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	char error[PATH_MAX + 128];
	sweep->lock = leftovers_lock(sweep->folder, error, sizeof(error));
	if (sweep->lock < 0) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	if (!find_points(sweep))
		return EXIT_BAD_INPUT;
	if (sweep->done > 0)
		fprintf(stderr, "%zu of %zu points are there already\n", sweep->done, sweep->count);
	catch_ends(on_end);
	run_all(sweep);
	catch_ends(SIG_DFL);
	if (ended_by) {
		say("ended by signal %d: %zu of %zu points are there; the same command goes on "
		    "with "
		    "the others",
		    (int)ended_by, sweep->done, sweep->count);
		return 128 + ended_by;
	}
	if (sweep->full)
		return EXIT_BAD_INPUT;
	bool written = sweep_write(sweep);
	for (size_t i = 0; i < sweep->count; i++)
		sweep->failed |= !sweep->points[i].finished;
	if (!written)
		return EXIT_BAD_INPUT;
	return sweep->failed ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
}

/* A value that can be read: can it be run? */
static bool check_point(const struct sweep *sweep, uint32_t number, size_t value,
			const struct scenario *scenario)
{
	const struct scenario_sweep_axis *axis = &sweep->scenario->axes[number];
	char error[ERROR_BYTES] = "";
	if (dry_run(scenario, error, sizeof(error)))
		return true;
	const char *text = error;
	for (char **one = axis->values[value].sets; *one; one++) {
		char set[ERROR_BYTES];
		int length = snprintf(set, sizeof(set), "--set %s: ", *one);
		if (strncmp(error, set, (size_t)length) == 0)
			text = error + length;
	}
	fprintf(stderr, "%s:%u:%u: sweep: %s=%s: %s\n", scenario->file, axis->line, axis->column,
		axis->path, axis->values[value].text, text);
	return false;
}

bool sweep_check(const struct arguments *arguments, const struct scenario *scenario)
{
	const struct sweep sweep = {.arguments = arguments, .scenario = scenario};
	size_t step = 1;
	bool good = true;
	for (uint32_t axis = scenario->axis_count; axis-- > 0;) {
		bool axis_good = true;
		for (size_t i = 0; axis_good && i < scenario->axes[axis].count; i++) {
			struct scenario *read = read_point(&sweep, i * step);
			axis_good = read && check_point(&sweep, axis, i, read);
			scenario_destroy(read);
		}
		step *= scenario->axes[axis].count;
		good &= axis_good;
	}
	return good;
}

int verb_sweep(const struct arguments *arguments)
{
	if (!arguments->out) {
		say("where to? expected --out DIR");
		return EXIT_BAD_INPUT;
	}
	struct scenario *scenario = arguments_scenario(arguments);
	if (!scenario)
		return EXIT_BAD_INPUT;
	struct sweep sweep = {
		.arguments = arguments, .scenario = scenario, .folder = arguments->out};
	int code = run_sweep(&sweep);
	free(sweep.points);
	scenario_destroy(scenario);
	return code;
}
