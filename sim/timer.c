/* SPDX-License-Identifier: Apache-2.0 */
/* timer: see timer.h. */
#include "sim/timer.h"

#include "sim/block.h"

static void fire(struct event *event)
{
	struct timer *timer = container_of(event, struct timer, event);

	if (timer->deadline > sim_now(event->owner->sim)) {
		sim_schedule_at(event, timer->deadline);
		return;
	}
	timer->deadline = SIM_NEVER;
	timer->expire(timer);
}

void timer_arm(struct timer *timer, sim_time delay)
{
	timer->deadline = sim_now(timer->event.owner->sim) + delay;
	if (event_pending(&timer->event)) {
		if (event_time(&timer->event) <= timer->deadline)
			return;
		sim_cancel(&timer->event);
	}
	sim_schedule(&timer->event, delay);
}

void timer_disarm(struct timer *timer)
{
	timer->deadline = SIM_NEVER;
	sim_cancel(&timer->event);
}

void timer_init(struct timer *timer, struct block *owner, void (*expire)(struct timer *))
{
	event_init(&timer->event, owner, fire);
	timer->deadline = SIM_NEVER;
	timer->expire = expire;
}
