/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder_response: the responses that a responder owes, in PSN order, and their packets. ACKs
 * are merged with an ACK that has not left. NAKs follow, READ responses in segments like any
 * message, and atomic responses.
 */
#include <assert.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/atomic_records.h"
#include "hca/transport/notification.h"
#include "hca/transport/psn.h"
#include "hca/transport/reaction_point.h"
#include "hca/transport/responder.h"
#include "hca/transport/send_segment.h"
#include "hca/transport/transport.h"

static void append(struct qp *qp, const struct response *response)
{
	struct responder *responder = &qp->responder;
	struct response *last = pool_take(&qp->transport->responses);

	*last = *response;
	last->next = NULL;
	if (responder->response_last)
		responder->response_last->next = last;
	else
		responder->response_first = last;
	responder->response_last = last;
	responder->response_count++;
}

void responder_owe(struct qp *qp, const struct response *response)
{
	struct responder *responder = &qp->responder;
	struct response *last = responder->response_last;
	bool merge = response->kind == RESPONSE_ACK && last && last->kind == RESPONSE_ACK;

	if (merge) {
		*last = *response;
		last->next = NULL;
	} else if (responder->response_count == RESPONSES_MAX) {
		qp->transport->count.resource_drops++;
		if (!response->duplicate &&
		    (response->kind == RESPONSE_READ || response->kind == RESPONSE_ATOMIC))
			responder->reads_owed--;
	} else {
		append(qp, response);
	}
	scheduler_wake(qp->transport->blocks.scheduler, &qp->response_entity);
}

/* Schedules an ACK. Until it leaves, later ACKs are coalesced with it. */
void responder_acknowledge(struct qp *qp, uint32_t psn, uint32_t msn, sim_time request_at)
{
	struct responder *responder = &qp->responder;

	responder->ack_due = true;
	responder->ack_psn = psn;
	responder->ack_msn = msn;
	responder->ack_request_at = request_at;
	if (!event_pending(&responder->ack))
		sim_schedule(&responder->ack, qp->transport->params->ack_delay);
}

static void ack_fired(struct event *event)
{
	struct responder *responder = container_of(event, struct responder, ack);
	struct qp *qp = container_of(responder, struct qp, responder);
	struct response response = {
		.kind = RESPONSE_ACK,
		.ready = true,
		.syndrome = aeth_syndrome(SYNDROME_ACK, AETH_CREDITS_NONE),
		.psn = responder->ack_psn,
		.msn = responder->ack_msn,
		.request_at = responder->ack_request_at,
		.packets = 1,
	};

	assert(responder->ack_due);
	responder->ack_due = false;
	responder_owe(qp, &response);
}

static void done_with_first(struct qp *qp)
{
	struct responder *responder = &qp->responder;
	struct response *response = responder->response_first;

	if (!response->duplicate &&
	    (response->kind == RESPONSE_READ || response->kind == RESPONSE_ATOMIC))
		responder->reads_owed--;
	responder->response_first = response->next;
	if (!responder->response_first)
		responder->response_last = NULL;
	responder->response_count--;
	pool_give(&qp->transport->responses, response);
}

static uint8_t opcode_of(const struct qp *qp, enum operation operation, enum segment position)
{
	int opcode = opcode_find(qp_transport[qp->attr.type], operation, position, SUFFIX_NONE);

	assert(opcode >= 0);
	return (uint8_t)opcode;
}

static struct packet *add_packet(struct qp *qp, struct send_segment *segment,
				 const struct response *response, uint8_t opcode, uint32_t bytes)
{
	const struct path *path = response->path ? response->path : qp->state.path;
	struct packet *packet = send_segment_packet(segment, opcode, path, bytes);

	if (response->path)
		packet->dest_qp = response->dest_qp;
	packet->psn = psn_add(response->psn, response->sent);
	packet->syndrome = response->syndrome;
	packet->msn = response->msn;
	packet->compare = response->value;
	packet->request_at = response->request_at;
	packet->tag = response->tag;
	return packet;
}

static uint32_t send_short(struct qp *qp, struct response *response, uint32_t *wire_bytes)
{
	struct transport_counters *count = &qp->transport->count;
	struct send_segment *segment = send_segment_new(&qp->response_entity, NULL);
	bool is_atomic = response->kind == RESPONSE_ATOMIC;

	add_packet(qp, segment, response,
		   opcode_of(qp, is_atomic ? OP_ATOMIC_ACK : OP_ACK, SEG_ONLY), 0);
	if (__builtin_expect(!!qp->congestion, 0))
		notification_respond(qp, segment, response->kind == RESPONSE_ACK);
	if (response->kind == RESPONSE_ACK || response->kind == RESPONSE_ACCEPT)
		count->acks_sent++;
	else if (response->kind == RESPONSE_NAK)
		count->naks_sent++;
	done_with_first(qp);
	*wire_bytes = send_segment_copy(segment, NULL);
	return 1;
}

static uint32_t send_read(struct qp *qp, struct response *response, uint32_t *wire_bytes)
{
	const struct transport_params *params = qp->transport->params;
	struct send_segment *segment = send_segment_new(&qp->response_entity, NULL);
	uint32_t mtu = qp->state.mtu_bytes;
	uint32_t offset = response->sent * mtu;
	uint32_t packets = 0;

	do {
		bool first = response->sent == 0;
		bool last = response->sent + 1 == response->packets;
		uint32_t left = response->length - offset - segment->length;
		enum segment position = first  ? (last ? SEG_ONLY : SEG_FIRST)
					: last ? SEG_LAST
					       : SEG_MIDDLE;

		add_packet(qp, segment, response, opcode_of(qp, OP_READ_RESPONSE, position),
			   left < mtu ? left : mtu);
		response->sent++;
		packets++;
	} while (response->sent < response->packets &&
		 segment->length + mtu <= params->segment_bytes);
	segment->element = (struct data_segment){
		.address = response->address + offset,
		.length = segment->length,
		.key = response->rkey,
	};
	if (response->sent == response->packets)
		done_with_first(qp);
	if (!segment->length)
		*wire_bytes = send_segment_copy(segment, NULL);
	else
		*wire_bytes = send_segment_gather(segment, &segment->element, 1, 0, MR_REMOTE_READ);
	if (__builtin_expect(!!qp->transport->congestion, 0))
		*wire_bytes += reaction_point_sent(&qp->response_entity);
	return packets;
}

uint32_t responder_next(struct qp *qp, uint32_t *wire_bytes)
{
	struct responder *responder = &qp->responder;
	struct response *response = responder->response_first;

	if (!response || !response->ready)
		return 0;
	if (qp->congestion && response->kind == RESPONSE_READ && reaction_point_holds_responses(qp))
		return 0;
	trace(&qp->transport->block, TRACE_RESPOND, response->tag, qp->number, response->psn);
	return response->kind == RESPONSE_READ ? send_read(qp, response, wire_bytes)
					       : send_short(qp, response, wire_bytes);
}

void responder_forget_owed(struct qp *qp)
{
	while (qp->responder.response_first)
		done_with_first(qp);
}

/* Handles a region that was removed between the check and the read. */
void responder_gather_failed(struct qp *qp, uint32_t psn)
{
	if (qp->state.state != STATE_ERR)
		responder_fatal(qp, ERROR_BAD_RKEY, psn);
}

void responder_atomic_done(struct qp *qp, uint32_t psn, bool failed, uint64_t original)
{
	struct responder *responder = &qp->responder;

	if (failed && qp->state.state != STATE_ERR) {
		responder_fatal(qp, ERROR_BAD_RKEY, psn);
		return;
	}
	atomic_records_finish(responder->atomics, psn, original);
	for (struct response *response = responder->response_first; response;
	     response = response->next) {
		if (response->kind == RESPONSE_ATOMIC && !response->ready && response->psn == psn) {
			response->ready = true;
			response->value = original;
		}
	}
	scheduler_wake(qp->transport->blocks.scheduler, &qp->response_entity);
}

void responder_init(struct qp *qp)
{
	event_init(&qp->responder.ack, &qp->transport->block, ack_fired);
	qp->responder.previous_opcode = -1;
}
