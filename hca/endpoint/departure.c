/* SPDX-License-Identifier: Apache-2.0 */
/*
 * departure: which queue pair's packet goes next, and when. A queue pair that may send now is on its VL's list and
 * is granted there, in the order of time or of numbers (grant_order); one that may send later, by its pace, is in the heap; one that waits for a window or a response is
 * in neither. The pace event is pending only while the port has room for the first of the heap.
 */
#include "hca/endpoint/endpoint_state.h"

static sim_time later(sim_time one, sim_time other)
{
	return one > other ? one : other;
}

/* When it could send its next packet; SIM_NEVER: something must come first. */
static sim_time next_departure(struct endpoint_qp *qp)
{
	sim_time at = SIM_NEVER;

	if (request_possible(qp))
		at = qp->allowed_at;
	if (__builtin_expect(qp->responses != NULL, 0)) {
		sim_time response_at = response_ready_at(qp);

		if (response_at < at)
			at = response_at;
	}
	return at;
}

static void append(struct endpoint_hca *hca, struct endpoint_qp *qp)
{
	struct ready_list *list = &hca->ready[qp->vl];

	qp->flags |= QP_READY;
	qp->next_ready = NULL;
	if (list->head)
		list->tail->next_ready = qp;
	else
		list->head = qp;
	list->tail = qp;
	hca->ready_vls |= (uint16_t)(1u << qp->vl);
}

/* The one before the next by number behind the last that had a grant, in a round; NULL: it is the first. */
static struct endpoint_qp *before_next_number(const struct ready_list *list, uint32_t last)
{
	struct endpoint_qp *before = NULL;
	uint32_t nearest = list->head->number - last - 1;

	for (struct endpoint_qp *qp = list->head; qp->next_ready; qp = qp->next_ready) {
		uint32_t distance = qp->next_ready->number - last - 1;

		if (distance < nearest) {
			nearest = distance;
			before = qp;
		}
	}
	return before;
}

static struct endpoint_qp *take(struct endpoint_hca *hca, unsigned vl)
{
	struct ready_list *list = &hca->ready[vl];
	struct endpoint_qp *qp = list->head, *before = NULL;

	if (hca->params->grant_order == GRANTS_BY_NUMBER) {
		before = before_next_number(list, hca->last_grant[vl]);
		qp = before ? before->next_ready : qp;
		hca->last_grant[vl] = qp->number;
	}
	if (before) {
		before->next_ready = qp->next_ready;
		if (list->tail == qp)
			list->tail = before;
		qp->flags &= (uint8_t)~QP_READY;
		return qp;
	}
	list->head = qp->next_ready;
	if (!list->head)
		hca->ready_vls &= (uint16_t) ~(1u << vl);
	qp->flags &= (uint8_t)~QP_READY;
	return qp;
}

/* Onto the list, into the heap, or neither. */
static void sort_in(struct endpoint_qp *qp)
{
	struct endpoint_hca *hca = qp->hca;
	sim_time at = next_departure(qp);

	if (at <= endpoint_now(hca)) {
		deadline_heap_remove(&hca->departures, qp);
		append(hca, qp);
	} else if (at == SIM_NEVER) {
		deadline_heap_remove(&hca->departures, qp);
	} else {
		deadline_heap_set(&hca->departures, qp, at);
	}
}

static void promote(struct endpoint_hca *hca, sim_time now)
{
	while (hca->departures.count && hca->departures.entries[0].at <= now) {
		struct endpoint_qp *qp = hca->departures.entries[0].qp;

		deadline_heap_remove(&hca->departures, qp);
		append(hca, qp);
	}
}

static sim_time host_ready_at(const struct endpoint_hca *hca, unsigned vl)
{
	return later(hca->host_send_at, hca->vl_send_at[vl]);
}

static void schedule_pace(struct endpoint_hca *hca)
{
	sim_time at = SIM_NEVER;

	if (hca->departures.count && port_has_room(hca->port, hca->departures.entries[0].qp->vl))
		at = hca->departures.entries[0].at;
	for (uint32_t vls = hca->sends_slowly ? hca->ready_vls : 0; vls; vls &= vls - 1) {
		sim_time ready = host_ready_at(hca, (unsigned)__builtin_ctz(vls));

		/* else the port has no room, and will say when */
		if (ready < at && ready > endpoint_now(hca))
			at = ready;
	}
	if (event_pending(&hca->pace)) {
		if (event_time(&hca->pace) == at)
			return;
		sim_cancel(&hca->pace);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&hca->pace, at);
}

static void send_one(struct endpoint_qp *qp)
{
	if (qp->responses && response_ready_at(qp) <= endpoint_now(qp->hca))
		response_send(qp);
	else
		request_send(qp);
}

static bool host_is_ready(const struct endpoint_hca *hca, unsigned vl)
{
	return !hca->sends_slowly || host_ready_at(hca, vl) <= endpoint_now(hca);
}

void departure_fill(struct endpoint_hca *hca)
{
	sim_time now = endpoint_now(hca);

	if (hca->departures.count)
		promote(hca, now);
	for (uint32_t vls = hca->ready_vls; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		while (hca->ready[vl].head && port_has_room(hca->port, vl) &&
		       host_is_ready(hca, vl)) {
			struct endpoint_qp *qp = take(hca, vl);

			if (next_departure(qp) <= now)
				send_one(qp);
			sort_in(qp);
		}
	}
	if (hca->departures.count || hca->sends_slowly || event_pending(&hca->pace))
		schedule_pace(hca);
}

void departure_consider(struct endpoint_qp *qp)
{
	if (qp->flags & QP_READY)
		return;
	sort_in(qp);
	departure_fill(qp->hca);
}

/* Time without anything to send is no credit. */
void departure_begin(struct endpoint_qp *qp)
{
	qp->allowed_at = later(qp->allowed_at, endpoint_now(qp->hca));
}

void departure_hold(struct endpoint_qp *qp, sim_time until)
{
	if (until <= qp->allowed_at)
		return;
	qp->allowed_at = until;
	qp->flags |= QP_HELD;
}

/* Bursts are paid for together, as the algorithm that has them says. */
static bool paced_from_departure(struct endpoint_qp *qp)
{
	return __builtin_expect(qp->hca->paces_departures, 0) && !cc_of(qp)->burst_bytes;
}

void departure_rate_changed(struct endpoint_qp *qp, uint64_t rate_before)
{
	sim_time before = qp->allowed_at;

	if (cc_of(qp)->rate_bps == rate_before || qp->flags & QP_HELD)
		return;
	if (paced_from_departure(qp))
		pace_departed_again(cc_of(qp), &qp->allowed_at, rate_before,
				    port_rate_bps(qp->hca->port));
	else
		pace_rate_changed(qp->cc->congestion, cc_of(qp), &qp->allowed_at,
				  endpoint_now(qp->hca), rate_before);
	if (qp->allowed_at != before && qp->place[DEADLINE_DEPARTURE] != NOT_IN_HEAP)
		sort_in(qp);
}

/* What the host's memory and the service level's share of the link take for it. */
static void pay_host(struct endpoint_qp *qp, uint32_t wire_bytes, sim_time now)
{
	struct endpoint_hca *hca = qp->hca;
	const struct endpoint_params *params = hca->params;
	sim_time *vl_at = &hca->vl_send_at[qp->vl];
	double share = params->ets_share * (double)port_rate_bps(hca->port);

	hca->host_send_at =
		later(hca->host_send_at, now) + (sim_time)wire_bytes * 8 * SEC / params->send_rate;
	if (params->ets_share < 1)
		*vl_at = later(*vl_at, now) + (sim_time)((double)(wire_bytes + hca->gap_bytes) * 8 *
							 (double)SEC / share);
}

void departure_pay(struct endpoint_qp *qp, const struct packet *packet)
{
	struct endpoint_hca *hca = qp->hca;
	const struct congestion *congestion = qp->cc->congestion;
	struct cc_state *cc = cc_of(qp);
	uint32_t wire_bytes = packet->wire_bytes;
	sim_time now = endpoint_now(hca);

	if (hca->sends_slowly)
		pay_host(qp, wire_bytes, now);
	qp->flags &= (uint8_t)~QP_HELD;
	if (paced_from_departure(qp))
		pace_departed(cc, &qp->allowed_at, now, wire_bytes + hca->gap_bytes,
			      port_rate_bps(hca->port));
	else if (cc->rate_bps != RATE_UNLIMITED)
		pace_pay(congestion, cc, &qp->allowed_at, now, packet->payload_bytes,
			 wire_bytes + hca->gap_bytes);
	if (congestion->ops->on_send)
		congestion->ops->on_send(cc, congestion->params, now, wire_bytes);
}

static void pace_fire(struct event *event)
{
	departure_fill(container_of(event, struct endpoint_hca, pace));
}

void departure_init(struct endpoint_hca *hca)
{
	deadline_heap_init(&hca->departures, DEADLINE_DEPARTURE);
	event_init(&hca->pace, &hca->block, pace_fire);
}
