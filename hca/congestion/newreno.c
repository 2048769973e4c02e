/* SPDX-License-Identifier: Apache-2.0 */
/*
 * newreno: the window of standard TCP. It doubles each round trip in slow start, and then grows by
 * one segment per round trip. A loss or a mark halves it. RFC 5681, 6582 and 3465.
 */
#include "hca/congestion/algorithms.h"
#include "hca/congestion/reno.h"

/* clang-format off */
#define NEWRENO_PARAMS(X)                                                                       \
	X(slow_start_limit, COUNT, "2", "0..1000",                                              \
	  "Segments by which one ACK may open the window in slow start. `0`: all segments "     \
	  "that it acknowledges, as in Linux.", "RFC 3465 2.2: L")                              \
	X(beta, RATIO, "0.5", "0.1..0.95", "Share of the window that a loss or a mark leaves.", \
	  "RFC 5681 3.1")
/* clang-format on */

struct newreno_params {
	NEWRENO_PARAMS(PARAM_FIELD)
};

struct newreno_state {
	struct cc_state cc;
	struct reno reno;
};

static void publish(struct newreno_state *state)
{
	state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
}

static void newreno_state_init(struct cc_state *cc, const void *context,
			       const struct congestion_path *path, sim_time now)
{
	struct newreno_state *state = (struct newreno_state *)(void *)cc;

	(void)context, (void)now;
	cc->rate_bps = RATE_UNLIMITED;
	cc->next_step = SIM_NEVER;
	reno_init(&state->reno, path);
	publish(state);
}

static void newreno_on_ack(struct cc_state *cc, const void *context, sim_time now,
			   const struct congestion_ack *ack)
{
	struct newreno_state *state = (struct newreno_state *)(void *)cc;
	const struct newreno_params *params = context;
	double left;

	(void)now;
	if (!reno_may_grow(&state->reno, ack))
		return;
	left = reno_slow_start(&state->reno, (double)ack->acked_bytes, params->slow_start_limit);
	reno_avoid(&state->reno, left);
	publish(state);
}

static void newreno_on_loss(struct cc_state *cc, const void *context, sim_time now,
			    enum congestion_loss loss)
{
	struct newreno_state *state = (struct newreno_state *)(void *)cc;
	const struct newreno_params *params = context;

	(void)now;
	if (loss == LOSS_TIMEOUT)
		reno_time_out(&state->reno, cc, params->beta);
	else
		reno_reduce(&state->reno, cc, params->beta);
	publish(state);
}

static void newreno_on_cnp(struct cc_state *cc, const void *context, sim_time now)
{
	newreno_on_loss(cc, context, now, LOSS_NAK);
}

static void newreno_on_idle(struct cc_state *cc, const void *context, sim_time now)
{
	struct newreno_state *state = (struct newreno_state *)(void *)cc;

	(void)context, (void)now;
	reno_restart(&state->reno);
	publish(state);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct newreno_params, __VA_ARGS__)
static const struct param newreno_param_list[] = { NEWRENO_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_newreno = {
	.version = CONGESTION_VERSION,
	.name = "newreno",
	.meaning = "TCP: a loss halves the window",
	.params = newreno_param_list,
	.params_bytes = sizeof(struct newreno_params),
	.state_bytes = sizeof(struct newreno_state),
	.lives_by = CONGESTION_ACKS,
	.ack_bytes = congestion_each_packet,
	.state_init = newreno_state_init,
	.on_ack = newreno_on_ack,
	.on_cnp = newreno_on_cnp,
	.on_loss = newreno_on_loss,
	.on_idle = newreno_on_idle,
};
