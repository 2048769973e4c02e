/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topologies: the fabrics of the studies, as layouts. Switches come first, the top last; then hosts, machine by
 * machine, each with its NICs. A builder returns false if the numbers make no fabric; *error says which.
 */
#ifndef FABRIC_TOPOLOGIES_H
#define FABRIC_TOPOLOGIES_H

#include "fabric/layout.h"

/* One switch. */
struct star_shape {
	uint32_t hosts;
};

/* Two switches and one link between them. */
struct dumbbell_shape {
	uint32_t left, right; /* hosts at each */
	uint64_t rate_bps;    /* of the link between; RATE_OF_PARAMS */
	double metres;        /* LENGTH_OF_PARAMS */
};

/* A row of switches, each with hosts; what goes to the last one's crosses all before it. */
struct parking_lot_shape {
	uint32_t switches, hosts; /* at each */
};

/* Two levels. With R rails R leaves stand side by side, and each machine has a NIC at each of them. */
struct leaf_spine_shape {
	uint32_t leaves, spines;
	uint32_t hosts; /* a leaf: machines; hosts / (spines * parallel) is the oversubscription */
	uint32_t parallel;   /* links between a leaf and a spine; 0: one */
	uint32_t rails;      /* 0: one; divides leaves */
	uint64_t uplink_bps; /* between leaf and spine; RATE_OF_PARAMS */
};

/* Three levels: pods of edge and aggregation switches, and the core. fat_tree_of() fills it for k-port switches. */
struct fat_tree_shape {
	uint32_t pods;
	uint32_t edges, aggregations; /* a pod */
	uint32_t hosts;   /* an edge: hosts / aggregations is the oversubscription there */
	uint32_t uplinks; /* an aggregation: edges / uplinks is the one above */
	uint32_t rails;   /* 0: one; divides edges */
};

/* Groups of switches, all linked within and one link between any two; Kim et al., ISCA 2008. */
struct dragonfly_shape {
	uint32_t routers; /* a group: a */
	uint32_t hosts;   /* a router: p */
	uint32_t global;  /* links to other groups, a router: h */
	uint32_t groups;  /* up to a * h + 1; 0: that many */
};

struct torus_shape {
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* 1: no such dimension */
	uint32_t hosts;                      /* a switch */
};

/* Each adds the nodes and links of a shape to an empty layout. false: *error says what of the shape is not possible, and what is. */
bool topology_star(struct layout *layout, const struct star_shape *shape, char *error,
		   size_t bytes);
bool topology_dumbbell(struct layout *layout, const struct dumbbell_shape *shape, char *error,
		       size_t bytes);
bool topology_parking_lot(struct layout *layout, const struct parking_lot_shape *shape, char *error,
			  size_t bytes);
bool topology_leaf_spine(struct layout *layout, const struct leaf_spine_shape *shape, char *error,
			 size_t bytes);
bool topology_fat_tree(struct layout *layout, const struct fat_tree_shape *shape, char *error,
		       size_t bytes);
bool topology_dragonfly(struct layout *layout, const struct dragonfly_shape *shape, char *error,
			size_t bytes);
bool topology_torus(struct layout *layout, const struct torus_shape *shape, char *error,
		    size_t bytes);

/* The k-ary fat tree: k pods, k^3 / 4 hosts; Al-Fares et al., SIGCOMM 2008. arity is even. */
struct fat_tree_shape fat_tree_of(uint32_t arity);

#endif
