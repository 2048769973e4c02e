/* SPDX-License-Identifier: Apache-2.0 */
/* atomic: see atomic.h. The file follows an atomic: wait for a lock, read, compute, write,
 * unlock. */
#include "hca/transport/atomic.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/opcode.h"
#include "hca/transport/qp.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"

enum { SLAB_REQUESTS = 64 };

struct atomic_request {
	struct atomic_request *next; /* the next request that waits for the lock */
	struct atomic_unit *unit;
	struct atomic_lock *lock;
	struct qp *qp;
	struct data_segment segment;
	uint8_t opcode;
	uint32_t psn, tag, generation;
	uint64_t swap_or_add, compare, original;
	sim_time since;
	bool unlocked; /* the write was passed to PCIe */
	struct event event;
	struct dma dma;
	uint8_t bytes[ATOMIC_BYTES];
};

static void start(struct atomic_request *request);
static void note_waiting(struct atomic_unit *unit, int more);
static void read_old(struct event *event);
static void compute(struct event *event);
static void write_posted(struct dma *dma);
static void written(struct dma *dma);

void atomic_start(struct qp *qp, uint8_t opcode, const struct response *response,
		  uint64_t swap_or_add, uint64_t compare)
{
	struct atomic_unit *unit = &qp->transport->atomics;
	uint64_t locks = qp->transport->params->atomic_locks;
	struct atomic_request *request;

	if (unit->count == ATOMIC_QUEUE) { /* drop it; the requester retries */
		responder_atomic_done(qp, response->psn, true, 0);
		return;
	}
	qp_hold(qp);
	unit->count++;
	request = pool_take_zeroed(&unit->requests);
	request->unit = unit;
	request->lock = &unit->locks[response->address % locks];
	request->qp = qp;
	request->segment = (struct data_segment){response->address, ATOMIC_BYTES, response->rkey};
	request->opcode = opcode;
	request->psn = response->psn;
	request->tag = response->tag;
	request->generation = qp->responder.generation;
	request->swap_or_add = swap_or_add;
	request->compare = compare;
	if (request->lock->last)
		request->lock->last->next = request;
	else
		request->lock->first = request;
	request->lock->last = request;
	request->since = sim_now(qp->transport->block.sim);
	gauge_enter(&qp->transport->gauge.atomics, request->since, 1);
	if (request->lock->first == request) {
		start(request);
	} else {
		qp->transport->count.atomic_waits++;
		note_waiting(unit, +1);
	}
}

static void note_waiting(struct atomic_unit *unit, int more)
{
	unit->waiting += (uint32_t)more;
	gauge_wait(&unit->transport->gauge.atomics, sim_now(unit->transport->block.sim),
		   unit->waiting > 0);
}

static void start(struct atomic_request *request)
{
	struct atomic_unit *unit = request->unit;
	sim_time at = sim_now(unit->transport->block.sim);

	if (at < unit->start_next)
		at = unit->start_next;
	unit->start_next = at + unit->transport->params->atomic_interval;
	gauge_serve(&unit->transport->gauge.atomic_unit, at,
		    unit->transport->params->atomic_interval);
	event_init(&request->event, unit->block, read_old);
	if (at > sim_now(unit->transport->block.sim))
		sim_schedule_at(&request->event, at);
	else
		read_old(&request->event);
}

static void transfer(struct atomic_request *request, enum dma_direction direction,
		     void (*posted)(struct dma *dma), void (*done)(struct dma *dma))
{
	request->dma = (struct dma){
		.segments = &request->segment,
		.segment_count = 1,
		.length = ATOMIC_BYTES,
		.direction = direction,
		.access = MR_REMOTE_ATOMIC,
		.pd = qp_remote_pd(request->qp, request->segment.key),
		.qpn = request->qp->number,
		.tag = request->tag,
		.bytes = request->bytes,
		.posted = posted,
		.done = done,
	};
	dma_start(request->unit->transport->blocks.dma, &request->dma);
}

static void respond(struct atomic_request *request, bool failed)
{
	if (request->generation == request->qp->responder.generation)
		responder_atomic_done(request->qp, request->psn, failed, request->original);
}

/* Starts the next request that waits for the lock. */
static void unlock(struct atomic_request *request)
{
	struct atomic_lock *lock = request->lock;

	assert(lock->first == request);
	request->unlocked = true;
	lock->first = request->next;
	if (lock->first) {
		note_waiting(request->unit, -1);
		start(lock->first);
	} else {
		lock->last = NULL;
	}
}

static void finish(struct atomic_request *request)
{
	struct atomic_unit *unit = request->unit;
	struct qp *qp = request->qp;

	unit->count--;
	gauge_left(&qp->transport->gauge.atomics, request->since, sim_now(qp->transport->block.sim),
		   1);
	pool_give(&unit->requests, request);
	qp_drop(qp);
}

static void gathered(struct dma *dma)
{
	struct atomic_request *request = container_of(dma, struct atomic_request, dma);

	if (dma->status == DMA_OK) {
		event_init(&request->event, request->unit->block, compute);
		sim_schedule(&request->event, request->unit->transport->params->atomic_latency);
		return;
	}
	respond(request, true);
	unlock(request);
	finish(request);
}

static void read_old(struct event *event)
{
	struct atomic_request *request = container_of(event, struct atomic_request, event);

	memset(request->bytes, 0, sizeof(request->bytes));
	transfer(request, DMA_GATHER, NULL, gathered);
}

static uint64_t result_of(const struct atomic_request *request)
{
	if (opcode_info[request->opcode].operation == OP_FETCH_ADD)
		return request->original + request->swap_or_add;
	return request->original == request->compare ? request->swap_or_add : request->original;
}

/* Computes and writes the result. With relaxed ordering a read may pass the write. The lock is then
 * released when the write is visible. */
static void compute(struct event *event)
{
	struct atomic_request *request = container_of(event, struct atomic_request, event);
	bool relaxed = request->unit->transport->facts.relaxed_ordering;

	request->original = le_get(request->bytes, 8);
	le64_put(request->bytes, result_of(request));
	respond(request, false);
	transfer(request, DMA_SCATTER, relaxed ? NULL : write_posted, written);
}

static void write_posted(struct dma *dma)
{
	unlock(container_of(dma, struct atomic_request, dma));
}

static void written(struct dma *dma)
{
	struct atomic_request *request = container_of(dma, struct atomic_request, dma);

	if (!request->unlocked)
		unlock(request);
	finish(request);
}

void atomic_init(struct atomic_unit *unit, struct transport_block *transport, struct block *block)
{
	unit->transport = transport;
	unit->block = block;
	unit->locks = calloc(transport->params->atomic_locks, sizeof(unit->locks[0]));
	assert(unit->locks);
	pool_init(&unit->requests, sizeof(struct atomic_request), SLAB_REQUESTS);
}

void atomic_fini(struct atomic_unit *unit)
{
	for (uint64_t i = 0; i < unit->transport->params->atomic_locks; i++)
		if (unit->locks[i].first)
			sim_cancel(&unit->locks[i].first->event);
	free(unit->locks);
	pool_fini(&unit->requests);
}
