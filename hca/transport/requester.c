/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester: see requester.h. The slots before the cursor are sent. The slot at the cursor is being
 * sent. Acknowledgement and retries are in requester_retry.c.
 */
#include "hca/transport/requester.h"
#include "hca/work/wqe_refetch.h"

#include <assert.h>

#include "fabric/wire/opcode.h"
#include "hca/context/translation.h"
#include "hca/transport/dc_initiator.h"
#include "hca/transport/page_fault.h"
#include "hca/transport/psn.h"
#include "hca/transport/reaction_point.h"
#include "hca/transport/send_segment.h"
#include "hca/transport/transport.h"
#include "hca/transport/window_bind.h"
#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "hca/work/wqe_fetch.h"

#define QKEY_OF_THE_QP UINT32_C(0x80000000)

/* clang-format off */
/* Operation and suffix of each WQE opcode on the wire. */
static const struct {
	uint8_t operation, suffix;
	bool read_or_atomic; /* counts as outstanding */
} wire_of[256] = {
	[WQE_SEND]            = {OP_SEND,         SUFFIX_NONE, false},
	[WQE_SEND_IMMEDIATE]  = {OP_SEND,         SUFFIX_IMM,  false},
	[WQE_SEND_INVALIDATE] = {OP_SEND,         SUFFIX_INV,  false},
	[WQE_WRITE]           = {OP_WRITE,        SUFFIX_NONE, false},
	[WQE_WRITE_IMMEDIATE] = {OP_WRITE,        SUFFIX_IMM,  false},
	[WQE_READ]            = {OP_READ,         SUFFIX_NONE, true},
	[WQE_COMPARE_SWAP]    = {OP_COMPARE_SWAP, SUFFIX_NONE, true},
	[WQE_FETCH_ADD]       = {OP_FETCH_ADD,    SUFFIX_NONE, true},
};

static const uint8_t status_of_error[] = {
	[WQE_BAD_OPCODE]  = WORK_LOCAL_QP_OPERATION,
	[WQE_BAD_SIZE]    = WORK_LOCAL_QP_OPERATION,
	[WQE_BAD_QPN]     = WORK_LOCAL_QP_OPERATION,
	[WQE_BAD_LENGTH]  = WORK_LOCAL_LENGTH,
	[WQE_BAD_SEGMENT] = WORK_LOCAL_QP_OPERATION,
	[WQE_NOWHERE]     = WORK_RETRIES_EXCEEDED,
};
/* clang-format on */

bool requester_is_read_or_atomic(const struct send_slot *slot)
{
	return wire_of[slot->wqe.opcode].read_or_atomic;
}

static bool is_local(const struct send_slot *slot)
{
	return slot->wqe.opcode == WQE_UMR || slot->wqe.opcode == WQE_NOP;
}

void requester_posted(struct qp *qp)
{
	if (qp->state.state == STATE_ERR || qp->state.state == STATE_SQE)
		requester_flush(qp);
	else
		scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

/* ---- from WQE to packets ---- */

static void fail_at_cursor(struct qp *qp, struct send_slot *slot, enum work_status status)
{
	slot->status = status;
	slot->started = true;
	qp->requester.halted = true;
	requester_complete(qp);
}

static uint32_t packets_of(const struct qp *qp, const struct send_slot *slot)
{
	uint32_t mtu = qp->state.mtu_bytes;

	if (wire_of[slot->wqe.opcode].operation >= OP_COMPARE_SWAP || slot->wqe.length <= mtu ||
	    qp_is_datagram(qp))
		return 1;
	return slot->wqe.length / mtu + (slot->wqe.length % mtu != 0);
}

/* Performs the checks of a slot that need the QP. Returns the status of its CQE, or WORK_OK. */
static enum work_status check_slot(struct qp *qp, const struct send_slot *slot)
{
	uint32_t access = requester_is_read_or_atomic(slot) ? MR_LOCAL_WRITE : 0;

	if (slot->error)
		return status_of_error[slot->error];
	if (qp_is_datagram(qp) && slot->wqe.length > qp->transport->facts.mtu)
		return WORK_LOCAL_LENGTH;
	if (requester_is_read_or_atomic(slot) && !qp->state.max_rd_atomic)
		return WORK_LOCAL_QP_OPERATION;
	if (!qp_list_allows(qp, qp->attr.pd, wqe_segments(&slot->wqe), slot->wqe.segment_count, 0,
			    slot->wqe.length - slot->wqe.inline_bytes, access))
		return WORK_LOCAL_PROTECTION;
	return WORK_OK;
}

/* Gives the slot its PSNs, or executes it if it needs no packet. */
static bool start(struct qp *qp, struct send_slot *slot)
{
	struct requester *requester = &qp->requester;
	struct transport_block *transport = qp->transport;
	enum work_status status = check_slot(qp, slot);

	if (status == WORK_OK && slot->wqe.opcode == WQE_UMR)
		status = window_bind(qp, &slot->wqe.region);
	if (status != WORK_OK) {
		fail_at_cursor(qp, slot, status);
		return false;
	}
	if (qp->transport->pages_may_be_missing && page_fault_stalls(qp, slot))
		return false;
	slot->started = true;
	slot->first_psn = requester->next_psn;
	slot->psn_count = is_local(slot) ? 0 : packets_of(qp, slot);
	slot->done = is_local(slot);
	requester->next_psn = psn_add(requester->next_psn, slot->psn_count);
	trace(&transport->block, TRACE_WQE_START, slot->tag, qp->number, slot->first_psn);
	return true;
}

static void advance(struct qp *qp)
{
	wqe_fetch_advance(&qp->sq);
	qp->requester.cursor_packet = 0;
}

/* Records the gauge of the current wait. Returns NULL, the result of eligible(). */
static struct send_slot *hold_up(struct qp *qp, struct gauge *by)
{
	if (qp->requester.held_up != by)
		requester_held_up(qp, by);
	return NULL;
}

static bool paced(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	if (sim_now(qp->transport->block.sim) >= requester->paced_until)
		return false;
	if (!event_pending(&requester->pace))
		sim_schedule_at(&requester->pace, requester->paced_until);
	return true;
}

/* Returns the slot at the cursor if one of its packets may be sent now. Otherwise returns NULL. */
static struct send_slot *eligible(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	struct transport_gauges *gauge = &qp->transport->gauge;

	if (requester->halted || qp->state.state < STATE_RTS || qp->state.state == STATE_ERR ||
	    qp->state.state == STATE_SQE)
		return hold_up(qp, NULL);
	if (requester->rnr_waiting)
		return hold_up(qp, &gauge->rnr);
	if (requester->page_wait)
		return hold_up(qp, &gauge->page_fault);
	if (paced(qp))
		return hold_up(qp, &gauge->pace);
	while (qp->sq.cursor != qp->sq.tail) {
		struct send_slot *slot = qp_slot(qp, qp->sq.cursor);
		struct gauge *of_dc = NULL;
		uint32_t psn;

		if (slot->status != WORK_OK || (!slot->started && !qp_may_send(qp)))
			return hold_up(qp, NULL);
		if (!slot->started && slot->wqe.fence && requester->outstanding)
			return hold_up(qp, &gauge->fence);
		if (qp->transport->blocks.send_cache && !slot->at_hand &&
		    !wqe_refetch_is_here(&qp->sq, slot))
			return hold_up(qp, &gauge->wqe);
		if (qp->dci && !is_local(slot))
			of_dc = dc_initiator_holds(qp->dci, slot);
		if (of_dc)
			return hold_up(qp, of_dc);
		if (!slot->started && !start(qp, slot))
			return hold_up(qp, requester->page_wait ? &gauge->page_fault : NULL);
		if (is_local(slot)) {
			advance(qp);
			requester_complete(qp);
			continue;
		}
		if (requester_is_read_or_atomic(slot) && !slot->counted &&
		    requester->outstanding >= qp->state.max_rd_atomic)
			return hold_up(qp, &gauge->reads);
		psn = psn_add(slot->first_psn, requester->cursor_packet);
		if (qp_is_reliable(qp) && psn_distance(requester->unacked_psn, psn) >=
						  (int32_t)qp->transport->params->window_packets)
			return hold_up(qp, &gauge->window);
		if (__builtin_expect(!!qp->transport->congestion, 0) &&
		    reaction_point_cwnd_closed(qp))
			return hold_up(qp, &gauge->congestion);
		hold_up(qp, NULL);
		return slot;
	}
	return hold_up(qp, NULL);
}

static void sent(struct qp *qp, uint32_t behind_psn)
{
	struct requester *requester = &qp->requester;

	if (psn_distance(requester->sent_psn, behind_psn) > 0)
		requester->sent_psn = behind_psn;
	if (!timer_armed(&requester->timer))
		requester_watch(qp);
}

static uint8_t opcode_for(const struct qp *qp, const struct send_slot *slot, bool first, bool last)
{
	enum segment segment =
		first ? (last ? SEG_ONLY : SEG_FIRST) : (last ? SEG_LAST : SEG_MIDDLE);
	int opcode = opcode_find(qp_transport[qp->attr.type], wire_of[slot->wqe.opcode].operation,
				 segment, last ? wire_of[slot->wqe.opcode].suffix : SUFFIX_NONE);

	assert(opcode >= 0);
	return (uint8_t)opcode;
}

/* ---- latency stages: see also requester_wait.c ---- */

void requester_departs(struct qp *qp, struct send_slot *slot, const struct packet *packet,
		       sim_time starts_at, sim_time until)
{
	if (slot->completed || slot->done)
		return;
	slot->stages.at[STAGE_TRANSMIT] = packet->sent_at;
	slot->stages.at[STAGE_CREDITS] = starts_at;
	slot->stages.at[STAGE_WIRE] = qp_is_reliable(qp) ? 0 : until;
}

static void fill(struct qp *qp, struct packet *packet, const struct send_slot *slot)
{
	const struct send_wqe *wqe = &slot->wqe;

	packet->remote_address = wqe->remote_address;
	packet->rkey = wqe->rkey;
	packet->dma_length = wqe->length;
	packet->immediate = wqe->immediate;
	packet->swap_or_add = wqe->swap_or_add;
	packet->compare = wqe->compare;
	packet->xrc_srqn = wqe->xrc_srqn;
	packet->source_qp = qp->number;
	if (qp_is_datagram(qp)) {
		packet->dest_qp = wqe->dest_qp;
		packet->qkey = wqe->qkey & QKEY_OF_THE_QP ? qp->state.qkey : wqe->qkey;
	}
}

static uint32_t send_data(struct qp *qp, struct send_slot *slot, const struct path *path,
			  uint32_t *wire_bytes)
{
	const struct transport_params *params = qp->transport->params;
	struct requester *requester = &qp->requester;
	struct send_segment *segment = send_segment_new(&qp->request_entity, slot);
	uint32_t mtu = qp_is_datagram(qp) ? PAYLOAD_MAX : qp->state.mtu_bytes;
	uint32_t offset = requester->cursor_packet * mtu;
	uint32_t segment_bytes = (uint32_t)params->segment_bytes;
	uint32_t packets = 0;
	uint32_t psn;

	if (__builtin_expect(!!qp->transport->congestion, 0) &&
	    reaction_point_room(qp) < segment_bytes)
		segment_bytes = reaction_point_room(qp);

	do {
		uint32_t number = requester->cursor_packet + packets;
		uint32_t left = slot->wqe.length - offset - segment->length;
		bool last = number + 1 == slot->psn_count;
		struct packet *packet =
			send_segment_packet(segment, opcode_for(qp, slot, number == 0, last), path,
					    left < mtu ? left : mtu);

		packet->psn = psn_add(slot->first_psn, number);
		packet->ack_request = qp_is_reliable(qp) &&
				      (last || (number + 1) % qp->transport->ack_interval == 0);
		packet->solicited = last && slot->wqe.solicited;
		fill(qp, packet, slot);
		packets++;
	} while (requester->cursor_packet + packets < slot->psn_count &&
		 segment->length + mtu <= segment_bytes);

	if (__builtin_expect(!!qp->transport->congestion, 0) &&
	    reaction_point_closes_cwnd(qp, segment->length))
		segment->last->ack_request = true;
	psn = psn_add(slot->first_psn, requester->cursor_packet + packets);
	requester->cursor_packet += packets;
	if (requester->cursor_packet == slot->psn_count)
		advance(qp);
	sent(qp, psn);
	*wire_bytes = send_segment_of_wqe(segment, &slot->wqe, offset);
	return packets;
}

/* Sends a READ or atomic request. A repeated READ requests only the missing data. */
static uint32_t send_request(struct qp *qp, struct send_slot *slot, uint32_t *wire_bytes)
{
	struct requester *requester = &qp->requester;
	struct send_segment *segment = send_segment_new(&qp->request_entity, slot);
	struct packet *packet =
		send_segment_packet(segment, opcode_for(qp, slot, true, true), qp->state.path, 0);
	uint32_t received = slot->responses * qp->state.mtu_bytes;

	fill(qp, packet, slot);
	packet->psn = psn_add(slot->first_psn, slot->responses);
	packet->remote_address += received;
	packet->dma_length -= received;
	packet->ack_request = true;
	if (!slot->counted) {
		slot->counted = true;
		requester->outstanding++;
	}
	advance(qp);
	sent(qp, psn_add(slot->first_psn, slot->psn_count));
	*wire_bytes = send_segment_copy(segment, NULL);
	return 1;
}

uint32_t requester_next(struct qp *qp, uint32_t *wire_bytes)
{
	struct send_slot *slot = eligible(qp);
	const struct path *path = qp->state.path;
	uint32_t packets;

	if (qp->dci && (packets = dc_initiator_next(qp->dci, slot, wire_bytes)))
		return packets;
	if (!slot)
		return 0;
	if (qp_is_datagram(qp)) {
		path = qp->transport->blocks.address_resolver->resolve(
			qp->transport->blocks.address_resolver, slot->wqe.address_vector);
		if (!path) { /* as if the fabric lost the packet */
			qp->transport->count.ud_unreachable++;
			slot->done = true;
			advance(qp);
			scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
			requester_complete(qp);
			return 0;
		}
	}
	requester_granted(qp, slot);
	packets = requester_is_read_or_atomic(slot) ? send_request(qp, slot, wire_bytes)
						    : send_data(qp, slot, path, wire_bytes);
	if (__builtin_expect(!!qp->transport->congestion, 0))
		*wire_bytes += reaction_point_sent(&qp->request_entity);
	if (qp->state.rate_limit_bps)
		requester_hold(qp, *wire_bytes * UINT64_C(8) * SEC / qp->state.rate_limit_bps);
	return packets;
}

void requester_packet_left(struct qp *qp, const struct send_slot *slot, const struct packet *packet)
{
	struct requester *requester = &qp->requester;
	uint32_t behind = psn_add(packet->psn, 1);

	if (opcode_info[packet->opcode].operation == OP_READ)
		behind = psn_add(slot->first_psn, slot->psn_count);
	if (psn_distance(requester->left_psn, packet->psn) < 0)
		qp->transport->count.packets_retransmitted++;
	else
		requester->left_psn = behind;
}

void requester_segment_gone(struct qp *qp, struct send_slot *slot, enum dma_status status)
{
	if (status != DMA_OK && !slot->completed && slot->status == WORK_OK) {
		slot->status = WORK_LOCAL_PROTECTION;
		qp->requester.halted = true;
	}
	requester_release_slot(qp, slot);
	requester_complete(qp);
}

static void free_if_unused(struct qp *qp, struct send_slot *slot)
{
	if (slot->completed && !slot->transfers && !slot->departures)
		wqe_fetch_free_slot(&qp->sq, slot);
}

void requester_release_slot(struct qp *qp, struct send_slot *slot)
{
	assert(slot->transfers);
	slot->transfers--;
	free_if_unused(qp, slot);
}

void requester_departed(struct qp *qp, struct send_slot *slot)
{
	if (slot->completed)
		return;
	slot->done = true;
	requester_complete(qp);
}

void requester_departure_over(struct qp *qp, struct send_slot *slot)
{
	assert(slot->departures);
	slot->departures--;
	free_if_unused(qp, slot);
}

/* ---- completion ---- */

static void write_completion(struct qp *qp, const struct send_slot *slot, enum work_status status)
{
	struct transport_counters *count = &qp->transport->count;
	const struct send_wqe *wqe = &slot->wqe;
	struct completion completion = {
		.opcode = status == WORK_OK ? CQE_SENT : CQE_SEND_ERROR,
		.status = status,
		.wqe_opcode = wqe->opcode,
		.wqe_counter = wqe->index,
		.qpn = qp->number,
		.user_index = qp->attr.user_index,
		.byte_count = requester_is_read_or_atomic(slot) ? wqe->length : 0,
		.data_bytes = status == WORK_OK ? slot->response_bytes : 0,
		.data = slot->response,
	};

	if (status == WORK_OK)
		count->wqes_completed++;
	else if (status == WORK_FLUSHED)
		count->wqes_flushed++;
	else
		count->wqes_failed++;
	trace(&qp->transport->block, TRACE_WQE_COMPLETE, slot->tag, qp->number, status);
	if (status != WORK_OK || wqe->signaled || qp->attr.signal_all)
		completion_write_stages(qp->send_cq, &completion, slot->tag, &slot->stages);
}

/* Work requests complete in the order of the ring. The data of a response are on their way to the
 * host before the CQE is. */
static void check_order(struct qp *qp, const struct send_slot *slot, enum work_status status)
{
	struct transport_block *transport = qp->transport;
	sim_time now = sim_now(transport->block.sim);

	audit_order_expect(&transport->send_order, now, qp->number, qp->requester.complete_block,
			   slot->block);
	qp->requester.complete_block = slot->block + slot->blocks;
	if (status == WORK_OK)
		audit_order_expect(&transport->data_order, now, qp->number, 0, slot->unposted);
}

static void retire(struct qp *qp, enum work_status status)
{
	struct send_slot *slot = qp_slot(qp, qp->sq.oldest);

	if (slot->counted)
		qp->requester.outstanding--;
	slot->counted = false;
	check_order(qp, slot, status);
	slot->stages.at[STAGE_ORDER] = sim_now(qp->transport->block.sim);
	write_completion(qp, slot, status);
	if (qp->sq.cursor == qp->sq.oldest)
		advance(qp);
	wqe_fetch_retire(&qp->sq);
	free_if_unused(qp, slot);
}

static void check_drained(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	bool idle = qp->sq.oldest == qp->sq.tail || !qp_slot(qp, qp->sq.oldest)->started;

	if (!requester->draining || !idle)
		return;
	requester->draining = false;
	event_queue_async(qp->transport->blocks.events, ASYNC_SQ_DRAINED, qp->number);
}

/* Returns true if the CQE must wait for transfers of the slot. Scatters only need to be passed to
 * PCIe, which keeps the order. */
static bool is_moving(const struct send_slot *slot)
{
	return requester_is_read_or_atomic(slot) ? slot->unposted != 0 : slot->transfers != 0;
}

void requester_complete(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	bool any = false;

	if (qp->state.state == STATE_RESET || qp->state.state == STATE_ERR)
		return;
	while (qp->sq.oldest != qp->sq.tail) {
		struct send_slot *slot = qp_slot(qp, qp->sq.oldest);

		if (slot->status != WORK_OK && slot->started && !slot->transfers) {
			requester_fail_oldest(qp, slot->status);
			return;
		}
		if (!slot->done || is_moving(slot) || slot->status != WORK_OK)
			break;
		retire(qp, WORK_OK);
		any = true;
	}
	if (any || !requester->outstanding)
		scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
	if (any)
		wqe_fetch_kick(&qp->sq);
	check_drained(qp);
}

void requester_fail_oldest(struct qp *qp, enum work_status status)
{
	assert(qp->sq.oldest != qp->sq.tail && status != WORK_OK);
	retire(qp, status);
	if (qp->attr.type == QP_UC || qp_is_datagram(qp)) { /* the responder continues */
		qp->state.state = STATE_SQE;
		requester_flush(qp);
	} else {
		qp_enter_error(qp, -1);
	}
}

void requester_flush(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	requester->epoch++;
	hold_up(qp, NULL);
	requester->halted = requester->rnr_waiting = false;
	requester->page_wait = PAGE_WAIT_NOTHING;
	timer_disarm(&requester->timer);
	sim_cancel(&requester->rnr_timer);
	sim_cancel(&requester->pace);
	while (qp->sq.oldest != qp->sq.tail)
		retire(qp, WORK_FLUSHED);
	wqe_fetch_kick(&qp->sq);
}

/* ---- state ---- */

void requester_reset(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	timer_disarm(&requester->timer);
	sim_cancel(&requester->rnr_timer);
	sim_cancel(&requester->pace);
	requester->epoch++;
	hold_up(qp, NULL);
	requester->cursor_packet = 0;
	requester->outstanding = 0;
	requester->complete_block = 0;
	requester->halted = requester->rnr_waiting = requester->gap_seen = false;
	requester->draining = false;
	requester->page_wait = PAGE_WAIT_NOTHING;
	requester->paced_until = 0;
	if (qp->dci)
		dc_initiator_reset(qp->dci);
	requester->held = false;
}

void requester_modified(struct qp *qp, uint32_t mask)
{
	struct requester *requester = &qp->requester;

	if (mask & QP_SET_SQ_PSN)
		requester->next_psn = requester->sent_psn = requester->left_psn =
			requester->unacked_psn = qp->state.sq_psn;
	if (mask & QP_SET_RETRY)
		requester->retries_left = qp->state.retry;
	if (mask & QP_SET_RNR_RETRY)
		requester->rnr_retries_left = qp->state.rnr_retry;
	if (qp->state.state == STATE_SQD && mask & QP_SET_STATE) {
		requester->draining = true;
		check_drained(qp);
	}
	if (qp->state.state == STATE_RTS) {
		wqe_fetch_kick(&qp->sq);
		scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
	}
}
