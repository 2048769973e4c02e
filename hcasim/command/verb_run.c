/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verb_run: hcasim run FILE: the workload of a scenario, its load or its programs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/command/play.h"
#include "hcasim/command/progress.h"
#include "hcasim/command/run_ranks.h"
#include "hcasim/command/watch.h"
#include "hcasim/record/judgement.h"

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

static void show_nothing(void *context, sim_time now, uint32_t done, uint32_t flows)
{
	(void)context, (void)now, (void)done, (void)flows;
}

/* Runs the workload and judges the results. */
static int play(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		FILE *complaints)
{
	const struct experiment_act *workload = container_of(act, struct experiment_act, act);
	struct experiment *experiment = workload->experiment;
	struct progress progress = progress_begin();
	int code;
	if (workload->arguments->every)
		watch_run(workload->arguments, build, experiment);
	else
		experiment_advance(experiment, SIM_NEVER,
				   run_ranks_is_silent(workload->arguments) ? show_nothing : show,
				   &progress);
	progress_end(&progress);
	code = judgement_workload(build, experiment, outcome, complaints);
	play_say_windows(workload->arguments, build);
	return code;
}

static void print(const struct play_act *act, const struct build *build, FILE *out)
{
	(void)build;
	experiment_print(container_of(act, const struct experiment_act, act)->experiment, out);
}

/* Creates an experiment, on several LPs if there is an assignment and the workload supports it.
 * Returns NULL and writes the reason to *error on failure. */
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
	snprintf(error, ERROR_BYTES,
		 "%s: %s: a flow of one host starts a flow of another without delay; set "
		 "workload.posting.notification_latency above 0",
		 scenario->file, arguments->rank_group ? "mpirun" : "runs in one thread");
	experiment_destroy(experiment);
	if (arguments->rank_group)
		return NULL;
	if (!assignment->measured)
		say("%s", error);
	build_destroy(*build);
	return prepare(arguments, scenario, NULL, build, error);
}

int verb_run_workload(const struct arguments *arguments, const struct scenario *scenario,
		      const char *folder, FILE *out, FILE *complaints)
{
	char error[ERROR_BYTES] = "";
	if (!ranks_agree(arguments->rank_group, play_check(arguments, folder)))
		return EXIT_BAD_INPUT;
	if (arguments->pcap && scenario->fabric.fidelity == FIDELITY_FLOW) {
		say("%s: fidelity: flow has no packets to write; remove --pcap", scenario->file);
		return EXIT_BAD_INPUT;
	}
	struct lp_assignment *assignment =
		arguments->rank_group
			? run_ranks_assign(arguments, scenario)
			: play_assign_lps(
				  arguments, scenario,
				  scenario->run.fast_forward == FAST_FORWARD_OFF
					  ? NULL
					  : "run.fast_forward compares the state of the whole run");
	if (arguments->rank_group && !assignment)
		return EXIT_BAD_INPUT;
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

/* A sweep or variants have no effect on a single run. */
static void say_points(const struct scenario *scenario)
{
	size_t points = 1;
	for (uint32_t i = 0; i < scenario->axis_count; i++)
		points *= scenario->axes[i].count;
	if (scenario->axis_count > 0)
		say("%s: one run of the file's own values; hcasim sweep runs the %zu point%s of "
		    "its sweep or variants",
		    scenario->file, points, points == 1 ? "" : "s");
}

static int run_silently(const struct arguments *arguments, const struct scenario *scenario)
{
	FILE *nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort();
	int code = verb_run_workload(arguments, scenario, NULL, NULL, nowhere);
	fclose(nowhere);
	return code;
}

static int run(const struct arguments *arguments)
{
	struct scenario *scenario = arguments_scenario(arguments);
	int code = EXIT_BAD_INPUT;
	if (!run_ranks_same(arguments, scenario)) {
		scenario_destroy(scenario);
		return EXIT_BAD_INPUT;
	}
	say_points(scenario);
	if (scenario->has_workload || scenario->has_load || arguments->rank_group) {
		struct arguments chosen = *arguments;
		if (!arguments_engine(arguments, scenario, &chosen.engine))
			code = EXIT_BAD_INPUT;
		else if (run_ranks_is_silent(arguments))
			code = run_silently(&chosen, scenario);
		else
			code = (scenario->has_load && !arguments->rank_group ? run_load
									     : verb_run_workload)(
				&chosen, scenario, arguments->out, stdout, stderr);
	} else if (scenario->program_count > 0)
		code = verb_exec_scenario_programs(arguments, scenario);
	else
		say("%s: nothing to run; expected workload: {...}, load: {...} or programs: "
		    "[{host: host0, "
		    "command: [...]}], or hcasim exec",
		    scenario->file);
	scenario_destroy(scenario);
	return code;
}

int verb_run(const struct arguments *arguments)
{
	struct arguments chosen = *arguments;
	int code = EXIT_BAD_INPUT;
	if (run_ranks_begin(&chosen))
		code = run(&chosen);
	return run_ranks_end(&chosen, code);
}
