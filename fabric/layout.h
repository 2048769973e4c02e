/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout: a fabric on paper: hosts, switches, the links between their ports, where they stand. Builders fill it
 * (topologies.h), files are read into it (netfile.h), explicit lists are written into it; whoever makes the hosts and
 * switches then adds them to a topology in the same order, and layout_apply() joins them.
 */
#ifndef FABRIC_LAYOUT_H
#define FABRIC_LAYOUT_H

#include "fabric/topology.h"

#define LAYOUT_NAME_BYTES 40

struct layout_node {
	char name[LAYOUT_NAME_BYTES];
	bool is_switch;
	bool placed;
	uint16_t ports;
	uint32_t rank; /* of a switch: 0 a root; LAYOUT_NO_RANK */
	uint32_t host; /* of a host: the machine; several of one machine are its NICs, ... */
	uint32_t rail; /* ... numbered from 0 */
	uint16_t position[TOPOLOGY_DIMENSIONS];
};

#define LAYOUT_NO_RANK UINT32_MAX

struct layout_link {
	uint32_t one, other; /* nodes */
	uint16_t one_port, other_port;
	uint64_t rate_bps; /* RATE_OF_PARAMS: the ports' own */
	double metres;     /* LENGTH_OF_PARAMS */
};

/* Zeroed: empty. */
struct layout {
	struct layout_node *nodes;
	struct layout_link *links;
	uint32_t node_count, link_count;
	uint32_t node_room, link_room;
	enum topology_routing routing;
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* of a torus */
};

/* Frees what it holds, and leaves it empty. */
void layout_fini(struct layout *layout);

/* Return the node's number: 0, 1 .. in the order added. Names are cut to fit. */
uint32_t layout_add_host(struct layout *layout, const char *name, uint32_t host, uint32_t rail);
uint32_t layout_add_switch(struct layout *layout, const char *name, uint16_t ports, uint32_t rank);

/* The link just added may still be given a rate and a length. */
struct layout_link *layout_add_link(struct layout *layout, uint32_t one, uint16_t one_port,
				    uint32_t other, uint16_t other_port);

/* Links the nodes of a topology that were added in the layout's order, and tells it ranks, positions and routing;
 * topology_finish() is the caller's. false: *error says which link cannot be. */
bool layout_apply(const struct layout *layout, struct topology *topology, char *error,
		  size_t error_bytes);

uint32_t layout_hosts(const struct layout *layout); /* nodes that are hosts */

#endif
