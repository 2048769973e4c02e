/* SPDX-License-Identifier: Apache-2.0 */
/*
 * requester_wait: waits of a requester, for the gauges of transport and the stage `pacing` of a
 * WQE: reaction times and rate limits, and waits for its grant.
 */
#include "hca/transport/reaction_point.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"

/* Adds the time of a wait for rate or window, which ends now, to the stage of the slot at the
 * cursor. A slot may wait several times. */
static void note_pacing(struct qp *qp, bool by_rate)
{
	struct requester *requester = &qp->requester;
	sim_time now = sim_now(qp->transport->block.sim);
	sim_time until = by_rate && requester->paced_until < now ? requester->paced_until : now;
	sim_time duration = until > requester->held_at ? until - requester->held_at : 0;
	struct latency_stages *stages;

	if (qp->transport->congestion)
		reaction_point_held(qp, duration);
	if (qp->sq.cursor == qp->sq.tail)
		return;
	stages = &qp_slot(qp, qp->sq.cursor)->stages;
	if (!stages->at[STAGE_GRANT]) { /* the slot was granted at that time, or would have been */
		stages->at[STAGE_GRANT] = requester->held_at;
		if (!stages->at[STAGE_QPC_MISS])
			stages->at[STAGE_SCHEDULING] = requester->held_at;
	}
	if (!stages->at[STAGE_PACING]) {
		stages->at[STAGE_PACING] = stages->at[STAGE_GRANT];
		if (stages->at[STAGE_PACING] < stages->at[STAGE_PAGE_FAULT])
			stages->at[STAGE_PACING] = stages->at[STAGE_PAGE_FAULT];
		if (stages->at[STAGE_PACING] < stages->at[STAGE_RETRY])
			stages->at[STAGE_PACING] = stages->at[STAGE_RETRY];
	}
	stages->at[STAGE_PACING] += duration;
	if (stages->at[STAGE_PACING] > until) /* the stage began before the wait */
		stages->at[STAGE_PACING] = until;
}

void requester_held_up(struct qp *qp, struct gauge *by)
{
	struct requester *requester = &qp->requester;
	const struct transport_gauges *gauge = &qp->transport->gauge;
	sim_time now = sim_now(qp->transport->block.sim);

	if (requester->held_up == &gauge->pace || requester->held_up == &gauge->congestion)
		note_pacing(qp, requester->held_up == &gauge->pace);
	if (requester->held_up)
		gauge_left(requester->held_up, requester->held_at, now, 1);
	if (by)
		gauge_enter(by, now, 1);
	requester->held_up = by;
	requester->held_at = now;
}

void requester_hold(struct qp *qp, sim_time duration)
{
	struct requester *requester = &qp->requester;
	sim_time until = sim_now(qp->transport->block.sim) + duration;

	if (until <= requester->paced_until)
		return;
	requester->paced_until = until;
	requester->held = true;
}

/* ---- grants ---- */

void requester_waited(struct qp *qp, sim_time asked_at)
{
	struct send_slot *slot = qp->sq.cursor != qp->sq.tail ? qp_slot(qp, qp->sq.cursor) : NULL;

	if (!slot || slot->stages.at[STAGE_GRANT] || slot->stages.at[STAGE_WQE_FETCH] > asked_at)
		return;
	slot->stages.at[STAGE_SCHEDULING] = asked_at;
	slot->stages.at[STAGE_QPC_MISS] = sim_now(qp->transport->block.sim);
}

void requester_granted(struct qp *qp, struct send_slot *slot)
{
	sim_time now = sim_now(qp->transport->block.sim);
	bool missed = slot->stages.at[STAGE_QPC_MISS] != 0;

	if (!slot->stages.at[STAGE_GRANT]) {
		slot->stages.at[STAGE_GRANT] = now;
		if (!missed)
			slot->stages.at[STAGE_SCHEDULING] = now;
	}
	slot->stages.at[STAGE_MESSAGE] = now;
}

void requester_taken(struct qp *qp)
{
	struct send_slot *slot = qp->request_entity.last->slot;

	if (!slot || slot->completed || slot->done)
		return;
	if (slot->stages.at[STAGE_GRANT] == slot->stages.at[STAGE_MESSAGE])
		slot->stages.at[STAGE_GRANT] = 0;
	requester_granted(qp, slot);
}
