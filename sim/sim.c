/* SPDX-License-Identifier: Apache-2.0 */
/* sim: the API of sim.h: the total order, the native engine, and the calls of the other two. */
#include "sim/sim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/engine.h"
#include "sim/parallel.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define FIRST_RANK (UINT64_C(1) << (EVENT_ORIGIN_SHIFT - 1)) /* above any sequence of an origin */

static inline void enter(struct sim *sim, struct event *event)
{
	if (likely(!sim->ops))
		wheel_insert(&sim->wheel, event);
	else
		sim->ops->insert(sim, event);
}

static inline void insert(struct event *event, struct sim *sim, sim_time at)
{
	struct block *origin = sim->current ? sim->current : event->owner;

	assert(event->place == 0);
	event->key = at << 3 | (event->key & 7);
	event->order = origin->next_order++;
	enter(sim, event);
}

void sim_schedule(struct event *event, sim_time delay)
{
	struct sim *sim = event->owner->sim;

	assert(delay < SIM_NEVER - sim->now);
	insert(event, sim, sim->now + delay);
}

void sim_schedule_at(struct event *event, sim_time at)
{
	struct sim *sim = event->owner->sim;

	assert(at >= sim->now && at < SIM_NEVER);
	insert(event, sim, at);
}

void sim_schedule_last(struct sim *sim, struct event *event, sim_time at)
{
	assert(event->place == 0 && at >= sim->now && at < SIM_NEVER);
	event->key = at << 3 | (event->key & 7);
	enter(sim, event);
}

void sim_schedule_ranked(struct event *event, sim_time at, uint64_t rank)
{
	struct block *owner = event->owner;
	struct sim *sim = owner->sim;

	assert(event->place == 0 && at >= sim->now && at < SIM_NEVER && rank < SIM_RANKS);
	event->key = at << 3 | (event->key & 7);
	event->order = ((uint64_t)owner->id << EVENT_ORIGIN_SHIFT) + FIRST_RANK + rank;
	enter(sim, event);
}

void sim_cancel(struct event *event)
{
	struct sim *sim = event->owner->sim;

	if (event->place == 0)
		return;
	if (likely(!sim->ops))
		wheel_remove(&sim->wheel, event);
	else
		sim->ops->cancel(sim, event);
}

static const struct event *first_pending(struct sim *sim)
{
	return !sim->ops ? wheel_first(&sim->wheel) : sim->ops->first(sim);
}

void sim_drop(struct sim *sim)
{
	const struct event *first;

	for (unsigned i = 0; i < sim_lps(sim); i++) {
		struct sim *lp = sim_lp(sim, i);

		assert(!lp->current);
		while ((first = first_pending(lp)))
			sim_cancel((struct event *)first);
	}
}

void engine_run_native(struct sim *sim, sim_time until)
{
	struct event *event;

	sim->limit = until;
	while ((event = wheel_pop(&sim->wheel, sim->limit - 1))) {
		engine_fire(sim, event);
		if (unlikely(sim->stop))
			break;
	}
}

void sim_note_loss(struct sim *sim, sim_time at)
{
	assert(at >= sim->now);
	if (at < sim->first_loss)
		sim->first_loss = at;
}

sim_time sim_first_loss(const struct sim *sim)
{
	return sim->first_loss;
}

/* Returns with the time at the last event. */
static void run(struct sim *sim, sim_time until)
{
	assert(!sim->current && "sim_run() inside an event");
	assert(until >= sim->now && until <= SIM_NEVER);
	sim->stop = false;
	if (until == sim->now)
		return;
	assert(sim->root == sim);
	if (sim->lp)
		parallel_run(sim, until);
	else if (!sim->ops)
		engine_run_native(sim, until);
	else
		sim->ops->run(sim, until);
	sim->current = NULL;
}

void sim_run(struct sim *sim, sim_time until)
{
	run(sim, until);
	if (!sim->stop && until != SIM_NEVER)
		sim->now = until;
}

void sim_run_to_idle(struct sim *sim, sim_time until)
{
	assert(!sim->lp || until == SIM_NEVER);
	run(sim, until);
	if (!sim->stop && until != SIM_NEVER && sim_next(sim) != SIM_NEVER)
		sim->now = until;
}

void sim_stop(struct sim *sim)
{
	sim->stop = true;
}

sim_time sim_next(struct sim *sim)
{
	if (sim->lp)
		return parallel_next(sim);
	const struct event *first = first_pending(sim);

	return first ? event_time(first) : SIM_NEVER;
}

uint32_t sim_new_tag(struct sim *sim)
{
	return ++sim->last_tag != 0 ? sim->last_tag : ++sim->last_tag;
}

void *sim_arena(struct sim *sim, size_t bytes)
{
	return arena_take(&sim->arena, bytes);
}

uint64_t sim_seed(const struct sim *sim)
{
	return sim->seed;
}

uint64_t sim_events_fired(const struct sim *sim)
{
	return sim->lp ? parallel_events_fired(sim) : sim->fired;
}

bool sim_engine_from_name(const char *name, enum sim_engine *engine)
{
#define NAME(name, text, meaning) text,
	static const char *const names[] = {SIM_ENGINES(NAME)};
#undef NAME

	for (unsigned i = 0; i < SIM_ENGINE_COUNT; i++) {
		if (strcmp(name, names[i]) == 0) {
			*engine = (enum sim_engine)i;
			return true;
		}
	}
	return false;
}

struct sim *sim_create(enum sim_engine engine, uint64_t seed)
{
	static const struct engine_ops *const engines[SIM_ENGINE_COUNT] = {
		[SIM_ENGINE_native] = NULL, /* called directly */
		[SIM_ENGINE_systemc] = &engine_systemc,
		[SIM_ENGINE_systemc_reference] = &engine_systemc_reference,
	};
	struct sim *sim = calloc(1, sizeof(*sim));

	assert(sim && engine < SIM_ENGINE_COUNT);
	sim->engine = engine;
	sim->seed = seed;
	sim->first_loss = SIM_NEVER;
	sim->root = sim;
	sim->ops = engines[engine];
	wheel_init(&sim->wheel, &sim->arena);
	if (sim->ops)
		sim->ops->init(sim);
	return sim;
}

void sim_destroy(struct sim *sim)
{
	assert(!sim->first_block && "a block outlives its run");
	if (sim->lp)
		parallel_destroy(sim);
	if (sim->ops)
		sim->ops->fini(sim);
	wheel_fini(&sim->wheel);
	arena_fini(&sim->arena);
	free(sim);
}
