/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send: reads work requests, and makes their FPDUs. Data of several FPDUs is read at a time, up to
 * the send buffer. FPDUs enter the stream in order. Messages of the send queue and responses to
 * READs alternate.
 */
#include "hca/iwarp/rnic_state.h"

/* ---- the send queue ---- */

struct flag_clear {
	struct pcie_write write;
	uint16_t flags;
};

static void cleared(struct pcie_write *write)
{
	free(container_of(write, struct flag_clear, write));
}

/* Clears the flags of an entry, so that the program may use it again. */
static void clear_flags(struct rnic *rnic, struct memory *memory, uint64_t address)
{
	struct flag_clear *clear = rnic_state_take(sizeof(*clear));

	clear->write = (struct pcie_write){
		.memory = memory,
		.address = address,
		.length = sizeof(clear->flags),
		.bytes = &clear->flags,
		.done = cleared,
	};
	pcie_write(rnic->blocks.pcie, &clear->write);
}

static bool take_data(struct rnic_wqe *wqe)
{
	const struct siw_sqe *sqe = &wqe->sqe;
	uint64_t length = 0;

	if (sqe->flags & SIW_WQE_INLINE) {
		wqe->length = sqe->sge[0].length;
		return wqe->length <= SIW_MAX_INLINE;
	}
	if (sqe->num_sge > IWARP_SEGMENTS)
		return false;
	wqe->segment_count = sqe->num_sge;
	for (uint32_t i = 0; i < sqe->num_sge; i++) {
		wqe->segments[i] = (struct data_segment){
			.address = sqe->sge[i].laddr,
			.length = sqe->sge[i].length,
			.key = sqe->sge[i].lkey,
		};
		length += sqe->sge[i].length;
	}
	wqe->length = (uint32_t)length;
	return length <= UINT32_C(0x7fffffff);
}

static bool is_known(const struct siw_sqe *sqe)
{
	switch (sqe->opcode) {
	case SIW_OP_WRITE:
	case SIW_OP_SEND:
	case SIW_OP_SEND_REMOTE_INV:
		return true;
	case SIW_OP_READ:
		return sqe->num_sge <= 1 && !(sqe->flags & SIW_WQE_INLINE);
	default:
		return false;
	}
}

static void add_wqe(struct rnic_qp *qp)
{
	struct rnic_wqe *wqe = rnic_state_take(sizeof(*wqe));
	bool good;

	wqe->sqe = qp->sqe;
	good = is_known(&wqe->sqe) && take_data(wqe);
	if (qp->last_wqe)
		qp->last_wqe->next = wqe;
	else
		qp->wqes = wqe;
	qp->last_wqe = wqe;
	if (!qp->unsent)
		qp->unsent = wqe;
	qp->wqe_count++;
	if (!good)
		iwarp_complete_end(qp, SIW_WC_LOC_QP_OP_ERR);
}

static void read_done(struct pcie_read *read)
{
	struct rnic_qp *qp = container_of(read, struct rnic_qp, sq_read);
	uint64_t place = qp->sq_read.address;
	bool valid = !read->failed && qp->sqe.flags & SIW_WQE_VALID;

	qp->reading = false;
	if (qp->destroyed || (qp->state == STATE_ERR && !valid)) {
		iwarp_qp_release(qp);
		return;
	}
	if (valid) {
		clear_flags(qp->rnic, qp->sq.memory, place + offsetof(struct siw_sqe, flags));
		qp->sq.next++;
		add_wqe(qp);
		if (qp->state == STATE_ERR) /* it ended meanwhile */
			iwarp_complete_end(qp, SIW_WC_WR_FLUSH_ERR);
	}
	if (valid || qp->rung) {
		qp->rung = false;
		iwarp_send_fetch(qp);
	}
	if (valid)
		iwarp_send_pump(qp);
	iwarp_qp_release(qp);
}

void iwarp_send_fetch(struct rnic_qp *qp)
{
	const struct rnic_ring *ring = &qp->sq;

	if (qp->reading || !ring->address || qp->wqe_count >= qp->rnic->params->wqes) {
		qp->rung = true;
		return;
	}
	if (qp->state != STATE_RTS) {
		if (qp->state == STATE_ERR)
			iwarp_complete_end(qp, SIW_WC_WR_FLUSH_ERR);
		return;
	}
	qp->reading = true;
	qp->busy++;
	qp->rnic->count.wqes_read++;
	qp->sq_read = (struct pcie_read){
		.memory = ring->memory,
		.address = ring->address + ring->next % ring->entries * sizeof(struct siw_sqe),
		.length = sizeof(qp->sqe),
		.bytes = &qp->sqe,
		.done = read_done,
	};
	pcie_read(qp->rnic->blocks.pcie, &qp->sq_read);
}

/* ---- messages ---- */

static void begin_response(struct rnic_qp *qp)
{
	struct rnic_response *response = qp->responses;
	struct rnic_message *message = &qp->message;

	qp->responses = response->next;
	qp->rnic->count.responses++;
	*message = (struct rnic_message){
		.opcode = RDMAP_READ_RESPONSE,
		.segments = &message->source,
		.segment_count = 1,
		.access = MR_REMOTE_READ,
		.length = response->request.bytes,
		.stag = response->request.sink_stag,
		.offset = response->request.sink_offset,
		.source = {.address = response->request.source_offset,
			   .length = response->request.bytes,
			   .key = response->request.source_stag},
	};
	qp->responded = true;
	free(response);
}

static void begin_read(struct rnic_qp *qp, struct rnic_wqe *wqe)
{
	struct rnic_message *message = &qp->message;
	const struct rdmap_read_request request = {
		.sink_stag = wqe->sqe.sge[0].lkey,
		.sink_offset = wqe->sqe.sge[0].laddr,
		.bytes = wqe->length,
		.source_stag = wqe->sqe.rkey,
		.source_offset = wqe->sqe.raddr,
	};

	qp->reads++;
	qp->rnic->count.reads++;
	message->opcode = RDMAP_READ_REQUEST;
	message->msn = ++qp->read_msn;
	message->bytes = message->request;
	message->length = sizeof(message->request);
	rdmap_read_request_build(&request, message->request);
}

static void begin_wqe(struct rnic_qp *qp, struct rnic_wqe *wqe)
{
	struct rnic_message *message = &qp->message;
	bool solicited = wqe->sqe.flags & SIW_WQE_SOLICITED;

	*message = (struct rnic_message){
		.wqe = wqe,
		.segments = wqe->segments,
		.segment_count = wqe->segment_count,
		.length = wqe->length,
	};
	if (wqe->sqe.flags & SIW_WQE_INLINE)
		message->bytes = (const uint8_t *)&wqe->sqe.sge[1];
	switch (wqe->sqe.opcode) {
	case SIW_OP_WRITE:
		qp->rnic->count.writes++;
		message->opcode = RDMAP_WRITE;
		message->stag = wqe->sqe.rkey;
		message->offset = wqe->sqe.raddr;
		break;
	case SIW_OP_READ:
		begin_read(qp, wqe);
		break;
	default:
		qp->rnic->count.sends++;
		message->opcode = solicited ? RDMAP_SEND_SE : RDMAP_SEND;
		message->msn = ++qp->send_msn;
		if (wqe->sqe.opcode != SIW_OP_SEND_REMOTE_INV)
			break;
		message->opcode = solicited ? RDMAP_SEND_SE_INVALIDATE : RDMAP_SEND_INVALIDATE;
		message->invalidate = wqe->sqe.rkey;
	}
	qp->unsent = wqe->next;
	qp->responded = false;
}

/* Returns whether the next work request may start. */
static bool may_begin(const struct rnic_qp *qp)
{
	const struct rnic_wqe *wqe = qp->unsent;

	if (!wqe)
		return false;
	if (wqe->sqe.flags & SIW_WQE_READ_FENCE && qp->reads)
		return false;
	return wqe->sqe.opcode != SIW_OP_READ || qp->reads < qp->connection->ord;
}

static bool begin_next(struct rnic_qp *qp)
{
	bool wqe = may_begin(qp);

	if (qp->responses && !(wqe && qp->responded))
		begin_response(qp);
	else if (wqe)
		begin_wqe(qp, qp->unsent);
	else
		return false;
	qp->sending = true;
	return true;
}

/* ---- FPDUs ---- */

static void append_ready(struct rnic_qp *qp)
{
	struct rnic_outgoing *outgoing;

	while ((outgoing = qp->outgoing) && outgoing->ready) {
		uint64_t end;

		qp->outgoing = outgoing->next;
		if (!qp->outgoing)
			qp->last_outgoing = NULL;
		qp->outgoing_bytes -= outgoing->ulpdu_bytes;
		if (outgoing->dma.status != DMA_OK) {
			if (outgoing->wqe)
				iwarp_complete_end(qp, SIW_WC_LOC_PROT_ERR);
			/* a response: the STag does not allow it; RFC 5040 4.8 */
			iwarp_receive_fail(qp, RDMAP_LAYER_RDMAP, 1, 0);
			free(outgoing);
			return;
		}
		qp->rnic->count.payload_sent += outgoing->dma.length;
		end = iwarp_append(qp->connection, outgoing->ulpdu, outgoing->ulpdu_bytes);
		if (outgoing->last && outgoing->wqe) {
			outgoing->wqe->written = true;
			outgoing->wqe->stream_end = end;
		}
		free(outgoing);
	}
}

static void gathered(struct dma *dma)
{
	struct rnic_outgoing *outgoing = container_of(dma, struct rnic_outgoing, dma);
	struct rnic_qp *qp = outgoing->qp;

	outgoing->ready = true;
	if (qp->state != STATE_RTS || !qp->connection) { /* it was dropped */
		free(outgoing);
		iwarp_qp_release(qp);
		return;
	}
	append_ready(qp);
	iwarp_send_pump(qp);
	iwarp_qp_release(qp);
}

static void put_header(const struct rnic_message *message, bool last, uint8_t *bytes)
{
	struct rdmap_header header = {.opcode = message->opcode, .last = last};

	if (rdmap_is_tagged(message->opcode)) {
		header.stag = message->stag;
		header.tagged_offset = message->offset + message->made;
	} else {
		header.msn = message->msn;
		header.message_offset = message->made;
		header.invalidate = message->invalidate;
	}
	rdmap_header_build(&header, bytes);
}

static void make_fpdu(struct rnic_qp *qp, uint32_t payload)
{
	struct rnic_message *message = &qp->message;
	uint32_t header = rdmap_header_bytes(message->opcode);
	struct rnic_outgoing *outgoing = rnic_state_take(sizeof(*outgoing) + header + payload);

	outgoing->qp = qp;
	outgoing->wqe = message->wqe;
	outgoing->last = message->made + payload == message->length;
	outgoing->ulpdu_bytes = header + payload;
	put_header(message, outgoing->last, outgoing->ulpdu);
	outgoing->dma.length = payload;
	if (qp->last_outgoing)
		qp->last_outgoing->next = outgoing;
	else
		qp->outgoing = outgoing;
	qp->last_outgoing = outgoing;
	qp->outgoing_bytes += outgoing->ulpdu_bytes;
	if (message->bytes)
		memcpy(outgoing->ulpdu + header, message->bytes + message->made, payload);
	if (message->bytes || !payload) {
		outgoing->ready = true;
	} else {
		memcpy(outgoing->segments, message->segments,
		       message->segment_count * sizeof(outgoing->segments[0]));
		outgoing->dma = (struct dma){
			.segments = outgoing->segments,
			.segment_count = message->segment_count,
			.offset = message->made,
			.length = payload,
			.direction = DMA_GATHER,
			.access = message->access,
			.pd = qp->attr.pd,
			.qpn = qp->number,
			.bytes = outgoing->ulpdu + header,
			.done = gathered,
		};
		qp->busy++;
		dma_start(qp->rnic->blocks.dma, &outgoing->dma);
	}
	message->made += payload;
	qp->sending = !outgoing->last;
}

void iwarp_send_pump(struct rnic_qp *qp)
{
	struct rnic_connection *connection = qp->connection;

	if (qp->state != STATE_RTS || !connection || !iwarp_may_send(connection))
		return;
	while (qp->state == STATE_RTS && qp->connection) {
		uint32_t most, payload;

		if (!qp->sending && !begin_next(qp))
			break;
		most = mpa_ulpdu_max(connection->fpdu_bytes, false) -
		       rdmap_header_bytes(qp->message.opcode);
		payload = qp->message.length - qp->message.made;
		if (payload > most)
			payload = most;
		if (!iwarp_has_room(connection, qp->outgoing_bytes, payload))
			break;
		make_fpdu(qp, payload);
		append_ready(qp);
	}
	if (qp->state == STATE_RTS && qp->rung)
		iwarp_send_fetch(qp);
}

bool iwarp_send_idle(const struct rnic_qp *qp)
{
	return !qp->sending && !qp->unsent && !qp->outgoing && !qp->reading && !qp->responses;
}

void iwarp_send_acknowledged(struct rnic_qp *qp)
{
	uint64_t acknowledged = tcp_acknowledged(qp->connection->tcp);

	for (struct rnic_wqe *wqe = qp->wqes; wqe && wqe != qp->unsent; wqe = wqe->next)
		if (wqe->sqe.opcode != SIW_OP_READ && wqe->written &&
		    wqe->stream_end <= acknowledged)
			wqe->done = true;
	iwarp_complete_sends(qp);
	iwarp_send_pump(qp);
}

void iwarp_send_drop(struct rnic_qp *qp)
{
	struct rnic_outgoing *outgoing = qp->outgoing, *next;

	for (; outgoing; outgoing = next) {
		next = outgoing->next;
		if (outgoing->ready) /* otherwise gathered() frees it */
			free(outgoing);
	}
	qp->outgoing = qp->last_outgoing = NULL;
	qp->outgoing_bytes = 0;
	qp->sending = false;
	while (qp->responses) {
		struct rnic_response *response = qp->responses;

		qp->responses = response->next;
		free(response);
	}
}
