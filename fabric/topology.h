/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology: who is linked to whom, and which route leads where. Takes the ports of HCAs and switches, joins them as
 * told, and fills the switches' tables. Among several routes that lead closer equally well the destination's number
 * chooses, so that destinations spread and every run is the same; a switch is told of the others, too.
 *
 *     node = topology_add_host(t, hca_port, endpoint);    leaf = topology_add_switch(t, &ops);
 *     topology_link(t, node, 0, leaf, 5, 3.0, RATE_OF_PARAMS, ...);            topology_finish(t, ...);
 */
#ifndef FABRIC_TOPOLOGY_H
#define FABRIC_TOPOLOGY_H

#include "fabric/endpoints.h"
#include "fabric/port.h"

#define TOPOLOGY_DIMENSIONS 3
#define TOPOLOGY_HOPS_MAX   64 /* that topology_trace_route() follows */

/* What a topology asks of a switch: fabric/ does not know how one is made. */
struct topology_switch {
	void *context;
	unsigned ports;
	struct port *(*port)(void *context, unsigned index);
	/* Packets to the endpoint leave by `port`, or by any of `ports`, which hold it. */
	void (*route)(void *context, const struct endpoints *endpoints, uint32_t endpoint,
		      unsigned port, const struct port_set *ports);
	/* Packets to the multicast group leave by all of `ports` but the one they came by. */
	void (*replicate)(void *context, uint32_t group, const struct port_set *ports);
	/* The endpoint is at that switch, at `port` of this one if it is this; else PORT_SET_PORTS. NULL: not asked for. */
	void (*place)(void *context, uint32_t endpoint, uint32_t node, unsigned port);
	/* All links and routes are made; false: *error says what does not fit. NULL: nothing to do. */
	bool (*start)(void *context, char *error, size_t error_bytes);
	/* Bytes that an input's VL holds now, of packets that are leaving as well. */
	uint64_t (*input_used)(void *context, unsigned port, unsigned vl);
	/* Which port all packets of a path leave by; false: not the path alone decides, or there is no route. */
	bool (*output)(void *context, const struct path *path, unsigned *port);
	/* All ports that a packet of a path may leave by: none, one, or those of a group, whatever chooses among them. */
	void (*outputs)(void *context, const struct path *path, struct port_set *ports);
	/* The VL of the next input for a packet of a path that came by `input` in `vl` and leaves by `output`. */
	unsigned (*vl)(void *context, unsigned input, unsigned output, const struct path *path,
		       unsigned vl);
	/* From a packet's first bit in to its first bit out, if nothing is in the way. */
	sim_time (*forwarding_latency)(void *context);
};

/* clang-format off */
#define TOPOLOGY_ROUTINGS(X)                                                                               \
	X(min_hop,         "the fewest links")                                                             \
	X(up_down,         "towards the roots, then away from them, never up again: no cycle, no deadlock") \
	X(dimension_order, "torus: along the first dimension to the end, then along the next")

#define TOPOLOGY_ROUTING_ENUM(name, meaning) ROUTING_##name,
enum topology_routing { TOPOLOGY_ROUTINGS(TOPOLOGY_ROUTING_ENUM) ROUTING_COUNT };
/* clang-format on */

struct topology;

struct topology *topology_create(const struct endpoints *endpoints);
void topology_destroy(struct topology *topology); /* the links and routes stay */

/* Return the node's number. */
unsigned topology_add_host(struct topology *topology, struct port *port, uint32_t endpoint);
unsigned topology_add_switch(struct topology *topology, const struct topology_switch *ops);

#define LENGTH_OF_PARAMS (-1.0) /* each port keeps the length that its parameters say */
#define RATE_OF_PARAMS   0      /* ... and its rate */

/* Joins two ports; a host has port 0 only. false: *error says which port does not exist, is taken, or does not match. */
bool topology_link(struct topology *topology, unsigned one, unsigned one_port, unsigned other,
		   unsigned other_port, double metres, uint64_t rate_bps, char *error,
		   size_t error_bytes);

/* min_hop unless told. up_down takes the ranks given (0: a root), or else counts links from the first switch.
 * dimension_order needs the position of each switch in a torus of these sizes. */
void topology_set_routing(struct topology *topology, enum topology_routing routing);
void topology_set_rank(struct topology *topology, unsigned node, unsigned rank);
void topology_set_sizes(struct topology *topology, const uint16_t sizes[TOPOLOGY_DIMENSIONS]);
void topology_set_position(struct topology *topology, unsigned node,
			   const uint16_t position[TOPOLOGY_DIMENSIONS]);

/* Fills the tables of all switches. false: *error names two hosts between which there is no route. */
bool topology_finish(struct topology *topology, char *error, size_t error_bytes);

/* Numbers of ports: from 0, node by node in the order in which these were added. */
uint32_t topology_port_number(const struct topology *topology, unsigned node, unsigned port);
uint32_t topology_ports(const struct topology *topology); /* how many there are */

/* After topology_finish(): fills the tables again, without the links of ports that are `down` by their numbers, at switches of that
 * LP of a parallel run. A switch that no route leads from keeps its usual ones. Trees of multicast stay. */
void topology_reroute(struct topology *topology, const bool *down, const struct sim *lp);

/* Multicast: hosts by endpoint, in any order. */
struct group_hosts {
	const uint32_t *endpoints;
	uint32_t count;
};

#define GROUP_UNKNOWN \
	UINT32_MAX /* Ethernet: what is sent to a group that nobody has set takes this group's routes */

/* After topology_finish(): the switches forward what is sent to the group along a tree, from members and from those that only
 * send to all members. Again: in place of the tree before. false: *error, no tree joins all of them. multicast_tree.c */
bool topology_set_group(struct topology *topology, uint32_t group,
			const struct group_hosts *members, const struct group_hosts *senders,
			char *error, size_t error_bytes);

/* Links between two hosts on the routes that the routing takes; TOPOLOGY_NO_ROUTE: there is none. */
#define TOPOLOGY_NO_ROUTE UINT32_MAX
unsigned topology_distance(struct topology *topology, uint32_t from, uint32_t to);

/* The route of all packets of a path. */
struct topology_route {
	/* That they leave by, the host's first: topology_find_port(). */
	uint32_t ports[TOPOLOGY_HOPS_MAX];
	uint32_t hops;
	/* Of a bit when nobody is there; with the preamble that each switch sends again. */
	sim_time latency;
	uint64_t rate_bps; /* of the slowest link */
};

/* After topology_finish(). false: *error says at which switch it is not the path alone that decides. */
bool topology_trace_route(const struct topology *topology, const struct path *path,
			  struct topology_route *route, char *error, size_t error_bytes);

/* After topology_finish(), by any LP of a parallel run: how long a packet takes from its first bit out at one host to its last bit
 * in at the other, when nobody else is there; by the route with the fewest links, as routed at first. SIM_NEVER: there is none.
 * round_trip.c */
sim_time topology_trip(struct topology *topology, uint32_t from, uint32_t to, uint32_t wire_bytes);

/* NULL: beyond the last. */
struct port *topology_find_port(const struct topology *topology, uint32_t number);

#endif
