/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit: the pipeline of complete packets to the port. Packets leave VL by VL while the port has
 * space. Packets for the adapter itself loop back to the receive pipeline. Frames of the host's
 * stack take the same way (netdev.h).
 *
 *     send_segment --transmit_push()--> pipeline --> VLs --port_send()--> port
 *         |                                  \--> receive (loopback)
 *         '--transmit_watch()--> requester_departs(), _departed()
 */
#ifndef HCA_PORT_TRANSMIT_H
#define HCA_PORT_TRANSMIT_H

#include "fabric/port.h"
#include "hca/port/transmit_params.h"
#include "sim/block.h"

/* clang-format off */
#define TRANSMIT_COUNTERS(X) \
	X(packets, "packets", "passed to the port") \
	X(payload_bytes, "bytes", "payload of the packets of RDMA passed to the port") \
	X(loopback, "packets", "looped back inside the adapter") \
	X(loopback_bytes, "bytes", "looped back, with headers as on the wire") \
	X(loopback_waits, "packets", "loopback packets that found no space") \
	X(waits, "packets", "that found no space in the port's queue")

#define TRANSMIT_GAUGES(X) \
	X(pipe, BUSY, "packets", "pipeline entry, which accepts one packet per interval") \
	X(pipeline, QUEUE, "packets", "in the pipeline") \
	X(vls, QUEUE, "packets", "behind the pipeline because the port's queue is full") \
	X(loopback, POOL, "bytes", "looped back and not accepted yet")

#define TRANSMIT_TRACE(X) \
	X(SEND, "psn", "opcode", "a packet is passed to the port")
/* clang-format on */

struct transmit_counters {
	TRANSMIT_COUNTERS(COUNTER_FIELD)
};

#define LOOPBACK_INGRESS UINT16_MAX /* packet->ingress of loopback packets */
/* packet->ingress of copies for multicast groups, which take no space of the port */
#define COPY_INGRESS (UINT16_MAX - 1)

struct hca_watcher;
struct netdev;
struct receive;
struct scheduler;
struct transmit;
struct qp;
struct send_slot;

/* Blocks that the transmit pipeline uses. All must outlive it. */
struct transmit_blocks {
	struct packet_pool *packets;
	struct scheduler *scheduler;
};

struct transmit *transmit_create(struct sim *sim, const char *name,
				 const struct transmit_params *params,
				 const struct transmit_blocks *blocks);
/* Sets the port, and the pipeline that receives loopback packets. */
void transmit_connect(struct transmit *transmit, struct port *port, struct receive *receive);
/* Sets the source of frames that are not RDMA, before the first packet. */
void transmit_set_netdev(struct transmit *transmit, struct netdev *netdev);
/* Sets the source of other segments, before the first packet. */
struct offload;
void transmit_set_offload(struct transmit *transmit, struct offload *offload);
/* Sets the observer, or removes it if `watcher` is NULL. */
void transmit_set_watcher(struct transmit *transmit, struct hca_watcher *watcher);
void transmit_destroy(struct transmit *transmit);

/* Adds a packet to the pipeline, which takes `latency` and one packet per `interval`. Packets reach
 * the port in this order. */
void transmit_push(struct transmit *transmit, struct packet *packet);

/* Watches the packet pushed last, the last packet of that slot's message. The block notifies the
 * requester when the packet leaves. It also notifies an unreliable requester when the last bit has
 * left. */
void transmit_watch(struct transmit *transmit, struct qp *qp, struct send_slot *slot,
		    const struct packet *packet);

/* Sends a CNP to the port now, ahead of the pipeline. */
void transmit_notify(struct transmit *transmit, struct packet *cnp);

/* Reports that the port sends a packet from starts_at to `until`. */
void transmit_departs(struct transmit *transmit, const struct packet *packet, sim_time starts_at,
		      sim_time until);

/* Reports that the port has space again on that VL. */
void transmit_room(struct transmit *transmit, unsigned vl);

/* Reports that the receive pipeline, which has held a loopback packet since that time, accepted
 * it. */
void transmit_taken_in(struct transmit *transmit, sim_time since, uint32_t wire_bytes);
const struct transmit_counters *transmit_counters(const struct transmit *transmit);

#endif
