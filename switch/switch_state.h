/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_state: what the files that make up a switch share: switch.c (the path of a packet, its life), forwarding.c
 * (where to), balance.c (which of several paths), overlay.c (what leaf switches
 * tell each other to choose, with conga.c and conweave.c), multicast.c (several paths at once), partition.c (who may pass), vl_map.c (on
 * which VL), marking.c (ECN, FECN, telemetry), starvation.c (credits that come back slowly). Private.
 */
#ifndef SWITCH_SWITCH_STATE_H
#define SWITCH_SWITCH_STATE_H

#include <assert.h>

#include "sim/pool.h"
#include "sim/random.h"
#include "switch/pipeline.h"
#include "switch/shared_buffer.h"
#include "switch/switch.h"

#define NO_ROUTE       UINT16_MAX
#define SERVICE_LEVELS 16u
#define DSCPS          64u
#define DISCARD_VL     15u /* SL2VL to VL15: the packet is dropped, IBTA vol. 1, 7.6.6 */

enum { SWITCH_TRACE(TRACE_ENUM) };

struct switch_port {
	/* one cache line: what each packet looks at */
	struct port_user user;
	struct port *port;
	struct fabric_switch *sw;
	/* marks */
	uint32_t fecn_passed __attribute__((aligned(64))); /* since the last mark */
	uint32_t fecn_threshold;                           /* bytes; UINT32_MAX: none */
	uint64_t kmin, kmax;                               /* of ECN, bytes */
	struct random chance;                              /* of ECN marks */
	struct pipeline *pipeline;                         /* NULL: no telemetry */
	uint32_t gap_bytes;                  /* of telemetry: between packets, and before them */
	const struct partitions *partitions; /* of the filters; NULL: none */
	bool filters_out;
	bool marks_victims; /* FECN: though it lacks credits itself */
};

_Static_assert(offsetof(struct switch_port, fecn_passed) == 64, "the first line is full");

/* Ports of which each leads closer to some destination. */
struct port_group {
	uint16_t count;
	uint8_t next; /* drill: the place of the one that was shortest last time */
	uint8_t ports[PORT_SET_PORTS];
	struct port_set set; /* the same */
};

struct flowlet {
	sim_time last;
	uint8_t port;
};

struct fabric_switch {
	/* two cache lines: what each packet looks at */
	uint16_t *table; /* by LID or endpoint: a port, or port_count + a group */
	uint32_t table_entries;
	uint32_t port_count;
	sim_time forwarding_latency;
	struct shared_buffer *buffer; /* NULL: each port has its own */
	struct packet_pool *pool;
	struct port_group *groups;
	uint64_t hash_seed;
	bool by_lid;
	bool routes;
	bool marks;         /* something is done to packets that depart: marks, telemetry */
	bool maps;          /* the VL may change here, or a filter is at an output */
	bool telemetry;     /* outputs know which packets cross */
	uint8_t on_arrival; /* ECN is decided at enqueue */
	struct block block;
	struct switch_counters count;
	/* the rest */
	uint8_t *sl2vl;                /* [input][output][SL], NULL: the VL stays */
	struct starvation *starvation; /* NULL: no credit starvation */
	struct overlay_state *overlay; /* NULL: neither conga nor conweave */
	struct flowlet *flowlets;
	uint64_t flowlet_mask;
	uint32_t group_count;
	uint32_t group_table_entries;
	struct port_set *group_table;  /* multicast: outputs by group */
	struct port_set unknown_group; /* outputs of groups that are not in it */
	struct port_set linked;        /* unknown: flood: outputs with somebody at the other end */
	struct pool replicas;
	struct random chance; /* of paths */
	struct switch_params params;
	uint8_t dscp_priority[DSCPS];
	struct switch_port ports[];
};

static inline unsigned port_index(const struct switch_port *port)
{
	return (unsigned)(port - port->sw->ports);
}

/* forwarding.c */
void forwarding_fini(struct fabric_switch *sw);
static inline uint16_t forwarding_find(const struct fabric_switch *sw, const struct path *path)
{
	uint32_t index = sw->by_lid ? path->dlid : path->destination;

	return index < sw->table_entries ? sw->table[index] : NO_ROUTE;
}

/* balance.c */
void balance_init(struct fabric_switch *sw);
void balance_fini(struct fabric_switch *sw);
unsigned balance_choose(struct fabric_switch *sw, struct port_group *group,
			const struct packet *packet);
uint64_t balance_hash(const struct fabric_switch *sw, const struct path *path);
bool balance_all_up(const struct fabric_switch *sw, const struct port_group *group);
/* Those of the group whose link is up. */
void balance_up(const struct fabric_switch *sw, const struct port_group *group,
		struct port_group *up);
/* The flow's entry if a flowlet begins, and its path before, PORT_SET_PORTS: none; NULL: it goes on by that path. */
struct flowlet *balance_flowlet(struct fabric_switch *sw, const struct port_group *group,
				const struct path *path, unsigned *next_hop);
unsigned balance_begin_flowlet(struct fabric_switch *sw, struct flowlet *entry, unsigned before,
			       unsigned next_hop); /* returns next_hop */

/* switch.c: parts of a packet's path, for those who decide otherwise. switch_forward(): by that output, if it is not
 * dropped. switch_admit(): has all that the output asks for, and may join its queue at head_at; false: was dropped. */
void switch_receive(struct port_user *user, struct port *port, struct packet *packet);
void switch_departs(struct port_user *user, struct port *port, struct packet *packet,
		    sim_time starts_at, sim_time until);
void switch_forward(struct switch_port *input, unsigned output, struct packet *packet);
bool switch_admit(struct switch_port *input, unsigned output, struct packet *packet);
void switch_queue(struct switch_port *output,
		  struct packet *packet); /* it may leave at its head_at */

/* starvation.c: when the space that a packet has held at its input is free, if it leaves by that output until `at` */
void starvation_init(struct fabric_switch *sw);
void starvation_fini(struct fabric_switch *sw);
sim_time starvation_release_at(struct switch_port *output, const struct packet *packet,
			       sim_time at);

/* multicast.c */
void multicast_init(struct fabric_switch *sw);
void multicast_fini(struct fabric_switch *sw);
/* By which ports the path's packets leave; NULL: it leads to no group. */
const struct port_set *multicast_find(const struct fabric_switch *sw, const struct path *path);
/* A packet that holds memory of its input's VL, from which copies are made; multicast_drop() when there are all. */
struct replica *multicast_begin(struct switch_port *input, const struct packet *packet,
				unsigned vl);
struct packet *multicast_copy(struct fabric_switch *sw, struct replica *replica,
			      const struct packet *packet);
/* A copy, or its maker, needs the packet's memory no longer than that. */
void multicast_drop(struct fabric_switch *sw, struct replica *replica, sim_time at);
/* ... as it leaves by that output. */
void multicast_depart(struct switch_port *output, const struct packet *packet, sim_time at);

/* partition.c */
bool partition_lets_in(const struct switch_port *input, const struct packet *packet);
bool partition_lets_out(const struct switch_port *output, const struct packet *packet);
void switch_receive_filtered(struct port_user *user, struct port *port,
			     struct packet *packet); /* switch.c */

/* vl_map.c */
void vl_map_init(struct fabric_switch *sw);
void vl_map_fini(struct fabric_switch *sw);
unsigned vl_map_ingress(const struct fabric_switch *sw, const struct packet *packet);
unsigned vl_map_egress(const struct fabric_switch *sw, unsigned input, unsigned output,
		       const struct packet *packet, unsigned vl);

/* marking.c */
void marking_init(struct fabric_switch *sw);
void marking_fini(struct fabric_switch *sw);
void marking_start(struct fabric_switch *sw); /* the ports have their rates */
void marking_arrive(struct switch_port *output, struct packet *packet);
void marking_depart(struct switch_port *output, struct packet *packet, sim_time starts_at);

#endif
