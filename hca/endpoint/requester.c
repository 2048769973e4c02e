/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester: processes responses: ACKs, NAKs, and READ and atomic responses. A response
 * acknowledges all requests before it. READs and atomics are acknowledged only by their own
 * responses. A missing response is an implied NAK (IBTA vol. 1, 9.7.5.1.3 and 9.7.5.1.4).
 */
#include "hca/congestion/ack_report.h"
#include "hca/endpoint/endpoint_state.h"

static void finish(struct endpoint_qp *qp, struct endpoint_message *message)
{
	if (message == qp->newest) {
		qp->newest = NULL;
		qp->ep->active_qps--;
		qp->flags &= (uint8_t)~QP_READS;
	} else {
		qp->newest->next = message->next;
	}
	endpoint_complete(qp, message, ENDPOINT_OK);
}

/* Returns the first PSN before `end` that only a response may acknowledge, or `end` if there is
 * none. */
static uint64_t barrier_before(const struct endpoint_qp *qp, uint64_t end)
{
	const struct endpoint_message *message = oldest_message(qp);

	if (!(qp->flags & QP_READS))
		return end;
	while (message && message->first_psn < end) {
		if (message_is_read_or_atomic(message))
			return message->first_psn > qp->unacked_psn ? message->first_psn
								    : qp->unacked_psn;
		message = message == qp->newest ? NULL : message->next;
	}
	return end;
}

/* Returns the departure time of the packet that requested this response. */
static sim_time asked_at(const struct endpoint_qp *qp, const struct packet *packet)
{
	return qp->flags & QP_FAR ? packet->asked_at : packet->remote_address;
}

/* Acknowledges all PSNs before `end`, and completes the messages that end there. Returns the newly
 * acknowledged payload bytes. */
static uint64_t advance(struct endpoint_qp *qp, const struct packet *packet, uint64_t end)
{
	struct endpoint_message *message = oldest_message(qp);
	uint64_t acked = qp->acked_bytes;
	uint64_t from = qp->unacked_psn;

	if (end <= qp->unacked_psn)
		return 0;
	qp->unacked_psn = end;
	qp->flags &= (uint8_t)~QP_GAP;
	while (message && message->first_psn + message->packets <= end) {
		struct endpoint_message *next = message == qp->newest ? NULL : message->next;

		if (!message_is_read_or_atomic(message))
			qp->acked_bytes = message->first_byte + message->bytes;
		else if (qp->reads_outstanding)
			qp->reads_outstanding--;
		if (qp->sending == message) { /* the acknowledged PSNs need no retransmission */
			qp->sending = next;
			qp->send_psn = end;
		}
		finish(qp, message);
		message = next;
	}
	if (message && end > message->first_psn && !message_is_read_or_atomic(message))
		qp->acked_bytes =
			message->first_byte + (end - message->first_psn) * qp->ep->mtu_bytes;
	if (qp->send_psn < end)
		qp->send_psn = end;
	if (qp->sent_bytes < qp->acked_bytes)
		qp->sent_bytes = qp->acked_bytes;
	if (qp->selective)
		selective_acked(qp, from, asked_at(qp, packet));
	qp->retries = 0;
	if (qp->unacked_psn < qp->made_psn)
		timeout_arm(qp);
	else
		timeout_disarm(qp);
	return qp->acked_bytes - acked;
}

/* go-back-0: returns the first PSN of the message that contains `end`, because the whole message is
 * sent again. */
static uint64_t message_start(const struct endpoint_qp *qp, uint64_t end)
{
	const struct endpoint_message *message = oldest_message(qp);

	while (message && message->first_psn + message->packets <= end)
		message = message == qp->newest ? NULL : message->next;
	return message && message->first_psn < end ? message->first_psn : end;
}

static void notify_algorithm(struct endpoint_qp *qp, const struct packet *packet, uint64_t bytes,
			     uint64_t packets)
{
	const struct congestion *congestion = qp->cc->congestion;
	uint64_t rate_before;
	const struct ack_report report = {
		.acked_bytes = bytes,
		.acked_total = qp->acked_bytes,
		.sent_total = qp->sent_bytes,
		.packets = packets,
		.asked_at = asked_at(qp, packet),
	};

	if (packet->becn)
		notify_receive(qp);
	if (ack_report(congestion, cc_of(qp), endpoint_now(qp->ep), packet, &report, &qp->cc->rtt,
		       &rate_before))
		departure_rate_changed(qp, rate_before);
}

static void go_back(struct endpoint_qp *qp, sim_time reaction)
{
	if (qp->unacked_psn == qp->made_psn)
		return;
	request_rewind(qp, qp->unacked_psn);
	if (reaction)
		departure_hold(qp, endpoint_now(qp->ep) + reaction);
	timeout_arm(qp);
}

/* Handles a gap in READ responses. With a limit of recoveries, responses that were held up by a
 * stall may arrive after the queue pair's new request. They are not another gap. */
static void imply_nak(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	sim_time now = endpoint_now(ep), delay = ep->params->read_loss_delay;
	sim_time begin;

	if (ep->read_recoveries.limit && qp->flags & QP_GAP)
		return;
	qp->flags |= QP_GAP;
	begin = read_recoveries_begin(&ep->read_recoveries, now, delay);
	ep->count.implied_nak_seq_err++;
	go_back(qp, begin - now + delay);
	if (begin > now)
		stall_until(ep, begin);
}

static void take_ack(struct endpoint_qp *qp, const struct packet *packet, uint64_t end)
{
	uint64_t before = qp->unacked_psn;
	uint64_t barrier = barrier_before(qp, end);
	uint64_t bytes;

	if (qp->ep->params->recovery == GO_BACK_0)
		barrier = message_start(qp, barrier);
	bytes = advance(qp, packet, barrier);
	notify_algorithm(qp, packet, bytes, qp->unacked_psn - before);
	if (barrier_before(qp, end) < end && qp->ep->params->recovery != GO_BACK_0)
		imply_nak(qp);
}

/* Returns true if the responder stores the packet. READs and atomics are only accepted in order. */
static bool kept(const struct endpoint_qp *qp, uint64_t psn)
{
	return !(qp->flags & QP_READS) || !message_is_read_or_atomic(request_message(qp, psn));
}

static void take_nak(struct endpoint_qp *qp, const struct packet *packet)
{
	const struct endpoint_params *params = qp->ep->params;
	uint64_t psn = psn_near(qp->unacked_psn, packet->psn);

	qp->ep->count.packet_seq_err++;
	if (psn < qp->unacked_psn || psn > qp->made_psn) {
		qp->ep->count.stale_responses++;
		return;
	}
	take_ack(qp, packet, psn);
	notify_loss(qp, LOSS_NAK);
	if (params->recovery == SELECTIVE_REPEAT) {
		uint64_t sacked = psn_near(psn, packet->dma_length);

		if (sacked > qp->unacked_psn && sacked < qp->made_psn)
			selective_sacked(qp, sacked, kept(qp, sacked));
		if (params->timeout_restart == RESTARTED_BY_NAK && qp->unacked_psn < qp->made_psn)
			timeout_arm(qp);
		if (params->nak_reaction)
			departure_hold(qp, endpoint_now(qp->ep) + params->nak_reaction);
	} else {
		go_back(qp, params->nak_reaction);
	}
}

/* Retries after an RNR NAK, because a detailed adapter had no receive WQE. */
static void take_rnr_nak(struct endpoint_qp *qp, const struct packet *packet)
{
	uint64_t psn = psn_near(qp->unacked_psn, packet->psn);

	if (psn < qp->unacked_psn || psn >= qp->made_psn) {
		qp->ep->count.stale_responses++;
		return;
	}
	qp->ep->count.rnr_nak_received++;
	take_ack(qp, packet, psn);
	go_back(qp, aeth_rnr_delay(aeth_value(packet->syndrome)));
}

static void take_response(struct endpoint_qp *qp, const struct packet *packet)
{
	uint64_t psn = psn_near(qp->unacked_psn, packet->psn);
	struct endpoint_hca *ep = qp->ep;
	uint64_t before = qp->unacked_psn, barrier, bytes;

	if (packet->ecn == ECN_CE) {
		ep->count.ecn_marked_packets++;
		qp->marks++;
		if (ep->params->notify != NOTIFY_NONE)
			notify_marked(qp);
	}
	if (psn < qp->unacked_psn || psn >= qp->made_psn) {
		ep->count.stale_responses++;
		return;
	}
	barrier = barrier_before(qp, psn + 1);
	bytes = advance(qp, packet, barrier);
	if (barrier < psn) {
		if (!(qp->flags & QP_HELD))
			imply_nak(qp);
		return;
	}
	ep->count.data_packets_received += packet->payload_bytes != 0;
	ep->count.data_bytes_received += packet->payload_bytes;
	qp->cc->response_bytes += packet->payload_bytes;
	if (barrier == psn)
		bytes += advance(qp, packet, psn + 1);
	notify_algorithm(qp, packet, bytes, qp->unacked_psn - before);
}

void requester_act(struct endpoint_qp *qp, struct packet *packet)
{
	struct endpoint_hca *ep = qp->ep;

	if (!qp->cc || qp->flags & QP_FAILED) {
		ep->count.stale_responses++;
	} else if (packet->opcode != RC_ACK) {
		take_response(qp, packet);
	} else if (aeth_type(packet->syndrome) == SYNDROME_NAK) {
		take_nak(qp, packet);
	} else if (aeth_type(packet->syndrome) == SYNDROME_RNR_NAK) {
		take_rnr_nak(qp, packet);
	} else {
		uint64_t end = psn_near(qp->unacked_psn, packet->psn) + 1;

		ep->count.acks_received++;
		if (end > qp->unacked_psn && end <= qp->made_psn &&
		    !(!ep->params->cumulative_ack && end != qp->unacked_psn + 1))
			take_ack(qp, packet, end);
		else
			ep->count.stale_responses++;
	}
	packet_free(ep->pool, packet);
	if (qp->cc)
		departure_consider(qp);
}
