/* SPDX-License-Identifier: Apache-2.0 */
/* completer: see completer.h. */
#include "hca/transport/completer.h"

#include <string.h>

#include "fabric/wire/aeth.h"
#include "fabric/wire/bytes.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/dc_initiator.h"
#include "hca/transport/page_fault.h"
#include "hca/transport/psn.h"
#include "hca/transport/reaction_point.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"

#define ATOMIC_BYTES 8

static struct transport_counters *count(struct qp *qp)
{
	return &qp->transport->count;
}

static bool expects_data(const struct send_slot *slot)
{
	return slot->wqe.opcode == WQE_READ || slot->wqe.opcode == WQE_COMPARE_SWAP ||
	       slot->wqe.opcode == WQE_FETCH_ADD;
}

/* Handles a lost response: requests everything again from the oldest READ or atomic without a
 * response. */
static void response_missing(struct qp *qp)
{
	struct transport_block *transport = qp->transport;
	sim_time now = sim_now(qp->transport->block.sim),
		 delay = transport->params->read_loss_delay;
	sim_time begin;

	if (qp->requester.gap_seen)
		return;
	count(qp)->implied_nak_seq_err++;
	requester_retry(qp);
	begin = read_recoveries_begin(&transport->read_recoveries, now, delay);
	if (delay)
		requester_hold(qp, begin - now + delay);
	if (begin > now) {
		count(qp)->read_recovery_stalls++;
		transport_stall(qp->transport, begin);
	}
	qp->requester.gap_seen = true;
}

/* Notifies congestion control, after the acknowledged PSNs are known and before their WQEs are
 * retired. */
static void notify_congestion_control(struct qp *qp, const struct packet *packet)
{
	if (__builtin_expect(!!qp->congestion, 0))
		reaction_point_acknowledged(qp, packet);
}

static void note_response(struct qp *qp, struct send_slot *slot, const struct packet *packet)
{
	slot->stages.at[STAGE_WIRE] = packet->request_at;
	slot->stages.at[STAGE_REMOTE] = packet->sent_at;
	slot->stages.at[STAGE_ACK] = sim_now(qp->transport->block.sim);
}

/*
 * Acknowledges all requests up to and including `psn`, which the responder has executed. Returns
 * false if a READ or atomic among them has no response. That is an implied NAK (9.7.5.1.3).
 */
static bool acknowledge(struct qp *qp, const struct packet *packet, uint32_t psn)
{
	uint32_t unacked = psn_add(psn, 1);
	bool complete = true;

	for (uint32_t number = qp->sq.oldest; number != qp->sq.tail; number++) {
		struct send_slot *slot = qp_slot(qp, number);
		uint32_t last = psn_add(slot->first_psn, slot->psn_count - 1);

		if (!slot->started || psn_distance(slot->first_psn, psn) < 0)
			break;
		if (slot->done)
			continue;
		if (expects_data(slot)) {
			unacked = psn_add(slot->first_psn, slot->responses);
			complete = false;
			break;
		}
		if (psn_distance(last, psn) >= 0) {
			slot->done = true;
			note_response(qp, slot, packet);
		}
	}
	requester_progress(qp, unacked);
	return complete;
}

static void receive_ack(struct qp *qp, const struct packet *packet)
{
	bool complete;

	count(qp)->acks_received++;
	complete = acknowledge(qp, packet, packet->psn);
	notify_congestion_control(qp, packet);
	if (!complete)
		response_missing(qp);
	requester_complete(qp);
}

static enum work_status status_of_nak(uint8_t code)
{
	static const uint8_t status[] = {
		[NAK_INVALID_REQUEST] = WORK_REMOTE_INVALID_REQUEST,
		[NAK_REMOTE_ACCESS] = WORK_REMOTE_ACCESS,
		[NAK_REMOTE_OPERATIONAL] = WORK_REMOTE_OPERATION,
	};

	return code && code < ARRAY_SIZE(status) ? status[code] : WORK_BAD_RESPONSE;
}

/* Processes a NAK, which also acknowledges the requests before it. */
static void receive_nak(struct qp *qp, const struct packet *packet)
{
	uint8_t value = aeth_value(packet->syndrome);
	bool complete, ours;

	complete = packet->psn == qp->requester.unacked_psn ||
		   acknowledge(qp, packet, psn_add(packet->psn, PSN_MASK));
	notify_congestion_control(qp, packet);
	if (!complete) {
		response_missing(qp);
		requester_complete(qp);
		return;
	}
	requester_complete(qp);
	ours = qp->sq.oldest != qp->sq.tail && qp_slot(qp, qp->sq.oldest)->started &&
	       qp->state.state != STATE_ERR;
	if (!ours)
		return;
	if (aeth_type(packet->syndrome) == SYNDROME_RNR_NAK) {
		count(qp)->rnr_nak_received++;
		requester_retry_rnr(qp, value);
	} else if (value == NAK_PSN_SEQUENCE) {
		count(qp)->packet_seq_err++;
		if (qp->congestion)
			reaction_point_lost(qp, LOSS_NAK);
		requester_retry(qp);
		if (qp->transport->params->nak_reaction)
			requester_hold(qp, qp->transport->params->nak_reaction);
	} else {
		requester_fail_oldest(qp, status_of_nak(value));
	}
}

/* Returns the oldest request that waits for data if the packet is its next response. Otherwise
 * returns NULL. */
static struct send_slot *match_response(struct qp *qp, const struct packet *packet)
{
	for (uint32_t number = qp->sq.oldest; number != qp->sq.tail; number++) {
		struct send_slot *slot = qp_slot(qp, number);
		uint32_t expected = psn_add(slot->first_psn, slot->responses);
		bool is_read = slot->wqe.opcode == WQE_READ;

		if (!slot->started)
			return NULL;
		if (slot->done || !expects_data(slot))
			continue;
		if (psn_distance(expected, packet->psn) > 0)
			response_missing(qp);
		if (packet->psn != expected)
			return NULL;
		if (is_read != (opcode_info[packet->opcode].operation == OP_READ_RESPONSE))
			return NULL;
		return slot;
	}
	return NULL;
}

/* Records that the data was passed to PCIe. Later writes become visible after it, so the CQE may be
 * written. */
static void scatter_posted(struct dma *dma)
{
	struct response_scatter *scatter = container_of(dma, struct response_scatter, dma);

	scatter->posted = true;
	scatter->slot->unposted--;
	scatter->slot->stages.at[STAGE_DATA] = sim_now(scatter->qp->transport->block.sim);
	requester_complete(scatter->qp);
}

static void run_waiting(struct transport_block *transport);

static void scattered(struct dma *dma)
{
	struct response_scatter *scatter = container_of(dma, struct response_scatter, dma);
	struct qp *qp = scatter->qp;
	struct send_slot *slot = scatter->slot;
	struct transport_block *transport = qp->transport;

	if (scatter->payload)
		packet_payload_drop(qp->transport->blocks.packets, scatter->payload);
	if (!scatter->posted) {
		slot->unposted--;
		if (slot->status == WORK_OK)
			slot->status = WORK_LOCAL_PROTECTION;
	}
	gauge_left(&transport->gauge.response_buffers, scatter->since,
		   sim_now(transport->block.sim), 1);
	pool_give(&transport->response_scatters, scatter);
	requester_release_slot(qp, slot);
	requester_complete(qp);
	qp_drop(qp);
	if (__builtin_expect(!!transport->responses_first, 0))
		run_waiting(transport);
}

static bool goes_into_cqe(const struct qp *qp, const struct send_slot *slot)
{
	return qp->attr.responses_to_cqe && (slot->wqe.signaled || qp->attr.signal_all) &&
	       slot->wqe.length <= completion_queue_data_room(qp->send_cq);
}

static void scatter_start(struct qp *qp, struct send_slot *slot, struct packet *packet,
			  uint32_t offset)
{
	bool is_atomic = slot->wqe.opcode != WQE_READ;
	uint32_t length = is_atomic ? ATOMIC_BYTES : packet->payload_bytes;
	struct response_scatter *scatter;

	if (!length)
		return;
	if (goes_into_cqe(qp, slot)) {
		slot->response_bytes = (uint8_t)length;
		if (is_atomic)
			le64_put(slot->response, packet->compare);
		else if (packet->payload)
			memcpy(slot->response, packet->payload->bytes, length);
		return;
	}
	scatter = pool_take_zeroed(&qp->transport->response_scatters);
	scatter->since = sim_now(qp->transport->block.sim);
	gauge_enter(&qp->transport->gauge.response_buffers, scatter->since, 1);
	scatter->qp = qp;
	scatter->slot = slot;
	scatter->payload = packet->payload;
	packet->payload = NULL;
	/* The value is a number in the responder's memory, little-endian as on the hosts. */
	le64_put(scatter->value, packet->compare);
	scatter->dma = (struct dma){
		.segments = wqe_segments(&slot->wqe),
		.segment_count = slot->wqe.segment_count,
		.offset = offset,
		.length = length,
		.direction = DMA_SCATTER,
		.access = MR_LOCAL_WRITE,
		.pd = qp->attr.pd,
		.qpn = qp->number,
		.tag = slot->tag,
		.bytes = is_atomic          ? scatter->value
			 : scatter->payload ? scatter->payload->bytes
					    : NULL,
		.posted = scatter_posted,
		.done = scattered,
	};
	scatter->posted = false;
	slot->transfers++;
	slot->unposted++;
	qp_hold(qp);
	dma_start(qp->transport->blocks.dma, &scatter->dma);
}

static uint32_t bytes_expected(const struct qp *qp, const struct send_slot *slot)
{
	uint32_t mtu = qp->state.mtu_bytes;
	uint32_t left = slot->wqe.length - slot->responses * mtu;

	return slot->wqe.opcode != WQE_READ ? 0 : left < mtu ? left : mtu;
}

static void receive_data(struct qp *qp, struct packet *packet)
{
	struct send_slot *slot = match_response(qp, packet);
	uint32_t before = psn_add(packet->psn, PSN_MASK);

	if (!slot) {
		count(qp)->stale_responses++;
		return;
	}
	if (psn_distance(qp->requester.unacked_psn, before) >= 0)
		acknowledge(qp, packet, before); /* acknowledges the requests before it */
	if (packet->payload_bytes != bytes_expected(qp, slot)) {
		slot->status = WORK_BAD_RESPONSE;
		requester_complete(qp);
		return;
	}
	if (qp->transport->pages_may_be_missing &&
	    page_fault_drops(qp, slot, slot->responses * qp->state.mtu_bytes,
			     slot->wqe.opcode == WQE_READ ? packet->payload_bytes : ATOMIC_BYTES))
		return;
	scatter_start(qp, slot, packet, slot->responses * qp->state.mtu_bytes);
	slot->responses++;
	requester_progress(qp, psn_add(slot->first_psn, slot->responses));
	if (slot->responses == slot->psn_count) {
		slot->done = true;
		note_response(qp, slot, packet);
		if (slot->counted)
			qp->requester.outstanding--;
		slot->counted = false;
	}
	notify_congestion_control(qp, packet);
	requester_complete(qp);
}

static bool is_awaited(const struct qp *qp, const struct packet *packet)
{
	const struct requester *requester = &qp->requester;

	return (psn_distance(requester->unacked_psn, packet->psn) >= 0 &&
		psn_distance(packet->psn, requester->sent_psn) > 0) ||
	       (qp->dci && dc_initiator_awaits(qp->dci, packet));
}

static void take(struct qp *qp, struct packet *packet)
{
	bool sends = qp->state.state == STATE_RTS || qp->state.state == STATE_SQD;

	if (qp->dci && sends && dc_initiator_responded(qp->dci, packet))
		count(qp)->acks_received++;
	else if (!sends || !is_awaited(qp, packet))
		count(qp)->stale_responses++;
	else if (qp->requester.page_wait == PAGE_WAIT_PLACE)
		count(qp)->page_drops++;
	else if (opcode_info[packet->opcode].operation != OP_ACK)
		receive_data(qp, packet);
	else if (aeth_type(packet->syndrome) == SYNDROME_ACK)
		receive_ack(qp, packet);
	else
		receive_nak(qp, packet);
	transport_packet_done(qp->transport, packet);
}

/* ---- responses that wait for a buffer ---- */

static bool has_buffer(const struct transport_block *transport)
{
	return transport->response_scatters.in_use < transport->params->response_buffers;
}

static void wait_for_buffer(struct transport_block *transport, struct packet *packet)
{
	packet->next = NULL;
	if (transport->responses_last)
		transport->responses_last->next = packet;
	else
		transport->responses_first = packet;
	transport->responses_last = packet;
	transport->count.response_stalls++;
	gauge_wait(&transport->gauge.response_buffers, sim_now(transport->block.sim), true);
}

static struct packet *pop_waiting(struct transport_block *transport)
{
	struct packet *packet = transport->responses_first;

	transport->responses_first = packet->next;
	if (!transport->responses_first)
		transport->responses_last = NULL;
	packet->next = NULL;
	return packet;
}

/* Processes waiting responses. The queue pair of a response may be destroyed meanwhile. */
static void run_waiting(struct transport_block *transport)
{
	while (transport->responses_first && has_buffer(transport)) {
		struct packet *packet = pop_waiting(transport);
		struct qp *qp = qp_find(transport, packet->dest_qp);

		if (qp)
			take(qp, packet);
		else
			transport_packet_done(transport, packet);
	}
	gauge_wait(&transport->gauge.response_buffers, sim_now(transport->block.sim),
		   transport->responses_first);
}

void completer_receive(struct qp *qp, struct packet *packet)
{
	if (__builtin_expect(qp->transport->lists.reads != 0, 0) && response_list_waits(qp, packet))
		return;
	completer_go_on(qp, packet);
}

void completer_go_on(struct qp *qp, struct packet *packet)
{
	struct transport_block *transport = qp->transport;

	if (__builtin_expect(transport->responses_first || !has_buffer(transport), 0))
		wait_for_buffer(transport, packet);
	else
		take(qp, packet);
}

void completer_drop(struct transport_block *transport)
{
	while (transport->responses_first)
		packet_free(transport->blocks.packets, pop_waiting(transport));
}
