/* SPDX-License-Identifier: Apache-2.0 */
/* thread_pace: see thread_pace.h. */
#include "sim/thread_pace.h"

#define VERY_SLOW       3       /* times the duration in one thread */
#define VERY_SLOW_LEAST 5000000 /* ns, above what the system's scheduler delays a thread at times */

void thread_pace_init(struct thread_pace *pace, uint64_t (*clock)(void))
{
	*pace = (struct thread_pace){.clock = clock, .hold = PACE_FIRST_HOLD};
}

void thread_pace_begin(struct thread_pace *pace)
{
	pace->from = pace->clock();
}

void thread_pace_end(struct thread_pace *pace)
{
	pace->spent += pace->clock() - pace->from;
}

static uint64_t elapsed(const struct thread_pace *pace)
{
	return pace->spent + pace->clock() - pace->from;
}

static void begin_block(struct thread_pace *pace)
{
	pace->events = 0;
	pace->spent = 0;
	pace->from = pace->clock();
}

/* Returns the time of PACE_BLOCK events at the pace of this block, which is complete. */
static uint64_t end_block(struct thread_pace *pace)
{
	uint64_t spent = elapsed(pace) * PACE_BLOCK / pace->events;

	pace->blocks++;
	begin_block(pace);
	return spent;
}

bool thread_pace_one(struct thread_pace *pace, uint64_t events)
{
	pace->events += events;
	if (pace->events >= PACE_BLOCK)
		pace->one_thread = end_block(pace);
	return pace->blocks >= pace->hold;
}

bool thread_pace_several(struct thread_pace *pace, uint64_t events)
{
	pace->events += events;
	if (pace->events < PACE_BLOCK)
		return elapsed(pace) > VERY_SLOW * pace->one_thread + VERY_SLOW_LEAST;
	if (end_block(pace) > pace->one_thread)
		pace->slow++;
	else
		pace->slow = 0;
	if (pace->blocks >= PACE_LEAST_HOLD && pace->slow == 0)
		pace->hold = PACE_FIRST_HOLD;
	return pace->slow >= 2;
}

void thread_pace_change(struct thread_pace *pace)
{
	pace->blocks = 0;
	pace->slow = 0;
	begin_block(pace);
}

void thread_pace_fail(struct thread_pace *pace)
{
	if (pace->hold < PACE_LEAST_HOLD)
		pace->hold = PACE_LEAST_HOLD;
	else if (pace->hold < PACE_MOST_HOLD)
		pace->hold *= 2;
	thread_pace_change(pace);
}
