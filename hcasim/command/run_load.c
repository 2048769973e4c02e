/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_load: runs the load of a scenario, in which processor cores post work requests to detailed
 * HCAs (traffic/load/load.h), and judges its results.
 */
#include <math.h>
#include <stdio.h>

#include "hcasim/command/play.h"
#include "hcasim/command/progress.h"
#include "hcasim/record/judgement.h"
#include "hcasim/run/bounds.h"
#include "traffic/load/load.h"

#define ERROR_BYTES 1024

struct load_act {
	struct play_act act;
	struct load_result metrics;
	const struct arguments *arguments;
};

static void show(void *context, sim_time now, uint64_t done, uint64_t operations)
{
	progress_show(context, now, done, operations, "work requests");
}

static void print(const struct play_act *act, const struct build *build, FILE *out)
{
	const struct load_result *result = &container_of(act, const struct load_act, act)->metrics;
	struct bottleneck bottleneck = bottleneck_find(build->sim, sim_now(build->sim));
	struct bounds bounds =
		bounds_find(build->sim, sim_now(build->sim), load_window(build->load));

	if (!isnan(result->mops))
		fprintf(out, "completed  %.4f M/s, %.3f Gb/s of data\n", result->mops,
			result->gbps);
	if (result->received_mops > 0)
		fprintf(out, "received   %.4f M/s\n", result->received_mops);
	if (build->scenario->load.background.threads > 0)
		fprintf(out, "background %.4f M/s\n", result->background_mops);
	if (result->median_ns > 0)
		fprintf(out, "latency    mean %.3f ns, p50 %.3f ns, p99 %.3f ns, p99.9 %.3f ns\n",
			result->mean_ns, result->median_ns, result->p99_ns, result->p999_ns);
	if (result->paused > 0)
		fprintf(out, "paused     %.2f %% of the time\n", result->paused * 100);
	bottleneck_print_line(&bottleneck, out);
	bounds_print_line(&bounds, out);
}

/* Runs the load, and judges its results. */
static int play(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		FILE *complaints)
{
	struct load_result *metrics = &container_of(act, struct load_act, act)->metrics;
	struct progress progress = progress_begin();
	int code;

	load_advance(build->load, SIM_NEVER, show, &progress);
	progress_end(&progress);
	code = judgement_load(build, metrics, outcome, complaints);
	play_say_windows(container_of(act, struct load_act, act)->arguments, build);
	return code;
}

int run_load(const struct arguments *arguments, const struct scenario *scenario, const char *folder,
	     FILE *out, FILE *complaints)
{
	struct load_act load = {.act = {.play = play, .print = print}, .arguments = arguments};
	char error[ERROR_BYTES] = "";
	struct lp_assignment *assignment;
	struct build *build;
	int code;

	if (!play_check(arguments, folder))
		return EXIT_BAD_INPUT;
	assignment = play_assign_lps(
		arguments, scenario,
		load_may_be_parallel(&scenario->load, error, sizeof(error)) ? NULL : error);
	build = assignment ? build_create_parallel(scenario, assignment, error, sizeof(error))
			   : build_create(scenario, arguments->engine, false, false, error,
					  sizeof(error));
	if (!build) {
		say("%s", error);
		code = EXIT_BAD_INPUT;
	} else {
		code = play_run(arguments, build, &load.act, folder, out, complaints);
		build_destroy(build);
	}
	lp_assignment_destroy(assignment);
	return code;
}
