/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel: one run in several logical processes (LPs), each with events, a time and a thread of its own. What happens, and in which
 * order within an LP, is the same as in one LP, byte for byte.
 *
 *     LP 0    |--window--|--window--|      what crosses in a window takes effect in a later one: no channel is
 *                  \channel                shorter than a window (conservative synchronisation: Chandy and Misra,
 *     LP 1    |--window--|--window--|      IEEE TSE 1979; in windows: Lubachevsky, CACM 1989)
 *
 * A block belongs to the LP it is created in, its rank does not depend on it. Within events, an LP touches what is
 * its own, and leaves the rest to channels; between two sim_run() anybody may look at everything.
 * Only the native engine runs in parallel. sim_stop() and traces are for sequential runs.
 *
 * Threads wait at a barrier at the end of each window. Where windows have held less than that costs for long, as with short cables, the caller's
 * thread fires all that is in them, LP after LP, until they hold more. Only numbers of events decide, so it is the same in each run.
 *
 * Where an event has to see what all LPs have come to, or to change what all do from then on, LPs run sequentially: sim_run_sequential().
 */
#ifndef SIM_PARALLEL_H
#define SIM_PARALLEL_H

#include "sim/block.h"

#define SIM_LPS_MAX 16

/* Before the first block. 1: nothing happens. The run is the first LP, and stands for all in sim_run(), sim_now(),
 * sim_next(), sim_events_fired(), sim_blocks(). */
void sim_create_lps(struct sim *sim, unsigned lps);

/* How many there are, 1 if it is sequential; one of them, from 0, the run itself. */
unsigned sim_lps(const struct sim *sim);
struct sim *sim_lp(struct sim *sim, unsigned lp);
unsigned sim_lp_number(const struct sim *sim); /* its number */

/* As sim_run(), but LPs fire one event at a time, in the order in which one LP would: within an event the time is the same
 * everywhere, and all that is before it in that order has happened. Of a run in one LP: sim_run(). */
void sim_run_sequential(struct sim *sim, sim_time until);

/* Events of all LPs but the busiest: what a window must hold of them for threads to be worth the barrier. */
#define SIM_WINDOW_WORTH 10u

/* How well a run is divided: if threads did nothing but fire events, it would take `longest` of `events`. */
struct sim_windows {
	sim_time length; /* at most; SIM_NEVER: nothing crosses */
	uint64_t count;
	uint64_t together; /* of them in one thread, as they hold less than that */
	uint64_t events;
	uint64_t longest; /* sum over windows, of the LP with the most events */
};
struct sim_windows sim_windows(const struct sim *sim); /* of a parallel run */

/* A channel from one LP to another: its items keep their order. Embedded; lives as long as the run. */
struct lp_channel {
	/* In the LP it leads to, before the window in which the first of what was left can take effect: takes what was
	 * left with that number, 0 or 1. Outside of events: it schedules by sim_schedule_last() alone. */
	void (*take)(struct lp_channel *channel, unsigned window);
	/* the rest is private */
	struct sim *from, *to;
	struct lp_channel *next[2];
	bool announced[2];
};

/* Before the first sim_run(). Nothing takes effect sooner than `delay`, which is not 0, after it was left. */
void lp_channel_init(struct lp_channel *channel, struct sim *from, struct sim *to, sim_time delay,
		     void (*take)(struct lp_channel *, unsigned));

/* Within an event of the LP it comes from: something that takes effect at `at` is left, with the number returned. */
unsigned lp_channel_leave(struct lp_channel *channel, sim_time at);

/* There: the number that lp_channel_leave() returns now. */
unsigned lp_channel_window(const struct lp_channel *channel);

#endif
