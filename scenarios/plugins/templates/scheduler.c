/* SPDX-License-Identifier: Apache-2.0 */
/*
 * example: lets the queue pairs of an adapter send in turn, segment by segment.
 * It is a start: replace take(), which chooses the next one. It has the times of the built-in
 * scheduler. The interface is hca/work/scheduler_module.h.
 *
 *     hcasim plugin build example.c
 *     hcasim run FILE --set hosts.hca.scheduler.module=./example.so
 */
#include <stdlib.h>

#include "hcasim/modules.h"

/* A unit grants one segment of a message at a time. An entity is the requests or the responses of a
 * queue pair. */
struct unit {
	struct sched_entity *first, *last; /* with work, in turn */
	sim_time free_at;
	bool armed; /* an arbitration is scheduled */
};

struct example {
	struct scheduler_setup setup;
	uint32_t unit_count;
	uint64_t inflight_bytes;
	bool throttled;
	uint32_t refused; /* the first unit that was refused since then */
	struct unit units[];
};

static sim_time now(const struct example *example)
{
	return example->setup.services->now(example->setup.adapter);
}

static struct sched_entity_view look(const struct example *example,
				     const struct sched_entity *entity)
{
	return example->setup.services->look(example->setup.adapter, entity);
}

static uint32_t unit_of(const struct example *example, const struct sched_entity *entity)
{
	return look(example, entity).qpn % example->unit_count;
}

/* Schedules the arbitration of a unit with work. */
static void arm(struct example *example, uint32_t number, sim_time delay)
{
	struct unit *unit = &example->units[number];
	sim_time at = now(example) + delay;

	if (unit->armed || !unit->first || example->throttled)
		return;
	unit->armed = true;
	example->setup.services->arbitrate_at(example->setup.adapter, number,
					      at > unit->free_at ? at : unit->free_at);
}

static void enqueue(struct example *example, struct sched_entity *entity)
{
	struct unit *unit = &example->units[unit_of(example, entity)];

	if (entity->in_ring || entity->away || look(example, entity).gone)
		return;
	entity->in_ring = true;
	entity->next = NULL;
	gauge_enter(&example->setup.gauges->ring, now(example), 1);
	if (unit->last)
		unit->last->next = entity;
	else
		unit->first = entity;
	unit->last = entity;
}

static void dequeue(struct example *example, struct unit *unit, struct sched_entity *entity)
{
	struct sched_entity **link = &unit->first, *before = NULL;

	for (; *link != entity; link = &(*link)->next)
		before = *link;
	*link = entity->next;
	if (unit->last == entity)
		unit->last = before;
	entity->in_ring = false;
	gauge_leave(&example->setup.gauges->ring, now(example), 1);
}

/* Takes the entity that gets the next grant: the one that waits longest. The first with the lowest
 * look().qpn would give priority to older queue pairs. */
static struct sched_entity *take(struct example *example, struct unit *unit)
{
	struct sched_entity *entity = unit->first;

	dequeue(example, unit, entity);
	return entity;
}

/* Creates the packets of the next segment, if the entity has data to send and its context. */
static struct scheduler_grant grant(struct example *example, uint32_t number,
				    struct sched_entity *entity)
{
	const struct scheduler_services *services = example->setup.services;

	if (!look(example, entity).has_work ||
	    !services->has_context(example->setup.adapter, entity))
		return (struct scheduler_grant){0};
	return services->grant(example->setup.adapter, number, entity);
}

static void arbitrate(void *module, uint32_t number, sim_time ahead)
{
	struct example *example = module;
	struct unit *unit = &example->units[number];
	struct sched_entity *entity;
	struct scheduler_grant granted;

	(void)ahead;
	unit->armed = false;
	if (!unit->first)
		return;
	if (example->inflight_bytes >= example->setup.params->inflight_bytes) {
		if (!example->throttled)
			example->refused = number;
		example->throttled = true;
		gauge_wait(&example->setup.gauges->inflight, now(example), true);
		example->setup.counters->throttled++;
		return;
	}
	entity = take(example, unit);
	granted = grant(example, number, entity);
	if (granted.packets) {
		example->inflight_bytes += granted.bytes;
		gauge_enter(&example->setup.gauges->inflight, now(example), granted.bytes);
		unit->free_at = now(example) + granted.taken;
		enqueue(example, entity);
	} else if (!entity->away) {
		example->setup.counters->idle++;
	}
	arm(example, number, 0);
	if (granted.packets)
		example->setup.services->gather(example->setup.adapter, entity);
}

/* The entity may have work now. */
static void wake(void *module, struct sched_entity *entity, sim_time ahead)
{
	struct example *example = module;

	(void)ahead;
	enqueue(example, entity);
	arm(example, unit_of(example, entity), example->setup.params->latency);
}

/* Its context has arrived, or the engine of READs has finished its packets. */
static void ready(void *module, struct sched_entity *entity, sim_time ahead)
{
	struct example *example = module;

	(void)ahead;
	enqueue(example, entity);
	arm(example, unit_of(example, entity), 0);
}

static void forget(void *module, struct sched_entity *entity, sim_time ahead)
{
	struct example *example = module;

	(void)ahead;
	if (entity->in_ring)
		dequeue(example, &example->units[unit_of(example, entity)], entity);
}

/* Bytes that were granted have left for the port. */
static void release(void *module, uint32_t bytes, sim_time ahead)
{
	struct example *example = module;

	(void)ahead;
	example->inflight_bytes -= bytes;
	gauge_leave(&example->setup.gauges->inflight, now(example), bytes);
	if (!example->throttled || example->inflight_bytes >= example->setup.params->inflight_bytes)
		return;
	example->throttled = false;
	gauge_wait(&example->setup.gauges->inflight, now(example), false);
	for (uint32_t i = 0; i < example->unit_count; i++)
		arm(example, (example->refused + i) % example->unit_count, 0);
}

static void *create(const struct scheduler_setup *setup)
{
	uint32_t units = (uint32_t)setup->params->processing_units;
	struct example *example = calloc(1, sizeof(*example) + units * sizeof(struct unit));

	if (!example)
		abort();
	example->setup = *setup;
	example->unit_count = units;
	return example;
}

const struct scheduler_module hca_scheduler_module = {
	.head = {MODULE_VERSION_SCHEDULER, sizeof(struct scheduler_module), "example",
		 "a ring of queue pairs for each unit"},
	.create = create,
	.destroy = free,
	.wake = wake,
	.ready = ready,
	.forget = forget,
	.release = release,
	.arbitrate = arbitrate,
};
