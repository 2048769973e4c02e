/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_mpi: implements hcasim mpi FILE --np N -- PROGRAM ARGS: runs an MPI program, compiled by
 * smpicc, with its ranks on the hosts of a scenario. This file reports all user errors. Then
 * smpirun runs the program with libhcasim-smpi.so as its platform, which simulates the HCAs and the
 * fabric in the program's own process (hcasim/mpi).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hcasim/command/verb.h"
#include "hcasim/mpi/mpi_world.h"
#include "hcasim/record/result.h"
#include "sim/install_paths.h"
#include "traffic/mpi/rank_traces.h"

#define PLATFORM     "libhcasim-smpi.so"
#define WORDS_MAX    64 /* arguments of smpirun before the program's */
#define DETACHED_MAX 2147483647

struct mpi_run {
	const struct arguments *arguments;
	const struct scenario *scenario;
	uint32_t ranks;
	char platform[PATH_MAX], program[PATH_MAX];
	char folder[64]; /* for files that smpirun and the platform read, gone at the end */
	char *words[WORDS_MAX];
	size_t word_count;
};

/* ---- checks ---- */

/* Finds a program: a name with a slash is a path; others are searched in PATH. */
static bool find_program(const char *name, char path[PATH_MAX])
{
	const char *search = getenv("PATH");
	struct stat status;

	if (strchr(name, '/'))
		return realpath(name, path) && access(path, X_OK) == 0 &&
		       stat(path, &status) == 0 && S_ISREG(status.st_mode);
	while (search && *search != '\0') {
		size_t length = strcspn(search, ":");
		int bytes = snprintf(path, PATH_MAX, "%.*s/%s", (int)length, search, name);

		if (bytes < PATH_MAX && access(path, X_OK) == 0 && stat(path, &status) == 0 &&
		    S_ISREG(status.st_mode))
			return true;
		search += length + (search[length] == ':');
	}
	return false;
}

/* Returns true if the program uses SimGrid's library. Programs of other MPI libraries do not. */
static bool is_for_smpi(const char *path)
{
	static const char library[] = "libsimgrid.so";
	bool found = false;
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0) {
		size_t bytes = (size_t)status.st_size;
		void *text = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);

		found = text != MAP_FAILED && memmem(text, bytes, library, sizeof(library) - 1);
		if (text != MAP_FAILED)
			munmap(text, bytes);
	}
	if (fd >= 0)
		close(fd);
	return found;
}

static bool check_trace(struct mpi_run *run)
{
	const struct arguments *arguments = run->arguments;
	char resolved[128], error[1024] = "";

	snprintf(resolved, sizeof(resolved), "%s/replay", run->folder);
	run->ranks = rank_traces_resolve(arguments->replay, resolved, error, sizeof(error));
	if (run->ranks == 0)
		say("%s; expected a file written by --capture", error);
	else if (arguments->capture)
		say("--replay and --capture exclude each other; remove one");
	else if (arguments->ranks > 0 && arguments->ranks != run->ranks)
		say("%s: the trace has %u ranks; expected --np %u, or no --np", arguments->replay,
		    run->ranks, run->ranks);
	else
		return true;
	return false;
}

static bool check_program(struct mpi_run *run)
{
	const struct arguments *arguments = run->arguments;
	char **words = arguments->programs;
	bool given = words && words[0];

	if (given == !!arguments->replay) {
		say(given ? "--replay and a program exclude each other; remove one"
			  : "no program; expected -- PROGRAM ARGS after %s, or --replay FILE",
		    arguments->word);
		return false;
	}
	if (arguments->replay)
		return check_trace(run);
	if (!find_program(words[0], run->program)) {
		say("%s is not a program that can be run", words[0]);
		return false;
	}
	for (char **word = words + 1; *word; word++) {
		if (**word != '\0' && !strpbrk(*word, " \t\n*?["))
			continue;
		say("\"%s\": smpirun splits arguments at spaces and expands patterns; remove them",
		    *word);
		return false;
	}
	if (is_for_smpi(run->program))
		return true;
	say("%s is not compiled for SMPI; expected a program of smpicc or smpicxx", words[0]);
	return false;
}

static bool check_scenario(struct mpi_run *run)
{
	const struct scenario *scenario = run->scenario;
	uint32_t ranks = run->arguments->ranks;

	if (run->ranks == 0) /* the trace determines the number of ranks */
		run->ranks = ranks > 0 ? ranks : scenario->host_count;
	if (scenario->has_workload || scenario->has_load || scenario->program_count > 0)
		say("%s: the scenario has a workload, a load, or programs, which an MPI program "
		    "excludes; remove them",
		    scenario->file);
	else if (scenario_has_siw(scenario))
		say("%s: driver: siw, and messages of MPI use RoCE or InfiniBand; expected another "
		    "adapter, for example connectx4-100gbe",
		    scenario->file);
	else if (run->ranks > scenario->host_count)
		say("%s: %u ranks, and %u host%s; expected at most one rank per host",
		    scenario->file, run->ranks, scenario->host_count,
		    scenario->host_count == 1 ? "" : "s");
	else
		return true;
	return false;
}

static bool check_tools(struct mpi_run *run)
{
	char smpirun[PATH_MAX];

	if (!find_program("smpirun", smpirun))
		say("smpirun not found; install the package libsimgrid-dev");
	else if (!install_paths_library(PLATFORM, run->platform))
		say("%s not found; it is installed beside hcasim, and builds with sanitizers do "
		    "not have it",
		    PLATFORM);
	else
		return true;
	return false;
}

/* ---- files and words ---- */

__attribute__((format(printf, 2, 3))) static void add_word(struct mpi_run *run, const char *format,
							   ...)
{
	va_list values;

	va_start(values, format);
	if (run->word_count + 1 == WORDS_MAX ||
	    vasprintf(&run->words[run->word_count++], format, values) < 0)
		abort();
	va_end(values);
}

static FILE *create(const struct mpi_run *run, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", run->folder, name);
	return fopen(path, "w");
}

static bool make_folder(struct mpi_run *run)
{
	const char *base = getenv("TMPDIR");

	snprintf(run->folder, sizeof(run->folder), "%.40s/hcasim-mpi-XXXXXX",
		 base && strlen(base) < 40 ? base : "/tmp");
	if (!mkdtemp(run->folder)) {
		say("%s: %s", run->folder, strerror(errno));
		run->folder[0] = '\0';
		return false;
	}
	return true;
}

static bool write_inputs(struct mpi_run *run)
{
	FILE *scenario = create(run, "scenario.yaml"), *hosts = create(run, "hosts");

	if (scenario)
		scenario_print(run->scenario, scenario);
	for (uint32_t i = 0; hosts && i < run->ranks; i++)
		fprintf(hosts, "%s\n", run->scenario->hosts[i].name);
	bool good = scenario && hosts;

	good = (!scenario || fclose(scenario) == 0) && good;
	good = (!hosts || fclose(hosts) == 0) && good;
	if (!good)
		say("%s: %s", run->folder, strerror(errno));
	return good;
}

static void remove_inputs(const struct mpi_run *run)
{
	static const char *const names[] = {"scenario.yaml", "hosts", "status", "replay"};
	char path[128];

	if (run->folder[0] == '\0')
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", run->folder, names[i]);
		unlink(path);
	}
	rmdir(run->folder);
}

static void set_environment(const struct mpi_run *run)
{
#define ENGINE_NAME(name, text, meaning) text,
	static const char *const engines[] = {SIM_ENGINES(ENGINE_NAME)};
	const struct arguments *arguments = run->arguments;
	char path[128];

	snprintf(path, sizeof(path), "%s/scenario.yaml", run->folder);
	setenv("HCASIM_MPI_SCENARIO", path, 1);
	snprintf(path, sizeof(path), "%s/status", run->folder);
	setenv("HCASIM_MPI_STATUS", path, 1);
	setenv("HCASIM_MPI_ENGINE", engines[arguments->engine], 1);
	setenv("HCASIM_MPI_OUT", arguments->out ? arguments->out : "", 1);
	setenv("HCASIM_MPI_PCAP", arguments->pcap ? arguments->pcap : "", 1);
	setenv("HCASIM_MPI_TRACE", arguments->trace ? arguments->trace : "", 1);
	setenv("HCASIM_MPI_COUNTERS", arguments->counters ? arguments->counters : "", 1);
}

/* Adds a time in seconds, SimGrid's unit. */
static void add_time(struct mpi_run *run, const char *key, const char *before, sim_time time,
		     const char *after)
{
	add_word(run, "--cfg=%s:%s%.12f%s", key, before, (double)time / (double)SEC, after);
}

/* Chooses options that make results independent of this machine: computing takes no time. */
static void choose_words(struct mpi_run *run)
{
	static const char *const collectives[] = {"default", "mpich", "ompi", "mvapich2", "impi"};
	const struct mpi_params *mpi = &run->scenario->mpi;
	const struct arguments *arguments = run->arguments;

	add_word(run, "smpirun");
	add_word(run, "-quiet");
	add_word(run, "-np");
	add_word(run, "%u", run->ranks);
	add_word(run, "-platform");
	add_word(run, "%s", run->platform);
	add_word(run, "-hostfile");
	add_word(run, "%s/hosts", run->folder);
	add_word(run, "--log=root.thresh:%s", arguments->verbose ? "info" : "warning");
	add_word(run, "--cfg=smpi/simulate-computation:no");
	add_word(run, "--cfg=smpi/host-speed:1Gf");
	add_word(run, "--cfg=smpi/grow-injected-times:no");
	add_word(run, "--cfg=surf/precision:1e-13");
	add_word(run, "--cfg=smpi/privatization:dlopen");
	add_word(run, "--cfg=smpi/coll-selector:%s", collectives[mpi->collectives]);
	add_word(run, "--cfg=smpi/async-small-thresh:%" PRIu64,
		 mpi->eager < DETACHED_MAX ? mpi->eager : DETACHED_MAX);
	add_word(run, "--cfg=smpi/send-is-detached-thresh:%" PRIu64,
		 mpi->eager < DETACHED_MAX ? mpi->eager : DETACHED_MAX);
	add_time(run, "smpi/os", "0:", mpi->send_overhead, ":0");
	add_time(run, "smpi/ois", "0:", mpi->send_overhead, ":0");
	add_time(run, "smpi/or", "0:", mpi->receive_overhead, ":0");
	add_time(run, "smpi/test", "", mpi->poll, "");
	add_time(run, "smpi/iprobe", "", mpi->poll, "");
	add_time(run, "smpi/wtime", "", mpi->clock, "");
	if (arguments->capture) {
		add_word(run, "-trace-ti");
		add_word(run, "-trace-file");
		add_word(run, "%s", arguments->capture);
	}
	if (arguments->replay) {
		add_word(run, "-replay");
		add_word(run, "%s/replay", run->folder);
	} else {
		add_word(run, "%s", run->program);
	}
}

/* ---- the run ---- */

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_NOT_AS_EXPECTED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_program(const struct mpi_run *run)
{
	char **rest = run->arguments->programs;
	size_t more = 0;

	while (!run->arguments->replay && rest[more])
		more++;
	char **words = calloc(run->word_count + more + 1, sizeof(*words));

	if (!words)
		abort();
	memcpy(words, run->words, run->word_count * sizeof(*words));
	for (size_t i = 1; i < more; i++) /* the first is the program: run->program */
		words[run->word_count + i - 1] = rest[i];
	fflush(NULL);
	pid_t child = fork();

	if (child == 0) {
		set_environment(run);
		execvp(words[0], words);
		_exit(127);
	}
	free(words);
	signal(SIGINT, SIG_IGN); /* the signal ends the program first, and then this process */
	return child < 0 ? EXIT_NOT_AS_EXPECTED : wait_for(child);
}

static int judge(const struct mpi_run *run, int code)
{
	struct mpi_status status;
	char path[128];

	snprintf(path, sizeof(path), "%s/status", run->folder);
	FILE *in = fopen(path, "rb");
	bool whole = in && fread(&status, sizeof(status), 1, in) == 1;

	if (in)
		fclose(in);
	if (!whole) {
		say("the program did not finish (exit code %d); there are no results", code);
		return code != EXIT_GOOD ? code : EXIT_NOT_AS_EXPECTED;
	}
	fprintf(stderr,
		"%u ranks, %" PRIu64 " messages, %" PRIu64 " bytes, %" PRIu64
		" packet-hops, %" PRIu64 ".%06" PRIu64 " us\n",
		run->ranks, status.messages, status.bytes, status.packets, status.time / US,
		status.time % US);
	if (status.failed > 0)
		say("%" PRIu64 " messages failed: the HCA's retries were exceeded", status.failed);
	if (status.deadlock > 0)
		say("deadlock: ranks wait for messages that no rank sends");
	if (code == EXIT_GOOD && (status.wrong > 0 || status.failed > 0 || status.deadlock > 0))
		return EXIT_NOT_AS_EXPECTED;
	return code;
}

static int check_and_run(struct mpi_run *run)
{
	char error[1024] = "";
	const struct arguments *arguments = run->arguments;
	const struct result_paths paths = {.folder = arguments->out,
					   .packets = arguments->pcap,
					   .trace = arguments->trace,
					   .counters = arguments->counters};

	if (!make_folder(run))
		return EXIT_NOT_AS_EXPECTED;
	if (!check_program(run) || !check_scenario(run) || !check_tools(run))
		return EXIT_BAD_INPUT;
	if (!result_check(&paths, error, sizeof(error))) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	if (!write_inputs(run))
		return EXIT_NOT_AS_EXPECTED;
	choose_words(run);
	int code = judge(run, run_program(run));

	if (arguments->capture && !rank_traces_name(arguments->capture, error, sizeof(error))) {
		say("%s", error);
		code = code == EXIT_GOOD ? EXIT_NOT_AS_EXPECTED : code;
	} else if (arguments->capture &&
		   !rank_traces_check(arguments->capture, error, sizeof(error))) {
		say("%s", error);
		code = EXIT_BAD_INPUT;
	}
	return code;
}

int verb_mpi(const struct arguments *arguments)
{
	struct scenario *scenario = arguments_scenario(arguments);
	struct mpi_run run = {.arguments = arguments, .scenario = scenario};

	if (!scenario)
		return EXIT_BAD_INPUT;
	int code = check_and_run(&run);

	remove_inputs(&run);
	for (size_t i = 0; i < run.word_count; i++)
		free(run.words[i]);
	scenario_destroy(scenario);
	return code;
}
