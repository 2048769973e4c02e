/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parallel_state: declarations shared by parallel.c (LPs with a thread each) and parallel_ranks.c
 * (LPs with a process each). No other file includes it.
 */
#ifndef SIM_PARALLEL_STATE_H
#define SIM_PARALLEL_STATE_H

#include <pthread.h>

#include "sim/engine.h"
#include "sim/parallel.h"
#include "sim/thread_barrier.h"
#include "sim/thread_pace.h"

struct lp {
	_Alignas(64) struct sim *sim;
	unsigned window;     /* 0, 1, 0, ... */
	sim_time left_at;    /* earliest effect of the items left in this window */
	sim_time next_at[2]; /* no event or left item takes effect earlier */
	uint64_t fired[2];   /* number of events in that window */
	int64_t gain;        /* in events, see weigh(); all LPs compute the same value */
	/* channels with items, by receiving LP */
	struct lp_channel *left[SIM_LPS_MAX][2];
	struct parallel *parallel;
	pthread_t thread;
};

struct parallel {
	struct thread_barrier barrier;
	unsigned count;
	sim_time delay; /* shortest delay of a channel, and length of a window */
	sim_time until;
	/* all threads except the caller's wait on it between two calls of sim_run() */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	unsigned runs; /* number of wake-ups */
	bool ends, started;
	bool together; /* the caller's thread fires all LPs */
	sim_time end;  /* end of the last window; while threads run, each has its own copy */
	struct thread_pace pace; /* of the first LP; without a clock it decides nothing */
	bool enough;             /* the pace of one thread was measured */
	bool slow[2];            /* by window: threads are slow; all LPs read it one window later */
	uint64_t windows, windows_together, longest; /* written by the first LP only */
	struct ranks *ranks;                         /* NULL: all LPs are in this process */
	/* of all LPs; a channel's number is the same in all ranks */
	struct lp_channel **channels;
	uint32_t channel_count, channel_room;
	uint64_t messages, message_bytes; /* sent by this rank in windows */
	uint64_t shared_bytes;            /* of its LP, by sim_share() */
	struct lp lps[];
};

/* Fires the LP's events before `end`, as the next window. */
void parallel_fire_until(struct lp *lp, sim_time end);

/* Returns the end of a window that begins at `start` or at the end of the last window, whichever
 * is later. Returns 0 if there is no event before parallel->until. */
sim_time parallel_window_end(const struct parallel *parallel, sim_time start, sim_time end);

/* parallel_ranks.c: the same as functions of parallel.c, if parallel->ranks is set. */
void parallel_ranks_run(struct parallel *parallel);
sim_time parallel_ranks_next(struct parallel *parallel);

#endif
