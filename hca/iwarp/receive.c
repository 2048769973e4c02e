/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive: DDP and RDMAP. Data of FPDUs is written when the FPDUs arrive. Completions wait until
 * all earlier data is on its way to memory. A Send reads its receive WQE first; later FPDUs wait
 * for that. Without a receive WQE the connection ends, because iWARP has no RNR. RFC 5041 7, RFC
 * 5040 4.8.
 */
#include "fabric/wire/bytes.h"
#include "hca/context/mr_table.h"
#include "hca/context/translation.h"
#include "hca/iwarp/rnic_state.h"

/* Types and codes of Terminate: RFC 5040 4.8 and RFC 5041 8. */
enum {
	RDMAP_PROTECTION = 1,
	RDMAP_OPERATION = 2,
	RDMAP_ACCESS = 2,
	RDMAP_BAD_OPCODE = 6,
	DDP_TAGGED = 1,
	DDP_TAGGED_STAG = 0,
	DDP_UNTAGGED = 2,
	DDP_UNTAGGED_NO_BUFFER = 2,
	DDP_UNTAGGED_MSN = 3,
	DDP_UNTAGGED_OFFSET = 4,
	DDP_UNTAGGED_TOO_LONG = 5,
};

void iwarp_receive_fail(struct rnic_qp *qp, enum rdmap_layer layer, unsigned type, unsigned code)
{
	const struct rdmap_terminate terminate = {
		.layer = (uint8_t)layer, .type = (uint8_t)type, .code = (uint8_t)code};
	const struct rdmap_header header = {.opcode = RDMAP_TERMINATE, .last = true, .msn = 1};
	uint8_t bytes[DDP_HEADER_MAX + RDMAP_TERMINATE_BYTES_MAX];
	uint32_t header_bytes = rdmap_header_bytes(RDMAP_TERMINATE);
	struct rnic_connection *connection = qp->connection;

	if (connection && !connection->shut) {
		qp->rnic->count.terminates_sent++;
		rdmap_header_build(&header, bytes);
		rdmap_terminate_build(&terminate, bytes + header_bytes);
		iwarp_append(connection, bytes, header_bytes + rdmap_terminate_bytes(&terminate));
		event_queue_async(qp->rnic->blocks.events, ASYNC_QP_ACCESS_ERROR, qp->number);
	}
	iwarp_complete_end(qp, SIW_WC_WR_FLUSH_ERR);
	if (connection)
		iwarp_shut(connection);
}

/* ---- the receive queue ---- */

struct rqe_clear {
	struct pcie_write write;
	uint16_t flags;
};

static void cleared(struct pcie_write *write)
{
	free(container_of(write, struct rqe_clear, write));
}

static void clear_flags(struct rnic_qp *qp)
{
	struct rqe_clear *clear = rnic_state_take(sizeof(*clear));

	clear->write = (struct pcie_write){
		.memory = qp->rq_read.memory,
		.address = qp->rq_read.address + offsetof(struct siw_rqe, flags),
		.length = sizeof(clear->flags),
		.bytes = &clear->flags,
		.done = cleared,
	};
	pcie_write(qp->rnic->blocks.pcie, &clear->write);
}

static void take_segments(struct rnic_qp *qp)
{
	uint32_t count = qp->rqe.num_sge < IWARP_SEGMENTS ? qp->rqe.num_sge : IWARP_SEGMENTS;

	qp->receive_count = count;
	qp->receive_length = qp->received = 0;
	for (uint32_t i = 0; i < count; i++) {
		qp->receive[i] = (struct data_segment){
			.address = qp->rqe.sge[i].laddr,
			.length = qp->rqe.sge[i].length,
			.key = qp->rqe.sge[i].lkey,
		};
		qp->receive_length += qp->rqe.sge[i].length;
	}
}

static void read_done(struct pcie_read *read)
{
	struct rnic_qp *qp = container_of(read, struct rnic_qp, rq_read);

	qp->receive_reading = false;
	if (qp->destroyed) {
		iwarp_qp_release(qp);
		return;
	}
	if (read->failed || !(qp->rqe.flags & SIW_WQE_VALID)) {
		if (qp->state == STATE_RTS)
			iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED,
					   DDP_UNTAGGED_NO_BUFFER);
		iwarp_qp_release(qp);
		return;
	}
	clear_flags(qp);
	take_segments(qp);
	qp->receive_ready = true;
	if (qp->state == STATE_ERR)
		iwarp_complete_end(qp, SIW_WC_WR_FLUSH_ERR);
	else if (qp->connection)
		iwarp_continue(qp->connection);
	iwarp_qp_release(qp);
}

static void read_receive(struct rnic_qp *qp)
{
	struct rnic_srq *srq = qp->attr.srqn ? iwarp_srq(qp->rnic, qp->attr.srqn) : NULL;
	struct rnic_ring *ring = srq ? &srq->ring : &qp->rq;

	if (!ring->address) {
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, DDP_UNTAGGED_NO_BUFFER);
		return;
	}
	qp->receive_reading = true;
	qp->busy++;
	qp->rnic->count.receive_wqes_read++;
	qp->rq_read = (struct pcie_read){
		.memory = ring->memory,
		.address = ring->address + ring->next++ % ring->entries * sizeof(struct siw_rqe),
		.length = sizeof(qp->rqe),
		.bytes = &qp->rqe,
		.done = read_done,
	};
	pcie_read(qp->rnic->blocks.pcie, &qp->rq_read);
}

/* ---- data ---- */

static void invalidate(struct rnic_qp *qp, uint32_t stag)
{
	struct mr *mr = mr_table_find(qp->rnic->blocks.regions, stag);

	if (!mr || mr->pd != qp->attr.pd)
		return;
	mr->valid = false;
	translation_invalidate(qp->rnic->blocks.translation, mr);
}

static void finish(struct rnic_qp *qp, struct rnic_incoming *incoming)
{
	if (!incoming->completes || qp->state != STATE_RTS)
		return;
	if (incoming->wqe) {
		incoming->wqe->done = true;
		qp->reads--;
		iwarp_complete_sends(qp);
		iwarp_send_pump(qp);
		return;
	}
	if (incoming->cqe.inval_stag)
		invalidate(qp, incoming->cqe.inval_stag);
	iwarp_complete(qp, qp->attr.recv_cqn, &incoming->cqe, incoming->solicited);
}

/* Completes, in order, the FPDUs whose data is on its way to memory. */
static void drain(struct rnic_qp *qp)
{
	struct rnic_incoming *incoming;

	while ((incoming = qp->incoming) && incoming->posted) {
		qp->incoming = incoming->next;
		if (!qp->incoming)
			qp->last_incoming = NULL;
		incoming->drained = true;
		finish(qp, incoming);
		if (incoming->done) {
			qp->incoming_count--;
			free(incoming);
		}
	}
}

static void posted(struct dma *dma)
{
	struct rnic_incoming *incoming = container_of(dma, struct rnic_incoming, dma);

	incoming->posted = true;
	drain(incoming->qp);
}

static void fail_placement(struct rnic_qp *qp, const struct rnic_incoming *incoming)
{
	static const struct siw_cqe none;
	struct siw_cqe cqe = incoming->cqe;

	if (incoming->opcode == RDMAP_WRITE) {
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_TAGGED, DDP_TAGGED_STAG);
		return;
	}
	if (incoming->opcode == RDMAP_READ_RESPONSE) {
		iwarp_complete_end(qp, SIW_WC_LOC_PROT_ERR);
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_TAGGED, DDP_TAGGED_STAG);
		return;
	}
	if (memcmp(&cqe, &none, sizeof(none)) == 0)
		cqe.id = qp->rqe.id;
	cqe.opcode = SIW_OP_RECEIVE;
	cqe.status = SIW_WC_LOC_PROT_ERR;
	qp->receive_ready = false;
	iwarp_complete(qp, qp->attr.recv_cqn, &cqe, true);
	iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, 0);
}

static void scattered(struct dma *dma)
{
	struct rnic_incoming *incoming = container_of(dma, struct rnic_incoming, dma);
	struct rnic_qp *qp = incoming->qp;
	bool good = dma->status == DMA_OK;

	incoming->done = incoming->posted = true;
	if (!good)
		incoming->completes = false;
	if (!good && qp->state == STATE_RTS)
		fail_placement(qp, incoming);
	if (incoming->drained) {
		qp->incoming_count--;
		free(incoming);
	} else {
		drain(qp);
	}
	if (good && qp->connection && qp->state == STATE_RTS)
		iwarp_continue(qp->connection);
	iwarp_qp_release(qp);
}

static void place(struct rnic_qp *qp, struct rnic_incoming *incoming, uint32_t count,
		  uint32_t offset, uint32_t bytes, uint32_t access)
{
	if (qp->last_incoming)
		qp->last_incoming->next = incoming;
	else
		qp->incoming = incoming;
	qp->last_incoming = incoming;
	qp->incoming_count++;
	if (!bytes) {
		incoming->posted = incoming->done = true;
		drain(qp);
		return;
	}
	incoming->dma = (struct dma){
		.segments = incoming->segments,
		.segment_count = count,
		.offset = offset,
		.length = bytes,
		.direction = DMA_SCATTER,
		.access = access,
		.pd = qp->attr.pd,
		.qpn = qp->number,
		.bytes = incoming->bytes,
		.done = scattered,
		.posted = posted,
	};
	qp->busy++;
	dma_start(qp->rnic->blocks.dma, &incoming->dma);
}

static struct rnic_incoming *make(struct rnic_qp *qp, const struct rdmap_header *header,
				  const uint8_t *payload, uint32_t bytes)
{
	struct rnic_incoming *incoming = rnic_state_take(sizeof(*incoming) + bytes);

	incoming->qp = qp;
	incoming->opcode = header->opcode;
	memcpy(incoming->bytes, payload, bytes);
	return incoming;
}

/* ---- operations ---- */

static void take_write(struct rnic_qp *qp, const struct rdmap_header *header,
		       const uint8_t *payload, uint32_t bytes)
{
	struct rnic_incoming *incoming = make(qp, header, payload, bytes);

	incoming->segments[0] = (struct data_segment){
		.address = header->tagged_offset, .length = bytes, .key = header->stag};
	place(qp, incoming, 1, 0, bytes, MR_REMOTE_WRITE);
}

/* Returns the oldest READ without all of its data, or NULL. */
static struct rnic_wqe *find_read(const struct rnic_qp *qp)
{
	struct rnic_wqe *wqe = qp->wqes;

	while (wqe && wqe != qp->unsent &&
	       (wqe->sqe.opcode != SIW_OP_READ || wqe->received == UINT32_MAX))
		wqe = wqe->next;
	return wqe == qp->unsent ? NULL : wqe;
}

static void take_response(struct rnic_qp *qp, const struct rdmap_header *header,
			  const uint8_t *payload, uint32_t bytes)
{
	struct rnic_wqe *wqe = find_read(qp);
	struct rnic_incoming *incoming;

	if (!wqe || header->stag != wqe->sqe.sge[0].lkey ||
	    header->tagged_offset != wqe->sqe.sge[0].laddr + wqe->received ||
	    bytes > wqe->length - wqe->received ||
	    header->last != (wqe->received + bytes == wqe->length)) {
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_TAGGED, DDP_TAGGED_STAG);
		return;
	}
	incoming = make(qp, header, payload, bytes);
	incoming->segments[0] = (struct data_segment){
		.address = header->tagged_offset, .length = bytes, .key = header->stag};
	wqe->received += bytes;
	if (header->last) {
		incoming->completes = true;
		incoming->wqe = wqe;
		wqe->received = UINT32_MAX; /* complete */
	}
	place(qp, incoming, 1, 0, bytes, MR_LOCAL_WRITE);
}

static void take_request(struct rnic_qp *qp, const struct rdmap_header *header,
			 const uint8_t *payload, uint32_t bytes)
{
	struct rnic_response *response = rnic_state_take(sizeof(*response));

	if (header->msn != ++qp->request_msn || bytes != RDMAP_READ_REQUEST_BYTES ||
	    rdmap_read_request_parse(payload, bytes, &response->request) != PARSE_OK) {
		free(response);
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, DDP_UNTAGGED_MSN);
		return;
	}
	if (qp->responses)
		qp->last_response->next = response;
	else
		qp->responses = response;
	qp->last_response = response;
	iwarp_send_pump(qp);
}

static bool is_solicited(enum rdmap_opcode opcode)
{
	return opcode == RDMAP_SEND_SE || opcode == RDMAP_SEND_SE_INVALIDATE;
}

/* Returns false if the FPDU waits for its receive WQE. */
static bool take_send(struct rnic_qp *qp, const struct rdmap_header *header, const uint8_t *payload,
		      uint32_t bytes)
{
	struct rnic_incoming *incoming;

	if (header->msn != qp->receive_msn + 1) {
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, DDP_UNTAGGED_MSN);
		return true;
	}
	if (!qp->receive_ready) {
		if (!qp->receive_reading)
			read_receive(qp);
		return false;
	}
	if (header->message_offset != qp->received) {
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, DDP_UNTAGGED_OFFSET);
		return true;
	}
	incoming = make(qp, header, payload, bytes);
	incoming->cqe = (struct siw_cqe){.id = qp->rqe.id, .opcode = SIW_OP_RECEIVE};
	if (bytes > qp->receive_length - qp->received) {
		incoming->cqe.status = SIW_WC_LOC_LEN_ERR;
		qp->receive_ready = false;
		iwarp_complete(qp, qp->attr.recv_cqn, &incoming->cqe, true);
		free(incoming);
		iwarp_receive_fail(qp, RDMAP_LAYER_DDP, DDP_UNTAGGED, DDP_UNTAGGED_TOO_LONG);
		return true;
	}
	memcpy(incoming->segments, qp->receive, sizeof(qp->receive));
	incoming->completes = header->last;
	incoming->solicited = is_solicited(header->opcode);
	incoming->cqe.bytes = qp->received + bytes;
	if (header->opcode == RDMAP_SEND_INVALIDATE || header->opcode == RDMAP_SEND_SE_INVALIDATE)
		incoming->cqe.inval_stag = header->invalidate;
	qp->received += bytes;
	if (header->last) {
		qp->receive_ready = false;
		qp->receive_msn++;
	}
	place(qp, incoming, qp->receive_count, incoming->cqe.bytes - bytes, bytes, MR_LOCAL_WRITE);
	return true;
}

static void take_terminate(struct rnic_qp *qp, const uint8_t *payload, uint32_t bytes)
{
	struct rdmap_terminate terminate;
	bool protection = rdmap_terminate_parse(payload, bytes, &terminate) == PARSE_OK &&
			  (terminate.layer == RDMAP_LAYER_RDMAP ||
			   (terminate.layer == RDMAP_LAYER_DDP && terminate.type == DDP_TAGGED));

	qp->rnic->count.terminates_received++;
	event_queue_async(qp->rnic->blocks.events, ASYNC_QP_ACCESS_ERROR, qp->number);
	iwarp_complete_end(qp, protection ? SIW_WC_REM_ACCESS_ERR : SIW_WC_WR_FLUSH_ERR);
	if (qp->connection)
		iwarp_shut(qp->connection);
}

bool iwarp_receive(struct rnic_qp *qp, const uint8_t *ulpdu, uint32_t bytes)
{
	struct rdmap_header header;
	uint32_t header_bytes;

	if (qp->state != STATE_RTS)
		return true;
	if (qp->incoming_count >= qp->rnic->params->receives)
		return false;
	if (rdmap_header_parse(ulpdu, bytes, &header) != PARSE_OK) {
		iwarp_receive_fail(qp, RDMAP_LAYER_RDMAP, RDMAP_OPERATION, RDMAP_BAD_OPCODE);
		return true;
	}
	header_bytes = rdmap_header_bytes(header.opcode);
	ulpdu += header_bytes;
	bytes -= header_bytes;
	switch (header.opcode) {
	case RDMAP_WRITE:
		take_write(qp, &header, ulpdu, bytes);
		break;
	case RDMAP_READ_RESPONSE:
		take_response(qp, &header, ulpdu, bytes);
		break;
	case RDMAP_READ_REQUEST:
		take_request(qp, &header, ulpdu, bytes);
		break;
	case RDMAP_TERMINATE:
		take_terminate(qp, ulpdu, bytes);
		break;
	default:
		if (!take_send(qp, &header, ulpdu, bytes))
			return false;
	}
	qp->rnic->count.payload_received += bytes;
	return true;
}
