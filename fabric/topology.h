/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology: connects the ports of HCAs and switches by links, and fills the forwarding tables of
 * the switches. Several next hops may be equally close to a destination. The number of the
 * destination then selects one, so that destinations spread and every run is the same. The switch
 * also gets the other next hops, for load balancing.
 *
 *     node = topology_add_host(t, hca_port, endpoint);    leaf = topology_add_switch(t, &ops);
 *     topology_link(t, node, 0, leaf, 5, 3.0, RATE_OF_PARAMS, ...);        topology_finish(t, ...);
 */
#ifndef FABRIC_TOPOLOGY_H
#define FABRIC_TOPOLOGY_H

#include "fabric/endpoints.h"
#include "fabric/port.h"

#define TOPOLOGY_DIMENSIONS 3
#define TOPOLOGY_HOPS_MAX   64 /* limit of topology_trace_route() */

/* Hosts by endpoint. */
struct topology_hosts {
	const uint32_t *endpoints;
	uint32_t count;
};

/*
 * Returns the index of the port that the destination's number selects among `candidates` ports that
 * lead closer. If a route goes up twice in a row, the second choice must be independent of the
 * first. Otherwise most top switches would be idle. The second choice therefore uses the next digit
 * of the number.
 */
static inline unsigned topology_choice(unsigned candidates, uint32_t distance, uint32_t endpoint)
{
	if (candidates == 1)
		return 0;
	return (distance % 2 ? endpoint / candidates : endpoint) % candidates;
}

/* Functions that a topology calls in a switch. fabric/ does not include switch/. */
struct topology_switch {
	void *context;
	unsigned ports;
	struct port *(*port)(void *context, unsigned index);
	/* Sets the route to hosts of one switch, which is `distance` links away: any of `ports`, or
	 * for each host the port of topology_choice(). */
	void (*route)(void *context, const struct endpoints *endpoints,
		      const struct topology_hosts *hosts, uint32_t distance,
		      const struct port_set *ports);
	/* Sets the outputs of a multicast group. A packet leaves by all but its input. */
	void (*replicate)(void *context, uint32_t group, const struct port_set *ports);
	/* Reports that an endpoint is connected to the switch `node`. If that is this switch,
	 * `port` is its port, otherwise PORT_SET_PORTS. May be NULL. */
	void (*place)(void *context, uint32_t endpoint, uint32_t node, unsigned port);
	/* topology_finish() calls this function when all links and routes exist. Returns false, and
	 * *error, if they do not fit the switch. May be NULL. */
	bool (*start)(void *context, char *error, size_t error_bytes);
	/* Returns the bytes in the buffer of an input's VL, including the bytes of departing
	 * packets. */
	uint64_t (*input_used)(void *context, unsigned port, unsigned vl);
	/* Finds the output of all packets of a path. Returns false if there is no route, or if the
	 * route does not depend on the path alone. */
	bool (*output)(void *context, const struct path *path, unsigned *port);
	/* Finds all outputs that a packet of a path may take, before load balancing. */
	void (*outputs)(void *context, const struct path *path, struct port_set *ports);
	/* Finds all outputs that packets to these hosts may take, and perhaps others that are as
	 * close. */
	void (*reaches)(void *context, const struct endpoints *endpoints,
			const struct topology_hosts *hosts, struct port_set *ports);
	/* Returns true if packets to all these hosts may take the same outputs. */
	bool (*alike)(void *context, const struct endpoints *endpoints,
		      const struct topology_hosts *hosts);
	/* Returns the VL on the next link of a packet that came by `input` in `vl` and leaves by
	 * `output`. */
	unsigned (*vl)(void *context, unsigned input, unsigned output, const struct path *path,
		       unsigned vl);
	/* Returns the time from a packet's first bit in to its first bit out of an idle switch. */
	sim_time (*forwarding_latency)(void *context);
	bool stores; /* forwards a packet after its last bit */
};

/* clang-format off */
#define TOPOLOGY_ROUTINGS(X)                                                                       \
	X(min_hop,         "the fewest links")                                                     \
	X(up_down,         "towards the roots, then away from them: no cycle, no deadlock")        \
	X(dimension_order, "torus: along the first dimension to the end, then along the next")

#define TOPOLOGY_ROUTING_ENUM(name, meaning) ROUTING_##name,
enum topology_routing { TOPOLOGY_ROUTINGS(TOPOLOGY_ROUTING_ENUM) ROUTING_COUNT };
/* clang-format on */

struct topology;

struct topology *topology_create(const struct endpoints *endpoints);
void topology_destroy(struct topology *topology); /* the links and routes stay */

/* Add a host or a switch. Both functions return the number of the node. */
unsigned topology_add_host(struct topology *topology, struct port *port, uint32_t endpoint);
unsigned topology_add_switch(struct topology *topology, const struct topology_switch *ops);

#define LENGTH_OF_PARAMS (-1.0) /* each port keeps the length of its parameters */
#define RATE_OF_PARAMS   0      /* each port keeps the rate of its parameters */

/* Connects two ports. A host has port 0 only. Returns false, and *error, if a port does not exist,
 * is already connected, or does not match the other. */
bool topology_link(struct topology *topology, unsigned one, unsigned one_port, unsigned other,
		   unsigned other_port, double metres, uint64_t rate_bps, char *error,
		   size_t error_bytes);

/* Select and configure the routing. The default is min_hop. up_down takes the ranks that are set
 * (0: a root), or counts links from the first switch. dimension_order needs the sizes of the torus
 * and the position of each switch. */
void topology_set_routing(struct topology *topology, enum topology_routing routing);
void topology_set_rank(struct topology *topology, unsigned node, unsigned rank);
void topology_set_sizes(struct topology *topology, const uint16_t sizes[TOPOLOGY_DIMENSIONS]);
void topology_set_position(struct topology *topology, unsigned node,
			   const uint16_t position[TOPOLOGY_DIMENSIONS]);

/* Fills the tables of all switches. Returns false if two hosts have no route, and *error names
 * them. */
bool topology_finish(struct topology *topology, char *error, size_t error_bytes);

/* Returns the number of a port. Numbers start at 0 and follow the order of the nodes. */
uint32_t topology_port_number(const struct topology *topology, unsigned node, unsigned port);
uint32_t topology_ports(const struct topology *topology); /* the number of ports */

/* Fills the tables again without links of the ports that are `down`, which is indexed by port
 * number. Call it after topology_finish(). It changes the switches of one LP of a parallel run. A
 * switch without any route keeps its former routes. Multicast trees do not change. */
void topology_reroute(struct topology *topology, const bool *down, const struct sim *lp);

/* Ethernet: group whose routes packets to unknown groups take. */
#define GROUP_UNKNOWN UINT32_MAX

/* Sets a multicast tree over which members and further senders reach all members of the group. It
 * replaces an earlier tree. Call it after topology_finish(). Returns false, and *error, if no tree
 * connects all of them. multicast_tree.c implements it. */
bool topology_set_group(struct topology *topology, uint32_t group,
			const struct topology_hosts *members, const struct topology_hosts *senders,
			char *error, size_t error_bytes);

/* Returns the number of links between two hosts by the selected routing, or TOPOLOGY_NO_ROUTE. */
#define TOPOLOGY_NO_ROUTE UINT32_MAX
unsigned topology_distance(struct topology *topology, uint32_t from, uint32_t to);

/* The route of all packets of a path. */
struct topology_route {
	/* numbers of the outputs on the route, the host's first (topology_find_port()) */
	uint32_t ports[TOPOLOGY_HOPS_MAX];
	uint32_t hops;
	/* latency of a bit through an idle fabric, including the preamble that each switch sends
	 * again */
	sim_time latency;
	uint64_t rate_bps; /* rate of the slowest link */
};

/* Finds the route of a path. Call it after topology_finish(). Returns false if more than the path
 * decides at a switch, which *error names. */
bool topology_trace_route(const struct topology *topology, const struct path *path,
			  struct topology_route *route, char *error, size_t error_bytes);

/* Returns the time of a packet through an idle fabric. The time begins when the first bit leaves
 * one host, and ends when the last bit arrives at the other. The route has the fewest links.
 * Returns SIM_NEVER if there is no route. Any LP may call it after topology_finish(). round_trip.c
 * implements it. */
sim_time topology_trip(struct topology *topology, uint32_t from, uint32_t to, uint32_t wire_bytes);

/* Returns the port with a number, or NULL if there is none. */
struct port *topology_find_port(const struct topology *topology, uint32_t number);

#endif
