/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_channel: carries items from one logical process (LP) of a parallel run to another
 * (sim/parallel.h).
 */
#ifndef SIM_LP_CHANNEL_H
#define SIM_LP_CHANNEL_H

#include <stdbool.h>

#include "sim/carry.h"
#include "sim/sim.h"

/* A channel. Its items keep their order. The caller embeds it, and it
 * lives as long as the run. */
struct lp_channel {
	/* Takes the items left with the number `window`, 0 or 1. Runs in the receiving LP,
	 * outside of events, before the window in which the first of these items can take
	 * effect. It must schedule through sim_schedule_last() only. */
	void (*take)(struct lp_channel *channel, unsigned window);
	/* Moves the items left with that number to another process (sim/ranks.h). Writes and
	 * removes the items in the process of the sending LP. Reads the items in the process of the
	 * receiving LP, for take(). Set it after lp_channel_init(); a run in one process needs
	 * none. */
	void (*carry)(struct lp_channel *channel, unsigned window, struct carry *carry);
	/* private */
	struct sim *from, *to;
	uint32_t number;
	struct lp_channel *next[2];
	bool announced[2];
};

/* Initialises a channel before the first sim_run(). Each item takes effect at least `delay`
 * after it was left. `delay` must not be 0. */
void lp_channel_init(struct lp_channel *channel, struct sim *from, struct sim *to, sim_time delay,
		     void (*take)(struct lp_channel *, unsigned));

/* Announces an item that takes effect at `at`. Call it within an event of the sending LP.
 * Returns the number to store the item under. */
unsigned lp_channel_leave(struct lp_channel *channel, sim_time at);

/* Returns the number that lp_channel_leave() would return now. Call it in the sending LP. */
unsigned lp_channel_window(const struct lp_channel *channel);

#endif
