/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes: fills the tables of the switches of a topology: one search a switch that hosts are linked to, from there
 * outwards, which leaves at every other switch the set of ports that lead closer; all hosts of that switch share it.
 *
 * While links are known to be down (reroute.h) the same searches go without them.
 *
 * up_down: Schroeder et al., Autonet (JSAC 1991). A switch from which a route leads down to the destination takes it;
 * others go up. So a packet that has turned down never turns up, whatever each switch chooses among its ports.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_state.h"

/* To one switch, from all others. */
struct search {
	const struct topology *topology;
	const bool *down;       /* by number of port: its link is left out; NULL: none is */
	uint32_t *distance;     /* links, by node */
	struct port_set *ports; /* that lead closer, by node */
	uint32_t *queue;
	uint32_t *order; /* up_down: switches, the highest first */
	uint32_t switches;
};

static bool is_usable(const struct search *search, const struct node *node, unsigned port)
{
	return node->ends[port].node != UNREACHED &&
	       !(search->down && search->down[node->first_port + port]);
}

static const struct node *neighbour(const struct search *search, const struct node *node,
				    unsigned port)
{
	return is_usable(search, node, port) ? &search->topology->nodes[node->ends[port].node]
					     : NULL;
}

static uint32_t number_of(const struct search *search, const struct node *node)
{
	return (uint32_t)(node - search->topology->nodes);
}

typedef bool step_function(const struct node *from, const struct node *to);

static bool any_step(const struct node *from, const struct node *to)
{
	(void)from, (void)to;
	return true;
}

/* Breadth first from the destination against the direction of travel, over links on which the step is allowed. */
static void spread(struct search *search, uint32_t destination, step_function *allowed)
{
	const struct node *nodes = search->topology->nodes;
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < search->topology->count; i++) {
		search->distance[i] = UNREACHED;
		search->ports[i] = (struct port_set){0};
	}
	search->distance[destination] = 0;
	search->queue[last++] = destination;
	while (first < last) {
		uint32_t number = search->queue[first++];
		const struct node *node = &nodes[number];

		for (unsigned port = 0; port < node->ports; port++) {
			const struct end *end = &node->ends[port];

			if (!is_usable(search, node, port) || !nodes[end->node].is_switch ||
			    !allowed(&nodes[end->node], node))
				continue;
			if (search->distance[end->node] == UNREACHED) {
				search->distance[end->node] = search->distance[number] + 1;
				search->queue[last++] = end->node;
			}
			if (search->distance[end->node] == search->distance[number] + 1)
				port_set_add(&search->ports[end->node], end->port);
		}
	}
}

/* Who has no route down goes to the best of those above. */
static void climb(struct search *search, const struct node *node)
{
	uint32_t number = number_of(search, node), best = UNREACHED;

	for (unsigned port = 0; port < node->ports; port++) {
		const struct node *other = neighbour(search, node, port);
		uint32_t distance;

		if (!other || !other->is_switch || !node_is_above(other, node))
			continue;
		distance = search->distance[number_of(search, other)];
		if (distance == UNREACHED || distance > best)
			continue;
		if (distance < best)
			search->ports[number] = (struct port_set){0};
		best = distance;
		port_set_add(&search->ports[number], port);
	}
	if (best != UNREACHED)
		search->distance[number] = best + 1;
}

static void search_up_down(struct search *search, uint32_t destination)
{
	spread(search, destination, node_is_above);
	for (uint32_t i = 0; i < search->switches; i++)
		if (search->distance[search->order[i]] == UNREACHED)
			climb(search, &search->topology->nodes[search->order[i]]);
}

/* One step of a torus: +1 or -1 in the first dimension that differs, the shorter way round; even: +1. */
static void next_position(const struct topology *topology, const uint16_t from[],
			  const uint16_t to[], uint16_t next[])
{
	bool moved = false;

	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++) {
		uint16_t size = topology->sizes[i];

		next[i] = from[i];
		if (moved || from[i] == to[i])
			continue;
		unsigned ahead = (unsigned)(to[i] + size - from[i]) % size;

		next[i] = (uint16_t)((from[i] + (2 * ahead <= size ? 1 : size - 1)) % size);
		moved = true;
	}
}

static bool same_position(const uint16_t one[], const uint16_t other[])
{
	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++)
		if (one[i] != other[i])
			return false;
	return true;
}

static uint32_t torus_distance(const struct topology *topology, const uint16_t from[],
			       const uint16_t to[])
{
	uint32_t distance = 0;

	for (unsigned i = 0; i < TOPOLOGY_DIMENSIONS; i++) {
		unsigned size = topology->sizes[i];
		unsigned ahead = (unsigned)(to[i] + size - from[i]) % size;

		distance += ahead <= size - ahead ? ahead : size - ahead;
	}
	return distance;
}

static void search_dimension_order(struct search *search, uint32_t destination)
{
	const struct topology *topology = search->topology;
	const uint16_t *to = topology->nodes[destination].position;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];
		uint16_t next[TOPOLOGY_DIMENSIONS];

		search->distance[i] = i == destination ? 0 : UNREACHED;
		search->ports[i] = (struct port_set){0};
		if (!node->is_switch || i == destination)
			continue;
		next_position(topology, node->position, to, next);
		for (unsigned port = 0; port < node->ports; port++) {
			const struct node *other = neighbour(search, node, port);

			if (other && other->is_switch && same_position(other->position, next))
				port_set_add(&search->ports[i], port);
		}
		if (port_set_next(&search->ports[i], 0) < PORT_SET_PORTS)
			search->distance[i] = torus_distance(topology, node->position, to);
	}
}

static void search_from(struct search *search, uint32_t destination)
{
	switch (search->topology->routing) {
	case ROUTING_min_hop:
	case ROUTING_COUNT:
		spread(search, destination, any_step);
		break;
	case ROUTING_up_down:
		search_up_down(search, destination);
		break;
	case ROUTING_dimension_order:
		search_dimension_order(search, destination);
		break;
	}
}

/* Unless ranks are given: links from the first switch. */
static void rank(struct topology *topology, struct search *search)
{
	uint32_t root = UNREACHED;

	for (uint32_t i = topology->count; i-- > 0;) {
		if (!topology->nodes[i].is_switch)
			continue;
		if (topology->nodes[i].rank != UNREACHED)
			return;
		root = i;
	}
	if (root == UNREACHED)
		return;
	spread(search, root, any_step);
	for (uint32_t i = 0; i < topology->count; i++)
		if (topology->nodes[i].is_switch)
			topology->nodes[i].rank = search->distance[i];
}

static void sort_by_height(struct search *search)
{
	const struct node *nodes = search->topology->nodes;

	for (uint32_t i = 0; i < search->topology->count; i++) {
		uint32_t place = search->switches;

		if (!nodes[i].is_switch)
			continue;
		for (; place && node_is_above(&nodes[i], &nodes[search->order[place - 1]]); place--)
			search->order[place] = search->order[place - 1];
		search->order[place] = i;
		search->switches++;
	}
}

static void search_init(struct search *search, struct topology *topology)
{
	size_t count = topology->count;

	*search = (struct search){
		.topology = topology,
		.distance = malloc(count * sizeof(uint32_t)),
		.ports = malloc(count * sizeof(struct port_set)),
		.queue = malloc(count * sizeof(uint32_t)),
		.order = malloc(count * sizeof(uint32_t)),
	};
	assert(search->distance && search->ports && search->queue && search->order);
	if (topology->routing == ROUTING_up_down) {
		rank(topology, search);
		sort_by_height(search);
	}
}

static void search_fini(struct search *search)
{
	free(search->distance);
	free(search->ports);
	free(search->queue);
	free(search->order);
}

/* Links from a host to another that hangs at the switch searched from. */
static uint32_t host_distance(const struct search *search, const struct node *host)
{
	const struct end *end = &host->ends[0];

	if (end->node == UNREACHED || !search->topology->nodes[end->node].is_switch ||
	    search->distance[end->node] == UNREACHED)
		return UNREACHED;
	return search->distance[end->node] + 2;
}

/*
 * The port among those that lead closer which the destination's number picks. Where a route goes up twice in a row,
 * the second choice must not follow from the first, or most of the top would stay idle: it takes the next digit.
 */
static unsigned choose_port(const struct port_set *ports, uint32_t distance, uint32_t endpoint)
{
	unsigned candidates = port_set_count(ports);
	unsigned chosen = (distance % 2 ? endpoint / candidates : endpoint) % candidates;
	unsigned port = port_set_next(ports, 0);

	while (chosen--)
		port = port_set_next(ports, port + 1);
	return port;
}

static void route_host(const struct search *search, const struct node *host)
{
	const struct topology *topology = search->topology;
	uint32_t last = host->ends[0].node;
	struct port_set own = {0};

	port_set_add(&own, host->ends[0].port);
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];
		const struct port_set *ports = i == last ? &own : &search->ports[i];

		if (node->is_switch && port_set_next(ports, 0) < PORT_SET_PORTS)
			node->ops.route(node->ops.context, topology->endpoints, host->endpoint,
					choose_port(ports, search->distance[i], host->endpoint),
					ports);
	}
}

/* false: some host has no route to this one. */
static bool reached_by_all(const struct search *search, uint32_t destination, char *error,
			   size_t error_bytes)
{
	const struct node *nodes = search->topology->nodes;
	const struct end *end = &nodes[destination].ends[0];
	bool at_switch = end->node != UNREACHED && nodes[end->node].is_switch;

	for (uint32_t i = 0; i < search->topology->count; i++) {
		if (nodes[i].is_switch || i == destination || i == end->node)
			continue;
		if (at_switch && host_distance(search, &nodes[i]) != UNREACHED)
			continue;
		snprintf(error, error_bytes, "%s: no route leads to %s", port_name(nodes[i].port),
			 port_name(nodes[destination].port));
		return false;
	}
	return true;
}

static bool all_placed(const struct topology *topology, char *error, size_t error_bytes)
{
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];
		bool inside = true;

		for (unsigned j = 0; j < TOPOLOGY_DIMENSIONS; j++)
			inside = inside && node->position[j] < topology->sizes[j];
		if (!node->is_switch || (node->placed && inside))
			continue;
		snprintf(error, error_bytes, "%s: its switch has no position in the torus",
			 port_name(topology_port_of(node, 0)));
		return false;
	}
	return true;
}

static bool route_all(struct search *search, char *error, size_t error_bytes)
{
	const struct topology *topology = search->topology;
	uint32_t searched = UNREACHED;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *host = &topology->nodes[i];
		uint32_t last = host->ends[0].node;
		bool at_switch = last != UNREACHED && topology->nodes[last].is_switch;

		if (host->is_switch)
			continue;
		if (at_switch && last == searched) { /* a neighbour was looked at */
			route_host(search, host);
			continue;
		}
		if (at_switch)
			search_from(search, last);
		searched = last;
		if (!reached_by_all(search, i, error, error_bytes))
			return false;
		if (at_switch)
			route_host(search, host);
	}
	return true;
}

/* Tells a switch which other one each host is at. */
static void place_hosts(const struct topology *topology, uint32_t node)
{
	const struct topology_switch *ops = &topology->nodes[node].ops;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *host = &topology->nodes[i];
		const struct end *end = host->ends;

		if (!host->is_switch && end->node != UNREACHED)
			ops->place(ops->context, host->endpoint, end->node,
				   end->node == node ? end->port : PORT_SET_PORTS);
	}
}

bool topology_finish(struct topology *topology, char *error, size_t error_bytes)
{
	struct search search;
	bool done;

	if (topology->routing == ROUTING_dimension_order &&
	    !all_placed(topology, error, error_bytes))
		return false;
	search_init(&search, topology);
	if (!topology->trips)
		topology->trips = trips_create(topology->count);
	done = route_all(&search, error, error_bytes);
	search_fini(&search);
	for (uint32_t i = 0; done && i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		if (node->is_switch && node->ops.place)
			place_hosts(topology, i);
		if (node->is_switch && node->ops.start)
			done = node->ops.start(node->ops.context, error, error_bytes);
	}
	return done;
}

/* At a switch that no route leads from without links that are down: its usual routes. They lead there by fewer and fewer links, so no
 * packet goes in a circle. */
static void reroute_host(const struct search *search, const struct search *usual,
			 const struct node *host, const struct sim *lp)
{
	const struct topology *topology = search->topology;

	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];
		const struct search *found = search;

		if (!node->is_switch || i == host->ends[0].node ||
		    port_sim(topology_port_of(node, 0)) != lp)
			continue;
		if (port_set_next(&found->ports[i], 0) == PORT_SET_PORTS)
			found = usual;
		if (port_set_next(&found->ports[i], 0) == PORT_SET_PORTS)
			continue;
		node->ops.route(node->ops.context, topology->endpoints, host->endpoint,
				choose_port(&found->ports[i], found->distance[i], host->endpoint),
				&found->ports[i]);
	}
}

void topology_reroute(struct topology *topology, const bool *down, const struct sim *lp)
{
	struct search search, usual;
	uint32_t searched = UNREACHED;

	search_init(&search, topology);
	search_init(&usual, topology);
	search.down = down;
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *host = &topology->nodes[i];
		uint32_t last = host->ends[0].node;

		if (host->is_switch || last == UNREACHED || !topology->nodes[last].is_switch)
			continue;
		if (last != searched) {
			search_from(&search, last);
			search_from(&usual, last);
			searched = last;
		}
		reroute_host(&search, &usual, host, lp);
	}
	search_fini(&search);
	search_fini(&usual);
}

void routes_towards(struct topology *topology, uint32_t node, uint32_t *distance,
		    struct port_set *ports)
{
	struct search search;

	search_init(&search, topology);
	search_from(&search, node);
	memcpy(distance, search.distance, topology->count * sizeof(distance[0]));
	memcpy(ports, search.ports, topology->count * sizeof(ports[0]));
	search_fini(&search);
}

uint32_t topology_port_number(const struct topology *topology, unsigned node, unsigned port)
{
	assert(node < topology->count && port < topology->nodes[node].ports);
	return topology->nodes[node].first_port + port;
}

uint32_t topology_ports(const struct topology *topology)
{
	const struct node *last = topology->count ? &topology->nodes[topology->count - 1] : NULL;

	return last ? last->first_port + last->ports : 0;
}

static uint32_t host_node(const struct topology *topology, uint32_t endpoint)
{
	const struct node *host = topology_host(topology, endpoint);

	assert(host);
	return (uint32_t)(host - topology->nodes);
}

unsigned topology_distance(struct topology *topology, uint32_t from, uint32_t to)
{
	const struct node *start = &topology->nodes[host_node(topology, from)];
	uint32_t destination = host_node(topology, to);
	uint32_t last = topology->nodes[destination].ends[0].node;
	uint32_t distance = UNREACHED;
	struct search search;

	if (start == &topology->nodes[destination])
		return 0;
	if (start->ends[0].node == destination)
		return 1;
	if (last == UNREACHED || !topology->nodes[last].is_switch)
		return TOPOLOGY_NO_ROUTE;
	search_init(&search, topology);
	search_from(&search, last);
	distance = host_distance(&search, start);
	search_fini(&search);
	return distance;
}
