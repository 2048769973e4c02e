/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_trip: computes the time of a packet from one host to another in an idle fabric. It uses the
 * route with the fewest links that the routing allows, and among such routes the one with the
 * lowest latency. Congestion control uses it as the delay of an empty path.
 *
 * It uses the initial tables of switches and no state of a run, so any LP of a parallel run may
 * call it. The routes to a switch are computed on first use.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/topology_state.h"

#define NO_PORT UINT8_MAX

/* An output of a node. */
struct out {
	sim_time time; /* from the first bit in to the first bit in at the other end */
	uint64_t rate_bps;
};

struct trips {
	pthread_mutex_t lock; /* held while a table is filled in */
	uint32_t count;
	/* made with the first table */
	struct search *search;
	struct out *outs; /* by port number */
	sim_time *left;   /* by node */
	/* [node], each by node: the port towards that switch; NULL before its first use */
	uint8_t *_Atomic towards[];
};

struct trips *round_trips_create(uint32_t nodes)
{
	struct trips *trips = calloc(1, sizeof(*trips) + nodes * sizeof(trips->towards[0]));

	assert(trips);
	trips->count = nodes;
	pthread_mutex_init(&trips->lock, NULL);
	return trips;
}

void round_trips_destroy(struct trips *trips)
{
	if (!trips)
		return;
	for (uint32_t i = 0; i < trips->count; i++)
		free(trips->towards[i]);
	routes_search_destroy(trips->search);
	free(trips->outs);
	free(trips->left);
	pthread_mutex_destroy(&trips->lock);
	free(trips);
}

static sim_time preamble(const struct port *port)
{
	return port_link_layer(port) == LINK_ETHERNET ? port_serialization(port, ETHERNET_PREAMBLE)
						      : 0;
}

static void prepare(struct topology *topology)
{
	struct trips *trips = topology->trips;
	uint32_t ports = topology_ports(topology);

	trips->search = routes_search_create(topology);
	trips->outs = calloc(ports + 1, sizeof(trips->outs[0]));
	trips->left = calloc(trips->count, sizeof(trips->left[0]));
	assert(trips->outs && trips->left);
	for (uint32_t i = 0; i < topology->count; i++) {
		const struct node *node = &topology->nodes[i];

		for (unsigned index = 0; node->is_switch && index < node->ports; index++) {
			const struct port *port = topology_port_of(node, index);

			trips->outs[node->first_port + index] = (struct out){
				.time = node->ops.forwarding_latency(node->ops.context) +
					preamble(port) + port_latency(port),
				.rate_bps = port_rate_bps(port),
			};
		}
	}
}

/* Returns the best port of `ports`, and writes the remaining time after it. */
static uint8_t best_port(const struct trips *trips, const struct node *node,
			 const struct port_set *ports, sim_time *least)
{
	const struct out *outs = &trips->outs[node->first_port];
	uint8_t best = NO_PORT;

	*least = SIM_NEVER;
	PORT_SET_EACH(index, ports)
	{
		sim_time time = outs[index].time + trips->left[node->ends[index].node];

		if (best != NO_PORT &&
		    (time > *least ||
		     (time == *least && outs[index].rate_bps <= outs[best].rate_bps)))
			continue;
		best = (uint8_t)index;
		*least = time;
	}
	return best;
}

/* Computes the ports towards a switch. Nodes are processed in order of distance, so that nearer
 * nodes are known. */
static uint8_t *find_towards(struct topology *topology, uint32_t last)
{
	struct trips *trips = topology->trips;
	uint32_t farthest = 0, count;
	uint8_t *best = malloc(topology->count);
	const struct port_set *ports;
	const uint32_t *distance, *switches;

	assert(best);
	memset(best, NO_PORT, topology->count);
	if (!trips->search)
		prepare(topology);
	count = routes_switches(trips->search, &switches);
	routes_towards(trips->search, last, &distance, &ports);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t links = distance[switches[i]];

		if (links != UNREACHED && links > farthest)
			farthest = links;
	}
	trips->left[last] = 0;
	for (uint32_t links = 1; links <= farthest; links++)
		for (uint32_t i = 0; i < count; i++) {
			uint32_t number = switches[i];

			if (distance[number] == links)
				best[number] = best_port(trips, &topology->nodes[number],
							 &ports[number], &trips->left[number]);
		}
	return best;
}

static const uint8_t *towards(struct topology *topology, uint32_t last)
{
	struct trips *trips = topology->trips;
	uint8_t *best = atomic_load_explicit(&trips->towards[last], memory_order_acquire);

	if (best)
		return best;
	pthread_mutex_lock(&trips->lock);
	best = atomic_load_explicit(&trips->towards[last], memory_order_relaxed);
	if (!best) {
		best = find_towards(topology, last);
		atomic_store_explicit(&trips->towards[last], best, memory_order_release);
	}
	pthread_mutex_unlock(&trips->lock);
	return best;
}

sim_time topology_trip(struct topology *topology, uint32_t from, uint32_t to, uint32_t wire_bytes)
{
	const struct node *node = topology_host(topology, from);
	const struct node *goal = topology_host(topology, to);
	const struct node *last;
	sim_time starts_at = 0;
	unsigned index = 0;

	assert(node && goal && node != goal && topology->trips);
	if (goal->ends[0].node == UNREACHED || node->ends[0].node == UNREACHED)
		return SIM_NEVER;
	last = &topology->nodes[goal->ends[0].node];
	for (unsigned hops = 0; hops < TOPOLOGY_HOPS_MAX; hops++) {
		const struct port *port = topology_port_of(node, index);
		sim_time head_at = starts_at + preamble(port) + port_latency(port);
		sim_time tail_at = head_at + port_serialization(port, wire_bytes);

		node = &topology->nodes[node->ends[index].node];
		if (node == goal)
			return tail_at;
		if (!node->is_switch)
			return SIM_NEVER;
		index = node == last
				? goal->ends[0].port
				: towards(topology, goal->ends[0].node)[node - topology->nodes];
		if (index == NO_PORT)
			return SIM_NEVER;
		/* a packet is stored first if its bits would arrive too slowly: switch.c */
		starts_at = (node->ops.stores || port_is_faster(topology_port_of(node, index), port)
				     ? tail_at
				     : head_at) +
			    node->ops.forwarding_latency(node->ops.context);
	}
	return SIM_NEVER;
}
