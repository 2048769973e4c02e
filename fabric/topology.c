/*
 * topology: see topology.h. One breadth-first search a destination, from the destination outwards.
 */
#include "fabric/topology.h"

#include <stdio.h>
#include <stdlib.h>

#define UNREACHED UINT32_MAX

struct end {
	uint32_t node, port; /* of the other end; UNREACHED: not linked */
};

struct node {
	bool is_switch;
	uint32_t endpoint; /* of a host */
	struct port *port; /* of a host */
	struct topology_switch ops;
	unsigned ports;
	struct end *ends; /* by port */
};

struct topology {
	const struct endpoints *endpoints;
	struct node *nodes;
	uint32_t count;
	uint32_t *distance; /* scratch of one search, by node */
	uint32_t *queue;
};

static struct node *add_node(struct topology *topology, unsigned ports)
{
	uint32_t count = topology->count + 1;
	struct node *node;

	topology->nodes = realloc(topology->nodes, count * sizeof(*node));
	topology->distance = realloc(topology->distance, count * sizeof(uint32_t));
	topology->queue = realloc(topology->queue, count * sizeof(uint32_t));
	assert(topology->nodes && topology->distance && topology->queue && ports);
	node = &topology->nodes[topology->count++];
	*node = (struct node){.ports = ports, .ends = malloc(ports * sizeof(node->ends[0]))};
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

static struct port *port_of(const struct node *node, unsigned index)
{
	return node->is_switch ? node->ops.port(node->ops.context, index) : node->port;
}

/* false: no such port, or it is taken */
static bool port_is_free(const struct topology *topology, unsigned number, unsigned port, char *why,
			 size_t why_bytes)
{
	const struct node *node = &topology->nodes[number];

	if (port >= node->ports) {
		snprintf(why, why_bytes, "%s: no port %u, it has %u", port_name(port_of(node, 0)),
			 port, node->ports);
		return false;
	}
	if (node->ends[port].node != UNREACHED) {
		snprintf(why, why_bytes, "%s: is linked already", port_name(port_of(node, port)));
		return false;
	}
	return true;
}

bool topology_link(struct topology *topology, unsigned one, unsigned one_port, unsigned other,
		   unsigned other_port, double metres, uint64_t rate_bps, char *why,
		   size_t why_bytes)
{
	struct node *nodes = topology->nodes;

	assert(one < topology->count && other < topology->count);
	if (!port_is_free(topology, one, one_port, why, why_bytes) ||
	    !port_is_free(topology, other, other_port, why, why_bytes))
		return false;
	struct port *first = port_of(&nodes[one], one_port);
	struct port *second = port_of(&nodes[other], other_port);

	if (first == second) {
		snprintf(why, why_bytes, "%s: cannot be linked to itself", port_name(first));
		return false;
	}
	if (rate_bps) {
		port_set_rate(first, rate_bps);
		port_set_rate(second, rate_bps);
	}
	if (!port_fits(first, second, why, why_bytes))
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

/* Fills topology->distance with links to the destination. Hosts do not forward. */
static void search(const struct topology *topology, uint32_t destination)
{
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < topology->count; i++)
		topology->distance[i] = UNREACHED;
	topology->distance[destination] = 0;
	topology->queue[last++] = destination;
	while (first < last) {
		uint32_t number = topology->queue[first++];
		const struct node *node = &topology->nodes[number];

		if (!node->is_switch && number != destination)
			continue;
		for (unsigned port = 0; port < node->ports; port++) {
			uint32_t neighbour = node->ends[port].node;

			if (neighbour == UNREACHED || topology->distance[neighbour] != UNREACHED)
				continue;
			topology->distance[neighbour] = topology->distance[number] + 1;
			topology->queue[last++] = neighbour;
		}
	}
}

static bool leads(const struct topology *topology, const struct node *node, unsigned port,
		  uint32_t distance)
{
	uint32_t neighbour = node->ends[port].node;

	return neighbour != UNREACHED && topology->distance[neighbour] == distance - 1 &&
	       (topology->nodes[neighbour].is_switch || distance == 1);
}

/*
 * The port among those that lead closer which the destination's number picks. Where a way goes up twice in a row,
 * the second choice must not follow from the first, or most of the top would stay idle: it takes the next digit.
 */
static unsigned choose_port(const struct topology *topology, const struct node *node,
			    uint32_t distance, uint32_t endpoint)
{
	unsigned candidates = 0, chosen;

	for (unsigned port = 0; port < node->ports; port++)
		candidates += leads(topology, node, port, distance);
	assert(candidates);
	chosen = (distance % 2 ? endpoint : endpoint / candidates) % candidates;
	for (unsigned port = 0;; port++)
		if (leads(topology, node, port, distance) && chosen-- == 0)
			return port;
}

bool topology_finish(struct topology *topology, char *why, size_t why_bytes)
{
	for (uint32_t destination = 0; destination < topology->count; destination++) {
		uint32_t endpoint = topology->nodes[destination].endpoint;

		if (topology->nodes[destination].is_switch)
			continue;
		search(topology, destination);
		for (uint32_t i = 0; i < topology->count; i++) {
			const struct node *node = &topology->nodes[i];
			uint32_t distance = topology->distance[i];

			if (!node->is_switch && distance == UNREACHED) {
				snprintf(why, why_bytes, "%s: no way leads to %s",
					 port_name(node->port),
					 port_name(topology->nodes[destination].port));
				return false;
			}
			if (node->is_switch && distance != UNREACHED)
				node->ops.route(node->ops.context, topology->endpoints, endpoint,
						choose_port(topology, node, distance, endpoint));
		}
	}
	return true;
}

static uint32_t host_node(const struct topology *topology, uint32_t endpoint)
{
	for (uint32_t i = 0; i < topology->count; i++)
		if (!topology->nodes[i].is_switch && topology->nodes[i].endpoint == endpoint)
			return i;
	assert(false);
	return 0;
}

unsigned topology_distance(const struct topology *topology, uint32_t from, uint32_t to)
{
	search(topology, host_node(topology, to));
	return topology->distance[host_node(topology, from)];
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
	free(topology->nodes);
	free(topology->distance);
	free(topology->queue);
	free(topology);
}
