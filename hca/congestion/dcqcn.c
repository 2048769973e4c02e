/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dcqcn: the reaction point of DCQCN. CNPs cut the rate. A timer and a byte counter raise it again.
 *
 *     CNP             target = rate; rate *= 1 - alpha / 2; alpha = (1 - g) alpha + g
 *                     (order: alpha_first changes alpha before the rate)
 *     alpha_interval  without a CNP: alpha = (1 - g) alpha
 *     timer           timer stage += 1; rate = (rate + target) / 2
 *     byte_counter    byte stage += 1;  rate = (rate + target) / 2
 *
 * The target also changes before an increase. It stays while both stages are at most `stages` (fast
 * recovery). It grows by `increase` if one stage exceeds `stages`, and by `hyper_increase` if both
 * do.
 *
 * Sources: Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM'15, 3.1; Zhu
 * et al., "ECN or delay", CoNEXT'16. Timers are evaluated when the rate is read; see congestion.h.
 */
#include "hca/congestion/algorithms.h"
#include "hca/congestion/congestion_fold.h"

/* clang-format off */
#define DCQCN_PARAMS(X)                                                                         \
	X(gain, RATIO, "0.00390625", "0..1",                                                    \
	  "g: weight of a new value in the moving average alpha.",                              \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(alpha_initial, RATIO, "1", "0..1",                                                    \
	  "Value of alpha for a new flow.",                                                     \
	  "DCQCN, 3.1")                                                                         \
	X(alpha_interval, TIME, "55us", "100ns..",                                              \
	  "Time without a CNP after which alpha decays once.",                                  \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(alpha_rise, CHOICE, "cnp", "cnp|timer",                                               \
	  "Event that raises alpha. `cnp`: each CNP. `timer`: the end of each alpha_interval "  \
	  "in which a CNP arrived.",                                                            \
	  "DCQCN, 3.1; timer: HPCC's simulator (row C-20)")                                     \
	X(order, CHOICE, "rate_first", "rate_first|alpha_first",                                \
	  "Order in which a CNP changes the rate and alpha.",                                   \
	  "published texts and codes differ")                                                   \
	X(decrease_interval, TIME, "0ps", "",                                                   \
	  "Minimum time between two cuts. A CNP within this time causes a cut at its end.",     \
	  "Lumina, SIGCOMM 2023 (row C-21): RP-coalescing")                                     \
	X(decrease_max, RATIO, "0.5", "0..1",                                                   \
	  "Maximum share of the rate that one cut removes.",                                    \
	  "NVIDIA's DCQCN defaults (row C-19): min_dec_fac")                                    \
	X(cut_at, CHOICE, "cnp", "cnp|tick",                                                    \
	  "Time of the cut after a CNP. `cnp`: at once, or at the end of decrease_interval. "   \
	  "`tick`: at the next tick. Ticks are one decrease_interval apart, from the first "    \
	  "CNP of the flow on.",                                                                \
	  "DCQCN, 3.1; tick: HPCC's simulator (row C-20)")                                      \
	X(hyper_by, CHOICE, "both", "both|timer",                                               \
	  "Condition of a hyper increase. `both`: timer and byte counter are beyond `stages`. " \
	  "`timer`: the timer alone is beyond `stages` + 1.",                                   \
	  "DCQCN, 3.1; timer: HPCC's simulator (row C-20)")                                     \
	X(clamp_target, FLAG, "true", "",                                                       \
	  "Each cut sets the target to the rate before the cut. `false`: only if the rate was " \
	  "raised since the previous cut.",                                                     \
	  "DCQCN's authors' ns-3 (row C-18)")                                                   \
	X(timer, TIME, "55us", "100ns..",                                                       \
	  "T: time between two increases by the timer.",                                        \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(byte_counter, BYTES, "10MB", "1B..",                                                  \
	  "B: bytes sent between two increases by the byte counter.",                           \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(stages, COUNT, "5", "0..100",                                                         \
	  "F: number of increases in fast recovery.",                                           \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(increase, RATE, "40Mbps", "1Kbps..",                                                  \
	  "R_AI: additive increase of the target.",                                             \
	  "Zhu et al., CoNEXT 2016 (row C-17)")                                                 \
	X(hyper_increase, RATE, "40Mbps", "1Kbps..",                                            \
	  "R_HAI: hyper increase of the target.",                                               \
	  "Zhu et al., CoNEXT 2016 (row C-17): the paper's model has none")                     \
	X(rate_min, RATE, "1Mbps", "1Kbps..",                                                   \
	  "Minimum rate after a cut.",                                                          \
	  "NVIDIA's DCQCN defaults (row C-19)")                                                 \
	X(cwnd_factor, RATIO, "0", "0..100",                                                    \
	  "Congestion window in bandwidth-delay products of the path. `0`: no window.",         \
	  "HPCC, SIGCOMM 2019 (row D-10): DCQCN+win")                                           \
	X(cwnd_scaled, FLAG, "false", "",                                                       \
	  "The window shrinks and grows in proportion to the rate.",                            \
	  "HPCC's simulator (row D-10)")
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
	double rate, target, line; /* bits per second; cc.rate_bps follows */
	/* window in bytes at line rate, which shrinks with the rate; 0 without a window */
	double cwnd;
	double alpha;
	sim_time alpha_at;    /* next update of alpha; SIM_NEVER before the first CNP */
	sim_time increase_at; /* next increase by time; SIM_NEVER at line rate */
	sim_time cut_at;      /* time of the cut for coalesced CNPs, or SIM_NEVER */
	sim_time last_cut_at;
	sim_time tick_at;   /* CUT_AT_TICK: time of one tick */
	int64_t bytes_left; /* bytes until the next increase by bytes */
	uint32_t timer_stage, byte_stage;
	bool cut_once; /* last_cut_at is valid */
	bool cnp_seen; /* a CNP arrived in this alpha_interval */
	bool raised;   /* the rate was raised since the last cut */
};

static struct dcqcn_state *dcqcn(struct cc_state *cc)
{
	return (struct dcqcn_state *)(void *)cc;
}

static sim_time earliest(sim_time one, sim_time other)
{
	return one < other ? one : other;
}

/* Updates the published rate and window. A change of alpha alone does not affect them. */
static void publish(struct dcqcn_state *state)
{
	bool unlimited = state->rate >= state->line;

	state->cc.rate_bps = unlimited ? RATE_UNLIMITED : (uint64_t)state->rate;
	state->cc.next_step = earliest(state->increase_at, state->cut_at);
	if (state->cwnd > 0)
		state->cc.cwnd_bytes = (uint64_t)(state->cwnd * state->rate / state->line);
}

/* Stops the increase timer when rate and target are at line rate, until the next cut. */
static void rest_if_free(struct dcqcn_state *state)
{
	if (state->rate >= state->line && state->target >= state->line)
		state->increase_at = SIM_NEVER;
}

static void raise_rate(struct dcqcn_state *state, const struct dcqcn_params *params)
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
	if (state->line - state->rate < 1e3) /* halving the distance never reaches the line rate */
		state->rate = state->line;
	state->raised = true;
	rest_if_free(state);
}

/* Updates alpha to `now`, once for each interval that has ended. */
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
			raise_rate(state, params);
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
	raise_rate(state, params);
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

/* Returns 1, an ACK for each packet, if the window moves with the rate. Otherwise returns 0. */
static uint64_t dcqcn_ack_bytes(const void *context)
{
	return ((const struct dcqcn_params *)context)->cwnd_scaled;
}

/* Folds the tick of cuts. Only future ticks matter. */
static void fold_tick(const struct dcqcn_state *state, const struct dcqcn_params *params,
		      struct fold *fold)
{
	sim_time interval = params->decrease_interval;

	if (params->cut_at != CUT_AT_TICK || !interval)
		return;
	if (state->tick_at > fold->at)
		fold_since(fold, state->tick_at);
	else
		fold_number(fold, (fold->at - state->tick_at) % interval);
}

void dcqcn_fold(const struct cc_state *cc, const void *context, uint64_t acked_total,
		struct fold *fold)
{
	static const struct fold_field fields[] = {
		CONGESTION_FOLD_FIELDS(struct dcqcn_state),
		FOLD_FIELD(struct dcqcn_state, alpha_at, FOLD_SINCE),
		FOLD_FIELD(struct dcqcn_state, increase_at, FOLD_SINCE),
		FOLD_FIELD(struct dcqcn_state, cut_at, FOLD_SINCE),
		FOLD_FIELD(struct dcqcn_state, last_cut_at, FOLD_SKIP),
		FOLD_FIELD(struct dcqcn_state, tick_at, FOLD_SKIP),
	};
	const struct dcqcn_state *state = (const struct dcqcn_state *)(const void *)cc;
	const struct dcqcn_params *params = context;

	(void)acked_total;
	fold_struct(fold, state, sizeof(*state), fields, ARRAY_SIZE(fields));
	fold_deadline(fold, state->cut_once ? state->last_cut_at + params->decrease_interval : 0);
	fold_tick(state, params, fold);
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
