/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forwarding: the table from a destination, LID or endpoint, to a port or to a group of ports that
 * lead equally close. IBTA vol. 1, 14.2.5.10 and 18.2.4. fabric/topology.h fills it before the run,
 * or the user fills it by hand.
 */
#include <stdlib.h>

#include "switch/overlay.h"
#include "switch/switch_state.h"

static bool chooses_by_lid(const struct fabric_switch *sw)
{
	return sw->by_lid && sw->params.balance == BALANCE_DESTINATION;
}

/* Returns the bits of a block: as many hosts as a leaf of the fat tree with that many hosts has. A
 * table with a port for each LID has no blocks. */
static uint8_t block_bits(const struct fabric_switch *sw, const struct endpoints *endpoints)
{
	uint8_t bits = 0;

	while (!chooses_by_lid(sw) && UINT32_C(2) << 3 * (bits + 1) <= endpoints_count(endpoints))
		bits++;
	return bits;
}

/* Extends the table to that index. New entries lead nowhere. */
static void reach(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t index)
{
	uint32_t entries = endpoints_count(endpoints), blocks;
	uint16_t *table;

	if (!sw->table_entries)
		sw->block_bits = block_bits(sw, endpoints);
	while (entries <= index)
		entries = 2 * entries + 64;
	blocks = (entries >> sw->block_bits) + 1;
	table = sim_arena(sw->block.sim, blocks * sizeof(table[0]));
	for (uint32_t i = 0; i < blocks; i++)
		table[i] = i << sw->block_bits < sw->table_entries ? sw->table[i] : NO_ROUTE;
	sw->table = table;
	sw->table_entries = blocks << sw->block_bits;
}

static uint32_t index_of(const struct fabric_switch *sw, const struct endpoints *endpoints,
			 uint32_t endpoint)
{
	return sw->by_lid ? endpoints_get(endpoints, endpoint)->lid : endpoint;
}

/* Gives a block an entry for each address. */
static void split(struct fabric_switch *sw, uint16_t *block)
{
	uint32_t size = 1u << sw->block_bits;
	uint16_t entry = *block, number = sw->free_split;

	if (number == sw->split_count) {
		assert(number < NO_ROUTE - SPLIT_BLOCK);
		sw->splits = realloc(sw->splits, ((size_t)number + 1) * size * sizeof(entry));
		assert(sw->splits);
		sw->free_split = ++sw->split_count;
	} else {
		sw->free_split = sw->splits[(size_t)number * size];
	}
	*block = (uint16_t)(SPLIT_BLOCK + number);
	for (uint32_t i = 0; i < size; i++)
		forwarding_split(sw, *block)[i] = entry;
}

/* Gives a block one entry. */
static void join(struct fabric_switch *sw, uint16_t *block, uint16_t entry)
{
	if (forwarding_is_split(*block)) {
		*forwarding_split(sw, *block) = sw->free_split;
		sw->free_split = (uint16_t)(*block - SPLIT_BLOCK);
	}
	*block = entry;
}

static bool are_equal(const uint16_t *entries, uint32_t count)
{
	for (uint32_t i = count; i-- > 1;)
		if (entries[i] != entries[0])
			return false;
	return true;
}

static void set(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		uint16_t entry)
{
	uint32_t index = index_of(sw, endpoints, endpoint), size;
	uint16_t *block, *parts;

	if (__builtin_expect(index >= sw->table_entries, 0))
		reach(sw, endpoints, index);
	block = &sw->table[index >> sw->block_bits];
	size = 1u << sw->block_bits;
	if (*block == entry)
		return;
	if (size == 1) {
		*block = entry;
		return;
	}
	if (!forwarding_is_split(*block))
		split(sw, block);
	parts = forwarding_split(sw, *block);
	parts[index & (size - 1)] = entry;
	if (are_equal(parts, size))
		join(sw, block, entry);
}

/* Sets the entry of a whole block, if the next hosts are exactly this block. Returns their number,
 * or 0. */
static uint32_t set_block(struct fabric_switch *sw, const struct endpoints *endpoints,
			  const struct topology_hosts *hosts, uint32_t first, uint16_t entry)
{
	uint32_t size = 1u << sw->block_bits;
	uint32_t index = index_of(sw, endpoints, hosts->endpoints[first]);

	if (hosts->count - first < size || index % size || index + size > sw->table_entries)
		return 0;
	for (uint32_t i = 1; i < size; i++)
		if (index_of(sw, endpoints, hosts->endpoints[first + i]) != index + i)
			return 0;
	join(sw, &sw->table[index >> sw->block_bits], entry);
	return size;
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
	assert(sw->groups && sw->port_count + sw->group_count < FIRST_CHOICE);
	group = &sw->groups[sw->group_count];
	*group = (struct port_group){.set = *ports};
	PORT_SET_EACH(port, ports)
	group->ports[group->count++] = (uint8_t)port;
	return sw->group_count++;
}

/* Returns the number of the choice among exactly these ports. */
static uint16_t choice_of(struct fabric_switch *sw, const struct port_set *ports, uint32_t distance)
{
	struct port_choice *choice;

	for (uint16_t i = 0; i < sw->choice_count; i++)
		if (sw->choices[i].distance == distance % 2 &&
		    port_set_equal(&sw->choices[i].set, ports))
			return i;
	sw->choices = realloc(sw->choices, (sw->choice_count + 1u) * sizeof(*choice));
	assert(sw->choices && sw->choice_count < SPLIT_BLOCK - FIRST_CHOICE);
	choice = &sw->choices[sw->choice_count];
	*choice = (struct port_choice){.distance = distance % 2, .set = *ports};
	PORT_SET_EACH(port, ports)
	choice->ports[choice->count++] = (uint8_t)port;
	choice->power_of_two = (choice->count & (choice->count - 1)) == 0;
	if (choice->distance)
		choice->shift = (uint8_t)__builtin_ctz(choice->count);
	return sw->choice_count++;
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
	if (count > 1 && !chooses_by_lid(sw)) {
		bool chooses = sw->params.balance == BALANCE_DESTINATION;

		candidates[0] = (uint16_t)(chooses ? FIRST_CHOICE + choice_of(sw, ports, distance)
						   : sw->port_count + group_of(sw, ports));
		count = 1;
	}
	for (uint32_t i = 0, done; i < hosts->count; i += done) {
		uint32_t host = hosts->endpoints[i];

		done = count == 1 ? set_block(sw, endpoints, hosts, i, candidates[0]) : 0;
		if (done)
			continue;
		set(sw, endpoints, host, candidates[topology_choice(count, distance, host)]);
		done = 1;
	}
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

static void add_all(struct port_set *all, const struct port_set *ports)
{
	for (unsigned i = 0; i < PORT_SET_WORDS; i++)
		all->words[i] |= ports->words[i];
}

static void topology_reaches(void *context, const struct endpoints *endpoints,
			     const struct topology_hosts *hosts, struct port_set *ports)
{
	const struct fabric_switch *sw = context;
	uint16_t before = NO_ROUTE;

	*ports = (struct port_set){0};
	for (uint32_t i = 0; i < hosts->count; i++) {
		uint16_t entry = forwarding_entry(sw, index_of(sw, endpoints, hosts->endpoints[i]));

		if (entry == before)
			continue;
		before = entry;
		if (entry < sw->port_count)
			port_set_add(ports, entry);
		else if (entry < FIRST_CHOICE)
			add_all(ports, &sw->groups[entry - sw->port_count].set);
		else if (entry != NO_ROUTE)
			add_all(ports, &sw->choices[entry - FIRST_CHOICE].set);
	}
}

static bool topology_alike(void *context, const struct endpoints *endpoints,
			   const struct topology_hosts *hosts)
{
	const struct fabric_switch *sw = context;
	uint16_t first = forwarding_lookup(sw, index_of(sw, endpoints, hosts->endpoints[0]));

	for (uint32_t i = 1; i < hosts->count; i++)
		if (forwarding_lookup(sw, index_of(sw, endpoints, hosts->endpoints[i])) != first)
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
		.reaches = topology_reaches,
		.alike = topology_alike,
		.vl = topology_vl,
		.forwarding_latency = topology_forwarding_latency,
		.stores = sw->stores,
	};
}

void forwarding_fini(struct fabric_switch *sw)
{
	free(sw->splits);
	free(sw->choices);
	free(sw->groups);
}
