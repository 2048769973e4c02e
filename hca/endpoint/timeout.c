/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeout: deadlines of responses. Each response moves the deadline of its queue pair. One event
 * per port is pending, for the earliest known deadline. When the event fires, it checks whether
 * that deadline has moved.
 *
 * IBTA vol. 1, 9.7.6.1.3: 4.096 us * 2^timeout. The adaptive mode follows measurements of NVIDIA's
 * adapters (row C-27). Selective repeat has two timeouts: IRN, SIGCOMM'18, 3.1. If more packets
 * were sent during a short timeout, the long one is used instead: IRN, 6.1.
 */
#include "hca/endpoint/endpoint_state.h"
#include "hca/formats/contexts.h"

#define ADAPTIVE_STEPS  7
#define RETRIES_ENDLESS 8 /* retry_count */

/* The values are for timeout 14. Each increment of the timeout doubles them. */
static const sim_time adaptive[ADAPTIVE_STEPS] = {5600 * US,  4100 * US,  8400 * US,  16700 * US,
						  25100 * US, 67100 * US, 134200 * US};

static sim_time adaptive_timeout(const struct endpoint_params *params, unsigned retries)
{
	sim_time base = adaptive[retries < ADAPTIVE_STEPS ? retries : ADAPTIVE_STEPS - 1];

	return params->timeout >= 14 ? base << (params->timeout - 14)
				     : base >> (14 - params->timeout);
}

static bool few_in_flight(const struct endpoint_qp *qp)
{
	return qp->made_psn - qp->unacked_psn <= qp->ep->params->rto_low_packets;
}

static void choose_rto(struct endpoint_qp *qp)
{
	qp->flags &= (uint8_t)~QP_RTO_LOW;
	if (few_in_flight(qp))
		qp->flags |= QP_RTO_LOW;
}

static sim_time duration(const struct endpoint_qp *qp)
{
	const struct endpoint_params *params = qp->ep->params;

	if (params->recovery == SELECTIVE_REPEAT)
		return qp->flags & QP_RTO_LOW ? params->rto_low : params->rto_high;
	if (params->timeout_mode == TIMEOUT_FIXED)
		return params->timeout_fixed;
	if (!params->timeout)
		return SIM_NEVER;
	if (params->timeout_mode == TIMEOUT_ADAPTIVE)
		return adaptive_timeout(params, qp->retries);
	return hca_ack_timeout((unsigned)params->timeout);
}

static void schedule(struct endpoint_hca *ep)
{
	sim_time at = ep->overdue.count ? ep->overdue.entries[0].at : SIM_NEVER;

	if (event_pending(&ep->timeout)) {
		if (event_time(&ep->timeout) <= at && at != SIM_NEVER)
			return;
		sim_cancel(&ep->timeout);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&ep->timeout, at);
}

void timeout_arm(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	uint32_t place = qp->place[DEADLINE_RESPONSE];
	sim_time wait;

	if (ep->params->recovery == SELECTIVE_REPEAT)
		choose_rto(qp);
	wait = duration(qp);
	if (wait == SIM_NEVER) {
		timeout_disarm(qp);
		return;
	}
	qp->deadline = endpoint_now(ep) + wait;
	if (place != NOT_IN_HEAP && ep->overdue.entries[place].at <= qp->deadline)
		return;
	deadline_heap_set(&ep->overdue, qp, qp->deadline);
	schedule(ep);
}

void timeout_disarm(struct endpoint_qp *qp)
{
	qp->deadline = SIM_NEVER;
	if (qp->place[DEADLINE_RESPONSE] == NOT_IN_HEAP)
		return;
	deadline_heap_remove(&qp->ep->overdue, qp);
	schedule(qp->ep);
}

static void fail(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	enum endpoint_status status = ENDPOINT_RETRY_EXCEEDED;

	qp->flags |= QP_FAILED;
	timeout_disarm(qp);
	while (qp->newest) {
		struct endpoint_message *message = oldest_message(qp);

		if (message == qp->newest) {
			qp->newest = NULL;
			ep->active_qps--;
		} else {
			qp->newest->next = message->next;
		}
		endpoint_complete(qp, message, status);
		status = ENDPOINT_FLUSHED;
	}
	qp->sending = NULL;
	departure_consider(qp);
}

static unsigned retries_max(const struct endpoint_params *params)
{
	unsigned extra =
		params->timeout_mode == TIMEOUT_ADAPTIVE ? (unsigned)params->adaptive_extra : 0;

	return (unsigned)params->retry_count + extra;
}

static void expire(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;

	ep->count.local_ack_timeouts++;
	if (ep->params->retry_count != RETRIES_ENDLESS &&
	    qp->retries++ >= retries_max(ep->params)) {
		fail(qp);
		return;
	}
	qp->flags &= (uint8_t)~QP_GAP;
	notify_loss(qp, LOSS_TIMEOUT);
	if (ep->params->recovery == SELECTIVE_REPEAT)
		selective_lost(qp);
	else
		request_rewind(qp, qp->unacked_psn);
	timeout_arm(qp);
	departure_consider(qp);
}

static void extend(struct endpoint_qp *qp)
{
	if (!(qp->flags & QP_RTO_LOW) || few_in_flight(qp))
		return;
	qp->flags &= (uint8_t)~QP_RTO_LOW;
	qp->deadline += qp->ep->params->rto_high - qp->ep->params->rto_low;
}

static void timeout_fire(struct event *event)
{
	struct endpoint_hca *ep = container_of(event, struct endpoint_hca, timeout);
	sim_time now = endpoint_now(ep);

	while (ep->overdue.count && ep->overdue.entries[0].at <= now) {
		struct endpoint_qp *qp = ep->overdue.entries[0].qp;

		if (qp->deadline <= now)
			extend(qp);
		if (qp->deadline > now) {
			deadline_heap_set(&ep->overdue, qp, qp->deadline);
		} else {
			deadline_heap_remove(&ep->overdue, qp);
			expire(qp);
		}
	}
	schedule(ep);
}

void timeout_init(struct endpoint_hca *ep)
{
	deadline_heap_init(&ep->overdue, DEADLINE_RESPONSE);
	event_init(&ep->timeout, &ep->block, timeout_fire);
}
