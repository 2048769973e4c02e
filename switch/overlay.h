/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlay: what leaf switches do together for packets from a host of one to a host of another: the first chooses the path and
 * writes a header, the last takes it off, learns from it, and sends control packets back. Switches between them forward by the hash of the flow,
 * which in a leaf-spine is one path: a path is known by the port by which it leaves the first leaf.
 *
 *     host -> leaf: choose, write -> spine: measure (CONGA) -> leaf: take off, learn or reorder -> host
 *                ^---------------- feedback in packets back (CONGA), packets of their own (ConWeave) ---'
 *
 * conga.c: Alizadeh et al., SIGCOMM 2014. conweave.c: Song et al., SIGCOMM 2023. Ethernet, with a shared buffer. Private to switch/.
 */
#ifndef SWITCH_OVERLAY_H
#define SWITCH_OVERLAY_H

#include "switch/switch_state.h"

#define NO_LEAF     UINT16_MAX
#define NO_NEXT_HOP PORT_SET_PORTS

struct conga;
struct conweave;

struct overlay_state {
	/* By endpoint: leaves are numbered from 0; NO_LEAF: linked to no switch. */
	uint16_t *leaf_of;
	uint32_t *nodes; /* by leaf: its number in the topology */
	uint32_t endpoint_count, leaf_count;
	uint16_t own;          /* this leaf; NO_LEAF: a switch without hosts */
	struct port_set hosts; /* ports with a host at the other end */
	struct conga *conga;
	struct conweave *conweave;
};

/* overlay.c. NULL op of fabric/topology.h unless the switch has an overlay. */
void overlay_init(struct fabric_switch *sw);
void overlay_fini(struct fabric_switch *sw);
void overlay_place(void *context, uint32_t endpoint, uint32_t node, unsigned port);
bool overlay_start(struct fabric_switch *sw, char *error, size_t error_bytes);

/* conga.c */
struct conga *conga_create(const struct fabric_switch *sw);
void conga_destroy(struct conga *conga);
/* Leaves for a leaf by one of the group: by which, and with which header. */
unsigned conga_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		    struct packet *packet);
/* Comes from a leaf, its header still on it. */
void conga_learn(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet);
void conga_departs(struct port_user *user, struct port *port, struct packet *packet,
		   sim_time starts_at, sim_time until);

/* The tables, for those who look on: what that leaf has told of a path to it, and what came from it by a path of its own. */
unsigned conga_heard(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop);
unsigned conga_measured(const struct fabric_switch *sw, uint16_t leaf, unsigned next_hop);

/* conweave.c */
struct conweave *conweave_create(struct fabric_switch *sw);
void conweave_destroy(struct fabric_switch *sw);
/* Has written a header, or not: then the flow is not looked after. */
unsigned conweave_send(struct fabric_switch *sw, uint16_t leaf, const struct port_group *group,
		       struct packet *packet);
/* Comes from a leaf, without its header, which is here. */
void conweave_arrive(struct switch_port *input, unsigned output, struct packet *packet,
		     const struct overlay *header);
/* A control packet for a flow whose destination is behind that leaf. */
void conweave_take_control(struct fabric_switch *sw, uint16_t leaf, const struct packet *packet);

/* From the input of the packet that it answers, towards path->source. overlay.c */
void overlay_send_control(struct switch_port *input, const struct packet *asked,
			  enum overlay_kind kind, const struct overlay *header);

#endif
