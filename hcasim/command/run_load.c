/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_load: the load of a scenario: work requests of processor cores on detailed HCAs (traffic/load/load.h), and what came
 * of them.
 */
#include <stdio.h>

#include "hcasim/command/play.h"
#include "hcasim/command/progress.h"
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
	struct bounds bounds = bounds_find(build->sim, sim_now(build->sim));

	fprintf(out, "completed  %.4f M/s, %.3f Gb/s of data\n", result->mops, result->gbps);
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

/* No more data than a link carries, to a packet of each node; loopback has none. */
static unsigned check_rate(const struct build *build, const struct load_result *metrics,
			   FILE *complaints)
{
	const struct load_params *params = &build->scenario->load;
	double window_us = metrics->mops > 0 ? (double)params->operations / metrics->mops : 0;
	double most = 0;

	if (params->pattern == LOAD_LOOPBACK || window_us <= 0)
		return 0;
	for (uint32_t i = 0; i < build->scenario->host_count; i++) {
		double rate = (double)port_rate_bps(build_host_port(build, i)) / 1e9;

		most = rate > most ? rate : most;
	}
	most += (double)(params->nodes * params->mtu) * 8 / 1e3 / window_us;
	if (metrics->gbps <= most)
		return 0;
	fprintf(complaints, "%.3f Gb/s of data over a link that carries %.3f\n", metrics->gbps,
		most);
	return 1;
}

/* Work requests that may be posted and not complete at both ends, of all hosts: a SEND is complete for the sender while the CQE of
 * its receive still waits. */
static double under_way_most(const struct build *build)
{
	const struct load_params *params = &build->scenario->load;
	double hosts = build->scenario->host_count;
	double pairs = (double)(params->threads * params->qps +
				params->background.threads * params->background.qps);
	uint64_t most = params->tx_depth * params->post_list;

	if (params->verb == LOAD_SEND || params->background.verb == LOAD_SEND)
		most += load_receives(params, params->transport == LOAD_UD);
	return hosts * hosts * pairs * (double)most;
}

/* The rate of all nodes and their background, in the window that is measured. Requests that were under way when it began were served
 * before it in part. The bounds' demand is too high by what those took that were under way at the end. */
static unsigned check_bounds(const struct build *build, const struct load_result *result, FILE *out)
{
	const struct load_params *params = &build->scenario->load;
	struct bounds bounds = bounds_find(build->sim, sim_now(build->sim));
	double nodes = params->pattern == LOAD_ALL ? (double)build->scenario->host_count : 1;
	double rate = (result->mops + result->background_mops) * nodes * 1e6;
	double edge = 2 * under_way_most(build) / (double)params->operations;

	return edge < 1 ? bounds_check(&bounds, rate, edge, out) : 0;
}

/* Plays it, and judges what came of it. */
static int play(struct play_act *act, const struct build *build, struct result_outcome *outcome,
		FILE *complaints)
{
	struct load_result *metrics = &container_of(act, struct load_act, act)->metrics;
	char error[ERROR_BYTES] = "";
	struct progress progress = progress_begin();
	bool good = load_execute(build->load, show, &progress, error, sizeof(error));
	unsigned wrong = !good;

	progress_end(&progress);
	outcome->load = metrics;
	if (good)
		load_take_result(build->load, metrics);
	else
		fprintf(complaints, "the load failed: %s\n", error);
	wrong += experiment_check_build(build, complaints);
	wrong += good ? check_bounds(build, metrics, complaints) : 0;
	wrong += good ? check_rate(build, metrics, complaints) : 0;
	wrong += good ? result_compare_metrics(build, outcome, complaints) : 0;
	play_say_windows(container_of(act, struct load_act, act)->arguments, build);
	return wrong > 0 ? EXIT_NOT_AS_EXPECTED : EXIT_GOOD;
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
