/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder: see responder.h. Checks are in responder_check.c, their results in request_error.h.
 */
#include "hca/transport/responder.h"

#include <assert.h>

#include "fabric/wire/opcode.h"
#include "hca/transport/atomic_records.h"
#include "hca/transport/nak_delay.h"
#include "hca/transport/notification.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder_datagram.h"
#include "hca/transport/responder_unreliable.h"
#include "hca/transport/scatter_segment.h"
#include "hca/transport/transport.h"
#include "hca/transport/window_bind.h"
#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "hca/work/receive_queue.h"

static struct transport_counters *count(struct qp *qp)
{
	return &qp->transport->count;
}

void responder_receive(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;

	packet->next = NULL;
	if (responder->waiting_last)
		responder->waiting_last->next = packet;
	else
		responder->waiting_first = packet;
	responder->waiting_last = packet;
	responder_run(qp);
}

static void drop_waiting(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	while (responder->waiting_first) {
		struct packet *packet = responder->waiting_first;

		responder->waiting_first = packet->next;
		transport_packet_done(qp->transport, packet);
	}
	responder->waiting_last = NULL;
}

/* ---- execution ---- */

void responder_note_begin(struct qp *qp, const struct packet *packet)
{
	qp->responder.begun_at =
		packet->tail_at -
		port_serialization(qp->transport->blocks.above->port, packet->wire_bytes);
}

static void begin_message(struct qp *qp, const struct packet *packet)
{
	struct responder *responder = &qp->responder;

	responder->received = 0;
	responder_note_begin(qp, packet);
	if (!opcode_has(packet->opcode, HDR_RETH))
		return;
	responder->address = packet->remote_address;
	responder->rkey = packet->rkey;
	responder->length = packet->dma_length;
}

static struct completion completion_of(struct qp *qp, const struct packet *packet)
{
	static const uint8_t opcode_of_send[] = {CQE_RECEIVED_SEND, CQE_RECEIVED_SEND_IMMEDIATE,
						 CQE_RECEIVED_SEND_INVALIDATE};
	const struct responder *responder = &qp->responder;
	bool has_immediate = opcode_has(packet->opcode, HDR_IMM);
	unsigned suffix = has_immediate                          ? SUFFIX_IMM
			  : opcode_has(packet->opcode, HDR_IETH) ? SUFFIX_INV
								 : SUFFIX_NONE;
	bool is_send = opcode_info[packet->opcode].operation == OP_SEND;

	return (struct completion){
		.opcode = is_send ? opcode_of_send[suffix] : CQE_RECEIVED_WRITE_IMMEDIATE,
		.solicited = packet->solicited,
		.wqe_counter = responder->wqe->index,
		.qpn = qp_known_as(qp),
		.user_index = responder->user_index,
		.byte_count = responder->received,
		.immediate = suffix == SUFFIX_NONE ? 0 : packet->immediate,
	};
}

static void end_message(struct qp *qp, struct scatter_segment *segment, const struct packet *packet)
{
	struct responder *responder = &qp->responder;
	bool is_send = opcode_info[packet->opcode].operation == OP_SEND;

	segment->ends = true;
	responder->msn = psn_add(responder->msn, 1);
	if (is_send)
		count(qp)->rx_sends++;
	else
		count(qp)->rx_write_requests++;
	if (is_send && opcode_has(packet->opcode, HDR_IETH))
		window_bind_invalidate(qp, packet->immediate);
	if (responder->wqe) {
		segment->has_completion = true;
		segment->completion = completion_of(qp, packet);
		segment->cq = responder->cq;
		segment->sequence = responder->wqe->sequence;
		segment->ends_wqe = true;
		scatter_segment_note(segment, packet);
		responder->wqe_at = 0;
		receive_queue_release(qp->transport->blocks.receive_queues, responder->wqe);
		responder->wqe = NULL;
	}
	responder->received = 0;
}

/* Returns the open segment if the packet's data fits after its data, otherwise a new segment. */
static struct scatter_segment *segment_for(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_segment *segment = responder->open;

	if (segment)
		return segment;
	segment = scatter_segment_new(qp, packet);
	responder->open = segment;
	if (opcode_info[packet->opcode].operation == OP_SEND) {
		segment->wqe = responder->wqe;
		segment->wqe->users++;
	} else {
		segment->element = (struct data_segment){
			.address = responder->address + responder->received,
			.key = responder->rkey,
		};
	}
	return segment;
}

/* Records the feedback of the packet for its ACK, in the segment that causes the ACK. */
static void note_asked(struct qp *qp, struct scatter_segment *segment, struct packet *packet,
		       bool early)
{
	struct telemetry *telemetry = packet->telemetry;

	packet->telemetry = NULL;
	if (early) {
		notification_asked(qp, packet->asked_at, telemetry);
		return;
	}
	if (segment->telemetry)
		packet_telemetry_free(qp->transport->blocks.packets, segment->telemetry);
	segment->telemetry = telemetry;
	segment->asked_at = packet->asked_at;
}

void responder_execute_data(struct qp *qp, struct packet *packet)
{
	const struct transport_params *params = qp->transport->params;
	struct responder *responder = &qp->responder;
	bool ends = opcode_ends_message(packet->opcode);
	bool early = params->ack_when == ACK_EARLY && !responder->uncommitted_reads;
	bool reliable = qp_is_reliable(qp);
	struct scatter_segment *segment;

	if (opcode_starts_message(packet->opcode))
		begin_message(qp, packet);
	segment = segment_for(qp, packet);
	scatter_segment_add(segment, packet);
	segment->element.length = segment->length;
	segment->psn = packet->psn;
	segment->request_at = packet->tail_at;
	responder->received += packet->payload_bytes;
	if (ends)
		end_message(qp, segment, packet);
	segment->msn = responder->msn;
	if (__builtin_expect(!!qp->transport->congestion, 0) && reliable && packet->ack_request)
		note_asked(qp, segment, packet, early);
	if (reliable && packet->ack_request && !early)
		segment->acknowledge = true;
	if (reliable && packet->ack_request && early)
		responder_acknowledge(qp, packet->psn, responder->msn, packet->tail_at);
	responder->previous_opcode = ends ? -1 : packet->opcode;
	if (ends || segment->acknowledge ||
	    segment->length + qp->state.mtu_bytes > params->segment_bytes)
		scatter_segment_close(segment);
}

static struct response response_to(struct qp *qp, const struct packet *packet)
{
	uint32_t mtu = qp->state.mtu_bytes;
	bool is_read = opcode_info[packet->opcode].operation == OP_READ;
	uint32_t packets = packet->dma_length / mtu + (packet->dma_length % mtu != 0);

	return (struct response){
		.kind = is_read ? RESPONSE_READ : RESPONSE_ATOMIC,
		.ready = is_read,
		.syndrome = aeth_syndrome(SYNDROME_ACK, AETH_CREDITS_NONE),
		.psn = packet->psn,
		.msn = qp->responder.msn,
		.tag = packet->tag,
		.packets = is_read && packets ? packets : 1,
		.rkey = packet->rkey,
		.length = packet->dma_length,
		.address = packet->remote_address,
		.request_at = packet->tail_at,
	};
}

/* Executes a READ or an atomic after all requests before it are in memory. */
static void execute_read_or_atomic(struct qp *qp, struct packet *packet, bool duplicate)
{
	struct responder *responder = &qp->responder;
	struct scatter_segment *segment = scatter_segment_new(qp, packet);

	segment->counts = true;
	responder->uncommitted_reads++;
	if (!duplicate) {
		responder->msn = psn_add(responder->msn, 1);
		responder->reads_owed++;
	}
	segment->read = response_to(qp, packet);
	segment->read.duplicate = duplicate;
	segment->is_read = segment->read.kind == RESPONSE_READ;
	segment->is_atomic = !segment->is_read;
	if (segment->is_read)
		count(qp)->rx_read_requests++;
	else
		count(qp)->rx_atomic_requests++;
	if (segment->is_atomic)
		atomic_records_add(&responder->atomics, packet->psn);
	segment->swap_or_add = packet->swap_or_add;
	segment->compare = packet->compare;
	scatter_segment_close(segment);
}

static void execute(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;

	trace(&qp->transport->block, TRACE_REQUEST, packet->tag, qp->number, packet->psn);
	responder->nak_sent = false;
	if (responder_is_read_or_atomic(packet->opcode)) {
		struct response response = response_to(qp, packet);

		responder->expected_psn = psn_add(packet->psn, response.packets);
		execute_read_or_atomic(qp, packet, false);
	} else {
		responder->expected_psn = psn_add(packet->psn, 1);
		responder_execute_data(qp, packet);
	}
}

/* ---- other results of a check ---- */

static void repeat_atomic(struct qp *qp, struct packet *packet)
{
	const uint64_t *original = atomic_records_find(qp->responder.atomics, packet->psn);
	struct response response;

	if (!original)
		return;
	response = response_to(qp, packet);
	response.ready = true;
	response.duplicate = true;
	response.value = *original;
	count(qp)->atomic_replays++;
	responder_owe(qp, &response);
}

/* Repeats a duplicate: ACKs WRITEs and SENDs, executes READs, replays atomics. 9.7.5.1.5. */
static void repeat(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;

	count(qp)->duplicate_request++;
	if (opcode_is_atomic(packet->opcode))
		repeat_atomic(qp, packet);
	else if (opcode_info[packet->opcode].operation == OP_READ) {
		if (responder_check_keys(qp, packet) == ERROR_NONE)
			execute_read_or_atomic(qp, packet, true);
	} else if (packet->ack_request && !responder->uncommitted_reads) {
		responder_acknowledge(qp, psn_add(responder->expected_psn, PSN_MASK),
				      responder->msn, packet->tail_at);
	}
}

static void send_nak(struct qp *qp, uint8_t syndrome, uint32_t psn, bool delayed)
{
	struct responder *responder = &qp->responder;
	struct response response = {
		.kind = RESPONSE_NAK,
		.ready = true,
		.syndrome = syndrome,
		.psn = psn,
		.msn = responder->msn,
		.packets = 1,
	};

	responder->ack_due = false;
	sim_cancel(&responder->ack);
	if (delayed)
		nak_delay_push(qp, &response);
	else
		responder_owe(qp, &response);
}

static void send_nak_once(struct qp *qp, uint8_t syndrome)
{
	struct responder *responder = &qp->responder;

	if (!responder->nak_sent)
		send_nak(qp, syndrome, responder->expected_psn,
			 qp->transport->params->nak_delay != 0);
	responder->nak_sent = true;
}

void responder_error_in_order(struct qp *qp, struct packet *packet, enum request_error error)
{
	struct scatter_segment *segment;

	if (qp->responder.open)
		scatter_segment_close(qp->responder.open);
	segment = scatter_segment_new(qp, packet);
	segment->error = error;
	qp->responder.fatal = true;
	scatter_segment_close(segment);
}

/* Handles one packet. Returns false if the packet must wait. */
static bool handle(struct qp *qp, struct packet *packet)
{
	enum request_error error;

	if (!scatter_segment_available(qp))
		return false;
	if (qp_is_datagram(qp))
		return responder_datagram(qp, packet);
	if (!qp_is_reliable(qp))
		return responder_unreliable(qp, packet);
	error = responder_check(qp, packet);
	if (error != ERROR_NONE && error != ERROR_WAIT)
		trace(&qp->transport->block, TRACE_REQUEST_ERROR, packet->tag, qp->number, error);
	switch (request_error_rule[error].reply) {
	case REPLY_NOTHING:
		if (error == ERROR_WAIT)
			return false;
		execute(qp, packet);
		break;
	case REPLY_REPEAT:
		repeat(qp, packet);
		break;
	case REPLY_RNR:
		count(qp)->rnr_nak_sent++;
		send_nak(qp, aeth_syndrome(SYNDROME_RNR_NAK, qp->state.min_rnr_timer),
			 qp->responder.expected_psn, false);
		qp->responder.nak_sent = true; /* later packets are no sequence errors */
		break;
	case REPLY_NAK:
		count(qp)->out_of_sequence++;
		send_nak_once(qp, aeth_syndrome(SYNDROME_NAK, request_error_rule[error].nak));
		break;
	case REPLY_FATAL:
		responder_error_in_order(qp, packet, error);
		break;
	}
	return true;
}

static struct packet *pop_waiting(struct responder *responder)
{
	struct packet *packet = responder->waiting_first;

	responder->waiting_first = packet->next;
	if (!responder->waiting_first)
		responder->waiting_last = NULL;
	packet->next = NULL;
	return packet;
}

static void put_back(struct responder *responder, struct packet *packet)
{
	packet->next = responder->waiting_first;
	responder->waiting_first = packet;
	if (!packet->next)
		responder->waiting_last = packet;
}

/* Executes waiting packets. Each leaves the list first, because an error may empty the list. */
void responder_run(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	while (responder->waiting_first && !responder->waiter.waits &&
	       !responder->waits_for_segment) {
		struct packet *packet;

		if (responder->fatal || qp->state.state == STATE_ERR) {
			drop_waiting(qp);
			return;
		}
		packet = pop_waiting(responder);
		if (!handle(qp, packet)) {
			put_back(responder, packet);
			return;
		}
		transport_packet_done(qp->transport, packet);
	}
}

void responder_wqe_came(struct qp *qp)
{
	qp->responder.wqe_at = sim_now(qp->transport->block.sim);
	responder_run(qp);
}

void responder_wqe_missing(struct qp *qp)
{
	qp->responder.no_wqe = true;
	responder_wqe_came(qp);
	qp->responder.no_wqe = false;
}

void responder_segment_came(struct qp *qp)
{
	qp->responder.waits_for_segment = false;
	responder_run(qp);
}

/* ---- completion of receive WQEs ---- */

/* Returns the completion of a WQE after an error, or in ERR. */
static struct completion ending_of(struct qp *qp, uint16_t index, uint32_t user_index)
{
	struct responder *responder = &qp->responder;
	struct completion completion = {
		.opcode = CQE_RECEIVE_ERROR,
		.status = responder->ending,
		.wqe_counter = index,
		.qpn = qp_known_as(qp),
		.user_index = user_index,
	};

	if (responder->ending == WORK_FLUSHED) {
		count(qp)->wqes_flushed++;
		count(qp)->receives_flushed++;
	}
	responder->ending = WORK_FLUSHED;
	return completion;
}

static bool is_complete(const struct qp *qp, uint32_t sequence)
{
	return qp->rq && !receive_queue_is_open(qp->rq, &qp->responder.waiter, sequence);
}

void responder_complete(struct qp *qp, struct scatter_segment *segment)
{
	if (qp->responder.failed) {
		const struct completion *good = &segment->completion;
		struct completion completion;

		/* the error of an earlier packet completed it */
		if (is_complete(qp, segment->sequence))
			return;
		completion = ending_of(qp, good->multi_packet ? good->wqe_id : good->wqe_counter,
				       good->user_index);
		if (qp->rq)
			receive_queue_complete(qp->rq, &qp->responder.waiter, segment->sequence,
					       true);
		completion_write(segment->cq, &completion, 0);
		return;
	}
	if (qp->rq)
		receive_queue_complete(qp->rq, &qp->responder.waiter, segment->sequence,
				       segment->ends_wqe);
	segment->stages.at[RECEIVE_TRANSLATED] = segment->dma.translated_at;
	segment->stages.at[RECEIVE_ORDERED] = sim_now(qp->transport->block.sim);
	completion_write_received(segment->cq, &segment->completion, segment->tag,
				  &segment->stages);
}

/* Completes the WQE of the current message, after all executed requests. */
static void end_current(struct qp *qp)
{
	struct responder *responder = &qp->responder;
	struct receive_wqe *wqe = responder->wqe;

	assert(responder->failed && !responder->first);
	if (!wqe)
		return;
	responder->wqe = NULL;
	if (!is_complete(qp, wqe->sequence)) {
		struct completion completion = ending_of(qp, wqe->index, responder->user_index);

		if (qp->rq)
			receive_queue_complete(qp->rq, &qp->responder.waiter, wqe->sequence, true);
		completion_write(responder->cq, &completion, 0);
	}
	receive_queue_release(qp->transport->blocks.receive_queues, wqe);
}

static void fail(struct responder *responder, enum work_status ending)
{
	if (responder->failed)
		return;
	responder->failed = true;
	responder->ending = ending;
}

void responder_fatal(struct qp *qp, enum request_error error, uint32_t psn)
{
	const struct request_error_rule *rule = &request_error_rule[error];

	fail(&qp->responder, rule->status);
	if (qp->state.state == STATE_ERR)
		return;
	if (qp_is_reliable(qp))
		send_nak(qp, aeth_syndrome(SYNDROME_NAK, rule->nak), psn, false);
	if (!qp->responder.first)
		end_current(qp);
	qp_enter_error(qp, rule->async);
}

void responder_flush(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	drop_waiting(qp);
	qp->flushing = responder->first;
	if (responder->open) {
		/* calls this function again when all segments are committed */
		scatter_segment_abandon(qp);
		return;
	}
	if (qp->flushing)
		return;
	fail(responder, WORK_FLUSHED);
	end_current(qp);
	if (responder->waiter.waits)
		receive_queue_forget_waiter(responder->wqe_queue, &responder->waiter);
	if (qp->dcr) /* the DCT and its SRQ also serve other initiators */
		return;
	if (qp->rq)
		receive_queue_flush(qp->rq, &responder->waiter);
	if (qp->attr.srqn)
		event_queue_async(qp->transport->blocks.events, ASYNC_LAST_WQE_REACHED, qp->number);
}

void responder_reset(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	drop_waiting(qp);
	if (responder->waiter.waits)
		receive_queue_forget_waiter(responder->wqe_queue, &responder->waiter);
	if (responder->wqe)
		receive_queue_release(qp->transport->blocks.receive_queues, responder->wqe);
	responder->wqe = NULL;
	responder->strides_used = 0;
	responder->generation++;
	scatter_segment_abandon(qp);
	sim_cancel(&responder->ack);
	responder->ack_due = responder->nak_sent = responder->fatal = false;
	responder->dropping = responder->failed = false;
	responder->previous_opcode = -1;
	responder->received = 0;
	responder->waiter.next_sequence = 0;
	responder_forget_owed(qp);
	responder->uncommitted_reads = responder->reads_owed = 0;
	responder->msn = 0;
	qp->flushing = false;
	atomic_records_clear(&responder->atomics);
}

void responder_modified(struct qp *qp, uint32_t mask)
{
	if (mask & QP_SET_RQ_PSN)
		qp->responder.expected_psn = qp->state.rq_psn;
	responder_run(qp);
}
