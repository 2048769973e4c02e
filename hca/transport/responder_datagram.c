/* SPDX-License-Identifier: Apache-2.0 */
/* responder_datagram: see responder_datagram.h. */
#include "hca/transport/responder_datagram.h"

#include "fabric/wire/opcode.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder.h"
#include "hca/transport/scatter_segment.h"
#include "hca/transport/transport.h"
#include "hca/work/receive_queue.h"

enum network_header { HEADER_NONE, HEADER_GRH, HEADER_IPV4 };

/* Returns the service level field of a CQE. On RoCE it encodes the kind of packet: 8: with UDP; 1:
 * IPv6; 2: IPv4; 0: GRH. UCX reads it, and documents it in ud_iface.h. */
static uint8_t level_of(const struct path *path)
{
	static const uint8_t kinds[] = {
		[ROCE_V1] = 0, [ROCE_V2_IPV4] = 8 | 2, [ROCE_V2_IPV6] = 8 | 1};

	return path->roce_version == ROCE_NONE ? path->service_level : kinds[path->roce_version];
}

static struct completion completion_of(struct qp *qp, const struct packet *packet)
{
	const struct path *path = packet->path;
	bool has_immediate = opcode_has(packet->opcode, HDR_IMM);

	return (struct completion){
		.opcode = has_immediate ? CQE_RECEIVED_SEND_IMMEDIATE : CQE_RECEIVED_SEND,
		.solicited = packet->solicited,
		.wqe_counter = qp->responder.wqe->index,
		.qpn = qp->number,
		.user_index = qp->responder.user_index,
		.byte_count = packet->payload_bytes + GRH_AREA_BYTES,
		.immediate = has_immediate ? packet->immediate : 0,
		.source_qp = packet->source_qp,
		.slid = path->slid,
		.service_level = level_of(path),
		.network_header = !path->has_grh                       ? HEADER_NONE
				  : path->roce_version == ROCE_V2_IPV4 ? HEADER_IPV4
								       : HEADER_GRH,
	};
}

/* ---- multi-packet receive WQEs ---- */

static uint32_t strides_of(const struct qp *qp, uint32_t length)
{
	return (length + qp->attr.packet_stride_bytes - 1) / qp->attr.packet_stride_bytes;
}

static void leave_wqe(struct qp *qp)
{
	receive_queue_release(qp->transport->blocks.receive_queues, qp->responder.wqe);
	qp->responder.wqe = NULL;
	qp->responder.strides_used = 0;
}

/* Assigns the next strides of the WQE to the packet. */
static void take_strides(struct qp *qp, struct scatter_segment *segment, uint32_t length)
{
	struct responder *responder = &qp->responder;
	uint32_t strides = strides_of(qp, length);

	segment->offset += responder->strides_used * qp->attr.packet_stride_bytes;
	segment->completion.multi_packet = true;
	segment->completion.wqe_id = responder->wqe->index;
	segment->completion.wqe_counter = (uint16_t)responder->strides_used;
	segment->completion.byte_count = cqe_stride_count(strides, length);
	responder->wqe->users++;
	responder->strides_used += strides;
	receive_queue_count_strides(qp->transport->blocks.receive_queues, strides, 0);
	segment->ends_wqe = responder->strides_used == qp->attr.packet_strides;
	if (segment->ends_wqe)
		leave_wqe(qp);
}

/* Writes a CQE that reports the rest of the WQE as unused. */
static void skip_rest(struct qp *qp, const struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_segment *segment = scatter_segment_new(qp, packet);
	uint32_t strides = qp->attr.packet_strides - responder->strides_used;

	segment->has_completion = true;
	segment->completion = (struct completion){
		.opcode = CQE_RECEIVED_SEND,
		.multi_packet = true,
		.wqe_counter = (uint16_t)responder->strides_used,
		.wqe_id = responder->wqe->index,
		.qpn = qp->number,
		.user_index = responder->user_index,
		.byte_count = CQE_FILLER | cqe_stride_count(strides, 0),
	};
	segment->cq = responder->cq;
	segment->sequence = responder->wqe->sequence;
	segment->ends_wqe = true;
	responder_note_begin(qp, packet);
	scatter_segment_note(segment, packet);
	receive_queue_count_strides(qp->transport->blocks.receive_queues, 0, strides);
	leave_wqe(qp);
	scatter_segment_close(segment);
}

/* ---- packets ---- */

static void execute(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_segment *segment = scatter_segment_new(qp, packet);

	segment->wqe = responder->wqe;
	segment->offset = GRH_AREA_BYTES;
	scatter_segment_add(segment, packet);
	segment->has_completion = true;
	segment->completion = completion_of(qp, packet);
	segment->cq = responder->cq;
	segment->sequence = responder->wqe->sequence;
	segment->ends_wqe = true;
	if (qp->attr.packet_strides)
		take_strides(qp, segment, packet->payload_bytes + GRH_AREA_BYTES);
	else
		responder->wqe = NULL;
	responder_note_begin(qp, packet);
	scatter_segment_note(segment, packet);
	responder->wqe_at = 0;
	scatter_segment_grh(segment, packet);
	responder->msn = psn_add(responder->msn, 1);
	qp->transport->count.rx_sends++;
	scatter_segment_close(segment);
}

/* Returns true if the packet fits into the list of the WQE, and writes its place to *offset. */
static bool fits(const struct qp *qp, uint32_t length, uint32_t *offset)
{
	const struct responder *responder = &qp->responder;

	*offset = responder->strides_used * qp->attr.packet_stride_bytes;
	if (qp->attr.packet_strides && strides_of(qp, length) > qp->attr.packet_strides)
		return false;
	return length <= responder->wqe->length && *offset <= responder->wqe->length - length;
}

bool responder_datagram(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	uint32_t length = packet->payload_bytes + GRH_AREA_BYTES, offset;
	enum request_error error;

	if (responder->strides_used &&
	    responder->strides_used + strides_of(qp, length) > qp->attr.packet_strides) {
		skip_rest(qp, packet);
		if (!scatter_segment_available(qp))
			return false;
	}
	error = responder_check_wqe(qp, packet);
	if (error == ERROR_WAIT)
		return false;
	if (error == ERROR_NO_RECEIVE_WQE)
		qp->transport->count.no_receive_wqe++;
	else if (!fits(qp, length, &offset))
		responder_error_in_order(qp, packet, ERROR_TOO_LONG);
	else if (!qp_list_allows(qp, responder->wqe->pd, responder->wqe->segments,
				 responder->wqe->segment_count, offset, length, MR_LOCAL_WRITE))
		responder_error_in_order(qp, packet, ERROR_BAD_WQE);
	else
		execute(qp, packet);
	return true;
}
