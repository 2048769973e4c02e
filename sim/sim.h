/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim: simulated time and events, the whole engine API that blocks see.
 *
 *     block --sim_schedule(event, delay)--> engine --event->fire(event)--> block
 *
 * Three engines implement it and give byte-identical runs: `native` (a timing wheel), `systemc` (the same
 * wheel drained by one SystemC process, so that SystemC and TLM-2.0 modules interleave exactly) and
 * `systemc-reference` (each event is SystemC's own; slow, the judge of the others).
 *
 * An event is embedded in the object it concerns, so scheduling never allocates. Events fire in the order of
 * (time, priority, origin, sequence of the origin), where the origin is the block whose event is firing when
 * sim_schedule() is called (or the event's own block, outside of any event). That order does not depend on
 * how a model is cut into partitions.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t sim_time; /* picoseconds since the start of the run */

#define PS        UINT64_C(1)
#define NS        (1000 * PS)
#define US        (1000 * NS)
#define MS        (1000 * US)
#define SEC       (1000 * MS)
#define SIM_NEVER (UINT64_MAX >> 3) /* later than any event: 26.7 days */

/* clang-format off */
#define SIM_ENGINES(X)                                                                                     \
	X(native, "native", "timing wheel in C; the default")                                      \
	X(systemc, "systemc", "the same wheel inside SystemC, beside SystemC and TLM-2.0 modules")                  \
	X(systemc_reference, "systemc-reference", "every event is a SystemC event; slow, the judge of the other two")

#define SIM_ENGINE_ENUM(name, text, meaning) SIM_ENGINE_##name,
enum sim_engine { SIM_ENGINES(SIM_ENGINE_ENUM) SIM_ENGINE_COUNT };
/* clang-format on */

/* Order of events at one instant. */
enum event_priority {
	PRIORITY_FIRST,   /* bookkeeping that others at this instant rely on */
	PRIORITY_DEFAULT, /* the models */
	PRIORITY_SYSTEMC =
		5, /* fires at SystemC's own time: may touch SystemC modules (sim/systemc.h) */
	PRIORITY_LAST = 6,     /* sampling: sees what the instant has led to */
	PRIORITY_EXTERNAL = 7, /* what enters from SystemC modules */
};

#define EVENT_ORIGIN_SHIFT 40 /* 16 million blocks, 10^12 events of each */

struct sim;
struct block;

/* At most one pending occurrence. Embedded in what it concerns; the owner outlives its pending events. */
struct event {
	void (*fire)(struct event *event);
	struct block *owner; /* on whose behalf it fires */
	/* the rest is private to the engines */
	uint64_t key;   /* time << 3 | priority; the priority stays while idle */
	uint64_t order; /* origin << EVENT_ORIGIN_SHIFT | sequence of the origin */
	void *place;    /* the engine's entry for it, while pending */
	uint32_t where; /* which of the engine's containers holds it; 0: not pending */
	uint32_t slot;  /* index in that container */
};

/* A run with its random seed. NULL never; running out of memory ends the program. */
struct sim *sim_create(enum sim_engine engine, uint64_t seed);
void sim_destroy(struct sim *sim);

/* Memory of the run (sim/arena.h) for what packets touch; it ends with the run. */
void *sim_arena(struct sim *sim, size_t bytes);

/* `native`, `systemc` or `systemc-reference`; false: no such engine. */
bool sim_engine_from_name(const char *name, enum sim_engine *engine);

/* One load: the time is the first member of struct sim. */
static inline sim_time sim_now(const struct sim *sim)
{
	return *(const sim_time *)(const void *)sim;
}

/* What sim_create() was given, and how many events have fired in all parts. */
uint64_t sim_seed(const struct sim *sim);
uint64_t sim_events_fired(const struct sim *sim);

/* A number that follows one piece of work through the trace, of whatever block: never 0, and no other of the run has it. LPs of
 * a parallel run, which has no trace, count each for itself. */
uint32_t sim_new_tag(struct sim *sim);

/* Time of the next pending event; SIM_NEVER: there is none. */
sim_time sim_next(struct sim *sim);

/*
 * Fires every event before `until`, in order, after which sim_now() == until. With SIM_NEVER, runs until no
 * event is left, and sim_now() is the time of the last one. Returns early, after the event in which
 * sim_stop() was called, with sim_now() the time of that event; call again to go on.
 * What is scheduled between two calls counts as coming from the event's own block.
 */
void sim_run(struct sim *sim, sim_time until);
void sim_stop(struct sim *sim);

/* Once, before it is scheduled first. Of one instant, a lower priority fires first; without: PRIORITY_DEFAULT. */
void event_init(struct event *event, struct block *owner, void (*fire)(struct event *));
void event_init_priority(struct event *event, struct block *owner, void (*fire)(struct event *),
			 enum event_priority priority);

/* The event must not be pending. Never fires inside the call, even with delay 0. */
void sim_schedule(struct event *event, sim_time delay);
void sim_schedule_at(struct event *event, sim_time at); /* at >= now */

/* Its place among the events of an instant does not depend on who schedules it, or when: it comes behind all that its
 * owner schedules. A block may have one such event; `sim` is the owner's, which is not looked at. */
void event_init_last(struct event *event, struct block *owner, void (*fire)(struct event *));
void sim_schedule_last(struct sim *sim, struct event *event, sim_time at);

/*
 * The same for events of which a block has many: at one instant they come behind all that is scheduled while the block's events
 * fire, in the order of `rank`, which no other of them has then. rank < SIM_RANKS.
 */
#define SIM_RANKS (UINT64_C(1) << 38)
void sim_schedule_ranked(struct event *event, sim_time at, uint64_t rank);

/* O(1). Nothing happens if it is not pending. */
void sim_cancel(struct event *event);

/* Cancels all that is pending, of a run that ends before its time: its blocks may then go in any order. Not of a parallel run. */
void sim_drop(struct sim *sim);

static inline bool event_pending(const struct event *event)
{
	return event->where != 0;
}

static inline sim_time event_time(const struct event *event) /* while pending */
{
	return event->key >> 3;
}

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define ARRAY_SIZE(array)               (sizeof(array) / sizeof((array)[0]))

#ifdef __cplusplus
}
#endif
#endif
