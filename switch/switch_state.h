/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch_state: the private declarations that the files of a switch share.
 *
 *     switch.c       the path of a packet, creation
 *     forwarding.c   forwarding table
 *     balance.c      choice among several paths
 *     overlay.c      leaf switches that balance together, with conga.c and conweave.c
 *     multicast.c    several outputs
 *     snooping.c     members of groups, by the reports of hosts
 *     partition.c    P_Key filters
 *     vl_map.c       VL of a packet
 *     marking.c      ECN, FECN, telemetry
 *     starvation.c   slow return of credits
 *     prefetch.c     prefetching for the arrival and the departure of packets
 *     plugins.c      shared objects in place of such parts
 *     mirror.c       copies for an analyser
 */
#ifndef SWITCH_SWITCH_STATE_H
#define SWITCH_SWITCH_STATE_H

#include <assert.h>

#include "sim/pool.h"
#include "sim/random.h"
#include "switch/pipeline.h"
#include "switch/plugins.h"
#include "switch/shared_buffer.h"
#include "switch/switch.h"

#define NO_ROUTE       UINT16_MAX
#define FIRST_CHOICE   0x4000u /* above any port and group */
#define SPLIT_BLOCK    0x8000u
#define SERVICE_LEVELS 16u
#define DSCPS          64u
#define DISCARD_VL     15u /* SL2VL to VL15: the packet is dropped, IBTA vol. 1, 7.6.6 */

enum { SWITCH_TRACE(TRACE_ENUM) };

struct switch_port {
	/* one cache line: members that each packet uses */
	struct port_user user;
	struct fabric_switch *sw;
	/* lower threshold of ECN in bytes; UINT32_MAX: no queue reaches it */
	uint32_t kmin;
	uint32_t fecn_passed; /* packets since the last mark */
	/* other members */
	struct port *port __attribute__((aligned(64))); /* also in sw->links */
	uint64_t kmax;                                  /* upper threshold of ECN in bytes */
	struct random chance;                           /* random numbers of ECN marks */
	uint32_t fecn_threshold;                        /* bytes; UINT32_MAX for no marks */
	struct pipeline *pipeline;                      /* NULL without telemetry */
	uint32_t gap_bytes;                  /* bytes between packets that telemetry includes */
	const struct partitions *partitions; /* P_Keys of the filters, or NULL */
	bool filters_out;
	bool marks_victims; /* FECN: marks even without credits of its own */
};

_Static_assert(offsetof(struct switch_port, port) == 64, "the first line is full");

/* Ports that lead equally close to some destination. */
struct port_group {
	uint16_t count;
	uint8_t next; /* drill: index of the shortest queue at the last choice */
	uint8_t ports[PORT_SET_PORTS];
	struct port_set set; /* the same ports as a set */
};

/* Ports of which the number of the destination chooses one: topology_choice(). */
struct port_choice {
	bool power_of_two; /* the count is one, and `shift` leads to the digit that chooses */
	uint8_t shift;
	uint8_t distance; /* 0 or 1: whether the number of links is odd */
	uint16_t count;
	uint8_t ports[PORT_SET_PORTS];
	struct port_set set; /* the same ports as a set */
};

struct flowlet {
	sim_time last;
	uint8_t port;
};

struct fabric_switch {
	/* two cache lines: members that each packet uses */
	/* by block of LIDs or endpoints: see forwarding_entry() */
	uint16_t *table;
	uint32_t table_entries; /* LIDs or endpoints of the table */
	uint32_t port_count;
	sim_time forwarding_latency;
	bool stores;
	uint8_t block_bits;           /* a block of the table has 1 << block_bits addresses */
	struct shared_buffer *buffer; /* NULL if each port has its own memory */
	struct packet_pool *pool;
	struct port_group *groups;
	uint64_t hash_seed;
	bool by_lid;
	bool routes;
	bool marks;         /* departing packets get marks or telemetry */
	bool maps;          /* the VL may change in this switch, or an output has a filter */
	bool telemetry;     /* outputs record the packets in the pipeline */
	uint8_t on_arrival; /* ECN is decided at enqueue */
	/* A departing packet whose queue is not above kmin gets neither marks nor telemetry. */
	bool marks_long_queues;
	bool plugin_marks;   /* a plug-in decides the marks */
	struct port **links; /* [port_count]: the ports, dense */
	uint16_t *splits;    /* entries of the split blocks */
	struct port_choice *choices;
	struct block block;
	struct switch_counters count;
	/* other members */
	uint8_t *sl2vl;                /* [input][output][SL]; NULL if the VL does not change */
	struct starvation *starvation; /* NULL without credit starvation */
	struct overlay_state *overlay; /* NULL without conga and conweave */
	uint16_t choice_count;
	uint16_t split_count;
	uint16_t free_split; /* first of a list of split blocks that are whole again */
	struct flowlet *flowlets;
	uint64_t flowlet_mask;
	uint32_t group_count;
	uint32_t group_table_entries;
	struct port_set *group_table;   /* multicast: outputs by group */
	struct port_set unknown_group;  /* outputs of groups that are not in the table */
	struct port_set linked;         /* unknown `flood`: linked outputs */
	struct switch_plugins *plugins; /* NULL without plug-ins */
	struct mirrors *mirrors;        /* NULL without mirrored ports */
	struct snooping *snooping;      /* NULL without IGMP snooping */
	struct pool replicas;
	struct random chance; /* random choice of paths */
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
/* A block whose addresses all have one entry stores this entry: a port, port_count + a group, or
 * FIRST_CHOICE + a choice. A split block stores SPLIT_BLOCK and the number of its entries in
 * `splits`. A fat tree has few split blocks, so the tables of a large fabric fit into the
 * caches. */
static inline bool forwarding_is_split(uint16_t entry)
{
	return entry >= SPLIT_BLOCK && entry != NO_ROUTE;
}
static inline uint16_t *forwarding_split(const struct fabric_switch *sw, uint16_t entry)
{
	return &sw->splits[(uint32_t)(entry - SPLIT_BLOCK) << sw->block_bits];
}
static inline uint16_t forwarding_entry(const struct fabric_switch *sw, uint32_t index)
{
	uint16_t entry;

	if (index >= sw->table_entries)
		return NO_ROUTE;
	entry = sw->table[index >> sw->block_bits];
	if (__builtin_expect(forwarding_is_split(entry), 0))
		entry = forwarding_split(sw, entry)[index & ((1u << sw->block_bits) - 1)];
	return entry;
}
/* Returns the port of a choice for that endpoint. */
static inline uint16_t forwarding_choose(const struct port_choice *choice, uint32_t endpoint)
{
	if (__builtin_expect(choice->power_of_two, 1)) /* without a division */
		return choice->ports[endpoint >> choice->shift & (choice->count - 1u)];
	return choice->ports[topology_choice(choice->count, choice->distance, endpoint)];
}
/* Returns the entry of that index, which is a port, port_count + a group, or NO_ROUTE. */
static inline uint16_t forwarding_lookup(const struct fabric_switch *sw, uint32_t index)
{
	uint16_t entry = forwarding_entry(sw, index);

	if (entry >= FIRST_CHOICE && entry < SPLIT_BLOCK)
		return forwarding_choose(&sw->choices[entry - FIRST_CHOICE], index);
	return entry;
}
static inline uint16_t forwarding_find(const struct fabric_switch *sw, const struct path *path)
{
	return forwarding_lookup(sw, sw->by_lid ? path->dlid : path->destination);
}

/* balance.c */
void balance_init(struct fabric_switch *sw);
void balance_fini(struct fabric_switch *sw);
unsigned balance_choose(struct fabric_switch *sw, struct port_group *group,
			const struct packet *packet);
uint64_t balance_hash(const struct fabric_switch *sw, const struct path *path);
/* Returns the port that the hash of a path chooses, if its link is up. */
unsigned balance_hashed(const struct fabric_switch *sw, const struct port_group *group,
			const struct path *path);
bool balance_all_up(const struct fabric_switch *sw, const struct port_group *group);
/* Writes the ports of the group whose link is up. */
void balance_up(const struct fabric_switch *sw, const struct port_group *group,
		struct port_group *up);
/* Returns the flow's entry if a flowlet begins, with its previous next hop, or PORT_SET_PORTS for a
 * new entry. Returns NULL if the flowlet continues by *next_hop. */
struct flowlet *balance_flowlet(struct fabric_switch *sw, const struct port_group *group,
				const struct path *path, unsigned *next_hop);
unsigned balance_begin_flowlet(struct fabric_switch *sw, struct flowlet *entry, unsigned before,
			       unsigned next_hop); /* returns next_hop */

/* Functions of switch.c for files that change a packet's path. switch_forward() sends a packet to
 * that output, or drops it. switch_admit() reserves the resources of the output. The packet may
 * then join its queue at head_at. It returns false if the packet was dropped. */
void switch_receive(struct port_user *user, struct port *port, struct packet *packet);
void switch_departs(struct port_user *user, struct port *port, struct packet *packet,
		    sim_time starts_at, sim_time until);
void switch_forward(struct switch_port *input, unsigned output, struct packet *packet);
bool switch_admit(struct switch_port *input, unsigned output, struct packet *packet);
void switch_queue(struct switch_port *output,
		  struct packet *packet); /* the packet may leave at its head_at */

/* Returns the time at which the input space of a packet is free if it leaves by that output until
 * `at`. starvation.c */
void starvation_init(struct fabric_switch *sw);
void starvation_fini(struct fabric_switch *sw);
sim_time starvation_release_at(struct switch_port *output, const struct packet *packet,
			       sim_time at);

/* multicast.c */
void multicast_init(struct fabric_switch *sw);
void multicast_fini(struct fabric_switch *sw);
/* Returns the ports by which the path's packets leave, or NULL if it leads to no group. */
const struct port_set *multicast_find(const struct fabric_switch *sw, const struct path *path);
/* Registers a packet that holds memory of its input's VL, so that copies of it can be made. Call
 * multicast_drop() after the last copy. */
struct replica *multicast_begin(struct switch_port *input, const struct packet *packet,
				unsigned vl);
struct packet *multicast_copy(struct fabric_switch *sw, struct replica *replica,
			      const struct packet *packet);
/* Reports that a copy, or the maker of the copies, needs the packet's memory until `at`. */
void multicast_drop(struct fabric_switch *sw, struct replica *replica, sim_time at);
/* For a copy that leaves by the output: releases its switch memory, then calls multicast_drop(). */
void multicast_depart(struct switch_port *output, const struct packet *packet, sim_time at);

/* prefetch.c */
void prefetch_init(struct port *port);

/* snooping.c */
void snooping_init(struct fabric_switch *sw);
void snooping_fini(struct fabric_switch *sw);
/* Learns from a membership report. Returns true, and frees the report, if no other switch needs it.
 * Otherwise sets *outputs to the ports by which a report or a packet of a group with members
 * leaves, and does not change *outputs for other packets. */
bool snooping_takes(struct switch_port *input, struct packet *packet,
		    const struct port_set **outputs);

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
void marking_start(struct fabric_switch *sw); /* call it when the ports have their rates */
void marking_arrive(struct switch_port *output, struct packet *packet);
void marking_depart(struct switch_port *output, struct packet *packet, sim_time starts_at);

#endif
