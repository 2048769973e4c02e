/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: see event.h.
 */
#include "sim/event.h"

#include <assert.h>

#include "sim/block.h"

void event_init(struct event *event, struct block *owner, void (*fire)(struct event *))
{
	event_init_priority(event, owner, fire, PRIORITY_DEFAULT);
}

void event_init_last(struct event *event, struct block *owner, void (*fire)(struct event *))
{
	event_init(event, owner, fire);
	event->order = ((uint64_t)owner->id + 1) * (UINT64_C(1) << EVENT_ORIGIN_SHIFT) - 1;
}

void event_init_priority(struct event *event, struct block *owner, void (*fire)(struct event *),
			 enum event_priority priority)
{
	assert(owner && fire && (unsigned)priority < 8);
	*event = (struct event){.fire = fire, .owner = owner, .key = (uint64_t)priority};
}
