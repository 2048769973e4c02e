/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event: a call at a simulated time, which a block schedules through sim.h.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hcasim/time.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Order of events that have the same time. */
enum event_priority {
	PRIORITY_FIRST,   /* bookkeeping that other events of the same time rely on */
	PRIORITY_DEFAULT, /* the models */
	PRIORITY_SYSTEMC =
		5, /* fires at SystemC's own time, so it may call SystemC modules (sim/systemc.h) */
	PRIORITY_LAST = 6,     /* sampling after all models have acted */
	PRIORITY_EXTERNAL = 7, /* events that SystemC modules send */
};

#define EVENT_ORIGIN_SHIFT 40 /* 16 million blocks, 10^12 events of each */

struct block;

struct event;

/* Prefetches the memory that fire() will read. The engine native calls the functions shortly before
 * the event fires, in order. Each stage reads only memory that an earlier stage has prefetched, or
 * the cache line of the event and the next one. It changes nothing. No function is NULL. */
#define EVENT_STAGES 4
typedef void event_fetch_function(const struct event *event);

struct event_fetch {
	event_fetch_function *stages[EVENT_STAGES];
};

/* An event, which is pending at most once. The object that it concerns embeds it. The owner
 * outlives its pending events. */
struct event {
	void (*fire)(struct event *event);
	struct block *owner; /* block that the event belongs to */
	/* the rest is private to the engines */
	uint64_t key;   /* time << 3 | priority; the priority remains while the event is idle */
	uint64_t order; /* origin << EVENT_ORIGIN_SHIFT | sequence number of the origin */
	/* The engine's entry for the event, and in the lower bits the container of the entry. 0 if
	 * the event is not pending. */
	uintptr_t place;
	const struct event_fetch *fetch; /* NULL: none */
};

#define EVENT_PLACE_BITS 2
#define EVENT_IN_HEAP    1 /* place: index in an event_heap.h << EVENT_PLACE_BITS */

/* Initialises an event. Call it once, before the event is first scheduled. Of two events with
 * the same time, the one with the lower priority value fires first. event_init() uses
 * PRIORITY_DEFAULT. */
static inline void event_init_priority(struct event *event, struct block *owner,
				       void (*fire)(struct event *), enum event_priority priority)
{
	assert(owner && fire && (unsigned)priority < 8);
	event->fire = fire;
	event->owner = owner;
	event->key = (uint64_t)priority;
	event->order = 0;
	event->place = 0;
	event->fetch = NULL;
}

static inline void event_init(struct event *event, struct block *owner,
			      void (*fire)(struct event *))
{
	event_init_priority(event, owner, fire, PRIORITY_DEFAULT);
}

/* Sets the functions that prefetch for the event. Without them, the engine prefetches the event and
 * the next cache line. */
static inline void event_set_fetch(struct event *event, const struct event_fetch *fetch)
{
	event->fetch = fetch;
}

/* Initialises an event for sim_schedule_last(). It fires after all other events that its owner
 * schedules for the same time. A block may have one such event. */
void event_init_last(struct event *event, struct block *owner, void (*fire)(struct event *));

static inline bool event_pending(const struct event *event)
{
	return event->place != 0;
}

static inline sim_time event_time(const struct event *event) /* requires a pending event */
{
	return event->key >> 3;
}

#ifdef __cplusplus
}
#endif
#endif
