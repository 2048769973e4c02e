/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_pace: decides by measured real time whether the threads of a run are faster than one
 * thread. The time is measured for blocks of PACE_BLOCK events:
 *
 *     one thread      after `hold` blocks, threads are tried
 *     several threads two slow blocks in a row, or one very slow block, end the attempt; `hold`
 *                     then doubles, so that attempts cost little where threads do not pay
 *
 * The decision changes only who fires events, and no result.
 */
#ifndef SIM_THREAD_PACE_H
#define SIM_THREAD_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_BLOCK      100000u /* events */
#define PACE_FIRST_HOLD 2u      /* blocks in one thread before the first attempt */
#define PACE_LEAST_HOLD 16u     /* blocks in one thread after an attempt that failed */
#define PACE_MOST_HOLD  512u

struct thread_pace {
	uint64_t (*clock)(void); /* real time, ns */
	uint64_t events;         /* in this block */
	uint64_t spent;          /* ns in earlier stretches of this block */
	uint64_t from;           /* start of the present stretch */
	unsigned blocks;         /* completed since the last change */
	unsigned slow;           /* slow blocks in a row */
	unsigned hold;
	uint64_t one_thread; /* ns of the last block in one thread */
};

void thread_pace_init(struct thread_pace *pace, uint64_t (*clock)(void));

/* A stretch is a time in which events fire without a pause between. */
void thread_pace_begin(struct thread_pace *pace);
void thread_pace_end(struct thread_pace *pace);

/* Counts events that one thread fired. Returns true if threads should be tried. */
bool thread_pace_one(struct thread_pace *pace, uint64_t events);

/* Counts events that several threads fired. Returns true if one thread is faster. */
bool thread_pace_several(struct thread_pace *pace, uint64_t events);

/* The number of threads changes; fail: because one thread is faster. */
void thread_pace_change(struct thread_pace *pace);
void thread_pace_fail(struct thread_pace *pace);

#endif
