/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder_check: the checks of a request, in the order of the table below. The first error
 * decides. IBTA vol. 1, 9.7.4.1.
 */
#include "fabric/wire/opcode.h"
#include "hca/transport/atomic.h"
#include "hca/transport/page_fault.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"
#include "hca/work/receive_queue.h"

static enum request_error check_psn(struct qp *qp, struct packet *packet)
{
	int32_t ahead = psn_distance(qp->responder.expected_psn, packet->psn);

	return ahead == 0 ? ERROR_NONE : ahead < 0 ? ERROR_DUPLICATE : ERROR_PSN_GAP;
}

static enum request_error check_sequence(struct qp *qp, struct packet *packet)
{
	return opcode_may_follow(packet->opcode, qp->responder.previous_opcode)
		       ? ERROR_NONE
		       : ERROR_BAD_SEQUENCE;
}

/* Returns the access right that an operation needs from QP and region. */
static uint32_t right_of(uint8_t opcode)
{
	static const uint32_t right[OP_COUNT] = {
		[OP_WRITE] = MR_REMOTE_WRITE,
		[OP_READ] = MR_REMOTE_READ,
		[OP_COMPARE_SWAP] = MR_REMOTE_ATOMIC,
		[OP_FETCH_ADD] = MR_REMOTE_ATOMIC,
	};

	return right[opcode_info[opcode].operation];
}

enum request_error responder_check_permission(struct qp *qp, struct packet *packet)
{
	uint32_t right = right_of(packet->opcode);

	return (qp->state.access & right) == right ? ERROR_NONE : ERROR_NOT_PERMITTED;
}

bool responder_is_read_or_atomic(uint8_t opcode)
{
	return opcode_info[opcode].operation == OP_READ || opcode_is_atomic(opcode);
}

static enum request_error check_resources(struct qp *qp, struct packet *packet)
{
	const struct responder *responder = &qp->responder;

	if (!responder_is_read_or_atomic(packet->opcode))
		return ERROR_NONE;
	if (responder->reads_owed >= qp->state.max_dest_rd_atomic)
		return ERROR_TOO_MANY;
	return opcode_is_atomic(packet->opcode) && packet->remote_address % ATOMIC_BYTES
		       ? ERROR_MISALIGNED
		       : ERROR_NONE;
}

/* XRC: returns the SRQ that the packet names, if it is in the same domain. */
static struct receive_queue *queue_for(struct qp *qp, const struct packet *packet)
{
	struct receive_queue *queue;

	if (qp->attr.type != QP_XRC_TGT)
		return qp->rq;
	queue = number_table_find(qp->transport->blocks.srqs, packet->xrc_srqn);
	return queue && receive_queue_serves(queue, qp->attr.xrcd) ? queue : NULL;
}

enum request_error responder_check_wqe(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct receive_queue *queue;

	if (!opcode_takes_receive_wqe(packet->opcode) || responder->wqe)
		return ERROR_NONE;
	queue = queue_for(qp, packet);
	if (!queue && qp->attr.type == QP_XRC_TGT)
		return ERROR_NOT_PERMITTED;
	if (!queue || responder->no_wqe) {
		responder->no_wqe = false;
		return ERROR_NO_RECEIVE_WQE;
	}
	responder->wqe_queue = queue;
	responder->cq = receive_queue_cq(queue) ? receive_queue_cq(queue) : qp->recv_cq;
	responder->user_index =
		receive_queue_cq(queue) ? receive_queue_user_index(queue) : qp->attr.user_index;
	switch (receive_queue_take(queue, &responder->waiter, &responder->wqe)) {
	case TAKE_OK:
		return ERROR_NONE;
	case TAKE_WAIT:
		return ERROR_WAIT;
	case TAKE_EMPTY:
		break;
	}
	return ERROR_NO_RECEIVE_WQE;
}

enum request_error responder_check_length(struct qp *qp, struct packet *packet)
{
	const struct opcode_info *info = &opcode_info[packet->opcode];
	const struct responder *responder = &qp->responder;
	uint32_t mtu = qp->state.mtu_bytes;
	bool full = info->segment == SEG_FIRST || info->segment == SEG_MIDDLE;
	bool fits = packet->payload_bytes <= mtu && (!full || packet->payload_bytes == mtu) &&
		    (info->segment != SEG_LAST || packet->payload_bytes);
	uint32_t behind = responder->received + packet->payload_bytes;

	if (!fits)
		return ERROR_BAD_LENGTH;
	if (info->operation == OP_SEND)
		return behind > WQE_LENGTH_MAX ||
				       (responder->wqe && behind > responder->wqe->length)
			       ? ERROR_TOO_LONG
			       : ERROR_NONE;
	if (info->operation == OP_WRITE) {
		uint32_t length = opcode_has(packet->opcode, HDR_RETH) ? packet->dma_length
								       : responder->length;
		bool ends = opcode_ends_message(packet->opcode);

		if (length > WQE_LENGTH_MAX)
			return ERROR_BAD_LENGTH;
		return ends ? (behind == length ? ERROR_NONE : ERROR_BAD_LENGTH)
			    : (behind < length ? ERROR_NONE : ERROR_BAD_LENGTH);
	}
	return info->operation == OP_READ && packet->dma_length > WQE_LENGTH_MAX ? ERROR_BAD_LENGTH
										 : ERROR_NONE;
}

/* Checks pages of on-demand regions. The first packet of a WRITE checks the pages of the whole
 * message. A packet of a SEND checks its own pages. */
static enum request_error check_pages(struct qp *qp, struct packet *packet)
{
	const struct receive_wqe *wqe = qp->responder.wqe;
	bool atomic = opcode_is_atomic(packet->opcode);
	struct data_segment named = {
		.address = packet->remote_address,
		.length = atomic ? ATOMIC_BYTES : packet->dma_length,
		.key = packet->rkey,
	};
	bool missing = false;

	if (atomic || opcode_has(packet->opcode, HDR_RETH))
		missing = page_fault_refuses(qp, &named, 1, 0, named.length);
	else if (opcode_info[packet->opcode].operation == OP_SEND)
		missing = page_fault_refuses(qp, wqe->segments, wqe->segment_count,
					     qp->responder.received, packet->payload_bytes);
	return missing ? ERROR_NO_PAGE : ERROR_NONE;
}

/* Writes the protection domain for the check of the R_Key to *pd. Returns false if the packet names
 * an SRQ that does not exist. */
static bool named_domain(struct qp *qp, const struct packet *packet, uint32_t *pd)
{
	const struct receive_queue *queue;

	*pd = qp->attr.pd;
	if (qp->attr.type != QP_XRC_TGT)
		return true;
	queue = queue_for(qp, packet);
	if (queue)
		*pd = receive_queue_pd(queue);
	return queue;
}

enum request_error responder_check_keys(struct qp *qp, struct packet *packet)
{
	const struct responder *responder = &qp->responder;
	uint32_t length = opcode_is_atomic(packet->opcode) ? ATOMIC_BYTES : packet->dma_length;
	bool remote = opcode_has(packet->opcode, HDR_RETH) || opcode_is_atomic(packet->opcode);
	uint32_t pd;

	if (remote && !named_domain(qp, packet, &pd))
		return ERROR_BAD_RKEY;
	if (remote && !qp_key_allows(qp, pd, packet->rkey, packet->remote_address, length,
				     right_of(packet->opcode)))
		return ERROR_BAD_RKEY;
	if (opcode_info[packet->opcode].operation == OP_SEND &&
	    !qp_list_allows(qp, responder->wqe->pd, responder->wqe->segments,
			    responder->wqe->segment_count, responder->received,
			    packet->payload_bytes, MR_LOCAL_WRITE))
		return ERROR_BAD_WQE;
	return qp->transport->pages_may_be_missing ? check_pages(qp, packet) : ERROR_NONE;
}

static const struct {
	const char *name;
	enum request_error (*run)(struct qp *qp, struct packet *packet);
} checks[] = {
	{"psn", check_psn},
	{"sequence", check_sequence},
	{"permission", responder_check_permission},
	{"resources", check_resources},
	{"receive_wqe", responder_check_wqe},
	{"length", responder_check_length},
	{"keys", responder_check_keys},
};

enum request_error responder_check(struct qp *qp, struct packet *packet)
{
	enum request_error error = ERROR_NONE;

#pragma GCC unroll 8 /* calls the functions directly */
	for (size_t i = 0; i < ARRAY_SIZE(checks) && error == ERROR_NONE; i++)
		error = checks[i].run(qp, packet);
	return error;
}
