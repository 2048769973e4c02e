/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology_state: the private declarations that topology.c (links), routes.c (routes),
 * round_trip.c, route_trace.c, multicast_tree.c and deadlock.c share.
 */
#ifndef FABRIC_TOPOLOGY_STATE_H
#define FABRIC_TOPOLOGY_STATE_H

#include "fabric/topology.h"

#define UNREACHED UINT32_MAX

struct end {
	/* node and port of the other end; `node` is UNREACHED if the port is not linked */
	uint32_t node, port;
};

struct node {
	bool is_switch;
	bool placed;
	uint32_t endpoint; /* of a host */
	struct port *port; /* of a host */
	struct topology_switch ops;
	unsigned ports;
	uint32_t first_port; /* number of its first port: topology_find_port() */
	struct end *ends;    /* by port */
	uint32_t rank;       /* 0 for a root; UNREACHED if not given */
	uint16_t position[TOPOLOGY_DIMENSIONS];
};

struct trips; /* round_trip.c: the fastest port to each switch */

struct topology {
	const struct endpoints *endpoints;
	struct trips *trips; /* NULL before topology_finish() */
	struct node *nodes;
	uint32_t count;
	enum topology_routing routing;
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* sizes of a torus */
};

/* Returns true if `one` is nearer to the roots, or has the same rank and was added first. */
static inline bool node_is_above(const struct node *one, const struct node *other)
{
	return one->rank != other->rank ? one->rank < other->rank : one < other;
}

/* Returns the host of that endpoint, or NULL. topology.c */
const struct node *topology_host(const struct topology *topology, uint32_t endpoint);

/* A search to one switch from all others, which serves any number of switches in turn. It may be
 * created after topology_finish(). routes.c */
struct search;
struct search *routes_search_create(struct topology *topology);
void routes_search_destroy(struct search *search); /* NULL is allowed */

/* Finds the number of links from each switch to that switch, and the ports that lead closer. Both
 * arrays are indexed by node and valid until the next call. */
void routes_towards(struct search *search, uint32_t node, const uint32_t **distance,
		    const struct port_set **ports);

/* Returns the number of switches, and their nodes in *nodes, which is valid as long as the
 * search. */
uint32_t routes_switches(const struct search *search, const uint32_t **nodes);

struct trips *round_trips_create(uint32_t nodes);
void round_trips_destroy(struct trips *trips); /* NULL is allowed */

static inline struct port *topology_port_of(const struct node *node, unsigned index)
{
	return node->is_switch ? node->ops.port(node->ops.context, index) : node->port;
}

#endif
