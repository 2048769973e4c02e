/* SPDX-License-Identifier: Apache-2.0 */
/* notification: see notification.h. */
#include "hca/transport/notification.h"
#include "hca/transport/transport.h"

#include <assert.h>

#include "fabric/wire/opcode.h"

static void push(struct cc_unit *unit, struct packet *cnp)
{
	cnp->next = NULL;
	if (unit->cnp_last)
		unit->cnp_last->next = cnp;
	else
		unit->cnp_first = cnp;
	unit->cnp_last = cnp;
	if (!event_pending(&unit->cnp_due))
		sim_schedule_at(&unit->cnp_due, cnp->tail_at);
}

static struct packet *pop(struct cc_unit *unit)
{
	struct packet *cnp = unit->cnp_first;

	unit->cnp_first = cnp->next;
	if (!unit->cnp_first)
		unit->cnp_last = NULL;
	return cnp;
}

static void due(struct event *event)
{
	struct cc_unit *unit = container_of(event, struct cc_unit, cnp_due);
	struct packet *cnp = pop(unit);

	if (unit->cnp_first)
		sim_schedule_at(event, unit->cnp_first->tail_at);
	unit->count.cnp_sent++;
	transport_notify(unit->transport, cnp);
}

static const struct path *path_of(struct cc_unit *unit, const struct path *own)
{
	struct path path = *own;

	if (!unit->paths)
		return own;
	path.service_level = (uint8_t)unit->params->cnp_priority;
	return path_intern(unit->paths, &path);
}

static void send_cnp(struct qp *qp)
{
	struct cc_unit *unit = qp->transport->congestion;
	struct packet *cnp = packet_new(qp->transport->blocks.packets);

	cnp->path = path_of(unit, qp->state.path);
	cnp->kind = PACKET_DATA;
	cnp->opcode = CNP_NOTIFY;
	cnp->dest_qp = qp->state.dest_qp;
	cnp->pkey = qp->state.pkey;
	cnp->hop_limit = cnp->path->hop_limit;
	cnp->vl = (uint8_t)transport_vl(qp->transport, cnp->path);
	cnp->migration = true;
	cnp->becn = true;
	cnp->wire_bytes = packet_wire_bytes(cnp);
	cnp->tail_at = sim_now(qp->transport->block.sim) + unit->params->cnp_delay +
		       qp->transport->facts.transmit_latency;
	push(unit, cnp);
}

void notification_marked(struct qp *qp, const struct packet *packet)
{
	struct cc_unit *unit = qp->transport->congestion;
	const struct notification_params *params = unit->params;
	bool is_response = !opcode_is_request(packet->opcode);
	struct qp_congestion *state;

	if (qp_is_datagram(qp) || (is_response && !packet->payload_bytes))
		return;
	state = cc_unit_state(qp);
	unit->count.ecn_marked_packets++;
	trace(&unit->block, TRACE_MARKED, packet->tag, qp->number, packet->psn);
	state->marked += !is_response;
	state->marks++;
	if (unit->notify == NOTIFICATION_NONE || (unit->notify == NOTIFICATION_ACK && !is_response))
		return;
	if (cnp_limiter_pass(&unit->limiter, (enum cnp_limit)params->cnp_limit,
			     params->cnp_interval, qp->state.path->destination, &state->cnp_at,
			     sim_now(qp->transport->block.sim)))
		send_cnp(qp);
}

void notification_asked(struct qp *qp, sim_time asked_at, struct telemetry *telemetry)
{
	struct qp_congestion *state = cc_unit_state(qp);

	if (state->telemetry)
		packet_telemetry_free(qp->transport->blocks.packets, state->telemetry);
	state->telemetry = telemetry;
	if (telemetry)
		telemetry->complete = true;
	state->asked_at = asked_at;
}

void notification_respond(struct qp *qp, struct send_segment *segment, bool is_ack)
{
	const struct cc_unit *congestion = qp->transport->congestion;
	struct qp_congestion *state = qp->congestion;
	struct packet *packet = segment->last;
	uint32_t extra = 0;

	if (!state)
		return;
	packet->immediate = state->marked;
	packet->becn = state->marked && congestion->notify == NOTIFICATION_ACK;
	state->marked = 0;
	packet->asked_at = is_ack ? state->asked_at : 0;
	if (is_ack && state->telemetry) {
		packet->telemetry = state->telemetry;
		state->telemetry = NULL;
		extra = (uint32_t)congestion->params->telemetry_bytes;
	}
	packet->wire_bytes += extra;
	segment->wire_bytes += extra;
}

void notification_init(struct cc_unit *unit)
{
	event_init(&unit->cnp_due, &unit->block, due);
	if (unit->params->cnp_priority != CNP_OWN_PRIORITY)
		unit->paths = paths_create();
}

void notification_fini(struct cc_unit *unit)
{
	sim_cancel(&unit->cnp_due);
	while (unit->cnp_first)
		packet_free(unit->transport->blocks.packets, pop(unit));
	cnp_limiter_fini(&unit->limiter);
	if (unit->paths)
		paths_destroy(unit->paths);
}
