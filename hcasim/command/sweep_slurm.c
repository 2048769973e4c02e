/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep_slurm: the same sweep as jobs of Slurm (--via slurm). The tasks of a job array run the
 * parts. A task whose node is lost is queued again, and continues with its unfinished points. A
 * dependent job then runs the sweep as a whole. It finds the finished points, runs the points that
 * a task has left, and writes the tables. This process waits for it.
 *
 *     sbatch --array: hcasim sweep FILE --part K/T --out DIR     DIR/slurm/K.log
 *     sbatch --dependency: hcasim sweep FILE --out DIR           DIR/slurm/tables.log
 *
 * All machines see DIR, the program and the files of the scenario by the same paths. Slurm's own
 * variables (SBATCH_PARTITION, SBATCH_TIMELIMIT) choose the rest.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hcasim/command/sweep.h"

#define TASKS_MAX     1000 /* Slurm's MaxArraySize is 1001 by default */
#define NUMBER_BYTES  32
#define WORDS_MAX     16
#define LINE_INTERVAL 60 /* seconds between lines of progress */
#define TAIL_BYTES    4096

static volatile sig_atomic_t ended_by; /* 0: no signal received */

static void on_end(int signal)
{
	ended_by = signal;
}

static void catch_ends(void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

/* ---- the command of a job ---- */

static void add_word(FILE *out, const char *word)
{
	fputs(" '", out);
	for (; *word; word++)
		fprintf(out, *word == '\'' ? "'\\''" : "%c", *word);
	fputc('\'', out);
}

static void add_whole(FILE *out, const char *path)
{
	char whole[PATH_MAX];

	add_word(out, realpath(path, whole) ? whole : path);
}

/* Writes the command of this sweep, without --via. The caller frees the result. */
static char *make_command(const struct sweep *sweep, size_t tasks)
{
#define ENGINE(name, text, meaning) [SIM_ENGINE_##name] = text,
	static const char *const engines[] = {SIM_ENGINES(ENGINE)};
#undef ENGINE
	const struct arguments *arguments = sweep->arguments;
	char program[PATH_MAX] = "", path[PATH_MAX], *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		abort();
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		abort();
	snprintf(path, sizeof(path), "%.3000s/slurm/exit_code", sweep->folder);
	if (tasks > 0)
		fprintf(out, "exec");
	add_word(out, program);
	add_word(out, "sweep");
	add_whole(out, arguments->word);
	add_word(out, "--out");
	add_whole(out, sweep->folder);
	for (size_t i = 0; i < arguments->override_count; i++) {
		add_word(out, "--set");
		add_word(out, arguments->overrides[i]);
	}
	if (arguments->engine_given) {
		add_word(out, "--engine");
		add_word(out, engines[arguments->engine]);
	}
	if (arguments->expect)
		add_word(out, "--expect");
	fprintf(out, " --jobs %u", arguments->jobs);
	if (tasks > 0) {
		fprintf(out, " --part $SLURM_ARRAY_TASK_ID/%zu", tasks);
	} else {
		fprintf(out, "; code=$?; echo $code >");
		add_word(out, path);
		fprintf(out, "; exit $code");
	}
	fclose(out);
	return text;
}

/* ---- sbatch ---- */

static bool spawn(const char *const words[], int out, pid_t *process)
{
	posix_spawn_file_actions_t actions;
	int error;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	error = posix_spawnp(process, words[0], &actions, NULL, (char *const *)(uintptr_t)words,
			     environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		say("%s: %s; expected Slurm's commands on PATH", words[0], strerror(error));
	return error == 0;
}

/* Runs sbatch, and writes the number of the job. Returns false, having said why, if it fails. */
static bool submit(const char *const words[], char number[NUMBER_BYTES])
{
	int ends[2], status = 0;
	size_t length = 0;
	ssize_t count;
	pid_t process;
	bool good;

	if (pipe(ends) != 0) {
		say("pipe: %s", strerror(errno));
		return false;
	}
	good = spawn(words, ends[1], &process);
	close(ends[1]);
	while (good && length + 1 < NUMBER_BYTES &&
	       (count = read(ends[0], number + length, NUMBER_BYTES - length - 1)) > 0)
		length += (size_t)count;
	close(ends[0]);
	number[length] = '\0';
	number[strspn(number, "0123456789")] = '\0';
	if (!good)
		return false;
	while (waitpid(process, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && number[0] != '\0')
		return true;
	say("sbatch refused the job; its reason is above");
	return false;
}

static bool submit_tasks(const struct sweep *sweep, size_t tasks, char number[NUMBER_BYTES])
{
	char array[64], log[PATH_MAX], cpus[64], *command = make_command(sweep, tasks);
	const char *const words[] = {"sbatch",
				     "--parsable",
				     "--requeue",
				     array,
				     cpus,
				     "--ntasks=1",
				     log,
				     "--open-mode=append",
				     "--job-name=hcasim-sweep",
				     "--wrap",
				     command,
				     NULL};
	bool good;

	snprintf(array, sizeof(array), "--array=0-%zu", tasks - 1);
	snprintf(cpus, sizeof(cpus), "--cpus-per-task=%u", sweep->arguments->jobs);
	snprintf(log, sizeof(log), "--output=%.3000s/slurm/%%a.log", sweep->folder);
	good = submit(words, number);
	free(command);
	return good;
}

static bool submit_tables(const struct sweep *sweep, const char *after, char number[NUMBER_BYTES])
{
	char dependency[64], log[PATH_MAX], cpus[64], *command = make_command(sweep, 0);
	const char *const words[] = {
		"sbatch", "--parsable", "--requeue", dependency,
		cpus,     "--ntasks=1", log,         "--job-name=hcasim-tables",
		"--wrap", command,      NULL};
	bool good;

	snprintf(dependency, sizeof(dependency), "--dependency=afterany:%s", after);
	snprintf(cpus, sizeof(cpus), "--cpus-per-task=%u", sweep->arguments->jobs);
	snprintf(log, sizeof(log), "--output=%.3000s/slurm/tables.log", sweep->folder);
	good = submit(words, number);
	free(command);
	return good;
}

/* ---- waiting ---- */

static void cancel(const char *number)
{
	const char *const words[] = {"scancel", number, NULL};
	pid_t process;
	int status;

	if (*number && spawn(words, -1, &process))
		waitpid(process, &status, 0);
}

/* Returns true while Slurm knows the job, which it does for some minutes after its end. */
static bool is_there(const char *number)
{
	const char *const words[] = {"squeue", "--noheader", "--format=%T", "--jobs", number, NULL};
	char state[64] = "";
	int ends[2], status;
	ssize_t count = 0;
	pid_t process;

	if (pipe(ends) != 0)
		return false;
	if (spawn(words, ends[1], &process)) {
		close(ends[1]);
		count = read(ends[0], state, sizeof(state) - 1);
		waitpid(process, &status, 0);
	} else {
		close(ends[1]);
	}
	close(ends[0]);
	state[count > 0 ? count : 0] = '\0';
	state[strcspn(state, "\n")] = '\0';
	return *state && strcmp(state, "COMPLETED") != 0 && strcmp(state, "FAILED") != 0 &&
	       strcmp(state, "CANCELLED") != 0 && strcmp(state, "TIMEOUT") != 0;
}

static void print_progress(struct sweep *sweep, time_t *printed_at, size_t *printed)
{
	time_t now = time(NULL);
	bool terminal = isatty(STDERR_FILENO);

	for (size_t i = 0; i < sweep->count; i++)
		sweep_resume_look(sweep, i);
	if (sweep->done == *printed ||
	    (!terminal && now - *printed_at < LINE_INTERVAL && sweep->done < sweep->count))
		return;
	fprintf(stderr, "%s%zu/%zu points are finished%s", terminal ? "\r" : "", sweep->done,
		sweep->count, terminal && sweep->done < sweep->count ? "" : "\n");
	*printed = sweep->done;
	*printed_at = now;
}

/* Prints the end of the log of the last job, without its lines of progress. */
static void print_log(const struct sweep *sweep)
{
	char path[PATH_MAX], line[TAIL_BYTES];
	FILE *log;

	snprintf(path, sizeof(path), "%.3000s/slurm/tables.log", sweep->folder);
	log = fopen(path, "r");
	while (log && fgets(line, sizeof(line), log))
		if (strncmp(line, "hcasim:", strlen("hcasim:")) == 0)
			fputs(line, stderr);
	if (log)
		fclose(log);
}

/* The last job leaves its exit code in a file. Returns EXIT_BAD_INPUT if there is none. */
static int read_code(const struct sweep *sweep)
{
	char path[PATH_MAX];
	int code = EXIT_BAD_INPUT;
	FILE *file;

	snprintf(path, sizeof(path), "%.3000s/slurm/exit_code", sweep->folder);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &code) != 1)
		say("the job that writes the tables did not finish; see %.3000s/slurm/tables.log, "
		    "then run the same command again to continue",
		    sweep->folder);
	if (file)
		fclose(file);
	return code;
}

static int wait_for(struct sweep *sweep, const char *tasks, const char *tables)
{
	size_t printed = sweep->done;
	time_t printed_at = time(NULL);

	catch_ends(on_end);
	while (!ended_by && is_there(tables)) {
		print_progress(sweep, &printed_at, &printed);
		sleep(1);
	}
	catch_ends(SIG_DFL);
	if (ended_by) {
		cancel(tasks);
		cancel(tables);
		say("ended by signal %d, and the jobs are cancelled: %zu of %zu points are "
		    "finished; run the same command again to continue",
		    ended_by, sweep->done, sweep->count);
		return 128 + ended_by;
	}
	print_progress(sweep, &printed_at, &printed);
	print_log(sweep);
	return read_code(sweep);
}

int sweep_slurm_run(struct sweep *sweep)
{
	char path[PATH_MAX], tasks_number[NUMBER_BYTES], tables_number[NUMBER_BYTES];
	size_t unfinished = sweep->count - sweep->done, each = sweep->arguments->points;
	size_t tasks;

	if (each == 0)
		each = SWEEP_POINTS_EACH;
	tasks = (unfinished + each - 1) / each;
	tasks = tasks < TASKS_MAX ? tasks : TASKS_MAX;
	snprintf(path, sizeof(path), "%.3000s/slurm", sweep->folder);
	if (mkdir(path, 0777) != 0 && errno != EEXIST) {
		say("%s: %s", path, strerror(errno));
		return EXIT_BAD_INPUT;
	}
	snprintf(path, sizeof(path), "%.3000s/slurm/exit_code", sweep->folder);
	unlink(path);
	close(sweep->lock); /* the jobs lock the folder */
	if (!submit_tasks(sweep, tasks, tasks_number))
		return EXIT_BAD_INPUT;
	if (!submit_tables(sweep, tasks_number, tables_number)) {
		cancel(tasks_number);
		return EXIT_BAD_INPUT;
	}
	fprintf(stderr, "job %s: %zu tasks for %zu points; job %s: the tables\n", tasks_number,
		tasks, unfinished, tables_number);
	return wait_for(sweep, tasks_number, tables_number);
}
