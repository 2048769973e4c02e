/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step: a program that runs a simulation in steps, with a congestion control of its own. Sixteen
 * hosts send to one. Each CNP halves the rate of a flow. Each 50 us without a CNP add 1 Gb/s.
 *
 *     cc step.c $(pkg-config --cflags --libs hcasim) -o step && ./step
 */
#include <stdio.h>
#include <stdlib.h>

#include "hcasim/congestion.h"
#include "hcasim/hcasim.h"

#define PERIOD (50 * US)
#define GBPS   UINT64_C(1000000000)

struct state {
	struct cc_state cc; /* first */
	uint64_t line_rate_bps;
};

static void begin(struct cc_state *cc, const void *params, const struct congestion_path *path,
		  sim_time now)
{
	struct state *state = (struct state *)cc;

	(void)params;
	state->line_rate_bps = path->line_rate_bps;
	cc->rate_bps = path->line_rate_bps;
	cc->cwnd_bytes = CWND_UNLIMITED;
	cc->next_step = now + PERIOD;
}

static void on_cnp(struct cc_state *cc, const void *params, sim_time now)
{
	(void)params;
	cc->rate_bps = cc->rate_bps > 2 * GBPS ? cc->rate_bps / 2 : GBPS;
	cc->next_step = now + PERIOD;
}

/* The time is cc->next_step, or several periods later. */
static void step(struct cc_state *cc, const void *params, sim_time now)
{
	struct state *state = (struct state *)cc;

	(void)params;
	for (; cc->next_step <= now; cc->next_step += PERIOD)
		cc->rate_bps += GBPS;
	if (cc->rate_bps > state->line_rate_bps)
		cc->rate_bps = state->line_rate_bps;
}

static const struct congestion_ops own = {
	.version = CONGESTION_VERSION,
	.name = "own",
	.meaning = "halves at each CNP, then adds 1 Gb/s each 50 us",
	.state_bytes = sizeof(struct state),
	.lives_by = CONGESTION_MARKS,
	.state_init = begin,
	.on_cnp = on_cnp,
	.step = step,
};

static void print_problems(const struct hcasim *simulation)
{
	for (size_t i = 0; i < hcasim_problem_count(simulation); i++) {
		const struct hcasim_problem *problem = hcasim_problem(simulation, i);

		fprintf(stderr, "%s:%u:%u: %s\n", problem->file, problem->line, problem->column,
			problem->text);
	}
}

int main(void)
{
	struct hcasim *simulation = hcasim_load("scenarios/studies/incast-dcqcn.yaml");
	double goodput_gbps = 0, fct_us = 0;
	uint64_t marks = 0;
	int code;

	hcasim_attach(simulation, &own);
	hcasim_set(simulation, "hosts.hca.congestion=own");
	hcasim_set(simulation, "expect=[]");
	if (!hcasim_start(simulation)) {
		print_problems(simulation);
		hcasim_destroy(simulation);
		return EXIT_FAILURE;
	}
	while (hcasim_step(simulation, hcasim_now(simulation) + 1 * MS)) {
		hcasim_counter(simulation, "*.ecn_marks", &marks);
		printf("%5.1f ms  %llu packets marked\n",
		       (double)hcasim_now(simulation) / (double)MS, (unsigned long long)marks);
	}
	hcasim_metric(simulation, "goodput_gbps", &goodput_gbps);
	hcasim_metric(simulation, "fct_p99_us", &fct_us);
	printf("goodput %.2f Gb/s, 99th percentile of flow completion times %.0f us\n",
	       goodput_gbps, fct_us);
	print_problems(simulation);
	code = hcasim_exit_code(simulation);
	hcasim_destroy(simulation);
	return code;
}
