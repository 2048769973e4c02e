/* atomic: see atomic.h. The request at the queue's front is under way until its write is done. */
#include "hca/transport/atomic.h"

#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/qp.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"

static void start_front(struct atomic_unit *unit);

static void transfer(struct atomic_unit *unit, enum dma_direction direction,
		     void (*done)(struct dma *dma))
{
	struct atomic_request *request = &unit->queue[unit->first];

	unit->dma = (struct dma){
		.segments = &request->segment,
		.segment_count = 1,
		.length = ATOMIC_BYTES,
		.direction = direction,
		.access = MR_REMOTE_ATOMIC,
		.pd = request->qp->attr.pd,
		.qpn = request->qp->number,
		.tag = request->tag,
		.bytes = unit->bytes,
		.done = done,
	};
	dma_start(unit->hca->dma, &unit->dma);
}

static void answer(struct atomic_unit *unit, bool failed)
{
	struct atomic_request *request = &unit->queue[unit->first];

	if (request->generation == request->qp->responder.generation)
		responder_atomic_done(request->qp, request->psn, failed, unit->original);
}

static void next(struct atomic_unit *unit)
{
	struct qp *qp = unit->queue[unit->first].qp;

	unit->first = (unit->first + 1) % ATOMIC_QUEUE;
	unit->count--;
	if (unit->count)
		start_front(unit);
	qp_drop(qp);
}

static void written(struct dma *dma)
{
	next(container_of(dma, struct atomic_unit, dma));
}

static uint64_t result_of(const struct atomic_request *request, uint64_t original)
{
	if (opcode_info[request->opcode].operation == OP_FETCH_ADD)
		return original + request->swap_or_add;
	return original == request->compare ? request->swap_or_add : original;
}

static void compute(struct event *event)
{
	struct atomic_unit *unit = container_of(event, struct atomic_unit, compute);

	unit->original = le_get(unit->bytes, 8);
	le64_put(unit->bytes, result_of(&unit->queue[unit->first], unit->original));
	answer(unit, false);
	transfer(unit, DMA_SCATTER, written);
}

static void gathered(struct dma *dma)
{
	struct atomic_unit *unit = container_of(dma, struct atomic_unit, dma);

	if (dma->status == DMA_OK) {
		sim_schedule(&unit->compute, unit->hca->params.transport.atomic_latency);
		return;
	}
	answer(unit, true);
	next(unit);
}

static void start_front(struct atomic_unit *unit)
{
	memset(unit->bytes, 0, sizeof(unit->bytes));
	transfer(unit, DMA_GATHER, gathered);
}

void atomic_start(struct qp *qp, uint8_t opcode, const struct response *response,
		  uint64_t swap_or_add, uint64_t compare)
{
	struct atomic_unit *unit = &qp->hca->transport->atomics;
	struct atomic_request *request = &unit->queue[(unit->first + unit->count) % ATOMIC_QUEUE];

	if (unit->count == ATOMIC_QUEUE) { /* as if lost: the requester asks again */
		responder_atomic_done(qp, response->psn, true, 0);
		return;
	}
	qp_hold(qp);
	*request = (struct atomic_request){
		.qp = qp,
		.segment = {response->address, ATOMIC_BYTES, response->rkey},
		.opcode = opcode,
		.psn = response->psn,
		.tag = response->tag,
		.generation = qp->responder.generation,
		.swap_or_add = swap_or_add,
		.compare = compare,
	};
	if (unit->count++ == 0)
		start_front(unit);
}

void atomic_init(struct atomic_unit *unit, struct hca *hca, struct block *block)
{
	unit->hca = hca;
	event_init(&unit->compute, block, compute);
}

void atomic_fini(struct atomic_unit *unit)
{
	sim_cancel(&unit->compute);
}
