/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler: see scheduler.h. One pending event per processing unit, and one for the READ
 * engine. */
#include "hca/work/scheduler.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"
#include "hca/work/scheduler_adapter.h"
#include "sim/gauge.h"

#define ROW(...) PARAM_ROW(struct scheduler_params, __VA_ARGS__)

/* clang-format off */
const struct param scheduler_param_list[] = {SCHEDULER_PARAMS(ROW) {0}};
enum { SCHEDULER_TRACE(TRACE_ENUM) };

static void settle(struct block *block);
static void audit(struct block *block, FILE *out);

static const struct block_type scheduler_type = {
	.name         = "scheduler",
	.params       = scheduler_param_list,
	.counters     = (const struct counter[]){SCHEDULER_COUNTERS(COUNTER_ENTRY) {0}},
	.trace_points = (const struct trace_point[]){SCHEDULER_TRACE(TRACE_ENTRY) {0}},
	.gauges       = (const struct gauge_info[]){SCHEDULER_GAUGES(GAUGE_ENTRY) {0}},
	.audit        = audit,
	.settle       = settle,
};
/* clang-format on */

struct processing_unit {
	struct event arbitration;
	struct scheduler *scheduler;
	struct sched_entity *first, *last;
	sim_time free_at;
	sim_time busy; /* total busy time without gaps, until free_at */
};

struct scheduler {
	struct block block;
	struct scheduler_counters count;
	struct scheduler_gauges gauge;
	struct context_cache *contexts;
	const struct scheduler_user *user;
	const struct scheduler_params *params;
	uint64_t inflight_bytes;
	/* the READ engine, which READs, atomics and READ responses pass in the order of their
	 * grants */
	struct {
		struct event through; /* end of the first entity's packets */
		struct sched_entity *first, *last;
		sim_time free_at;
	} reads;
	bool throttled;
	uint64_t refused; /* the first unit that was refused since the throttle began */
	struct scheduler_adapter *adapter; /* NULL if no module replaces the scheduler */
	struct processing_unit units[];
};

/* A division would take most of the time of scheduler_wake(). */
static struct processing_unit *unit_of(struct scheduler *scheduler,
				       const struct sched_entity *entity)
{
	uint64_t units = scheduler->params->processing_units, below = units - 1;

	return &scheduler->units[units & below ? entity->number % units : entity->number & below];
}

static void arm(struct processing_unit *unit, sim_time delay)
{
	struct scheduler *scheduler = unit->scheduler;
	sim_time now = sim_now(scheduler->block.sim);
	sim_time at = now + delay > unit->free_at ? now + delay : unit->free_at;

	if (!event_pending(&unit->arbitration) && unit->first && !scheduler->throttled)
		sim_schedule_at(&unit->arbitration, at);
}

static void enqueue(struct processing_unit *unit, struct sched_entity *entity)
{
	if (entity->in_ring || entity->away || entity->closed)
		return;
	entity->in_ring = true;
	entity->next = NULL;
	entity->since = sim_now(unit->scheduler->block.sim);
	gauge_enter(&unit->scheduler->gauge.ring, entity->since, 1);
	if (unit->last)
		unit->last->next = entity;
	else
		unit->first = entity;
	unit->last = entity;
}

void scheduler_wake(struct scheduler *scheduler, struct sched_entity *entity)
{
	struct processing_unit *unit = unit_of(scheduler, entity);

	if (__builtin_expect(!!scheduler->adapter, 0)) {
		scheduler_adapter_wake(scheduler->adapter, entity);
		return;
	}
	enqueue(unit, entity);
	arm(unit, scheduler->params->latency);
}

bool scheduler_has_work(const struct scheduler *scheduler, const struct sched_entity *entity)
{
	return scheduler->user->has_work(entity);
}

void scheduler_drain(const struct scheduler *scheduler, struct sched_entity *entity)
{
	scheduler->user->drain(entity);
}

/* Returns an entity to its ring, so that it may get grants again. */
static void come_back(struct scheduler *scheduler, struct sched_entity *entity)
{
	struct processing_unit *unit = unit_of(scheduler, entity);

	entity->away = false;
	if (scheduler->adapter) {
		scheduler_adapter_ready(scheduler->adapter, entity);
	} else {
		enqueue(unit, entity);
		arm(unit, 0);
	}
}

static void context_arrived(struct context_lookup *lookup)
{
	struct sched_entity *entity = container_of(lookup, struct sched_entity, lookup);
	struct scheduler *scheduler = entity->scheduler;

	scheduler->count.context_wait_time += sim_now(scheduler->block.sim) - entity->since;
	gauge_left(&scheduler->gauge.contexts, entity->since, sim_now(scheduler->block.sim), 1);
	entity->context_ready = true;
	scheduler->user->waited(entity, entity->since);
	come_back(scheduler, entity);
	scheduler->user->drop(entity);
}

/* Returns true if the QP's context is cached. Otherwise requests it and returns false. */
bool scheduler_has_context(struct scheduler *scheduler, struct sched_entity *entity)
{
	struct context_cache *contexts = scheduler->contexts;
	enum context_kind kind =
		entity->kind == SCHED_REQUESTS ? CONTEXT_REQUESTER : CONTEXT_RESPONDER;
	sim_time ready;

	if (entity->context_ready) {
		entity->context_ready = false;
		return true;
	}
	if (context_cache_hit(contexts, kind, entity->number, entity->reliable, 0, &ready))
		return true;
	scheduler->count.context_waits++;
	entity->away = true;
	entity->since = sim_now(scheduler->block.sim);
	gauge_enter(&scheduler->gauge.contexts, entity->since, 1);
	entity->lookup = (struct context_lookup){
		.number = entity->number,
		.kind = kind,
		.reliable = entity->reliable,
		.done = context_arrived,
	};
	scheduler->user->hold(entity);
	context_cache_lookup(contexts, &entity->lookup);
	return false;
}

/* Returns the time that the packets of `made` occupy the READ engine; 0 for other packets. */
static sim_time read_time(const struct scheduler *scheduler, const struct scheduler_segment *made)
{
	const struct scheduler_params *params = scheduler->params;

	if (opcode_info[made->opcode].operation == OP_READ_RESPONSE) {
		uint64_t segments =
			(made->length + params->response_segment - 1) / params->response_segment;

		return params->response_interval *
		       (segments > made->packets ? segments : made->packets);
	}
	if (opcode_info[made->opcode].operation == OP_READ || opcode_is_atomic(made->opcode))
		return params->read_interval * made->packets;
	return 0;
}

/* Starts the packets of the first entity in the READ engine. */
static void reads_begin(struct scheduler *scheduler)
{
	struct sched_entity *entity = scheduler->reads.first;

	sim_schedule_at(&scheduler->reads.through, entity->reads_done);
	if (!entity->reads_wait)
		return;
	entity->reads_wait = false;
	scheduler->user->taken(entity);
	scheduler->user->drain(entity);
}

static void reads_through(struct event *event)
{
	struct scheduler *scheduler = container_of(event, struct scheduler, reads.through);
	struct sched_entity *entity = scheduler->reads.first;

	scheduler->reads.first = entity->next;
	entity->reads_done = 0;
	come_back(scheduler, entity);
	if (scheduler->reads.first)
		reads_begin(scheduler);
}

/* Books the READ engine for `duration`, after all that it is booked for. */
static void occupy_reads(struct scheduler *scheduler, sim_time duration)
{
	sim_time now = sim_now(scheduler->block.sim);

	if (scheduler->reads.free_at < now)
		scheduler->reads.free_at = now;
	gauge_serve(&scheduler->gauge.reads, scheduler->reads.free_at, duration);
	scheduler->reads.free_at += duration;
}

/* Adds the entity's last packets to the READ engine, for `duration` after the packets before
 * them. */
static void reads_enter(struct scheduler *scheduler, struct sched_entity *entity, sim_time duration)
{
	occupy_reads(scheduler, duration);
	entity->away = true;
	entity->reads_done = scheduler->reads.free_at;
	entity->next = NULL;
	entity->reads_wait = scheduler->reads.first;
	if (entity->reads_wait)
		scheduler->reads.last->next = entity;
	else
		scheduler->reads.first = entity;
	scheduler->reads.last = entity;
	if (!entity->reads_wait)
		reads_begin(scheduler);
}

void scheduler_read_list(struct scheduler *scheduler)
{
	occupy_reads(scheduler, scheduler->params->list_interval);
}

static void reads_forget(struct scheduler *scheduler, struct sched_entity *entity)
{
	struct sched_entity **link = &scheduler->reads.first, *before = NULL;

	for (; *link != entity; link = &(*link)->next)
		before = *link;
	*link = entity->next;
	if (scheduler->reads.last == entity)
		scheduler->reads.last = before;
	entity->reads_done = 0;
	entity->away = false;
	if (entity->reads_wait) { /* its packets are stale */
		entity->reads_wait = false;
		scheduler->user->drain(entity);
	}
	if (before)
		return;
	sim_cancel(&scheduler->reads.through);
	if (scheduler->reads.first)
		reads_begin(scheduler);
}

struct scheduler_grant scheduler_take(struct scheduler *scheduler, uint32_t unit,
				      struct sched_entity *entity)
{
	const struct scheduler_segment made = scheduler->user->next(entity);
	struct scheduler_grant grant = {.packets = made.packets, .bytes = made.bytes};
	sim_time reads;

	if (!made.packets)
		return grant;
	grant.taken = scheduler->params->packet_interval * grant.packets;
	if (grant.bytes > scheduler->gauge.inflight.beyond)
		scheduler->gauge.inflight.beyond = grant.bytes;
	reads = read_time(scheduler, &made);
	if (reads)
		reads_enter(scheduler, entity, reads);
	scheduler->count.grants++;
	scheduler->count.packets += grant.packets;
	scheduler->units[unit].busy += grant.taken;
	trace(&scheduler->block, TRACE_GRANT, 0, entity->number, grant.packets);
	return grant;
}

static struct scheduler_grant next_segment(struct processing_unit *unit,
					   struct sched_entity *entity)
{
	struct scheduler *scheduler = unit->scheduler;

	if (!scheduler->user->has_work(entity) || !scheduler_has_context(scheduler, entity))
		return (struct scheduler_grant){0};
	return scheduler_take(scheduler, (uint32_t)(unit - scheduler->units), entity);
}

static void arbitrate(struct event *event)
{
	struct processing_unit *unit = container_of(event, struct processing_unit, arbitration);
	struct scheduler *scheduler = unit->scheduler;
	struct sched_entity *entity = unit->first;
	struct scheduler_grant grant;

	if (!entity)
		return;
	if (scheduler->inflight_bytes >= scheduler->params->inflight_bytes) {
		if (!scheduler->throttled)
			scheduler->refused = (uint64_t)(unit - scheduler->units);
		scheduler->throttled = true;
		gauge_wait(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), true);
		scheduler->count.throttled++;
		return;
	}
	unit->first = entity->next;
	if (!unit->first)
		unit->last = NULL;
	entity->in_ring = false;
	gauge_left(&scheduler->gauge.ring, entity->since, sim_now(scheduler->block.sim), 1);
	grant = next_segment(unit, entity);
	if (grant.packets) {
		scheduler->inflight_bytes += grant.bytes;
		gauge_enter(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), grant.bytes);
		unit->free_at = sim_now(scheduler->block.sim) + grant.taken;
		enqueue(unit, entity);
	} else if (!entity->away) {
		scheduler->count.idle++;
	}
	arm(unit, 0);
	/* drained last, so that entities that it wakes do not delay the next grant */
	if (grant.packets)
		scheduler->user->drain(entity);
}

/* Returns granted bytes. The unit that was refused first gets the next grant. Otherwise one unit
 * could take all returned bytes. */
void scheduler_release(struct scheduler *scheduler, sim_time granted_at, uint32_t bytes)
{
	uint64_t units = scheduler->params->processing_units;

	if (scheduler->adapter) {
		scheduler_adapter_release(scheduler->adapter, bytes);
		return;
	}
	assert(scheduler->inflight_bytes >= bytes);
	scheduler->inflight_bytes -= bytes;
	gauge_left(&scheduler->gauge.inflight, granted_at, sim_now(scheduler->block.sim), bytes);
	if (!scheduler->throttled || scheduler->inflight_bytes >= scheduler->params->inflight_bytes)
		return;
	scheduler->throttled = false;
	gauge_wait(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), false);
	for (uint64_t i = 0; i < units; i++)
		arm(&scheduler->units[(scheduler->refused + i) % units], 0);
}

void scheduler_forget(struct scheduler *scheduler, struct sched_entity *entity)
{
	struct processing_unit *unit = unit_of(scheduler, entity);
	struct sched_entity *previous = NULL;

	if (entity->reads_done)
		reads_forget(scheduler, entity);
	if (scheduler->adapter) {
		scheduler_adapter_forget(scheduler->adapter, entity);
		return;
	}
	if (!entity->in_ring)
		return;
	entity->in_ring = false;
	gauge_left(&scheduler->gauge.ring, entity->since, sim_now(scheduler->block.sim), 1);
	for (struct sched_entity *other = unit->first; other != entity; other = other->next)
		previous = other;
	if (previous)
		previous->next = entity->next;
	else
		unit->first = entity->next;
	if (unit->last == entity)
		unit->last = previous;
}

static void settle(struct block *block)
{
	struct scheduler *scheduler = container_of(block, struct scheduler, block);

	for (uint64_t i = 0; i < scheduler->params->processing_units; i++) {
		if (scheduler->units[i].busy > scheduler->gauge.unit.area) {
			scheduler->gauge.unit.area = scheduler->units[i].busy;
			scheduler->gauge.unit.until = scheduler->units[i].free_at;
		}
	}
}

/* Checks the busy time of all units. A grant may be for several packets. */
static void audit(struct block *block, FILE *out)
{
	struct scheduler *scheduler = container_of(block, struct scheduler, block);
	sim_time busy = 0;

	for (uint64_t i = 0; i < scheduler->params->processing_units; i++)
		busy += scheduler->units[i].busy;
	block_equal(block, out, "busy time of the units = time of their packets", busy,
		    scheduler->count.packets * scheduler->params->packet_interval);
}

struct scheduler *scheduler_create(struct sim *sim, const char *name,
				   const struct scheduler_params *params,
				   struct context_cache *contexts,
				   const struct scheduler_user *user)
{
	struct scheduler *scheduler = calloc(
		1, sizeof(*scheduler) + params->processing_units * sizeof(scheduler->units[0]));

	assert(scheduler);
	scheduler->contexts = contexts;
	scheduler->user = user;
	scheduler->params = params;
	block_init(&scheduler->block, sim, &scheduler_type, name, params,
		   (const uint64_t *)&scheduler->count);
	block_gauges(&scheduler->block, (struct gauge *)&scheduler->gauge);
	scheduler->gauge.unit.capacity = 1;
	scheduler->gauge.reads.capacity = 1;
	scheduler->gauge.inflight.capacity = params->inflight_bytes;
	if (*params->module.text)
		scheduler->adapter = scheduler_adapter_create(scheduler, &scheduler->block, params,
							      &scheduler->count, &scheduler->gauge);
	event_init(&scheduler->reads.through, &scheduler->block, reads_through);
	for (uint64_t i = 0; i < params->processing_units; i++) {
		scheduler->units[i].scheduler = scheduler;
		event_init(&scheduler->units[i].arbitration, &scheduler->block, arbitrate);
	}
	return scheduler;
}

void scheduler_destroy(struct scheduler *scheduler)
{
	if (scheduler->adapter)
		scheduler_adapter_destroy(scheduler->adapter);
	for (uint64_t i = 0; i < scheduler->params->processing_units; i++) {
		assert(!scheduler->units[i].first);
		sim_cancel(&scheduler->units[i].arbitration);
	}
	assert(!scheduler->reads.first);
	block_fini(&scheduler->block);
	free(scheduler);
}
