/*
 * topology: who is linked to whom, and which way leads where. Takes the ports of HCAs and switches, joins them as
 * told, and fills the switches' tables by the shortest path; among several of the same length the destination's
 * number chooses, so that destinations spread and every run is the same.
 *
 *     node = topology_add_host(t, hca_port, endpoint);    leaf = topology_add_switch(t, &ops);
 *     topology_link(t, node, 0, leaf, 5, 3.0, RATE_OF_PARAMS, ...);            topology_finish(t, ...);
 */
#ifndef FABRIC_TOPOLOGY_H
#define FABRIC_TOPOLOGY_H

#include "fabric/endpoints.h"
#include "fabric/port.h"

/* What a topology asks of a switch: fabric/ does not know how one is made. */
struct topology_switch {
	void *context;
	unsigned ports;
	struct port *(*port)(void *context, unsigned index);
	void (*route)(void *context, const struct endpoints *endpoints, uint32_t endpoint,
		      unsigned port);
};

struct topology;

struct topology *topology_create(const struct endpoints *endpoints);
void topology_destroy(struct topology *topology); /* the links and routes stay */

/* Return the node's number. */
unsigned topology_add_host(struct topology *topology, struct port *port, uint32_t endpoint);
unsigned topology_add_switch(struct topology *topology, const struct topology_switch *ops);

#define LENGTH_OF_PARAMS (-1.0) /* each port keeps the length that its parameters say */
#define RATE_OF_PARAMS   0      /* ... and its rate */

/* Joins two ports; a host has port 0 only. false: *why says which port does not exist, is taken, or does not match. */
bool topology_link(struct topology *topology, unsigned one, unsigned one_port, unsigned other,
		   unsigned other_port, double metres, uint64_t rate_bps, char *why,
		   size_t why_bytes);

/* Fills the tables of all switches. false: *why names two hosts between which there is no way. */
bool topology_finish(struct topology *topology, char *why, size_t why_bytes);

/* Shortest path between two hosts, in links; after topology_finish(). */
unsigned topology_distance(const struct topology *topology, uint32_t from, uint32_t to);

#endif
