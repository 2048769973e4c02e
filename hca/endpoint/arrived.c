/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrived: counts the payload that has arrived at the other end, acknowledged or not. WRITEs, SENDs
 * and READs are counted in the same way: when the head of a packet leaves the port. The packets of
 * a port in a measurement window are therefore counted in this window, independent of host and
 * transport.
 */
#include "hca/endpoint/endpoint.h"

#include "fabric/wire/opcode.h"
#include "hca/endpoint/tcp_end.h"

/* Returns the payload of the message's packets with PSNs from `from` up to but not including
 * `end`. */
static uint64_t message_bytes(const struct endpoint_qp *qp, const struct endpoint_message *message,
			      uint64_t from, uint64_t end)
{
	uint64_t mtu = qp->ep->mtu_bytes, first = message->first_psn;
	uint64_t low = from > first ? (from - first) * mtu : 0;
	uint64_t high = end > first ? (end - first) * mtu : 0;

	low = low < message->bytes ? low : message->bytes;
	high = high < message->bytes ? high : message->bytes;
	return high > low ? high - low : 0;
}

/* Returns the unacknowledged payload that has arrived: in order, and stored out of order. */
static uint64_t unacked_bytes_arrived(const struct endpoint_qp *qp,
				      const struct endpoint_message *message)
{
	const struct endpoint_qp *peer = endpoint_look(slot_peer(qp->slot));
	uint64_t end = message->first_psn + message->packets, expected = peer->expected_psn;
	uint64_t bytes = message_bytes(qp, message, qp->unacked_psn, expected);

	for (uint64_t psn = expected > message->first_psn ? expected : message->first_psn;
	     peer->selective && psn < end && psn < qp->made_psn; psn++)
		if (selective_stored(peer, psn))
			bytes += message_bytes(qp, message, psn, psn + 1);
	return bytes;
}

/* Returns the first PSN from `psn` on that only a READ response acknowledges. */
static uint64_t response_psn(const struct endpoint_qp *qp, uint64_t psn)
{
	const struct endpoint_message *message = oldest_message(qp);

	for (; message; message = message == qp->newest ? NULL : message->next)
		if (message_is_read_or_atomic(message) &&
		    message->first_psn + message->packets > psn)
			return message->first_psn > psn ? message->first_psn : psn;
	return UINT64_MAX;
}

/* Returns the payload of waiting READ responses that are in order and will be accepted. `psn` is
 * the next PSN and is advanced. */
static uint64_t response_bytes_in(const struct packet_line *line, const struct endpoint_qp *qp,
				  uint64_t *psn)
{
	uint64_t bytes = 0;

	for (const struct packet *packet = line->head; packet; packet = packet->next) {
		if (packet->dest_qp != qp->number || opcode_is_request(packet->opcode) ||
		    packet->opcode == RC_ACK || packet->opcode == CNP_NOTIFY ||
		    psn_near(*psn, packet->psn) != *psn)
			continue;
		bytes += packet->payload_bytes;
		*psn = response_psn(qp, *psn + 1);
	}
	return bytes;
}

/* Returns the payload of waiting requests that are in order, up to a READ. Requests wait only while
 * the adapter accepts no packets. */
static uint64_t request_bytes_in(const struct packet_line *line, const struct endpoint_qp *qp)
{
	uint64_t bytes = 0, psn = qp->expected_psn;

	for (const struct packet *packet = line->head; packet; packet = packet->next) {
		if (packet->dest_qp != qp->number || !opcode_is_request(packet->opcode) ||
		    psn_near(psn, packet->psn) != psn)
			continue;
		bytes += packet->payload_bytes;
		psn++;
	}
	return bytes;
}

uint64_t endpoint_arrived_bytes(const struct endpoint_qp *qp)
{
	uint64_t bytes = endpoint_acked_bytes(qp), psn;
	const struct endpoint_message *message = oldest_message(qp);

	if (qp->is_tcp)
		return peer_of(qp)->tcp->arrived + tcp_end_read_bytes(qp);
	if (qp->ep->flows)
		return bytes;
	if (qp->flags & QP_READS) {
		psn = response_psn(qp, qp->unacked_psn);
		bytes += response_bytes_in(&qp->ep->arrived, qp, &psn);
		bytes += response_bytes_in(&qp->ep->stalled, qp, &psn);
	}
	/* go-back-0 discards the received part of an incomplete message */
	if (!slot_peer(qp->slot) || qp->ep->params->recovery == GO_BACK_0)
		return bytes;
	for (; message; message = message == qp->newest ? NULL : message->next)
		if (!message_is_read_or_atomic(message))
			bytes += unacked_bytes_arrived(qp, message);
	return bytes + request_bytes_in(&slot_ep(slot_peer(qp->slot))->stalled,
					endpoint_look(slot_peer(qp->slot)));
}
