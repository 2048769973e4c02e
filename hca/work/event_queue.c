/* event_queue: see event_queue.h. */
#include "hca/work/event_queue.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/gauge.h"

#define ROW(...)        PARAM_ROW(struct event_queue_params, __VA_ARGS__)
#define SLAB_NOTICES    64
#define KIND_COMPLETION 255

/* clang-format off */
const struct param event_queue_param_list[] = {EVENT_QUEUE_PARAMS(ROW) {0}};
enum { EVENT_QUEUE_TRACE(TRACE_ENUM) };

static const struct block_type event_queue_type = {
	.name         = "event_queue",
	.params       = event_queue_param_list,
	.counters     = (const struct counter[]){EVENT_QUEUE_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){EVENT_QUEUE_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){EVENT_QUEUE_GAUGES(GAUGE_ENTRY) {0}},
};
/* clang-format on */

struct notice {
	struct notice *next;
	sim_time due;
	uint32_t kind, number;
};

struct event_queue_gauges {
	EVENT_QUEUE_GAUGES(GAUGE_FIELD)
};

struct event_queue {
	struct block block;
	struct event_queue_counters count;
	struct event_queue_gauges gauge;
	struct hca *hca;
	const struct event_queue_params *params;
	struct pool notices;
	struct notice *first, *last;
	struct event interrupt;
	sim_time last_due;
};

static void enqueue(struct event_queue *queue, uint32_t kind, uint32_t number)
{
	struct notice *notice = pool_take(&queue->notices);
	sim_time due = sim_now(queue->block.sim) + queue->params->latency;

	if (due < queue->last_due + queue->params->interval)
		due = queue->last_due + queue->params->interval;
	queue->last_due = due;
	gauge_serve(&queue->gauge.raiser, queue->params->interval);
	gauge_enter(&queue->gauge.queue, sim_now(queue->block.sim), 1);
	notice->due = due;
	notice->kind = kind;
	notice->number = number;
	if (queue->last)
		queue->last->next = notice;
	else
		queue->first = notice;
	queue->last = notice;
	if (!event_pending(&queue->interrupt))
		sim_schedule_at(&queue->interrupt, due);
}

static struct notice pop(struct event_queue *queue)
{
	struct notice *first = queue->first;
	struct notice notice = *first;

	gauge_leave(&queue->gauge.queue, sim_now(queue->block.sim), 1);
	queue->first = first->next;
	if (!queue->first)
		queue->last = NULL;
	pool_give(&queue->notices, first);
	return notice;
}

void event_queue_completion(struct event_queue *queue, uint32_t cqn)
{
	enqueue(queue, KIND_COMPLETION, cqn);
}

void event_queue_async(struct event_queue *queue, enum hca_async what, uint32_t number)
{
	enqueue(queue, what, number);
}

static void interrupt(struct event *event)
{
	struct event_queue *queue = container_of(event, struct event_queue, interrupt);
	struct hca_driver *driver = queue->hca->driver;
	struct notice notice = pop(queue);

	if (queue->first)
		sim_schedule_at(&queue->interrupt, queue->first->due);
	trace(&queue->block, TRACE_EVENT, 0, notice.kind, notice.number);
	if (notice.kind == KIND_COMPLETION) {
		queue->count.completions++;
		driver->completion_event(driver, notice.number);
	} else {
		queue->count.asyncs++;
		driver->async_event(driver, (enum hca_async)notice.kind, notice.number);
	}
}

struct event_queue *event_queue_create(struct hca *hca, const char *name)
{
	struct event_queue *queue = calloc(1, sizeof(*queue));

	assert(queue);
	queue->hca = hca;
	queue->params = &hca->params.event_queue;
	block_init(&queue->block, hca->sim, &event_queue_type, name, queue->params,
		   (const uint64_t *)&queue->count);
	block_gauges(&queue->block, (struct gauge *)&queue->gauge);
	queue->gauge.raiser.capacity = 1;
	pool_init(&queue->notices, sizeof(struct notice), SLAB_NOTICES);
	event_init(&queue->interrupt, &queue->block, interrupt);
	return queue;
}

void event_queue_destroy(struct event_queue *queue)
{
	sim_cancel(&queue->interrupt);
	while (queue->first)
		pop(queue);
	pool_fini(&queue->notices);
	block_fini(&queue->block);
	free(queue);
}

const struct event_queue_counters *event_queue_counters(const struct event_queue *queue)
{
	return &queue->count;
}
