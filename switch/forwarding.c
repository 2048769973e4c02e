/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarding: the table from a destination, LID or endpoint, to a port or to a group of ports that
 * lead equally close. IBTA vol. 1, 14.2.5.10 and 18.2.4. fabric/topology.h fills it before the run,
 * or the user fills it by hand.
 */
#include <stdlib.h>

#include "switch/overlay.h"
#include "switch/switch_state.h"

/* Extends the table to that index. New entries lead nowhere. */
static void reach(struct fabric_switch *sw, uint32_t index)
{
	uint32_t entries = sw->table_entries ? sw->table_entries : 64;

	while (entries <= index)
		entries *= 2;
	sw->table = realloc(sw->table, entries * sizeof(sw->table[0]));
	assert(sw->table);
	for (uint32_t i = sw->table_entries; i < entries; i++)
		sw->table[i] = NO_ROUTE;
	sw->table_entries = entries;
}

static uint32_t index_of(const struct fabric_switch *sw, const struct endpoints *endpoints,
			 uint32_t endpoint)
{
	return sw->by_lid ? endpoints_get(endpoints, endpoint)->lid : endpoint;
}

static void set(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		uint16_t entry)
{
	uint32_t index = index_of(sw, endpoints, endpoint);

	if (__builtin_expect(index >= sw->table_entries, 0))
		reach(sw, index);
	sw->table[index] = entry;
}

void switch_route(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port)
{
	assert(port < sw->port_count);
	set(sw, endpoints, endpoint, (uint16_t)port);
}

/* Returns the number of the group with exactly these ports. */
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

/* Sets routes for a topology. A switch that balances load uses the whole set. */
static void topology_route(void *context, const struct endpoints *endpoints,
			   const struct topology_hosts *hosts, uint32_t distance,
			   const struct port_set *ports)
{
	struct fabric_switch *sw = context;
	uint16_t candidates[PORT_SET_PORTS];
	unsigned count = 0;

	PORT_SET_EACH(port, ports)
	candidates[count++] = (uint16_t)port;
	assert(count && candidates[count - 1] < sw->port_count);
	if (count > 1 && sw->params.balance != BALANCE_DESTINATION) {
		candidates[0] = (uint16_t)(sw->port_count + group_of(sw, ports));
		count = 1;
	}
	for (uint32_t i = 0; i < hosts->count; i++)
		set(sw, endpoints, hosts->endpoints[i],
		    count == 1 ? candidates[0]
			       : candidates[topology_choice(count, distance, hosts->endpoints[i])]);
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

/* Returns the output of all packets of a path. Returns false if it also depends on queues, random
 * choices or gaps. A hash or a table gives the same output for all packets of a path. */
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

static uint16_t entry_of(const struct fabric_switch *sw, const struct endpoints *endpoints,
			 uint32_t endpoint)
{
	uint32_t index = index_of(sw, endpoints, endpoint);

	return index < sw->table_entries ? sw->table[index] : NO_ROUTE;
}

static bool topology_alike(void *context, const struct endpoints *endpoints,
			   const struct topology_hosts *hosts)
{
	const struct fabric_switch *sw = context;
	uint16_t first = entry_of(sw, endpoints, hosts->endpoints[0]);

	for (uint32_t i = 1; i < hosts->count; i++)
		if (entry_of(sw, endpoints, hosts->endpoints[i]) != first)
			return false;
	return true;
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
		.alike = topology_alike,
		.vl = topology_vl,
		.forwarding_latency = topology_forwarding_latency,
		.stores = sw->stores,
	};
}

void forwarding_fini(struct fabric_switch *sw)
{
	free(sw->table);
	free(sw->groups);
}
