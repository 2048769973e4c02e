/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_queue: see event_queue.h. The file follows an event: moderation, its EQE, the interrupt,
 * the handler.
 */
#include "hca/work/event_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/host/pcie.h"
#include "sim/audit.h"
#include "sim/gauge.h"
#include "sim/pool.h"

#define ROW(...)        PARAM_ROW(struct event_queue_params, __VA_ARGS__)
#define SLAB_EQES       64
#define KIND_COMPLETION 255
#define EQE_BYTES       64
#define MSI_BYTES       4
#define QUEUE_ENTRIES   4096
#define QUEUE_ADDRESS   UINT64_C(0x100000)   /* in the driver's own memory */
#define MSI_ADDRESS     UINT64_C(0xfee00000) /* interrupt controllers of x86 */

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

struct eqe {
	struct eqe *next;
	struct event_queue *queue;
	struct pcie_write write; /* write of the EQE */
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
	struct pool eqes;
	struct eqe *first, *last; /* in the order of the EQEs */
	uint64_t produced;
	bool raised; /* an interrupt is in flight, or its handler runs */
	struct pcie_write msi;
	struct event handler; /* takes the next event, or ends the handler */
};

static void raise_interrupt(struct event_queue *queue);

/* ---- moderation ---- */

static void leave(struct moderation *moderation);

static bool is_moderated(const struct moderation *moderation)
{
	return moderation->count && moderation->period;
}

/* Returns the start of the moderation period for the first waiting completion. */
static sim_time begin_of_period(const struct moderation *moderation, sim_time now)
{
	if (moderation->queue->params->moderation_from == MODERATION_FROM_CQE)
		return now;
	return moderation->last_event;
}

void event_queue_moderation_note(struct moderation *moderation)
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
			moderation->since = now;
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
		gauge_left(&queue->gauge.moderation, moderation->since, now, 1);
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
	gauge_left(&queue->gauge.moderation, moderation->since, now, 1);
	gauge_wait(&queue->gauge.moderation, now, queue->gauge.moderation.level != 0);
	leave(moderation);
}

void event_queue_moderation_set(struct moderation *moderation, uint32_t count, sim_time period)
{
	bool owed = moderation->waiting != 0;

	moderation->count = count;
	moderation->period = period;
	if (owed)
		leave(moderation);
}

void event_queue_moderation_init(struct moderation *moderation, struct event_queue *queue,
				 void (*due)(struct moderation *moderation))
{
	moderation->queue = queue;
	moderation->count = (uint32_t)queue->params->moderation_count;
	moderation->period = queue->params->moderation_period;
	moderation->last_event = SIM_NEVER;
	moderation->due = due;
	timer_init(&moderation->timer, &queue->block, expire);
}

void event_queue_moderation_close(struct moderation *moderation)
{
	stop_waiting(moderation);
}

/* ---- EQEs ---- */

static void eqe_visible(struct pcie_write *write)
{
	container_of(write, struct eqe, write)->visible = true;
}

static void enqueue(struct event_queue *queue, uint32_t kind, uint32_t number)
{
	struct eqe *eqe = pool_take_zeroed(&queue->eqes);

	eqe->since = sim_now(queue->block.sim);
	gauge_enter(&queue->gauge.queue, eqe->since, 1);
	eqe->queue = queue;
	eqe->kind = kind;
	eqe->number = number;
	if (queue->last)
		queue->last->next = eqe;
	else
		queue->first = eqe;
	queue->last = eqe;
	eqe->write = (struct pcie_write){
		.memory = memory_none(),
		.address = QUEUE_ADDRESS + queue->produced++ % QUEUE_ENTRIES * EQE_BYTES,
		.length = EQE_BYTES,
		.done = eqe_visible,
	};
	pcie_write(queue->pcie, &eqe->write);
	if (queue->raised)
		queue->count.shared++;
	else
		raise_interrupt(queue);
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

static void raise_interrupt(struct event_queue *queue)
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

static struct eqe pop(struct event_queue *queue)
{
	struct eqe *first = queue->first;
	struct eqe eqe = *first;

	gauge_left(&queue->gauge.queue, eqe.since, sim_now(queue->block.sim), 1);
	queue->first = first->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(&queue->eqes, first);
	return eqe;
}

/* Ends the handler, which arms the queue. An EQE that the handler did not see raises another
 * interrupt. */
static void end_handler(struct event_queue *queue)
{
	queue->raised = false;
	if (queue->first)
		raise_interrupt(queue);
}

static void handle(struct event *event)
{
	struct event_queue *queue = container_of(event, struct event_queue, handler);
	struct hca_driver *driver = queue->driver;
	struct eqe eqe;

	if (!queue->first || !queue->first->visible) {
		end_handler(queue);
		return;
	}
	eqe = pop(queue);
	gauge_serve(&queue->gauge.raiser, sim_now(queue->block.sim), queue->params->interval);
	sim_schedule(&queue->handler, queue->params->interval);
	trace(&queue->block, TRACE_EVENT, 0, eqe.kind, eqe.number);
	if (eqe.kind == KIND_COMPLETION) {
		queue->count.completions++;
		driver->completion_event(driver, eqe.number);
	} else {
		queue->count.asyncs++;
		driver->async_event(driver, (enum hca_async)eqe.kind, eqe.number);
	}
}

/* ---- the queue ---- */

static void check(struct block *block, FILE *out)
{
	const struct event_queue *queue = container_of(block, struct event_queue, block);

	block_equal(block, out, "EQEs written = events handled + in flight", queue->produced,
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
	pool_init(&queue->eqes, sizeof(struct eqe), SLAB_EQES);
	event_init(&queue->handler, &queue->block, handle);
	return queue;
}

void event_queue_destroy(struct event_queue *queue)
{
	sim_cancel(&queue->handler);
	pool_fini(&queue->eqes);
	block_fini(&queue->block);
	free(queue);
}

const struct event_queue_counters *event_queue_counters(const struct event_queue *queue)
{
	return &queue->count;
}
