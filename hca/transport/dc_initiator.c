/* SPDX-License-Identifier: Apache-2.0 */
/* dc_initiator: see dc_initiator.h. */
#include "hca/transport/dc_initiator.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/psn.h"
#include "hca/transport/requester.h"
#include "hca/transport/send_segment.h"
#include "hca/transport/transport.h"

struct dc_initiator {
	struct qp *qp; /* state.path and state.dest_qp are those to the current target */
	uint64_t key;
	uint32_t session;
	bool open; /* the DCI has a target; it is connected once the connect has left */
	bool connect_due;
	bool accepted;
	const struct path *left_path; /* path of a pending disconnect, or NULL */
	uint32_t left_target;
	uint32_t resolved_tag; /* tag of the slot whose address was resolved last */
	const struct path *resolved;
	sim_time used_at;
	struct event idle;
};

static struct transport_block *transport_of(const struct dc_initiator *dci)
{
	return dci->qp->transport;
}

/* ---- target ---- */

static const struct path *path_of(struct dc_initiator *dci, const struct send_slot *slot)
{
	struct address_resolver *resolver = dci->qp->transport->blocks.address_resolver;

	if (dci->resolved_tag != slot->tag) {
		dci->resolved_tag = slot->tag;
		dci->resolved = resolver->resolve(resolver, slot->wqe.address_vector);
	}
	return dci->resolved;
}

static bool faces(const struct dc_initiator *dci, const struct path *path,
		  const struct send_wqe *wqe)
{
	const struct hca_qp_state *state = &dci->qp->state;

	return dci->open && state->path == path && state->dest_qp == wqe->dest_qp &&
	       dci->key == wqe->dc_key;
}

static void leave(struct dc_initiator *dci)
{
	dci->left_path = dci->qp->state.path;
	dci->left_target = dci->qp->state.dest_qp;
	dci->open = false;
	sim_cancel(&dci->idle);
}

static void reconnect_to(struct dc_initiator *dci, const struct path *path,
			 const struct send_wqe *wqe)
{
	if (dci->open)
		leave(dci);
	dci->qp->state.path = path;
	dci->qp->state.dest_qp = wqe->dest_qp;
	dci->key = wqe->dc_key;
	dci->session = ++transport_of(dci)->dc_sessions;
	dci->open = dci->connect_due = true;
	dci->accepted = false;
}

static bool all_have_responses(const struct qp *qp)
{
	return qp->requester.unacked_psn == qp->requester.next_psn;
}

struct gauge *dc_initiator_holds(struct dc_initiator *dci, struct send_slot *slot)
{
	struct transport_gauges *gauge = &transport_of(dci)->gauge;
	const struct path *path;

	dci->used_at = sim_now(dci->qp->transport->block.sim);
	if (!slot->started && !slot->error) {
		path = path_of(dci, slot);
		if (!path)
			slot->error = WQE_NOWHERE;
		else if (!faces(dci, path, &slot->wqe)) {
			if (dci->open && !all_have_responses(dci->qp))
				return &gauge->dc_reconnect;
			reconnect_to(dci, path, &slot->wqe);
		}
		return NULL;
	}
	if (transport_of(dci)->params->dc_handshake == DC_FULL && !dci->connect_due &&
	    !dci->accepted)
		return &gauge->dc_handshake;
	return NULL;
}

/* ---- packets ---- */

static struct packet *packet_of(struct dc_initiator *dci, uint8_t opcode, const struct path *path,
				struct send_segment **segment)
{
	struct packet *packet;

	*segment = send_segment_new(&dci->qp->request_entity, NULL);
	packet = send_segment_packet(*segment, opcode, path, 0);
	packet->psn = dci->qp->requester.unacked_psn;
	packet->source_qp = dci->qp->number;
	return packet;
}

static uint32_t send_disconnect(struct dc_initiator *dci, uint32_t *wire_bytes)
{
	struct send_segment *segment;
	struct packet *packet = packet_of(dci, DC_DISCONNECT, dci->left_path, &segment);

	packet->dest_qp = dci->left_target;
	dci->left_path = NULL;
	transport_of(dci)->count.dc_disconnects++;
	*wire_bytes = send_segment_copy(segment, NULL);
	return 1;
}

static uint32_t send_connect(struct dc_initiator *dci, const struct send_slot *slot,
			     uint32_t *wire_bytes)
{
	struct qp *qp = dci->qp;
	struct send_segment *segment;
	struct packet *packet = packet_of(dci, DC_CONNECT, qp->state.path, &segment);

	packet->dc_key = dci->key;
	packet->dc_session = dci->session;
	packet->ack_request = true;
	packet->tag = slot->tag;
	dci->connect_due = false;
	transport_of(dci)->count.dc_connects++;
	if (!timer_armed(&qp->requester.timer))
		requester_watch(qp);
	if (!event_pending(&dci->idle))
		sim_schedule(&dci->idle, transport_of(dci)->params->dc_idle);
	*wire_bytes = send_segment_copy(segment, NULL);
	return 1;
}

uint32_t dc_initiator_next(struct dc_initiator *dci, const struct send_slot *slot,
			   uint32_t *wire_bytes)
{
	if (dci->left_path)
		return send_disconnect(dci, wire_bytes);
	if (slot && dci->connect_due)
		return send_connect(dci, slot, wire_bytes);
	return 0;
}

bool dc_initiator_owes(const struct dc_initiator *dci)
{
	return dci->left_path;
}

/* Disconnects after the idle time, so that the target can reuse its responder context. */
static void idle(struct event *event)
{
	struct dc_initiator *dci = container_of(event, struct dc_initiator, idle);
	struct qp *qp = dci->qp;
	sim_time due = dci->used_at + transport_of(dci)->params->dc_idle;

	if (qp->sq.oldest != qp->sq.tail || due > sim_now(qp->transport->block.sim)) {
		sim_schedule_at(event, due > sim_now(qp->transport->block.sim)
					       ? due
					       : sim_now(qp->transport->block.sim) +
							 transport_of(dci)->params->dc_idle);
		return;
	}
	leave(dci);
	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

/* ---- responses ---- */

static bool is_nak(const struct packet *packet)
{
	return opcode_info[packet->opcode].operation == OP_ACK &&
	       aeth_type(packet->syndrome) != SYNDROME_ACK;
}

bool dc_initiator_responded(struct dc_initiator *dci, const struct packet *packet)
{
	struct requester *requester = &dci->qp->requester;
	int32_t behind = psn_distance(requester->unacked_psn, packet->psn);

	dci->used_at = sim_now(dci->qp->transport->block.sim);
	if (!dci->open || dci->accepted || is_nak(packet) || behind < -1 ||
	    psn_distance(packet->psn, requester->sent_psn) < 0)
		return false;
	dci->accepted = true;
	if (behind >= 0)
		return false;
	requester_progress(dci->qp, requester->unacked_psn);
	return true;
}

bool dc_initiator_awaits(const struct dc_initiator *dci, const struct packet *packet)
{
	return dci->open && !dci->accepted && packet->psn == dci->qp->requester.unacked_psn &&
	       is_nak(packet);
}

void dc_initiator_lost(struct dc_initiator *dci)
{
	dci->accepted = false;
}

void dc_initiator_rewound(struct dc_initiator *dci)
{
	if (dci->open && !dci->accepted)
		dci->connect_due = true;
}

/* ---- creation and destruction ---- */

void dc_initiator_reset(struct dc_initiator *dci)
{
	sim_cancel(&dci->idle);
	dci->open = dci->connect_due = dci->accepted = false;
	dci->left_path = NULL;
	dci->resolved_tag = 0;
}

struct dc_initiator *dc_initiator_create(struct qp *qp)
{
	struct dc_initiator *dci = calloc(1, sizeof(*dci));

	assert(dci);
	dci->qp = qp;
	event_init(&dci->idle, &qp->transport->block, idle);
	return dci;
}

void dc_initiator_destroy(struct dc_initiator *dci)
{
	if (!dci)
		return;
	sim_cancel(&dci->idle);
	free(dci);
}
