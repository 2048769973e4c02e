/* SPDX-License-Identifier: Apache-2.0 */
/*
 * route_trace: the route of a path through a topology, from the source's port to the destination's
 * port, by the switches' tables and hashes. It serves models of whole flows (fabric/flow).
 */
#include <stdio.h>

#include "fabric/topology_state.h"

static void add_hop(struct topology_route *route, const struct node *node, unsigned index)
{
	const struct port *port = topology_port_of(node, index);
	uint64_t rate_bps = port_rate_bps(port);

	route->ports[route->hops++] = node->first_port + index;
	route->latency += port_latency(port);
	if (node->is_switch) {
		route->latency += node->ops.forwarding_latency(node->ops.context);
		if (port_link_layer(port) == LINK_ETHERNET)
			route->latency += port_serialization(port, ETHERNET_PREAMBLE);
	}
	if (!route->rate_bps || rate_bps < route->rate_bps)
		route->rate_bps = rate_bps;
}

bool topology_trace_route(const struct topology *topology, const struct path *path,
			  struct topology_route *route, char *error, size_t error_bytes)
{
	const struct node *node = topology_host(topology, path->source);
	const struct node *last = topology_host(topology, path->destination);
	unsigned index = 0;

	assert(node && last && node != last);
	*route = (struct topology_route){0};
	while (node != last) {
		if (node->is_switch && !node->ops.output(node->ops.context, path, &index)) {
			snprintf(error, error_bytes,
				 "%s: the route does not depend on the path alone at this switch; "
				 "expected balance: destination or ecmp",
				 port_name(topology_port_of(node, 0)));
			return false;
		}
		if (node->ends[index].node == UNREACHED || route->hops == TOPOLOGY_HOPS_MAX) {
			snprintf(error, error_bytes,
				 "%s: the route of a flow ends here, or is a cycle",
				 port_name(topology_port_of(node, index)));
			return false;
		}
		add_hop(route, node, index);
		node = &topology->nodes[node->ends[index].node];
	}
	return true;
}

struct port *topology_find_port(const struct topology *topology, uint32_t number)
{
	uint32_t low = 0, high = topology->count;

	while (high - low > 1) { /* finds the last node whose first port is not above `number` */
		uint32_t middle = (low + high) / 2;

		if (topology->nodes[middle].first_port <= number)
			low = middle;
		else
			high = middle;
	}
	if (!topology->count ||
	    number - topology->nodes[low].first_port >= topology->nodes[low].ports)
		return NULL;
	return topology_port_of(&topology->nodes[low], number - topology->nodes[low].first_port);
}
