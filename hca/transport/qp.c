/* SPDX-License-Identifier: Apache-2.0 */
/* qp: see qp.h. */
#include "hca/transport/qp.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"
#include "hca/transport/atomic_records.h"
#include "hca/transport/cc_unit.h"
#include "hca/transport/dc_initiator.h"
#include "hca/transport/dc_target.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "hca/transport/response_list.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "hca/work/receive_queue.h"
#include "hca/work/wqe_fetch.h"

/* clang-format off */
const uint8_t qp_transport[] = {
	[QP_RC] = TRANSPORT_RC, [QP_UC] = TRANSPORT_UC, [QP_UD] = TRANSPORT_UD,
	[QP_XRC_INI] = TRANSPORT_XRC, [QP_XRC_TGT] = TRANSPORT_XRC, [QP_GSI] = TRANSPORT_UD,
	[QP_DCI] = TRANSPORT_DC, [QP_DCT] = TRANSPORT_DC, [QP_DCR] = TRANSPORT_DC,
};

#define STATE_FIELDS(X)                                                                            \
	X(PATH, path) X(DEST_QP, dest_qp) X(MTU, mtu_bytes) X(RQ_PSN, rq_psn) X(SQ_PSN, sq_psn)    \
	X(ACCESS, access) X(QKEY, qkey) X(PKEY, pkey) X(TIMEOUT, timeout) X(RETRY, retry)          \
	X(RNR_RETRY, rnr_retry) X(MIN_RNR_TIMER, min_rnr_timer) X(MAX_RD_ATOMIC, max_rd_atomic)    \
	X(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic) X(RATE_LIMIT, rate_limit_bps)
/* clang-format on */

struct qp *qp_find(struct transport_block *transport, uint32_t number)
{
	return number == 1 ? transport->gsi : number_table_find(&transport->qps, number);
}

uint32_t qp_known_as(const struct qp *qp)
{
	return qp->dcr ? dc_target_of_responder(qp->dcr)->number : qp->number;
}

void qp_free(struct qp *qp)
{
	*qp->link = qp->next;
	if (qp->next)
		qp->next->link = qp->link;
	wqe_fetch_detach(&qp->sq);
	dc_initiator_destroy(qp->dci);
	if (qp->rq)
		receive_queue_drop(qp->rq);
	if (qp->send_cq)
		completion_queue_drop(qp->send_cq);
	if (qp->recv_cq)
		completion_queue_drop(qp->recv_cq);
	atomic_records_clear(&qp->responder.atomics);
	free(qp);
}

void qp_unused(struct qp *qp)
{
	assert(!qp->sq.reads_count);
	if (qp->dcr)
		dc_target_responder_rest(qp->dcr);
	else
		qp_free(qp);
}

bool qp_key_allows(struct qp *qp, uint32_t pd, uint32_t key, uint64_t address, uint32_t length,
		   uint32_t access)
{
	const struct mr *mr;

	if (!length)
		return true;
	mr = mr_table_find(qp->transport->blocks.regions, key);
	return mr && mr->valid && mr->pd == pd && (mr->access & access) == access &&
	       (!mr->qpn || mr->qpn == qp->number) && (!mr->on_demand || qp_is_reliable(qp)) &&
	       address >= mr->address && length <= mr->length &&
	       address - mr->address <= mr->length - length;
}

bool qp_list_allows(struct qp *qp, uint32_t pd, const struct data_segment *segments, uint32_t count,
		    uint32_t offset, uint32_t length, uint32_t access)
{
	for (uint32_t i = 0; i < count && length; i++) {
		uint32_t skip = offset < segments[i].length ? offset : segments[i].length;
		uint32_t bytes = segments[i].length - skip;

		if (bytes > length)
			bytes = length;
		if (!qp_key_allows(qp, pd, segments[i].key, segments[i].address + skip, bytes,
				   access))
			return false;
		offset -= skip;
		length -= bytes;
	}
	return length == 0;
}

uint32_t qp_remote_pd(const struct qp *qp, uint32_t key)
{
	const struct mr *mr;

	if (qp->attr.type != QP_XRC_TGT)
		return qp->attr.pd;
	mr = mr_table_find(qp->transport->blocks.regions, key);
	return mr ? mr->pd : qp->attr.pd;
}

bool qp_key_has_bytes(struct qp *qp, uint32_t key)
{
	const struct mr *mr = mr_table_find(qp->transport->blocks.regions, key);

	return mr && mr->memory && mr->memory->has_bytes;
}

static struct completion_queue *hold_cq(struct transport_block *transport, uint32_t cqn)
{
	struct completion_queue *cq = number_table_find(transport->blocks.cqs, cqn);

	if (cq)
		completion_queue_hold(cq);
	return cq;
}

static struct receive_queue *receive_queue_of(struct transport_block *transport, struct qp *qp)
{
	const struct hca_qp_attr *attr = &qp->attr;
	struct receive_queue *rq = NULL;

	if (attr->srqn) {
		rq = number_table_find(transport->blocks.srqs, attr->srqn);
		if (rq)
			receive_queue_hold_queue(rq);
	} else if (attr->rq_entries) {
		rq = receive_queue_create_ring(transport->blocks.receive_queues,
					       &(struct hca_srq_attr){
						       .memory = attr->memory,
						       .buffer = attr->rq_buffer,
						       .doorbell_record = attr->doorbell_record,
						       .entries = attr->rq_entries,
						       .stride_bytes = attr->rq_stride_bytes,
						       .pd = attr->pd,
					       });
	}
	return rq;
}

struct qp *qp_create(struct transport_block *transport, const struct hca_qp_attr *attr)
{
	struct qp *qp = calloc(1, sizeof(*qp));

	assert(qp);
	qp->transport = transport;
	qp->next = transport->all_qps;
	qp->link = &transport->all_qps;
	if (qp->next)
		qp->next->link = &qp->next;
	transport->all_qps = qp;
	qp->attr = *attr;
	qp->users = 1;
	qp->send_cq = hold_cq(transport, attr->send_cqn);
	qp->recv_cq = hold_cq(transport, attr->recv_cqn);
	qp->rq = receive_queue_of(transport, qp);
	qp->request_entity = (struct sched_entity){
		.qp = qp,
		.scheduler = transport->blocks.scheduler,
		.kind = SCHED_REQUESTS,
		.reliable = qp_is_reliable(qp),
	};
	qp->response_entity = qp->request_entity;
	qp->response_entity.kind = SCHED_RESPONSES;
	wqe_fetch_attach(transport->blocks.wqe_fetch, &qp->sq, &qp->attr);
	requester_init(qp);
	responder_init(qp);
	if (attr->type == QP_DCI)
		qp->dci = dc_initiator_create(qp);
	if (attr->type == QP_DCT)
		dc_targets_need(transport);
	return qp;
}

void qp_set_number(struct qp *qp, uint32_t number)
{
	qp->number = qp->sq.number = number;
	qp->request_entity.number = qp->response_entity.number = number;
}

static void reset(struct qp *qp)
{
	requester_reset(qp);
	if (qp->congestion)
		cc_unit_forget(qp);
	wqe_fetch_reset(&qp->sq);
	responder_reset(qp);
	if (qp->attr.type == QP_DCT)
		dc_target_reset(qp);
	if (qp->rq && !qp->attr.srqn)
		receive_queue_reset(qp->rq, &qp->responder.waiter);
	qp->state = (struct hca_qp_state){.state = STATE_RESET};
}

void qp_modify(struct qp *qp, const struct hca_qp_state *state)
{
	uint32_t mask = state->mask;
	enum qp_state before = qp->state.state;

	if (mask & QP_SET_STATE && state->state == STATE_RESET) {
		reset(qp);
		return;
	}
#define SET_FIELD(bit, field)    \
	if (mask & QP_SET_##bit) \
		qp->state.field = state->field;
	STATE_FIELDS(SET_FIELD)
#undef SET_FIELD
	if (mask & QP_SET_STATE && state->state == STATE_ERR) {
		if (before != STATE_ERR)
			qp_enter_error(qp, -1);
		return;
	}
	if (mask & QP_SET_STATE)
		qp->state.state = state->state;
	responder_modified(qp, mask);
	requester_modified(qp, mask);
}

void qp_enter_error(struct qp *qp, int async)
{
	if (qp->state.state == STATE_ERR)
		return;
	qp_hold(qp);
	qp->state.state = STATE_ERR;
	if (async >= 0)
		event_queue_async(qp->transport->blocks.events, (enum hca_async)async,
				  qp_known_as(qp));
	requester_flush(qp);
	responder_flush(qp);
	qp_drop(qp);
}

void qp_destroy(struct qp *qp)
{
	struct transport_block *transport = qp->transport;

	reset(qp);
	scheduler_forget(transport->blocks.scheduler, &qp->request_entity);
	scheduler_forget(transport->blocks.scheduler, &qp->response_entity);
	transport_forget_packets(transport, qp);
	response_list_forget(qp);
	context_cache_invalidate(transport->blocks.contexts, CONTEXT_REQUESTER, qp->number);
	context_cache_invalidate(transport->blocks.contexts, CONTEXT_RESPONDER, qp->number);
	context_cache_invalidate(transport->blocks.contexts, CONTEXT_READS, qp->number);
	if (qp == transport->gsi)
		transport->gsi = NULL;
	else
		number_table_remove(&transport->qps, qp->number);
	qp->destroyed = true;
	qp->request_entity.closed = qp->response_entity.closed = true;
	qp_drop(qp);
}
