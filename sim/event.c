/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: see event.h.
 */
#include "sim/event.h"

#include "sim/block.h"

void event_init_last(struct event *event, struct block *owner, void (*fire)(struct event *))
{
	event_init(event, owner, fire);
	event->order = ((uint64_t)owner->id + 1) * (UINT64_C(1) << EVENT_ORIGIN_SHIFT) - 1;
}
