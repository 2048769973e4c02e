/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recovery: limits the bytes in flight: by the congestion window, or in a fast recovery by PRR (RFC
 * 6937, with its slow start reduction bound). It reports ACKs, one loss event per window of data,
 * and ECN marks (RFC 3168 6.1.2) to congestion control.
 */
#include "hca/congestion/pace.h"
#include "tcp/connection.h"

void tcp_recovery_begin(struct tcp_connection *c, sim_time handshake_rtt)
{
	const struct tcp_params *params = c->params;
	uint64_t segments = c->syn_sent_again ? 1 : params->initial_window; /* RFC 5681 3.1 */
	const struct congestion_path path = {
		.line_rate_bps = c->line_rate_bps,
		.base_rtt = handshake_rtt ? handshake_rtt : CONGESTION_RTT_UNKNOWN,
		.mtu_bytes = c->send.mss,
		.initial_window_bytes = (uint32_t)(segments * c->send.mss),
	};

	c->congestion->ops->state_init(c->cc, c->congestion->params, &path, c->now);
	c->recovery.phase = TCP_OPEN;
	c->recovery.reduced_end = c->send.next;
}

/* Adapts the pace after a change of the rate from rate_before. */
static void repace(struct tcp_connection *c, uint64_t rate_before)
{
	pace_rate_changed(c->congestion, c->cc, &c->allowed_at, c->now, rate_before);
}

static void congestion_lost(struct tcp_connection *c, enum congestion_loss loss)
{
	c->cc->flight_bytes = tcp_flight(c);
	repace(c, congestion_on_loss(c->congestion, c->cc, c->now, loss));
}

/* Returns the bytes in the network. Without SACK, a duplicate ACK means that a segment has left the
 * network. */
uint64_t tcp_recovery_pipe(const struct tcp_connection *c)
{
	uint64_t pipe = c->board.in_flight_bytes;
	uint64_t left = (uint64_t)c->recovery.duplicate_acks * c->send.mss;

	return left < pipe ? pipe - left : 0;
}

/* PRR: computes the bytes that may be sent in response to this ACK. RFC 6937 3. */
static void reduce_proportionally(struct tcp_connection *c, uint64_t delivered_bytes)
{
	struct tcp_recovery *recovery = &c->recovery;
	uint64_t target = c->cc->cwnd_bytes, pipe = tcp_recovery_pipe(c), allowed;

	recovery->delivered_bytes += delivered_bytes;
	if (pipe > target) {
		double share = (double)target / (double)recovery->flight_bytes;
		uint64_t due = (uint64_t)((double)recovery->delivered_bytes * share + 0.999999);

		allowed = due > recovery->sent_bytes ? due - recovery->sent_bytes : 0;
	} else {
		uint64_t behind = recovery->delivered_bytes > recovery->sent_bytes
					  ? recovery->delivered_bytes - recovery->sent_bytes
					  : 0;

		allowed = (behind > delivered_bytes ? behind : delivered_bytes) + c->send.mss;
		if (allowed > target - pipe)
			allowed = target - pipe;
	}
	recovery->cwnd_bytes = pipe + allowed;
}

static void enter(struct tcp_connection *c)
{
	struct tcp_recovery *recovery = &c->recovery;

	tcp_count(c, recoveries, 1);
	recovery->phase = TCP_RECOVERY;
	recovery->end = c->send.next;
	recovery->flight_bytes = tcp_flight(c);
	recovery->delivered_bytes = recovery->sent_bytes = 0;
	recovery->force = true;
	c->rack.probe_end = 0;
	tcp_timers_clear(c, TCP_DEADLINE_TAIL_PROBE);
	congestion_lost(c, LOSS_NAK);
}

void tcp_recovery_lost(struct tcp_connection *c)
{
	if (c->recovery.phase == TCP_OPEN)
		enter(c);
	if (c->recovery.phase == TCP_RECOVERY)
		reduce_proportionally(c, 0);
}

void tcp_recovery_reduce(struct tcp_connection *c)
{
	if (c->recovery.phase == TCP_OPEN)
		congestion_lost(c, LOSS_NAK);
}

void tcp_recovery_timeout(struct tcp_connection *c)
{
	tcp_rack_lose_on_rto(c);
	c->recovery.phase = TCP_LOSS;
	c->recovery.end = c->send.next;
	c->recovery.force = true;
	c->recovery.duplicate_acks = 0;
	c->rack.probe_end = 0;
	congestion_lost(c, LOSS_TIMEOUT);
}

/* Reduces the window for ECE of RFC 3168, once per window of data. */
static void reduce_for_mark(struct tcp_connection *c)
{
	if (c->send.una < c->recovery.reduced_end)
		return;
	c->recovery.reduced_end = c->send.next;
	c->recovery.cwr = true;
	tcp_count(c, window_reductions, 1);
	if (c->ecn_dctcp || c->recovery.phase != TCP_OPEN)
		return;
	c->cc->flight_bytes = tcp_flight(c);
	repace(c, congestion_on_cnp(c->congestion, c->cc, c->now));
}

static void congestion_acked(struct tcp_connection *c, const struct tcp_delivery *delivery,
			     bool recovering, bool ece)
{
	uint32_t packets = (uint32_t)((delivery->acked_bytes + c->send.mss - 1) / c->send.mss);
	const struct congestion_ack ack = {
		.rtt = delivery->rtt,
		.acked_bytes = delivery->acked_bytes,
		.acked_total = c->send.una - TCP_SEQUENCE_FIRST - 1,
		.sent_total = c->send.next - TCP_SEQUENCE_FIRST - 1,
		.packets = packets,
		.marked = ece && c->ecn_dctcp ? packets : 0,
		.recovering = recovering,
		.cwnd_unused = delivery->prior_una >= c->send.limited_end,
	};

	c->cc->flight_bytes = delivery->prior_flight_bytes;
	repace(c, congestion_on_ack(c->congestion, c->cc, c->now, &ack));
}

static void leave_if_repaired(struct tcp_connection *c)
{
	if (c->recovery.phase == TCP_OPEN || c->send.una < c->recovery.end)
		return;
	c->recovery.phase = TCP_OPEN;
	c->recovery.duplicate_acks = 0;
	tcp_rack_recovered(c);
}

void tcp_recovery_acked(struct tcp_connection *c, const struct tcp_delivery *delivery, bool ece)
{
	bool recovering = c->recovery.phase == TCP_RECOVERY;

	leave_if_repaired(c);
	if (delivery->lost && c->recovery.phase == TCP_OPEN)
		enter(c);
	if (c->recovery.phase == TCP_RECOVERY) {
		recovering = true;
		reduce_proportionally(c, delivery->delivered_bytes);
	}
	if (delivery->advanced || delivery->sacked)
		congestion_acked(c, delivery, recovering, ece);
	if (ece)
		reduce_for_mark(c);
}

void tcp_recovery_sent(struct tcp_connection *c, uint32_t bytes)
{
	c->recovery.sent_bytes += bytes;
	c->recovery.force = false;
}

uint64_t tcp_recovery_cwnd(const struct tcp_connection *c)
{
	if (c->recovery.phase == TCP_RECOVERY && c->cc->cwnd_bytes != CWND_UNLIMITED)
		return c->recovery.cwnd_bytes;
	return c->cc->cwnd_bytes;
}

uint64_t tcp_recovery_room(const struct tcp_connection *c)
{
	uint64_t window = tcp_recovery_cwnd(c), pipe = tcp_recovery_pipe(c);
	uint64_t room = window > pipe ? window - pipe : 0;

	return c->recovery.force && room < c->send.mss ? c->send.mss : room;
}
