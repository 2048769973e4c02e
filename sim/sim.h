/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim: simulated time and events, the complete engine API for blocks.
 *
 *     block --sim_schedule(event, delay)--> engine --event->fire(event)--> block
 *
 * Three engines implement the API and produce byte-identical runs. `native` is a timing wheel.
 * `systemc` runs the same wheel inside one SystemC process, so that SystemC and TLM-2.0 modules
 * interleave exactly. `systemc-reference` makes each event a SystemC event; it is slow and
 * verifies the other engines.
 *
 * An event is embedded in the object that it concerns, so scheduling never allocates. Events
 * fire in the order of (time, priority, origin, sequence number of the origin). The origin is
 * the block whose event is firing when sim_schedule() is called, or the event's own block
 * outside of any event. This order does not depend on the division of a model into LPs.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hcasim/time.h"
#include "sim/event.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
#define SIM_ENGINES(X) \
	X(native, "native", "Timing wheel in C. The default.") \
	X(systemc, "systemc", \
	  "The same wheel inside SystemC, for runs with SystemC and TLM-2.0 modules.") \
	X(systemc_reference, "systemc-reference", \
	  "Each event is a SystemC event. Slow; verifies the other two engines.")

#define SIM_ENGINE_ENUM(name, text, meaning) SIM_ENGINE_##name,
enum sim_engine { SIM_ENGINES(SIM_ENGINE_ENUM) SIM_ENGINE_COUNT };
/* clang-format on */

struct sim;
struct block;

/* Creates a run with its random seed. Never returns NULL, because the program ends if memory is
 * exhausted. */
struct sim *sim_create(enum sim_engine engine, uint64_t seed);
void sim_destroy(struct sim *sim);

/* Returns memory of the run (sim/arena.h), for objects that packets touch. sim_destroy()
 * releases it. Each LP of a parallel run has memory of its own, so blocks may call this function
 * while the run goes on. */
void *sim_arena(struct sim *sim, size_t bytes);

/* Finds an engine by its name: `native`, `systemc` or `systemc-reference`. Returns false if no
 * engine has that name. */
bool sim_engine_from_name(const char *name, enum sim_engine *engine);

/* Returns the current time. This is one load, because the time is the first member of struct
 * sim. */
static inline sim_time sim_now(const struct sim *sim)
{
	return *(const sim_time *)(const void *)sim;
}

/* Return the seed of sim_create(), and the number of events fired in all LPs. */
uint64_t sim_seed(const struct sim *sim);
uint64_t sim_events_fired(const struct sim *sim);

/* Notes that a packet is lost at `at`, now or later. sim_first_loss() returns the earliest such
 * time in this LP, or SIM_NEVER. */
void sim_note_loss(struct sim *sim, sim_time at);
sim_time sim_first_loss(const struct sim *sim);

/* Returns a new tag, which marks one piece of work in the traces of all blocks. A tag is never 0
 * and is unique in a run. In a parallel run, which has no traces, each LP counts its own tags. */
uint32_t sim_new_tag(struct sim *sim);

/* Returns the time of the next pending event, or SIM_NEVER if no event is pending. */
sim_time sim_next(struct sim *sim);

/*
 * Fires every event before `until`, in order, after which sim_now() == until. With SIM_NEVER,
 * runs until no event is left, and sim_now() is the time of the last one. Returns early after
 * an event that calls sim_stop(); sim_now() is then the time of that event, and another call
 * continues the run. Events scheduled between two calls have the event's own block as their
 * origin.
 */
void sim_run(struct sim *sim, sim_time until);
void sim_stop(struct sim *sim);

/* Like sim_run(), but if no event is left, sim_now() is the time of the last one, as with
 * SIM_NEVER. Parallel runs may call it only if `until` is SIM_NEVER. */
void sim_run_to_idle(struct sim *sim, sim_time until);

/* Schedules an event, which must not be pending. The event never fires inside the call, even
 * with delay 0. */
void sim_schedule(struct event *event, sim_time delay);
void sim_schedule_at(struct event *event, sim_time at); /* `at` must not be before now */

/* Schedules an event of event_init_last(), whose place among the events of the same time does not
 * depend on the caller. `sim` is the owner's run. */
void sim_schedule_last(struct sim *sim, struct event *event, sim_time at);

/* Schedules one of many events of a block. At the same time it fires after all events that are
 * scheduled while the block's events fire, in the order of `rank`. `rank` is below SIM_RANKS, and
 * unique among the ranked events of the block at the same time. */
#define SIM_RANKS (UINT64_C(1) << 38)
void sim_schedule_ranked(struct event *event, sim_time at, uint64_t rank);

/* Cancels a pending event in O(1). Has no effect if the event is not pending. */
void sim_cancel(struct event *event);

/* Cancels all pending events of a run that ends early. The caller may then destroy the blocks in
 * any order. Parallel runs must not call it. */
void sim_drop(struct sim *sim);

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))
#define ARRAY_SIZE(array)               (sizeof(array) / sizeof((array)[0]))

#ifdef __cplusplus
}
#endif
#endif
