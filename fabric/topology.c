/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology: see topology.h. This file has the nodes and the links between them. routes.c finds the
 * routes.
 */
#include "fabric/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_state.h"

static struct node *add_node(struct topology *topology, unsigned ports)
{
	uint32_t count = topology->count + 1;
	const struct node *last = count > 1 ? &topology->nodes[count - 2] : NULL;
	uint32_t first_port = last ? last->first_port + last->ports : 0;
	struct node *node;

	topology->nodes = realloc(topology->nodes, count * sizeof(*node));
	assert(topology->nodes && ports >= 1 && ports <= PORT_SET_PORTS);
	node = &topology->nodes[topology->count++];
	*node = (struct node){
		.ports = ports,
		.first_port = first_port,
		.rank = UNREACHED,
		.ends = malloc(ports * sizeof(node->ends[0])),
	};
	assert(node->ends);
	for (unsigned i = 0; i < ports; i++)
		node->ends[i].node = UNREACHED;
	return node;
}

unsigned topology_add_host(struct topology *topology, struct port *port, uint32_t endpoint)
{
	struct node *node = add_node(topology, 1);

	node->port = port;
	node->endpoint = endpoint;
	return topology->count - 1;
}

unsigned topology_add_switch(struct topology *topology, const struct topology_switch *ops)
{
	struct node *node = add_node(topology, ops->ports);

	node->is_switch = true;
	node->ops = *ops;
	return topology->count - 1;
}

/* Hosts are usually added first, in the order of their endpoints. */
const struct node *topology_host(const struct topology *topology, uint32_t endpoint)
{
	const struct node *nodes = topology->nodes;

	if (endpoint < topology->count && !nodes[endpoint].is_switch &&
	    nodes[endpoint].endpoint == endpoint)
		return &nodes[endpoint];
	for (uint32_t i = 0; i < topology->count; i++)
		if (!nodes[i].is_switch && nodes[i].endpoint == endpoint)
			return &nodes[i];
	return NULL;
}

/* Returns false and writes the error if the port does not exist or is linked. */
static bool port_is_free(const struct topology *topology, unsigned number, unsigned port,
			 char *error, size_t error_bytes)
{
	const struct node *node = &topology->nodes[number];

	if (port >= node->ports) {
		snprintf(error, error_bytes, "%s: no port %u, it has %u",
			 port_name(topology_port_of(node, 0)), port, node->ports);
		return false;
	}
	if (node->ends[port].node != UNREACHED) {
		snprintf(error, error_bytes, "%s: is already linked",
			 port_name(topology_port_of(node, port)));
		return false;
	}
	return true;
}

bool topology_link(struct topology *topology, unsigned one, unsigned one_port, unsigned other,
		   unsigned other_port, double metres, uint64_t rate_bps, char *error,
		   size_t error_bytes)
{
	struct node *nodes = topology->nodes;

	assert(one < topology->count && other < topology->count);
	if (!port_is_free(topology, one, one_port, error, error_bytes) ||
	    !port_is_free(topology, other, other_port, error, error_bytes))
		return false;
	struct port *first = topology_port_of(&nodes[one], one_port);
	struct port *second = topology_port_of(&nodes[other], other_port);

	if (first == second) {
		snprintf(error, error_bytes, "%s: cannot be linked to itself", port_name(first));
		return false;
	}
	if (rate_bps) {
		port_set_rate(first, rate_bps);
		port_set_rate(second, rate_bps);
	}
	if (!port_fits(first, second, error, error_bytes))
		return false;
	if (metres >= 0) {
		port_set_length(first, metres);
		port_set_length(second, metres);
	}
	port_connect(first, second);
	nodes[one].ends[one_port] = (struct end){other, other_port};
	nodes[other].ends[other_port] = (struct end){one, one_port};
	return true;
}

void topology_set_routing(struct topology *topology, enum topology_routing routing)
{
	assert(routing < ROUTING_COUNT);
	topology->routing = routing;
}

void topology_set_rank(struct topology *topology, unsigned node, unsigned rank)
{
	assert(node < topology->count);
	topology->nodes[node].rank = rank;
}

void topology_set_sizes(struct topology *topology, const uint16_t sizes[TOPOLOGY_DIMENSIONS])
{
	memcpy(topology->sizes, sizes, sizeof(topology->sizes));
}

void topology_set_position(struct topology *topology, unsigned node,
			   const uint16_t position[TOPOLOGY_DIMENSIONS])
{
	assert(node < topology->count);
	memcpy(topology->nodes[node].position, position, sizeof(topology->nodes[node].position));
	topology->nodes[node].placed = true;
}

struct topology *topology_create(const struct endpoints *endpoints)
{
	struct topology *topology = calloc(1, sizeof(*topology));

	assert(topology);
	topology->endpoints = endpoints;
	return topology;
}

void topology_destroy(struct topology *topology)
{
	for (uint32_t i = 0; i < topology->count; i++)
		free(topology->nodes[i].ends);
	round_trips_destroy(topology->trips);
	free(topology->nodes);
	free(topology);
}
