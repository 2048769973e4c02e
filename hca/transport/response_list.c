/* SPDX-License-Identifier: Apache-2.0 */
/* response_list: see response_list.h. */
#include "hca/transport/response_list.h"
#include "hca/work/wqe_refetch.h"

#include <assert.h>

#include "hca/transport/completer.h"
#include "hca/transport/psn.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"
#include "hca/work/scheduler.h"
#include "hca/work/wqe_fetch.h"

#define SLAB_RESPONSES 64

struct awaited_response {
	struct awaited_response *next; /* list of the queue pair, in order of arrival */
	/* list of the adapter, of responses that wait to start their read */
	struct awaited_response *next_to_read;
	struct qp *qp;         /* held by this struct */
	struct packet *packet; /* NULL if the queue pair was destroyed */
	uint32_t number, tag;  /* number and tag of the slot */
	bool ready;            /* the list is available */
	sim_time since;        /* start of the read in flight */
	struct pcie_read read;
};

static struct response_lists *lists_of(const struct qp *qp)
{
	return &qp->transport->lists;
}

static bool is_under_way(const struct qp *qp, uint32_t number)
{
	return number - qp->sq.oldest < qp->sq.tail - qp->sq.oldest;
}

/* Returns the slot that waits for the packet's data, at or after the slot of the previous response.
 * Returns NULL if there is none. */
static struct send_slot *find_slot(struct qp *qp, const struct packet *packet, uint32_t *number)
{
	*number = qp->sq.oldest;
	if (qp->awaited_last && is_under_way(qp, qp->awaited_last->number))
		*number = qp->awaited_last->number;
	for (; *number != qp->sq.tail; ++*number) {
		struct send_slot *slot = qp_slot(qp, *number);
		int32_t place = psn_distance(slot->first_psn, packet->psn);

		if (!slot->started || place < 0)
			return NULL;
		if (place < (int32_t)slot->psn_count)
			return requester_is_read_or_atomic(slot) && !slot->done ? slot : NULL;
	}
	return NULL;
}

static void start_reads(struct response_lists *lists);

static void go_on(struct qp *qp)
{
	qp_hold(qp);
	while (qp->awaited_first && qp->awaited_first->ready) {
		struct awaited_response *awaited = qp->awaited_first;

		qp->awaited_first = awaited->next;
		if (!qp->awaited_first)
			qp->awaited_last = NULL;
		if (awaited->packet)
			completer_go_on(qp, awaited->packet);
		pool_give(&lists_of(qp)->pool, awaited);
		qp_drop(qp);
	}
	qp_drop(qp);
}

static void list_arrived(struct pcie_read *read)
{
	struct awaited_response *awaited = container_of(read, struct awaited_response, read);
	struct qp *qp = awaited->qp;
	struct transport_block *transport = qp->transport;
	struct response_lists *lists = &transport->lists;
	struct gauge *gauge = &transport->gauge.response_lists;

	lists->reading--;
	gauge_left(gauge, awaited->since, sim_now(transport->block.sim), 1);
	if (is_under_way(qp, awaited->number)) {
		struct send_slot *slot = qp_slot(qp, awaited->number);

		if (slot->tag == awaited->tag) {
			wqe_refetch_fill(&qp->sq, slot->block, slot->blocks);
			slot->list_coming = false;
		}
	}
	awaited->ready = true;
	go_on(qp);
	start_reads(lists);
	gauge_wait(gauge, sim_now(transport->block.sim), lists->first);
}

static void start_reads(struct response_lists *lists)
{
	while (lists->first && lists->reading < lists->reads) {
		struct awaited_response *awaited = lists->first;
		struct transport_block *transport = awaited->qp->transport;

		lists->first = awaited->next_to_read;
		lists->reading++;
		awaited->since = sim_now(transport->block.sim);
		gauge_enter(&transport->gauge.response_lists, awaited->since, 1);
		scheduler_read_list(transport->blocks.scheduler);
		pcie_read(transport->blocks.pcie, &awaited->read);
	}
}

static void ask_for(struct qp *qp, struct send_slot *slot, struct awaited_response *awaited)
{
	struct response_lists *lists = lists_of(qp);

	slot->list_coming = true;
	awaited->read =
		wqe_refetch_read(&qp->sq, slot, wqe_refetch_blocks(&qp->sq, slot), list_arrived);
	awaited->next_to_read = NULL;
	if (lists->first)
		lists->last->next_to_read = awaited;
	else
		lists->first = awaited;
	lists->last = awaited;
	start_reads(lists);
	gauge_wait(&qp->transport->gauge.response_lists, sim_now(qp->transport->block.sim),
		   lists->first);
}

bool response_list_waits(struct qp *qp, struct packet *packet)
{
	uint32_t number;
	struct send_slot *slot = find_slot(qp, packet, &number);
	enum wqe_outcome outcome = slot ? wqe_refetch_look_up(&qp->sq, slot) : WQE_CACHE_HIT;
	struct awaited_response *awaited;

	if (!qp->awaited_first && outcome == WQE_CACHE_HIT)
		return false;
	awaited = pool_take(&lists_of(qp)->pool);
	awaited->next = NULL;
	awaited->qp = qp;
	awaited->packet = packet;
	awaited->number = number;
	awaited->tag = slot ? slot->tag : 0;
	awaited->ready = outcome != WQE_CACHE_MISS;
	qp_hold(qp);
	if (qp->awaited_first)
		qp->awaited_last->next = awaited;
	else
		qp->awaited_first = awaited;
	qp->awaited_last = awaited;
	qp->transport->count.list_waits++;
	if (outcome == WQE_CACHE_MISS)
		ask_for(qp, slot, awaited);
	return true;
}

void response_list_forget(struct qp *qp)
{
	for (struct awaited_response *at = qp->awaited_first; at; at = at->next) {
		transport_packet_done(qp->transport, at->packet);
		at->packet = NULL;
	}
}

void response_list_init(struct transport_block *transport)
{
	const struct wqe_fetch_params *params = transport->facts.wqe_fetch;
	struct response_lists *lists = &transport->lists;

	if (transport->blocks.send_cache && params->looked_up != WQE_LOOKED_UP_GRANT)
		lists->reads = params->response_reads;
	transport->gauge.response_lists.capacity = lists->reads;
	pool_init(&lists->pool, sizeof(struct awaited_response), SLAB_RESPONSES);
}

void response_list_fini(struct transport_block *transport)
{
	pool_fini(&transport->lists.pool);
}
