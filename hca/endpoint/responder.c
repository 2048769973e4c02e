/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder: processes request packets. Their order is checked when the head arrives. The
 * consequences of a packet (ACK, NAK, CNP, response) follow when its last bit is processed. Most
 * packets of a message have no consequences.
 *
 * IBTA vol. 1, 9.7.4.1 (order), 9.7.5.1 (ACKs). Go-back-0 restarts the message: RDMA over Commodity
 * Ethernet at Scale, SIGCOMM'16, 4.1. Selective repeat stores packets that are out of order: IRN,
 * SIGCOMM'18, 3.1. A packet that fills a gap is acknowledged at once: RFC 5681, 4.2.
 */
#include "hca/endpoint/cc_extension.h"

static uint64_t psns_of(const struct endpoint_qp *qp, const struct packet *packet)
{
	uint64_t mtu = qp->ep->mtu_bytes;

	if (packet->opcode != RC_READ_REQUEST || packet->dma_length <= mtu)
		return 1;
	return (packet->dma_length + mtu - 1) / mtu;
}

static bool is_read_or_atomic(const struct packet *packet)
{
	return packet->opcode == RC_READ_REQUEST || packet->opcode == RC_FETCH_ADD;
}

static void count_executed(struct endpoint_qp *qp, const struct packet *packet)
{
	struct endpoint_counters *count = &qp->ep->count;

	switch (opcode_info[packet->opcode].operation) {
	case OP_WRITE:
		count->rx_write_requests++;
		break;
	case OP_SEND:
		count->rx_sends++;
		break;
	case OP_READ:
		count->rx_read_requests++;
		break;
	default:
		count->rx_atomic_requests++;
		break;
	}
}

static void count_data(struct endpoint_hca *ep, const struct packet *packet)
{
	ep->count.data_packets_received += packet->payload_bytes != 0;
	ep->count.data_bytes_received += packet->payload_bytes;
}

static unsigned take_expected(struct endpoint_qp *qp, const struct packet *packet)
{
	uint64_t from = qp->expected_psn;
	bool read_or_atomic = is_read_or_atomic(packet);
	unsigned consequences = read_or_atomic ? OWES_RESPONSE : packet->ack_request ? OWES_ACK : 0;

	if (opcode_starts_message(packet->opcode))
		qp->message_psn = PSN_OF(qp->expected_psn);
	qp->flags &= (uint8_t)~QP_NAK_SENT;
	qp->expected_psn += psns_of(qp, packet);
	if (qp->selective)
		selective_take(qp, from);
	count_data(qp->ep, packet);
	if (opcode_ends_message(packet->opcode)) {
		qp->messages++;
		count_executed(qp, packet);
		consequences |= read_or_atomic ? 0 : DELIVERS;
	}
	if (qp->selective) {
		uint64_t next = qp->expected_psn;
		unsigned ended = selective_advance(qp);

		/* a packet that fills a gap is acknowledged, because a stored packet may have
		 * requested an ACK */
		qp->messages += ended;
		consequences |= ended ? DELIVERS_STORED : 0;
		consequences |= qp->expected_psn != next ? OWES_ACK : 0;
	}
	return qp->ep->user ? consequences : consequences & ~(unsigned)(DELIVERS | DELIVERS_STORED);
}

/* Returns true if the sender has gone back since the last packet that came too early. The first
 * retransmitted packet was then lost again. */
static bool sent_anew(struct endpoint_qp *qp, uint64_t psn)
{
	bool anew = psn <= psn_near(psn, qp->early_psn);

	qp->early_psn = PSN_OF(psn);
	return anew;
}

static uint32_t now_us(const struct endpoint_hca *ep)
{
	return (uint32_t)(sim_now(ep->block.sim) / US);
}

/* Returns true if a packet out of order causes no NAK, because the NAK of its gap was sent. */
static bool nak_holds(const struct endpoint_qp *qp, bool anew)
{
	const struct endpoint_params *params = qp->ep->params;

	if (!(qp->flags & QP_NAK_SENT) || (params->repeat_nak && anew))
		return false;
	return !params->nak_interval || params->recovery != GO_BACK_N ||
	       now_us(qp->ep) - qp->nak_us < params->nak_interval / US;
}

static unsigned take_early(struct endpoint_qp *qp, const struct packet *packet, uint64_t psn)
{
	struct endpoint_hca *ep = qp->ep;
	const struct endpoint_params *params = ep->params;
	bool anew = sent_anew(qp, psn);

	ep->count.out_of_sequence++;
	if (params->recovery == SELECTIVE_REPEAT && !is_read_or_atomic(packet)) {
		bool ends = opcode_ends_message(packet->opcode);

		if (selective_store(qp, psn, ends, packet->tag)) {
			count_data(ep, packet);
			if (ends)
				count_executed(qp, packet);
		}
	} else if (nak_holds(qp, anew)) {
		return 0;
	} else if (params->recovery == GO_BACK_0) {
		qp->expected_psn = psn_near(qp->expected_psn, qp->message_psn);
	} else if (params->nak_interval) {
		qp->nak_us = now_us(ep);
	}
	qp->flags |= QP_NAK_SENT;
	return params->nak ? OWES_NAK : 0;
}

static unsigned take_duplicate(struct endpoint_qp *qp, const struct packet *packet)
{
	qp->ep->count.duplicate_request++;
	if (is_read_or_atomic(packet))
		return OWES_RESPONSE;
	return packet->ack_request ? OWES_ACK : 0;
}

void responder_arrive(struct endpoint_qp *qp, struct packet *packet)
{
	struct endpoint_hca *ep = qp->ep;
	uint64_t psn = psn_near(qp->expected_psn, packet->psn);
	uint64_t received = ep->count.data_packets_received;
	unsigned consequences;

	if (psn == qp->expected_psn)
		consequences = take_expected(qp, packet);
	else if (psn > qp->expected_psn)
		consequences = take_early(qp, packet, psn);
	else
		consequences = take_duplicate(qp, packet);
	if (packet->ecn == ECN_CE) {
		ep->count.ecn_marked_packets++;
		qp->marks++;
		qp->marked++;
		if (ep->params->notify == NOTIFY_CNP)
			consequences |= OWES_CNP;
	}
	if (cc_extension_receives(qp) && packet->payload_bytes)
		consequences |= TELLS_RECEIVER |
				(ep->count.data_packets_received == received ? IS_DUPLICATE : 0u);
	if (!consequences) {
		packet_free(ep->pool, packet);
		return;
	}
	packet->ingress = (uint16_t)consequences;
	/* the ACK will name all PSNs received until now, even if more arrive before it is
	 * created */
	packet->immediate = PSN_OF(qp->expected_psn);
	endpoint_packet_line_push(&ep->arrived, packet);
}

/* Reports a message that ends before `end`. Reports it only once, even if go-back-0 has sent it
 * again. */
static void deliver(struct endpoint_qp *qp, uint64_t end, uint32_t tag)
{
	if ((int32_t)((uint32_t)end - qp->delivered) <= 0)
		return;
	qp->delivered = (uint32_t)end;
	qp->ep->user->delivered(qp->ep->user, qp, tag, PSN_OF(end - 1));
}

void responder_act(struct endpoint_qp *qp, struct packet *packet)
{
	unsigned consequences = packet->ingress;
	uint64_t taken = psn_near(qp->expected_psn, packet->immediate);
	uint64_t psn = psn_near(taken, packet->psn);

	if (consequences & TELLS_RECEIVER)
		cc_extension_data(qp, packet, consequences & IS_DUPLICATE);
	if (consequences & OWES_CNP)
		notify_marked(qp);
	if (consequences & OWES_RESPONSE)
		response_owe(qp, packet, psn);
	if (consequences & OWES_ACK)
		response_ack(qp, qp->ep->params->cumulative_ack ? taken - 1 : psn, packet);
	if (consequences & OWES_NAK)
		response_nak(qp, taken, psn);
	if (consequences & DELIVERS)
		deliver(qp, psn + 1, packet->tag);
	for (uint64_t end = psn + psns_of(qp, packet);
	     consequences & DELIVERS_STORED && end < taken; end++) {
		uint32_t tag;

		if (selective_ended(qp, end, &tag))
			deliver(qp, end + 1, tag);
	}
	packet_free(qp->ep->pool, packet);
}
