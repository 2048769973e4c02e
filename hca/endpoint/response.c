/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response: ACKs, NAKs, READ responses and atomic responses. They are sent in the order of the
 * requests. While a READ or an atomic response is owed, an ACK waits behind it (IBTA vol. 1,
 * 9.7.5.1). Otherwise the ACK leaves at once, independent of the port's queue.
 */
#include "fabric/wire/bytes.h"
#include "hca/endpoint/cc_extension.h"

struct packet *response_packet(struct endpoint_qp *qp, uint8_t opcode, uint64_t psn)
{
	struct endpoint_hca *ep = qp->ep;
	struct packet *packet = packet_new(ep->pool);

	packet->path = qp->path;
	packet->vl = qp->vl;
	if (qp->cc && __builtin_expect(qp->cc->extension != NULL, 0))
		packet->vl = (uint8_t)port_vl(ep->port, qp->path->service_level);
	packet->ingress = SOURCE_RESPONSES;
	packet->hop_limit = qp->path->hop_limit;
	packet->sent_at = endpoint_now(ep);
	packet->serial = ++ep->serial;
	packet->opcode = opcode;
	packet->psn = PSN_OF(psn);
	packet->dest_qp = qp->peer_number;
	packet->pkey = endpoint_pkey(qp);
	packet->syndrome = aeth_syndrome(SYNDROME_ACK, AETH_CREDITS_NONE);
	packet->msn = qp->messages & MASK_24;
	return packet;
}

void response_set_priority(struct endpoint_qp *qp, struct packet *packet, uint64_t priority)
{
	struct endpoint_hca *ep = qp->ep;
	struct path path = *qp->path;

	if (priority > 15)
		return;
	/* the path was interned when the queue pairs were created */
	path.service_level = (uint8_t)priority;
	packet->path = path_intern(endpoints_paths(ep->endpoints), &path);
	packet->vl = (uint8_t)port_vl(ep->port, path.service_level);
}

static void transmit(struct endpoint_qp *qp, struct packet *packet)
{
	packet->wire_bytes = packet_wire_bytes(packet);
	if (packet->telemetry)
		packet->wire_bytes += (uint32_t)qp->ep->params->telemetry_bytes;
	if (cc_extension_receives(qp))
		cc_extension_ack(qp, packet);
	port_send_at(qp->ep->port, packet, endpoint_now(qp->ep));
}

/* Returns the arrival of the last bit of the packet that takes effect now. */
static sim_time came_at(const struct endpoint_qp *qp)
{
	return endpoint_now(qp->ep) - qp->ep->params->receive_latency;
}

/* Writes the congestion feedback to an ACK, in the fields that the kind of receiver reads. */
static void fill_feedback(struct endpoint_qp *qp, struct packet *ack, sim_time asked_at,
			  sim_time came_at)
{
	if (ack->opcode == RC_ACK)
		response_set_priority(qp, ack, qp->ep->params->ack_priority);
	if (qp->flags & QP_FAR) {
		ack->asked_at = asked_at;
		ack->request_at = came_at;
	} else {
		ack->remote_address = asked_at;
	}
	ack->immediate = qp->marked;
	ack->becn = qp->marked && qp->ep->params->notify == NOTIFY_ACK;
	qp->marked = 0;
}

static struct response *first_response(const struct endpoint_qp *qp)
{
	return qp->responses->next;
}

static struct response *append(struct endpoint_qp *qp)
{
	struct response *response = pool_take(&qp->ep->response_pool);

	if (qp->responses) {
		response->next = qp->responses->next;
		qp->responses->next = response;
	} else {
		response->next = response;
	}
	qp->responses = response;
	response->started = false;
	return response;
}

static void remove_first(struct endpoint_qp *qp)
{
	struct response *first = first_response(qp);

	if (first == qp->responses)
		qp->responses = NULL;
	else
		qp->responses->next = first->next;
	pool_give(&qp->ep->response_pool, first);
}

void response_drop_all(struct endpoint_qp *qp)
{
	while (qp->responses)
		remove_first(qp);
}

/* Sends an ACK, with the telemetry of the acknowledged packet. */
void response_ack(struct endpoint_qp *qp, uint64_t psn, struct packet *asked)
{
	struct packet *ack;

	if (qp->responses) {
		struct response *response = qp->responses;

		if (response->kind != OP_ACK)
			response = append(qp);
		response->kind = OP_ACK;
		response->psn = psn;
		response->ready_at = endpoint_now(qp->ep);
		response->asked_at = asked->sent_at;
		response->came_at = came_at(qp);
		return;
	}
	ack = response_packet(qp, RC_ACK, psn);
	fill_feedback(qp, ack, asked->sent_at, came_at(qp));
	ack->telemetry = asked->telemetry;
	asked->telemetry = NULL;
	if (ack->telemetry)
		ack->telemetry->complete = true;
	qp->ep->count.acks_sent++;
	transmit(qp, ack);
}

/* Sends a NAK with the missing PSN. For selective repeat it also carries the PSN that has arrived
 * (IRN's SACK). */
void response_nak(struct endpoint_qp *qp, uint64_t psn, uint64_t arrived_psn)
{
	struct endpoint_hca *ep = qp->ep;
	struct packet *nak = response_packet(qp, RC_ACK, psn);

	nak->syndrome = aeth_syndrome(SYNDROME_NAK, NAK_PSN_SEQUENCE);
	nak->dma_length = PSN_OF(arrived_psn);
	fill_feedback(qp, nak, 0, came_at(qp));
	nak->wire_bytes = packet_wire_bytes(nak);
	ep->count.naks_sent++;
	nak->tail_at = endpoint_now(ep) + ep->params->nak_delay;
	if (!ep->params->nak_delay) {
		transmit(qp, nak);
		return;
	}
	if (cc_extension_receives(qp))
		cc_extension_ack(qp, nak);
	endpoint_packet_line_push(&ep->naks, nak);
}

/* Removes owed responses from `psn` on, because a repeated request replaces them. */
static void forget_from(struct endpoint_qp *qp, uint64_t psn)
{
	while (qp->responses && qp->responses->psn >= psn) {
		struct response *last = qp->responses, *before = last->next;

		while (before->next != last)
			before = before->next;
		if (before == last) {
			qp->responses = NULL;
		} else {
			before->next = last->next;
			qp->responses = before;
		}
		pool_give(&qp->ep->response_pool, last);
	}
}

void response_owe(struct endpoint_qp *qp, const struct packet *request, uint64_t psn)
{
	const struct endpoint_params *params = qp->ep->params;
	bool atomic = opcode_is_atomic(request->opcode);
	struct response *response;

	forget_from(qp, psn);
	if (!qp->cc)
		connect_state_init(qp);
	if (!qp->responses)
		departure_begin(qp);
	response = append(qp);
	response->kind = atomic ? OP_ATOMIC_ACK : OP_READ_RESPONSE;
	response->psn = psn;
	response->bytes = atomic ? 0 : request->dma_length;
	response->asked_at = request->sent_at;
	response->came_at = came_at(qp);
	response->tag = request->tag;
	if (qp->ep->user && qp->ep->user->read_begins && !atomic)
		qp->ep->user->read_begins(qp->ep->user, qp, request->tag, PSN_OF(psn));
	response->ready_at =
		endpoint_now(qp->ep) + (atomic ? params->atomic_latency : params->read_latency);
	departure_consider(qp);
}

sim_time response_ready_at(const struct endpoint_qp *qp)
{
	const struct response *response = first_response(qp);

	if (response->kind == OP_READ_RESPONSE && qp->allowed_at > response->ready_at)
		return qp->allowed_at;
	return response->ready_at;
}

static void send_read_response(struct endpoint_qp *qp, struct response *response)
{
	struct endpoint_hca *ep = qp->ep;
	bool last = response->bytes <= ep->mtu_bytes;
	uint8_t opcode = response->started ? (last ? RC_READ_RESP_LAST : RC_READ_RESP_MIDDLE)
					   : (last ? RC_READ_RESP_ONLY : RC_READ_RESP_FIRST);
	struct packet *packet = response_packet(qp, opcode, response->psn);

	packet->payload_bytes = (uint32_t)(last ? response->bytes : ep->mtu_bytes);
	packet->ecn = ep->ecn;
	if (qp->flags & QP_FAR)
		packet->request_at = response->came_at;
	packet->wire_bytes = packet_wire_bytes(packet);
	response->bytes -= packet->payload_bytes;
	response->psn++;
	response->started = true;
	ep->count.data_packets_sent++;
	ep->count.data_bytes_sent += packet->payload_bytes;
	departure_pay(qp, packet);
	port_send(ep->port, packet);
	if (!last)
		return;
	if (ep->user && ep->user->read_ends)
		ep->user->read_ends(ep->user, qp, response->tag, PSN_OF(response->psn - 1));
	remove_first(qp);
}

void response_send(struct endpoint_qp *qp)
{
	struct response *response = first_response(qp);
	struct packet *packet;

	if (response->kind == OP_READ_RESPONSE) {
		congestion_settle(qp->cc->congestion, cc_of(qp), endpoint_now(qp->ep));
		send_read_response(qp, response);
		return;
	}
	packet = response_packet(qp, response->kind == OP_ACK ? RC_ACK : RC_ATOMIC_ACK,
				 response->psn);
	fill_feedback(qp, packet, response->asked_at, response->came_at);
	qp->ep->count.acks_sent += response->kind == OP_ACK;
	remove_first(qp);
	transmit(qp, packet);
}
