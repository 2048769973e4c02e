/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_adapter: see translation_adapter.h. A request goes to the module, which calls the
 * services in return. Responses from processes of the module at one time are delivered in the order
 * of the requests. The order in which SystemC runs the processes has no effect.
 */
#include "hca/context/translation_adapter.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/module/module_host.h"

enum { NAME_BYTES = 256 };

struct translation_adapter {
	struct translation_unit *unit;
	struct block *block; /* the unit's */
	const struct translation_params *params;
	struct pcie *pcie;
	const struct translation_module *table;
	struct module_host host;
	uint64_t next_serial;
	struct translation *responses; /* responses from processes, in the order of delivery */
	struct event deliver;          /* delivers the first response */
	struct cache_side {
		struct block block;
		struct icm_cache_counters count;
		struct icm_cache_gauges gauge;
		const struct icm_cache_params *params;
	} caches[TRANSLATION_CACHES];
};

static const enum context_kind cache_kinds[TRANSLATION_CACHES] = {CONTEXT_MPT, CONTEXT_MTT};

/* ---- to the module ---- */

void translation_adapter_request(struct translation_adapter *adapter, struct translation *request)
{
	sim_time ahead = module_host_enter(&adapter->host);

	if (!request->module)
		request->serial = adapter->next_serial++;
	adapter->table->request(adapter->host.module, request, ahead);
	module_host_leave(&adapter->host);
}

void translation_adapter_invalidate(struct translation_adapter *adapter,
				    enum translation_cache cache, uint64_t first, uint64_t count)
{
	if (!count)
		return;
	module_host_enter(&adapter->host);
	adapter->table->invalidate(adapter->host.module, cache, first, count);
	module_host_leave(&adapter->host);
}

static void present_again(struct event *event)
{
	struct translation *request = container_of(event, struct translation, event);

	translation_adapter_request(request->adapter, request);
}

static void fetched(struct pcie_read *read)
{
	struct translation_fetch *fetch = container_of(read, struct translation_fetch, read);
	sim_time ahead = module_host_enter(&fetch->adapter->host);

	assert(!read->failed);
	fetch->adapter->table->fetched(fetch->adapter->host.module, fetch, ahead);
	module_host_leave(&fetch->adapter->host);
}

/* ---- from the module ---- */

static void schedule(struct translation_adapter *adapter, struct event *event, struct block *owner,
		     void (*fire)(struct event *), sim_time at)
{
	if (event_pending(event))
		module_broke(adapter->block->name, "responds twice to one request");
	module_host_schedule(&adapter->host, event, owner, fire, at);
}

static void service_entry(struct translation_adapter *adapter, struct translation *request,
			  struct translation_entry *entry)
{
	translation_check(adapter->unit, request, &entry->first_page, &entry->page_count);
	entry->status = request->status;
}

static void deliver_responses(struct event *event)
{
	struct translation_adapter *adapter =
		container_of(event, struct translation_adapter, deliver);
	struct translation *request;

	while ((request = adapter->responses) &&
	       request->response_at <= sim_now(adapter->block->sim)) {
		adapter->responses = request->next;
		translation_deliver(&request->event);
	}
	if (adapter->responses && !event_pending(event))
		sim_schedule_at(event, adapter->responses->response_at);
}

static void respond_from_process(struct translation_adapter *adapter, struct translation *request,
				 sim_time at)
{
	struct translation **place = &adapter->responses;

	module_check_time(adapter->block->sim, adapter->block->name, at);
	request->response_at = at;
	while (*place && ((*place)->response_at < at ||
			  ((*place)->response_at == at && (*place)->serial < request->serial)))
		place = &(*place)->next;
	request->next = *place;
	*place = request;
	if (place != &adapter->responses)
		return;
	sim_cancel(&adapter->deliver);
	sim_schedule_at(&adapter->deliver, at);
}

static void service_respond(struct translation_adapter *adapter, struct translation *request,
			    sim_time at)
{
	if (!adapter->host.calls)
		respond_from_process(adapter, request, at);
	else
		schedule(adapter, &request->event, adapter->block, translation_deliver, at);
}

static void service_again(struct translation_adapter *adapter, struct translation *request,
			  enum translation_cache part, sim_time at)
{
	struct block *owner =
		part < TRANSLATION_CACHES ? &adapter->caches[part].block : adapter->block;

	schedule(adapter, &request->event, owner, present_again, at);
}

static void start_fetch(struct event *event)
{
	struct translation_fetch *fetch = container_of(event, struct translation_fetch, event);

	pcie_read(fetch->adapter->pcie, &fetch->read);
}

static void service_fetch(struct translation_adapter *adapter, struct translation_fetch *fetch,
			  sim_time at)
{
	const struct icm_cache_params *params = adapter->caches[fetch->cache].params;

	fetch->adapter = adapter;
	event_init(&fetch->event, adapter->block, start_fetch);
	fetch->read = (struct pcie_read){
		.memory = memory_none(),
		.address = icm_cache_line_address(cache_kinds[fetch->cache], params, fetch->line),
		.length = (uint32_t)(params->entry_bytes * params->line_entries),
		.tag = fetch->tag,
		.done = fetched,
	};
	if (module_host_is_now(&adapter->host, at))
		pcie_read(adapter->pcie, &fetch->read);
	else
		schedule(adapter, &fetch->event, adapter->block, start_fetch, at);
}

static void service_note(struct translation_adapter *adapter, enum translation_cache cache,
			 unsigned point, uint32_t tag, uint64_t first, uint64_t second)
{
	if (adapter->host.calls)
		trace(&adapter->caches[cache].block, point, tag, first, second);
}

static const struct translation_services services = {
	.entry = service_entry,
	.respond = service_respond,
	.again = service_again,
	.fetch = service_fetch,
	.note = service_note,
};

const struct icm_cache_counters *
translation_adapter_counters(const struct translation_adapter *adapter,
			     enum translation_cache cache)
{
	return &adapter->caches[cache].count;
}

/* ---- creation and destruction ---- */

static void *create_module(void *argument)
{
	struct translation_adapter *adapter = argument;
	const struct translation_setup setup = {
		.name = adapter->block->name,
		.params = adapter->params,
		.services = &services,
		.adapter = adapter,
		.counters = {&adapter->caches[TRANSLATION_MPT].count,
			     &adapter->caches[TRANSLATION_MTT].count},
		.gauges = {&adapter->caches[TRANSLATION_MPT].gauge,
			   &adapter->caches[TRANSLATION_MTT].gauge},
	};

	return adapter->table->create(&setup);
}

static void create_cache(struct translation_adapter *adapter, enum translation_cache cache,
			 const char *part, const struct icm_cache_params *params)
{
	struct cache_side *side = &adapter->caches[cache];
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s.%s", adapter->block->name, part);
	side->params = params;
	icm_cache_block_init(&side->block, adapter->block->sim, name, cache_kinds[cache], params,
			     &side->count, &side->gauge);
}

struct translation_adapter *translation_adapter_create(struct translation_unit *unit,
						       struct block *block,
						       const struct translation_params *params,
						       struct pcie *pcie)
{
	struct translation_adapter *adapter = calloc(1, sizeof(*adapter));

	assert(adapter);
	*adapter = (struct translation_adapter){
		.unit = unit, .block = block, .params = params, .pcie = pcie};
	event_init_priority(&adapter->deliver, block, deliver_responses, PRIORITY_EXTERNAL);
	adapter->table = module_open(MODULE_TRANSLATION, sizeof(*adapter->table), block->name,
				     params->module.text);
	create_cache(adapter, TRANSLATION_MPT, "mpt", &params->mpt);
	create_cache(adapter, TRANSLATION_MTT, "mtt", &params->mtt);
	module_host_fill(&adapter->host, block, false, create_module, adapter,
			 adapter->table->destroy, adapter->table->trace);
	return adapter;
}

void translation_adapter_destroy(struct translation_adapter *adapter)
{
	sim_cancel(&adapter->deliver);
	module_host_clear(&adapter->host);
	for (unsigned cache = 0; cache < TRANSLATION_CACHES; cache++)
		block_fini(&adapter->caches[cache].block);
	free(adapter);
}
