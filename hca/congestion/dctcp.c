/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dctcp: a window-based algorithm. Once per round trip, the share of marked packets determines how
 * much the window is cut. In a round trip without a mark, the window grows by one packet. With
 * `form: rate`, it is the hardware version of the HPCC simulator. The window then follows the rate,
 * and the first mark of a round trip cuts at once.
 *
 * Source: Alizadeh et al., "Data Center TCP", SIGCOMM'10, 3.1. A flow starts with a full window, as
 * RDMA does. On TCP connections it is RFC 8257: slow start, a cut at the first marked ACK of a
 * window of data, and losses as in newreno.
 */
#include "hca/congestion/algorithms.h"
#include "hca/congestion/congestion_fold.h"
#include "hca/congestion/reno.h"

/* clang-format off */
#define DCTCP_PARAMS(X)                                                                         \
	X(gain, RATIO, "0.0625", "0..1",                                                        \
	  "g: weight of a new value in the moving average of the share of marked packets.",     \
	  "DCTCP, 3.4")                                                                         \
	X(form, CHOICE, "window", "window|rate",                                                \
	  "State of a flow. `window`: a congestion window. `rate`: a rate that paces packets, " \
	  "and a window that follows from the rate.",                                           \
	  "DCTCP, 3.1; rate: HPCC's simulator (row D-10)")                                      \
	X(alpha_initial, RATIO, "0", "0..1",                                                    \
	  "Share of marked packets that a new flow assumes.",                                   \
	  "choice: a new flow has seen no mark; 1: HPCC's simulator (row D-10)")                \
	X(alpha_initial_tcp, RATIO, "1", "0..1",                                                \
	  "Share of marked packets that a new TCP connection assumes.",                         \
	  "RFC 8257 3.3")                                                                       \
	X(rate_increase, RATE, "1Gbps", "1Kbps..",                                              \
	  "Increase of the rate in a round trip without a mark. Used by `form: rate`.",         \
	  "HPCC's simulator (row D-10): its default")                                           \
	X(rate_min, RATE, "100Mbps", "1Kbps..",                                                 \
	  "Minimum rate after a cut. Used by `form: rate`.",                                    \
	  "HPCC's simulator (row D-10): its default")                                           \
	X(increase, RATIO, "1", "0.001..100",                                                   \
	  "Packets by which the window grows in a round trip without a mark.",                  \
	  "DCTCP, 3.1")                                                                         \
	X(slow_start, FLAG, "false", "",                                                        \
	  "The window doubles in each round trip until the first mark or loss, as in TCP.",     \
	  "RFC 5681; TLT, EuroSys 2021 (row D-18)")                                             \
	X(start, RATIO, "1", "0.001..100",                                                      \
	  "Window of a new flow, in bandwidth-delay products of the path.",                     \
	  "assumed: line rate, as RDMA starts")                                                 \
	X(cwnd_max, RATIO, "1", "0.01..1000",                                                   \
	  "Maximum window, in bandwidth-delay products of the path.",                           \
	  "assumed: the window fills the path and no queue")
/* clang-format on */

struct dctcp_params {
	DCTCP_PARAMS(PARAM_FIELD)
};

enum { FORM_WINDOW, FORM_RATE };

#define SLOW_START_LIMIT 2 /* segments per ACK: RFC 3465 2.2 */

struct dctcp_state {
	struct cc_state cc;
	double rate, line; /* form rate: bits per second */
	/* form rate: no mark cuts until this number of bytes is acknowledged; 0: any mark cuts */
	uint64_t cut_ends_at;
	uint64_t round_packets; /* form rate: packets in flight during the round trip */
	double cwnd, cwnd_max;  /* bytes */
	double alpha;
	uint64_t round_ends_at; /* number of acknowledged bytes at the end of this round trip */
	uint32_t packets, marked;
	uint32_t mtu_bytes;
	bool settled; /* slow start is over */
	bool tcp;     /* RFC 8257: uses the members below, alpha and round_ends_at */
	struct reno reno;
	uint64_t acked_bytes, marked_bytes; /* bytes of the observation window */
	uint64_t reduced_until; /* no mark cuts until this number of bytes is acknowledged */
};

static void end_round(struct dctcp_state *state, const struct dctcp_params *params,
		      const struct congestion_ack *ack)
{
	double share = state->packets ? (double)state->marked / state->packets : 0;

	if (share > 1)
		share = 1;
	state->alpha = (1 - params->gain) * state->alpha + params->gain * share;
	state->settled = state->settled || state->marked;
	if (state->marked)
		state->cwnd *= 1 - state->alpha / 2;
	else if (!state->settled)
		state->cwnd *= 2;
	else
		state->cwnd += params->increase * state->mtu_bytes;
	if (state->cwnd < state->mtu_bytes)
		state->cwnd = state->mtu_bytes;
	if (state->cwnd > state->cwnd_max)
		state->cwnd = state->cwnd_max;
	state->cc.cwnd_bytes = (uint64_t)state->cwnd;
	state->packets = state->marked = 0;
	state->round_ends_at = ack->sent_total;
}

static void publish_rate(struct dctcp_state *state)
{
	state->cc.rate_bps = state->rate >= state->line ? RATE_UNLIMITED : (uint64_t)state->rate;
	state->cc.cwnd_bytes = (uint64_t)(state->cwnd_max * state->rate / state->line);
}

/* Counts the marks of a round trip. Returns true if this ACK ends it. */
static bool follow_marks(struct dctcp_state *state, const struct dctcp_params *params,
			 const struct congestion_ack *ack)
{
	double share;

	state->marked += ack->marked;
	if (ack->acked_total <= state->round_ends_at)
		return false;
	if (state->round_ends_at) { /* the first round trip only measures the number of packets */
		share = state->marked < state->round_packets
				? (double)state->marked / (double)state->round_packets
				: 1;
		state->alpha = (1 - params->gain) * state->alpha + params->gain * share;
		state->marked = 0;
	}
	state->round_ends_at = ack->sent_total;
	state->round_packets = (ack->sent_total - ack->acked_total) / state->mtu_bytes + 1;
	return true;
}

static void move_rate(struct dctcp_state *state, const struct dctcp_params *params,
		      const struct congestion_ack *ack)
{
	bool round_ends = follow_marks(state, params, ack);

	if (ack->acked_total > state->cut_ends_at)
		state->cut_ends_at = 0;
	if (ack->marked && !state->cut_ends_at) {
		state->rate *= 1 - state->alpha / 2;
		if (state->rate < (double)params->rate_min)
			state->rate = (double)params->rate_min;
		state->cut_ends_at = ack->sent_total;
	}
	if (round_ends && !state->cut_ends_at)
		state->rate += (double)params->rate_increase;
	if (state->rate > state->line)
		state->rate = state->line;
	publish_rate(state);
}

/* Implements RFC 8257 3.3, steps 1 to 8. */
static void observe(struct dctcp_state *state, const struct dctcp_params *params,
		    const struct congestion_ack *ack)
{
	state->acked_bytes += ack->acked_bytes;
	if (ack->marked)
		state->marked_bytes += ack->acked_bytes;
	if (ack->acked_total <= state->round_ends_at || !state->acked_bytes)
		return;
	state->alpha = (1 - params->gain) * state->alpha +
		       params->gain * (double)state->marked_bytes / (double)state->acked_bytes;
	state->acked_bytes = state->marked_bytes = 0;
	state->round_ends_at = ack->sent_total;
}

static void tcp_on_ack(struct dctcp_state *state, const struct dctcp_params *params,
		       const struct congestion_ack *ack)
{
	bool may_grow = reno_may_grow(&state->reno, ack);

	observe(state, params, ack);
	if (ack->marked) {
		if (ack->acked_total > state->reduced_until && !ack->recovering) { /* step 9 */
			reno_reduce_window(&state->reno, 1 - state->alpha / 2);
			state->reduced_until = ack->sent_total;
		}
	} else if (may_grow) {
		reno_avoid(&state->reno, reno_slow_start(&state->reno, (double)ack->acked_bytes,
							 SLOW_START_LIMIT));
	}
	state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
}

static void tcp_on_loss(struct dctcp_state *state, enum congestion_loss loss)
{
	if (loss == LOSS_TIMEOUT)
		reno_time_out(&state->reno, &state->cc, 0.5);
	else
		reno_reduce(&state->reno, &state->cc, 0.5);
	state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
}

static void dctcp_on_idle(struct cc_state *cc, const void *context, sim_time now)
{
	struct dctcp_state *state = (struct dctcp_state *)(void *)cc;

	(void)context, (void)now;
	reno_restart(&state->reno);
	state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
}

static void dctcp_on_ack(struct cc_state *cc, const void *context, sim_time now,
			 const struct congestion_ack *ack)
{
	struct dctcp_state *state = (struct dctcp_state *)(void *)cc;

	(void)now;
	if (state->tcp) {
		tcp_on_ack(state, context, ack);
		return;
	}
	if (((const struct dctcp_params *)context)->form == FORM_RATE) {
		move_rate(state, context, ack);
		return;
	}
	state->packets += ack->packets;
	state->marked += ack->marked;
	if (ack->acked_total >= state->round_ends_at)
		end_round(state, context, ack);
}

static void dctcp_on_loss(struct cc_state *cc, const void *context, sim_time now,
			  enum congestion_loss loss)
{
	struct dctcp_state *state = (struct dctcp_state *)(void *)cc;
	const struct dctcp_params *params = context;

	(void)now;
	if (state->tcp) {
		tcp_on_loss(state, loss);
		return;
	}
	if (params->form == FORM_RATE)
		return;
	state->settled = loss != LOSS_TIMEOUT || !params->slow_start;
	state->cwnd = loss == LOSS_TIMEOUT ? state->mtu_bytes : state->cwnd / 2;
	if (state->cwnd < state->mtu_bytes)
		state->cwnd = state->mtu_bytes;
	state->cc.cwnd_bytes = (uint64_t)state->cwnd;
}

static void dctcp_state_init(struct cc_state *cc, const void *context,
			     const struct congestion_path *path, sim_time now)
{
	struct dctcp_state *state = (struct dctcp_state *)(void *)cc;
	const struct dctcp_params *params = context;
	double bdp = (double)congestion_bdp_bytes(path);

	(void)now;
	if (bdp < path->mtu_bytes)
		bdp = path->mtu_bytes;
	*state = (struct dctcp_state){
		.cc.rate_bps = RATE_UNLIMITED,
		.cc.next_step = SIM_NEVER,
		.cwnd = bdp * params->start,
		.cwnd_max = bdp * params->cwnd_max,
		.mtu_bytes = path->mtu_bytes,
		.settled = !params->slow_start,
		.alpha = params->alpha_initial,
		.rate = (double)path->line_rate_bps,
		.line = (double)path->line_rate_bps,
	};
	state->cc.cwnd_bytes = (uint64_t)state->cwnd;
	if (path->initial_window_bytes) {
		state->tcp = true;
		state->alpha = params->alpha_initial_tcp;
		reno_init(&state->reno, path);
		state->cc.cwnd_bytes = (uint64_t)state->reno.cwnd;
	}
}

void dctcp_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		struct fold *fold)
{
	static const struct fold_field fields[] = {
		CONGESTION_FOLD_FIELDS(struct dctcp_state),
		FOLD_FIELD(struct dctcp_state, cut_ends_at, FOLD_SKIP),
		FOLD_FIELD(struct dctcp_state, round_ends_at, FOLD_SKIP),
		FOLD_FIELD(struct dctcp_state, reduced_until, FOLD_SKIP),
	};
	const struct dctcp_state *state = (const struct dctcp_state *)(const void *)cc;

	(void)params;
	fold_struct(fold, state, sizeof(*state), fields, ARRAY_SIZE(fields));
	congestion_fold_progress(fold, state->cut_ends_at, acked_total);
	congestion_fold_progress(fold, state->round_ends_at, acked_total);
	congestion_fold_progress(fold, state->reduced_until, acked_total);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct dctcp_params, __VA_ARGS__)
static const struct param dctcp_param_list[] = { DCTCP_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_dctcp = {
	.version = CONGESTION_VERSION,
	.name = "dctcp",
	.meaning = "window cut by the share of marked packets",
	.params = dctcp_param_list,
	.params_bytes = sizeof(struct dctcp_params),
	.state_bytes = sizeof(struct dctcp_state),
	.lives_by = CONGESTION_ACKS | CONGESTION_MARKS,
	.ack_bytes = congestion_each_packet,
	.state_init = dctcp_state_init,
	.on_ack = dctcp_on_ack,
	.on_loss = dctcp_on_loss,
	.on_idle = dctcp_on_idle, /* TCP */
};
