/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal_routes: see ideal_routes.h. Uses a breadth-first search of the switches from the switch of
 * the source host. The result is kept for the next host of that switch whose link has the same
 * rate. A host with several links has its own search. The link to the destination is added last.
 */
#include "hcasim/run/ideal_routes.h"

#include <stdlib.h>
#include <string.h>

#include "switch/switch_params.h"

#define PREAMBLE_BYTES 8 /* that each switch sends again */
#define UNSEEN         UINT32_MAX

struct route_end { /* end of a link at a node */
	uint32_t to;
	uint64_t rate_bps;
	sim_time latency; /* latency of the link, and of the switch at this end */
};

struct ideal_routes {
	const struct build *build;
	uint32_t nodes;     /* hosts, then switches */
	uint32_t *first;    /* [nodes + 1] of the node's ends, to switches first, then to hosts */
	uint32_t *to_hosts; /* [nodes] of the node's ends to hosts */
	struct route_end *ends; /* [2 * links] */
	uint32_t root;          /* root of the last search; UNSEEN: none */
	/* rate of the host's link before the root; 0: the root is a host */
	uint64_t root_rate_bps;
	struct ideal_route *found; /* [nodes] */
	bool *splits;    /* [nodes]: packets of one flow leave this switch on more than one link */
	bool *split;     /* [nodes]: its packets may go several routes from some switch on */
	uint32_t *queue; /* [nodes] */
};

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count + 1, bytes);
	if (!memory)
		abort();
	return memory;
}

static uint32_t node_of(const struct build *build, const struct scenario_node *end)
{
	return end->is_switch ? build->scenario->host_count + end->number : end->number;
}

static bool is_switch(const struct ideal_routes *routes, uint32_t node)
{
	return node >= routes->build->scenario->host_count;
}

/* Returns the latency from a node to the other end of the link: propagation, and in a switch the
 * forwarding latency and the preamble that it sends again. */
static sim_time end_latency(const struct ideal_routes *routes, uint32_t node, uint32_t link,
			    unsigned side)
{
	const struct scenario *scenario = routes->build->scenario;
	const struct port *port = routes->build->ports[2 * (size_t)link + side];
	sim_time latency = port_latency(port);
	if (!is_switch(routes, node))
		return latency;
	latency += scenario->switches[node - scenario->host_count].params->forwarding_latency;
	if (port_link_layer(port) == LINK_ETHERNET)
		latency += port_serialization(port, PREAMBLE_BYTES);
	return latency;
}

static void list_ends(struct ideal_routes *routes)
{
	const struct build *build = routes->build;
	const struct scenario *scenario = build->scenario;
	uint32_t *place = take(routes->nodes, sizeof(*place));
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		for (unsigned side = 0; side < 2; side++) {
			uint32_t node = node_of(build, &ends[side]);
			routes->first[node + 1]++;
			routes->to_hosts[node] += ends[1 - side].is_switch;
		}
	}
	for (uint32_t i = 0; i < routes->nodes; i++) {
		routes->first[i + 1] += routes->first[i];
		routes->to_hosts[i] += routes->first[i];
		place[i] = routes->first[i];
	}
	uint32_t *host_place = take(routes->nodes, sizeof(*host_place));
	memcpy(host_place, routes->to_hosts, routes->nodes * sizeof(*host_place));
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		for (unsigned side = 0; side < 2; side++) {
			uint32_t node = node_of(build, &ends[side]);
			uint32_t *next = ends[1 - side].is_switch ? place : host_place;
			routes->ends[next[node]++] = (struct route_end){
				.to = node_of(build, &ends[1 - side]),
				.rate_bps = port_rate_bps(build->ports[2 * (size_t)i + side]),
				.latency = end_latency(routes, node, i, side)};
		}
	}
	free(place);
	free(host_place);
}

struct ideal_routes *ideal_routes_create(const struct build *build)
{
	const struct scenario *scenario = build->scenario;
	struct ideal_routes *routes = take(1, sizeof(*routes));
	routes->build = build;
	routes->root = UNSEEN;
	routes->nodes = scenario->host_count + scenario->switch_count;
	routes->first = take(routes->nodes + 1, sizeof(*routes->first));
	routes->to_hosts = take(routes->nodes, sizeof(*routes->to_hosts));
	routes->ends = take(2 * (size_t)scenario->link_count, sizeof(*routes->ends));
	routes->found = take(routes->nodes, sizeof(*routes->found));
	routes->splits = take(routes->nodes, sizeof(*routes->splits));
	routes->split = take(routes->nodes, sizeof(*routes->split));
	routes->queue = take(routes->nodes, sizeof(*routes->queue));
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		uint32_t balance = scenario->switches[i].params->balance;
		routes->splits[scenario->host_count + i] =
			balance != BALANCE_DESTINATION && balance != BALANCE_ECMP;
	}
	list_ends(routes);
	return routes;
}

void ideal_routes_destroy(struct ideal_routes *routes)
{
	free(routes->first);
	free(routes->to_hosts);
	free(routes->ends);
	free(routes->found);
	free(routes->splits);
	free(routes->split);
	free(routes->queue);
	free(routes);
}

/* Returns true if packets of one flow leave this node, or an earlier one, on more than one link. */
static bool is_split(const struct ideal_routes *routes, uint32_t node)
{
	return routes->split[node] || routes->splits[node];
}

/* Extends a route by one link. A link between switches does not limit packets that use several
 * links. */
static struct ideal_route extend(const struct ideal_routes *routes, uint32_t node,
				 const struct route_end *end)
{
	struct ideal_route route = routes->found[node];
	route.hops++;
	route.latency += end->latency;
	bool beside = is_split(routes, node) && is_switch(routes, end->to);
	if (route.rate_bps == 0 || (end->rate_bps < route.rate_bps && !beside))
		route.rate_bps = end->rate_bps;
	return route;
}

static bool is_better(const struct ideal_route *one, const struct ideal_route *other)
{
	if (one->hops != other->hops)
		return one->hops < other->hops;
	if (one->rate_bps != other->rate_bps)
		return one->rate_bps > other->rate_bps;
	return one->latency < other->latency;
}

/* Fills `found` with the routes from the root to all switches. `start` is the route to the root. */
static void search(struct ideal_routes *routes, uint32_t root, struct ideal_route start)
{
	uint32_t head = 0, tail = 0;
	for (uint32_t i = routes->build->scenario->host_count; i < routes->nodes; i++)
		routes->found[i] = (struct ideal_route){.hops = UNSEEN}, routes->split[i] = false;
	routes->found[root] = start;
	routes->queue[tail++] = root;
	while (head < tail) {
		uint32_t node = routes->queue[head++];
		for (uint32_t i = routes->first[node]; i < routes->to_hosts[node]; i++) {
			const struct route_end *end = &routes->ends[i];
			struct ideal_route *best = &routes->found[end->to];
			if (best->hops <= routes->found[node].hops)
				continue; /* most links lead back */
			struct ideal_route route = extend(routes, node, end);
			if (best->hops == UNSEEN)
				routes->queue[tail++] = end->to;
			if (is_better(&route, best))
				*best = route, routes->split[end->to] = is_split(routes, node);
		}
	}
	routes->root = root;
	routes->root_rate_bps = start.rate_bps;
}

/* Returns the best route to a host over the node, or `best` if none is better. */
static struct ideal_route over(const struct ideal_routes *routes, uint32_t node, uint32_t host,
			       struct ideal_route best)
{
	for (uint32_t i = routes->to_hosts[node]; i < routes->first[node + 1]; i++) {
		if (routes->ends[i].to != host)
			continue;
		struct ideal_route route = extend(routes, node, &routes->ends[i]);
		if (is_better(&route, &best))
			best = route;
	}
	return best;
}

/* Returns the route from the root of the last search to a host. Other hosts pass nothing on. */
static struct ideal_route last_link(const struct ideal_routes *routes, uint32_t host)
{
	struct ideal_route best = {.hops = UNSEEN};
	uint32_t before = UNSEEN;
	for (uint32_t i = routes->first[host]; i < routes->first[host + 1]; i++) {
		uint32_t node = routes->ends[i].to;
		bool passes = is_switch(routes, node) ? routes->found[node].hops != UNSEEN
						      : node == routes->root;
		if (passes && node != before)
			best = over(routes, node, host, best);
		before = node;
	}
	return best;
}

struct ideal_route ideal_routes_find(void *context, uint32_t source, uint32_t destination)
{
	struct ideal_routes *routes = context;
	if (source == destination)
		return (struct ideal_route){0};
	uint32_t root = source;
	struct ideal_route start = {0};
	sim_time latency = 0; /* latency of the source's link, which the search omits */
	const struct route_end *uplink = &routes->ends[routes->first[source]];
	if (routes->first[source + 1] - routes->first[source] == 1 &&
	    is_switch(routes, uplink->to)) {
		root = uplink->to;
		start = (struct ideal_route){.hops = 1, .rate_bps = uplink->rate_bps};
		latency = uplink->latency;
	}
	if (routes->root != root || routes->root_rate_bps != start.rate_bps)
		search(routes, root, start);
	struct ideal_route route = last_link(routes, destination);
	if (route.hops != UNSEEN)
		route.latency += latency;
	return route;
}
