/*
 * switch: a cut-through switch: input buffers with the link's flow control, a forwarding table, and at each output
 * a queue per lane and input (virtual output queues, so no packet blocks another that goes elsewhere).
 *
 *     port 0 --receive--> lookup --ready after the crossing--> output's queues --inputs in turn--> port n
 *        ^------------------ input space is given back when the packet has left ------------------'
 *
 * InfiniBand forwards by destination LID (the linear forwarding table, IBTA vol. 1, 14.2.5.6 and 18.2.4.3), Ethernet by the
 * destination endpoint that the MAC or IP address stands for. A packet starts to leave while it still arrives,
 * unless the output is faster than the input: then it is stored first, since its bits would run out.
 */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "fabric/topology.h"
#include "switch/switch_params.h"

#define SWITCH_PORTS_MAX 64

/* clang-format off */
#define SWITCH_COUNTERS(X)                                                                                 \
	X(packets_forwarded, "packets", "sent on to an output")                                            \
	X(bytes_forwarded,   "bytes",   "of them")                                                         \
	X(no_route_drops,    "packets", "whose destination is not in the forwarding table")                \
	X(hop_limit_drops,   "packets", "whose hop limit has run out")                                     \
	X(oversize_drops,    "packets", "with more payload than the output's MTU")

#define SWITCH_TRACE(X)                                                                                    \
	X(SWITCH_FORWARD, "output", "ready_at", "a packet has been given its output")                      \
	X(SWITCH_DROP,    "input",  "reason",   "0: no route, 1: hop limit, 2: oversize")

struct switch_counters { SWITCH_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct fabric_switch;

/* `ports` are named NAME.port0 and so on; params are copied. */
struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool);
void switch_destroy(struct fabric_switch *box);

unsigned switch_ports(const struct fabric_switch *box);
struct port *switch_port(struct fabric_switch *box, unsigned index);

/* Packets to that endpoint leave by that port. Before the run. */
void switch_route(struct fabric_switch *box, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port);

/* The switch as fabric/topology.h sees it. */
struct topology_switch switch_topology(struct fabric_switch *box);

const struct switch_counters *switch_counters(const struct fabric_switch *box);

#endif
