/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler: see scheduler.h. One pending event per processing unit, and one of the engine of READs. */
#include "hca/work/scheduler.h"

#include <assert.h>
#include <stdlib.h>

#include "fabric/wire/opcode.h"
#include "hca/work/scheduler_port.h"
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
	struct event turn;
	struct scheduler *scheduler;
	struct flow *first, *last;
	sim_time free_at;
	sim_time busy; /* in all, without gaps: before free_at */
};

struct scheduler {
	struct block block;
	struct scheduler_counters count;
	struct scheduler_gauges gauge;
	struct context_cache *contexts;
	const struct scheduler_user *user;
	const struct scheduler_params *params;
	uint64_t inflight_bytes;
	struct
	{ /* the engine that all READs, atomics and responses pass, in the order of their grants */
		struct event through; /* with the first */
		struct flow *first, *last;
		sim_time free_at;
	} reads;
	bool throttled;
	uint64_t refused;            /* which unit found no room first since then */
	struct scheduler_port *port; /* NULL: no module is in its place */
	struct processing_unit units[];
};

static struct processing_unit *unit_of(struct scheduler *scheduler, const struct flow *flow)
{
	return &scheduler->units[flow->number % scheduler->params->processing_units];
}

static void arm(struct processing_unit *unit, sim_time delay)
{
	struct scheduler *scheduler = unit->scheduler;
	sim_time now = sim_now(scheduler->block.sim);
	sim_time at = now + delay > unit->free_at ? now + delay : unit->free_at;

	if (!event_pending(&unit->turn) && unit->first && !scheduler->throttled)
		sim_schedule_at(&unit->turn, at);
}

static void enqueue(struct processing_unit *unit, struct flow *flow)
{
	if (flow->in_ring || flow->away || flow->closed)
		return;
	flow->in_ring = true;
	flow->next = NULL;
	gauge_enter(&unit->scheduler->gauge.ring, sim_now(unit->scheduler->block.sim), 1);
	if (unit->last)
		unit->last->next = flow;
	else
		unit->first = flow;
	unit->last = flow;
}

void scheduler_wake(struct scheduler *scheduler, struct flow *flow)
{
	struct processing_unit *unit = unit_of(scheduler, flow);

	if (__builtin_expect(scheduler->port != NULL, 0)) {
		scheduler_port_wake(scheduler->port, flow);
		return;
	}
	enqueue(unit, flow);
	arm(unit, scheduler->params->latency);
}

bool scheduler_has_work(const struct scheduler *scheduler, const struct flow *flow)
{
	return scheduler->user->has_work(flow);
}

void scheduler_drain(const struct scheduler *scheduler, struct flow *flow)
{
	scheduler->user->drain(flow);
}

/* It may have turns again. */
static void come_back(struct scheduler *scheduler, struct flow *flow)
{
	struct processing_unit *unit = unit_of(scheduler, flow);

	flow->away = false;
	if (scheduler->port) {
		scheduler_port_ready(scheduler->port, flow);
	} else {
		enqueue(unit, flow);
		arm(unit, 0);
	}
}

static void context_arrived(struct context_lookup *lookup)
{
	struct flow *flow = container_of(lookup, struct flow, lookup);
	struct scheduler *scheduler = flow->scheduler;

	scheduler->count.context_wait_time +=
		sim_now(scheduler->block.sim) - flow->context_asked_at;
	gauge_left(&scheduler->gauge.contexts, flow->context_asked_at,
		   sim_now(scheduler->block.sim), 1);
	flow->context_ready = true;
	scheduler->user->waited(flow, flow->context_asked_at);
	come_back(scheduler, flow);
	scheduler->user->drop(flow);
}

/* Is the QP's state on the chip? If not, it is asked for. */
bool scheduler_has_context(struct scheduler *scheduler, struct flow *flow)
{
	struct context_cache *contexts = scheduler->contexts;
	enum context_kind kind =
		flow->kind == FLOW_REQUESTS ? CONTEXT_REQUESTER : CONTEXT_RESPONDER;
	sim_time ready;

	if (flow->context_ready) {
		flow->context_ready = false;
		return true;
	}
	if (context_cache_hit(contexts, kind, flow->number, flow->reliable, 0, &ready))
		return true;
	scheduler->count.context_waits++;
	flow->away = true;
	flow->context_asked_at = sim_now(scheduler->block.sim);
	gauge_enter(&scheduler->gauge.contexts, flow->context_asked_at, 1);
	flow->lookup = (struct context_lookup){
		.number = flow->number,
		.kind = kind,
		.reliable = flow->reliable,
		.done = context_arrived,
	};
	scheduler->user->hold(flow);
	context_cache_lookup(contexts, &flow->lookup);
	return false;
}

/* How long the packets that were just made take the engine of READs, when it comes to them. */
static sim_time read_time(const struct scheduler *scheduler, const struct scheduler_segment *made)
{
	const struct scheduler_params *params = scheduler->params;
	uint64_t segments =
		(made->length + params->response_segment - 1) / params->response_segment;

	if (opcode_info[made->opcode].operation == OP_READ_RESPONSE)
		return params->response_interval *
		       (segments > made->packets ? segments : made->packets);
	if (opcode_info[made->opcode].operation == OP_READ || opcode_is_atomic(made->opcode))
		return params->read_interval * made->packets;
	return 0;
}

/* The engine takes the packets of the first in line. */
static void reads_begin(struct scheduler *scheduler)
{
	struct flow *flow = scheduler->reads.first;

	sim_schedule_at(&scheduler->reads.through, flow->reads_done);
	if (!flow->reads_wait)
		return;
	flow->reads_wait = false;
	scheduler->user->taken(flow);
	scheduler->user->drain(flow);
}

static void reads_through(struct event *event)
{
	struct scheduler *scheduler = container_of(event, struct scheduler, reads.through);
	struct flow *flow = scheduler->reads.first;

	scheduler->reads.first = flow->next;
	flow->reads_done = 0;
	come_back(scheduler, flow);
	if (scheduler->reads.first)
		reads_begin(scheduler);
}

/* The flow's last packets are with the engine from now on, for so long when those before them are through. */
static void reads_enter(struct scheduler *scheduler, struct flow *flow, sim_time duration)
{
	sim_time now = sim_now(scheduler->block.sim);

	if (scheduler->reads.free_at < now)
		scheduler->reads.free_at = now;
	gauge_serve(&scheduler->gauge.reads, scheduler->reads.free_at, duration);
	scheduler->reads.free_at += duration;
	flow->away = true;
	flow->reads_done = scheduler->reads.free_at;
	flow->next = NULL;
	flow->reads_wait = scheduler->reads.first != NULL;
	if (flow->reads_wait)
		scheduler->reads.last->next = flow;
	else
		scheduler->reads.first = flow;
	scheduler->reads.last = flow;
	if (!flow->reads_wait)
		reads_begin(scheduler);
}

static void reads_forget(struct scheduler *scheduler, struct flow *flow)
{
	struct flow **link = &scheduler->reads.first, *before = NULL;

	for (; *link != flow; link = &(*link)->next)
		before = *link;
	*link = flow->next;
	if (scheduler->reads.last == flow)
		scheduler->reads.last = before;
	flow->reads_done = 0;
	flow->away = false;
	if (flow->reads_wait) { /* what it has is stale */
		flow->reads_wait = false;
		scheduler->user->drain(flow);
	}
	if (before)
		return;
	sim_cancel(&scheduler->reads.through);
	if (scheduler->reads.first)
		reads_begin(scheduler);
}

struct scheduler_grant scheduler_take(struct scheduler *scheduler, uint32_t unit, struct flow *flow)
{
	const struct scheduler_segment made = scheduler->user->next(flow);
	struct scheduler_grant grant = {.packets = made.packets, .bytes = made.bytes};
	sim_time reads;

	if (!made.packets)
		return grant;
	grant.taken = scheduler->params->packet_interval * grant.packets;
	if (grant.bytes > scheduler->gauge.inflight.beyond)
		scheduler->gauge.inflight.beyond = grant.bytes;
	reads = read_time(scheduler, &made);
	if (reads)
		reads_enter(scheduler, flow, reads);
	scheduler->count.turns++;
	scheduler->count.packets += grant.packets;
	scheduler->units[unit].busy += grant.taken;
	trace(&scheduler->block, TRACE_GRANT, 0, flow->number, grant.packets);
	return grant;
}

static struct scheduler_grant next_segment(struct processing_unit *unit, struct flow *flow)
{
	struct scheduler *scheduler = unit->scheduler;

	if (!scheduler->user->has_work(flow) || !scheduler_has_context(scheduler, flow))
		return (struct scheduler_grant){0};
	return scheduler_take(scheduler, (uint32_t)(unit - scheduler->units), flow);
}

static void turn(struct event *event)
{
	struct processing_unit *unit = container_of(event, struct processing_unit, turn);
	struct scheduler *scheduler = unit->scheduler;
	struct flow *flow = unit->first;
	struct scheduler_grant grant;

	if (!flow)
		return;
	if (scheduler->inflight_bytes >= scheduler->params->inflight_bytes) {
		if (!scheduler->throttled)
			scheduler->refused = (uint64_t)(unit - scheduler->units);
		scheduler->throttled = true;
		gauge_wait(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), true);
		scheduler->count.throttled++;
		return;
	}
	unit->first = flow->next;
	if (!unit->first)
		unit->last = NULL;
	flow->in_ring = false;
	gauge_leave(&scheduler->gauge.ring, sim_now(scheduler->block.sim), 1);
	grant = next_segment(unit, flow);
	if (grant.packets) {
		scheduler->inflight_bytes += grant.bytes;
		gauge_enter(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), grant.bytes);
		unit->free_at = sim_now(scheduler->block.sim) + grant.taken;
		enqueue(unit, flow);
	} else if (!flow->away) {
		scheduler->count.idle++;
	}
	arm(unit, 0);
	if (grant.packets)
		scheduler->user->drain(flow); /* what that wakes does not put off the next turn */
}

/* Who was refused first has the first turn: else the room that a packet leaves would be taken by the same unit again and again. */
void scheduler_release(struct scheduler *scheduler, uint32_t bytes)
{
	uint64_t units = scheduler->params->processing_units;

	if (scheduler->port) {
		scheduler_port_release(scheduler->port, bytes);
		return;
	}
	assert(scheduler->inflight_bytes >= bytes);
	scheduler->inflight_bytes -= bytes;
	gauge_leave(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), bytes);
	if (!scheduler->throttled || scheduler->inflight_bytes >= scheduler->params->inflight_bytes)
		return;
	scheduler->throttled = false;
	gauge_wait(&scheduler->gauge.inflight, sim_now(scheduler->block.sim), false);
	for (uint64_t i = 0; i < units; i++)
		arm(&scheduler->units[(scheduler->refused + i) % units], 0);
}

void scheduler_forget(struct scheduler *scheduler, struct flow *flow)
{
	struct processing_unit *unit = unit_of(scheduler, flow);
	struct flow *previous = NULL;

	if (flow->reads_done)
		reads_forget(scheduler, flow);
	if (scheduler->port) {
		scheduler_port_forget(scheduler->port, flow);
		return;
	}
	if (!flow->in_ring)
		return;
	flow->in_ring = false;
	gauge_leave(&scheduler->gauge.ring, sim_now(scheduler->block.sim), 1);
	for (struct flow *other = unit->first; other != flow; other = other->next)
		previous = other;
	if (previous)
		previous->next = flow->next;
	else
		unit->first = flow->next;
	if (unit->last == flow)
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

/* Of all units. A grant may be of several packets. */
static void audit(struct block *block, FILE *out)
{
	struct scheduler *scheduler = container_of(block, struct scheduler, block);
	sim_time busy = 0;

	for (uint64_t i = 0; i < scheduler->params->processing_units; i++)
		busy += scheduler->units[i].busy;
	block_equal(block, out, "utilisation of units: ps they were busy, and of their packets",
		    busy, scheduler->count.packets * scheduler->params->packet_interval);
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
		scheduler->port = scheduler_port_create(scheduler, &scheduler->block, params,
							&scheduler->count, &scheduler->gauge);
	event_init(&scheduler->reads.through, &scheduler->block, reads_through);
	for (uint64_t i = 0; i < params->processing_units; i++) {
		scheduler->units[i].scheduler = scheduler;
		event_init(&scheduler->units[i].turn, &scheduler->block, turn);
	}
	return scheduler;
}

void scheduler_destroy(struct scheduler *scheduler)
{
	if (scheduler->port)
		scheduler_port_destroy(scheduler->port);
	for (uint64_t i = 0; i < scheduler->params->processing_units; i++) {
		assert(!scheduler->units[i].first);
		sim_cancel(&scheduler->units[i].turn);
	}
	assert(!scheduler->reads.first);
	block_fini(&scheduler->block);
	free(scheduler);
}
