/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcqcn: the reaction point of DCQCN: a rate that CNPs cut and that a timer and a byte counter raise again.
 *
 *     CNP:            target = rate; rate *= 1 - alpha / 2; alpha = (1 - g) alpha + g      (or alpha first)
 *     alpha_interval: without a CNP alpha = (1 - g) alpha
 *     every timer period, and every byte_counter bytes, one stage more: up to `stages` of either, fast recovery
 *     (halfway to the target); then additive increase of the target; when both are beyond, hyper increase
 *
 * Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM'15, 3.1; Zhu et al., "ECN or delay",
 * CoNEXT'16. Timers are computed when somebody asks; see congestion.h.
 */
#include "hca/congestion/algorithms.h"

/* clang-format off */
#define DCQCN_PARAMS(X)                                                                                    \
	X(gain,           RATIO,  "0.00390625", "0..1",  "g, of the moving average alpha",                    "ground truth C-17") \
	X(alpha_initial,  RATIO,  "1",      "0..1",      "alpha of a new flow",                                "DCQCN, 3.1") \
	X(alpha_interval, TIME,   "55us",   "100ns..",   "alpha decays once in it",                            "ground truth C-17") \
	X(alpha_rise,     CHOICE, "cnp",    "cnp|timer", "alpha rises at each CNP, or once an alpha_interval that saw one", "DCQCN, 3.1; timer: ground truth C-20") \
	X(order,          CHOICE, "rate_first", "rate_first|alpha_first", "which a CNP changes first",          "ground truth N4") \
	X(decrease_interval, TIME, "0ps",   "",          "between two cuts at least; a CNP within it cuts at its end", "ground truth C-21: RP-coalescing") \
	X(decrease_max,   RATIO,  "0.5",    "0..1",      "of the rate that one cut takes at most",              "ground truth C-19: min_dec_fac") \
	X(cut_at,         CHOICE, "cnp",    "cnp|tick",  "a CNP cuts at once, if decrease_interval allows it, or at the next of the times that are one decrease_interval apart since the first CNP", "DCQCN, 3.1; tick: the simulator of ground truth C-20") \
	X(hyper_by,       CHOICE, "both",   "both|timer", "hyper increase when timer and byte counter are beyond `stages`, or when the timer is by more than one", "DCQCN, 3.1; timer: the simulator of ground truth C-20") \
	X(clamp_target,   FLAG,   "true",   "",          "a cut always lowers the target; else only if the rate had been raised since the last", "ground truth C-18") \
	X(timer,          TIME,   "55us",   "100ns..",   "T, between two increases by time",                   "ground truth C-17") \
	X(byte_counter,   BYTES,  "10MB",   "1B..",      "B, between two increases by bytes sent",             "ground truth C-17") \
	X(stages,         COUNT,  "5",      "0..100",    "F, of fast recovery",                                "ground truth C-17") \
	X(increase,       RATE,   "40Mbps", "1Kbps..",   "R_AI, additive increase of the target",              "ground truth C-17") \
	X(hyper_increase, RATE,   "40Mbps", "1Kbps..",   "R_HAI, hyper increase of the target",                "ground truth C-17: the paper's model has none") \
	X(rate_min,       RATE,   "1Mbps",  "1Kbps..",   "no cut goes below",                                  "ground truth C-19") \
	X(cwnd_factor,    RATIO,  "0",      "0..100",    "window in bandwidth-delay products, 0: none",        "ground truth D-10: DCQCN+win") \
	X(cwnd_scaled,    FLAG,   "false",  "",          "the window shrinks with the rate", "the simulator of ground truth D-10")
/* clang-format on */

struct dcqcn_params {
	DCQCN_PARAMS(PARAM_FIELD)
};

enum { ALPHA_BY_CNP, ALPHA_BY_TIMER };
enum { RATE_FIRST, ALPHA_FIRST };
enum { CUT_AT_CNP, CUT_AT_TICK };
enum { HYPER_BY_BOTH, HYPER_BY_TIMER };

struct dcqcn_state {
	struct cc_state cc;
	double rate, target, line; /* bits a second; cc.rate_bps follows */
	double cwnd; /* bytes at line rate, of one that shrinks with the rate; 0: none */
	double alpha;
	sim_time alpha_at;    /* next update of alpha; SIM_NEVER: no CNP yet */
	sim_time increase_at; /* next increase by time; SIM_NEVER: at line rate */
	sim_time cut_at;      /* a coalesced CNP cuts then; SIM_NEVER: none waits */
	sim_time last_cut_at;
	sim_time tick_at;   /* of CUT_AT_TICK: one of the times */
	int64_t bytes_left; /* to the next increase by bytes */
	uint32_t timer_stage, byte_stage;
	bool cut_once; /* last_cut_at is true */
	bool cnp_seen; /* in this alpha_interval */
	bool raised;   /* since the last cut */
};

static struct dcqcn_state *dcqcn(struct cc_state *cc)
{
	return (struct dcqcn_state *)(void *)cc;
}

static sim_time earliest(sim_time one, sim_time other)
{
	return one < other ? one : other;
}

/* What others see follows from the state. Alpha alone changes nothing that they see. */
static void publish(struct dcqcn_state *state)
{
	bool free = state->rate >= state->line;

	state->cc.rate_bps = free ? RATE_UNLIMITED : (uint64_t)state->rate;
	state->cc.next_step = earliest(state->increase_at, state->cut_at);
	if (state->cwnd > 0)
		state->cc.cwnd_bytes = (uint64_t)(state->cwnd * state->rate / state->line);
}

/* Once the rate is the line's there is nothing to raise until the next cut. */
static void rest_if_free(struct dcqcn_state *state)
{
	if (state->rate >= state->line && state->target >= state->line)
		state->increase_at = SIM_NEVER;
}

static void raise(struct dcqcn_state *state, const struct dcqcn_params *params)
{
	uint32_t low =
		state->timer_stage < state->byte_stage ? state->timer_stage : state->byte_stage;
	uint32_t high =
		state->timer_stage < state->byte_stage ? state->byte_stage : state->timer_stage;

	if (params->hyper_by == HYPER_BY_TIMER)
		low = state->timer_stage ? state->timer_stage - 1 : 0;
	if (low > params->stages)
		state->target += (double)params->hyper_increase;
	else if (high > params->stages)
		state->target += (double)params->increase;
	if (state->target > state->line)
		state->target = state->line;
	state->rate = (state->rate + state->target) / 2;
	if (state->line - state->rate < 1e3) /* halving never arrives */
		state->rate = state->line;
	state->raised = true;
	rest_if_free(state);
}

/* Brings alpha to `now`: one update for each interval that has ended. */
static void update_alpha(struct dcqcn_state *state, const struct dcqcn_params *params, sim_time now)
{
	uint64_t intervals;
	double decay = 1 - params->gain;

	if (state->alpha_at > now)
		return;
	intervals = (now - state->alpha_at) / params->alpha_interval + 1;
	state->alpha_at += intervals * params->alpha_interval;
	if (state->cnp_seen) {
		if (params->alpha_rise == ALPHA_BY_TIMER)
			state->alpha = decay * state->alpha + params->gain;
		state->cnp_seen = false;
		intervals--;
	}
	for (; intervals; intervals >>= 1, decay *= decay) /* alpha *= decay ^ intervals */
		if (intervals & 1)
			state->alpha *= decay;
}

static void raise_alpha(struct dcqcn_state *state, const struct dcqcn_params *params)
{
	if (params->alpha_rise == ALPHA_BY_CNP)
		state->alpha = (1 - params->gain) * state->alpha + params->gain;
}

static void cut(struct dcqcn_state *state, const struct dcqcn_params *params, sim_time now)
{
	double share;

	if (params->order == ALPHA_FIRST)
		raise_alpha(state, params);
	share = state->alpha / 2 < params->decrease_max ? state->alpha / 2 : params->decrease_max;
	if (params->clamp_target || state->raised || !state->cut_once)
		state->target = state->rate;
	state->rate *= 1 - share;
	if (state->rate < (double)params->rate_min)
		state->rate = (double)params->rate_min;
	if (params->order == RATE_FIRST)
		raise_alpha(state, params);
	state->cut_once = true;
	state->last_cut_at = now;
	state->cut_at = SIM_NEVER;
	state->increase_at = now + params->timer;
	state->bytes_left = (int64_t)params->byte_counter;
	state->timer_stage = state->byte_stage = 0;
	state->raised = false;
}

static void dcqcn_step(struct cc_state *cc, const void *context, sim_time now)
{
	struct dcqcn_state *state = dcqcn(cc);
	const struct dcqcn_params *params = context;

	while (cc->next_step <= now) {
		sim_time at = cc->next_step;

		update_alpha(state, params, at);
		if (state->cut_at == at) {
			cut(state, params, at);
		} else {
			state->increase_at += params->timer;
			state->timer_stage++;
			raise(state, params);
		}
		publish(state);
	}
}

static void dcqcn_on_send(struct cc_state *cc, const void *context, sim_time now,
			  uint32_t wire_bytes)
{
	struct dcqcn_state *state = dcqcn(cc);
	const struct dcqcn_params *params = context;

	(void)now;
	if (state->increase_at == SIM_NEVER)
		return;
	state->bytes_left -= wire_bytes;
	if (state->bytes_left > 0)
		return;
	state->bytes_left += (int64_t)params->byte_counter;
	state->byte_stage++;
	raise(state, params);
	publish(state);
}

static sim_time next_tick(struct dcqcn_state *state, const struct dcqcn_params *params, bool first,
			  sim_time now)
{
	sim_time interval = params->decrease_interval;

	if (first)
		state->tick_at = now + interval;
	else if (state->tick_at <= now)
		state->tick_at += ((now - state->tick_at) / interval + 1) * interval;
	return state->tick_at;
}

static void dcqcn_on_cnp(struct cc_state *cc, const void *context, sim_time now)
{
	struct dcqcn_state *state = dcqcn(cc);
	const struct dcqcn_params *params = context;
	bool first = state->alpha_at == SIM_NEVER;

	if (first)
		state->alpha_at = now + params->alpha_interval;
	else
		update_alpha(state, params, now);
	state->cnp_seen = true;
	if (!first && params->alpha_rise == ALPHA_BY_CNP)
		state->alpha_at = now + params->alpha_interval;
	if (params->cut_at == CUT_AT_TICK && params->decrease_interval)
		state->cut_at = next_tick(state, params, first, now);
	else if (state->cut_once && now < state->last_cut_at + params->decrease_interval)
		state->cut_at = state->last_cut_at + params->decrease_interval;
	else
		cut(state, params, now);
	publish(state);
}

static void dcqcn_state_init(struct cc_state *cc, const void *context,
			     const struct congestion_path *path, sim_time now)
{
	struct dcqcn_state *state = dcqcn(cc);
	const struct dcqcn_params *params = context;
	double cwnd = (double)congestion_bdp_bytes(path) * params->cwnd_factor;

	(void)now;
	*state = (struct dcqcn_state){
		.cc.cwnd_bytes = cwnd > 0 ? (uint64_t)cwnd : CWND_UNLIMITED,
		.cwnd = params->cwnd_scaled ? cwnd : 0,
		.rate = (double)path->line_rate_bps,
		.target = (double)path->line_rate_bps,
		.line = (double)path->line_rate_bps,
		.alpha = params->alpha_initial,
		.alpha_at = SIM_NEVER,
		.increase_at = SIM_NEVER,
		.cut_at = SIM_NEVER,
	};
	publish(state);
}

/* Each packet's, if its window is to move as the rate does. */
static uint64_t dcqcn_ack_bytes(const void *context)
{
	return ((const struct dcqcn_params *)context)->cwnd_scaled;
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct dcqcn_params, __VA_ARGS__)
static const struct param dcqcn_param_list[] = { DCQCN_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_dcqcn = {
	.version = CONGESTION_VERSION,
	.name = "dcqcn",
	.meaning = "rate cut by CNPs, raised by timer and byte counter",
	.params = dcqcn_param_list,
	.params_bytes = sizeof(struct dcqcn_params),
	.state_bytes = sizeof(struct dcqcn_state),
	.lives_by = CONGESTION_MARKS,
	.ack_bytes = dcqcn_ack_bytes,
	.state_init = dcqcn_state_init,
	.step = dcqcn_step,
	.on_send = dcqcn_on_send,
	.on_cnp = dcqcn_on_cnp,
};
