/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mirror: port mirroring (SPAN). A switch copies packets of chosen ports, and sends the copies to
 * an analyser behind another of its ports.
 *
 *     input --receive--> switch --departs--> output
 *        | ingress          | drops      | egress
 *        '-------- copy -> own buffer -> port of the analyser, at its rate
 *
 * A copy leaves when the last bit of the packet has passed. Copies wait in a buffer of their own,
 * and are lost when it is full. They never delay packets of other outputs.
 *
 * With ERSPAN (fabric/wire/erspan.h), a copy is the payload of an IP packet to an analyser anywhere
 * in the fabric. The switch forwards it as any packet. It waits in the buffer of the mirror in this
 * switch only. Mirrors do not copy such packets, as in Cisco NX-OS. Otherwise, two mirrors could
 * copy each other's copies without end.
 */
#ifndef SWITCH_MIRROR_H
#define SWITCH_MIRROR_H

#include "switch/switch.h"

/* clang-format off */
#define MIRROR_PARAMS(X) \
	X(direction, CHOICE, "both", "ingress|egress|both|drops", \
	  "Packets of the ports that are mirrored. ingress: arriving packets. egress: departing " \
	  "packets. drops: packets that the switch drops after their arrival.", \
	  "choice") \
	X(dscp, COUNT, "64", "0..64", \
	  "Only packets with this DSCP (Ethernet). 64: all.", \
	  "choice") \
	X(sample, COUNT, "1", "1..1000000", "One of this many packets is mirrored.", "choice") \
	X(buffer, BYTES, "1MiB", "1KiB..1GiB", \
	  "Copies that wait at the port of the analyser. Further copies are lost.", "choice") \
	X(priority, COUNT, "0", "0..7", "VL or priority of the copies.", "choice")

#define MIRROR_ERSPAN_PARAMS(X) \
	X(type, CHOICE, "II", "II|III", \
	  "ERSPAN header. Type II has the number of the mirrored port. Type III has the time and " \
	  "the direction.", \
	  "draft-foschiano-erspan-03") \
	X(session, COUNT, "1", "0..1023", "Session ID.", "choice") \
	X(mtu, BYTES, "9216B", "128B..9216B", \
	  "Longest IP packet of a copy. A longer frame is truncated to fit.", \
	  "choice: MTU of the switch's ports") \
	X(ttl, COUNT, "255", "1..255", "TTL of the IP header.", \
	  "choice: the largest") \
	X(dscp, COUNT, "0", "0..63", "DSCP of the IP header.", \
	  "choice: the class of most traffic")

#define MIRROR_COUNTERS(X)                                                                        \
	X(packets, "packets", "Copies that were sent to the port of the analyser.")               \
	X(bytes, "bytes", "Bytes of these copies on the wire.")                                   \
	X(lost, "packets", "Copies that found the buffer full.")                                  \
	X(waiting_bytes_max, "bytes", "Largest number of bytes of copies that waited.")           \
	X(truncated, "packets", "ERSPAN: copies of frames that were truncated to `mtu`.")         \
	X(no_route, "packets", "ERSPAN: copies that were dropped without a route.")
/* clang-format on */

#define MIRROR_ANY_DSCP 64

enum mirror_erspan_type { MIRROR_ERSPAN_II, MIRROR_ERSPAN_III };

struct mirror_params {
	MIRROR_PARAMS(PARAM_FIELD)
};

struct mirror_erspan_params {
	MIRROR_ERSPAN_PARAMS(PARAM_FIELD)
};

struct mirror_counters {
	MIRROR_COUNTERS(COUNTER_FIELD)
};

extern const struct param mirror_param_list[], mirror_erspan_param_list[];

/* Mirrors packets of these ports to the port `to`, which is not one of them. Call both functions
 * before the run, after all other settings of the switch. They copy the parameters. */
void mirror_add(struct fabric_switch *sw, const struct mirror_params *params,
		const struct port_set *ports, unsigned to);

/* Mirrors packets of these ports as IP packets of the path, which is interned. Its source is
 * NO_ENDPOINT. */
void mirror_add_erspan(struct fabric_switch *sw, const struct mirror_params *params,
		       const struct mirror_erspan_params *erspan, const struct port_set *ports,
		       const struct path *path);

/* Returns the number of copies that all mirrors of the switch put into queues. */
uint64_t mirror_copies(const struct fabric_switch *sw);

/* Functions that switch.c calls: for a packet that the switch drops, and at the end. */
struct switch_port;
void mirror_dropped(struct switch_port *input, const struct packet *packet);
void mirror_fini(struct fabric_switch *sw);

#endif
