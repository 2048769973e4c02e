/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_run: hcasim run FILE: the workload of a scenario, its load or its programs.
 */
#include <stdio.h>
#include <string.h>

#include "hcasim/command/play.h"
#include "hcasim/command/progress.h"

#define ERROR_BYTES 1024

struct experiment_act {
	struct play_act act;
	struct experiment *experiment;
	const struct arguments *arguments;
};

static void show(void *context, sim_time now, uint32_t done, uint32_t flows)
{
	progress_show(context, now, done, flows, "flows");
}

/* Plays it, and judges what came of it. */
static int play(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		FILE *complaints)
{
	const struct experiment_act *workload = container_of(act, struct experiment_act, act);
	struct experiment *experiment = workload->experiment;
	struct progress progress = progress_begin();
	unsigned wrong;
	experiment_run(experiment, show, &progress);
	progress_end(&progress);
	outcome->experiment = experiment;
	wrong = experiment_check(experiment, complaints);
	wrong += result_compare_metrics(build, outcome, complaints);
	play_say_windows(workload->arguments, build);
	return wrong > 0 ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
}

static void print(const struct play_act *act, const struct build *build, FILE *out)
{
	(void)build;
	experiment_print(container_of(act, const struct experiment_act, act)->experiment, out);
}

/* On several LPs if there is an assignment, and the workload can do with it. NULL: *error. */
static struct experiment *prepare(const struct arguments *arguments,
				  const struct scenario *scenario,
				  const struct lp_assignment *assignment, struct build **build,
				  char *error)
{
	*build = assignment ? build_create_parallel(scenario, assignment, error, ERROR_BYTES)
			    : build_create(scenario, arguments->engine, false, false, error,
					   ERROR_BYTES);
	struct experiment *experiment =
		*build ? experiment_create(*build, error, ERROR_BYTES) : NULL;
	if (!experiment || experiment_may_be_parallel(experiment))
		return experiment;
	say("%s: in one thread: what one host does begins something at another at once; give "
	    "workload.posting.notification_latency more than 0",
	    scenario->file);
	experiment_destroy(experiment);
	build_destroy(*build);
	return prepare(arguments, scenario, NULL, build, error);
}

int run_workload(const struct arguments *arguments, const struct scenario *scenario,
		 const char *folder, FILE *out, FILE *complaints)
{
	char error[ERROR_BYTES] = "";
	if (!play_check(arguments, folder))
		return EXIT_BAD_INPUT;
	if (arguments->pcap && scenario->fabric.fidelity == FIDELITY_FLOW) {
		say("%s: fidelity: flow has no packets to write; expected no --pcap",
		    scenario->file);
		return EXIT_BAD_INPUT;
	}
	struct lp_assignment *assignment = play_assign_lps(arguments, scenario, NULL);
	struct build *build = NULL;
	struct experiment *experiment = prepare(arguments, scenario, assignment, &build, error);
	int code = EXIT_BAD_INPUT;
	if (!experiment) {
		say("%s", error);
	} else if (!experiment_knows_metrics(experiment, error, sizeof(error))) {
		say("%s", error);
		experiment_destroy(experiment);
	} else {
		struct experiment_act workload = {
			.act = {play, print}, .experiment = experiment, .arguments = arguments};
		code = play_run(arguments, build, &workload.act, folder, out, complaints);
		experiment_destroy(experiment);
	}
	if (build)
		build_destroy(build);
	lp_assignment_destroy(assignment);
	return code;
}

int verb_run(const struct arguments *arguments)
{
	struct scenario *scenario = arguments_scenario(arguments);
	int code = EXIT_BAD_INPUT;
	if (!scenario)
		return EXIT_BAD_INPUT;
	if (scenario->has_workload || scenario->has_load) {
		struct arguments chosen = *arguments;
		if (arguments_engine(arguments, scenario, &chosen.engine))
			code = (scenario->has_load ? run_load : run_workload)(
				&chosen, scenario, arguments->out, stdout, stderr);
	} else if (scenario->program_count > 0)
		code = run_scenario_programs(arguments, scenario);
	else
		say("%s: nothing to run; expected workload: {...}, load: {...} or programs: "
		    "[{host: host0, "
		    "command: [...]}], or hcasim exec",
		    scenario->file);
	scenario_destroy(scenario);
	return code;
}
