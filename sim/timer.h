/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer: a deadline that moves often and is seldom reached, such as a retransmission timer.
 * Moving the deadline later is one store. The pending event stays in place, and reschedules
 * itself if it fires before the deadline.
 *
 *     timer_arm() ... timer_arm() ... event fires early, is rescheduled ... event fires: expire()
 */
#ifndef SIM_TIMER_H
#define SIM_TIMER_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct timer {
	struct event event;
	sim_time deadline; /* SIM_NEVER if not armed */
	void (*expire)(struct timer *timer);
};

void timer_init(struct timer *timer, struct block *owner, void (*expire)(struct timer *));

/* Sets the deadline to `delay` from now, in place of any earlier deadline. The timer calls
 * expire() once at the deadline. */
void timer_arm(struct timer *timer, sim_time delay);

/* Cancels the timer and its event, so that a run ends at its last model event. */
void timer_disarm(struct timer *timer);

static inline bool timer_armed(const struct timer *timer)
{
	return timer->deadline != SIM_NEVER;
}

#ifdef __cplusplus
}
#endif
#endif
