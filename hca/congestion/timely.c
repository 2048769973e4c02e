/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timely: a rate that follows the gradient of the round-trip time, and its patched form, which has
 * a fixed point.
 *
 * Sources: Mittal et al., "TIMELY", SIGCOMM'15, algorithm 1; Zhu et al., "ECN or delay", CoNEXT'16,
 * algorithm 2. In the patched form, the gradient is only the weight between an increase and a
 * decrease. The decrease depends on the distance of the RTT from rtt_low.
 */
#include "hca/congestion/algorithms.h"
#include "hca/congestion/congestion_fold.h"

/* clang-format off */
#define TIMELY_PARAMS(X)                                                                        \
	X(patched, FLAG, "false", "",                                                           \
	  "Use the patched algorithm, which has a fixed point.",                                \
	  "EOD, algorithm 2")                                                                   \
	X(rtt_low, TIME, "50us", "1ns..",                                                       \
	  "T_low: RTT below which the rate only rises.",                                        \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(rtt_high, TIME, "500us", "1ns..",                                                     \
	  "T_high: RTT above which the rate only falls.",                                       \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(rtt_min, TIME, "20us", "1ns..",                                                       \
	  "RTT by which the gradient is divided.",                                              \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(beta, RATIO, "0.8", "0..1",                                                           \
	  "Gain of a decrease of the rate. The patched algorithm is published with 0.008.",     \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(alpha, RATIO, "0.875", "0..1",                                                        \
	  "Weight of a new RTT difference in the moving average of the differences.",           \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(increase, RATE, "10Mbps", "1Kbps..",                                                  \
	  "delta: additive increase of the rate.",                                              \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(hyper_after, COUNT, "5", "1..1000",                                                   \
	  "Number of successive completions without a rise of the RTT from which on the "       \
	  "increase is five times delta.",                                                      \
	  "TIMELY, 4.3")                                                                        \
	X(hyper_low, FLAG, "false", "",                                                         \
	  "Completions below rtt_low also count for hyper_after.",                              \
	  "HPCC's simulator (row D-10)")                                                        \
	X(gradient_max, RATIO, "1000", "0..1000",                                               \
	  "Maximum gradient that a decrease uses. A larger gradient counts as this one.",       \
	  "TIMELY, algorithm 1: no limit, nor in the simulator of Zhu et al. (rows D-05 and "   \
	  "D-10)")                                                                              \
	X(rtt_first, TIME, "0ps", "0ps..1ms",                                                   \
	  "RTT with which a flow's first RTT is compared. `0ps`: the first gradient is 0.",     \
	  "choice; the simulator of Zhu et al. (row D-05): an empty path")                      \
	X(segment, BYTES, "16KB", "1B..16MB",                                                   \
	  "Bytes acknowledged between two updates of the rate.",                                \
	  "Zhu et al., CoNEXT 2016 (row C-22)")                                                 \
	X(rate_min, RATE, "10Mbps", "1Kbps..",                                                  \
	  "Minimum rate after a decrease.",                                                     \
	  "assumed: one increase")                                                              \
	X(start_share, RATIO, "1", "0.0001..1",                                                 \
	  "Share of the line rate with which a flow starts.",                                   \
	  "choice")                                                                             \
	X(start, CHOICE, "alone", "alone|shared",                                               \
	  "Rate of a new flow. `alone`: start_share of the line rate. `shared`: this rate "     \
	  "divided by the number of the sender's flows that have data to send, this flow "      \
	  "included.",                                                                          \
	  "alone: choice; shared: C / (N + 1), the comparison of Zhu et al., CoNEXT 2016 (row " \
	  "D-05), recalled")                                                                    \
	X(pacing, CHOICE, "packet", "packet|chunk",                                             \
	  "Unit of pacing. `packet`: each packet. `chunk`: a segment, whose packets leave at "  \
	  "line rate.",                                                                         \
	  "TIMELY, 4.1; Zhu et al., CoNEXT 2016 (row D-04): both")                              \
	X(update, CHOICE, "segment", "segment|rtt",                                             \
	  "Event that changes the rate. `segment`: each acknowledged segment. `rtt`: the end "  \
	  "of each round trip except the first.",                                               \
	  "TIMELY, 4.1; rtt: HPCC's simulator (row D-10)")                                      \
	X(cwnd_factor, RATIO, "0", "0..100",                                                    \
	  "Congestion window in bandwidth-delay products of the path. `0`: no window.",         \
	  "HPCC, SIGCOMM 2019 (row D-10): TIMELY+win")                                          \
	X(cwnd_scaled, FLAG, "false", "",                                                       \
	  "The window shrinks and grows in proportion to the rate.",                            \
	  "HPCC's simulator (row D-10)")
/* clang-format on */

struct timely_params {
	TIMELY_PARAMS(PARAM_FIELD)
};

enum { START_ALONE, START_SHARED };
enum { PACING_PACKET, PACING_CHUNK };
enum { UPDATE_SEGMENT, UPDATE_RTT };

struct timely_state {
	struct cc_state cc;
	double rate, line;
	double cwnd; /* window in bytes at line rate; 0 without a window */
	/* UPDATE_RTT: the rate may change again when acked_total exceeds this value */
	uint64_t update_at;
	double rtt_diff; /* moving average, in ps */
	double rtt_last;
	uint64_t segment_bytes; /* bytes of the current segment */
	uint32_t falling;       /* successive completions with a falling RTT */
};

static void publish(struct timely_state *state, const struct timely_params *params)
{
	if (state->rate < (double)params->rate_min)
		state->rate = (double)params->rate_min;
	if (state->rate > state->line)
		state->rate = state->line;
	state->cc.rate_bps = state->rate >= state->line ? RATE_UNLIMITED : (uint64_t)state->rate;
	if (params->cwnd_scaled && state->cwnd > 0)
		state->cc.cwnd_bytes = (uint64_t)(state->cwnd * state->rate / state->line);
}

/* Returns the weight of EOD, equation 30: 0 below -1/4, 1 above 1/4, linear in between. */
static double weight(double gradient)
{
	double value = 2 * gradient + 0.5;

	return value < 0 ? 0 : value > 1 ? 1 : value;
}

static void increase(struct timely_state *state, const struct timely_params *params)
{
	double delta = (double)params->increase;

	state->falling++;
	state->rate += state->falling >= params->hyper_after ? 5 * delta : delta;
}

static void follow_gradient(struct timely_state *state, const struct timely_params *params,
			    double rtt, double gradient)
{
	if (params->patched) {
		double delta = (double)params->increase;
		double share = weight(gradient);
		double error = (rtt - (double)params->rtt_low) / (double)params->rtt_low;

		state->rate =
			delta * (1 - share) + state->rate * (1 - params->beta * share * error);
		return;
	}
	if (gradient > 0) {
		state->falling = 0;
		if (gradient > params->gradient_max)
			gradient = params->gradient_max;
		state->rate *= 1 - params->beta * gradient;
		return;
	}
	increase(state, params);
}

static bool may_move(const struct timely_state *state, const struct timely_params *params,
		     const struct congestion_ack *ack)
{
	if (params->update == UPDATE_RTT)
		return ack->acked_total > state->update_at;
	return state->segment_bytes >= params->segment;
}

static void timely_on_ack(struct cc_state *cc, const void *context, sim_time now,
			  const struct congestion_ack *ack)
{
	struct timely_state *state = (struct timely_state *)(void *)cc;
	const struct timely_params *params = context;
	double rtt = (double)ack->rtt;
	bool looks = params->update == UPDATE_RTT && !state->update_at;

	(void)now;
	state->segment_bytes += ack->acked_bytes;
	if (!ack->rtt || !may_move(state, params, ack))
		return;
	state->segment_bytes = 0;
	state->update_at = ack->sent_total;
	if (state->rtt_last > 0)
		state->rtt_diff = (1 - params->alpha) * state->rtt_diff +
				  params->alpha * (rtt - state->rtt_last);
	state->rtt_last = rtt;
	if (looks) {
		publish(state, params);
		return;
	}
	if (rtt < (double)params->rtt_low && params->hyper_low) {
		increase(state, params);
	} else if (rtt < (double)params->rtt_low) {
		state->falling = 0;
		state->rate += (double)params->increase;
	} else if (rtt > (double)params->rtt_high) {
		state->falling = 0;
		state->rate *= 1 - params->beta * (1 - (double)params->rtt_high / rtt);
	} else {
		follow_gradient(state, params, rtt, state->rtt_diff / (double)params->rtt_min);
	}
	publish(state, params);
}

static void timely_state_init(struct cc_state *cc, const void *context,
			      const struct congestion_path *path, sim_time now)
{
	struct timely_state *state = (struct timely_state *)(void *)cc;
	const struct timely_params *params = context;
	double cwnd = (double)congestion_bdp_bytes(path) * params->cwnd_factor;
	uint32_t sharers = params->start == START_SHARED ? path->active_flows + 1 : 1;

	(void)now;
	*state = (struct timely_state){
		.cc.cwnd_bytes = cwnd > 0 ? (uint64_t)cwnd : CWND_UNLIMITED,
		.cc.next_step = SIM_NEVER,
		.cc.burst_bytes = params->pacing == PACING_CHUNK ? (uint32_t)params->segment : 0,
		.cwnd = cwnd,
		.rate = (double)path->line_rate_bps * params->start_share / sharers,
		.rtt_last = (double)params->rtt_first,
		.line = (double)path->line_rate_bps,
	};
	publish(state, params);
}

/* Returns the bytes between ACKs. Normally a segment, because TIMELY acts on completions. Each
 * packet needs an ACK if the window moves with the rate, or if the rate changes once a round
 * trip. */
static uint64_t timely_ack_bytes(const void *context)
{
	const struct timely_params *params = context;

	return params->cwnd_scaled || params->update == UPDATE_RTT ? 1 : params->segment;
}

void timely_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		 struct fold *fold)
{
	static const struct fold_field fields[] = {
		CONGESTION_FOLD_FIELDS(struct timely_state),
		FOLD_FIELD(struct timely_state, update_at, FOLD_SKIP),
	};
	const struct timely_state *state = (const struct timely_state *)(const void *)cc;

	(void)params;
	fold_struct(fold, state, sizeof(*state), fields, ARRAY_SIZE(fields));
	congestion_fold_progress(fold, state->update_at, acked_total);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct timely_params, __VA_ARGS__)
static const struct param timely_param_list[] = { TIMELY_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_timely = {
	.version = CONGESTION_VERSION,
	.name = "timely",
	.meaning = "rate by the gradient of the RTT; patched: by its distance from a target",
	.params = timely_param_list,
	.params_bytes = sizeof(struct timely_params),
	.state_bytes = sizeof(struct timely_state),
	.lives_by = CONGESTION_ACKS,
	.ack_bytes = timely_ack_bytes,
	.state_init = timely_state_init,
	.on_ack = timely_on_ack,
};
