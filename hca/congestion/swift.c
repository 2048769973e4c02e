/* SPDX-License-Identifier: Apache-2.0 */
/*
 * swift: a window that keeps the round-trip time at a target. The target grows with the length of
 * the path and, for small windows, with the number of flows that share the path. A window below one
 * packet becomes a pace.
 *
 * Kumar et al., "Swift: delay is simple and effective for congestion control in the datacenter",
 * SIGCOMM'20, algorithm 1 and 3.5.
 */
#include <math.h>

#include "hca/congestion/algorithms.h"
#include "hca/congestion/congestion_fold.h"

/* clang-format off */
#define SWIFT_PARAMS(X)                                                                      \
	X(target_base, TIME, "0ps", "",                                                      \
	  "Base of the target RTT. `0ps`: the path's base RTT times target_factor.",         \
	  "Swift, recalled (row C-24): 25 us class")                                         \
	X(target_factor, RATIO, "1.25", "1..100",                                            \
	  "Base of the target RTT in base RTTs of the path, if target_base is 0.",           \
	  "assumed")                                                                         \
	X(target_hop, TIME, "1us", "",                                                       \
	  "Time that each hop adds to the target RTT.",                                      \
	  "recalled: Swift, 3.5")                                                            \
	X(scaling_range, TIME, "40us", "",                                                   \
	  "fs_range: maximum time that flow scaling adds to the target RTT.",                \
	  "recalled: Swift, table 1")                                                        \
	X(cwnd_small, RATIO, "0.1", "0.001..1",                                              \
	  "fs_min_cwnd: window in packets up to which flow scaling adds scaling_range.",     \
	  "recalled: Swift, 3.5")                                                            \
	X(cwnd_large, RATIO, "100", "1..10000",                                              \
	  "fs_max_cwnd: window in packets from which on flow scaling adds nothing.",         \
	  "recalled: Swift, 3.5")                                                            \
	X(increase, RATIO, "1", "0.001..100",                                                \
	  "ai: packets by which the window grows in a round trip below the target.",         \
	  "recalled: Swift, 3.1")                                                            \
	X(beta, RATIO, "0.8", "0..1",                                                        \
	  "Gain of a decrease: its share of the window is beta times (RTT - target) / RTT.", \
	  "Swift, recalled (row C-24)")                                                      \
	X(decrease_max, RATIO, "0.5", "0..1",                                                \
	  "max_mdf: maximum share of the window that one decrease removes.",                 \
	  "Swift, recalled (row C-24)")                                                      \
	X(cwnd_min, RATIO, "0.001", "0.00001..1",                                            \
	  "Minimum window in packets. A window below 1 paces packets.",                      \
	  "recalled: Swift, 3.1")                                                            \
	X(cwnd_max, RATIO, "2", "0.01..1000",                                                \
	  "Maximum window, in bandwidth-delay products of the path.",                        \
	  "assumed")                                                                         \
	X(retries_small, COUNT, "5", "1..100",                                               \
	  "Number of successive timeouts from which on the window is cwnd_min.",             \
	  "recalled: Swift, algorithm 1")
/* clang-format on */

struct swift_params {
	SWIFT_PARAMS(PARAM_FIELD)
};

struct swift_state {
	struct cc_state cc;
	double cwnd; /* packets */
	double cwnd_max;
	sim_time target;
	sim_time last_decrease_at;
	sim_time rtt;
	uint32_t mtu_bytes;
	uint32_t timeouts;
};

/* Publishes the window. A window below one packet becomes a window of one packet with a pace. */
static void publish(struct swift_state *state, const struct swift_params *params)
{
	double mtu = state->mtu_bytes;

	if (state->cwnd < params->cwnd_min)
		state->cwnd = params->cwnd_min;
	if (state->cwnd > state->cwnd_max)
		state->cwnd = state->cwnd_max;
	state->cc.cwnd_bytes = (uint64_t)(mtu * (state->cwnd < 1 ? 1 : state->cwnd));
	state->cc.rate_bps =
		state->cwnd < 1 && state->rtt
			? (uint64_t)(mtu * 8 * state->cwnd * (double)SEC / (double)state->rtt) + 1
			: RATE_UNLIMITED;
}

/* Returns alpha / sqrt(window) + beta, limited between the two windows: 3.5. */
static double flow_scaling(const struct swift_state *state, const struct swift_params *params)
{
	double range = (double)params->scaling_range;
	double least = 1 / sqrt(params->cwnd_large), most = 1 / sqrt(params->cwnd_small);
	double share = (1 / sqrt(state->cwnd) - least) / (most - least);

	return range * (share < 0 ? 0 : share > 1 ? 1 : share);
}

static void decrease(struct swift_state *state, sim_time now, double factor)
{
	if (state->last_decrease_at && now - state->last_decrease_at < state->rtt)
		return;
	state->last_decrease_at = now;
	state->cwnd *= factor;
}

static void swift_on_ack(struct cc_state *cc, const void *context, sim_time now,
			 const struct congestion_ack *ack)
{
	struct swift_state *state = (struct swift_state *)(void *)cc;
	const struct swift_params *params = context;
	double delay = (double)ack->rtt;
	double target = (double)state->target + flow_scaling(state, params);

	if (!ack->rtt)
		return;
	state->rtt = ack->rtt;
	state->timeouts = 0;
	if (delay < target) {
		double gain = params->increase * ack->packets;

		state->cwnd += state->cwnd >= 1 ? gain / state->cwnd : gain;
	} else {
		double factor = 1 - params->beta * (delay - target) / delay;
		double least = 1 - params->decrease_max;

		decrease(state, now, factor > least ? factor : least);
	}
	publish(state, params);
}

static void swift_on_loss(struct cc_state *cc, const void *context, sim_time now,
			  enum congestion_loss loss)
{
	struct swift_state *state = (struct swift_state *)(void *)cc;
	const struct swift_params *params = context;

	if (loss == LOSS_TIMEOUT && ++state->timeouts >= params->retries_small)
		state->cwnd = params->cwnd_min;
	else
		decrease(state, now, 1 - params->decrease_max);
	publish(state, params);
}

static void swift_state_init(struct cc_state *cc, const void *context,
			     const struct congestion_path *path, sim_time now)
{
	struct swift_state *state = (struct swift_state *)(void *)cc;
	const struct swift_params *params = context;
	double bdp = (double)congestion_bdp_bytes(path) / path->mtu_bytes;

	(void)now;
	*state = (struct swift_state){
		.cc.next_step = SIM_NEVER,
		.cwnd = bdp < 1 ? 1 : bdp,
		.cwnd_max = (bdp < 1 ? 1 : bdp) * params->cwnd_max,
		.target = params->target_base
				  ? params->target_base
				  : (sim_time)((double)path->base_rtt * params->target_factor),
		.rtt = path->base_rtt,
		.mtu_bytes = path->mtu_bytes,
	};
	state->target += params->target_hop * path->hops;
	publish(state, params);
}

/* The time since the last decrease is compared with a round-trip time. */
void swift_fold(const struct cc_state *cc, const void *params, uint64_t acked_total,
		struct fold *fold)
{
	static const struct fold_field fields[] = {
		CONGESTION_FOLD_FIELDS(struct swift_state),
		FOLD_FIELD(struct swift_state, last_decrease_at, FOLD_SKIP),
	};
	const struct swift_state *state = (const struct swift_state *)(const void *)cc;

	(void)params, (void)acked_total;
	fold_struct(fold, state, sizeof(*state), fields, ARRAY_SIZE(fields));
	fold_since(fold, state->last_decrease_at ? state->last_decrease_at : SIM_NEVER);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct swift_params, __VA_ARGS__)
static const struct param swift_param_list[] = { SWIFT_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_swift = {
	.version = CONGESTION_VERSION,
	.name = "swift",
	.meaning = "window that holds the RTT at a target",
	.params = swift_param_list,
	.params_bytes = sizeof(struct swift_params),
	.state_bytes = sizeof(struct swift_state),
	.lives_by = CONGESTION_ACKS,
	.ack_bytes = congestion_each_packet,
	.state_init = swift_state_init,
	.on_ack = swift_on_ack,
	.on_loss = swift_on_loss,
};
