/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_state: what topology.c (who is linked to whom), routes.c (which route leads where) and deadlock.c (who waits
 * for whom) share. Private to them.
 */
#ifndef FABRIC_TOPOLOGY_STATE_H
#define FABRIC_TOPOLOGY_STATE_H

#include "fabric/topology.h"

#define UNREACHED UINT32_MAX

struct end {
	uint32_t node, port; /* of the other end; UNREACHED: not linked */
};

struct node {
	bool is_switch;
	bool placed;
	uint32_t endpoint; /* of a host */
	struct port *port; /* of a host */
	struct topology_switch ops;
	unsigned ports;
	uint32_t first_port; /* the number of its first one: topology_find_port() */
	struct end *ends;    /* by port */
	uint32_t rank;       /* 0: a root; UNREACHED: not given */
	uint16_t position[TOPOLOGY_DIMENSIONS];
};

struct trips; /* round_trip.c: which port leads to which switch fastest */

struct topology {
	const struct endpoints *endpoints;
	struct trips *trips; /* NULL: not finished */
	struct node *nodes;
	uint32_t count;
	enum topology_routing routing;
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* of a torus */
};

/* Is the one nearer to the roots? Of the same rank, the one added first. */
static inline bool node_is_above(const struct node *one, const struct node *other)
{
	return one->rank != other->rank ? one->rank < other->rank : one < other;
}

/* The host with that endpoint; NULL. topology.c */
const struct node *topology_host(const struct topology *topology, uint32_t endpoint);

/* Links from each node to that switch, and the ports that lead closer, as it is routed: both have room for all nodes. routes.c */
void routes_towards(struct topology *topology, uint32_t node, uint32_t *distance,
		    struct port_set *ports);

struct trips *trips_create(uint32_t nodes);
void trips_destroy(struct trips *trips); /* NULL: nothing */

static inline struct port *topology_port_of(const struct node *node, unsigned index)
{
	return node->is_switch ? node->ops.port(node->ops.context, index) : node->port;
}

#endif
