/* SPDX-License-Identifier: Apache-2.0 */
/* receive_queue: see receive_queue.h. Numbers of WQEs do not wrap; doorbell records hold their low
 * 16 bits. */
#include "hca/work/receive_queue_state.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/work/completion.h"
#include "sim/number_table.h"

#define ROW(...)  PARAM_ROW(struct receive_queue_params, __VA_ARGS__)
#define SLAB_WQES 64

/* clang-format off */
const struct param receive_queue_param_list[] = {RECEIVE_QUEUE_PARAMS(ROW) {0}};

static void check(struct block *block, FILE *out);
static void audit(struct block *block, FILE *out);

static const struct block_type receive_queue_type = {
	.name         = "receive_queue",
	.params       = receive_queue_param_list,
	.counters     = (const struct counter[]){RECEIVE_QUEUE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){RECEIVE_QUEUE_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){RECEIVE_QUEUE_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
	.audit        = audit,
};
/* clang-format on */

static void context_arrived(struct context_lookup *lookup)
{
	struct receive_queue *queue = container_of(lookup, struct receive_queue, lookup);
	struct receive_queues *owner = queue->owner;

	owner->count.context_wait_time += sim_now(owner->block.sim) - queue->context_asked_at;
	queue->context_busy = false;
	receive_queue_serve(queue);
	receive_queue_refill(queue);
	receive_queue_drop(queue);
}

/* Returns true if the queue's context is cached. A ring is part of its QP's context. A shared queue
 * has its own context. */
static bool has_context(struct receive_queue *queue)
{
	struct receive_queues *owner = queue->owner;
	struct context_cache *contexts = owner->blocks->contexts;
	sim_time ready;

	if (!queue->shared || queue->serving)
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

/* Updates the gauge of waiting responders at the start and at the end of a wait. */
static void begin_wait(struct receive_queues *owner, struct receive_waiter *waiter)
{
	waiter->since = sim_now(owner->block.sim);
	gauge_enter(&owner->gauge.wqes, waiter->since, 1);
	gauge_wait(&owner->gauge.wqes, waiter->since, true);
}

static void end_wait(struct receive_queues *owner, const struct receive_waiter *waiter)
{
	struct gauge *gauge = &owner->gauge.wqes;
	sim_time now = sim_now(owner->block.sim);

	gauge_left(gauge, waiter->since, now, 1);
	gauge_wait(gauge, now, gauge->level);
}

struct receive_wqe *receive_queue_pop(struct receive_queue *queue)
{
	struct receive_wqe *wqe = queue->kept_first;

	queue->kept_first = wqe->next;
	if (!queue->kept_first)
		queue->kept_last = NULL;
	queue->kept_count--;
	gauge_left(&queue->owner->gauge.kept, wqe->kept_since, sim_now(queue->owner->block.sim), 1);
	return wqe;
}

enum take receive_queue_take(struct receive_queue *queue, struct receive_waiter *waiter,
			     struct receive_wqe **wqe)
{
	if (!has_context(queue) || queue->waiting_first || !receive_queue_has_next(queue)) {
		waiter->next = NULL;
		waiter->waits = true;
		queue->owner->blocks->user->hold(waiter);
		if (queue->waiting_last)
			queue->waiting_last->next = waiter;
		else
			queue->waiting_first = waiter;
		queue->waiting_last = waiter;
		queue->owner->count.waits++;
		begin_wait(queue->owner, waiter);
		receive_queue_refill(queue);
		return TAKE_WAIT;
	}
	*wqe = receive_queue_pop(queue);
	(*wqe)->users = 1;
	(*wqe)->pd = queue->attr.pd;
	(*wqe)->sequence = queue->taken++;
	queue->owner->count.taken++;
	if (queue->limit && queue->posted - queue->taken < queue->limit) {
		queue->limit_check = true;
		receive_queue_read_record(queue);
	}
	receive_queue_refill(queue);
	return TAKE_OK;
}

bool receive_queue_is_open(const struct receive_queue *queue, const struct receive_waiter *waiter,
			   uint32_t sequence)
{
	uint32_t next = queue->shared ? waiter->next_sequence : queue->completed;

	/* 0 of a shared queue: the queue pair has taken no WQE yet */
	return (queue->shared && !next) || (int32_t)(sequence - next) >= 0;
}

void receive_queue_complete(struct receive_queue *queue, struct receive_waiter *waiter,
			    uint32_t sequence, bool ends)
{
	uint32_t *next = queue->shared ? &waiter->next_sequence : &queue->completed;
	bool later = queue->shared && receive_queue_is_open(queue, waiter, sequence);

	assert((int32_t)(queue->taken - sequence) > 0);
	audit_order_expect(&queue->owner->order, sim_now(queue->owner->block.sim), queue->number,
			   later ? sequence : *next, sequence);
	*next = sequence + ends;
}

void receive_queue_release(struct receive_queues *queues, struct receive_wqe *wqe)
{
	assert(wqe->users);
	if (--wqe->users)
		return;
	queues->count.released++;
	pool_give(&queues->wqes, wqe);
}

void receive_queue_count_strides(struct receive_queues *queues, uint32_t taken, uint32_t skipped)
{
	queues->count.strides += taken;
	queues->count.skipped += skipped;
}

/* Serves waiters in order. A waiter that waits again goes to the end of the list. */
static void serve(struct receive_queue *queue, bool all)
{
	const struct receive_queue_user *user = queue->owner->blocks->user;
	struct receive_waiter *last = queue->waiting_last;
	bool more = queue->waiting_first;

	while (more && (queue->kept_count || all)) {
		struct receive_waiter *waiter = queue->waiting_first;
		bool empty = !queue->kept_count;

		more = waiter != last;
		queue->waiting_first = waiter->next;
		waiter->waits = false;
		if (!queue->waiting_first)
			queue->waiting_last = NULL;
		end_wait(queue->owner, waiter);
		if (empty)
			queue->owner->count.empty++;

		struct receive_waiter *others_first = queue->waiting_first,
				      *others_last = queue->waiting_last;

		/* the waiter that is served is first in line */
		queue->waiting_first = queue->waiting_last = NULL;
		queue->serving = true;
		if (empty)
			user->missing(waiter);
		else
			user->came(waiter);
		queue->serving = false;
		if (others_first) {
			if (queue->waiting_first)
				others_last->next = queue->waiting_first;
			else
				queue->waiting_last = others_last;
			queue->waiting_first = others_first;
		}
		user->drop(waiter);
	}
}

void receive_queue_serve(struct receive_queue *queue)
{
	serve(queue, false);
}

void receive_queue_serve_all(struct receive_queue *queue)
{
	serve(queue, true);
}

void receive_queue_forget_waiter(struct receive_queue *queue, struct receive_waiter *waiter)
{
	struct receive_waiter *previous = NULL;

	if (!waiter->waits)
		return;
	waiter->waits = false;
	for (struct receive_waiter *other = queue->waiting_first; other;
	     previous = other, other = other->next) {
		if (other != waiter)
			continue;
		if (previous)
			previous->next = waiter->next;
		else
			queue->waiting_first = waiter->next;
		if (queue->waiting_last == waiter)
			queue->waiting_last = previous;
		end_wait(queue->owner, waiter);
		if (queue->lines && queue->lines->asked)
			queue->lines->asked--;
		queue->owner->blocks->user->drop(waiter);
		return;
	}
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
	receive_queue_read_record(queue);
}

uint32_t receive_queue_limit(const struct receive_queue *queue)
{
	return queue->limit;
}

/* ---- creation and destruction ---- */

static struct receive_queue *create(struct receive_queues *queues, const struct hca_srq_attr *attr,
				    bool shared)
{
	struct receive_queue *queue = calloc(1, sizeof(*queue));

	assert(queue);
	queue->owner = queues;
	queue->attr = *attr;
	queue->shared = shared;
	if (attr->xrc) {
		queue->cq = number_table_find(queues->blocks->cqs, attr->cqn);
		completion_queue_hold(queue->cq);
	}
	queue->users = 1;
	queue->next = queues->queues;
	queue->link = &queues->queues;
	if (queue->next)
		queue->next->link = &queue->next;
	queues->queues = queue;
	event_init(&queue->error_poll, &queues->block, receive_queue_poll);
	queue->limit = attr->limit;
	receive_queue_add_lines(queue);
	return queue;
}

struct receive_queue *receive_queue_create_ring(struct receive_queues *queues,
						const struct hca_srq_attr *attr)
{
	return create(queues, attr, false);
}

struct receive_queue *receive_queue_create_shared(struct receive_queues *queues,
						  const struct hca_srq_attr *attr)
{
	return create(queues, attr, true);
}

void receive_queue_close(struct receive_queue *queue)
{
	queue->attr.xrc = false;
	queue->generation++;
	receive_queue_serve_all(queue);
}

struct completion_queue *receive_queue_cq(const struct receive_queue *queue)
{
	return queue->cq;
}

uint32_t receive_queue_user_index(const struct receive_queue *queue)
{
	return queue->attr.user_index;
}

uint32_t receive_queue_pd(const struct receive_queue *queue)
{
	return queue->attr.pd;
}

bool receive_queue_serves(const struct receive_queue *queue, uint32_t xrcd)
{
	return queue->attr.xrc && queue->attr.xrcd == xrcd;
}

void receive_queue_hold_queue(struct receive_queue *queue)
{
	queue->users++;
}

static void free_queue(struct receive_queue *queue)
{
	*queue->link = queue->next;
	if (queue->next)
		queue->next->link = queue->link;
	receive_queue_drop_kept(queue);
	if (queue->cq)
		completion_queue_drop(queue->cq);
	receive_queue_remove_lines(queue);
	free(queue);
}

void receive_queue_drop(struct receive_queue *queue)
{
	assert(queue->users);
	if (--queue->users == 0)
		free_queue(queue);
}

static void check(struct block *block, FILE *out)
{
	const struct receive_queues *queues = container_of(block, struct receive_queues, block);
	const struct receive_queue_counters *count = &queues->count;

	block_equal(block, out, "WQEs = taken + dropped + kept", count->wqes,
		    count->taken + count->dropped + queues->gauge.kept.level);
	block_equal(block, out, "WQEs in use = taken and not released + kept", queues->wqes.in_use,
		    queues->gauge.kept.level + count->taken - count->released);
}

static void audit(struct block *block, FILE *out)
{
	const struct receive_queues *queues = container_of(block, struct receive_queues, block);

	audit_order(block, out, &queues->order, "WQEs of a receive queue");
}

struct receive_queues *receive_queues_create(struct sim *sim, const char *name,
					     const struct receive_queue_params *params,
					     const struct receive_queues_blocks *blocks)
{
	struct receive_queues *queues = calloc(1, sizeof(*queues));

	assert(queues);
	queues->blocks = blocks;
	queues->params = params;
	block_init(&queues->block, sim, &receive_queue_type, name, queues->params,
		   (const uint64_t *)&queues->count);
	block_gauges(&queues->block, (struct gauge *)&queues->gauge);
	pool_init(&queues->wqes, sizeof(struct receive_wqe), SLAB_WQES);
	return queues;
}

void receive_queues_destroy(struct receive_queues *queues)
{
	while (queues->queues) /* closed queues that fetches still use at the end of the run */
		free_queue(queues->queues);
	pool_fini(&queues->wqes);
	block_fini(&queues->block);
	free(queues);
}

const struct receive_queue_counters *receive_queues_counters(const struct receive_queues *queues)
{
	return &queues->count;
}
