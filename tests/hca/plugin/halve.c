/* SPDX-License-Identifier: Apache-2.0 */
/*
 * halve: a congestion control with one rule, as a shared object. Each CNP halves the rate. 100 us
 * later the rate is the line rate again. Loaded by test_congestion; the smallest example of
 * include/hcasim/congestion.h.
 */
#include "hcasim/congestion.h"

/* clang-format off */
#define HALVE_PARAMS(X) \
	X(floor, RATE, "1Gbps", "1Mbps..", "no cut goes below", "choice")
/* clang-format on */

struct halve_params {
	HALVE_PARAMS(PARAM_FIELD)
};

struct halve_state {
	struct cc_state cc;
	uint64_t line_rate_bps;
};

static void state_init(struct cc_state *cc, const void *params, const struct congestion_path *path,
		       sim_time now)
{
	struct halve_state *state = (struct halve_state *)(void *)cc;

	(void)params, (void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->cwnd_bytes = CWND_UNLIMITED;
	cc->next_step = SIM_NEVER;
	state->line_rate_bps = path->line_rate_bps;
}

static void on_cnp(struct cc_state *cc, const void *context, sim_time now)
{
	const struct halve_params *params = context;
	struct halve_state *state = (struct halve_state *)(void *)cc;
	uint64_t rate_bps = cc->rate_bps == RATE_UNLIMITED ? state->line_rate_bps : cc->rate_bps;

	cc->rate_bps = rate_bps / 2 < params->floor ? params->floor : rate_bps / 2;
	cc->next_step = now + 100 * US;
}

static void step(struct cc_state *cc, const void *params, sim_time now)
{
	(void)params, (void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->next_step = SIM_NEVER;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct halve_params, __VA_ARGS__)
static const struct param param_list[] = { HALVE_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_plugin = {
	.version = CONGESTION_VERSION,
	.name = "halve",
	.meaning = "halves at each CNP",
	.params = param_list,
	.params_bytes = sizeof(struct halve_params),
	.state_bytes = sizeof(struct halve_state),
	.lives_by = CONGESTION_MARKS,
	.state_init = state_init,
	.step = step,
	.on_cnp = on_cnp,
};
