/* SPDX-License-Identifier: Apache-2.0 */
/* page_fault: see page_fault.h. */
#include "hca/transport/page_fault.h"

#include "hca/context/paging.h"
#include "hca/transport/requester.h"
#include "hca/transport/transport.h"

struct stalled { /* a requester that waits for a page */
	struct paging_waiter waiter;
	struct qp *qp;
	uint32_t epoch;
};

_Static_assert(sizeof(struct stalled) <= PAGE_FAULT_BYTES, "as the pool of transport.h has them");

static void resume(struct paging_waiter *waiter);

static struct paging_waiter *new_waiter(struct qp *qp)
{
	struct stalled *stalled = pool_take_zeroed(&qp->transport->stalled);

	stalled->waiter.done = resume;
	stalled->qp = qp;
	stalled->epoch = qp->requester.epoch;
	qp_hold(qp);
	return &stalled->waiter;
}

static bool is_missing(const struct mr *mr, uint64_t address, uint32_t length)
{
	return mr && mr->on_demand && !paging_present(mr, address, length);
}

/* Raises page faults for all absent pages of the range. Returns true if there were any. With
 * `stalls`, the requester continues after the first fault. */
static bool fault_in(struct qp *qp, const struct data_segment *segments, uint32_t count,
		     uint32_t offset, uint32_t length, bool stalls)
{
	bool any = false;

	for (uint32_t i = 0; i < count && length; i++) {
		const struct mr *mr = mr_table_find(qp->transport->blocks.regions, segments[i].key);
		uint32_t skip = offset < segments[i].length ? offset : segments[i].length;
		uint32_t bytes = segments[i].length - skip;
		uint64_t address = segments[i].address + skip;

		if (bytes > length)
			bytes = length;
		if (is_missing(mr, address, bytes)) {
			paging_fault(qp->transport->blocks.paging, mr, address, bytes,
				     stalls && !any ? new_waiter(qp) : NULL);
			any = true;
		}
		offset -= skip;
		length -= bytes;
	}
	return any;
}

bool page_fault_refuses(struct qp *qp, const struct data_segment *segments, uint32_t count,
			uint32_t offset, uint32_t length)
{
	bool missing = fault_in(qp, segments, count, offset, length, false);

	qp->transport->count.page_refusals += missing;
	return missing;
}

bool page_fault_stalls(struct qp *qp, struct send_slot *slot)
{
	sim_time now = sim_now(qp->transport->block.sim);

	if (requester_is_read_or_atomic(slot) ||
	    !fault_in(qp, wqe_segments(&slot->wqe), slot->wqe.segment_count, 0,
		      slot->wqe.length - slot->wqe.inline_bytes, true))
		return false;
	qp->transport->count.page_stalls++;
	qp->requester.page_wait = PAGE_WAIT_DATA;
	if (slot->stages.at[STAGE_GRANT])
		return true;
	if (!slot->stages.at[STAGE_QPC_MISS])
		slot->stages.at[STAGE_SCHEDULING] = now;
	slot->stages.at[STAGE_GRANT] = now;
	return true;
}

bool page_fault_drops(struct qp *qp, struct send_slot *slot, uint32_t offset, uint32_t length)
{
	if (!fault_in(qp, wqe_segments(&slot->wqe), slot->wqe.segment_count, offset, length, true))
		return false;
	qp->transport->count.page_drops++;
	qp->requester.page_wait = PAGE_WAIT_PLACE;
	requester_wait_for_nothing(qp);
	return true;
}

static void note_end(struct qp *qp, uint32_t number)
{
	for (; number != qp->sq.tail; number++) {
		struct latency_stages *stages = &qp_slot(qp, number)->stages;

		if (stages->at[STAGE_GRANT])
			stages->at[STAGE_PAGE_FAULT] = sim_now(qp->transport->block.sim);
	}
}

static void resume(struct paging_waiter *waiter)
{
	struct stalled *stalled = container_of(waiter, struct stalled, waiter);
	struct qp *qp = stalled->qp;
	struct requester *requester = &qp->requester;
	enum page_wait waited = requester->page_wait;

	if (waited != PAGE_WAIT_NOTHING && stalled->epoch == requester->epoch) {
		requester->page_wait = PAGE_WAIT_NOTHING;
		if (waited == PAGE_WAIT_PLACE)
			requester_rewind(qp);
		else
			requester_posted(qp);
		note_end(qp, qp->sq.cursor);
	}
	pool_give(&qp->transport->stalled, stalled);
	qp_drop(qp);
}
