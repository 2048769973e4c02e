/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port: one end of a full-duplex link. It has transmit queues per virtual lane (or priority),
 * arbitration among these queues, flow control and serialization. It also has an input buffer,
 * whose free space the other end may fill.
 *
 *      user (HCA or switch)                                   user
 *        | port_send()   ^ receive()                            ^
 *     +--v---------------|--+   one pending event a direction  |
 *     |  port               |==================================| port
 *     +---------------------+   rate, length, encoding         +-----
 *
 * Cut-through: receive() is called when the head of a packet arrives; packet->tail_at is the
 * arrival time of its last bit. InfiniBand: credits of 64 bytes per VL, returned in flow-control
 * packets (IBTA vol. 1, 7.9). Ethernet: PFC per priority (IEEE 802.1Qbb) sent when the user calls
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
#define INGRESS_COPY     0x8000 /* one of several copies that share the input's space */

struct port;
struct port_params; /* fabric/port_params.h: the list */

/* Returns the latency of a link, from one end to the other. */
sim_time port_params_latency(const struct port_params *params);

/* clang-format off */
/* Reasons for the loss of data packets: D(X, REASON, value in traces, where, counter, short
 * name, meaning). QUEUE: lost before departure. LINK: lost on the link or on arrival. The
 * counters, the columns of links.csv, checks and summaries derive from this list. */
#define PORT_DROPS(D, X)                                                                      \
	D(X, NO_SPACE, 2, LINK, overflow_drops, "overflow",                                   \
	  "Packets that found no input space: flow control is off or failed.")                \
	D(X, DAMAGED, 1, LINK, damage_drops, "damage",                                        \
	  "Packets found damaged on arrival (VCRC, LPCRC or FCS).")                           \
	D(X, FAULT, 0, LINK, fault_drops, "fault",                                            \
	  "Packets that a fault dropped, on transmit or receive.")                            \
	D(X, HOQ_LIFE, 3, QUEUE, hoq_life_drops, "hoq_life",                                  \
	  "Packets that exceeded hoq_life at the head of their VL, or found the VL stalled.") \
	D(X, PFC_WATCHDOG, 4, QUEUE, pfc_watchdog_drops, "pfc_watchdog",                      \
	  "Packets of a priority that was paused for longer than pfc_watchdog.")              \
	D(X, DOWN, 5, QUEUE, down_drops, "down",                                              \
	  "Packets that waited for a link when it went down, or came while it was down.")     \
	D(X, WRONG_MAC, 6, LINK, wrong_mac_drops, "wrong_mac",                                \
	  "Packets that the previous switch flooded and that this router does not accept.")

#define PORT_DROP_COUNTER(X, reason, value, where, counter, name, meaning) \
	X(counter, "packets", meaning)
#define PORT_DROP_TEXT(X, reason, value, where, counter, name, meaning) #value ": " name " "

#define PORT_COUNTERS(X)                                                                           \
	X(packets_sent, "packets", "Data packets that left.")                                      \
	X(bytes_sent, "bytes",                                                                     \
	  "Bytes of packets_sent, from LRH to VCRC or from Ethernet destination to FCS.")          \
	X(packets_received, "packets",                                                             \
	  "Data packets handed to the HCA or switch behind the port.")                             \
	X(bytes_received, "bytes", "Bytes of packets_received.")                                   \
	X(credits_consumed, "blocks", "Blocks of 64 bytes that sent data packets consumed.")       \
	X(credits_received, "blocks",                                                              \
	  "Blocks of 64 bytes of data packets that arrived or were found lost.")                   \
	X(credit_packets_sent, "packets", "Flow-control packets that left.")                       \
	X(credit_packets_received, "packets", "Flow-control packets that arrived intact.")         \
	X(credit_stalls, "times", "Times that a packet was ready and its VL had too few credits.") \
	X(pause_sent, "packets", "PFC frames that left.")                                          \
	X(pause_received, "packets", "PFC frames that arrived intact.")                            \
	X(pause_stalls, "times", "Times that a packet was ready and its priority was paused.")     \
	PORT_DROPS(PORT_DROP_COUNTER, X)                                                           \
	X(fault_bytes, "bytes",                                                                    \
	  "Bytes of fault_drops that were sent and never arrived: packets dropped on transmit "    \
	  "here, or in flight to this port when the link went down.")                              \
	X(control_drops, "packets",                                                                \
	  "Flow-control packets and PFC frames that were lost, for any reason.")                   \
	X(pfc_watchdog_triggers, "times",                                                          \
	  "Times that the PFC watchdog dropped a priority because it was paused for too long.")    \
	X(vl_stalls, "times",                                                                      \
	  "Times that a VL was stalled because vl_stall_count consecutive packets exceeded "       \
	  "hoq_life.")

#define PORT_GAUGES(X)                                                                           \
	X(link, BUSY, "packets", "Departures of data packets, including the gaps between them.") \
	X(blocked, POOL, "packets",                                                              \
	  "Packets at the head of a VL that is paused or without credits, while no packet "      \
	  "leaves.")

#define PORT_TRACE(X)                                                                         \
	X(PORT_LEAVES, "starts_at", "wire_bytes", "The departure time of a packet is fixed.") \
	X(PORT_ARRIVES, "tail_at", "wire_bytes", "The head of a packet arrives.")             \
	X(PORT_DROP, "reason", "wire_bytes",                                                  \
	  PORT_DROPS(PORT_DROP_TEXT, ))                                                       \
	X(PORT_STALL, "vl", "wire_bytes",                                                     \
	  "A packet cannot leave because its VL has no credits or is paused.")

struct port_counters { PORT_COUNTERS(COUNTER_FIELD) };
struct port_gauges { PORT_GAUGES(GAUGE_FIELD) };
/* clang-format on */

/* The HCA or switch behind a port, which embeds this table. */
struct port_user {
	/* The head of a packet arrives (head_at == now). The user owns the packet from now on. It
	 * calls port_release() for its input space when the packet has left or is dropped. */
	void (*receive)(struct port_user *user, struct port *port, struct packet *packet);
	/* The transmit queue of the VL was full and has room again. May be NULL. */
	void (*room)(struct port_user *user, struct port *port, unsigned vl);
	/* The packet and the gap behind it have left, so its memory may be reused. `packet` is a
	 * copy, because the peer owns the original. Costs one event per packet. May be NULL. */
	void (*sent)(struct port_user *user, struct port *port, const struct packet *packet);
	/* The departure of the packet is fixed: its last bit leaves at `until`. The port calls this
	 * function before sent(), often inside port_send(). Costs no event. May be NULL. */
	void (*leaves)(struct port_user *user, struct port *port, const struct packet *packet,
		       sim_time until);
	/* The port calls this function in place of leaves(), for a user that still changes the
	 * packet's ECN mark and telemetry. The first bit leaves at starts_at. May be NULL. */
	void (*departs)(struct port_user *user, struct port *port, struct packet *packet,
			sim_time starts_at, sim_time until);
	/* A queued packet will never leave. It is freed after the call. May be NULL. */
	void (*discarded)(struct port_user *user, struct port *port, const struct packet *packet);
};

/* Creates a port. The user must outlive it. `params` is copied. */
struct port *port_create(struct sim *sim, const char *name, const struct port_params *params,
			 enum link_layer link_layer, struct packet_pool *pool,
			 struct port_user *user);
void port_destroy(struct port *port);

/* Connects two ports by a link for the whole run. Call it before the first event. The ports may be
 * in different LPs of a parallel run if the link has a latency and does not go down. On InfiniBand
 * such a link must also have no fault, because both ends learn of a lost packet. */
void port_connect(struct port *one, struct port *other);

/* Returns whether two ports can be connected. Otherwise *error describes the difference. */
bool port_fits(const struct port *one, const struct port *other, char *error, size_t error_bytes);

/* Replace parameters of one port. Call them before port_connect(). */
void port_set_params(struct port *port, const struct port_params *params);
void port_set_length(struct port *port, double metres);
void port_set_rate(struct port *port, uint64_t rate_bps);

/* InfiniBand VL arbitration (IBTA vol. 1, 7.6.9). It replaces the schedule of the parameters. */
#define VL_ARBITRATION_ENTRIES 64

struct vl_weight {
	uint8_t vl;
	uint8_t weight; /* blocks of 64 bytes; 0 skips the entry */
};

struct vl_arbitration {
	struct vl_weight high[VL_ARBITRATION_ENTRIES], low[VL_ARBITRATION_ENTRIES];
	unsigned high_count, low_count;
	/* Units of 4096 bytes that the high table may send before the low table is served. 0: one
	 * packet. 255: no limit. */
	unsigned high_limit;
};

/* Replaces the order of VLs by functions of the port's user. choose() returns one of the VLs whose
 * bit is set. departed() reports the departing packet; `emptied`: its VL has no other packet. The
 * scheduler outlives the port. Call it before the first packet. */
struct port_scheduler {
	unsigned (*choose)(void *context, const struct port *port, uint32_t vls);
	void (*departed)(void *context, const struct port *port, unsigned vl, uint32_t wire_bytes,
			 bool emptied);
	void *context;
};

void port_set_scheduler(struct port *port, const struct port_scheduler *scheduler);

/* Copies the tables. Call it before the first packet. */
void port_set_vl_arbitration(struct port *port, const struct vl_arbitration *tables);

/* Takes the link of this port down, or up. Call it after port_connect(). port_fault.h schedules
 * such a change. */
void port_set_link(struct port *port, bool up);

/* Ethernet: changes this end only. The caller changes the other end at the same time. */
void port_set_end(struct port *port, bool up);

/* Ethernet: starts or stops a pause storm, which pauses priorities of the other end independent of
 * the user. */
void port_storm(struct port *port, uint8_t priorities, bool start);

/* Limits the rate at which input space is released. 0: no limit. */
void port_set_drain_rate(struct port *port, uint64_t rate_bps);

/* Returns whether one more packet can be queued on the VL. */
bool port_has_room(const struct port *port, unsigned vl);

/* Queues a packet on VL packet->vl, which must have room. The port owns the packet from now on. */
void port_send(struct port *port, struct packet *packet);

/* Releases the input space of a received packet. On InfiniBand, credits return to the other end. */
void port_release(struct port *port, unsigned vl, uint32_t wire_bytes);

/* Ethernet: pauses the priorities of the other end whose bit is set, or resumes them. Has no effect
 * on priorities without PFC. */
void port_pause(struct port *port, uint8_t priorities, bool stop);

/* Sets the depth of the next pause: the number of switches from the point of congestion to the
 * paused end, 1 for the nearest. The frame has no field for the depth, so it is metadata of the
 * simulation. port_pause_depth() returns it at the paused end while the pause lasts, otherwise
 * 0. */
void port_set_pause_depth(struct port *port, unsigned vl, unsigned depth);
unsigned port_pause_depth(const struct port *port, unsigned vl);

/* Returns the time at which a packet queued now would start to leave if no other overtakes it. */
sim_time port_free_at(const struct port *port, unsigned vl);

/* Returns the time until which the packet that leaves occupies the link. */
sim_time port_busy_until(const struct port *port);

/* Sets the number of inputs of a switch, at most PORT_SET_PORTS. Each VL then serves the inputs in
 * turn, by packet->ingress (0..sources-1). Call it before port_connect(). */
void port_set_sources(struct port *port, unsigned sources);

/* Queues a packet that may start to leave at ready_at at the earliest. The VL needs no room. */
void port_send_at(struct port *port, struct packet *packet, sim_time ready_at);

/* Releases input space as port_release() does, at the time `at`. Most calls need no event. */
void port_release_at(struct port *port, unsigned vl, uint32_t wire_bytes, sim_time at);

/* Ethernet: lets the user account for input space itself, as with a buffer that all ports share.
 * The user pauses the other end by port_pause() and does not call port_release(). The port refuses
 * no packet. Call it before port_connect(). */
void port_share_input(struct port *port);

/* Marks the port as one whose traffic is not part of the workload: copies for an analyser. */
void port_set_aside(struct port *port);
bool port_is_aside(const struct port *port);

/* Makes the port drop packets that a switch flooded. A router accepts only packets with its own MAC
 * address. */
void port_refuse_wrong_mac(struct port *port);

/* Ethernet: returns the headroom of a priority, the bytes that may still arrive after a pause is
 * requested: (301 + 2.16 * metres) * Gb/s + 2.72 * MTU. mlx5 reserves this amount (Linux,
 * port_buffer.c; row C-14). port_headroom() takes the values of a connected port. */
uint64_t pause_headroom(uint64_t rate_bps, double metres, uint64_t mtu);
uint64_t port_headroom(const struct port *port);

/* Sets a function that is called for each packet whose departure is fixed, including flow-control
 * packets and PFC frames. `starts_at` is the time of the first bit. It never decreases at one port.
 * NULL removes the function. */
typedef void port_tap_function(void *context, struct port *port, const struct packet *packet,
			       sim_time starts_at);
void port_tap(struct port *port, port_tap_function *function, void *context);

/* Set the faults of a port (fabric/fault.h). The fault must outlive the port. NULL removes it. */
struct fault;
void port_set_transmit_fault(struct port *port, struct fault *fault);
void port_set_receive_fault(struct port *port, struct fault *fault);

/* Adds traffic that the flow-level model calculated to the counters at both ends of the link. No
 * packets are sent. */
void port_count_carried(struct port *port, uint64_t packets, uint64_t bytes);

/* ---- properties ---- */

const struct port_params *port_params(const struct port *port);
const char *port_name(const struct port *port); /* "host0.hca.port" */
/* Returns the number of the port, which is unique in a run and independent of threads. */
uint32_t port_number(const struct port *port);
struct sim *port_sim(const struct port *port);
struct port *port_peer(const struct port *port); /* the other end; NULL before port_connect() */
enum link_layer port_link_layer(const struct port *port);
unsigned port_vls(const struct port *port); /* virtual lanes for data, or priorities */
uint32_t port_mtu(const struct port *port); /* bytes of payload */

/* Returns the data rate without the line code, such as 100 Gb/s for EDR. */
uint64_t port_rate_bps(const struct port *port);
bool port_is_faster(const struct port *one, const struct port *other);

/* Return the time from the departure of a bit to its arrival. Return the time that `bytes` take at
 * the rate of the link, rounded down. */
sim_time port_latency(const struct port *port);
sim_time port_serialization(const struct port *port, uint32_t bytes);

/* Bytes before each frame of Ethernet, with the start delimiter. Each switch sends them again. */
#define ETHERNET_PREAMBLE 8u

/* Returns the bytes between two frames: preamble and gap of Ethernet. */
uint32_t port_gap_bytes(const struct port *port);

/* Returns the VL of a service level or priority: its remainder by the number of VLs. */
unsigned port_vl(const struct port *port, unsigned service_level);

/* ---- current state ---- */

/* Prefetch the memory that sending a packet on the VL will touch, and that port_release_at() will
 * touch. */
void port_prefetch(const struct port *port, unsigned vl);
void port_prefetch_release(const struct port *port, unsigned vl, enum link_layer link_layer);

/* Replaces the functions that prefetch for the arrival and the departure of a packet (sim/event.h).
 * The first stages are the functions below, which prefetch the memory of the port and of the
 * packet. Later stages ask for the packet of the event and the port's user. port_departing()
 * returns NULL if no packet waits. */
void port_set_fetch(struct port *port, const struct event_fetch *arrival,
		    const struct event_fetch *departure);
event_fetch_function port_fetch_arrival_port, port_fetch_arrival_packet, port_fetch_nothing;
const struct packet *port_arriving(const struct event *event, struct port_user **user);
event_fetch_function port_fetch_departure_port, port_fetch_departure_queue,
	port_fetch_departure_packet;
const struct packet *port_departing(const struct event *event, struct port_user **user);

/* Returns the used bytes of the input buffer. InfiniBand counts whole blocks of 64 bytes. */
uint64_t port_input_used(const struct port *port, unsigned vl);

/* Return the number of packets whose departure is not yet fixed, and their bytes. */
unsigned port_queued(const struct port *port, unsigned vl);
uint64_t port_queued_bytes(const struct port *port, unsigned vl);

/* InfiniBand: returns the blocks of 64 bytes that the port may still send. VL15 has no limit. */
uint32_t port_credits(const struct port *port, unsigned vl);

/* Ethernet: port_paused() returns whether the other end pauses the priority now.
 * port_paused_time() returns the total time until now. port_pausing() returns whether this end
 * pauses the other end. */
bool port_paused(const struct port *port, unsigned vl);
sim_time port_paused_time(const struct port *port, unsigned vl);
bool port_pausing(const struct port *port, unsigned vl);

/* Returns the bytes of the departing packet that have not left yet. */
uint64_t port_leaving_bytes(const struct port *port);

/* Returns the bytes of data packets that have left: bytes_sent without the remaining bytes of the
 * departing packet, and without packets that leave later. It grows no faster than the rate of the
 * link, also if a fault loses or delays packets. */
uint64_t port_bytes_out(const struct port *port);

/* Returns the bytes of data packets in flight to this port. At any time, bytes sent are bytes
 * received, bytes lost and these bytes. */
uint64_t port_flying_bytes(const struct port *port);

bool port_is_up(const struct port *port);
const struct port_counters *port_counters(const struct port *port);

#endif
