/* SPDX-License-Identifier: Apache-2.0 */
/* scheduler_adapter: see scheduler_adapter.h. */
#include "hca/work/scheduler_adapter.h"

#include <assert.h>
#include <stdlib.h>

#include "hca/module/module_host.h"

struct unit_arbitration {
	struct event event;
	struct scheduler_adapter *adapter;
};

struct scheduler_adapter {
	struct scheduler *scheduler;
	struct block *block; /* the scheduler's */
	const struct scheduler_params *params;
	struct scheduler_counters *count;
	struct scheduler_gauges *gauge;
	const struct scheduler_module *table;
	struct module_host host;
	struct unit_arbitration arbitrations[];
};

/* ---- to the module ---- */

void scheduler_adapter_wake(struct scheduler_adapter *adapter, struct sched_entity *entity)
{
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->wake(adapter->host.module, entity, ahead);
	module_host_leave(&adapter->host);
}

void scheduler_adapter_ready(struct scheduler_adapter *adapter, struct sched_entity *entity)
{
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->ready(adapter->host.module, entity, ahead);
	module_host_leave(&adapter->host);
}

void scheduler_adapter_forget(struct scheduler_adapter *adapter, struct sched_entity *entity)
{
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->forget(adapter->host.module, entity, ahead);
	module_host_leave(&adapter->host);
}

void scheduler_adapter_release(struct scheduler_adapter *adapter, uint32_t bytes)
{
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->release(adapter->host.module, bytes, ahead);
	module_host_leave(&adapter->host);
}

static void arbitrate(struct event *event)
{
	struct unit_arbitration *unit = container_of(event, struct unit_arbitration, event);
	struct scheduler_adapter *adapter = unit->adapter;
	sim_time ahead = module_host_enter(&adapter->host);

	adapter->table->arbitrate(adapter->host.module, (uint32_t)(unit - adapter->arbitrations),
				  ahead);
	module_host_leave(&adapter->host);
}

/* ---- from the module ---- */

static void must_be_inside(const struct scheduler_adapter *adapter)
{
	if (!adapter->host.calls)
		module_broke(adapter->block->name, "calls a service from its own process; expected "
						   "a service within a call of the adapter, see "
						   "arbitrate_at()");
}

static sim_time service_now(const struct scheduler_adapter *adapter)
{
	must_be_inside(adapter);
	return sim_now(adapter->block->sim);
}

static struct sched_entity_view service_look(const struct scheduler_adapter *adapter,
					     const struct sched_entity *entity)
{
	must_be_inside(adapter);
	return (struct sched_entity_view){
		.qpn = entity->number,
		.kind = entity->kind,
		.has_work = scheduler_has_work(adapter->scheduler, entity),
		.gone = entity->closed,
	};
}

static bool service_has_context(struct scheduler_adapter *adapter, struct sched_entity *entity)
{
	must_be_inside(adapter);
	return scheduler_has_context(adapter->scheduler, entity);
}

static struct scheduler_grant service_grant(struct scheduler_adapter *adapter, uint32_t unit,
					    struct sched_entity *entity)
{
	must_be_inside(adapter);
	assert(unit < adapter->params->processing_units);
	return scheduler_take(adapter->scheduler, unit, entity);
}

static void service_gather(struct scheduler_adapter *adapter, struct sched_entity *entity)
{
	must_be_inside(adapter);
	scheduler_drain(adapter->scheduler, entity);
}

static void service_arbitrate_at(struct scheduler_adapter *adapter, uint32_t unit, sim_time at)
{
	struct event *event = &adapter->arbitrations[unit].event;

	if (unit >= adapter->params->processing_units || event_pending(event))
		module_broke(adapter->block->name, "requests an arbitration of a unit that does "
						   "not exist, or has one outstanding");
	module_host_schedule(&adapter->host, event, adapter->block, arbitrate, at);
}

static const struct scheduler_services services = {
	.now = service_now,
	.look = service_look,
	.has_context = service_has_context,
	.grant = service_grant,
	.gather = service_gather,
	.arbitrate_at = service_arbitrate_at,
};

/* ---- creation and destruction ---- */

static void *create_module(void *argument)
{
	struct scheduler_adapter *adapter = argument;
	const struct scheduler_setup setup = {
		.name = adapter->block->name,
		.params = adapter->params,
		.services = &services,
		.adapter = adapter,
		.counters = adapter->count,
		.gauges = adapter->gauge,
	};

	return adapter->table->create(&setup);
}

struct scheduler_adapter *scheduler_adapter_create(struct scheduler *scheduler, struct block *block,
						   const struct scheduler_params *params,
						   struct scheduler_counters *count,
						   struct scheduler_gauges *gauge)
{
	struct scheduler_adapter *adapter = calloc(
		1, sizeof(*adapter) + params->processing_units * sizeof(adapter->arbitrations[0]));

	assert(adapter);
	adapter->scheduler = scheduler;
	adapter->block = block;
	adapter->params = params;
	adapter->count = count;
	adapter->gauge = gauge;
	for (uint64_t i = 0; i < params->processing_units; i++) {
		adapter->arbitrations[i].adapter = adapter;
		event_init(&adapter->arbitrations[i].event, block, arbitrate);
	}
	adapter->table = module_open(MODULE_SCHEDULER, sizeof(*adapter->table), block->name,
				     params->module.text);
	module_host_fill(&adapter->host, block, false, create_module, adapter,
			 adapter->table->destroy, adapter->table->trace);
	return adapter;
}

void scheduler_adapter_destroy(struct scheduler_adapter *adapter)
{
	for (uint64_t i = 0; i < adapter->params->processing_units; i++)
		sim_cancel(&adapter->arbitrations[i].event);
	module_host_clear(&adapter->host);
	free(adapter);
}
