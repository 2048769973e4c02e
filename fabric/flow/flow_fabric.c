/* SPDX-License-Identifier: Apache-2.0 */
/* flow_fabric: see flow_fabric.h. */
#include "fabric/flow/flow_fabric.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/flow/fluid.h"
#include "sim/install_paths.h"

#define MODULE "libhcasim-fluid.so"

struct flow_fabric {
	const struct topology *topology;
	const struct fluid_ops *ops;
	struct fluid *fluid;
	struct flow_transfer waiting; /* head of a circular list: transfers to begin at this time */
	struct flow_transfer under_way; /* head of a circular list: transfers in progress */
	struct event step;
	struct flow_fabric_counters count;
	struct block block;
};

/* ---- circular lists ---- */

static void ring_init(struct flow_transfer *head)
{
	head->next = head->previous = head;
}

static void ring_append(struct flow_transfer *head, struct flow_transfer *transfer)
{
	transfer->previous = head->previous;
	transfer->next = head;
	head->previous->next = transfer;
	head->previous = transfer;
}

static void ring_remove(struct flow_transfer *transfer)
{
	transfer->previous->next = transfer->next;
	transfer->next->previous = transfer->previous;
}

/* ---- counters of ports ---- */

static void count(struct flow_fabric *fabric, struct flow_transfer *transfer, uint64_t packets,
		  uint64_t bytes)
{
	for (uint32_t i = 0; i < transfer->route.hops; i++)
		port_count_carried(topology_find_port(fabric->topology, transfer->route.ports[i]),
				   packets, bytes - transfer->counted_bytes);
	transfer->counted_bytes = bytes;
}

void flow_fabric_settle(struct flow_fabric *fabric)
{
	struct flow_transfer *head = &fabric->under_way;

	fabric->ops->advance(fabric->fluid, sim_now(fabric->block.sim));
	for (struct flow_transfer *transfer = head->next; transfer != head;
	     transfer = transfer->next) {
		double share =
			fabric->ops->carried_bytes(transfer->flow) / (double)transfer->link_bytes;
		uint64_t bytes = (uint64_t)(share * (double)transfer->bytes);

		if (bytes > transfer->counted_bytes && bytes <= transfer->bytes)
			count(fabric, transfer, 0, bytes);
	}
}

double flow_transfer_progress(const struct flow_transfer *transfer)
{
	return (double)transfer->counted_bytes / (double)transfer->bytes;
}

/* ---- time ---- */

static void schedule(struct flow_fabric *fabric, sim_time at)
{
	if (event_pending(&fabric->step)) {
		if (event_time(&fabric->step) == at)
			return;
		sim_cancel(&fabric->step);
	}
	if (at != SIM_NEVER)
		sim_schedule_at(&fabric->step, at);
}

static void end(struct flow_fabric *fabric, struct flow_transfer *transfer)
{
	ring_remove(transfer);
	count(fabric, transfer, transfer->packets, transfer->bytes);
	fabric->count.transfers_ended++;
	fabric->count.bytes_carried += transfer->link_bytes;
	transfer->ended(transfer);
}

static void begin_waiting(struct flow_fabric *fabric)
{
	while (fabric->waiting.next != &fabric->waiting) {
		struct flow_transfer *transfer = fabric->waiting.next;

		ring_remove(transfer);
		ring_append(&fabric->under_way, transfer);
		transfer->flow =
			fabric->ops->begin(fabric->fluid, transfer->route.ports,
					   transfer->route.hops, transfer->link_bytes, transfer);
		fabric->count.transfers_begun++;
	}
}

/* Ends transfers. Their owners may begin other transfers at the same time. */
static void step(struct event *event)
{
	struct flow_fabric *fabric = container_of(event, struct flow_fabric, step);
	struct flow_transfer *transfer;

	fabric->ops->advance(fabric->fluid, sim_now(fabric->block.sim));
	while ((transfer = fabric->ops->take_ended(fabric->fluid)))
		end(fabric, transfer);
	begin_waiting(fabric);
	fabric->count.solutions++;
	schedule(fabric, fabric->ops->next(fabric->fluid));
}

void flow_fabric_begin(struct flow_fabric *fabric, struct flow_transfer *transfer)
{
	assert(transfer->route.hops && transfer->bytes && transfer->link_bytes && transfer->ended);
	transfer->counted_bytes = 0;
	ring_append(&fabric->waiting, transfer);
	schedule(fabric, sim_now(fabric->block.sim));
}

/* ---- creation and destruction ---- */

static const struct fluid_ops *load(char *error, size_t error_bytes)
{
	const struct fluid_ops *ops;
	char path[PATH_MAX];
	void *module;

	if (!install_paths_library(MODULE, path)) {
		snprintf(error, error_bytes, "%s not found; expected in the folder of the program",
			 MODULE);
		return NULL;
	}
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	ops = module ? dlsym(module, "fluid_ops") : NULL;
	if (!ops)
		snprintf(error, error_bytes, "%s", dlerror());
	return ops;
}

static const struct block_type flow_fabric_type = {
	.name = "flow_fabric",
	.counters = (const struct counter[]){FLOW_FABRIC_COUNTERS(COUNTER_ENTRY){0}},
};

struct flow_fabric *flow_fabric_create(struct sim *sim, const struct topology *topology,
				       char *error, size_t error_bytes)
{
	const struct fluid_ops *ops = load(error, error_bytes);
	struct flow_fabric *fabric;
	const struct port *port;

	if (!ops)
		return NULL;
	fabric = calloc(1, sizeof(*fabric));
	assert(fabric);
	block_init(&fabric->block, sim, &flow_fabric_type, "flow_fabric", NULL, &fabric->count);
	event_init_priority(&fabric->step, &fabric->block, step, PRIORITY_LAST);
	ring_init(&fabric->waiting);
	ring_init(&fabric->under_way);
	fabric->topology = topology;
	fabric->ops = ops;
	fabric->fluid = ops->create();
	for (uint32_t i = 0; (port = topology_find_port(topology, i)); i++)
		ops->add_link(fabric->fluid, port_rate_bps(port));
	return fabric;
}

void flow_fabric_destroy(struct flow_fabric *fabric)
{
	sim_cancel(&fabric->step);
	fabric->ops->destroy(fabric->fluid);
	block_fini(&fabric->block);
	free(fabric);
}

const struct topology *flow_fabric_topology(const struct flow_fabric *fabric)
{
	return fabric->topology;
}
