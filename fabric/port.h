/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port: one end of a full-duplex link: transmit queues per virtual lane (or priority),
 * arbitration between them, flow control, serialization, and the input buffer whose space the
 * other end may use.
 *
 *      user (HCA or switch)                                   user
 *        | port_send()   ^ receive()                            ^
 *     +--v---------------|--+   one pending event a direction  |
 *     |  port               |==================================| port
 *     +---------------------+   rate, length, encoding         +-----
 *
 * Cut-through: receive() is called when the head of a packet arrives; packet->tail_at says when
 * its last bit will. InfiniBand: credits of 64 bytes per VL, returned in flow-control packets
 * (IBTA vol. 1, 7.9). Ethernet: PFC per priority (IEEE 802.1Qbb) sent by the user's word, see
 * port_pause().
 */
#ifndef FABRIC_PORT_H
#define FABRIC_PORT_H

#include "fabric/port_set.h"
#include "fabric/wire/packet.h"
#include "sim/gauge.h"

#define PORT_VLS 16

/* packet->ingress in a switch: the input, and the packet's VL there */
#define INGRESS_PORT     0xff
#define INGRESS_VL_SHIFT 8
#define INGRESS_COPY     0x8000 /* one of several that hold the input's space together */

struct port;
struct port_params; /* fabric/port_params.h: the list */

/* Of a link, from end to end. */
sim_time port_params_latency(const struct port_params *params);

/* clang-format off */
/* Reasons for the loss of data packets: D(X, REASON, value in traces, where, counter, short
 * name, meaning). QUEUE: lost before departure. LINK: lost on the link or on arrival. The
 * counters, the columns of links.csv, checks and summaries derive from this list. */
#define PORT_DROPS(D, X) \
	D(X, NO_SPACE, 2, LINK, overflow_drops, "overflow", \
	  "Packets that found no input space: flow control is off or failed.") \
	D(X, DAMAGED, 1, LINK, damage_drops, "damage", \
	  "Packets found damaged on arrival (VCRC, LPCRC or FCS).") \
	D(X, FAULT, 0, LINK, fault_drops, "fault", \
	  "Packets that a fault dropped, on transmit or receive.") \
	D(X, HOQ_LIFE, 3, QUEUE, hoq_life_drops, "hoq_life", \
	  "Packets that exceeded hoq_life at the head of their VL, or found the VL stalled.") \
	D(X, PFC_WATCHDOG, 4, QUEUE, pfc_watchdog_drops, "pfc_watchdog", \
	  "Packets of a priority that was paused for longer than pfc_watchdog.") \
	D(X, DOWN, 5, QUEUE, down_drops, "down", \
	  "Packets that waited for a link when it went down, or came while it was down.") \
	D(X, WRONG_MAC, 6, LINK, wrong_mac_drops, "wrong_mac", \
	  "Packets that the previous switch flooded and that this router does not accept.")

#define PORT_DROP_COUNTER(X, reason, value, where, counter, name, meaning) X(counter, "packets", meaning)
#define PORT_DROP_TEXT(X, reason, value, where, counter, name, meaning)    #value ": " name " "

#define PORT_COUNTERS(X) \
	X(packets_sent, "packets", "Data packets that left.") \
	X(bytes_sent, "bytes", \
	  "Bytes of packets_sent, from LRH to VCRC or from Ethernet destination to FCS.") \
	X(packets_received, "packets", \
	  "Data packets handed to the HCA or switch behind the port.") \
	X(bytes_received, "bytes", "Bytes of packets_received.") \
	X(credits_consumed, "blocks", "Blocks of 64 bytes that sent data packets consumed.") \
	X(credits_received, "blocks", \
	  "Blocks of 64 bytes of data packets that arrived or were found lost.") \
	X(credit_packets_sent, "packets", "Flow-control packets that left.") \
	X(credit_packets_received, "packets", "Flow-control packets that arrived intact.") \
	X(credit_stalls, "times", "Times that a packet was ready and its VL had too few credits.") \
	X(pause_sent, "packets", "PFC frames that left.") \
	X(pause_received, "packets", "PFC frames that arrived intact.") \
	X(pause_stalls, "times", "Times that a packet was ready and its priority was paused.") \
	PORT_DROPS(PORT_DROP_COUNTER, X) \
	X(fault_bytes, "bytes", \
	  "Bytes of fault_drops that were sent and never arrived: packets dropped on transmit " \
	  "here, or in flight to this port when the link went down.") \
	X(control_drops, "packets", \
	  "Flow-control packets and PFC frames that were lost, for any reason.") \
	X(pfc_watchdog_triggers, "times", \
	  "Times that the PFC watchdog dropped a priority because it was paused for too long.") \
	X(vl_stalls, "times", \
	  "Times that a VL was stalled because vl_stall_count consecutive packets exceeded " \
	  "hoq_life.")

#define PORT_GAUGES(X) \
	X(link, BUSY, "packets", "Departures of data packets, including the gaps between them.") \
	X(blocked, POOL, "packets", \
	  "Packets at the head of a VL that is paused or without credits, while no packet " \
	  "leaves.")

#define PORT_TRACE(X) \
	X(PORT_LEAVES, "starts_at", "wire_bytes", "The departure time of a packet is fixed.") \
	X(PORT_ARRIVES, "tail_at", "wire_bytes", "The head of a packet arrives.") \
	X(PORT_DROP, "reason", "wire_bytes", \
	  PORT_DROPS(PORT_DROP_TEXT, )) \
	X(PORT_STALL, "vl", "wire_bytes", \
	  "A packet cannot leave because its VL has no credits or is paused.")

struct port_counters { PORT_COUNTERS(COUNTER_FIELD) };
struct port_gauges { PORT_GAUGES(GAUGE_FIELD) };
/* clang-format on */

/* Whoever sits behind a port embeds this. */
struct port_user {
	/* The packet's head is here now (head_at == now). The user owns it, and owes its input
	 * space: port_release() once it has left, or been dropped. */
	void (*receive)(struct port_user *user, struct port *port, struct packet *packet);
	/* The transmit queue of that VL was full and has room again. NULL: not wanted. */
	void (*room)(struct port_user *user, struct port *port, unsigned vl);
	/* The packet is out, and the gap behind it (the memory it came from may be reused).
	 * What is shown is a copy: the packet itself is the peer's by now. Costs an event a
	 * packet. NULL: not wanted. */
	void (*sent)(struct port_user *user, struct port *port, const struct packet *packet);
	/* The packet's time is fixed: its last bit will be out at `until`. Comes before sent(),
	 * often at once inside port_send(), and costs no event. NULL: not wanted. */
	void (*leaves)(struct port_user *user, struct port *port, const struct packet *packet,
		       sim_time until);
	/* In place of leaves(), for a user that may still change the packet's ECN mark and
	 * telemetry: the first bit leaves at starts_at. NULL: not wanted. */
	void (*departs)(struct port_user *user, struct port *port, struct packet *packet,
			sim_time starts_at, sim_time until);
	/* The packet was queued and will never leave; it is freed after the call. NULL: not
	 * wanted. */
	void (*discarded)(struct port_user *user, struct port *port, const struct packet *packet);
};

/* The user outlives the port. params are copied. */
struct port *port_create(struct sim *sim, const char *name, const struct port_params *params,
			 enum link_layer link_layer, struct packet_pool *pool,
			 struct port_user *user);
void port_destroy(struct port *port);

/* Joins two ports by a link, for the whole run, before the first event. They may be in two LPs
 * of a parallel run if the link has a latency, does not go down, and, on InfiniBand, has no
 * fault: what is lost is found out by both. */
void port_connect(struct port *one, struct port *other);

/* Can these two be joined? false: *error says what differs. */
bool port_fits(const struct port *one, const struct port *other, char *error, size_t error_bytes);

/* In place of what the parameters say, for one link among others. Before port_connect(). */
void port_set_params(struct port *port, const struct port_params *params);
void port_set_length(struct port *port, double metres);
void port_set_rate(struct port *port, uint64_t rate_bps);

/* InfiniBand VL arbitration, in place of the parameters' schedule; IBTA vol. 1, 7.6.9. */
#define VL_ARBITRATION_ENTRIES 64

struct vl_weight {
	uint8_t vl;
	uint8_t weight; /* blocks of 64 bytes; 0: passed over */
};

struct vl_arbitration {
	struct vl_weight high[VL_ARBITRATION_ENTRIES], low[VL_ARBITRATION_ENTRIES];
	unsigned high_count, low_count;
	/* Times 4096 bytes, before the low table gets a turn; 0: a packet, 255: no limit. */
	unsigned high_limit;
};

/* The tables are copied. Before the first packet. */
void port_set_vl_arbitration(struct port *port, const struct vl_arbitration *tables);

/* The link of this port goes down, or comes up. After port_connect(). See port_fault.h for a
 * time to come. */
void port_set_link(struct port *port, bool up);

/* Ethernet: this end of it alone; the other at the same instant. */
void port_set_end(struct port *port, bool up);

/* Ethernet: pauses the other end's priorities whatever the user says, until told to stop. */
void port_storm(struct port *port, uint8_t priorities, bool start);

/* Input space is given back no faster than this. 0: at once. */
void port_set_drain_rate(struct port *port, uint64_t rate_bps);

/* May one more packet be queued on that VL? */
bool port_has_room(const struct port *port, unsigned vl);

/* Queues the packet on VL packet->vl. There must be room. The packet is the port's from now on. */
void port_send(struct port *port, struct packet *packet);

/* The input space of a received packet is free again: credits go back to the other end. */
void port_release(struct port *port, unsigned vl, uint32_t wire_bytes);

/* Ethernet: ask the other end to stop (or let go) the priorities whose bit is set, of those
 * that have PFC here. */
void port_pause(struct port *port, uint8_t priorities, bool stop);

/* How many switches stand between what is congested and the end that the next pause is asked
 * of: 1 at the first. Kept beside the frame, which has no room for it on the wire. The other
 * end knows it while it is paused; 0: it is not. */
void port_set_pause_depth(struct port *port, unsigned vl, unsigned depth);
unsigned port_pause_depth(const struct port *port, unsigned vl);

/* Earliest time at which a packet queued now would start to leave if nothing overtakes it. */
sim_time port_free_at(const struct port *port, unsigned vl);

/* For users whose packets come from several inputs (a switch): the VL serves them in turn by
 * the port in packet->ingress, 0..sources-1, at most PORT_SET_PORTS. Before port_connect(). */
void port_set_sources(struct port *port, unsigned sources);

/* port_send() without asking for room, of a packet that may start to leave at ready_at, not
 * before. */
void port_send_at(struct port *port, struct packet *packet, sim_time ready_at);

/* port_release() that takes effect at a time to come, mostly without an event of its own. */
void port_release_at(struct port *port, unsigned vl, uint32_t wire_bytes, sim_time at);

/* Ethernet: the user keeps account of the input space itself (a buffer that all ports share),
 * and pauses the other end by port_pause(); packets are neither refused nor to be released
 * here. Before port_connect(). */
void port_share_input(struct port *port);

/* Packets that a switch has flooded are dropped on arrival: a router takes what is addressed to
 * it. */
void port_refuse_wrong_mac(struct port *port);

/* Ethernet: bytes of a priority that may still come after a pause is asked for, over a cable of
 * so many metres, with packets of mtu bytes of payload: (301 + 2.16 * metres) * Gb/s + 2.72 *
 * MTU, what mlx5 reserves (Linux, port_buffer.c), ground truth C-14. That of a port as it is
 * connected. */
uint64_t pause_headroom(uint64_t rate_bps, double metres, uint64_t mtu);
uint64_t port_headroom(const struct port *port);

/* Called for each packet whose departure is fixed, the link's own as well; `starts_at` is its
 * first bit's time. Times do not decrease at one port. NULL: none. */
typedef void port_tap_function(void *context, struct port *port, const struct packet *packet,
			       sim_time starts_at);
void port_tap(struct port *port, port_tap_function *function, void *context);

/* See fabric/fault.h. NULL: none. The fault outlives the port. */
struct fault;
void port_set_transmit_fault(struct port *port, struct fault *fault);
void port_set_receive_fault(struct port *port, struct fault *fault);

/* What others have reckoned to have gone over the link, without packets here: counted at both
 * of its ends. */
void port_count_carried(struct port *port, uint64_t packets, uint64_t bytes);

/* ---- what a port is ---- */

const struct port_params *port_params(const struct port *port);
const char *port_name(const struct port *port); /* "host0.hca.port" */
uint32_t
port_number(const struct port
		    *port); /* of the ports of a run each has another, with any threads the same */
struct sim *port_sim(const struct port *port);
struct port *port_peer(const struct port *port); /* the other end; NULL: not connected yet */
enum link_layer port_link_layer(const struct port *port);
unsigned port_vls(const struct port *port); /* virtual lanes for data, or priorities */
uint32_t port_mtu(const struct port *port); /* bytes of payload */

/* Of data, after the line code: 100 Gb/s of EDR. Equal rates: neither is faster. */
uint64_t port_rate_bps(const struct port *port);
bool port_is_faster(const struct port *one, const struct port *other);

/* From a bit's leaving to its arrival; of so many bytes at the link's rate, rounded down. */
sim_time port_latency(const struct port *port);
sim_time port_serialization(const struct port *port, uint32_t bytes);

/* Bytes between the end of a frame and the start of the next: preamble and gap of Ethernet. */
uint32_t port_gap_bytes(const struct port *port);

/* SL to VL, or priority: modulo the VLs. */
unsigned port_vl(const struct port *port, unsigned service_level);

/* ---- how it is now ---- */

/* A packet is about to be sent on that VL: its memory is asked for ahead, all at once. */
void port_prefetch(const struct port *port, unsigned vl);

/* Taken of the input buffer, bytes; InfiniBand: whole blocks of 64 bytes. */
uint64_t port_input_used(const struct port *port, unsigned vl);

/* Packets whose departure is not yet fixed, and their bytes. */
unsigned port_queued(const struct port *port, unsigned vl);
uint64_t port_queued_bytes(const struct port *port, unsigned vl);

/* InfiniBand: blocks of 64 bytes that it may still send; VL15: no limit. */
uint32_t port_credits(const struct port *port, unsigned vl);

/* Ethernet: paused by the other end now, and for how long in total until now; is the other end,
 * as far as this one knows. */
bool port_paused(const struct port *port, unsigned vl);
sim_time port_paused_time(const struct port *port, unsigned vl);
bool port_pausing(const struct port *port, unsigned vl);

/* Bytes still to leave of what departs now; of data packets on their way to here: sent =
 * received + lost + these. */
uint64_t port_leaving_bytes(const struct port *port);

/* Bytes of data packets that are out, of bytes_sent: without the rest of what leaves now, and
 * what is to leave later. Between two instants no more than the link's rate. What a fault takes
 * on transmit counts as out from the begin. */
uint64_t port_bytes_out(const struct port *port);
uint64_t port_flying_bytes(const struct port *port);

bool port_is_up(const struct port *port);
const struct port_counters *port_counters(const struct port *port);

#endif
