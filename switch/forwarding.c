/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarding: the table from a destination, LID or endpoint, to a port or to a group of ports that lead closer
 * equally well; IBTA vol. 1, 14.2.5.10 and 18.2.4. Filled before the run, by fabric/topology.h or by hand.
 */
#include <stdlib.h>

#include "switch/overlay.h"
#include "switch/switch_state.h"

/* Makes room in the table for that index, and marks what is new as leading nowhere. */
static void reach(struct fabric_switch *sw, uint32_t index)
{
	uint32_t entries = sw->table_entries ? sw->table_entries : 64;

	if (index < sw->table_entries)
		return;
	while (entries <= index)
		entries *= 2;
	sw->table = realloc(sw->table, entries * sizeof(sw->table[0]));
	assert(sw->table);
	for (uint32_t i = sw->table_entries; i < entries; i++)
		sw->table[i] = NO_ROUTE;
	sw->table_entries = entries;
}

static void set(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		uint16_t entry)
{
	uint32_t index = sw->by_lid ? endpoints_get(endpoints, endpoint)->lid : endpoint;

	reach(sw, index);
	sw->table[index] = entry;
}

void switch_route(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port)
{
	assert(port < sw->port_count);
	set(sw, endpoints, endpoint, (uint16_t)port);
}

/* The number of the group with exactly these ports. */
static uint32_t group_of(struct fabric_switch *sw, const struct port_set *ports)
{
	struct port_group *group;

	for (uint32_t i = 0; i < sw->group_count; i++)
		if (port_set_equal(&sw->groups[i].set, ports))
			return i;
	sw->groups = realloc(sw->groups, (sw->group_count + 1) * sizeof(*group));
	assert(sw->groups && sw->port_count + sw->group_count < NO_ROUTE);
	group = &sw->groups[sw->group_count];
	*group = (struct port_group){.set = *ports};
	PORT_SET_EACH(port, ports)
	group->ports[group->count++] = (uint8_t)port;
	return sw->group_count++;
}

void switch_route_any(struct fabric_switch *sw, const struct endpoints *endpoints,
		      uint32_t endpoint, const struct port_set *ports)
{
	unsigned first = port_set_next(ports, 0);

	assert(first < sw->port_count && port_set_next(ports, sw->port_count) == PORT_SET_PORTS);
	if (port_set_next(ports, first + 1) < PORT_SET_PORTS)
		set(sw, endpoints, endpoint, (uint16_t)(sw->port_count + group_of(sw, ports)));
	else
		set(sw, endpoints, endpoint, (uint16_t)first);
}

void switch_unroute(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint)
{
	set(sw, endpoints, endpoint, NO_ROUTE);
}

/* As topologies see a switch: where packets are balanced, the whole set is of interest. */
static void topology_route(void *context, const struct endpoints *endpoints, uint32_t endpoint,
			   unsigned port, const struct port_set *ports)
{
	struct fabric_switch *sw = context;

	if (sw->params.balance == BALANCE_DESTINATION)
		switch_route(sw, endpoints, endpoint, port);
	else
		switch_route_any(sw, endpoints, endpoint, ports);
}

static void topology_replicate(void *context, uint32_t group, const struct port_set *ports)
{
	switch_replicate(context, group, ports);
}

static struct port *topology_port(void *context, unsigned index)
{
	return switch_port(context, index);
}

static bool topology_start(void *context, char *error, size_t error_bytes)
{
	return switch_start(context, error, error_bytes);
}

static uint64_t topology_input_used(void *context, unsigned index, unsigned vl)
{
	struct fabric_switch *sw = context;

	if (sw->buffer)
		return shared_buffer_ingress_used(sw->buffer, buffer_class(index, vl));
	return port_input_used(sw->ports[index].port, vl);
}

/* A hash of the path and a table are the same for all of its packets; queues, chance and gaps are not. */
static bool topology_output(void *context, const struct path *path, unsigned *port)
{
	struct fabric_switch *sw = context;
	unsigned found = forwarding_find(sw, path);
	const struct packet packet = {.path = path};

	if (found == NO_ROUTE)
		return false;
	*port = found;
	if (found < sw->port_count)
		return true;
	if (sw->params.balance != BALANCE_ECMP && sw->params.balance != BALANCE_DESTINATION)
		return false;
	*port = balance_choose(sw, &sw->groups[found - sw->port_count], &packet);
	return true;
}

static void topology_outputs(void *context, const struct path *path, struct port_set *ports)
{
	struct fabric_switch *sw = context;
	unsigned found = forwarding_find(sw, path);

	*ports = (struct port_set){0};
	if (found == NO_ROUTE)
		return;
	if (found < sw->port_count)
		port_set_add(ports, found);
	else
		*ports = sw->groups[found - sw->port_count].set;
}

static unsigned topology_vl(void *context, unsigned input, unsigned output, const struct path *path,
			    unsigned vl)
{
	const struct packet packet = {.path = path, .vl = (uint8_t)vl};

	return vl_map_egress(context, input, output, &packet, vl);
}

static sim_time topology_forwarding_latency(void *context)
{
	const struct fabric_switch *sw = context;

	return sw->forwarding_latency;
}

struct topology_switch switch_topology(struct fabric_switch *sw)
{
	return (struct topology_switch){
		.context = sw,
		.ports = sw->port_count,
		.port = topology_port,
		.route = topology_route,
		.replicate = topology_replicate,
		.place = sw->overlay ? overlay_place : NULL,
		.start = topology_start,
		.input_used = topology_input_used,
		.output = topology_output,
		.outputs = topology_outputs,
		.vl = topology_vl,
		.forwarding_latency = topology_forwarding_latency,
	};
}

void forwarding_fini(struct fabric_switch *sw)
{
	free(sw->table);
	free(sw->groups);
}
