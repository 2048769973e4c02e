/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay: load balancing by leaf switches together, for packets from a host of one leaf to a host
 * of another. The first leaf chooses the path and adds a header. The last leaf removes the header,
 * records its contents, and sends control packets back. Switches between the leaves forward by the
 * hash of the flow. In a leaf-spine that is a single path, so the port by which a packet leaves the
 * first leaf identifies its path.
 *
 *     host -> leaf: choose, write -> spine: measure (CONGA) -> leaf: remove, learn, reorder -> host
 *                ^------------- feedback in packets back (CONGA), own packets (ConWeave) --'
 *
 * conga.c: Alizadeh et al., SIGCOMM 2014. conweave.c: Song et al., SIGCOMM 2023. Ethernet, with a
 * shared buffer. Only files of switch/ include this header.
 */
#ifndef SWITCH_OVERLAY_H
#define SWITCH_OVERLAY_H

#include "switch/switch_state.h"

#define NO_LEAF     UINT16_MAX
#define NO_NEXT_HOP PORT_SET_PORTS

struct conga;
struct conweave;

struct overlay_state {
	/* number of the leaf of each endpoint, from 0; NO_LEAF if it is linked to no switch */
	uint16_t *leaf_of;
	uint32_t *nodes; /* by leaf: the number of its node in the topology */
	uint32_t endpoint_count, leaf_count;
	uint16_t own;          /* number of this leaf; NO_LEAF for a switch without hosts */
	struct port_set hosts; /* ports with a host at the other end */
	struct conga *conga;
	struct conweave *conweave;
};

/* overlay_place() is `place` of fabric/topology.h, which is NULL in a switch without overlay. All
 * three are in overlay.c. */
void overlay_init(struct fabric_switch *sw);
void overlay_fini(struct fabric_switch *sw);
void overlay_place(void *context, uint32_t endpoint, uint32_t node, unsigned port);
bool overlay_start(struct fabric_switch *sw, char *error, size_t error_bytes);

/* conga.c */
struct conga *conga_create(const struct fabric_switch *sw);
void conga_destroy(struct conga *conga);
/* Chooses the port of the group by which a packet leaves for a leaf, and writes its header. */
unsigned conga_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		    struct packet *packet);
/* Records the header of a packet from another leaf. The packet still carries it. */
void conga_learn(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet);
void conga_departs(struct port_user *user, struct port *port, struct packet *packet,
		   sim_time starts_at, sim_time until);

/* Return the entries of the tables for tests: the metric that the leaf returned for a path to it,
 * and the metric that arrived from the leaf by a path. */
unsigned conga_heard(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop);
unsigned conga_measured(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop);

/* conweave.c */
struct conweave *conweave_create(struct fabric_switch *sw);
void conweave_destroy(struct fabric_switch *sw);
/* Chooses the port by which a packet leaves for a leaf. Writes a header, unless the flow has no
 * table entry. */
unsigned conweave_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		       struct packet *packet);
/* Forwards a packet from another leaf, possibly after reordering. `header` was removed from it. */
void conweave_arrive(struct switch_port *input, unsigned output, struct packet *packet,
		     const struct overlay *header);
/* Processes a control packet for a flow whose destination is behind that leaf. */
void conweave_take_control(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet);

/* Sends a control packet towards path->source, from the input of the packet `asked`. overlay.c */
void overlay_send_control(struct switch_port *input, const struct packet *asked,
			  enum overlay_kind kind, const struct overlay *header);

#endif
