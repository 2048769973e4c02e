/* SPDX-License-Identifier: Apache-2.0 */
/* delay_line: see delay_line.h. */
#include "sim/delay_line.h"

#include <assert.h>

#include "sim/block.h"

static struct delay_item *unlink_head(struct delay_line *line)
{
	struct delay_item *item = line->head;

	line->head = item->next;
	if (!line->head)
		line->tail = NULL;
	line->count--;
	return item;
}

static void fire(struct event *event)
{
	struct delay_line *line = container_of(event, struct delay_line, event);
	sim_time now = sim_now(event->owner->sim);
	struct delay_item *last =
		line->tail; /* items that fire() pushes with delay 0 wait for the next event */

	line->arriving = true;
	while (line->head && line->head->at == now) {
		struct delay_item *item = unlink_head(line);

		line->arrive(line, item);
		if (item == last)
			break;
	}
	line->arriving = false;
	if (line->head)
		sim_schedule_at(event, line->head->at);
}

void delay_line_push_at(struct delay_line *line, struct delay_item *item, sim_time at)
{
	item->next = NULL;
	item->at = at;
	line->count++;
	if (line->head) {
		assert(at >= line->tail->at);
		line->tail->next = item;
		line->tail = item;
		return;
	}
	line->head = line->tail = item;
	if (line->arriving)
		assert(at >= sim_now(line->event.owner->sim)); /* fire() schedules it */
	else
		sim_schedule_at(&line->event, at);
}

void delay_line_push(struct delay_line *line, struct delay_item *item, sim_time delay)
{
	delay_line_push_at(line, item, sim_now(line->event.owner->sim) + delay);
}

struct delay_item *delay_line_take(struct delay_line *line)
{
	struct delay_item *item;

	if (!line->head)
		return NULL;
	item = unlink_head(line);
	if (!line->arriving) {
		sim_cancel(&line->event);
		if (line->head)
			sim_schedule_at(&line->event, line->head->at);
	}
	return item;
}

void delay_line_init(struct delay_line *line, struct block *owner,
		     void (*arrive)(struct delay_line *, struct delay_item *))
{
	*line = (struct delay_line){.arrive = arrive};
	event_init(&line->event, owner, fire);
}
