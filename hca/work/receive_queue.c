/* receive_queue: see receive_queue.h. Counts of WQEs run on; doorbell records hold their low 16 bits. */
#include "hca/work/receive_queue.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/bytes.h"
#include "hca/transport/qp.h"
#include "hca/transport/responder.h"
#include "hca/transport/transport.h"
#include "hca/work/completion.h"
#include "hca/work/event_queue.h"
#include "sim/gauge.h"

#define ROW(...)   PARAM_ROW(struct receive_queue_params, __VA_ARGS__)
#define SLAB_WQES  64
#define KEPT_MAX   64
#define NEXT_BYTES 16 /* of the segment that links a shared queue */

/* clang-format off */
const struct param receive_queue_param_list[] = {RECEIVE_QUEUE_PARAMS(ROW) {0}};
enum { RECEIVE_QUEUE_TRACE(TRACE_ENUM) };

static void check(struct block *block, FILE *out);

static const struct block_type receive_queue_type = {
	.name         = "receive_queue",
	.params       = receive_queue_param_list,
	.counters     = (const struct counter[]){RECEIVE_QUEUE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){RECEIVE_QUEUE_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){RECEIVE_QUEUE_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
};
/* clang-format on */

struct receive_queue_gauges {
	RECEIVE_QUEUE_GAUGES(GAUGE_FIELD)
};

struct receive_queues {
	struct block block;
	struct receive_queue_counters count;
	struct receive_queue_gauges gauge;
	struct hca *hca;
	const struct receive_queue_params *params;
	struct pool wqes;
};

struct receive_queue {
	struct receive_queues *owner;
	struct hca_srq_attr attr;
	bool shared;
	bool answering;              /* a waiter takes: the context is at hand */
	struct completion_queue *cq; /* XRC */
	uint32_t number, users;
	uint32_t posted;  /* as far as is known */
	uint32_t fetched; /* arrived */
	uint32_t taken;
	uint32_t generation;
	uint16_t head; /* shared: index of the next to fetch */
	struct receive_wqe *kept_first, *kept_last;
	uint32_t kept_count;
	struct qp *waiting_first, *waiting_last;
	struct qp *flush_for;
	struct qp *error_poll_for; /* cancelled before it goes */
	uint32_t limit;
	bool limit_check, record_busy, wqes_busy, context_busy;
	struct context_lookup lookup;
	sim_time context_asked_at;
	struct event error_poll;
	uint32_t error_polls; /* since one of them found something */
	uint32_t record_generation, wqes_generation;
	struct pcie_read record_read, wqe_read;
	uint8_t record[4];
	uint32_t read_count, read_index;
	uint8_t *bytes; /* of prefetch strides */
};

static void read_record(struct receive_queue *queue);
static void read_wqes(struct receive_queue *queue);
static void flush_known(struct receive_queue *queue);
static void answer_waiters(struct receive_queue *queue, bool none);

static void refill(struct receive_queue *queue)
{
	const struct receive_queue_params *params = queue->owner->params;
	bool wanted = queue->kept_count <= params->low_water || queue->waiting_first;

	if (!wanted || queue->wqes_busy || queue->flush_for || queue->context_busy)
		return;
	if (queue->posted != queue->fetched)
		read_wqes(queue);
	else
		read_record(queue);
}

static void context_arrived(struct context_lookup *lookup)
{
	struct receive_queue *queue = container_of(lookup, struct receive_queue, lookup);
	struct receive_queues *owner = queue->owner;

	owner->count.context_wait_time += sim_now(owner->block.sim) - queue->context_asked_at;
	queue->context_busy = false;
	answer_waiters(queue, false);
	refill(queue);
	receive_queue_drop(queue);
}

/* A ring is part of its QP's context; a shared queue has one of its own. */
static bool has_context(struct receive_queue *queue)
{
	struct receive_queues *owner = queue->owner;
	struct context_cache *contexts = owner->hca->contexts;
	sim_time ready;

	if (!queue->shared || queue->answering)
		return true;
	if (queue->context_busy)
		return false;
	if (context_cache_hit(contexts, CONTEXT_SRQ, queue->number, false, 0, &ready))
		return true;
	owner->count.context_misses++;
	queue->context_busy = true;
	queue->context_asked_at = sim_now(owner->block.sim);
	queue->lookup = (struct context_lookup){
		.number = queue->number,
		.kind = CONTEXT_SRQ,
		.done = context_arrived,
	};
	queue->users++;
	context_cache_lookup(contexts, &queue->lookup);
	return false;
}

/* One responder more that waits, or one fewer. */
static void note_waiters(struct receive_queues *owner, int more)
{
	struct gauge *gauge = &owner->gauge.wqes;
	sim_time now = sim_now(owner->block.sim);

	if (more > 0)
		gauge_enter(gauge, now, 1);
	else
		gauge_leave(gauge, now, 1);
	gauge_wait(gauge, now, gauge->level);
}

static struct receive_wqe *pop_kept(struct receive_queue *queue)
{
	struct receive_wqe *wqe = queue->kept_first;

	queue->kept_first = wqe->next;
	if (!queue->kept_first)
		queue->kept_last = NULL;
	queue->kept_count--;
	gauge_leave(&queue->owner->gauge.kept, sim_now(queue->owner->block.sim), 1);
	return wqe;
}

enum take receive_queue_take(struct receive_queue *queue, struct qp *qp, struct receive_wqe **wqe)
{
	if (!has_context(queue) || !queue->kept_count || queue->waiting_first) {
		qp->responder.next_waiter = NULL;
		qp_hold(qp);
		if (queue->waiting_last)
			queue->waiting_last->responder.next_waiter = qp;
		else
			queue->waiting_first = qp;
		queue->waiting_last = qp;
		queue->owner->count.waits++;
		note_waiters(queue->owner, 1);
		refill(queue);
		return TAKE_WAIT;
	}
	*wqe = pop_kept(queue);
	(*wqe)->users = 1;
	(*wqe)->pd = queue->shared ? queue->attr.pd : qp->attr.pd;
	queue->taken++;
	queue->owner->count.taken++;
	if (queue->limit && queue->posted - queue->taken < queue->limit) {
		queue->limit_check = true;
		read_record(queue);
	}
	refill(queue);
	return TAKE_OK;
}

void receive_queue_release(struct hca *hca, struct receive_wqe *wqe)
{
	assert(wqe->users);
	if (--wqe->users)
		return;
	hca->receive_queues->count.released++;
	pool_give(&hca->receive_queues->wqes, wqe);
}

/* In order; one that takes WQEs again stands at the end. */
static void answer_waiters(struct receive_queue *queue, bool none)
{
	struct qp *last = queue->waiting_last;
	bool more = queue->waiting_first != NULL;

	while (more && (queue->kept_count || none)) {
		struct qp *qp = queue->waiting_first;
		bool empty = !queue->kept_count;

		more = qp != last;
		queue->waiting_first = qp->responder.next_waiter;
		if (!queue->waiting_first)
			queue->waiting_last = NULL;
		note_waiters(queue->owner, -1);
		if (empty)
			queue->owner->count.empty++;

		struct qp *others_first = queue->waiting_first, *others_last = queue->waiting_last;

		queue->waiting_first = queue->waiting_last = NULL; /* it is its turn */
		queue->answering = true;
		responder_wqe_answer(qp, empty);
		queue->answering = false;
		if (others_first) {
			if (queue->waiting_first)
				others_last->responder.next_waiter = queue->waiting_first;
			else
				queue->waiting_last = others_last;
			queue->waiting_first = others_first;
		}
		qp_drop(qp);
	}
}

static void check_limit(struct receive_queue *queue)
{
	if (!queue->limit_check)
		return;
	queue->limit_check = false;
	if (queue->limit && queue->posted - queue->taken < queue->limit) {
		queue->limit = 0;
		event_queue_async(queue->owner->hca->events, ASYNC_SRQ_LIMIT, queue->number);
	}
}

static void record_done(struct pcie_read *read)
{
	struct receive_queue *queue = container_of(read, struct receive_queue, record_read);
	bool stale = queue->record_generation != queue->generation;
	uint32_t before = queue->posted;

	queue->record_busy = false;
	gauge_leave(&queue->owner->gauge.reads, sim_now(queue->owner->block.sim), 1);
	if (!stale && !read->failed) {
		uint16_t posted = (uint16_t)be32_get(queue->record);
		uint16_t ahead = (uint16_t)(posted - (uint16_t)queue->posted);

		if (ahead <= queue->attr.entries)
			queue->posted += ahead;
		trace(&queue->owner->block, TRACE_RECORD, 0, queue->number, queue->posted);
	}
	if (queue->flush_for) {
		flush_known(queue);
	} else if (stale) {
		refill(queue);
	} else {
		check_limit(queue);
		if (queue->posted != before || queue->posted != queue->fetched)
			refill(queue);
		else
			answer_waiters(queue, true);
	}
	receive_queue_drop(queue);
}

static void read_record(struct receive_queue *queue)
{
	if (queue->record_busy)
		return;
	queue->record_busy = true;
	queue->record_generation = queue->generation;
	queue->record_read = (struct pcie_read){
		.memory = queue->attr.memory,
		.address = queue->attr.doorbell_record,
		.length = sizeof(queue->record),
		.bytes = queue->record,
		.done = record_done,
	};
	queue->users++;
	queue->owner->count.record_reads++;
	gauge_enter(&queue->owner->gauge.reads, sim_now(queue->owner->block.sim), 1);
	pcie_read(queue->owner->hca->pcie, &queue->record_read);
}

static void keep(struct receive_queue *queue, uint16_t index, const uint8_t *bytes)
{
	struct receive_wqe *wqe = pool_take(&queue->owner->wqes);
	uint32_t skip = queue->shared ? NEXT_BYTES : 0;

	wqe_parse_receive(bytes + skip, queue->attr.stride_bytes - skip, wqe);
	wqe->index = index;
	if (queue->kept_last)
		queue->kept_last->next = wqe;
	else
		queue->kept_first = wqe;
	queue->kept_last = wqe;
	queue->kept_count++;
	gauge_enter(&queue->owner->gauge.kept, sim_now(queue->owner->block.sim), 1);
	queue->fetched++;
	queue->owner->count.wqes++;
}

/* A ring's WQEs lie side by side; a list's usually do, and are followed as far as they do. */
static void keep_read(struct receive_queue *queue)
{
	uint32_t available = queue->posted - queue->fetched;

	for (uint32_t i = 0; i < queue->read_count && i < available; i++) {
		uint32_t at = queue->shared ? queue->head - queue->read_index : i;
		const uint8_t *bytes = queue->bytes + (size_t)at * queue->attr.stride_bytes;

		if (at >= queue->read_count)
			break;
		keep(queue, queue->shared ? queue->head : (uint16_t)queue->fetched, bytes);
		if (queue->shared)
			queue->head = wqe_next_index(bytes);
	}
}

static void wqes_done(struct pcie_read *read)
{
	struct receive_queue *queue = container_of(read, struct receive_queue, wqe_read);

	queue->wqes_busy = false;
	gauge_leave(&queue->owner->gauge.reads, sim_now(queue->owner->block.sim), 1);
	if (queue->flush_for) {
		read_record(queue);
	} else if (queue->wqes_generation != queue->generation) {
		refill(queue);
	} else if (read->failed) {
		event_queue_async(queue->owner->hca->events, ASYNC_SRQ_ERROR, queue->number);
		answer_waiters(queue, true);
	} else {
		keep_read(queue);
		trace(&queue->owner->block, TRACE_FETCHED, 0, queue->number, queue->kept_count);
		answer_waiters(queue, false);
		refill(queue);
	}
	receive_queue_drop(queue);
}

static void read_wqes(struct receive_queue *queue)
{
	const struct receive_queue_params *params = queue->owner->params;
	uint32_t mask = queue->attr.entries - 1;
	uint32_t at = queue->shared ? queue->head & mask : queue->fetched & mask;
	uint32_t wqes = (uint32_t)params->prefetch;

	if (wqes > queue->posted - queue->fetched)
		wqes = queue->posted - queue->fetched;
	if (wqes > queue->attr.entries - at)
		wqes = queue->attr.entries - at;
	if (wqes > KEPT_MAX - queue->kept_count)
		wqes = KEPT_MAX - queue->kept_count;
	queue->wqes_busy = true;
	queue->wqes_generation = queue->generation;
	queue->read_count = wqes;
	queue->read_index = at;
	queue->wqe_read = (struct pcie_read){
		.memory = queue->attr.memory,
		.address = queue->attr.buffer + (uint64_t)at * queue->attr.stride_bytes,
		.length = wqes * queue->attr.stride_bytes,
		.bytes = queue->bytes,
		.done = wqes_done,
	};
	queue->users++;
	queue->owner->count.wqe_reads++;
	gauge_enter(&queue->owner->gauge.reads, sim_now(queue->owner->block.sim), 1);
	pcie_read(queue->owner->hca->pcie, &queue->wqe_read);
}

/* ---- flush, reset ---- */

/* Nobody tells the adapter of a receive WQE, and a queue pair in ERR takes none: the record is looked at again, half
 * as often each time nothing is found. */
static void poll_later(struct receive_queue *queue, struct qp *qp)
{
	const struct receive_queue_params *params = queue->owner->params;

	if (qp->state.state != STATE_ERR || qp->destroyed || event_pending(&queue->error_poll) ||
	    queue->error_polls >= params->error_polls)
		return;
	queue->error_poll_for = qp;
	sim_schedule(&queue->error_poll, params->error_poll << queue->error_polls++);
}

static void error_poll(struct event *event)
{
	struct receive_queue *queue = container_of(event, struct receive_queue, error_poll);

	receive_queue_flush(queue, queue->error_poll_for);
}

static void flush_known(struct receive_queue *queue)
{
	struct qp *qp = queue->flush_for;

	queue->flush_for = NULL;
	while (qp->state.state == STATE_ERR && queue->taken != queue->posted) {
		struct completion completion = {
			.opcode = CQE_RECEIVE_ERROR,
			.status = WORK_FLUSHED,
			.wqe_counter = (uint16_t)queue->taken++,
			.qpn = qp->number,
			.user_index = qp->attr.user_index,
		};

		qp->hca->transport->count.wqes_flushed++;
		qp->hca->transport->count.receives_flushed++;
		completion_write(qp->recv_cq, &completion, 0);
		queue->error_polls = 0;
	}
	queue->fetched = queue->posted;
	poll_later(queue, qp);
	qp_drop(qp);
}

static void drop_kept(struct receive_queue *queue)
{
	queue->owner->count.dropped += queue->kept_count;
	while (queue->kept_count)
		pool_give(&queue->owner->wqes, pop_kept(queue));
}

void receive_queue_flush(struct receive_queue *queue, struct qp *qp)
{
	receive_queue_forget_waiter(queue, qp);
	if (queue->shared || queue->flush_for)
		return;
	drop_kept(queue);
	qp_hold(qp);
	queue->flush_for = qp;
	if (!queue->wqes_busy)
		read_record(queue);
}

void receive_queue_forget_waiter(struct receive_queue *queue, struct qp *qp)
{
	struct qp *previous = NULL;

	if (!qp->responder.waits_for_wqe)
		return;
	qp->responder.waits_for_wqe = false;
	for (struct qp *other = queue->waiting_first; other;
	     previous = other, other = other->responder.next_waiter) {
		if (other != qp)
			continue;
		if (previous)
			previous->responder.next_waiter = qp->responder.next_waiter;
		else
			queue->waiting_first = qp->responder.next_waiter;
		if (queue->waiting_last == qp)
			queue->waiting_last = previous;
		note_waiters(queue->owner, -1);
		qp_drop(qp);
		return;
	}
}

void receive_queue_reset(struct receive_queue *queue, struct qp *qp)
{
	receive_queue_forget_waiter(queue, qp);
	drop_kept(queue);
	sim_cancel(&queue->error_poll);
	queue->error_polls = 0;
	queue->generation++;
	queue->posted = queue->fetched = queue->taken = 0;
	if (queue->flush_for)
		qp_drop(queue->flush_for);
	queue->flush_for = NULL;
}

void receive_queue_number(struct receive_queue *queue, uint32_t number)
{
	queue->number = number;
}

void receive_queue_arm(struct receive_queue *queue, uint32_t limit)
{
	queue->limit = limit;
	if (!limit)
		return;
	queue->limit_check = true;
	read_record(queue);
}

uint32_t receive_queue_limit(const struct receive_queue *queue)
{
	return queue->limit;
}

/* ---- create, destroy ---- */

struct receive_queue *receive_queue_create(struct receive_queues *queues,
					   const struct hca_srq_attr *attr, bool shared)
{
	struct receive_queue *queue = calloc(1, sizeof(*queue));

	assert(queue);
	queue->owner = queues;
	queue->attr = *attr;
	queue->shared = shared;
	if (attr->xrc) {
		queue->cq = number_table_find(&queues->hca->cqs, attr->cqn);
		completion_queue_hold(queue->cq);
	}
	queue->users = 1;
	event_init(&queue->error_poll, &queues->block, error_poll);
	queue->limit = attr->limit;
	queue->bytes = calloc(queues->params->prefetch, attr->stride_bytes);
	assert(queue->bytes);
	return queue;
}

void receive_queue_close(struct receive_queue *queue)
{
	queue->attr.xrc = false;
	queue->generation++;
	answer_waiters(queue, true);
}

struct completion_queue *receive_queue_cq(const struct receive_queue *queue)
{
	return queue->cq;
}

uint32_t receive_queue_user_index(const struct receive_queue *queue)
{
	return queue->attr.user_index;
}

bool receive_queue_serves(const struct receive_queue *queue, uint32_t xrcd)
{
	return queue->attr.xrc && queue->attr.xrcd == xrcd;
}

void receive_queue_hold_queue(struct receive_queue *queue)
{
	queue->users++;
}

void receive_queue_drop(struct receive_queue *queue)
{
	assert(queue->users);
	if (--queue->users)
		return;
	drop_kept(queue);
	if (queue->cq)
		completion_queue_drop(queue->cq);
	free(queue->bytes);
	free(queue);
}

static void check(struct block *block, FILE *out)
{
	const struct receive_queues *queues = container_of(block, struct receive_queues, block);
	const struct receive_queue_counters *count = &queues->count;

	block_equal(block, out, "WQEs, and those taken, dropped and kept", count->wqes,
		    count->taken + count->dropped + queues->gauge.kept.level);
	block_equal(block, out, "WQEs in use, and those taken, dropped and kept",
		    queues->wqes.in_use, queues->gauge.kept.level + count->taken - count->released);
}

struct receive_queues *receive_queues_create(struct hca *hca, const char *name)
{
	struct receive_queues *queues = calloc(1, sizeof(*queues));

	assert(queues);
	queues->hca = hca;
	queues->params = &hca->params.receive_queue;
	block_init(&queues->block, hca->sim, &receive_queue_type, name, queues->params,
		   (const uint64_t *)&queues->count);
	block_gauges(&queues->block, (struct gauge *)&queues->gauge);
	pool_init(&queues->wqes, sizeof(struct receive_wqe), SLAB_WQES);
	return queues;
}

void receive_queues_destroy(struct receive_queues *queues)
{
	pool_fini(&queues->wqes);
	block_fini(&queues->block);
	free(queues);
}

const struct receive_queue_counters *receive_queues_counters(const struct receive_queues *queues)
{
	return &queues->count;
}
