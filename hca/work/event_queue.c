/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue: see event_queue.h. Reads in the order of an event: what holds it back, its EQE, the interrupt, the handler.
 */
#include "hca/work/event_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/pcie.h"
#include "sim/audit.h"
#include "sim/gauge.h"
#include "sim/pool.h"

#define ROW(...)        PARAM_ROW(struct event_queue_params, __VA_ARGS__)
#define SLAB_NOTICES    64
#define KIND_COMPLETION 255
#define EQE_BYTES       64
#define MSI_BYTES       4
#define QUEUE_ENTRIES   4096
#define QUEUE_ADDRESS   UINT64_C(0x100000)   /* of the driver's own memory */
#define MSI_ADDRESS     UINT64_C(0xfee00000) /* the interrupt controllers of x86 */

/* clang-format off */
const struct param event_queue_param_list[] = {EVENT_QUEUE_PARAMS(ROW) {0}};
enum { EVENT_QUEUE_TRACE(TRACE_ENUM) };

static void check(struct block *block, FILE *out);
static void audit(struct block *block, FILE *out);

static const struct block_type event_queue_type = {
	.name         = "event_queue",
	.params       = event_queue_param_list,
	.counters     = (const struct counter[]){EVENT_QUEUE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){EVENT_QUEUE_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){EVENT_QUEUE_GAUGES(GAUGE_ENTRY) {0}},
	.check        = check,
	.audit        = audit,
};
/* clang-format on */

struct notice {
	struct notice *next;
	struct event_queue *queue;
	struct pcie_write write; /* of its EQE */
	sim_time since;
	uint32_t kind, number;
	bool visible;
};

struct event_queue_gauges {
	EVENT_QUEUE_GAUGES(GAUGE_FIELD)
};

struct event_queue {
	struct block block;
	struct event_queue_counters count;
	struct event_queue_gauges gauge;
	struct pcie *pcie;
	struct hca_driver *driver;
	const struct event_queue_params *params;
	struct pool notices;
	struct notice *first, *last; /* in the order of their EQEs */
	uint64_t produced;
	bool raised; /* an interrupt is on its way, or its handler runs */
	struct pcie_write msi;
	struct event handler; /* takes the next event, or ends */
};

static void raise(struct event_queue *queue);

/* ---- moderation ---- */

static void leave(struct moderation *moderation);

static bool is_moderated(const struct moderation *moderation)
{
	return moderation->count && moderation->period;
}

/* The time from which the period runs, for the first completion that waits. */
static sim_time begin_of_period(const struct moderation *moderation, sim_time now)
{
	if (moderation->queue->params->moderation_from == MODERATION_FROM_CQE)
		return now;
	return moderation->last_event;
}

void moderation_note(struct moderation *moderation)
{
	struct event_queue *queue = moderation->queue;
	sim_time now = sim_now(queue->block.sim), begin;

	moderation->waiting++;
	if (!is_moderated(moderation)) {
		leave(moderation);
		return;
	}
	begin = begin_of_period(moderation, now);
	if (moderation->waiting >= moderation->count) {
		queue->count.by_count++;
		leave(moderation);
	} else if (begin == SIM_NEVER || begin + moderation->period <= now) {
		queue->count.by_period++;
		leave(moderation);
	} else {
		queue->count.moderated++;
		trace(&queue->block, TRACE_MODERATE, 0, moderation->cqn, moderation->waiting);
		if (moderation->waiting == 1) {
			gauge_enter(&queue->gauge.moderation, now, 1);
			gauge_wait(&queue->gauge.moderation, now, true);
		}
		timer_arm(&moderation->timer, begin + moderation->period - now);
	}
}

static void stop_waiting(struct moderation *moderation)
{
	struct event_queue *queue = moderation->queue;
	sim_time now = sim_now(queue->block.sim);

	if (timer_armed(&moderation->timer)) {
		timer_disarm(&moderation->timer);
		gauge_leave(&queue->gauge.moderation, now, 1);
		gauge_wait(&queue->gauge.moderation, now, queue->gauge.moderation.level != 0);
	}
	moderation->waiting = 0;
}

static void enqueue(struct event_queue *queue, uint32_t kind, uint32_t number);

static void leave(struct moderation *moderation)
{
	stop_waiting(moderation);
	moderation->last_event = sim_now(moderation->queue->block.sim);
	moderation->due(moderation);
	enqueue(moderation->queue, KIND_COMPLETION, moderation->cqn);
}

static void expire(struct timer *timer)
{
	struct moderation *moderation = container_of(timer, struct moderation, timer);
	struct event_queue *queue = moderation->queue;
	sim_time now = sim_now(queue->block.sim);

	queue->count.by_period++;
	gauge_leave(&queue->gauge.moderation, now, 1);
	gauge_wait(&queue->gauge.moderation, now, queue->gauge.moderation.level != 0);
	leave(moderation);
}

void moderation_set(struct moderation *moderation, uint32_t count, sim_time period)
{
	bool owed = moderation->waiting != 0;

	moderation->count = count;
	moderation->period = period;
	if (owed)
		leave(moderation);
}

void moderation_init(struct moderation *moderation, struct event_queue *queue,
		     void (*due)(struct moderation *moderation))
{
	moderation->queue = queue;
	moderation->count = (uint32_t)queue->params->moderation_count;
	moderation->period = queue->params->moderation_period;
	moderation->last_event = SIM_NEVER;
	moderation->due = due;
	timer_init(&moderation->timer, &queue->block, expire);
}

void moderation_close(struct moderation *moderation)
{
	stop_waiting(moderation);
}

/* ---- EQEs ---- */

static void eqe_visible(struct pcie_write *write)
{
	container_of(write, struct notice, write)->visible = true;
}

static void enqueue(struct event_queue *queue, uint32_t kind, uint32_t number)
{
	struct notice *notice = pool_take_zeroed(&queue->notices);

	notice->since = sim_now(queue->block.sim);
	gauge_enter(&queue->gauge.queue, notice->since, 1);
	notice->queue = queue;
	notice->kind = kind;
	notice->number = number;
	if (queue->last)
		queue->last->next = notice;
	else
		queue->first = notice;
	queue->last = notice;
	notice->write = (struct pcie_write){
		.memory = memory_none(),
		.address = QUEUE_ADDRESS + queue->produced++ % QUEUE_ENTRIES * EQE_BYTES,
		.length = EQE_BYTES,
		.done = eqe_visible,
	};
	pcie_write(queue->pcie, &notice->write);
	if (queue->raised)
		queue->count.shared++;
	else
		raise(queue);
}

void event_queue_async(struct event_queue *queue, enum hca_async what, uint32_t number)
{
	enqueue(queue, what, number);
}

/* ---- the interrupt ---- */

static void msi_visible(struct pcie_write *write)
{
	struct event_queue *queue = container_of(write, struct event_queue, msi);

	sim_schedule(&queue->handler, queue->params->latency);
}

static void raise(struct event_queue *queue)
{
	queue->raised = true;
	queue->count.interrupts++;
	trace(&queue->block, TRACE_INTERRUPT, 0, queue->gauge.queue.level, queue->count.interrupts);
	queue->msi = (struct pcie_write){
		.memory = memory_none(),
		.address = MSI_ADDRESS,
		.length = MSI_BYTES,
		.done = msi_visible,
	};
	pcie_write(queue->pcie, &queue->msi);
}

static struct notice pop(struct event_queue *queue)
{
	struct notice *first = queue->first;
	struct notice notice = *first;

	gauge_left(&queue->gauge.queue, notice.since, sim_now(queue->block.sim), 1);
	queue->first = first->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(&queue->notices, first);
	return notice;
}

/* Arms the queue behind what it saw; an EQE that it did not see raises another interrupt. */
static void end_handler(struct event_queue *queue)
{
	queue->raised = false;
	if (queue->first)
		raise(queue);
}

static void handle(struct event *event)
{
	struct event_queue *queue = container_of(event, struct event_queue, handler);
	struct hca_driver *driver = queue->driver;
	struct notice notice;

	if (!queue->first || !queue->first->visible) {
		end_handler(queue);
		return;
	}
	notice = pop(queue);
	gauge_serve(&queue->gauge.raiser, sim_now(queue->block.sim), queue->params->interval);
	sim_schedule(&queue->handler, queue->params->interval);
	trace(&queue->block, TRACE_EVENT, 0, notice.kind, notice.number);
	if (notice.kind == KIND_COMPLETION) {
		queue->count.completions++;
		driver->completion_event(driver, notice.number);
	} else {
		queue->count.asyncs++;
		driver->async_event(driver, (enum hca_async)notice.kind, notice.number);
	}
}

/* ---- the queue ---- */

static void check(struct block *block, FILE *out)
{
	const struct event_queue *queue = container_of(block, struct event_queue, block);

	block_equal(block, out, "EQEs written, and events taken and on their way", queue->produced,
		    queue->count.completions + queue->count.asyncs + queue->gauge.queue.level);
}

static void audit(struct block *block, FILE *out)
{
	const struct event_queue *queue = container_of(block, struct event_queue, block);

	audit_service(block, out, &queue->gauge.raiser,
		      queue->count.completions + queue->count.asyncs, queue->params->interval);
}

struct event_queue *event_queue_create(struct sim *sim, const char *name,
				       const struct event_queue_params *params, struct pcie *pcie,
				       struct hca_driver *driver)
{
	struct event_queue *queue = calloc(1, sizeof(*queue));

	assert(queue);
	queue->pcie = pcie;
	queue->driver = driver;
	queue->params = params;
	block_init(&queue->block, sim, &event_queue_type, name, queue->params,
		   (const uint64_t *)&queue->count);
	block_gauges(&queue->block, (struct gauge *)&queue->gauge);
	queue->gauge.raiser.capacity = 1;
	pool_init(&queue->notices, sizeof(struct notice), SLAB_NOTICES);
	event_init(&queue->handler, &queue->block, handle);
	return queue;
}

void event_queue_destroy(struct event_queue *queue)
{
	sim_cancel(&queue->handler);
	pool_fini(&queue->notices);
	block_fini(&queue->block);
	free(queue);
}

const struct event_queue_counters *event_queue_counters(const struct event_queue *queue)
{
	return &queue->count;
}
