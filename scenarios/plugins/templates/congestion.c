/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: halves the rate at each CNP, and returns to the line rate later.
 * It is a start: replace on_cnp(). The interface is hcasim/congestion.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set hosts.hca.congestion=./example.so
 */
#include "hcasim/congestion.h"

/* X(name, KIND, default, range, meaning, source): a scenario sets
 * congestion: {preset: ./example.so, hold: 50us}. */
#define EXAMPLE_PARAMS(X)                                            \
	X(floor, RATE, "1Gbps", "1Mbps..", "Lowest rate.", "choice") \
	X(hold, TIME, "100us", "1ns..1s", "Time until the line rate returns.", "choice")

struct example_params {
	EXAMPLE_PARAMS(PARAM_FIELD)
};

/* State of the plug-in for one flow. It is zeroed before state_init(). */
struct example_state {
	struct cc_state cc; /* first */
	uint64_t line_rate_bps;
};

static void state_init(struct cc_state *cc, const void *params, const struct congestion_path *path,
		       sim_time now)
{
	struct example_state *state = (struct example_state *)(void *)cc;

	(void)params, (void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->cwnd_bytes = CWND_UNLIMITED;
	cc->next_step = SIM_NEVER;
	state->line_rate_bps = path->line_rate_bps;
}

static void on_cnp(struct cc_state *cc, const void *values, sim_time now)
{
	const struct example_params *params = values;
	const struct example_state *state = (const struct example_state *)(const void *)cc;
	uint64_t rate_bps = cc->rate_bps == RATE_UNLIMITED ? state->line_rate_bps : cc->rate_bps;

	cc->rate_bps = rate_bps / 2 < params->floor ? params->floor : rate_bps / 2;
	cc->next_step = now + params->hold;
}

/* The sender calls this function at next_step or later, before it reads the rate. */
static void step(struct cc_state *cc, const void *params, sim_time now)
{
	(void)params, (void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->next_step = SIM_NEVER;
}

#define ROW(...) PARAM_ROW(struct example_params, __VA_ARGS__)
static const struct param param_list[] = {EXAMPLE_PARAMS(ROW){0}};

const struct congestion_ops congestion_plugin = {
	.version = CONGESTION_VERSION,
	.name = "example",
	.meaning = "halves at each CNP",
	.params = param_list,
	.params_bytes = sizeof(struct example_params),
	.state_bytes = sizeof(struct example_state),
	.lives_by = CONGESTION_MARKS,
	.state_init = state_init,
	.step = step,
	.on_cnp = on_cnp,
};
