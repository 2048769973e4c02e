/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round_trip: how long a packet takes from one host to another when nobody else is there, by the route with the fewest links that the
 * routing takes; among such routes the one with the least latency. What congestion control takes for the delay of an empty path.
 *
 * Switches are looked at as they are routed at the beginning, and nothing of a run is read, so any LP of a parallel run may ask. The
 * routes to a switch are found when somebody asks first.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fabric/topology_state.h"

#define PREAMBLE_BYTES 8 /* that each switch sends again */
#define NO_PORT        UINT8_MAX

struct trips {
	pthread_mutex_t lock; /* of whoever fills in */
	uint32_t count;
	uint8_t *_Atomic towards
		[]; /* [node] by node, the port towards that switch; NULL: not looked for yet */
};

struct trips *trips_create(uint32_t nodes)
{
	struct trips *trips = calloc(1, sizeof(*trips) + nodes * sizeof(trips->towards[0]));

	assert(trips);
	trips->count = nodes;
	pthread_mutex_init(&trips->lock, NULL);
	return trips;
}

void trips_destroy(struct trips *trips)
{
	if (!trips)
		return;
	for (uint32_t i = 0; i < trips->count; i++)
		free(trips->towards[i]);
	pthread_mutex_destroy(&trips->lock);
	free(trips);
}

static sim_time preamble(const struct port *port)
{
	return port_link_layer(port) == LINK_ETHERNET ? port_serialization(port, PREAMBLE_BYTES)
						      : 0;
}

/* The best of the ports that lead closer, and what is left from there. */
static uint8_t best_port(const struct topology *topology, const struct node *node,
			 const struct port_set *ports, const sim_time *left, sim_time *least)
{
	uint8_t best = NO_PORT;

	*least = SIM_NEVER;
	PORT_SET_EACH(index, ports)
	{
		const struct port *port = topology_port_of(node, index);
		sim_time time = node->ops.forwarding_latency(node->ops.context) + preamble(port) +
				port_latency(port) + left[node->ends[index].node];

		if (best != NO_PORT &&
		    (time > *least ||
		     (time == *least &&
		      port_rate_bps(port) <= port_rate_bps(topology_port_of(node, best)))))
			continue;
		best = (uint8_t)index;
		*least = time;
	}
	(void)topology;
	return best;
}

/* Nodes in the order of their distances: what is nearer is known. */
static uint8_t *find_towards(struct topology *topology, uint32_t last)
{
	uint32_t count = topology->count, farthest = 0;
	uint32_t *distance = malloc(count * sizeof(*distance));
	struct port_set *ports = malloc(count * sizeof(*ports));
	sim_time *left = malloc(count * sizeof(*left));
	uint8_t *best = malloc(count);

	assert(distance && ports && left && best);
	routes_towards(topology, last, distance, ports);
	for (uint32_t i = 0; i < count; i++) {
		best[i] = NO_PORT;
		if (distance[i] != UNREACHED && distance[i] > farthest)
			farthest = distance[i];
	}
	left[last] = 0;
	for (uint32_t links = 1; links <= farthest; links++)
		for (uint32_t i = 0; i < count; i++)
			if (distance[i] == links)
				best[i] = best_port(topology, &topology->nodes[i], &ports[i], left,
						    &left[i]);
	free(distance);
	free(ports);
	free(left);
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
		/* a packet that would run out of bits is stored first: switch.c */
		starts_at =
			(port_is_faster(topology_port_of(node, index), port) ? tail_at : head_at) +
			node->ops.forwarding_latency(node->ops.context);
	}
	return SIM_NEVER;
}
