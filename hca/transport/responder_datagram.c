/* responder_datagram: see responder_datagram.h. */
#include "hca/transport/responder_datagram.h"

#include "fabric/wire/opcode.h"
#include "hca/transport/psn.h"
#include "hca/transport/responder.h"
#include "hca/transport/scatter_unit.h"
#include "hca/transport/transport.h"
#include "hca/work/receive_queue.h"

enum network_header { HEADER_NONE, HEADER_GRH, HEADER_IPV4 };

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
		.service_level = path->service_level,
		.network_header = !path->has_grh                       ? HEADER_NONE
				  : path->roce_version == ROCE_V2_IPV4 ? HEADER_IPV4
								       : HEADER_GRH,
	};
}

static void execute(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	struct scatter_unit *unit = scatter_unit_new(qp, packet);

	unit->wqe = responder->wqe;
	unit->offset = GRH_AREA_BYTES;
	scatter_unit_add(unit, packet);
	unit->has_completion = true;
	unit->completion = completion_of(qp, packet);
	unit->cq = responder->cq;
	responder_note_begin(qp, packet);
	scatter_unit_note(unit, packet);
	responder->wqe_at = 0;
	scatter_unit_grh(unit, packet);
	responder->wqe = NULL;
	responder->msn = psn_add(responder->msn, 1);
	qp->hca->transport->count.rx_sends++;
	scatter_unit_close(unit);
}

bool responder_datagram(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	enum request_fault fault = responder_check_wqe(qp, packet);
	uint32_t length = packet->payload_bytes + GRH_AREA_BYTES;

	if (fault == FAULT_WAIT)
		return false;
	if (fault == FAULT_NO_RECEIVE_WQE)
		qp->hca->transport->count.no_receive_wqe++;
	else if (responder->wqe->length < length)
		responder_fatal(qp, FAULT_TOO_LONG, packet->psn);
	else if (!qp_list_allows(qp, responder->wqe->pd, responder->wqe->segments,
				 responder->wqe->segment_count, 0, length, MR_LOCAL_WRITE))
		responder_fatal(qp, FAULT_BAD_WQE, packet->psn);
	else
		execute(qp, packet);
	return true;
}
