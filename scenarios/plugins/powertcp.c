/* SPDX-License-Identifier: Apache-2.0 */
/*
 * powertcp: PowerTCP, a window from the power of the bottleneck: its arrival rate times the data in
 * its queue and on its path. In-band telemetry gives both. Source: Addanki, Michel, Schmid, NSDI
 * 2022, algorithm 1 (recalled).
 *
 *     hcasim plugin build powertcp.c
 *     hcasim run FILE --set hosts.hca.congestion=./powertcp.so --set fabric.switch.telemetry=true
 */
#include <string.h>

#include "hcasim/congestion.h"

/* clang-format off */
#define POWERTCP_PARAMS(X)                                                                       \
	X(gamma, RATIO, "0.9", "0.001..1", "Weight of the new window (gamma).",                  \
	  "recalled: PowerTCP, NSDI 2022: 0.9")                                                  \
	X(flows, COUNT, "10", "1..100000",                                                       \
	  "Flows that share a host's link. The additive increase is a window divided by it.",    \
	  "recalled: PowerTCP, NSDI 2022: beta = bandwidth * RTT / N")                           \
	X(rtt, TIME, "0ps", "0ps..1s",                                                           \
	  "Base round-trip time. `0ps`: that of the path.", "choice")
/* clang-format on */

struct powertcp_params {
	POWERTCP_PARAMS(PARAM_FIELD)
};

struct powertcp_state {
	struct cc_state cc;                     /* first */
	double cwnd, cwnd_old, cwnd_most, beta; /* bytes */
	double power;                           /* normalised and smoothed; 1 means no congestion */
	sim_time rtt, power_at;
	uint64_t update_at; /* the old window changes when acked_total exceeds this value */
	uint64_t power_permille;
	uint32_t mtu_bytes;
	uint32_t hops; /* records in `last` */
	struct telemetry_hop last[TELEMETRY_HOPS];
	const struct plugin_host *host;
};

enum { TRACE_POWER };
static const struct trace_point trace_points[] = {
	{"POWER", "power_permille", "cwnd_bytes", "An ACK changed the window."}, {0}};

static void publish(struct powertcp_state *state)
{
	if (state->cwnd > state->cwnd_most)
		state->cwnd = state->cwnd_most;
	if (state->cwnd < 1)
		state->cwnd = 1;
	state->cc.cwnd_bytes =
		(uint64_t)state->cwnd < state->mtu_bytes ? state->mtu_bytes : (uint64_t)state->cwnd;
	state->cc.rate_bps = (uint64_t)(state->cwnd * 8 * (double)SEC / (double)state->rtt) + 1000;
}

static void state_init(struct cc_state *cc, const void *values, const struct congestion_path *path,
		       sim_time now)
{
	const struct powertcp_params *params = values;
	struct powertcp_state *state = (struct powertcp_state *)(void *)cc;

	(void)now;
	cc->next_step = SIM_NEVER;
	state->rtt = params->rtt ? params->rtt : path->base_rtt;
	state->mtu_bytes = path->mtu_bytes;
	state->cwnd_most = (double)path->line_rate_bps / 8 * (double)state->rtt / (double)SEC;
	state->cwnd = state->cwnd_old = state->cwnd_most;
	state->beta = state->cwnd_most / (double)params->flows;
	state->power = 1;
	state->host = path->host;
	publish(state);
}

/* Returns the record of that port in the previous ACK, or NULL. Packets may take other paths. */
static const struct telemetry_hop *before(const struct powertcp_state *state, uint32_t port)
{
	for (uint32_t i = 0; i < state->hops; i++)
		if (state->last[i].port == port)
			return &state->last[i];
	return NULL;
}

/* NORMPOWER: returns the largest power of the path's ports, or a negative value without any. Writes
 * the time that it covers. */
static double largest_power(const struct powertcp_state *state, const struct telemetry *telemetry,
			    sim_time *span)
{
	double most = -1;

	for (uint32_t i = 0; i < telemetry->count; i++) {
		const struct telemetry_hop *now = &telemetry->hops[i];
		const struct telemetry_hop *then = before(state, now->port);
		double rate = (double)now->rate_bps / 8, seconds, current, voltage, power;

		if (!then || now->at <= then->at)
			continue;
		seconds = (double)(now->at - then->at) / (double)SEC;
		current = ((double)now->queue_bytes - (double)then->queue_bytes +
			   (double)(now->sent_bytes - then->sent_bytes)) /
			  seconds;
		voltage = (double)now->queue_bytes + rate * (double)state->rtt / (double)SEC;
		power = current * voltage / (rate * rate * (double)state->rtt / (double)SEC);
		if (power > most) {
			most = power;
			*span = now->at - then->at;
		}
	}
	return most;
}

static void on_ack(struct cc_state *cc, const void *values, sim_time now,
		   const struct congestion_ack *ack)
{
	const struct powertcp_params *params = values;
	struct powertcp_state *state = (struct powertcp_state *)(void *)cc;
	sim_time span = 0;
	double power, share;

	(void)now;
	if (!ack->telemetry || !ack->telemetry->count)
		return;
	power = largest_power(state, ack->telemetry, &span);
	state->hops = ack->telemetry->count;
	memcpy(state->last, ack->telemetry->hops, state->hops * sizeof(state->last[0]));
	if (power < 0)
		return;
	share = span < state->rtt ? (double)span / (double)state->rtt : 1;
	state->power = (1 - share) * state->power + share * power;
	if (state->power < 0.001)
		state->power = 0.001;
	state->cwnd = params->gamma * (state->cwnd_old / state->power + state->beta) +
		      (1 - params->gamma) * state->cwnd;
	if (ack->acked_total > state->update_at) { /* once a round trip */
		state->update_at = ack->sent_total;
		state->cwnd_old = state->cwnd;
	}
	publish(state);
	state->power_permille = (uint64_t)(state->power * 1000);
	plugin_trace(state->host, TRACE_POWER, state->power_permille, cc->cwnd_bytes);
}

/* clang-format off */
#define ROW(...) PARAM_ROW(struct powertcp_params, __VA_ARGS__)
static const struct param param_list[] = { POWERTCP_PARAMS(ROW) { 0 } };
/* clang-format on */

static const struct congestion_gauge gauges[] = {{"power_permille",
						  "Normalised power; 1000 means no congestion.",
						  offsetof(struct powertcp_state, power_permille)},
						 {0}};

static uint64_t ack_bytes(const void *params)
{
	(void)params;
	return 1; /* an ACK for each packet */
}

const struct congestion_ops congestion_plugin = {
	.version = CONGESTION_VERSION,
	.name = "powertcp",
	.meaning = "window by the power of the bottleneck",
	.params = param_list,
	.params_bytes = sizeof(struct powertcp_params),
	.state_bytes = sizeof(struct powertcp_state),
	.lives_by = CONGESTION_ACKS | CONGESTION_TELEMETRY,
	.ack_bytes = ack_bytes,
	.state_init = state_init,
	.on_ack = on_ack,
	.trace_points = trace_points,
	.gauges = gauges,
};
