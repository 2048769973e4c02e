/* SPDX-License-Identifier: Apache-2.0 */
/* flow_start_heap: see flow_start_heap.h. */
#include "traffic/workload/flow_start_heap.h"

static bool before(const struct start *one, const struct start *other)
{
	return one->at != other->at ? one->at < other->at : one->flow < other->flow;
}

static void push_start(struct flow_start_heap *heap, sim_time at, uint32_t flow)
{
	const struct start start = {at, flow};
	uint32_t place = heap->count++;

	while (place && before(&start, &heap->starts[(place - 1) / 2])) {
		heap->starts[place] = heap->starts[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	heap->starts[place] = start;
}

static uint32_t pop_start(struct flow_start_heap *heap)
{
	uint32_t flow = heap->starts[0].flow, place = 0;
	struct start last = heap->starts[--heap->count];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    before(&heap->starts[child + 1], &heap->starts[child]))
			child++;
		if (!before(&heap->starts[child], &last))
			break;
		heap->starts[place] = heap->starts[child];
		place = child;
	}
	heap->starts[place] = last;
	return flow;
}

static void schedule(struct flow_start_heap *heap)
{
	sim_time at = heap->count ? heap->starts[0].at : SIM_NEVER;

	if (event_pending(&heap->event)) {
		if (event_time(&heap->event) == at)
			return;
		sim_cancel(&heap->event);
	}
	if (at != SIM_NEVER && heap->kind == FLOW_START_NOTIFIED)
		sim_schedule_last(heap->event.owner->sim, &heap->event, at);
	else if (at != SIM_NEVER)
		sim_schedule_at(&heap->event, at);
}

static void fire(struct event *event)
{
	struct flow_start_heap *heap = container_of(event, struct flow_start_heap, event);
	sim_time now = sim_now(event->owner->sim);

	while (heap->count && heap->starts[0].at <= now)
		heap->begin(heap->context, pop_start(heap));
	schedule(heap);
}

void flow_start_heap_add(struct flow_start_heap *heap, sim_time at, uint32_t flow)
{
	push_start(heap, at, flow);
	schedule(heap);
}

void flow_start_heap_init(struct flow_start_heap *heap, struct block *block,
			  enum flow_start_kind kind, struct start *starts,
			  void (*begin)(void *context, uint32_t flow), void *context)
{
	*heap = (struct flow_start_heap){
		.starts = starts, .kind = kind, .begin = begin, .context = context};
	if (kind == FLOW_START_NOTIFIED)
		event_init_last(&heap->event, block, fire);
	else
		event_init(&heap->event, block, fire);
}

void flow_start_heap_fini(struct flow_start_heap *heap)
{
	sim_cancel(&heap->event);
}
