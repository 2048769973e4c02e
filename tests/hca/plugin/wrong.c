/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong: a congestion control that breaks one rule of include/hcasim/congestion.h, which its
 * parameter names. The guard must find it. Loaded by test_guard.
 */
#include "hcasim/congestion.h"

/* clang-format off */
#define WRONG_PARAMS(X) \
	X(fault, CHOICE, "none", \
	  "none|rate_zero|rate_one|rate_nan|window_zero|window_huge|step_past|step_slow|" \
	  "step_none|sender|crash|loop|stack", \
	  "Rule that the algorithm breaks.", "choice")
/* clang-format on */

enum fault {
	NONE,
	RATE_ZERO,
	RATE_ONE,
	RATE_NAN,
	WINDOW_ZERO,
	WINDOW_HUGE,
	STEP_PAST,
	STEP_SLOW,
	STEP_NONE,
	SENDER,
	CRASH,
	LOOP,
	STACK
};

struct wrong_params {
	WRONG_PARAMS(PARAM_FIELD)
};

static void state_init(struct cc_state *cc, const void *context, const struct congestion_path *path,
		       sim_time now)
{
	const struct wrong_params *params = context;

	cc->rate_bps = path->line_rate_bps;
	cc->cwnd_bytes = CWND_UNLIMITED;
	cc->next_step = SIM_NEVER;
	if (params->fault == STEP_SLOW || params->fault == STEP_NONE)
		cc->next_step = now + 1;
}

static void step(struct cc_state *cc, const void *context, sim_time now)
{
	const struct wrong_params *params = context;

	cc->next_step = params->fault == STEP_NONE ? now : now + 1;
}

static volatile int zero;
static int *volatile nowhere;

static int deep(volatile int *count)
{
	volatile int here[4096] = {*count + 1};

	return zero ? 0 : deep(here) + here[1];
}

static void on_ack(struct cc_state *cc, const void *context, sim_time now,
		   const struct congestion_ack *ack)
{
	const struct wrong_params *params = context;

	(void)ack;
	switch ((enum fault)params->fault) {
	case RATE_ZERO:
		cc->rate_bps = 0;
		break;
	case RATE_ONE:
		cc->rate_bps = 1;
		break;
	case RATE_NAN: /* as x86 converts it */
		cc->rate_bps = UINT64_C(1) << 63;
		break;
	case WINDOW_ZERO:
		cc->cwnd_bytes = 0;
		break;
	case WINDOW_HUGE:
		cc->cwnd_bytes = UINT64_C(1) << 63;
		break;
	case STEP_PAST:
		cc->next_step = now;
		break;
	case SENDER:
		cc->burst_wire++;
		break;
	case CRASH:
		*nowhere = 1;
		break;
	case LOOP:
		while (!zero)
			;
		break;
	case STACK:
		deep(&zero);
		break;
	case NONE:
	case STEP_SLOW:
	case STEP_NONE:
		break;
	}
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct wrong_params, __VA_ARGS__)
static const struct param param_list[] = { WRONG_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_plugin = {
	.version = CONGESTION_VERSION,
	.name = "wrong",
	.meaning = "breaks a rule",
	.params = param_list,
	.params_bytes = sizeof(struct wrong_params),
	.state_bytes = sizeof(struct cc_state),
	.state_init = state_init,
	.step = step,
	.on_ack = on_ack,
};
