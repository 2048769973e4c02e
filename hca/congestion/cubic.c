/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cubic: a window that is a cubic function of the time since the last loss. It returns to the
 * window of that loss, stays there for a time, and then grows faster. It is never below Reno's
 * window. RFC 9438. HyStart is not modelled.
 */
#include <math.h>

#include "hca/congestion/algorithms.h"
#include "hca/congestion/reno.h"

/* clang-format off */
#define CUBIC_PARAMS(X)                                                                          \
	X(slow_start_limit, COUNT, "2", "0..1000",                                               \
	  "Segments by which one ACK may open the window in slow start. `0`: all segments "      \
	  "that it acknowledges, as in Linux.", "RFC 3465 2.2: L")                               \
	X(c, RATIO, "0.4", "0.001..1000", "Growth of the window, in segments per second cubed.", \
	  "RFC 9438 5.1")                                                                        \
	X(beta, RATIO, "0.7", "0.1..0.95", "Share of the window that a loss or a mark leaves.",  \
	  "RFC 9438 4.6")                                                                        \
	X(fast_convergence, FLAG, "true", "",                                                    \
	  "A loss below the window of the previous loss lowers the target window.",              \
	  "RFC 9438 4.7")
/* clang-format on */

struct cubic_params {
	CUBIC_PARAMS(PARAM_FIELD)
};

/* Windows are in segments, as in the RFC. */
struct cubic_state {
	struct cc_state cc;
	struct reno reno;
	double w_max, w_est, cwnd_prior;
	double k;          /* seconds */
	double srtt;       /* seconds */
	sim_time epoch_at; /* start of congestion avoidance, or SIM_NEVER */
	sim_time last_ack_at;
	bool timed_out; /* the next congestion avoidance is the first after a timeout */
};

static void publish(struct cubic_state *state)
{
	state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
}

static double segments(const struct cubic_state *state)
{
	return state->reno.cwnd / state->reno.segment;
}

static void cubic_state_init(struct cc_state *cc, const void *context,
			     const struct congestion_path *path, sim_time now)
{
	struct cubic_state *state = (struct cubic_state *)(void *)cc;

	(void)context;
	cc->rate_bps = RATE_UNLIMITED;
	cc->next_step = SIM_NEVER;
	reno_init(&state->reno, path);
	state->srtt = (double)path->base_rtt / (double)SEC;
	state->epoch_at = SIM_NEVER;
	state->last_ack_at = now;
	publish(state);
}

static void begin_epoch(struct cubic_state *state, const struct cubic_params *params, sim_time now)
{
	double window = segments(state);

	state->epoch_at = now;
	state->w_est = window;
	if (state->timed_out || state->w_max < window) { /* 4.8 */
		state->w_max = window;
		state->k = 0;
	} else {
		state->k = cbrt((state->w_max - window) / params->c);
	}
	state->timed_out = false;
}

static double w_cubic(const struct cubic_state *state, const struct cubic_params *params, double t)
{
	double since = t - state->k;

	return params->c * since * since * since + state->w_max;
}

/* Implements RFC 9438 4.2 to 4.5. */
static void avoid(struct cubic_state *state, const struct cubic_params *params, sim_time now,
		  double acked)
{
	double window = segments(state), count = acked / state->reno.segment;
	double alpha = 3 * (1 - params->beta) / (1 + params->beta), t, target;

	if (state->epoch_at == SIM_NEVER)
		begin_epoch(state, params, now);
	t = (double)(now - state->epoch_at) / (double)SEC;
	if (state->w_est >= state->cwnd_prior)
		alpha = 1;
	state->w_est += alpha * count / window;
	if (w_cubic(state, params, t) < state->w_est) {
		if (window < state->w_est)
			state->reno.cwnd = state->w_est * state->reno.segment;
		return;
	}
	target = w_cubic(state, params, t + state->srtt);
	if (target > 1.5 * window)
		target = 1.5 * window;
	if (target > window)
		state->reno.cwnd += (target - window) / window * count * state->reno.segment;
}

static void cubic_on_ack(struct cc_state *cc, const void *context, sim_time now,
			 const struct congestion_ack *ack)
{
	struct cubic_state *state = (struct cubic_state *)(void *)cc;
	const struct cubic_params *params = context;
	sim_time since = now - state->last_ack_at;
	double left;

	state->last_ack_at = now;
	if (ack->rtt)
		state->srtt += ((double)ack->rtt / (double)SEC - state->srtt) / 8;
	if (!reno_may_grow(&state->reno, ack)) {
		/* time in which the window was not used does not count: 4.2 */
		if (state->epoch_at != SIM_NEVER)
			state->epoch_at += since;
		return;
	}
	left = reno_slow_start(&state->reno, (double)ack->acked_bytes, params->slow_start_limit);
	if (left > 0)
		avoid(state, params, now, left);
	publish(state);
}

/* Implements RFC 9438 4.6 to 4.8. */
static void cubic_on_loss(struct cc_state *cc, const void *context, sim_time now,
			  enum congestion_loss loss)
{
	struct cubic_state *state = (struct cubic_state *)(void *)cc;
	const struct cubic_params *params = context;
	double window = segments(state);

	(void)now;
	state->epoch_at = SIM_NEVER;
	state->cwnd_prior = window;
	if (params->fast_convergence && window < state->w_max)
		state->w_max = window * (1 + params->beta) / 2;
	else
		state->w_max = window;
	if (loss == LOSS_TIMEOUT) {
		state->timed_out = true;
		reno_time_out(&state->reno, cc, params->beta);
	} else {
		reno_reduce(&state->reno, cc, params->beta);
	}
	publish(state);
}

static void cubic_on_cnp(struct cc_state *cc, const void *context, sim_time now)
{
	cubic_on_loss(cc, context, now, LOSS_NAK);
}

static void cubic_on_idle(struct cc_state *cc, const void *context, sim_time now)
{
	struct cubic_state *state = (struct cubic_state *)(void *)cc;

	(void)context, (void)now;
	state->epoch_at = SIM_NEVER;
	reno_restart(&state->reno);
	publish(state);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct cubic_params, __VA_ARGS__)
static const struct param cubic_param_list[] = { CUBIC_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_cubic = {
	.version = CONGESTION_VERSION,
	.name = "cubic",
	.meaning = "TCP: window as a cubic function of the time since a loss",
	.params = cubic_param_list,
	.params_bytes = sizeof(struct cubic_params),
	.state_bytes = sizeof(struct cubic_state),
	.lives_by = CONGESTION_ACKS,
	.ack_bytes = congestion_each_packet,
	.state_init = cubic_state_init,
	.on_ack = cubic_on_ack,
	.on_cnp = cubic_on_cnp,
	.on_loss = cubic_on_loss,
	.on_idle = cubic_on_idle,
};
