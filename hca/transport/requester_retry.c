/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester_retry: acknowledgement and retries of a requester of a reliable transport: progress,
 * go-back-N, the timers of local ACK timeout and RNR, the retry counters.
 */
#include <assert.h>

#include "fabric/wire/aeth.h"
#include "hca/transport/dc_initiator.h"
#include "hca/transport/psn.h"
#include "hca/transport/reaction_point.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "hca/work/wqe_fetch.h"

#define RETRY_FOR_EVER 7

void requester_watch(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	uint8_t exponent = qp->state.timeout;
	uint8_t least = (uint8_t)qp->transport->params->timeout_least;

	if (!qp_is_reliable(qp) || !exponent) {
		timer_disarm(&requester->timer);
		return;
	}
	if (exponent < least)
		exponent = least;
	timer_arm(&requester->timer, hca_ack_timeout(exponent));
}

void requester_wait_for_nothing(struct qp *qp)
{
	timer_disarm(&qp->requester.timer);
}

void requester_progress(struct qp *qp, uint32_t unacked_psn)
{
	struct requester *requester = &qp->requester;

	if (psn_distance(requester->unacked_psn, unacked_psn) > 0) {
		if (__builtin_expect(!!qp->congestion, 0))
			reaction_point_progress(qp, requester->unacked_psn, unacked_psn);
		requester->unacked_psn = unacked_psn;
		requester->retries_left = qp->state.retry;
		requester->rnr_retries_left = qp->state.rnr_retry;
		requester->gap_seen = false;
		if (__builtin_expect(!!qp->transport->watcher, 0))
			qp->transport->watcher->acknowledged(qp->transport->watcher, qp->number,
							     unacked_psn);
	}
	if (requester->unacked_psn != requester->sent_psn)
		requester_watch(qp);
	else
		timer_disarm(&requester->timer);
	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

/* Discards the stages of the failed transmission. The time until now becomes the retry stage. */
static void note_retries(struct qp *qp, uint32_t number)
{
	for (; number != qp->sq.tail; number++) {
		struct latency_stages *stages = &qp_slot(qp, number)->stages;

		if (!stages->at[STAGE_GRANT])
			continue;
		for (unsigned stage = STAGE_PACING; stage < STAGE_COUNT; stage++)
			stages->at[stage] = 0;
		stages->at[STAGE_RETRY] = sim_now(qp->transport->block.sim);
	}
}

void requester_rewind(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	uint32_t number = qp->sq.oldest;
	struct send_slot *slot = NULL;

	requester->epoch++;
	for (; number != qp->sq.tail; number++) {
		slot = qp_slot(qp, number);
		if (!slot->started || !slot->done)
			break;
	}
	trace(&qp->transport->block, TRACE_REWIND, slot ? slot->tag : 0, qp->number,
	      requester->unacked_psn);
	for (uint32_t later = number; later != qp->sq.tail; later++) {
		struct send_slot *other = qp_slot(qp, later);

		if (other->counted)
			requester->outstanding--;
		other->counted = other->at_hand = false;
	}
	note_retries(qp, number);
	wqe_fetch_rewind(&qp->sq, number);
	requester->cursor_packet = 0;
	requester->halted = false;
	requester->page_wait = PAGE_WAIT_NOTHING;
	if (number != qp->sq.tail && slot->started && !requester_is_read_or_atomic(slot)) {
		int32_t acknowledged = psn_distance(slot->first_psn, requester->unacked_psn);

		assert(acknowledged < (int32_t)slot->psn_count);
		requester->cursor_packet = acknowledged > 0 ? (uint32_t)acknowledged : 0;
	}
	if (qp->congestion)
		reaction_point_rewound(qp);
	timer_disarm(&requester->timer);
	if (qp->dci)
		dc_initiator_rewound(qp->dci);
	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

void requester_retry(struct qp *qp)
{
	struct requester *requester = &qp->requester;

	if (!requester->retries_left) {
		requester_fail_oldest(qp, WORK_RETRIES_EXCEEDED);
		return;
	}
	requester->retries_left--;
	requester_rewind(qp);
}

void requester_retry_rnr(struct qp *qp, uint8_t timer)
{
	struct requester *requester = &qp->requester;

	if (!requester->rnr_retries_left) {
		requester_fail_oldest(qp, WORK_RNR_RETRIES_EXCEEDED);
		return;
	}
	if (qp->state.rnr_retry != RETRY_FOR_EVER)
		requester->rnr_retries_left--;
	requester_rewind(qp);
	requester->rnr_waiting = true;
	sim_cancel(&requester->rnr_timer);
	sim_schedule(&requester->rnr_timer, aeth_rnr_delay(timer));
}

static void overdue(struct timer *timer)
{
	struct requester *requester = container_of(timer, struct requester, timer);
	struct qp *qp = container_of(requester, struct qp, requester);

	qp->transport->count.local_ack_timeouts++;
	if (qp->congestion)
		reaction_point_lost(qp, LOSS_TIMEOUT);
	if (qp->dci)
		dc_initiator_lost(qp->dci);
	requester_retry(qp);
}

static void rnr_timer_fired(struct event *event)
{
	struct requester *requester = container_of(event, struct requester, rnr_timer);
	struct qp *qp = container_of(requester, struct qp, requester);

	requester->rnr_waiting = false;
	note_retries(qp, qp->sq.cursor);
	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
}

static void pace_fired(struct event *event)
{
	struct requester *requester = container_of(event, struct requester, pace);
	struct qp *qp = container_of(requester, struct qp, requester);

	scheduler_wake(qp->transport->blocks.scheduler, &qp->request_entity);
	if (qp->congestion) /* READ responses have the same pace */
		scheduler_wake(qp->transport->blocks.scheduler, &qp->response_entity);
}

void requester_init(struct qp *qp)
{
	struct requester *requester = &qp->requester;
	struct block *block = &qp->transport->block;

	timer_init(&requester->timer, block, overdue);
	event_init(&requester->rnr_timer, block, rnr_timer_fired);
	event_init(&requester->pace, block, pace_fired);
}
