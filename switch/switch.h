/* SPDX-License-Identifier: Apache-2.0 */
/*
 * switch: a cut-through switch: input buffers with the link's flow control, a forwarding table, and at each output
 * a queue per VL and input (virtual output queues, so no packet blocks another that goes elsewhere).
 *
 *     port 0 --receive--> lookup --ready after forwarding_latency--> output's queues --inputs in turn--> port n
 *        ^------------------ input space is given back when the packet has left ------------------'
 *
 * InfiniBand forwards by destination LID (the linear forwarding table, IBTA vol. 1, 14.2.5.10 and 18.2.4), Ethernet by the
 * destination endpoint that the MAC or IP address stands for. A packet starts to leave while it still arrives,
 * unless the output is faster than the input: then it is stored first, since its bits would run out.
 *
 * Ethernet may share one packet memory among all ports (shared_buffer.h), marks ECN (marking.c), takes one of several
 * paths (balance.c) and the priority from PCP or DSCP (vl_map.c); leaf switches may
 * balance load together (overlay.h); InfiniBand has SL to VL tables and FECN. Packets to a group
 * leave by several ports (multicast.c).
 */
#ifndef SWITCH_SWITCH_H
#define SWITCH_SWITCH_H

#include "fabric/endpoints.h"
#include "fabric/port.h"
#include "fabric/topology.h"
#include "switch/switch_params.h"

/* clang-format off */
/* Why a switch drops packets that it does not forward: D(X, REASON, value in traces, counter, short name, meaning). Counters,
 * columns of switches.csv, checks and summaries come from this list. */
#define SWITCH_DROPS(D, X)                                                                                 \
	D(X, NO_ROUTE, 0, no_route_drops, "no route", "whose destination is not in the forwarding table") \
	D(X, HOP_LIMIT, 1, hop_limit_drops, "hop limit", "whose hop limit has run out") \
	D(X, OVERSIZE, 2, oversize_drops, "oversize", "with more payload than the output's MTU") \
	D(X, NO_HEADROOM, 3, headroom_drops, "headroom", "lossless, and no headroom was left") \
	D(X, EGRESS_FULL, 4, egress_drops, "egress", "lossy, and the egress queue was beyond its threshold") \
	D(X, POOL_FULL, 5, pool_drops, "pool", "lossy, and nothing was left to share") \
	D(X, VL, 6, vl_drops, "vl", "that the tables send to a VL which the output has not") \
	D(X, MULTICAST_NO_PORT, 7, multicast_no_port_drops, "multicast_no_port", "of multicast, that no port but the one they came by is to send") \
	D(X, PKEY_IN, 8, pkey_inbound_drops, "P_Key in", "whose P_Key the host behind the input has not (PortRcvConstraintErrors)") \
	D(X, PKEY_OUT, 9, pkey_outbound_drops, "P_Key out", "whose P_Key matches none of the host behind the output (PortXmitConstraintErrors)")

#define SWITCH_DROP_COUNTER(X, reason, value, counter, name, meaning) X(counter, "packets", meaning)
#define SWITCH_DROP_TEXT(X, reason, value, counter, name, meaning)    #value ": " name " "

#define SWITCH_COUNTERS(X)                                                                                 \
	X(packets_forwarded, "packets", "sent on to an output")                                            \
	X(bytes_forwarded,   "bytes",   "of them")                                                         \
	X(copies,            "packets", "made of multicast and floods: forwarded + dropped = received + copies (see control_packets_received)") \
	SWITCH_DROPS(SWITCH_DROP_COUNTER, X)                                                               \
	X(queue_drops,       "packets", "forwarded, and dropped in the output's queue: link down, HOQLife, PFC watchdog") \
	X(bytes_dropped,     "bytes",   "of all drops")                                                    \
	X(pauses_depth1,     "times",   "a sender was paused, and nothing that waits here is paused itself (shared buffers)") \
	X(pauses_depth2,     "times",   "... while packets wait here for a port that a switch of depth 1 pauses") \
	X(pauses_depth3,     "times",   "... of depth 2")                                                  \
	X(pauses_depth4,     "times",   "... of depth 3 or more")                                          \
	X(ecn_marks,         "packets", "that got ECN's CE, or FECN, here")                                \
	X(ecn_incapable,     "packets", "that would have been marked, and are not ECN-capable")            \
	X(credits_starved,   "packets", "whose credits came back late, since they were congested (fecn.credit_mask)") \
	X(flowlets,          "times",   "a flow was given a path: its first, or after a gap, or anew (letflow, conga, conweave)") \
	X(reroutes,          "times",   "... another one than before")                                     \
	X(control_packets_sent, "packets", "RTT_REPLY, CLEAR and NOTIFY, made here (conweave)")               \
	X(control_packets_received, "packets", "... that were for here: received + these sent + copies = forwarded + dropped + these received") \
	X(replies_late,      "times",   "no RTT_REPLY in time: the last packet by the old path is a TAIL")   \
	X(paths_busy,        "times",   "... and both paths looked at have had marks: it stays")            \
	X(flows_unknown,     "packets", "of a flow whose place in the table another one has: by hash, or as they come") \
	X(notifies,          "packets", "NOTIFY of a mark, made here")                                     \
	X(reorder_packets,   "packets", "rerouted, that wait or waited here for those of the path before")  \
	X(reorder_released,  "packets", "... that went on: reorder_packets less these wait")                          \
	X(reorder_packets_max, "packets", "most of one flow at once: the depth of reordering")                \
	X(reorder_bytes_max, "bytes",   "most in all of this switch's reorder queues at once")             \
	X(reorder_queues_max, "queues", "most in use at once, of one port")                                \
	X(reorder_tails,     "times",   "a queue was released by the TAIL")                                \
	X(reorder_timeouts,  "times",   "... by the timeout: the TAIL is late or lost")                    \
	X(reorder_full,      "packets", "out of order, and no reorder queue was free: they go on")

#define SWITCH_TRACE(X)                                                                                    \
	X(SWITCH_FORWARD, "output", "ready_at", "a packet has been given its output")                      \
	X(SWITCH_DROP,    "input",  "reason",   SWITCH_DROPS(SWITCH_DROP_TEXT, ))

struct switch_counters { SWITCH_COUNTERS(COUNTER_FIELD) };
/* clang-format on */

struct fabric_switch;

/* `ports` are named NAME.port0 and so on; params are copied. */
struct fabric_switch *switch_create(struct sim *sim, const char *name,
				    const struct switch_params *params, unsigned ports,
				    enum link_layer link_layer, struct packet_pool *pool);
void switch_destroy(struct fabric_switch *sw);

/* How many ports; one of them, 0 .. ports - 1. */
unsigned switch_ports(const struct fabric_switch *sw);
struct port *switch_port(struct fabric_switch *sw, unsigned index);

/* Packets to that endpoint leave by that port; or by any of those whose bit is set, as `balance` says. */
void switch_route(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint,
		  unsigned port);
void switch_route_any(struct fabric_switch *sw, const struct endpoints *endpoints,
		      uint32_t endpoint, const struct port_set *ports);

/* Packets to that multicast group leave by all of the ports. GROUP_UNKNOWN: Ethernet, to any other group. */
void switch_replicate(struct fabric_switch *sw, uint32_t group, const struct port_set *ports);

/* No path to that endpoint: its packets go as `unknown` says. */
void switch_unroute(struct fabric_switch *sw, const struct endpoints *endpoints, uint32_t endpoint);

/* InfiniBand: the VL by service level of what goes from one port to another; 15: dropped. Before the run. */
void switch_set_sl2vl(struct fabric_switch *sw, unsigned input, unsigned output,
		      const uint8_t vls[16]);

/* InfiniBand: packets that come in by that port, go out by it, or both, must have a P_Key of those; they outlive the switch. */
enum switch_filters { SWITCH_FILTER_IN = 1, SWITCH_FILTER_OUT = 2, SWITCH_FILTER_BOTH = 3 };
void switch_set_partitions(struct fabric_switch *sw, unsigned port,
			   const struct partitions *partitions, enum switch_filters filters);

/* Ethernet, priority_from: dscp. Unless told, the upper three bits. */
void switch_set_dscp_priority(struct fabric_switch *sw, unsigned dscp, unsigned priority);

/* All links are made; topology_finish() calls it. false: the shared buffer is too small; *error says by how much. */
bool switch_start(struct fabric_switch *sw, char *error, size_t error_bytes);

struct shared_buffer;                                          /* switch/shared_buffer.h */
struct shared_buffer *switch_buffer(struct fabric_switch *sw); /* NULL: each port has its own */

/* The switch as fabric/topology.h sees it. */
struct topology_switch switch_topology(struct fabric_switch *sw);

const struct switch_counters *switch_counters(const struct fabric_switch *sw);

#endif
