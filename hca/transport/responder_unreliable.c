/* SPDX-License-Identifier: Apache-2.0 */
/* responder_unreliable: see responder_unreliable.h. */
#include "hca/transport/responder_unreliable.h"

#include "fabric/wire/opcode.h"
#include "hca/transport/psn.h"
#include "hca/transport/scatter_segment.h"
#include "hca/transport/transport.h"

/* Drops the current message. Its receive WQE serves the next message. */
static void abort_message(struct qp *qp)
{
	struct responder *responder = &qp->responder;

	if (responder->open)
		scatter_segment_close(responder->open);
	responder->previous_opcode = -1;
	responder->received = 0;
}

static void drop(struct qp *qp, const struct packet *packet)
{
	abort_message(qp);
	qp->transport->count.unreliable_drops++;
	qp->responder.dropping = !opcode_ends_message(packet->opcode);
}

static enum request_error check(struct qp *qp, struct packet *packet)
{
	enum request_error error = responder_check_permission(qp, packet);

	if (!error)
		error = responder_check_wqe(qp, packet);
	if (!error)
		error = responder_check_length(qp, packet);
	if (!error)
		error = responder_check_keys(qp, packet);
	return error;
}

bool responder_unreliable(struct qp *qp, struct packet *packet)
{
	struct responder *responder = &qp->responder;
	bool starts = opcode_starts_message(packet->opcode);
	bool in_order = packet->psn == responder->expected_psn &&
			opcode_may_follow(packet->opcode, responder->previous_opcode);
	enum request_error error;

	if (!in_order)
		abort_message(qp);
	if (starts)
		responder->dropping = false;
	if (responder->dropping || (!in_order && !starts)) {
		responder->expected_psn = psn_add(packet->psn, 1);
		drop(qp, packet);
		return true;
	}
	if (starts)
		responder->received = 0;
	error = check(qp, packet);
	if (error == ERROR_WAIT)
		return false;
	responder->expected_psn = psn_add(packet->psn, 1);
	if (error == ERROR_NO_RECEIVE_WQE)
		qp->transport->count.no_receive_wqe++;
	if (error == ERROR_TOO_LONG || error == ERROR_BAD_WQE)
		responder_error_in_order(qp, packet, error);
	else if (error)
		drop(qp, packet);
	else
		responder_execute_data(qp, packet);
	return true;
}
