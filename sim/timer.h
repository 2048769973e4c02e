/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer: a deadline that moves often and is seldom reached, as a retransmission timer. Moving the deadline later is
 * one store: the pending event stays where it is, and when it fires too early it is scheduled again for the deadline.
 *
 *     timer_arm() ... timer_arm() ... timer_arm() ......... event fires, early ......... event fires: expire()
 */
#ifndef SIM_TIMER_H
#define SIM_TIMER_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct timer {
	struct event event;
	sim_time deadline; /* SIM_NEVER: not armed */
	void (*expire)(struct timer *timer);
};

void timer_init(struct timer *timer, struct block *owner, void (*expire)(struct timer *));

/* expire() is called `delay` from now, once, instead of at any deadline set before. */
void timer_arm(struct timer *timer, sim_time delay);

/* Leaves no event behind: a run ends at its last real event. */
void timer_disarm(struct timer *timer);

static inline bool timer_armed(const struct timer *timer)
{
	return timer->deadline != SIM_NEVER;
}

#ifdef __cplusplus
}
#endif
#endif
