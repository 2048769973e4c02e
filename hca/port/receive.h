/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive: the pipeline from the port to the transports. It drops damaged packets and packets
 * without a receiver. The port's input space of a packet is freed when its transport has finished
 * with it. Packets of a queue pair whose context is not cached wait, in order, until it arrives.
 * Packets of other queue pairs pass them. A hit has no cost of its own: it is part of `latency`.
 *
 *     port --receive()--> pipeline --> checks --> completer (responses)
 *                                            \--> responder (requests)
 *                        \--> netdev (frames of the host's stack)
 */
#ifndef HCA_PORT_RECEIVE_H
#define HCA_PORT_RECEIVE_H

#include "fabric/port.h"
#include "hca/port/receive_params.h"
#include "sim/block.h"

/* clang-format off */
#define RECEIVE_COUNTERS(X) \
	X(packets, "packets", "received from the port") \
	X(payload_bytes, "bytes", "payload of the received packets of RDMA") \
	X(icrc_errors, "packets", "dropped: damaged (rx_icrc_encapsulated)") \
	X(foreign_drops, "packets", \
	  "dropped: addressed to another host, and mirrored or flooded by a switch") \
	X(stack_drops, "packets", \
	  "dropped: for the network stack of the host, which no program uses (mirrored frames)") \
	X(no_qp, "packets", "dropped: the queue pair does not exist or has another transport") \
	X(bad_state, "packets", "dropped: the queue pair is in a state that does not receive") \
	X(pkey_violations, "packets", "dropped: wrong P_Key") \
	X(qkey_violations, "packets", "dropped: wrong Q_Key") \
	X(bad_source, "packets", "dropped: not from the connected port") \
	X(multicast, "packets", "multicast packets received, delivered or not") \
	X(notifications, "packets", \
	  "congestion notifications, dropped because there is no congestion control") \
	X(context_misses, "times", "the context of a queue pair was not in its cache") \
	X(context_waits, "packets", "that waited for a queue pair context") \
	X(context_wait_time, "ps", "total time that packets waited for queue pair contexts")

#define RECEIVE_GAUGES(X) \
	X(pipe, BUSY, "packets", "pipeline entry, which accepts one packet per interval") \
	X(held, QUEUE, "packets", "held by the adapter in the port's input space") \
	X(contexts, QUEUE, "packets", "that wait for the context of their queue pair")

#define RECEIVE_TRACE(X) \
	X(RECEIVE, "psn", "opcode", "a packet reaches its transport") \
	X(DROP, "psn", "opcode", "a packet is dropped")
/* clang-format on */

struct receive_counters {
	RECEIVE_COUNTERS(COUNTER_FIELD)
};

#define MULTICAST_QPN UINT32_C(0xffffff)

struct context_cache;
struct netdev;
struct receive;
struct transmit;
struct transport_block;
struct qp;

/* Blocks that the receive pipeline uses. All must outlive it. */
struct receive_blocks {
	struct packet_pool *packets;
	struct context_cache *contexts;
	struct transport_block *transport;
	struct transmit *transmit;
};

struct receive *receive_create(struct sim *sim, const char *name,
			       const struct receive_params *params,
			       const struct receive_blocks *blocks);
/* Sets the port, before its first packet. */
void receive_connect(struct receive *receive, struct port *port);
/* Sets the receiver of frames that are not RDMA, before the first packet. */
void receive_set_netdev(struct receive *receive, struct netdev *netdev);
/* Sets the receiver of segments that are not the host's, before the first packet. */
struct offload;
void receive_set_offload(struct receive *receive, struct offload *offload);
void receive_destroy(struct receive *receive);

/* Returns the functions that the adapter's port calls: for packets that arrive, and for space in
 * its queue. */
struct port_user *receive_port_user(struct receive *receive);

/* Accepts a packet with head_at and tail_at set. */
void receive_packet(struct receive *receive, struct packet *packet);

/* Stops the pipeline until `until`. Packets wait in the port's input space. */
void receive_stall(struct receive *receive, sim_time until);

/* Returns the progress of a queue pair: its expected PSN as a responder, and its first
 * unacknowledged PSN as a requester. Both include packets that continue these PSNs and that wait
 * for the context or are in the pipeline. */
void receive_psns(const struct receive *receive, const struct qp *qp, uint32_t *expected,
		  uint32_t *unacked);

/* Releases the port's input space of a packet that its receiver keeps. */
void receive_release(struct receive *receive, const struct packet *packet);

/* Releases the input space of a packet and frees the packet, when its transport has finished with
 * it. */
void receive_done(struct receive *receive, struct packet *packet);

/* Attach a queue pair to a multicast group, and detach it. Return 0, or a negative errno as in
 * verbs. */
int receive_multicast_attach(struct receive *receive, uint32_t qpn, const uint8_t gid[16]);
int receive_multicast_detach(struct receive *receive, uint32_t qpn, const uint8_t gid[16]);

/* Returns true if a queue pair of the adapter is attached to that group. */
bool receive_has_group(const struct receive *receive, const uint8_t gid[16]);

/* Removes a queue pair that is destroyed from its groups, and drops its waiting packets. */
void receive_forget_qp(struct receive *receive, struct qp *qp);
const struct receive_counters *receive_counters(const struct receive *receive);

#endif
