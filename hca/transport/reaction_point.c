/* SPDX-License-Identifier: Apache-2.0 */
/* reaction_point: see reaction_point.h. */
#include "hca/transport/reaction_point.h"

#include <assert.h>

#include "fabric/endpoints.h"
#include "fabric/wire/opcode.h"
#include "hca/congestion/ack_report.h"
#include "hca/congestion/pace.h"
#include "hca/transport/psn.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "sim/plugin_block.h"

/* Returns the state of a controlled sender, or NULL if the queue pair is not controlled. */
static struct qp_congestion *sender(const struct qp *qp)
{
	return qp->congestion && qp->congestion->sends ? qp->congestion : NULL;
}

static void note_rate(struct qp *qp, struct qp_congestion *state)
{
	uint64_t line = port_rate_bps(qp->transport->blocks.above->port);
	uint64_t rate = cc_state_of(state)->rate_bps;

	if (rate > line)
		rate = line;
	qp->transport->congestion->count.rate_now += rate - state->rate_seen;
	state->rate_seen = rate;
}

/* Returns the round-trip time of a full packet and its ACK on an empty path, as
 * reaction_point_acknowledged() measures it. Assumes that the other adapter has the same
 * latencies. */
static sim_time empty_round_trip(const struct qp *qp)
{
	const struct transport_block *transport = qp->transport;
	const struct cc_unit *unit = transport->congestion;
	const struct transport_facts *facts = &transport->facts;
	const struct path *route = qp->state.path;
	const struct packet data = {
		.path = route, .opcode = RC_WRITE_ONLY, .payload_bytes = qp->state.mtu_bytes};
	const struct packet ack = {.path = route, .opcode = RC_ACK};
	uint32_t telemetry = unit->congestion->ops->lives_by & CONGESTION_TELEMETRY
				     ? (uint32_t)unit->params->telemetry_bytes
				     : 0;
	sim_time there, back;

	if (!transport->endpoints || route->source == route->destination)
		return CONGESTION_RTT_UNKNOWN;
	there = endpoints_trip(transport->endpoints, route->source, route->destination,
			       packet_wire_bytes(&data) + telemetry);
	back = endpoints_trip(transport->endpoints, route->destination, route->source,
			      packet_wire_bytes(&ack) + telemetry);
	if (there == SIM_NEVER || back == SIM_NEVER)
		return CONGESTION_RTT_UNKNOWN;
	return there + back + 2 * facts->receive_latency + transport->params->ack_delay +
	       facts->transmit_latency;
}

static void begin(struct qp *qp, struct qp_congestion *state)
{
	struct cc_unit *unit = qp->transport->congestion;
	sim_time given = unit->params->base_rtt, empty = empty_round_trip(qp);
	const struct congestion_path path = {
		.line_rate_bps = port_rate_bps(qp->transport->blocks.above->port),
		.base_rtt = given ? given : empty,
		.mtu_bytes = qp->state.mtu_bytes,
		.service_level = qp->state.path->service_level,
		.active_flows = (uint32_t)unit->count.cc_states,
		.source = qp->state.path->source,
		.destination = qp->state.path->destination,
		.flow = qp->number,
		.host = unit->plugin ? &unit->plugin->host : NULL,
	};

	state->sends = state->idle = true;
	unit->count.cc_states++;
	unit->count.base_rtt_low += given && given < empty;
	if (empty > unit->count.empty_rtt_max)
		unit->count.empty_rtt_max = empty;
	unit->congestion->ops->state_init(cc_state_of(state), unit->congestion->params, &path,
					  sim_now(qp->transport->block.sim));
	note_rate(qp, state);
}

/* ---- limits ---- */

/* Returns the state after bringing it up to date, or NULL if the queue pair is not controlled. */
static struct cc_state *settled(struct qp *qp)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct qp_congestion *state;

	if (!unit->congestion || qp_is_datagram(qp))
		return NULL;
	state = cc_unit_state(qp);
	if (!state->sends)
		begin(qp, state);
	congestion_settle(unit->congestion, cc_state_of(state), sim_now(qp->transport->block.sim));
	return cc_state_of(state);
}

static uint64_t in_flight(const struct qp *qp)
{
	return qp->congestion->sent_bytes - qp->congestion->acked_bytes;
}

static bool is_closed(struct qp *qp, const struct cc_state *cc, uint64_t in_flight_bytes)
{
	return qp_is_reliable(qp) && ack_report_cwnd_full(cc, in_flight_bytes, qp->state.mtu_bytes);
}

bool reaction_point_cwnd_closed(struct qp *qp)
{
	const struct cc_state *cc = settled(qp);

	return cc && is_closed(qp, cc, in_flight(qp));
}

uint32_t reaction_point_room(struct qp *qp)
{
	const struct cc_state *cc = settled(qp);
	uint64_t room;

	if (!cc || !qp_is_reliable(qp))
		return UINT32_MAX;
	room = cc->cwnd_bytes > in_flight(qp) ? cc->cwnd_bytes - in_flight(qp) : 0;
	return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

bool reaction_point_closes_cwnd(struct qp *qp, uint32_t payload_bytes)
{
	const struct cc_state *cc = settled(qp);

	return cc && is_closed(qp, cc, in_flight(qp) + payload_bytes);
}

/* ---- sent packets ---- */

static void pay(struct qp *qp, const struct packet *packet)
{
	const struct cc_unit *unit = qp->transport->congestion;
	struct cc_state *cc = cc_state_of(qp->congestion);
	sim_time now = sim_now(qp->transport->block.sim);

	if (cc->rate_bps != RATE_UNLIMITED)
		pace_pay(unit->congestion, cc, &qp->requester.paced_until, now,
			 packet->payload_bytes, packet->wire_bytes + unit->gap_bytes);
	if (unit->congestion->ops->on_send)
		unit->congestion->ops->on_send(cc, unit->congestion->params, now,
					       packet->wire_bytes);
}

/* Counts a packet as in flight. A retransmitted packet counts again, unless its ACK has arrived
 * meanwhile. */
static void count_sent(struct qp *qp, const struct packet *packet)
{
	if (psn_distance(qp->requester.unacked_psn, packet->psn) >= 0)
		qp->congestion->sent_bytes += packet->payload_bytes;
}

uint32_t reaction_point_sent(struct sched_entity *entity)
{
	struct qp *qp = entity->qp;
	struct cc_unit *unit = qp->transport->congestion;
	struct send_segment *sent = entity->last;
	struct requester *requester = &qp->requester;
	sim_time now = sim_now(qp->transport->block.sim);
	bool controlled, gathers;
	uint32_t extra = 0;

	if (qp_is_datagram(qp))
		return 0;
	controlled = settled(qp);
	gathers =
		controlled && unit->congestion->ops->lives_by & CONGESTION_TELEMETRY && sent->slot;
	if (controlled && qp->congestion->idle && requester->paced_until < now)
		requester->paced_until = now;
	requester->held = false;
	for (struct packet *packet = sent->first; packet; packet = packet->next) {
		if (packet->payload_bytes)
			packet->ecn = unit->ecn;
		if (gathers && packet->ack_request && packet->payload_bytes) {
			packet->telemetry = packet_telemetry_new(qp->transport->blocks.packets);
			packet->wire_bytes += (uint32_t)unit->params->telemetry_bytes;
			extra += (uint32_t)unit->params->telemetry_bytes;
		}
		if (controlled)
			pay(qp, packet);
		if (controlled && sent->slot)
			count_sent(qp, packet);
	}
	sent->wire_bytes += extra;
	if (controlled) {
		qp->congestion->idle =
			qp->sq.cursor == qp->sq.tail && !qp->responder.response_count;
		note_rate(qp, qp->congestion);
	}
	return extra;
}

bool reaction_point_holds_responses(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	if (!sender(qp) || requester->held ||
	    sim_now(qp->transport->block.sim) >= requester->paced_until)
		return false;
	if (!event_pending(&requester->pace))
		sim_schedule_at(&requester->pace, requester->paced_until);
	return true;
}

void reaction_point_held(struct qp *qp, sim_time duration)
{
	qp->transport->congestion->count.holds++;
	qp->transport->congestion->count.held_time += duration;
}

/* ---- feedback ---- */

/* Adapts the pace and its event after the rate changed from rate_before. */
static void follow(struct qp *qp, uint64_t rate_before)
{
	const struct cc_unit *unit = qp->transport->congestion;
	struct requester *requester = &qp->requester;
	struct cc_state *cc = cc_state_of(qp->congestion);
	sim_time now = sim_now(qp->transport->block.sim), before = requester->paced_until;

	note_rate(qp, qp->congestion);
	if (cc->rate_bps == rate_before || requester->held)
		return;
	pace_rate_changed(unit->congestion, cc, &requester->paced_until, now, rate_before);
	if (requester->paced_until == before || !event_pending(&requester->pace))
		return;
	sim_cancel(&requester->pace);
	sim_schedule_at(&requester->pace,
			requester->paced_until > now ? requester->paced_until : now);
}

/* Returns the payload bytes of requests with PSNs from `from` up to but not including `to`, without
 * READs and atomics. */
static uint64_t bytes_between(struct qp *qp, uint32_t from, uint32_t to)
{
	uint64_t bytes = 0;

	for (uint32_t number = qp->sq.oldest; number != qp->sq.tail; number++) {
		const struct send_slot *slot = qp_slot(qp, number);
		uint64_t mtu = qp->state.mtu_bytes, begin, end;
		int32_t first, last;

		if (!slot->started)
			break;
		first = psn_distance(slot->first_psn, from);
		last = psn_distance(slot->first_psn, to);
		if (last <= 0)
			break;
		if (requester_is_read_or_atomic(slot))
			continue;
		begin = first > 0 ? (uint64_t)first * mtu : 0;
		end = (uint64_t)last * mtu;
		if (begin > slot->wqe.length)
			begin = slot->wqe.length;
		bytes += (end < slot->wqe.length ? end : slot->wqe.length) - begin;
	}
	return bytes;
}

void reaction_point_progress(struct qp *qp, uint32_t from, uint32_t to)
{
	struct qp_congestion *state = sender(qp);

	if (!state)
		return;
	state->fresh_packets += (uint32_t)psn_distance(from, to);
	state->fresh_bytes += bytes_between(qp, from, to);
}

static void heed_becn(struct qp *qp)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct qp_congestion *state = sender(qp);
	uint64_t rate_before;

	unit->count.cnp_received++;
	if (!state) {
		unit->count.cnp_ignored++;
		return;
	}
	state->cnps++;
	rate_before = congestion_on_cnp(unit->congestion, cc_state_of(state),
					sim_now(qp->transport->block.sim));
	follow(qp, rate_before);
	trace(&unit->block, TRACE_CNP, 0, qp->number, state->rate_seen / 1000000);
}

void reaction_point_acknowledged(struct qp *qp, const struct packet *packet)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct qp_congestion *state = sender(qp);
	sim_time now = sim_now(qp->transport->block.sim);
	struct ack_report report;
	uint64_t rate_before;

	if (packet->becn)
		heed_becn(qp);
	if (!state)
		return;
	state->acked_bytes += state->fresh_bytes;
	if (state->sent_bytes < state->acked_bytes)
		state->sent_bytes = state->acked_bytes;
	report = (struct ack_report){
		.acked_bytes = state->fresh_bytes,
		.acked_total = state->acked_bytes,
		.sent_total = state->sent_bytes,
		.packets = state->fresh_packets,
		.asked_at = packet->asked_at,
	};
	state->fresh_bytes = state->fresh_packets = 0;
	if (!ack_report(unit->congestion, cc_state_of(state), now, packet, &report, &state->rtt,
			&rate_before))
		return;
	follow(qp, rate_before);
	if (cc_state_of(state)->rate_bps != rate_before)
		trace(&unit->block, TRACE_RATE, 0, qp->number, state->rate_seen / 1000000);
}

void reaction_point_lost(struct qp *qp, enum congestion_loss loss)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct qp_congestion *state = sender(qp);
	uint64_t rate_before;

	if (!state || !unit->congestion->ops->on_loss)
		return;
	rate_before = congestion_on_loss(unit->congestion, cc_state_of(state),
					 sim_now(qp->transport->block.sim), loss);
	follow(qp, rate_before);
	trace(&unit->block, TRACE_RATE, 0, qp->number, state->rate_seen / 1000000);
}

void reaction_point_rewound(struct qp *qp)
{
	struct qp_congestion *state = sender(qp);

	if (state)
		state->sent_bytes = state->acked_bytes + state->fresh_bytes;
}

void reaction_point_notified(struct transport_block *transport, struct qp *qp)
{
	if (qp && !qp_is_datagram(qp)) {
		heed_becn(qp);
		return;
	}
	transport->congestion->count.cnp_received++;
	transport->congestion->count.cnp_ignored++;
}
