/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delay_line: carries items that cannot overtake each other (a cable, a pipeline). Only one
 * event is pending, whatever the number of items: the arrival of the first item.
 *
 *     delay_line_push(item, delay) --> [tail ... head] --> arrive(line, item), at exactly its time
 */
#ifndef SIM_DELAY_LINE_H
#define SIM_DELAY_LINE_H

#include "sim/sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Embedded in the item that travels. The line owns it from push until arrive(). */
struct delay_item {
	struct delay_item *next;
	sim_time at;
};

struct delay_line {
	struct event event;
	struct delay_item *head, *tail;
	void (*arrive)(struct delay_line *line,
		       struct delay_item *item); /* The receiver owns the item from then on. */
	uint32_t count;
	bool arriving;
};

/* Initialises the line. It calls arrive() at the item's time, in an event of `owner`. */
void delay_line_init(struct delay_line *line, struct block *owner,
		     void (*arrive)(struct delay_line *, struct delay_item *));

/* Adds an item that arrives at `at`. `at` is neither in the past nor before the arrival of the
 * item pushed last. The item never arrives inside the call. */
void delay_line_push_at(struct delay_line *line, struct delay_item *item, sim_time at);
void delay_line_push(struct delay_line *line, struct delay_item *item, sim_time delay);

/* Removes the item that would arrive first, and returns it. A link that goes down empties its delay
 * line in this way. Returns NULL if the delay line is empty. */
struct delay_item *delay_line_take(struct delay_line *line);

#ifdef __cplusplus
}
#endif
#endif
