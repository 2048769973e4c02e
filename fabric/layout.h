/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout: the description of a fabric: hosts, switches, the links between their ports, and
 * positions. Builders (topologies.h), files (netfile.h) and explicit lists fill a layout. The
 * caller then adds the hosts and switches to a topology in the same order, and layout_apply()
 * connects them.
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
	uint32_t rank; /* rank of a switch: 0 for a root, or LAYOUT_NO_RANK */
	uint32_t host; /* machine of a host; several hosts of one machine are its NICs */
	uint32_t rail; /* number of the NIC in its machine, from 0 */
	uint16_t position[TOPOLOGY_DIMENSIONS];
};

#define LAYOUT_NO_RANK UINT32_MAX

struct layout_link {
	uint32_t one, other; /* nodes */
	uint16_t one_port, other_port;
	uint64_t rate_bps; /* RATE_OF_PARAMS keeps the rate of the ports */
	double metres;     /* LENGTH_OF_PARAMS keeps the length of the ports */
};

/* A zeroed struct is an empty layout. */
struct layout {
	struct layout_node *nodes;
	struct layout_link *links;
	uint32_t node_count, link_count;
	uint32_t node_room, link_room;
	enum topology_routing routing;
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* sizes of a torus */
};

/* Frees the contents of a layout and leaves it empty. */
void layout_fini(struct layout *layout);

/* Add a node and return its number, from 0 in the order of the calls. Long names are cut. */
uint32_t layout_add_host(struct layout *layout, const char *name, uint32_t host, uint32_t rail);
uint32_t layout_add_switch(struct layout *layout, const char *name, uint16_t ports, uint32_t rank);

/* Adds a link and returns it, so that the caller can set its rate and length. */
struct layout_link *layout_add_link(struct layout *layout, uint32_t one, uint16_t one_port,
				    uint32_t other, uint16_t other_port);

/* Links the nodes of a topology, which were added in the order of the layout, and sets ranks,
 * positions and routing. The caller calls topology_finish(). Returns false, and *error, if a link
 * is not possible. */
bool layout_apply(const struct layout *layout, struct topology *topology, char *error,
		  size_t error_bytes);

uint32_t layout_hosts(const struct layout *layout); /* nodes that are hosts */

#endif
