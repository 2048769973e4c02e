/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topologies: builds layouts of common fabrics. Switches come first, the top level last. Then come
 * hosts, machine by machine, each with its NICs.
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
	uint64_t rate_bps;    /* rate of the link between the switches; may be RATE_OF_PARAMS */
	double metres;        /* LENGTH_OF_PARAMS */
};

/* A row of switches, each with hosts. Packets to hosts of the last switch cross all switches before
 * it. */
struct parking_lot_shape {
	uint32_t switches, hosts; /* hosts per switch */
};

/* Two levels: leaves and spines. With R rails, each machine has R NICs, each at a different
 * leaf. */
struct leaf_spine_shape {
	uint32_t leaves, spines;
	uint32_t hosts; /* machines per leaf; hosts / (spines * parallel) is the oversubscription */
	uint32_t parallel;   /* links between a leaf and a spine; 0 means one */
	uint32_t rails;      /* a divisor of leaves; 0 means one */
	uint64_t uplink_bps; /* between leaf and spine; may be RATE_OF_PARAMS */
};

/* Three levels: pods of edge and aggregation switches, and the core. topology_fat_tree_of() fills
 * it for k-port switches. */
struct fat_tree_shape {
	uint32_t pods;
	uint32_t edges, aggregations; /* per pod */
	uint32_t hosts;   /* per edge switch; hosts / aggregations is its oversubscription */
	uint32_t uplinks; /* per aggregation switch; edges / uplinks is its oversubscription */
	uint32_t rails;   /* a divisor of edges; 0 means one */
};

/* Groups of switches. All switches of a group are linked, and one link connects any two groups (Kim
 * et al., ISCA 2008). */
struct dragonfly_shape {
	uint32_t routers; /* a, per group */
	uint32_t hosts;   /* p, per router */
	uint32_t global;  /* h, links to other groups per router */
	uint32_t groups;  /* at most a * h + 1; 0 means this maximum */
};

struct torus_shape {
	uint16_t sizes[TOPOLOGY_DIMENSIONS]; /* 1 if the dimension is absent */
	uint32_t hosts;                      /* per switch */
};

/* Each function adds the nodes and links of a shape to an empty layout. It returns false if a
 * number is not possible; *error names it and the possible values. */
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

/* Returns the shape of the k-ary fat tree: k pods, k^3 / 4 hosts (Al-Fares et al., SIGCOMM 2008).
 * arity is even. */
struct fat_tree_shape topology_fat_tree_of(uint32_t arity);

#endif
