/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch: a cut-through switch. It has input buffers with the link's flow control, a forwarding
 * table, and at each output one queue per VL and input (virtual output queues). A packet therefore
 * never blocks a packet for another output.
 *
 *     port 0 --receive--> lookup --forwarding_latency--> output's queues --inputs in turn--> port n
 *        ^--------------- input space is given back when the packet has left ---------------'
 *
 * InfiniBand forwards by destination LID (the linear forwarding table, IBTA vol. 1, 14.2.5.10 and
 * 18.2.4). Ethernet forwards by the destination endpoint of the MAC or IP address. A packet starts
 * to leave while it still arrives. It is stored first if the output is faster than the input,
 * because its bits would arrive too slowly.
 *
 * On Ethernet, all ports may share one packet memory (shared_buffer.h). Switches mark ECN
 * (marking.c), choose among paths (balance.c), and take the priority from PCP or DSCP (vl_map.c).
 * Leaf switches may balance load together (overlay.h). InfiniBand has SL to VL tables and FECN.
 * Packets to a group leave by several ports (multicast.c).
 */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "fabric/topology.h"
#include "switch/switch_params.h"

/* clang-format off */
/* Reasons for which a switch drops packets: D(X, REASON, value in traces, counter, short name,
 * meaning). The counters, the columns of switches.csv, checks and summaries derive from this
 * list. */
#define SWITCH_DROPS(D, X)                                                                        \
	D(X, NO_ROUTE, 0, no_route_drops, "no route",                                             \
	  "Packets whose destination is not in the forwarding table.")                            \
	D(X, HOP_LIMIT, 1, hop_limit_drops, "hop limit", "Packets whose hop limit expired.")      \
	D(X, OVERSIZE, 2, oversize_drops, "oversize",                                             \
	  "Packets whose payload exceeds the output's MTU.")                                      \
	D(X, NO_HEADROOM, 3, headroom_drops, "headroom",                                          \
	  "Lossless packets that found no headroom.")                                             \
	D(X, EGRESS_FULL, 4, egress_drops, "egress",                                              \
	  "Lossy packets whose egress queue was above its threshold.")                            \
	D(X, POOL_FULL, 5, pool_drops, "pool", "Lossy packets that found no shared memory.")      \
	D(X, VL, 6, vl_drops, "vl", "Packets that the tables map to a VL that the output lacks.") \
	D(X, MULTICAST_NO_PORT, 7, multicast_no_port_drops, "multicast_no_port",                  \
	  "Multicast packets that no port other than their input sends on.")                      \
	D(X, PKEY_IN, 8, pkey_inbound_drops, "P_Key in",                                          \
	  "Packets whose P_Key the host behind the input does not have "                          \
	  "(PortRcvConstraintErrors).")                                                           \
	D(X, PKEY_OUT, 9, pkey_outbound_drops, "P_Key out",                                       \
	  "Packets whose P_Key matches no P_Key of the host behind the output " \
	  "(PortXmitConstraintErrors).")

#define SWITCH_DROP_COUNTER(X, reason, value, counter, name, meaning) X(counter, "packets", meaning)
#define SWITCH_DROP_TEXT(X, reason, value, counter, name, meaning)    #value ": " name " "

#define SWITCH_COUNTERS(X)                                                                        \
	X(packets_forwarded, "packets", "Packets forwarded to an output.")                        \
	X(bytes_forwarded, "bytes", "Bytes of packets_forwarded.")                                \
	X(copies, "packets",                                                                      \
	  "Copies made of multicast and flooded packets: forwarded + dropped = received + "       \
	  "copies (see control_packets_received).")                                               \
	SWITCH_DROPS(SWITCH_DROP_COUNTER, X)                                                      \
	X(queue_drops, "packets",                                                                 \
	  "Packets that were forwarded and then dropped in the output's queue: link down, "       \
	  "HOQLife, PFC watchdog.")                                                               \
	X(bytes_dropped, "bytes", "Bytes of all dropped packets.")                                \
	X(pauses_depth1, "times",                                                                 \
	  "Times that a sender was paused while no packet waited here for a paused port (shared " \
	  "buffers).")                                                                            \
	X(pauses_depth2, "times",                                                                 \
	  "Times that a sender was paused while packets waited here for a port that a switch of " \
	  "depth 1 pauses.")                                                                      \
	X(pauses_depth3, "times",                                                                 \
	  "Times that a sender was paused while packets waited here for a port that a switch of " \
	  "depth 2 pauses.")                                                                      \
	X(pauses_depth4, "times",                                                                 \
	  "Times that a sender was paused while packets waited here for a port that a switch of " \
	  "depth 3 or more pauses.")                                                              \
	X(ecn_marks, "packets", "Packets that were marked here with ECN CE or FECN.")             \
	X(ecn_incapable, "packets",                                                               \
	  "Packets that would have been marked but are not ECN-capable.")                         \
	X(credits_starved, "packets",                                                             \
	  "Congested packets whose credits were returned late (fecn.credit_mask).")               \
	X(flowlets, "times",                                                                      \
	  "Times that a flow was assigned a path: its first path, a path after a gap, or a new "  \
	  "path (letflow, conga, conweave).")                                                     \
	X(reroutes, "times", "Times that a flow was assigned a different path than before.")      \
	X(control_packets_sent, "packets",                                                        \
	  "RTT_REPLY, CLEAR and NOTIFY packets created here (conweave).")                         \
	X(control_packets_received, "packets",                                                    \
	  "RTT_REPLY, CLEAR and NOTIFY packets addressed to this switch, and membership reports "  \
	  "that no other switch needs: received + "                                               \
	  "control_packets_sent + copies = forwarded + dropped + control_packets_received.")      \
	X(replies_late, "times",                                                                  \
	  "Times that no RTT_REPLY arrived in time. The last packet on the old path is then a "   \
	  "TAIL.")                                                                                \
	X(paths_busy, "times",                                                                    \
	  "Times that no RTT_REPLY arrived in time and both sampled paths had marks. The flow "   \
	  "then keeps its path.")                                                                 \
	X(flows_unknown, "packets",                                                               \
	  "Packets of a flow whose table entry another flow holds. They are balanced by hash, "   \
	  "or forwarded in order of arrival.")                                                    \
	X(notifies, "packets", "NOTIFY packets that were created here to report a mark.")         \
	X(reorder_packets, "packets",                                                             \
	  "Rerouted packets that waited, or still wait, here for packets of the old path.")       \
	X(reorder_released, "packets",                                                            \
	  "Packets of reorder_packets that were forwarded. The difference still waits.")          \
	X(reorder_packets_max, "packets",                                                         \
	  "Largest number of waiting packets of one flow: the depth of reordering.")              \
	X(reorder_bytes_max, "bytes",                                                             \
	  "Largest number of bytes in all reorder queues of this switch.")                        \
	X(reorder_queues_max, "queues", "Largest number of reorder queues in use at one port.")   \
	X(reorder_tails, "times", "Times that the TAIL released a queue.")                        \
	X(reorder_timeouts, "times",                                                              \
	  "Times that the timeout released a queue because the TAIL was late or lost.")           \
	X(reorder_full, "packets",                                                                \
	  "Packets out of order that found no free reorder queue. They are forwarded out of "     \
	  "order.")

#define SWITCH_TRACE(X)                                                                \
	X(SWITCH_FORWARD, "output", "ready_at", "A packet is assigned to its output.") \
	X(SWITCH_DROP, "input", "reason",                                              \
	  SWITCH_DROPS(SWITCH_DROP_TEXT, ))

struct switch_counters { SWITCH_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct fabric_switch;

/* Creates a switch. Its ports are named NAME.port0 and so on. `params` is copied. */
struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool);
void switch_destroy(struct fabric_switch *sw);

/* Return the number of ports, and the port with an index from 0. */
unsigned switch_ports(const struct fabric_switch *sw);
struct port *switch_port(struct fabric_switch *sw, unsigned index);

/* Set the route to an endpoint: one port, or a set of ports among which `balance` chooses. */
void switch_route(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port);
void switch_route_any(struct fabric_switch *sw, const struct endpoints *endpoints,
		      uint32_t endpoint, const struct port_set *ports);

/* Sets the outputs of a multicast group. GROUP_UNKNOWN sets the outputs of all other groups
 * (Ethernet). */
void switch_replicate(struct fabric_switch *sw, uint32_t group, const struct port_set *ports);

/* Sets the ports that lead to other switches. IGMP snooping passes reports on by them only. */
void switch_set_neighbours(struct fabric_switch *sw, const struct port_set *switches);

/* Removes the route to an endpoint. Its packets then follow the parameter `unknown`. */
void switch_unroute(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint);

/* InfiniBand: sets the VL of each service level for packets from one port to another. VL 15 drops
 * the packet. Call it before the run. */
void switch_set_sl2vl(struct fabric_switch *sw, unsigned input, unsigned output,
		      const uint8_t vls[16]);

/* InfiniBand: drops packets without one of these P_Keys, on input to the port, on output, or both.
 * The partitions must outlive the switch. */
enum switch_filters { SWITCH_FILTER_IN = 1, SWITCH_FILTER_OUT = 2, SWITCH_FILTER_BOTH = 3 };
void switch_set_partitions(struct fabric_switch *sw, unsigned port,
			   const struct partitions *partitions, enum switch_filters filters);

/* Ethernet with priority_from: dscp. Sets the priority of a DSCP. The default is its upper three
 * bits. */
void switch_set_dscp_priority(struct fabric_switch *sw, unsigned dscp, unsigned priority);

/* Starts the switch when all links exist. topology_finish() calls it. Returns false if the shared
 * buffer is too small, and writes the missing amount to *error. */
bool switch_start(struct fabric_switch *sw, char *error, size_t error_bytes);

struct shared_buffer; /* switch/shared_buffer.h */
struct shared_buffer *
switch_buffer(struct fabric_switch *sw); /* returns NULL if each port has its own memory */

/* Returns the functions that fabric/topology.h calls. */
struct topology_switch switch_topology(struct fabric_switch *sw);

const struct switch_counters *switch_counters(const struct fabric_switch *sw);

#endif
