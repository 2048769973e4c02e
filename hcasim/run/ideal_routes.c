/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ideal_routes: see ideal_routes.h. A search in breadth from one host; what it found is kept for the next question about that host.
 */
#include "hcasim/run/ideal_routes.h"

#include <stdlib.h>

#include "switch/switch_params.h"

#define PREAMBLE_BYTES 8 /* that each switch sends again */
#define UNSEEN         UINT32_MAX

struct route_end { /* of a link, at a node */
	uint32_t link, to;
	bool at_first; /* the node is ends[0] */
};

struct ideal_routes {
	const struct build *build;
	uint32_t nodes;            /* hosts, then switches */
	uint32_t *first;           /* [nodes + 1] of the node's ends */
	struct route_end *ends;    /* [2 * links] */
	uint32_t source;           /* of what follows; UNSEEN: none */
	struct ideal_route *found; /* [nodes] */
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

struct ideal_routes *ideal_routes_create(const struct build *build)
{
	const struct scenario *scenario = build->scenario;
	struct ideal_routes *routes = take(1, sizeof(*routes));
	routes->build = build;
	routes->source = UNSEEN;
	routes->nodes = scenario->host_count + scenario->switch_count;
	routes->first = take(routes->nodes + 1, sizeof(*routes->first));
	routes->ends = take(2 * (size_t)scenario->link_count, sizeof(*routes->ends));
	routes->found = take(routes->nodes, sizeof(*routes->found));
	routes->split = take(routes->nodes, sizeof(*routes->split));
	routes->queue = take(routes->nodes, sizeof(*routes->queue));
	uint32_t *place = take(routes->nodes, sizeof(*place));
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++)
			routes->first[node_of(build, &scenario->links[i].ends[side]) + 1]++;
	}
	for (uint32_t i = 0; i < routes->nodes; i++)
		routes->first[i + 1] += routes->first[i];
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++) {
			uint32_t node = node_of(build, &scenario->links[i].ends[side]);
			uint32_t to = node_of(build, &scenario->links[i].ends[1 - side]);
			routes->ends[routes->first[node] + place[node]++] =
				(struct route_end){i, to, side == 0};
		}
	}
	free(place);
	return routes;
}

void ideal_routes_destroy(struct ideal_routes *routes)
{
	free(routes->first);
	free(routes->ends);
	free(routes->found);
	free(routes->split);
	free(routes->queue);
	free(routes);
}

static bool is_switch(const struct ideal_routes *routes, uint32_t node)
{
	return node >= routes->build->scenario->host_count;
}

/* Do packets of one flow leave that node, or one before it, by more than one link? */
static bool is_split(const struct ideal_routes *routes, uint32_t node)
{
	const struct scenario *scenario = routes->build->scenario;
	if (routes->split[node] || !is_switch(routes, node))
		return routes->split[node];
	uint32_t balance = scenario->switches[node - scenario->host_count].params->balance;
	return balance != BALANCE_DESTINATION && balance != BALANCE_ECMP;
}

/* The route so far, and one link more. Between switches a link is not a limit to packets that go by several. */
static struct ideal_route extend(const struct ideal_routes *routes, uint32_t node,
				 const struct route_end *end)
{
	const struct scenario *scenario = routes->build->scenario;
	const struct port *port =
		routes->build->ports[2 * (size_t)end->link + (end->at_first ? 0 : 1)];
	struct ideal_route route = routes->found[node];
	uint64_t rate = port_rate_bps(port);
	route.hops++;
	route.latency += port_latency(port);
	if (is_switch(routes, node)) {
		route.latency +=
			scenario->switches[node - scenario->host_count].params->forwarding_latency;
		if (port_link_layer(port) == LINK_ETHERNET)
			route.latency += port_serialization(port, PREAMBLE_BYTES);
	}
	bool beside = is_split(routes, node) && is_switch(routes, end->to);
	if (route.rate_bps == 0 || (rate < route.rate_bps && !beside))
		route.rate_bps = rate;
	return route;
}

static void search(struct ideal_routes *routes, uint32_t source)
{
	uint32_t head = 0, tail = 0;
	for (uint32_t i = 0; i < routes->nodes; i++)
		routes->found[i] = (struct ideal_route){.hops = UNSEEN}, routes->split[i] = false;
	routes->found[source] = (struct ideal_route){0};
	routes->queue[tail++] = source;
	while (head < tail) {
		uint32_t node = routes->queue[head++];
		if (!is_switch(routes, node) && node != source)
			continue; /* hosts pass nothing on */
		for (uint32_t i = routes->first[node]; i < routes->first[node + 1]; i++) {
			const struct route_end *end = &routes->ends[i];
			struct ideal_route route = extend(routes, node, end);
			struct ideal_route *best = &routes->found[end->to];
			if (best->hops == UNSEEN)
				routes->queue[tail++] = end->to;
			if (route.hops < best->hops ||
			    (route.hops == best->hops &&
			     (route.rate_bps > best->rate_bps ||
			      (route.rate_bps == best->rate_bps && route.latency < best->latency))))
				*best = route, routes->split[end->to] = is_split(routes, node);
		}
	}
	routes->source = source;
}

struct ideal_route ideal_routes_find(void *context, uint32_t source, uint32_t destination)
{
	struct ideal_routes *routes = context;
	if (routes->source != source)
		search(routes, source);
	return routes->found[destination];
}
