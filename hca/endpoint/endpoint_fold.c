/* SPDX-License-Identifier: Apache-2.0 */
/*
 * endpoint_fold: the state of an endpoint HCA and of its queue pairs for sim/fold.h, while no
 * message is under way. PSNs and byte counts are folded as differences. A queue pair at rest has
 * the same state as one that is awake.
 */
#include "hca/endpoint/endpoint_fold.h"

#include "hca/congestion/congestion_fold.h"
#include "hca/endpoint/endpoint_state.h"

#define HCA(member, kind) FOLD_FIELD(struct endpoint_hca, member, FOLD_##kind)
#define QP(member, kind)  FOLD_FIELD(struct endpoint_qp, member, FOLD_##kind)

/* `serial` tells packets apart. What is at rest, idle or looked at has no effect (rest.c). */
static const struct fold_field fields[] = {
	HCA(serial, SKIP),
	HCA(departures, SKIP),
	HCA(overdue, SKIP),
	HCA(pace, SKIP),
	HCA(timeout, SKIP),
	HCA(arrived, SKIP),
	HCA(naks, SKIP),
	HCA(cnps, SKIP),
	HCA(doorbells, SKIP),
	HCA(completions, SKIP),
	HCA(chunks, SKIP),
	HCA(awake, SKIP),
	HCA(cells, SKIP),
	HCA(idle_qps, SKIP),
	HCA(idle_cc, SKIP),
	HCA(new_cc, SKIP),
	HCA(looked_at, SKIP),
	HCA(host_send_at, DEADLINE),
	HCA(host_receive_at, SKIP),
	HCA(vl_send_at, DEADLINE),
	HCA(cnp_limiter, SKIP),
	HCA(response_pool, SKIP),
	HCA(count, SKIP),
	HCA(flow_pool, SKIP),
	HCA(ready, SKIP),
	HCA(block, SKIP),
	HCA(read_recoveries, SKIP),
	HCA(stalled, SKIP),
};

static const struct fold_field qp_fields[] = {
	QP(cc, SKIP),          QP(send_psn, SKIP),       QP(unacked_psn, SKIP),
	QP(made_psn, SKIP),    QP(allowed_at, DEADLINE), QP(next_ready, SKIP),
	QP(place, SKIP),       QP(sent_bytes, SKIP),     QP(acked_bytes, SKIP),
	QP(deadline, SINCE),   QP(expected_psn, SKIP),   QP(cnp_at, DEADLINE),
	QP(message_psn, SKIP), QP(early_psn, SKIP),      QP(cnps, SKIP),
	QP(marks, SKIP),       QP(messages, SKIP),       QP(delivered, SKIP),
};

static void fold_heap(const struct deadline_heap *heap, struct fold *fold)
{
	fold_number(fold, heap->count);
	for (uint32_t i = 0; i < heap->count; i++) {
		fold_since(fold, heap->entries[i].at);
		fold_number(fold, heap->entries[i].qp->number);
	}
}

static void fold_limiter(const struct cnp_limiter *limiter, struct fold *fold)
{
	fold_deadline(fold, limiter->port_at);
	fold_number(fold, limiter->count);
	for (uint32_t i = 0; i < limiter->capacity; i++) {
		fold_number(fold, limiter->peers[i].source);
		if (limiter->peers[i].source != NO_ENDPOINT)
			fold_deadline(fold, limiter->peers[i].cnp_at);
	}
}

static void fold_recoveries(const struct read_recoveries *recoveries, struct fold *fold)
{
	for (uint32_t i = 0; i < recoveries->limit; i++)
		fold_deadline(fold, recoveries->ends[(recoveries->oldest + i) % recoveries->limit]);
}

/* ---- queue pairs ---- */

static void fold_cc(const struct endpoint_qp *qp, struct fold *fold)
{
	const struct qp_cc *cc = qp->cc;

	if (cc->extension ||
	    !congestion_fold(cc->congestion, (const struct cc_state *)(const void *)cc->state,
			     qp->acked_bytes, fold))
		fold_refuse(fold, "%s: the state of congestion control %s is not compared",
			    qp->ep->block.name, cc->congestion->ops->name);
	fold_number(fold, cc->ack_interval);
	fold_number(fold, cc->rtt);
}

static const char *trouble_of(const struct endpoint_qp *qp)
{
	if (qp->newest || qp->sending || qp->responses)
		return "has work";
	if (qp->is_tcp)
		return "is a TCP connection";
	if (qp->selective)
		return "had packets out of order";
	return qp->flags & QP_FAR ? "has a peer of another kind" : NULL;
}

/* Returns the PSN that the peer of the queue pair expects from it. */
static uint64_t expected_of_peer(const struct endpoint_slot *slot)
{
	return endpoint_look(slot_peer(slot))->expected_psn;
}

static void fold_qp(struct endpoint_slot *slot, uint32_t number, struct fold *fold)
{
	uint64_t expected = slot_peer(slot) ? expected_of_peer(slot) : 0;
	const struct endpoint_qp *qp = endpoint_look(slot);
	const char *reason = trouble_of(qp);

	if (reason) {
		fold_refuse(fold, "%s: queue pair %u %s", slot_ep(slot)->block.name, number,
			    reason);
		return;
	}
	fold_struct(fold, qp, sizeof(*qp), qp_fields, ARRAY_SIZE(qp_fields));
	fold_number(fold, qp->send_psn - qp->unacked_psn);
	fold_number(fold, qp->made_psn - qp->unacked_psn);
	fold_number(fold, expected - qp->unacked_psn);
	fold_number(fold, qp->sent_bytes - qp->acked_bytes);
	/* a message that was reported may end behind the expected PSN (go-back-0), not before */
	if ((int32_t)((uint32_t)qp->expected_psn - qp->delivered) < 0)
		fold_number(fold, (uint32_t)qp->expected_psn - qp->delivered);
	if (qp->ep->count.out_of_sequence) { /* nothing reads these before */
		fold_number(fold, PSN_OF(qp->expected_psn - qp->message_psn));
		fold_number(fold, PSN_OF(qp->expected_psn - qp->early_psn));
	}
	fold_number(fold, qp->cc != NULL);
	if (qp->cc)
		fold_cc(qp, fold);
}

static const char *trouble(const struct endpoint_hca *ep)
{
	if (ep->flows)
		return "carries flows in place of packets";
	if (ep->tcp)
		return "has TCP connections";
	if (ep->cc_plugins)
		return "has plug-ins";
	if (ep->arrived.head || ep->naks.head || ep->cnps.head || ep->stalled.head ||
	    ep->doorbells.count || ep->completions.count || ep->ready_vls ||
	    ep->response_pool.in_use)
		return "has work";
	return NULL;
}

void endpoint_fold(struct block *block, struct fold *fold)
{
	const struct endpoint_hca *ep = container_of(block, const struct endpoint_hca, block);
	const char *reason = trouble(ep);

	if (reason) {
		fold_refuse(fold, "%s %s", block->name, reason);
		return;
	}
	fold_struct(fold, ep, sizeof(*ep), fields, ARRAY_SIZE(fields));
	if (ep->receives_slowly)
		fold_since(fold, ep->host_receive_at);
	fold_heap(&ep->departures, fold);
	fold_heap(&ep->overdue, fold);
	fold_limiter(&ep->cnp_limiter, fold);
	fold_recoveries(&ep->read_recoveries, fold);
	for (uint32_t i = 0; i < ep->qp_count && !fold->reason[0]; i++)
		fold_qp(slot_of(ep, i), FIRST_QP_NUMBER + i, fold);
}
