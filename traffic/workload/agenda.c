/* SPDX-License-Identifier: Apache-2.0 */
/* agenda: see agenda.h. */
#include "traffic/workload/agenda.h"

static bool before(const struct start *one, const struct start *other)
{
	return one->at != other->at ? one->at < other->at : one->flow < other->flow;
}

static void push_start(struct agenda *agenda, sim_time at, uint32_t flow)
{
	const struct start start = {at, flow};
	uint32_t place = agenda->count++;

	while (place && before(&start, &agenda->starts[(place - 1) / 2])) {
		agenda->starts[place] = agenda->starts[(place - 1) / 2];
		place = (place - 1) / 2;
	}
	agenda->starts[place] = start;
}

static uint32_t pop_start(struct agenda *agenda)
{
	uint32_t flow = agenda->starts[0].flow, place = 0;
	struct start last = agenda->starts[--agenda->count];

	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= agenda->count)
			break;
		if (child + 1 < agenda->count &&
		    before(&agenda->starts[child + 1], &agenda->starts[child]))
			child++;
		if (!before(&agenda->starts[child], &last))
			break;
		agenda->starts[place] = agenda->starts[child];
		place = child;
	}
	agenda->starts[place] = last;
	return flow;
}

static void schedule(struct agenda *agenda)
{
	sim_time at = agenda->count ? agenda->starts[0].at : SIM_NEVER;

	if (event_pending(&agenda->event)) {
		if (event_time(&agenda->event) == at)
			return;
		sim_cancel(&agenda->event);
	}
	if (at != SIM_NEVER && agenda->kind == AGENDA_TOLD)
		sim_schedule_last(agenda->event.owner->sim, &agenda->event, at);
	else if (at != SIM_NEVER)
		sim_schedule_at(&agenda->event, at);
}

static void fire(struct event *event)
{
	struct agenda *agenda = container_of(event, struct agenda, event);
	sim_time now = sim_now(event->owner->sim);

	while (agenda->count && agenda->starts[0].at <= now)
		agenda->begin(agenda->context, pop_start(agenda));
	schedule(agenda);
}

void agenda_add(struct agenda *agenda, sim_time at, uint32_t flow)
{
	push_start(agenda, at, flow);
	schedule(agenda);
}

void agenda_init(struct agenda *agenda, struct block *block, enum agenda_kind kind,
		 struct start *starts, void (*begin)(void *context, uint32_t flow), void *context)
{
	*agenda =
		(struct agenda){.starts = starts, .kind = kind, .begin = begin, .context = context};
	if (kind == AGENDA_TOLD)
		event_init_last(&agenda->event, block, fire);
	else
		event_init(&agenda->event, block, fire);
}

void agenda_fini(struct agenda *agenda)
{
	sim_cancel(&agenda->event);
}
