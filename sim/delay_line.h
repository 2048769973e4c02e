/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay_line: items on their way that cannot overtake each other (a cable, a pipeline). However many are in flight,
 * one event is pending: the arrival of the first.
 *
 *     delay_line_push(item, delay) --> [tail ... head] --> arrive(line, item), at exactly its time
 */
#ifndef SIM_DELAY_LINE_H
#define SIM_DELAY_LINE_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Embedded in what travels; the line's from push to arrive(). */
struct delay_item {
	struct delay_item *next;
	sim_time at;
};

struct delay_line {
	struct event event;
	struct delay_item *head, *tail;
	void (*arrive)(struct delay_line *line,
		       struct delay_item *item); /* the item is the receiver's again */
	uint32_t count;
	bool arriving;
};

/* arrive() is called in an event of the owner's, at the item's time. */
void delay_line_init(struct delay_line *line, struct block *owner,
		     void (*arrive)(struct delay_line *, struct delay_item *));

/* The item arrives at `at`, which is neither in the past nor before the arrival of the item pushed last. Never
 * arrives inside the call. */
void delay_line_push_at(struct delay_line *line, struct delay_item *item, sim_time at);
void delay_line_push(struct delay_line *line, struct delay_item *item, sim_time delay);

/* Takes back the item that would arrive first (a link that goes down empties its line); NULL: none. */
struct delay_item *delay_line_take(struct delay_line *line);

#ifdef __cplusplus
}
#endif
#endif
