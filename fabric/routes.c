/* SPDX-License-Identifier: Apache-2.0 */
/*
 * routes: fills the tables of the switches of a topology. For each switch with hosts, one search
 * starts at that switch. It finds the set of ports that lead closer for each other switch. All
 * hosts of the switch share this set.
 *
 * While links are known to be down (reroute.h), the searches exclude these links.
 *
 * up_down: Schroeder et al., Autonet (JSAC 1991). A switch with a downward route to the destination
 * takes it. Other switches go up. A packet that has turned down therefore never turns up again,
 * whichever port each switch chooses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_state.h"
#include "fabric/torus.h"

/* A link between two switches, seen from one of them. */
struct step {
	uint32_t to;   /* node */
	uint16_t port; /* of this node */
	uint16_t back; /* port of the other node */
};

/* Search to one switch from all others. */
struct search {
	const struct topology *topology;
	const bool *down;   /* by port number: the link is excluded; NULL if no link is excluded */
	uint32_t *distance; /* number of links, by node */
	struct port_set *ports; /* ports that lead closer, by node */
	uint32_t *queue;
	uint32_t *order; /* switches; up_down: the highest first */
	struct step *steps;
	uint32_t *first; /* [nodes + 1] of a node's steps */
	uint32_t switches;
	uint32_t *leaves; /* switches with hosts */
	uint32_t leaf_count;
	bool has_lone_hosts; /* a host is not linked to a switch */
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

/* Searches breadth first from the destination, against the direction of travel, over links on which
 * the step is allowed. NULL allows all steps. */
static void spread(struct search *search, uint32_t destination, step_function *allowed)
{
	const struct node *nodes = search->topology->nodes;
	uint32_t first = 0, last = 0;

	for (uint32_t i = 0; i < search->switches; i++) {
		search->distance[search->order[i]] = UNREACHED;
		search->ports[search->order[i]] = (struct port_set){0};
	}
	search->distance[destination] = 0;
	search->queue[last++] = destination;
	while (first < last) {
		uint32_t number = search->queue[first++];
		uint32_t closer = search->distance[number] + 1;

		for (uint32_t i = search->first[number]; i < search->first[number + 1]; i++) {
			const struct step *step = &search->steps[i];

			if (search->down && search->down[nodes[number].first_port + step->port])
				continue;
			if (allowed && !allowed(&nodes[step->to], &nodes[number]))
				continue;
			if (search->distance[step->to] == UNREACHED) {
				search->distance[step->to] = closer;
				search->queue[last++] = step->to;
			}
			if (search->distance[step->to] == closer)
				port_set_add(&search->ports[step->to], step->back);
		}
	}
}

/* Sends packets of a switch without a downward route to the best switches above it. */
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
		torus_next(topology->sizes, node->position, to, next);
		for (unsigned port = 0; port < node->ports; port++) {
			const struct node *other = neighbour(search, node, port);

			if (other && other->is_switch && torus_same(other->position, next))
				port_set_add(&search->ports[i], port);
		}
		if (port_set_next(&search->ports[i], 0) < PORT_SET_PORTS)
			search->distance[i] = torus_distance(topology->sizes, node->position, to);
	}
}

static void search_from(struct search *search, uint32_t destination)
{
	switch (search->topology->routing) {
	case ROUTING_min_hop:
	case ROUTING_COUNT:
		spread(search, destination, NULL);
		break;
	case ROUTING_up_down:
		search_up_down(search, destination);
		break;
	case ROUTING_dimension_order:
		search_dimension_order(search, destination);
		break;
	}
}

/* Sets ranks that are not given: links from the first switch. */
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
	spread(search, root, NULL);
	for (uint32_t i = 0; i < topology->count; i++)
		if (topology->nodes[i].is_switch)
			topology->nodes[i].rank = search->distance[i];
}

static void list_switches(struct search *search)
{
	for (uint32_t i = 0; i < search->topology->count; i++) {
		search->distance[i] = UNREACHED;
		search->ports[i] = (struct port_set){0};
		if (search->topology->nodes[i].is_switch)
			search->order[search->switches++] = i;
	}
}

static void list_leaves(struct search *search)
{
	const struct topology *topology = search->topology;
	bool *is_leaf = calloc(topology->count + 1, sizeof(*is_leaf));

	assert(is_leaf);
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		if (node->is_switch)
			continue;
		if (node->ends->node == UNREACHED || !topology->nodes[node->ends->node].is_switch)
			search->has_lone_hosts = true;
		else
			is_leaf[node->ends->node] = true;
	}
	for (uint32_t i = 0; i < topology->count; i++)
		if (is_leaf[i])
			search->leaves[search->leaf_count++] = i;
	free(is_leaf);
}

static void list_steps(struct search *search)
{
	const struct topology *topology = search->topology;
	const struct node *nodes = topology->nodes;
	uint32_t count = 0;

	search->first = malloc((topology->count + 1) * sizeof(*search->first));
	search->steps = malloc((topology_ports(topology) + 1) * sizeof(*search->steps));
	assert(search->first && search->steps);
	for (uint32_t i = 0; i < topology->count; i++) {
		search->first[i] = count;
		for (unsigned port = 0; nodes[i].is_switch && port < nodes[i].ports; port++) {
			const struct end *end = &nodes[i].ends[port];

			if (end->node != UNREACHED && nodes[end->node].is_switch)
				search->steps[count++] = (struct step){end->node, (uint16_t)port,
								       (uint16_t)end->port};
		}
	}
	search->first[topology->count] = count;
}

static void sort_by_height(struct search *search)
{
	const struct node *nodes = search->topology->nodes;

	for (uint32_t i = 1; i < search->switches; i++) {
		uint32_t moving = search->order[i], place = i;

		for (; place && node_is_above(&nodes[moving], &nodes[search->order[place - 1]]);
		     place--)
			search->order[place] = search->order[place - 1];
		search->order[place] = moving;
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
		.leaves = malloc(count * sizeof(uint32_t)),
	};
	assert(search->distance && search->ports && search->queue && search->order &&
	       search->leaves);
	list_switches(search);
	list_leaves(search);
	list_steps(search);
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
	free(search->leaves);
	free(search->steps);
	free(search->first);
}

/* Returns the number of links from a host to another host of the switch that was searched. */
static uint32_t host_distance(const struct search *search, const struct node *host)
{
	const struct end *end = &host->ends[0];

	if (end->node == UNREACHED || !search->topology->nodes[end->node].is_switch ||
	    search->distance[end->node] == UNREACHED)
		return UNREACHED;
	return search->distance[end->node] + 2;
}

/* Sets the routes to hosts of one switch. */
static void route_hosts(const struct search *search, uint32_t last,
			const struct topology_hosts *hosts)
{
	const struct topology *topology = search->topology;

	for (uint32_t i = 0; i < search->switches; i++) {
		uint32_t number = search->order[i];
		const struct node *node = &topology->nodes[number];

		if (number != last && port_set_next(&search->ports[number], 0) < PORT_SET_PORTS)
			node->ops.route(node->ops.context, topology->endpoints, hosts,
					search->distance[number], &search->ports[number]);
	}
}

/* Sets the route to a host at its own switch. */
static void route_last(const struct topology *topology, const struct node *host)
{
	const struct node *last = &topology->nodes[host->ends[0].node];
	const struct topology_hosts hosts = {&host->endpoint, 1};
	struct port_set own = {0};

	port_set_add(&own, host->ends[0].port);
	last->ops.route(last->ops.context, topology->endpoints, &hosts, 0, &own);
}

static bool all_leaves_reached(const struct search *search)
{
	for (uint32_t i = 0; i < search->leaf_count; i++)
		if (search->distance[search->leaves[i]] == UNREACHED)
			return false;
	return !search->has_lone_hosts;
}

/* Returns false and writes the error if a host has no route to the destination. */
static bool reached_by_all(const struct search *search, uint32_t destination, char *error,
			   size_t error_bytes)
{
	const struct node *nodes = search->topology->nodes;
	const struct end *end = &nodes[destination].ends[0];
	bool at_switch = end->node != UNREACHED && nodes[end->node].is_switch;

	if (at_switch && all_leaves_reached(search))
		return true;
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

/* Routes to the hosts of a switch, which follow one another from node `first` on. Returns the node
 * after the last of them, or 0 if a host has no route. */
static uint32_t route_switch(struct search *search, uint32_t first, uint32_t *endpoints,
			     char *error, size_t error_bytes)
{
	const struct topology *topology = search->topology;
	const struct node *nodes = topology->nodes;
	uint32_t last = nodes[first].ends[0].node, next = first;
	bool at_switch = last != UNREACHED && nodes[last].is_switch;
	struct topology_hosts hosts = {endpoints, 0};

	if (at_switch)
		search_from(search, last);
	if (!reached_by_all(search, first, error, error_bytes))
		return 0;
	if (!at_switch)
		return first + 1;
	for (; next < topology->count; next++) {
		if (nodes[next].is_switch)
			continue;
		if (nodes[next].ends[0].node != last)
			break;
		endpoints[hosts.count++] = nodes[next].endpoint;
		route_last(topology, &nodes[next]);
	}
	route_hosts(search, last, &hosts);
	return next;
}

static bool route_all(struct search *search, char *error, size_t error_bytes)
{
	const struct topology *topology = search->topology;
	uint32_t *endpoints = malloc((topology->count + 1) * sizeof(*endpoints));
	bool done = true;

	assert(endpoints);
	for (uint32_t next = 0; done && next < topology->count;) {
		if (topology->nodes[next].is_switch) {
			next++;
			continue;
		}
		next = route_switch(search, next, endpoints, error, error_bytes);
		done = next != 0;
	}
	free(endpoints);
	return done;
}

/* Tells a switch the switch of each host. */
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
		topology->trips = round_trips_create(topology->count);
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

/* Sets the routes of a host at all switches of the LP. A switch that has no route without the
 * excluded links keeps its usual routes. Each step of these routes reduces the number of links, so
 * no packet goes in a circle. */
static void reroute_host(const struct search *search, const struct search *usual,
			 const struct node *host, const struct sim *lp)
{
	const struct topology *topology = search->topology;
	const struct topology_hosts hosts = {&host->endpoint, 1};

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
		node->ops.route(node->ops.context, topology->endpoints, &hosts, found->distance[i],
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

struct search *routes_search_create(struct topology *topology)
{
	struct search *search = malloc(sizeof(*search));

	assert(search);
	search_init(search, topology);
	return search;
}

void routes_search_destroy(struct search *search)
{
	if (search)
		search_fini(search);
	free(search);
}

void routes_towards(struct search *search, uint32_t node, const uint32_t **distance,
		    const struct port_set **ports)
{
	search_from(search, node);
	*distance = search->distance;
	*ports = search->ports;
}

uint32_t routes_switches(const struct search *search, const uint32_t **nodes)
{
	*nodes = search->order;
	return search->switches;
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
