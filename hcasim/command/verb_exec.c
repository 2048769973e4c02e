/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_exec: implements hcasim exec FILE -- host0: PROGRAM ARGS : host1: PROGRAM ARGS, and runs the
 * programs of a scenario for hcasim run FILE. "server" before a host marks a program that ends with
 * the others. All user errors are found before the first program starts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hca/device/hca.h"
#include "hcasim/command/verb.h"
#include "hcasim/command/waveform.h"
#include "hcasim/record/result.h"
#include "hcasim/run/bounds.h"
#include "hcasim/run/experiment.h"
#include "verbs-shim/session/executable.h"

#define ERROR_BYTES 1024
#define SERVER      "server" /* before the host of a program that ends with the others */

struct run {
	const struct arguments *arguments;
	const struct scenario *scenario;
	struct scenario_program *programs;
	size_t count;
	struct result_paths paths;
};

/* Returns the number of the host that "host0:" names. Otherwise prints an error and returns
 * NO_HOST. */
static uint32_t read_host(const struct run *run, const char *word)
{
	char name[64];
	size_t length = strlen(word);
	if (length < 2 || word[length - 1] != ':' || length > sizeof(name)) {
		say("found \"%s\"; expected a host: host0: PROGRAM ARGS : host1: PROGRAM ARGS",
		    word);
		return NO_HOST;
	}
	snprintf(name, sizeof(name), "%.*s", (int)length - 1, word);
	uint32_t host = scenario_find_host(run->scenario, name);
	const char *near = scenario_suggest_host(run->scenario, name);
	if (host == NO_HOST && near)
		say("%s: no host \"%s\"; did you mean \"%s\"?", run->scenario->file, name, near);
	else if (host == NO_HOST)
		say("%s: no host \"%s\"", run->scenario->file, name);
	return host;
}

/* Splits the words after -- at each ":" into programs. */
static bool read_programs(struct run *run)
{
	char **words = run->arguments->programs;
	bool good = true;
	while (*words) {
		struct scenario_program *program = &run->programs[run->count++];
		char **end = words;
		while (*end && strcmp(*end, ":") != 0)
			end++;
		bool more = *end;
		*end = NULL;
		if (!*words) {
			say("a program is missing before or after \":\"");
			return false;
		}
		program->server = strcmp(*words, SERVER) == 0 && words[1];
		words += program->server;
		program->host = read_host(run, *words);
		program->argv = words + 1;
		good = good && program->host != NO_HOST;
		if (program->host != NO_HOST && !words[1]) {
			say("%s is not followed by a program", *words);
			good = false;
		}
		words = end + more;
		if (more && !*words) {
			say("a program is missing after \":\"");
			return false;
		}
	}
	return good;
}

bool verb_exec_program_check(const struct scenario *scenario,
			     const struct scenario_program *program, char *error,
			     size_t error_bytes)
{
	const struct scenario_host *host = &scenario->hosts[program->host];
	char reason[ERROR_BYTES / 2];
	if (!host->detailed)
		snprintf(error, error_bytes,
			 "%s has an HCA of fidelity endpoint, which no program can use",
			 host->name);
	else if (executable_check(program->argv[0], reason, sizeof(reason)))
		return true;
	else
		snprintf(error, error_bytes, "%s: %s", host->name, reason);
	for (uint32_t i = 0; i < scenario->program_count; i++) { /* not of the command line */
		char path[32];
		snprintf(path, sizeof(path), "programs.%u.command", i);
		if (program == &scenario->programs[i])
			scenario_blame(scenario, path, error, error_bytes);
	}
	return false;
}

static bool all_are_servers(const struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (!run->programs[i].server)
			return false;
	return true;
}

static bool check_programs(const struct run *run)
{
	char error[ERROR_BYTES];
	bool good = !run->scenario->has_workload && !run->scenario->has_load;
	if (!good)
		say("%s: the scenario has a workload or a load; programs exclude both",
		    run->scenario->file);
	if (scenario_has(run->scenario, FIDELITY_ENDPOINT) &&
	    scenario_has(run->scenario, FIDELITY_DETAILED)) {
		say("%s: HCAs have both fidelities; programs need detailed HCAs on all hosts",
		    run->scenario->file);
		good = false;
	}
	if (run->count > 0 && all_are_servers(run)) {
		say("all programs are servers; expected one that ends by itself");
		good = false;
	}
	for (size_t i = 0; i < run->count; i++) {
		if (verb_exec_program_check(run->scenario, &run->programs[i], error, sizeof(error)))
			continue;
		say("%s", error);
		good = false;
	}
	return good;
}

static bool add_programs(const struct run *run, struct build *build)
{
	char error[ERROR_BYTES];
	for (size_t i = 0; i < run->count; i++) {
		const struct scenario_program *program = &run->programs[i];
		if (session_add_program(build->session, program->host, program->argv,
					program->start, program->server, error, sizeof(error)))
			continue;
		say("%s: %s", run->scenario->hosts[program->host].name, error);
		return false;
	}
	return true;
}

/* Warns of data that a program may have read too early. */
static void say_early_acks(const struct build *build)
{
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		uint64_t count = build->hcas[i] ? hca_acked_before_data(build->hcas[i]) : 0;

		if (count)
			say("%s: %" PRIu64
			    " messages over loopback were acknowledged before their data were in "
			    "memory, as on a ConnectX-4. A program that reads the target as soon "
			    "as the sender has its completion may see old data; "
			    "transport.ack_when: posted prevents this",
			    build->scenario->hosts[i].name, count);
	}
}

/* Runs the programs. All checks are complete, so later failures are not errors of the input. */
static int run_programs(const struct run *run)
{
	char error[ERROR_BYTES] = "";
	enum sim_engine engine;
	if (!arguments_engine(run->arguments, run->scenario, &engine))
		return EXIT_BAD_INPUT;
	struct build *build = build_create(run->scenario, engine, isatty(STDOUT_FILENO) != 0,
					   run->arguments->verbose, error, sizeof(error));
	if (!build) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	struct result *result = NULL;
	struct systemc_vcd *vcd = NULL;
	int code = EXIT_BAD_INPUT;
	if (waveform_begin(run->arguments, build, &vcd) && add_programs(run, build)) {
		if (session_prepare(build->session, error, sizeof(error)))
			result = result_begin(build, &run->paths, error, sizeof(error));
		if (!result)
			say("%s", error);
	}
	if (result) {
		code = session_run(build->session);
		say_early_acks(build);
		if (run->arguments->verbose) {
			struct bottleneck bottleneck =
				bottleneck_find(build->sim, sim_now(build->sim));
			struct bounds bounds = bounds_find(build->sim, sim_now(build->sim), NULL);
			bottleneck_print_line(&bottleneck, stderr);
			bounds_print_line(&bounds, stderr);
		}
		struct result_outcome outcome = {0};
		unsigned wrong = result_compare(build, stderr);
		violations_open(&outcome.violations);
		wrong += experiment_check_build(build, outcome.violations.out);
		wrong += session_check_cpu(build->session, outcome.violations.out);
		violations_close(&outcome.violations, stderr);
		if (code == EXIT_GOOD && wrong > 0)
			code = EXIT_NOT_AS_EXPECTED;
		int failure = session_output_error(build->session);
		if (failure != 0) {
			say("output of programs could not be written: %s", strerror(failure));
			code = code == EXIT_GOOD ? EXIT_BAD_INPUT : code;
		}
		outcome.exit_code = code;
		outcome.trace_hash = session_trace_hash(build->session);
		if (!result_finish(result, &outcome, error, sizeof(error))) {
			say("%s", error);
			code = code == EXIT_GOOD ? EXIT_BAD_INPUT : code;
		}
		result_outcome_fini(&outcome);
	}
	if (!waveform_end(vcd))
		code = code == EXIT_GOOD ? EXIT_BAD_INPUT : code;
	build_destroy(build);
	return code;
}

static int check_and_run(struct run *run)
{
	char error[ERROR_BYTES] = "";
	const struct arguments *arguments = run->arguments;
	run->paths = (struct result_paths){.folder = arguments->out,
					   .packets = arguments->pcap,
					   .trace = arguments->trace,
					   .counters = arguments->counters};
	if (!check_programs(run))
		return EXIT_BAD_INPUT;
	if (!result_check(&run->paths, error, sizeof(error))) {
		say("%s", error);
		return EXIT_BAD_INPUT;
	}
	session_supervise();
	return run_programs(run);
}

int verb_exec(const struct arguments *arguments)
{
	size_t words = 0;
	if (!arguments->programs || !arguments->programs[0]) {
		say("no programs; expected -- host0: PROGRAM ARGS : host1: PROGRAM ARGS after %s",
		    arguments->word);
		return EXIT_BAD_INPUT;
	}
	while (arguments->programs[words])
		words++;
	struct scenario *scenario = arguments_scenario(arguments);
	if (!scenario)
		return EXIT_BAD_INPUT;
	struct run run = {.arguments = arguments, .scenario = scenario};
	run.programs = calloc(words, sizeof(*run.programs));
	if (!run.programs)
		abort();
	int code = read_programs(&run) ? check_and_run(&run) : EXIT_BAD_INPUT;
	free(run.programs);
	scenario_destroy(scenario);
	return code;
}

int verb_exec_scenario_programs(const struct arguments *arguments, struct scenario *scenario)
{
	struct run run = {.arguments = arguments,
			  .scenario = scenario,
			  .programs = scenario->programs,
			  .count = scenario->program_count};
	return check_and_run(&run);
}
