/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hpcc: a window from in-band telemetry. Each ACK carries the records of all switches on the path.
 * The utilisation of the busiest link determines the window, which aims at target_utilisation.
 *
 * Source: Li et al., "HPCC: high precision congestion control", SIGCOMM'19, algorithm 1. Without
 * telemetry in the ACKs, the window keeps its initial value.
 *
 * A measurement needs two records of one port, because the records hold counters. There is no
 * measurement for a port that the previous packet did not pass. An ACK that was overtaken carries
 * an older record and is ignored.
 */
#include "hca/congestion/algorithms.h"

#include <assert.h>
#include <string.h>

#include "fabric/wire/packet.h"

/* clang-format off */
#define HPCC_PARAMS(X)                                                                        \
	X(target_utilisation, RATIO, "0.95", "0.01..1",                                       \
	  "eta: utilisation of the links that the window aims at.",                           \
	  "HPCC, SIGCOMM 2019 (row C-23)")                                                    \
	X(stages, COUNT, "5", "0..100",                                                       \
	  "maxStage: additive increases before a multiplicative increase.",                   \
	  "HPCC, SIGCOMM 2019 (row C-23)")                                                    \
	X(increase, BYTES, "80B", "0B..",                                                     \
	  "W_AI: additive increase of the window.",                                           \
	  "HPCC, SIGCOMM 2019 (row C-23)")                                                    \
	X(increase_rate, RATE, "0bps", "",                                                    \
	  "W_AI as a rate: the window grows by this rate times T. `0bps`: by `increase`.",     \
	  "HPCC's simulator (row D-10): RATE_AI")                                             \
	X(rtt, TIME, "0ps", "",                                                               \
	  "T: a time slightly above the largest base RTT of the fabric. `0ps`: the base RTT " \
	  "of the flow's path.",                                                              \
	  "HPCC, SIGCOMM 2019 (row C-23)")                                                    \
	X(rate_min, RATE, "0bps", "",                                                         \
	  "Minimum window, as a rate times T. `0bps`: no minimum.",                           \
	  "0bps: the paper has no floor; 1Gbps: HPCC's simulator (row D-10), its "            \
	  "MIN_RATE")                                                                         \
	X(paced, FLAG, "true", "",                                                            \
	  "Packets are paced at the rate window / T. `false`: the window alone limits the "   \
	  "flow.",                                                                            \
	  "HPCC, 3.2")
/* clang-format on */

struct hpcc_params {
	HPCC_PARAMS(PARAM_FIELD)
};

struct hpcc_state {
	struct cc_state cc;
	double cwnd, reference; /* W and W^c, bytes */
	double cwnd_min, cwnd_max;
	double increase;    /* W_AI, bytes */
	double utilisation; /* U */
	double line_rate_bps;
	sim_time rtt;
	uint64_t update_at; /* the reference may change again when acked_total exceeds this value */
	uint32_t stage;
	uint32_t mtu_bytes;
	uint32_t hops; /* number of records in `last`; 0 before the first telemetry */
	struct telemetry_hop last[TELEMETRY_HOPS];
};

/* Returns the record of that port in the previous ACK, or NULL if the previous packet took another
 * path. The record is usually at the same place. */
static const struct telemetry_hop *record_before(const struct hpcc_state *state, uint32_t place,
						 uint32_t port)
{
	if (place < state->hops && state->last[place].port == port)
		return &state->last[place];
	for (uint32_t i = 0; i < state->hops; i++)
		if (state->last[i].port == port)
			return &state->last[i];
	return NULL;
}

static bool overtaken(const struct hpcc_state *state, const struct telemetry *telemetry)
{
	for (uint32_t i = 0; i < telemetry->count; i++) {
		const struct telemetry_hop *now = &telemetry->hops[i];
		const struct telemetry_hop *then = record_before(state, i, now->port);

		if (then && now->at <= then->at)
			return true;
	}
	return false;
}

/* Returns the utilisation of a port between two of its records. 1 means a full base RTT of data. */
static double port_utilisation(const struct hpcc_state *state, const struct telemetry_hop *then,
			       const struct telemetry_hop *now)
{
	double capacity = (double)now->rate_bps * (double)state->rtt / (8.0 * (double)SEC);
	double queue = now->queue_bytes < then->queue_bytes ? now->queue_bytes : then->queue_bytes;
	double rate;

	assert(now->at > then->at && now->sent_bytes >= then->sent_bytes);
	rate = (double)(now->sent_bytes - then->sent_bytes) * 8.0 * (double)SEC /
	       (double)(now->at - then->at);
	return queue / capacity + rate / (double)now->rate_bps;
}

/* Implements MeasureInflight of algorithm 1. Returns false if the previous packet passed none of
 * these ports. */
static bool measure(struct hpcc_state *state, const struct telemetry *telemetry)
{
	double busiest = 0, share;
	sim_time span = 0;
	bool measured = false;

	for (uint32_t i = 0; i < telemetry->count; i++) {
		const struct telemetry_hop *now = &telemetry->hops[i];
		const struct telemetry_hop *then = record_before(state, i, now->port);
		double link;

		if (!then)
			continue;
		measured = true;
		link = port_utilisation(state, then, now);
		if (link > busiest) {
			busiest = link;
			span = now->at - then->at;
		}
	}
	if (span > state->rtt)
		span = state->rtt;
	share = (double)span / (double)state->rtt;
	state->utilisation = (1 - share) * state->utilisation + share * busiest;
	return measured;
}

/* Implements ComputeWind of algorithm 1. */
static void compute(struct hpcc_state *state, const struct hpcc_params *params, bool update)
{
	double increase = state->increase;
	bool multiplicative =
		state->utilisation >= params->target_utilisation || state->stage >= params->stages;

	state->cwnd = multiplicative
			      ? state->reference * params->target_utilisation / state->utilisation +
					increase
			      : state->reference + increase;
	if (state->cwnd > state->cwnd_max)
		state->cwnd = state->cwnd_max;
	if (state->cwnd < state->cwnd_min)
		state->cwnd = state->cwnd_min;
	if (!update)
		return;
	state->stage = multiplicative ? 0 : state->stage + 1;
	state->reference = state->cwnd;
}

/* Publishes the window. A window below one packet becomes a pace. */
static void publish(struct hpcc_state *state, const struct hpcc_params *params)
{
	double rate = state->cwnd * 8 * (double)SEC / (double)state->rtt;

	state->cc.cwnd_bytes = congestion_clamp(state->cwnd, state->mtu_bytes, 1e18);
	state->cc.rate_bps =
		(params->paced || state->cwnd < state->mtu_bytes) && rate < state->line_rate_bps
			? (uint64_t)rate + 1
			: RATE_UNLIMITED;
}

static void hpcc_on_ack(struct cc_state *cc, const void *context, sim_time now,
			const struct congestion_ack *ack)
{
	struct hpcc_state *state = (struct hpcc_state *)(void *)cc;
	const struct telemetry *telemetry = ack->telemetry;

	(void)now;
	if (!telemetry || !telemetry->count || overtaken(state, telemetry))
		return;
	if (!state->hops) {
		state->update_at = ack->sent_total; /* the first update is a round trip later */
	} else if (measure(state, telemetry)) {
		bool update = ack->acked_total > state->update_at;

		if (state->utilisation > 0)
			compute(state, context, update);
		if (update)
			state->update_at = ack->sent_total;
		publish(state, context);
	}
	state->hops = telemetry->count;
	memcpy(state->last, telemetry->hops, telemetry->count * sizeof(state->last[0]));
}

static void hpcc_state_init(struct cc_state *cc, const void *context,
			    const struct congestion_path *path, sim_time now)
{
	struct hpcc_state *state = (struct hpcc_state *)(void *)cc;
	const struct hpcc_params *params = context;

	(void)now;
	memset(state, 0, sizeof(*state));
	state->cc.next_step = SIM_NEVER;
	state->rtt = params->rtt ? params->rtt : path->base_rtt;
	if (!state->rtt)
		state->rtt = 1 * US;
	state->line_rate_bps = (double)path->line_rate_bps;
	state->cwnd_min = (double)params->rate_min * (double)state->rtt / (8.0 * (double)SEC);
	if (state->cwnd_min < 1)
		state->cwnd_min = 1;
	state->increase = params->increase_rate ? (double)params->increase_rate *
							  (double)state->rtt / (8.0 * (double)SEC)
						: (double)params->increase;
	state->cwnd_max = state->line_rate_bps * (double)state->rtt / (8.0 * (double)SEC);
	state->cwnd = state->reference = state->cwnd_max;
	state->utilisation = 1;
	state->mtu_bytes = path->mtu_bytes;
	publish(state, params);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct hpcc_params, __VA_ARGS__)
static const struct param hpcc_param_list[] = { HPCC_PARAMS(ROW) { 0 } };
/* clang-format on */

const struct congestion_ops congestion_hpcc = {
	.version = CONGESTION_VERSION,
	.name = "hpcc",
	.meaning = "window by in-band telemetry of the busiest link",
	.params = hpcc_param_list,
	.params_bytes = sizeof(struct hpcc_params),
	.state_bytes = sizeof(struct hpcc_state),
	.lives_by = CONGESTION_ACKS | CONGESTION_TELEMETRY,
	.ack_bytes = congestion_each_packet,
	.state_init = hpcc_state_init,
	.on_ack = hpcc_on_ack,
};
