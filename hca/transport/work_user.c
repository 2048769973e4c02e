/* SPDX-License-Identifier: Apache-2.0 */
/* work_user: see work_user.h. */
#include "hca/transport/work_user.h"

#include "hca/transport/dc_initiator.h"
#include "hca/transport/qp.h"
#include "hca/transport/requester.h"
#include "hca/transport/responder.h"
#include "hca/transport/send_segment.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"

/* ---- doorbells ---- */

static struct qp *qp_of(const struct send_queue *sq)
{
	return container_of(sq, struct qp, sq);
}

static struct send_queue *find(const struct doorbell_user *user, uint32_t qpn)
{
	const struct work_user *own = container_of(user, struct work_user, doorbell);
	struct qp *qp = qp_find(own->transport, qpn);

	return qp ? &qp->sq : NULL;
}

/* Handles a doorbell of a queue pair in ERR, which is the time to look for new receive WQEs. */
static void rung(struct send_queue *sq)
{
	struct qp *qp = qp_of(sq);

	if (qp->state.state == STATE_ERR && qp->rq)
		receive_queue_flush(qp->rq, &qp->responder.waiter);
}

/* ---- the fetch of send WQEs ---- */

static bool may_fetch(const struct send_queue *sq)
{
	const struct qp *qp = qp_of(sq);

	return qp->state.state >= STATE_RTS && !qp->destroyed;
}

static void posted(struct send_queue *sq)
{
	requester_posted(qp_of(sq));
}

static void wake(struct send_queue *sq)
{
	struct qp *qp = qp_of(sq);

	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

static void fetch_failed(struct send_queue *sq)
{
	qp_enter_error(qp_of(sq), ASYNC_QP_FATAL);
}

static void hold_queue(struct send_queue *sq)
{
	qp_hold(qp_of(sq));
}

static void drop_queue(struct send_queue *sq)
{
	qp_drop(qp_of(sq));
}

static uint64_t under_way(const struct wqe_fetch_user *user)
{
	const struct transport_block *transport =
		container_of(user, struct work_user, fetch)->transport;
	const struct qp *gsi = transport->gsi;
	uint64_t wqes = gsi ? gsi->sq.tail - gsi->sq.oldest : 0;
	uint32_t at = 0;

	for (const struct qp *qp; (qp = number_table_next(&transport->qps, &at));)
		wqes += qp->sq.tail - qp->sq.oldest;
	return wqes;
}

/* ---- completions ---- */

/* IBTA vol. 1, C9-218, C11-37, 11.6.3.1: a queue pair that attempts to use a CQ that overran enters
 * ERR. Its driver receives a catastrophic error of the work queue. */
static void lost(const struct completion_user *user, const struct completion_queue *cq,
		 uint32_t qpn)
{
	const struct work_user *own = container_of(user, struct work_user, completion);
	struct qp *qp = qp_find(own->transport, qpn);

	if (qp && (qp->send_cq == cq || qp->recv_cq == cq) && qp->state.state >= STATE_RTR)
		qp_enter_error(qp, ASYNC_QP_FATAL);
}

void work_user_init(struct work_user *user)
{
	*user = (struct work_user){
		.doorbell = {.find = find, .rung = rung},
		.completion = {.lost = lost},
		.fetch =
			{
				.may_fetch = may_fetch,
				.posted = posted,
				.wake = wake,
				.failed = fetch_failed,
				.hold = hold_queue,
				.drop = drop_queue,
				.under_way = under_way,
			},
	};
}

/* ---- the scheduler ---- */

static bool has_work(const struct sched_entity *entity)
{
	const struct qp *qp = entity->qp;

	if (entity->kind == SCHED_RESPONSES)
		return qp->responder.response_count != 0;
	return qp->sq.cursor != qp->sq.tail || (qp->dci && dc_initiator_owes(qp->dci));
}

static struct scheduler_segment next(struct sched_entity *entity)
{
	struct scheduler_segment made = {0};

	made.packets = entity->kind == SCHED_REQUESTS ? requester_next(entity->qp, &made.bytes)
						      : responder_next(entity->qp, &made.bytes);
	if (!made.packets)
		return made;
	made.length = entity->last->length;
	made.opcode = entity->last->first->opcode;
	return made;
}

static void taken(struct sched_entity *entity)
{
	if (entity->kind == SCHED_REQUESTS)
		requester_taken(entity->qp);
}

static void waited(struct sched_entity *entity, sim_time asked_at)
{
	if (entity->kind == SCHED_REQUESTS)
		requester_waited(entity->qp, asked_at);
}

static void hold_entity(struct sched_entity *entity)
{
	qp_hold(entity->qp);
}

static void drop_entity(struct sched_entity *entity)
{
	qp_drop(entity->qp);
}

const struct scheduler_user work_user_scheduler = {
	.has_work = has_work,
	.next = next,
	.drain = send_segment_drain,
	.taken = taken,
	.waited = waited,
	.hold = hold_entity,
	.drop = drop_entity,
};

/* ---- receive queues ---- */

static struct qp *qp_of_waiter(const struct receive_waiter *waiter)
{
	return container_of(waiter, struct qp, responder.waiter);
}

static void came(struct receive_waiter *waiter)
{
	responder_wqe_came(qp_of_waiter(waiter));
}

static void missing(struct receive_waiter *waiter)
{
	responder_wqe_missing(qp_of_waiter(waiter));
}

static void hold_waiter(struct receive_waiter *waiter)
{
	qp_hold(qp_of_waiter(waiter));
}

static void drop_waiter(struct receive_waiter *waiter)
{
	qp_drop(qp_of_waiter(waiter));
}

static bool flushes(const struct receive_waiter *waiter)
{
	const struct qp *qp = qp_of_waiter(waiter);

	return qp->state.state == STATE_ERR && !qp->destroyed;
}

static void flushed(struct receive_waiter *waiter, uint16_t wqe_counter)
{
	struct qp *qp = qp_of_waiter(waiter);
	const struct completion completion = {
		.opcode = CQE_RECEIVE_ERROR,
		.status = WORK_FLUSHED,
		.wqe_counter = wqe_counter,
		.qpn = qp->number,
		.user_index = qp->attr.user_index,
	};

	qp->transport->count.wqes_flushed++;
	qp->transport->count.receives_flushed++;
	completion_write(qp->recv_cq, &completion, 0);
}

const struct receive_queue_user work_user_receives = {
	.came = came,
	.missing = missing,
	.hold = hold_waiter,
	.drop = drop_waiter,
	.flushes = flushes,
	.flushed = flushed,
};
