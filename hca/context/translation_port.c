/* SPDX-License-Identifier: Apache-2.0 */
/*
 * translation_port: see translation_port.h. Reads top-down: a request goes to the module; the services that the module
 * calls in return. Answers that the module's processes give for one instant come in the order of their requests, whichever
 * process SystemC runs first.
 */
#include "hca/context/translation_port.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "hca/module/module_seat.h"

enum { NAME_BYTES = 256 };

struct translation_port {
	struct translation_unit *unit;
	struct block *block; /* the unit's */
	const struct translation_params *params;
	struct pcie *pcie;
	const struct translation_module *table;
	struct module_seat seat;
	uint64_t next_serial;
	struct translation *responses; /* by processes, in the order of delivery */
	struct event deliver;          /* of the first of them */
	struct cache_side {
		struct block block;
		struct icm_cache_counters count;
		struct icm_cache_gauges gauge;
		const struct icm_cache_params *params;
	} caches[TRANSLATION_CACHES];
};

static const enum context_kind cache_kinds[TRANSLATION_CACHES] = {CONTEXT_MPT, CONTEXT_MTT};

/* ---- to the module ---- */

void translation_port_request(struct translation_port *port, struct translation *request)
{
	sim_time ahead = module_seat_enter(&port->seat);

	if (!request->module)
		request->serial = port->next_serial++;
	port->table->request(port->seat.module, request, ahead);
	module_seat_leave(&port->seat);
}

void translation_port_invalidate(struct translation_port *port, enum translation_cache cache,
				 uint64_t first, uint64_t count)
{
	if (!count)
		return;
	module_seat_enter(&port->seat);
	port->table->invalidate(port->seat.module, cache, first, count);
	module_seat_leave(&port->seat);
}

static void present_again(struct event *event)
{
	struct translation *request = container_of(event, struct translation, event);

	translation_port_request(request->port, request);
}

static void fetched(struct pcie_read *read)
{
	struct translation_fetch *fetch = container_of(read, struct translation_fetch, read);
	sim_time ahead = module_seat_enter(&fetch->port->seat);

	assert(!read->failed);
	fetch->port->table->fetched(fetch->port->seat.module, fetch, ahead);
	module_seat_leave(&fetch->port->seat);
}

/* ---- from the module ---- */

static void schedule(struct translation_port *port, struct event *event, struct block *owner,
		     void (*fire)(struct event *), sim_time at)
{
	if (event_pending(event))
		module_broke(port->block->name, "responds to a request that has its response");
	module_seat_schedule(&port->seat, event, owner, fire, at);
}

static void service_entry(struct translation_port *port, struct translation *request,
			  struct translation_entry *entry)
{
	translation_check(port->unit, request, &entry->first_page, &entry->page_count);
	entry->status = request->status;
}

static void deliver_responses(struct event *event)
{
	struct translation_port *port = container_of(event, struct translation_port, deliver);
	struct translation *request;

	while ((request = port->responses) && request->response_at <= sim_now(port->block->sim)) {
		port->responses = request->next;
		translation_deliver(&request->event);
	}
	if (port->responses && !event_pending(event))
		sim_schedule_at(event, port->responses->response_at);
}

static void respond_from_process(struct translation_port *port, struct translation *request,
				 sim_time at)
{
	struct translation **place = &port->responses;

	module_check_time(port->block->sim, port->block->name, at);
	request->response_at = at;
	while (*place && ((*place)->response_at < at ||
			  ((*place)->response_at == at && (*place)->serial < request->serial)))
		place = &(*place)->next;
	request->next = *place;
	*place = request;
	if (place != &port->responses)
		return;
	sim_cancel(&port->deliver);
	sim_schedule_at(&port->deliver, at);
}

static void service_respond(struct translation_port *port, struct translation *request, sim_time at)
{
	if (!port->seat.calls)
		respond_from_process(port, request, at);
	else
		schedule(port, &request->event, port->block, translation_deliver, at);
}

static void service_again(struct translation_port *port, struct translation *request,
			  enum translation_cache part, sim_time at)
{
	struct block *owner = part < TRANSLATION_CACHES ? &port->caches[part].block : port->block;

	schedule(port, &request->event, owner, present_again, at);
}

static void start_fetch(struct event *event)
{
	struct translation_fetch *fetch = container_of(event, struct translation_fetch, event);

	pcie_read(fetch->port->pcie, &fetch->read);
}

static void service_fetch(struct translation_port *port, struct translation_fetch *fetch,
			  sim_time at)
{
	const struct icm_cache_params *params = port->caches[fetch->cache].params;

	fetch->port = port;
	event_init(&fetch->event, port->block, start_fetch);
	fetch->read = (struct pcie_read){
		.memory = memory_none(),
		.address = icm_line_address(cache_kinds[fetch->cache], params, fetch->line),
		.length = (uint32_t)(params->entry_bytes * params->line_entries),
		.tag = fetch->tag,
		.done = fetched,
	};
	if (module_seat_is_now(&port->seat, at))
		pcie_read(port->pcie, &fetch->read);
	else
		schedule(port, &fetch->event, port->block, start_fetch, at);
}

static void service_note(struct translation_port *port, enum translation_cache cache,
			 unsigned point, uint32_t tag, uint64_t first, uint64_t second)
{
	if (port->seat.calls)
		trace(&port->caches[cache].block, point, tag, first, second);
}

static const struct translation_services services = {
	.entry = service_entry,
	.respond = service_respond,
	.again = service_again,
	.fetch = service_fetch,
	.note = service_note,
};

const struct icm_cache_counters *translation_port_counters(const struct translation_port *port,
							   enum translation_cache cache)
{
	return &port->caches[cache].count;
}

/* ---- life ---- */

static void *create_module(void *argument)
{
	struct translation_port *port = argument;
	const struct translation_setup setup = {
		.name = port->block->name,
		.params = port->params,
		.services = &services,
		.port = port,
		.counters = {&port->caches[TRANSLATION_MPT].count,
			     &port->caches[TRANSLATION_MTT].count},
		.gauges = {&port->caches[TRANSLATION_MPT].gauge,
			   &port->caches[TRANSLATION_MTT].gauge},
	};

	return port->table->create(&setup);
}

static void create_cache(struct translation_port *port, enum translation_cache cache,
			 const char *part, const struct icm_cache_params *params)
{
	struct cache_side *side = &port->caches[cache];
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%s.%s", port->block->name, part);
	side->params = params;
	icm_block_init(&side->block, port->block->sim, name, cache_kinds[cache], params,
		       &side->count, &side->gauge);
}

struct translation_port *translation_port_create(struct translation_unit *unit, struct block *block,
						 const struct translation_params *params,
						 struct pcie *pcie)
{
	struct translation_port *port = calloc(1, sizeof(*port));

	assert(port);
	*port = (struct translation_port){
		.unit = unit, .block = block, .params = params, .pcie = pcie};
	event_init_priority(&port->deliver, block, deliver_responses, PRIORITY_EXTERNAL);
	port->table = module_open(MODULE_TRANSLATION, sizeof(*port->table), block->name,
				  params->module.text);
	create_cache(port, TRANSLATION_MPT, "mpt", &params->mpt);
	create_cache(port, TRANSLATION_MTT, "mtt", &params->mtt);
	module_seat_fill(&port->seat, block, create_module, port, port->table->destroy,
			 port->table->trace);
	return port;
}

void translation_port_destroy(struct translation_port *port)
{
	sim_cancel(&port->deliver);
	module_seat_clear(&port->seat);
	for (unsigned cache = 0; cache < TRANSLATION_CACHES; cache++)
		block_fini(&port->caches[cache].block);
	free(port);
}
