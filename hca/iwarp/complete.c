/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complete: CQEs, their events, and the end of a queue pair. The program arms a CQ by a store to
 * its control word. The adapter reads that word when a CQE is visible. This read takes no time.
 */
#include "hca/iwarp/rnic_state.h"

struct completion {
	struct rnic_cq *cq;
	struct pcie_write write;
	struct siw_cqe cqe;
	bool solicited;
};

static void release_cq(struct rnic_cq *cq)
{
	if (--cq->busy == 0 && cq->destroyed)
		free(cq);
}

/* Returns true if the CQ is armed for the completion, and disarms it. */
static bool takes_event(struct rnic_cq *cq, bool solicited)
{
	uint64_t place = cq->ring.address + (uint64_t)cq->ring.entries * sizeof(struct siw_cqe);
	uint32_t flags = 0, none = SIW_NOTIFY_NOT;

	if (!memory_read(cq->ring.memory, place, &flags, sizeof(flags)))
		return false;
	if (!(flags & SIW_NOTIFY_NEXT_COMPLETION) && !(flags & SIW_NOTIFY_SOLICITED && solicited))
		return false;
	return memory_write(cq->ring.memory, place, &none, sizeof(none));
}

static void written(struct pcie_write *write)
{
	struct completion *completion = container_of(write, struct completion, write);
	struct rnic_cq *cq = completion->cq;

	if (!cq->destroyed && takes_event(cq, completion->solicited))
		event_queue_moderation_note(&cq->moderation);
	release_cq(cq);
	free(completion);
}

/* Returns true if the program has not taken the previous CQE at that place of the ring. */
static bool is_full(const struct rnic_cq *cq, uint64_t place)
{
	uint8_t flags = 0;

	return memory_read(cq->ring.memory, place + offsetof(struct siw_cqe, flags), &flags,
			   sizeof(flags)) &&
	       flags & SIW_WQE_VALID;
}

void iwarp_complete(struct rnic_qp *qp, uint32_t cqn, const struct siw_cqe *cqe, bool solicited)
{
	struct rnic *rnic = qp->rnic;
	struct rnic_cq *cq = iwarp_cq(rnic, cqn);
	struct completion *completion;
	uint64_t place;

	if (!cq || !cq->ring.address)
		return;
	place = cq->ring.address + cq->ring.next % cq->ring.entries * sizeof(*cqe);
	if (is_full(cq, place)) {
		event_queue_async(rnic->blocks.events, ASYNC_CQ_ERROR, cqn);
		return;
	}
	completion = rnic_state_take(sizeof(*completion));
	completion->cq = cq;
	completion->cqe = *cqe;
	completion->cqe.flags = SIW_WQE_VALID;
	completion->cqe.qp_id = qp->number;
	completion->solicited = solicited;
	completion->write = (struct pcie_write){
		.memory = cq->ring.memory,
		.address = place,
		.length = sizeof(completion->cqe),
		.bytes = &completion->cqe,
		.done = written,
	};
	cq->ring.next++;
	cq->busy++;
	rnic->count.completions++;
	pcie_write(rnic->blocks.pcie, &completion->write);
}

static void complete_wqe(struct rnic_qp *qp, const struct rnic_wqe *wqe, unsigned status)
{
	const struct siw_cqe cqe = {
		.id = wqe->sqe.id,
		.opcode = wqe->sqe.opcode,
		.status = (uint16_t)status,
		.bytes = wqe->length,
	};

	if (status != SIW_WC_SUCCESS || wqe->sqe.flags & SIW_WQE_SIGNALLED)
		iwarp_complete(qp, qp->attr.send_cqn, &cqe, status != SIW_WC_SUCCESS);
}

static void pop(struct rnic_qp *qp, unsigned status)
{
	struct rnic_wqe *wqe = qp->wqes;

	qp->wqes = wqe->next;
	if (!qp->wqes)
		qp->last_wqe = NULL;
	if (qp->unsent == wqe)
		qp->unsent = wqe->next;
	qp->wqe_count--;
	complete_wqe(qp, wqe, status);
	free(wqe);
}

void iwarp_complete_sends(struct rnic_qp *qp)
{
	while (qp->wqes && qp->wqes->done)
		pop(qp, SIW_WC_SUCCESS);
}

/* Flushes entries of a ring that the adapter has not read. */
static void flush_sq(struct rnic_qp *qp)
{
	struct rnic_ring *ring = &qp->sq;
	const uint16_t none = 0;

	for (uint32_t i = 0; ring->address && i < ring->entries; i++) {
		uint64_t place =
			ring->address + ring->next % ring->entries * sizeof(struct siw_sqe);
		struct rnic_wqe wqe = {.next = NULL};

		if (!memory_read(ring->memory, place, &wqe.sqe, sizeof(wqe.sqe)) ||
		    !(wqe.sqe.flags & SIW_WQE_VALID))
			return;
		memory_write(ring->memory, place + offsetof(struct siw_sqe, flags), &none,
			     sizeof(none));
		ring->next++;
		complete_wqe(qp, &wqe, SIW_WC_WR_FLUSH_ERR);
	}
}

static void flush_rq(struct rnic_qp *qp)
{
	struct rnic_ring *ring = &qp->rq;
	struct siw_cqe cqe = {.opcode = SIW_OP_RECEIVE, .status = SIW_WC_WR_FLUSH_ERR};
	const uint16_t none = 0;

	if (qp->receive_ready) {
		cqe.id = qp->rqe.id;
		qp->receive_ready = false;
		iwarp_complete(qp, qp->attr.recv_cqn, &cqe, true);
	}
	for (uint32_t i = 0; !qp->attr.srqn && ring->address && i < ring->entries; i++) {
		uint64_t place =
			ring->address + ring->next % ring->entries * sizeof(struct siw_rqe);
		struct siw_rqe rqe;

		if (!memory_read(ring->memory, place, &rqe, sizeof(rqe)) ||
		    !(rqe.flags & SIW_WQE_VALID))
			return;
		memory_write(ring->memory, place + offsetof(struct siw_rqe, flags), &none,
			     sizeof(none));
		ring->next++;
		cqe.id = rqe.id;
		iwarp_complete(qp, qp->attr.recv_cqn, &cqe, true);
	}
}

void iwarp_complete_end(struct rnic_qp *qp, unsigned status)
{
	if (qp->state == STATE_ERR) {
		status = SIW_WC_WR_FLUSH_ERR;
	} else {
		qp->state = STATE_ERR;
		iwarp_send_drop(qp);
		iwarp_complete_sends(qp);
	}
	while (qp->wqes) {
		pop(qp, status);
		status = SIW_WC_WR_FLUSH_ERR;
	}
	if (!qp->reading)
		flush_sq(qp);
	if (!qp->receive_reading)
		flush_rq(qp);
}
