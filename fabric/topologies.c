/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topologies: see topologies.h.
 */
#include "fabric/topologies.h"

#include <stdio.h>

#define HOSTS_MAX UINT32_C(1000000)

static bool refuse(char *error, size_t bytes, const char *what)
{
	snprintf(error, bytes, "%s", what);
	return false;
}

static bool ports_fit(uint64_t ports, const char *kind, char *error, size_t bytes)
{
	if (ports >= 1 && ports <= PORT_SET_PORTS)
		return true;
	snprintf(error, bytes, "a %s switch needs %llu ports; expected 1 to %d", kind,
		 (unsigned long long)ports, PORT_SET_PORTS);
	return false;
}

static uint32_t add_switches(struct layout *layout, const char *kind, uint32_t count,
			     uint64_t ports, uint32_t rank)
{
	uint32_t first = layout->node_count;

	for (uint32_t i = 0; i < count; i++) {
		char name[LAYOUT_NAME_BYTES];

		snprintf(name, sizeof(name), "%s%u", kind, i);
		layout_add_switch(layout, name, (uint16_t)ports, rank);
	}
	return first;
}

/*
 * Adds hosts at the first ports of `count` leaves. With several rails, leaves 0 .. rails-1 share
 * their machines: NIC r of a machine is at leaf r of its block.
 */
static void add_hosts(struct layout *layout, uint32_t first_leaf, uint32_t count, uint32_t hosts,
		      uint32_t rails)
{
	uint32_t machine = 0;

	for (uint32_t block = 0; block < count / rails; block++) {
		for (uint32_t host = 0; host < hosts; host++, machine++) {
			for (uint32_t rail = 0; rail < rails; rail++) {
				char name[LAYOUT_NAME_BYTES];
				uint32_t node;

				if (rails == 1)
					snprintf(name, sizeof(name), "host%u", machine);
				else
					snprintf(name, sizeof(name), "host%u.rail%u", machine,
						 rail);
				node = layout_add_host(layout, name, machine, rail);
				layout_add_link(layout, node, 0, first_leaf + block * rails + rail,
						(uint16_t)host);
			}
		}
	}
}

bool topology_star(struct layout *layout, const struct star_shape *shape, char *error, size_t bytes)
{
	if (!ports_fit(shape->hosts, "single", error, bytes))
		return false;
	add_hosts(layout, add_switches(layout, "switch", 1, shape->hosts, 0), 1, shape->hosts, 1);
	return true;
}

bool topology_dumbbell(struct layout *layout, const struct dumbbell_shape *shape, char *error,
		       size_t bytes)
{
	struct layout_link *middle;
	uint32_t left, right;

	if (!shape->left || !shape->right)
		return refuse(error, bytes, "a dumbbell needs hosts on both sides");
	if (!ports_fit((uint64_t)shape->left + 1, "left", error, bytes) ||
	    !ports_fit((uint64_t)shape->right + 1, "right", error, bytes))
		return false;
	left = layout_add_switch(layout, "left", (uint16_t)(shape->left + 1), 0);
	right = layout_add_switch(layout, "right", (uint16_t)(shape->right + 1), 1);
	for (uint32_t i = 0; i < shape->left + shape->right; i++) {
		bool is_left = i < shape->left;
		char name[LAYOUT_NAME_BYTES];

		snprintf(name, sizeof(name), "host%u", i);
		layout_add_link(layout, layout_add_host(layout, name, i, 0), 0,
				is_left ? left : right, (uint16_t)(is_left ? i : i - shape->left));
	}
	middle =
		layout_add_link(layout, left, (uint16_t)shape->left, right, (uint16_t)shape->right);
	middle->rate_bps = shape->rate_bps;
	middle->metres = shape->metres;
	return true;
}

/* Ports of each switch: hosts, the previous switch, the next switch. */
bool topology_parking_lot(struct layout *layout, const struct parking_lot_shape *shape, char *error,
			  size_t bytes)
{
	uint32_t hosts = shape->hosts, first;

	if (shape->switches < 2 || !hosts || shape->switches > HOSTS_MAX / hosts)
		return refuse(
			error, bytes,
			"a parking lot needs two or more switches, with 1 to 1000000 hosts in "
			"total");
	if (!ports_fit((uint64_t)hosts + 2, "parking lot", error, bytes))
		return false;
	first = add_switches(layout, "switch", shape->switches, hosts + 2, LAYOUT_NO_RANK);
	add_hosts(layout, first, shape->switches, hosts, 1);
	for (uint32_t i = 0; i + 1 < shape->switches; i++)
		layout_add_link(layout, first + i, (uint16_t)(hosts + 1), first + i + 1,
				(uint16_t)hosts);
	return true;
}

bool topology_leaf_spine(struct layout *layout, const struct leaf_spine_shape *shape, char *error,
			 size_t bytes)
{
	uint32_t parallel = shape->parallel ? shape->parallel : 1;
	uint32_t rails = shape->rails ? shape->rails : 1;
	uint64_t up = (uint64_t)shape->spines * parallel, down = (uint64_t)shape->leaves * parallel;
	uint32_t leaf, spine;

	if (!shape->leaves || !shape->spines || !shape->hosts || shape->leaves % rails)
		return refuse(error, bytes,
			      "leaves, spines and hosts must be at least 1, and rails a divisor of "
			      "leaves");
	if (!ports_fit(shape->hosts + up, "leaf", error, bytes) ||
	    !ports_fit(down, "spine", error, bytes))
		return false;
	leaf = add_switches(layout, "leaf", shape->leaves, shape->hosts + up, 1);
	spine = add_switches(layout, "spine", shape->spines, down, 0);
	add_hosts(layout, leaf, shape->leaves, shape->hosts, rails);
	for (uint32_t i = 0; i < shape->leaves; i++)
		for (uint32_t j = 0; j < up; j++)
			layout_add_link(layout, leaf + i, (uint16_t)(shape->hosts + j),
					spine + j / parallel,
					(uint16_t)(i * parallel + j % parallel))
				->rate_bps = shape->uplink_bps;
	return true;
}

struct fat_tree_shape topology_fat_tree_of(uint32_t arity)
{
	uint32_t half = arity / 2;

	return (struct fat_tree_shape){
		.pods = arity, .edges = half, .aggregations = half, .hosts = half, .uplinks = half};
}

/* Core j of aggregation a's share is linked to aggregation a of every pod. */
bool topology_fat_tree(struct layout *layout, const struct fat_tree_shape *shape, char *error,
		       size_t bytes)
{
	uint32_t rails = shape->rails ? shape->rails : 1;
	uint32_t hosts = shape->hosts, edges = shape->edges, tops = shape->aggregations;
	uint32_t edge, top, core;

	if (!shape->pods || !edges || !tops || !hosts || !shape->uplinks || edges % rails)
		return refuse(
			error, bytes,
			"all numbers of a fat tree must be at least 1, and rails a divisor of "
			"the edge switches per pod");
	if (!ports_fit((uint64_t)hosts + tops, "edge", error, bytes) ||
	    !ports_fit((uint64_t)edges + shape->uplinks, "aggregation", error, bytes) ||
	    !ports_fit(shape->pods, "core", error, bytes))
		return false;
	edge = add_switches(layout, "edge", shape->pods * edges, hosts + tops, 2);
	top = add_switches(layout, "aggregation", shape->pods * tops, edges + shape->uplinks, 1);
	core = add_switches(layout, "core", tops * shape->uplinks, shape->pods, 0);
	add_hosts(layout, edge, shape->pods * edges, hosts, rails);
	for (uint32_t pod = 0; pod < shape->pods; pod++) {
		for (uint32_t i = 0; i < edges; i++)
			for (uint32_t j = 0; j < tops; j++)
				layout_add_link(layout, edge + pod * edges + i,
						(uint16_t)(hosts + j), top + pod * tops + j,
						(uint16_t)i);
		for (uint32_t i = 0; i < tops; i++)
			for (uint32_t j = 0; j < shape->uplinks; j++)
				layout_add_link(layout, top + pod * tops + i, (uint16_t)(edges + j),
						core + i * shape->uplinks + j, (uint16_t)pod);
	}
	return true;
}

/* Ports: hosts, the other routers of the group in order, the global ones. */
static void link_group(struct layout *layout, const struct dragonfly_shape *shape, uint32_t first)
{
	for (uint32_t i = 0; i < shape->routers; i++)
		for (uint32_t j = i + 1; j < shape->routers; j++)
			layout_add_link(layout, first + i, (uint16_t)(shape->hosts + j - 1),
					first + j, (uint16_t)(shape->hosts + i));
}

/* The k-th global link of a group leads to the k-th other group. */
bool topology_dragonfly(struct layout *layout, const struct dragonfly_shape *shape, char *error,
			size_t bytes)
{
	uint64_t links = (uint64_t)shape->routers * shape->global;
	uint32_t groups = shape->groups ? shape->groups : (uint32_t)links + 1;
	uint64_t ports = (uint64_t)shape->hosts + shape->routers - 1 + shape->global;
	uint32_t local = shape->hosts + shape->routers - 1, first;

	if (!shape->routers || !shape->hosts || groups > links + 1)
		return refuse(error, bytes,
			      "a dragonfly needs routers, hosts, and at most routers * global + 1 "
			      "groups");
	if (!ports_fit(ports, "dragonfly", error, bytes))
		return false;
	first = add_switches(layout, "router", groups * shape->routers, ports, LAYOUT_NO_RANK);
	add_hosts(layout, first, groups * shape->routers, shape->hosts, 1);
	for (uint32_t i = 0; i < groups; i++) {
		link_group(layout, shape, first + i * shape->routers);
		for (uint32_t j = i + 1; j < groups; j++) {
			uint32_t there = j - 1, back = i;

			layout_add_link(layout, first + i * shape->routers + there / shape->global,
					(uint16_t)(local + there % shape->global),
					first + j * shape->routers + back / shape->global,
					(uint16_t)(local + back % shape->global));
		}
	}
	return true;
}

static uint32_t torus_number(const uint16_t sizes[], const uint32_t position[])
{
	return (position[2] * sizes[1] + position[1]) * sizes[0] + position[0];
}

/* Ports: hosts, then plus and minus of each dimension. A ring of two has one link. */
bool topology_torus(struct layout *layout, const struct torus_shape *shape, char *error,
		    size_t bytes)
{
	const uint16_t *sizes = shape->sizes;
	uint64_t count = (uint64_t)sizes[0] * sizes[1] * sizes[2];
	uint32_t first;

	if (!count || count > HOSTS_MAX || !shape->hosts)
		return refuse(error, bytes,
			      "the sizes and the hosts of a torus must be at least 1");
	if (!ports_fit((uint64_t)shape->hosts + 2 * TOPOLOGY_DIMENSIONS, "torus", error, bytes))
		return false;
	first = add_switches(layout, "switch", (uint32_t)count,
			     shape->hosts + 2 * TOPOLOGY_DIMENSIONS, LAYOUT_NO_RANK);
	add_hosts(layout, first, (uint32_t)count, shape->hosts, 1);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t here[] = {i % sizes[0], i / sizes[0] % sizes[1],
					 i / sizes[0] / sizes[1]};

		for (unsigned d = 0; d < TOPOLOGY_DIMENSIONS; d++) {
			uint32_t next[] = {here[0], here[1], here[2]};

			layout->nodes[first + i].position[d] = (uint16_t)here[d];
			next[d] = (here[d] + 1) % sizes[d];
			if (sizes[d] == 1 || (sizes[d] == 2 && here[d] == 1))
				continue;
			layout_add_link(layout, first + i, (uint16_t)(shape->hosts + 2 * d),
					first + torus_number(sizes, next),
					(uint16_t)(shape->hosts + 2 * d + 1));
		}
		layout->nodes[first + i].placed = true;
	}
	for (unsigned d = 0; d < TOPOLOGY_DIMENSIONS; d++)
		layout->sizes[d] = sizes[d];
	layout->routing = ROUTING_dimension_order;
	return true;
}
