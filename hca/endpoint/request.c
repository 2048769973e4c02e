/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request: creates the request packets of a queue pair, one at a time, from the message with the
 * next PSN. A READ is one packet that takes one PSN per response packet. IBTA vol. 1, 9.7.2 (PSNs),
 * 9.7.3.
 */
#include <string.h>

#include "hca/congestion/ack_report.h"
#include "hca/endpoint/cc_extension.h"

enum position { POSITION_FIRST, POSITION_MIDDLE, POSITION_LAST, POSITION_ONLY, POSITIONS };

static const uint8_t opcodes[][POSITIONS] = {
	[ENDPOINT_WRITE] = {RC_WRITE_FIRST, RC_WRITE_MIDDLE, RC_WRITE_LAST, RC_WRITE_ONLY},
	[ENDPOINT_SEND] = {RC_SEND_FIRST, RC_SEND_MIDDLE, RC_SEND_LAST, RC_SEND_ONLY},
};

/* Returns true if the window of packets and the congestion window allow a packet. */
static bool window_open(struct endpoint_qp *qp)
{
	return qp->send_psn - qp->unacked_psn < qp->ep->params->window_packets &&
	       !ack_report_cwnd_full(cc_of(qp), qp->sent_bytes - qp->acked_bytes,
				     qp->ep->cwnd_room);
}

bool request_possible(struct endpoint_qp *qp)
{
	uint64_t psn;

	if (!qp->newest || qp->flags & QP_FAILED)
		return false;
	congestion_settle(qp->cc->congestion, cc_of(qp), endpoint_now(qp->ep));
	if (qp->selective && selective_next(qp, &psn))
		return true;
	if (!qp->sending || !window_open(qp))
		return false;
	return !message_is_read_or_atomic(qp->sending) ||
	       qp->reads_outstanding < qp->ep->params->max_rd_atomic;
}

static uint64_t payload_of(const struct endpoint_qp *qp, const struct endpoint_message *message,
			   uint64_t index)
{
	uint64_t before = index * qp->ep->mtu_bytes;
	uint64_t left = message->bytes - before;

	return left < qp->ep->mtu_bytes ? left : qp->ep->mtu_bytes;
}

/* Returns the payload bytes of the queue pair before that PSN of the message. */
static uint64_t bytes_before(const struct endpoint_qp *qp, const struct endpoint_message *message,
			     uint64_t psn)
{
	uint64_t before = (psn - message->first_psn) * qp->ep->mtu_bytes;

	return message->first_byte + (before < message->bytes ? before : message->bytes);
}

/* Returns true if the window is full after this packet. The packet must then request an ACK. */
static bool closes_window(struct endpoint_qp *qp, uint32_t payload_bytes)
{
	uint64_t in_flight = qp->sent_bytes + payload_bytes - qp->acked_bytes;

	return in_flight + qp->ep->cwnd_room > cc_of(qp)->cwnd_bytes ||
	       qp->send_psn + 1 - qp->unacked_psn >= qp->ep->params->window_packets;
}

static void fill_data(struct endpoint_qp *qp, struct packet *packet,
		      const struct endpoint_message *message, uint64_t psn)
{
	struct endpoint_hca *ep = qp->ep;
	uint64_t index = psn - message->first_psn;
	bool first = index == 0, last = index + 1 == message->packets;
	enum position position = first ? (last ? POSITION_ONLY : POSITION_FIRST)
				       : (last ? POSITION_LAST : POSITION_MIDDLE);

	packet->opcode = opcodes[message->operation][position];
	packet->payload_bytes = (uint32_t)payload_of(qp, message, index);
	packet->ecn = ep->ecn;
	packet->ack_request = last || (uint32_t)(index + 1) % qp->cc->ack_interval == 0 ||
			      closes_window(qp, packet->payload_bytes);
	if (first) {
		packet->dma_length = (uint32_t)message->bytes;
		packet->remote_address = message->remote_address;
		packet->rkey = message->rkey;
	}
	if (packet->ack_request && qp->cc->congestion->ops->lives_by & CONGESTION_TELEMETRY)
		packet->telemetry = packet_telemetry_new(ep->pool);
	ep->count.data_packets_sent++;
	ep->count.data_bytes_sent += packet->payload_bytes;
}

static void fill_read_or_atomic(struct endpoint_qp *qp, struct packet *packet,
				const struct endpoint_message *message, uint64_t psn)
{
	uint64_t done = (psn - message->first_psn) * qp->ep->mtu_bytes;

	packet->ack_request = true;
	packet->remote_address = message->remote_address + done;
	packet->rkey = message->rkey;
	if (message->operation == ENDPOINT_ATOMIC) {
		packet->opcode = RC_FETCH_ADD;
		return;
	}
	packet->opcode = RC_READ_REQUEST;
	packet->dma_length = (uint32_t)(message->bytes - done);
}

/* Returns the bytes of headers that RoCE does not have. */
static uint32_t extra_bytes(const struct endpoint_qp *qp, const struct packet *packet)
{
	const struct endpoint_params *params = qp->ep->params;
	uint64_t bytes = packet->payload_bytes ? params->data_header_extra : 0;

	return (uint32_t)(bytes + (packet->telemetry ? params->telemetry_bytes : 0));
}

static void transmit(struct endpoint_qp *qp, struct endpoint_message *message, uint64_t psn)
{
	struct endpoint_hca *ep = qp->ep;
	struct packet *packet = packet_new(ep->pool);
	bool again = psn < qp->made_psn;

	packet->path = qp->path;
	packet->vl = qp->vl;
	packet->ingress = SOURCE_REQUESTS;
	packet->hop_limit = qp->path->hop_limit;
	packet->tag = message->tag;
	packet->sent_at = endpoint_now(ep);
	packet->serial = ++ep->serial;
	packet->psn = PSN_OF(psn);
	packet->dest_qp = qp->peer_number;
	packet->pkey = endpoint_pkey(qp);
	if (message_is_read_or_atomic(message))
		fill_read_or_atomic(qp, packet, message, psn);
	else
		fill_data(qp, packet, message, psn);
	packet->ack_request |= qp->selective && selective_recovers(qp);
	packet->wire_bytes = packet_wire_bytes(packet) + extra_bytes(qp, packet);
	if (__builtin_expect(qp->cc->extension != NULL, 0) && !message_is_read_or_atomic(message))
		cc_extension_packet(qp, packet, message, again);
	if (!message->packets_sent++) {
		message->started_at = packet->sent_at;
		trace(&ep->block, TRACE_MESSAGE_START, message->tag, qp->number, packet->psn);
	}
	message->packets_retransmitted += again;
	ep->count.packets_retransmitted += again;
	departure_pay(qp, packet);
	if (qp->deadline == SIM_NEVER)
		timeout_arm(qp);
	port_send(ep->port, packet);
}

struct endpoint_message *request_message(const struct endpoint_qp *qp, uint64_t psn)
{
	struct endpoint_message *message = oldest_message(qp);

	while (psn >= message->first_psn + message->packets)
		message = message->next;
	return message;
}

void request_send(struct endpoint_qp *qp)
{
	struct endpoint_message *message = qp->sending;
	uint64_t psn = qp->send_psn;

	if (qp->selective && selective_next(qp, &psn)) {
		message = request_message(qp, psn);
		transmit(qp, message, psn);
		if (message_is_read_or_atomic(message))
			psn = message->first_psn + message->packets - 1;
		selective_sent(qp, psn + 1);
		return;
	}
	transmit(qp, message, psn);
	if (message_is_read_or_atomic(message)) {
		qp->reads_outstanding++;
		qp->send_psn = message->first_psn + message->packets;
	} else {
		qp->sent_bytes += payload_of(qp, message, psn - message->first_psn);
		qp->send_psn++;
	}
	if (qp->send_psn > qp->made_psn)
		qp->made_psn = qp->send_psn;
	if (qp->send_psn == message->first_psn + message->packets)
		qp->sending = message == qp->newest ? NULL : message->next;
}

/* Makes `psn` the PSN of the next packet. */
void request_rewind(struct endpoint_qp *qp, uint64_t psn)
{
	struct endpoint_message *message = request_message(qp, psn);

	assert(psn >= qp->unacked_psn && psn <= qp->made_psn);
	trace(&qp->ep->block, TRACE_REWIND, message->tag, qp->number, PSN_OF(psn));
	qp->send_psn = psn;
	qp->sending = message;
	qp->sent_bytes = message_is_read_or_atomic(message) ? message->first_byte
							    : bytes_before(qp, message, psn);
	qp->reads_outstanding = 0; /* all READs and atomics without a response come after it */
}
