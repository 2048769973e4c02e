/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_port: see scheduler_port.h. */
#include "hca/work/scheduler_port.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/module/module_seat.h"

struct unit_turn {
	struct event event;
	struct scheduler_port *port;
};

struct scheduler_port {
	struct scheduler *scheduler;
	struct block *block; /* the scheduler's */
	const struct scheduler_params *params;
	struct scheduler_counters *count;
	struct scheduler_gauges *gauge;
	const struct scheduler_module *table;
	struct module_seat seat;
	struct unit_turn turns[];
};

/* ---- to the module ---- */

void scheduler_port_wake(struct scheduler_port *port, struct sched_entity *entity)
{
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->wake(port->seat.module, entity, ahead);
	module_seat_leave(&port->seat);
}

void scheduler_port_ready(struct scheduler_port *port, struct sched_entity *entity)
{
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->ready(port->seat.module, entity, ahead);
	module_seat_leave(&port->seat);
}

void scheduler_port_forget(struct scheduler_port *port, struct sched_entity *entity)
{
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->forget(port->seat.module, entity, ahead);
	module_seat_leave(&port->seat);
}

void scheduler_port_release(struct scheduler_port *port, uint32_t bytes)
{
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->release(port->seat.module, bytes, ahead);
	module_seat_leave(&port->seat);
}

static void turn(struct event *event)
{
	struct unit_turn *unit = container_of(event, struct unit_turn, event);
	struct scheduler_port *port = unit->port;
	sim_time ahead = module_seat_enter(&port->seat);

	port->table->turn(port->seat.module, (uint32_t)(unit - port->turns), ahead);
	module_seat_leave(&port->seat);
}

/* ---- from the module ---- */

static void must_be_inside(const struct scheduler_port *port)
{
	if (!port->seat.calls)
		module_broke(port->block->name,
			     "asks from a process of its own; expected inside of a call: name a "
			     "time by turn_at()");
}

static struct sched_entity_view service_look(const struct scheduler_port *port,
					     const struct sched_entity *entity)
{
	must_be_inside(port);
	return (struct sched_entity_view){
		.qpn = entity->number,
		.kind = entity->kind,
		.has_work = scheduler_has_work(port->scheduler, entity),
		.gone = entity->closed,
	};
}

static bool service_has_context(struct scheduler_port *port, struct sched_entity *entity)
{
	must_be_inside(port);
	return scheduler_has_context(port->scheduler, entity);
}

static struct scheduler_grant service_grant(struct scheduler_port *port, uint32_t unit,
					    struct sched_entity *entity)
{
	must_be_inside(port);
	assert(unit < port->params->processing_units);
	return scheduler_take(port->scheduler, unit, entity);
}

static void service_send(struct scheduler_port *port, struct sched_entity *entity)
{
	must_be_inside(port);
	scheduler_drain(port->scheduler, entity);
}

static void service_turn_at(struct scheduler_port *port, uint32_t unit, sim_time at)
{
	struct event *event = &port->turns[unit].event;

	if (unit >= port->params->processing_units || event_pending(event))
		module_broke(port->block->name,
			     "asks for a turn of a unit that there is not, or that waits for one");
	module_seat_schedule(&port->seat, event, port->block, turn, at);
}

static const struct scheduler_services services = {
	.look = service_look,
	.has_context = service_has_context,
	.grant = service_grant,
	.send = service_send,
	.turn_at = service_turn_at,
};

/* ---- life ---- */

static void *create_module(void *argument)
{
	struct scheduler_port *port = argument;
	const struct scheduler_setup setup = {
		.name = port->block->name,
		.params = port->params,
		.services = &services,
		.port = port,
		.counters = port->count,
		.gauges = port->gauge,
	};

	return port->table->create(&setup);
}

struct scheduler_port *scheduler_port_create(struct scheduler *scheduler, struct block *block,
					     const struct scheduler_params *params,
					     struct scheduler_counters *count,
					     struct scheduler_gauges *gauge)
{
	struct scheduler_port *port =
		calloc(1, sizeof(*port) + params->processing_units * sizeof(port->turns[0]));

	assert(port);
	port->scheduler = scheduler;
	port->block = block;
	port->params = params;
	port->count = count;
	port->gauge = gauge;
	for (uint64_t i = 0; i < params->processing_units; i++) {
		port->turns[i].port = port;
		event_init(&port->turns[i].event, block, turn);
	}
	port->table = module_open(MODULE_SCHEDULER, sizeof(*port->table), block->name,
				  params->module.text);
	module_seat_fill(&port->seat, block, create_module, port, port->table->destroy,
			 port->table->trace);
	return port;
}

void scheduler_port_destroy(struct scheduler_port *port)
{
	for (uint64_t i = 0; i < port->params->processing_units; i++)
		sim_cancel(&port->turns[i].event);
	module_seat_clear(&port->seat);
	free(port);
}
