/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_pool: runs the points of a sweep, each in its own process, up to -j at a time. SIGINT,
 * SIGTERM and SIGHUP end the running processes. sweep_resume.c removes their unfinished results.
 *
 *     DIR/cost.csv   one line for each run: processor time, wall time, memory. The values depend on
 *                    the machine, so the file is not part of the results.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "analysis/table.h"
#include "hcasim/command/sweep.h"
#include "hcasim/record/result.h"

#define ROOM ((size_t)64 << 10) /* for a result, at least */

static const int end_signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t ended_by; /* 0: no signal received */

static void on_end(int signal)
{
	ended_by = signal;
}

/* Installs a handler that interrupts wait(). */
static void catch_ends(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};
	for (size_t i = 0; i < ARRAY_SIZE(end_signals); i++)
		sigaction(end_signals[i], &action, NULL);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec * 1e-6;
}

static void add_cost(const struct sweep *sweep, size_t point, const struct rusage *usage)
{
	char path[PATH_MAX], name[SWEEP_NAME_BYTES];
	snprintf(path, sizeof(path), "%.3000s/cost.csv", sweep->folder);
	FILE *out = fopen(path, "a");
	if (!out)
		return;              /* the reason will be in results.csv of the same folder */
	flock(fileno(out), LOCK_EX); /* of other parts */
	fseek(out, 0, SEEK_END);
	if (ftell(out) == 0)
		fprintf(out, "point,name,cpu_seconds,wall_seconds,peak_memory_mb\n");
	sweep_names_write(sweep, point, name);
	fprintf(out, "%s,", sweep->points[point].name);
	table_print_field(name, out);
	fprintf(out, ",%.3f,%.3f,%.1f\n", seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime),
		seconds() - sweep->points[point].began, (double)usage->ru_maxrss / 1024);
	fclose(out);
}

static void print_point(const struct sweep *sweep, size_t point)
{
	for (uint32_t i = 0; i < sweep->scenario->axis_count; i++) {
		const struct scenario_sweep_axis *axis = &sweep->scenario->axes[i];
		const struct scenario_sweep_value *value = sweep_product_value(sweep, point, i);
		for (uint32_t k = 0; k < axis->column_count; k++)
			fprintf(stderr, " %s=%s", axis->columns[k], value->cells[k]);
	}
	fputc('\n', stderr);
}

/* Returns true if the same configuration is already running for another combination of values. */
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
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* or two sweeps write the same point */
		struct yaml_errors errors = {0};
		struct scenario *scenario = sweep_product_read(sweep, point, &errors);
		yaml_errors_print(&errors, stderr);
		sweep_resume_path(sweep, point, "", path);
		int code = !scenario ? EXIT_BAD_INPUT
				     : (scenario->has_load ? run_load : verb_run_workload)(
					       sweep->arguments, scenario, path, NULL, stderr);
		fflush(NULL);
		_exit(code);
	}
	sweep->points[point].process = process;
	sweep->points[point].began = seconds();
	sweep->running++;
}

/* Returns true if the folder has space again, after a result could not be written. */
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
		sweep_judgement_word(&sweep->points[point], good));
	print_point(sweep, point);
}

/* Waits until one run ends, or a signal arrives. */
static void wait_for_one(struct sweep *sweep)
{
	int status;
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
		if (sweep_resume_look(sweep, i))
			add_cost(sweep, i, &usage);
		bool good = sweep_judgement_add(sweep, status);
		if (!sweep->points[i].finished) {
			sweep_resume_path(sweep, i, "", path);
			result_discard(path);
		}
		if (good || !ended_by)
			print_ended(sweep, i, good);
		if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_BAD_INPUT)
			sweep->full = sweep->full || !can_write(sweep);
	}
}

int sweep_pool_run(struct sweep *sweep)
{
	catch_ends(on_end);
	for (size_t i = 0; i < sweep->count && !ended_by && !sweep->full; i++) {
		if (sweep->points[i].part != sweep->part)
			continue;
		while (!ended_by &&
		       (sweep->running >= sweep->arguments->jobs || is_twin_running(sweep, i)))
			wait_for_one(sweep);
		if (!sweep_resume_look(sweep, i) && !ended_by && !sweep->full)
			start(sweep, i);
	}
	for (size_t i = 0; i < sweep->count && ended_by; i++) {
		if (sweep->points[i].process > 0)
			kill(sweep->points[i].process, SIGTERM);
	}
	while (sweep->running > 0)
		wait_for_one(sweep);
	catch_ends(SIG_DFL);
	return ended_by;
}
