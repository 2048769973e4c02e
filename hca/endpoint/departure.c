/* SPDX-License-Identifier: Apache-2.0 */
/*
 * departure: decides which queue pair sends the next packet, and when. A queue pair that may send
 * now is on the list of its VL. Grants follow the order of time or of numbers (grant_order). A
 * queue pair that may send later, because of its pace, is in the heap. A queue pair that waits for
 * a window or a response is in neither. The pace event is pending only while the port has space for
 * the first queue pair of the heap.
 */
#include "hca/endpoint/cc_extension.h"
#include "hca/endpoint/connection_cache.h"
#include "hca/endpoint/tcp_end.h"

static sim_time later(sim_time one, sim_time other)
{
	return one > other ? one : other;
}

/* Returns the time at which the queue pair may send its next packet, or SIM_NEVER if it waits for
 * an event. */
static sim_time next_departure(struct endpoint_qp *qp)
{
	sim_time at = SIM_NEVER;

	if (qp->is_tcp) /* allowed_at: the time of its context */
		return qp->tcp->waiting ? 0 : qp->tcp->wants ? qp->allowed_at : SIM_NEVER;
	if (request_possible(qp))
		at = qp->allowed_at;
	if (__builtin_expect(!!qp->responses, 0)) {
		sim_time response_at = response_ready_at(qp);

		if (response_at < at)
			at = response_at;
	}
	return at;
}

static void append(struct endpoint_hca *ep, struct endpoint_qp *qp)
{
	struct ready_list *list;

	if (qp->cc && __builtin_expect(qp->cc->extension != NULL, 0))
		cc_extension_set_vl(qp);
	list = &ep->ready[qp->vl];
	qp->flags |= QP_READY;
	qp->next_ready = NULL;
	if (list->head)
		list->tail->next_ready = qp;
	else
		list->head = qp;
	list->tail = qp;
	ep->ready_vls |= (uint16_t)(1u << qp->vl);
}

/* Puts a queue pair that has just sent a packet before all others of its VL. */
static void put_first(struct endpoint_hca *ep, struct endpoint_qp *qp)
{
	struct ready_list *list = &ep->ready[qp->vl];

	qp->flags |= QP_READY;
	qp->next_ready = list->head;
	if (!list->head)
		list->tail = qp;
	list->head = qp;
	ep->ready_vls |= (uint16_t)(1u << qp->vl);
}

/* Returns the list entry before the queue pair to grant next, or NULL if that is the first entry.
 * The next queue pair follows the last granted one by number, in a cycle. */
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

static struct endpoint_qp *take(struct endpoint_hca *ep, unsigned vl)
{
	struct ready_list *list = &ep->ready[vl];
	struct endpoint_qp *qp = list->head, *before = NULL;

	if (ep->params->grant_order == GRANTS_BY_NUMBER) {
		before = before_next_number(list, ep->last_grant[vl]);
		qp = before ? before->next_ready : qp;
		ep->last_grant[vl] = qp->number;
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
		ep->ready_vls &= (uint16_t) ~(1u << vl);
	qp->flags &= (uint8_t)~QP_READY;
	return qp;
}

/* grant_order: burst. Returns true if the queue pair goes on sending. */
static bool continues(const struct endpoint_hca *ep, struct endpoint_qp *qp)
{
	return ep->params->grant_order == GRANTS_IN_BURSTS &&
	       next_departure(qp) <= endpoint_now(ep);
}

/* Puts the queue pair on the list, into the heap, or into neither. */
static void sort_in(struct endpoint_qp *qp)
{
	struct endpoint_hca *ep = qp->ep;
	sim_time at = next_departure(qp);

	if (at <= endpoint_now(ep)) {
		deadline_heap_remove(&ep->departures, qp);
		append(ep, qp);
	} else if (at == SIM_NEVER) {
		deadline_heap_remove(&ep->departures, qp);
	} else {
		deadline_heap_set(&ep->departures, qp, at);
	}
}

static void promote(struct endpoint_hca *ep, sim_time now)
{
	while (ep->departures.count && ep->departures.entries[0].at <= now) {
		struct endpoint_qp *qp = ep->departures.entries[0].qp;

		deadline_heap_remove(&ep->departures, qp);
		append(ep, qp);
	}
}

static sim_time host_ready_at(const struct endpoint_hca *ep, unsigned vl)
{
	return later(ep->host_send_at, ep->vl_send_at[vl]);
}

/* grant_at: free: the link is idle, too. */
static bool port_takes(const struct endpoint_hca *ep, unsigned vl)
{
	return port_has_room(ep->port, vl) &&
	       (!ep->grants_when_free || port_busy_until(ep->port) <= endpoint_now(ep));
}

/* Returns the time at which the link becomes idle, if a queue pair waits for it (grant_at: free).
 * Returns SIM_NEVER if no queue pair waits, or if the port reports when it has room. */
static sim_time idle_at(const struct endpoint_hca *ep)
{
	sim_time busy_until = port_busy_until(ep->port);

	if (busy_until <= endpoint_now(ep))
		return SIM_NEVER;
	for (uint32_t vls = ep->ready_vls; vls; vls &= vls - 1)
		if (port_has_room(ep->port, (unsigned)__builtin_ctz(vls)))
			return busy_until;
	return SIM_NEVER;
}

static void schedule_pace(struct endpoint_hca *ep)
{
	sim_time at = SIM_NEVER;

	if (ep->departures.count && port_has_room(ep->port, ep->departures.entries[0].qp->vl))
		at = ep->departures.entries[0].at;
	if (ep->grants_when_free) {
		sim_time idle = idle_at(ep);

		if (at != SIM_NEVER)
			at = later(at, port_busy_until(ep->port));
		at = idle < at ? idle : at;
	}
	for (uint32_t vls = ep->sends_slowly ? ep->ready_vls : 0; vls; vls &= vls - 1) {
		sim_time ready = host_ready_at(ep, (unsigned)__builtin_ctz(vls));

		/* otherwise the port has no space and will call later */
		if (ready < at && ready > endpoint_now(ep))
			at = ready;
	}
	if (event_pending(&ep->pace)) {
		if (event_time(&ep->pace) == at)
			return;
		sim_cancel(&ep->pace);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&ep->pace, at);
}

static void send_one(struct endpoint_qp *qp)
{
	if (qp->is_tcp)
		tcp_end_grant(qp);
	else if (qp->responses && response_ready_at(qp) <= endpoint_now(qp->ep))
		response_send(qp);
	else
		request_send(qp);
}

static bool host_is_ready(const struct endpoint_hca *ep, unsigned vl)
{
	return !ep->sends_slowly || host_ready_at(ep, vl) <= endpoint_now(ep);
}

static bool has_context(struct endpoint_qp *qp)
{
	if (__builtin_expect(!qp->ep->cache, 1))
		return true;
	/* a response leaves next, whose request has brought the context */
	if (qp->responses && response_ready_at(qp) <= endpoint_now(qp->ep))
		return true;
	return connection_cache_allows(qp);
}

bool departure_has_room(const struct endpoint_qp *qp)
{
	const struct endpoint_hca *ep = qp->ep;

	return !ep->ready[qp->vl].head && port_takes(ep, qp->vl) && host_is_ready(ep, qp->vl);
}

void departure_fill(struct endpoint_hca *ep)
{
	sim_time now = endpoint_now(ep);

	if (ep->departures.count)
		promote(ep, now);
	for (uint32_t vls = ep->ready_vls; vls; vls &= vls - 1) {
		unsigned vl = (unsigned)__builtin_ctz(vls);

		while (ep->ready[vl].head && port_takes(ep, vl) && host_is_ready(ep, vl)) {
			struct endpoint_qp *qp = take(ep, vl);

			if (next_departure(qp) <= now && (qp->is_tcp || has_context(qp)))
				send_one(qp);
			if (__builtin_expect(continues(ep, qp), 0))
				put_first(ep, qp);
			else
				sort_in(qp);
		}
	}
	if (__builtin_expect(ep->vl_changed, 0)) { /* the list of another VL has one more */
		ep->vl_changed = false;
		departure_fill(ep);
		return;
	}
	if (ep->departures.count || ep->sends_slowly || ep->grants_when_free ||
	    event_pending(&ep->pace))
		schedule_pace(ep);
}

void departure_consider(struct endpoint_qp *qp)
{
	if (qp->flags & QP_READY)
		return;
	sort_in(qp);
	departure_fill(qp->ep);
}

/* Starts a pace after an idle time, which gives no credit. */
void departure_begin(struct endpoint_qp *qp)
{
	qp->allowed_at = later(qp->allowed_at, endpoint_now(qp->ep));
}

void departure_hold(struct endpoint_qp *qp, sim_time until)
{
	if (until <= qp->allowed_at)
		return;
	qp->allowed_at = until;
	qp->flags |= QP_HELD;
}

/* Returns true if the pace counts from departures. Bursts are charged as a whole, by their own
 * rule. */
static bool paced_from_departure(struct endpoint_qp *qp)
{
	return __builtin_expect(qp->ep->paces_departures, 0) && !cc_of(qp)->burst_bytes;
}

void departure_rate_changed(struct endpoint_qp *qp, uint64_t rate_before)
{
	sim_time before = qp->allowed_at;

	if (cc_of(qp)->rate_bps == rate_before || qp->flags & QP_HELD ||
	    qp->ep->params->pace_update == PACE_UPDATE_NEXT)
		return;
	if (paced_from_departure(qp))
		pace_departed_again(cc_of(qp), &qp->allowed_at, rate_before,
				    port_rate_bps(qp->ep->port));
	else
		pace_rate_changed(qp->cc->congestion, cc_of(qp), &qp->allowed_at,
				  endpoint_now(qp->ep), rate_before);
	if (qp->allowed_at != before && qp->place[DEADLINE_DEPARTURE] != NOT_IN_HEAP)
		sort_in(qp);
}

/* Charges a packet to the memory rate of the host and to the service level's share of the link. */
static void pay_host(struct endpoint_qp *qp, uint32_t wire_bytes, sim_time now)
{
	struct endpoint_hca *ep = qp->ep;
	const struct endpoint_params *params = ep->params;
	sim_time *vl_at = &ep->vl_send_at[qp->vl];
	double share = params->ets_share * (double)port_rate_bps(ep->port);

	ep->host_send_at =
		later(ep->host_send_at, now) + (sim_time)wire_bytes * 8 * SEC / params->send_rate;
	if (params->ets_share < 1)
		*vl_at = later(*vl_at, now) +
			 (sim_time)((double)(wire_bytes + ep->gap_bytes) * 8 * (double)SEC / share);
}

void departure_pay_host(struct endpoint_qp *qp, uint32_t wire_bytes)
{
	if (qp->ep->sends_slowly)
		pay_host(qp, wire_bytes, endpoint_now(qp->ep));
}

void departure_pay(struct endpoint_qp *qp, const struct packet *packet)
{
	struct endpoint_hca *ep = qp->ep;
	const struct congestion *congestion = qp->cc->congestion;
	struct cc_state *cc = cc_of(qp);
	uint32_t wire_bytes = packet->wire_bytes;
	sim_time now = endpoint_now(ep);

	if (ep->sends_slowly)
		pay_host(qp, wire_bytes, now);
	qp->flags &= (uint8_t)~QP_HELD;
	if (paced_from_departure(qp))
		pace_departed(cc, &qp->allowed_at, now, wire_bytes + ep->gap_bytes,
			      port_rate_bps(ep->port));
	else if (cc->rate_bps != RATE_UNLIMITED)
		pace_pay(congestion, cc, &qp->allowed_at, now, packet->payload_bytes,
			 wire_bytes + ep->gap_bytes);
	if (congestion->ops->on_send)
		congestion->ops->on_send(cc, congestion->params, now, wire_bytes);
}

static void pace_fire(struct event *event)
{
	departure_fill(container_of(event, struct endpoint_hca, pace));
}

void departure_init(struct endpoint_hca *ep)
{
	deadline_heap_init(&ep->departures, DEADLINE_DEPARTURE);
	event_init(&ep->pace, &ep->block, pace_fire);
}
