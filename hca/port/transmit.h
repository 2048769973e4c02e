/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transmit: packets with all their bytes go through a pipeline to the port, VL by VL as the
 * port has room; what is for the adapter itself loops back here, as receive takes it in.
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
	X(payload_bytes, "bytes", "payload of the packets passed to the port") \
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

#define LOOPBACK_INGRESS UINT16_MAX       /* packet->ingress of what turned round */
#define COPY_INGRESS     (UINT16_MAX - 1) /* of what is nobody's space: copies for groups */

struct hca_watcher;
struct receive;
struct scheduler;
struct transmit;
struct qp;
struct send_slot;

/* What the transmit pipeline is connected with. All outlive it. */
struct transmit_blocks {
	struct packet_pool *packets;
	struct scheduler *scheduler;
};

struct transmit *transmit_create(struct sim *sim, const char *name,
				 const struct transmit_params *params,
				 const struct transmit_blocks *blocks);
/* The port that packets go to, and the pipeline that takes those which loop back. */
void transmit_connect(struct transmit *transmit, struct port *port, struct receive *receive);
/* NULL: nobody. */
void transmit_set_watcher(struct transmit *transmit, struct hca_watcher *watcher);
void transmit_destroy(struct transmit *transmit);

/* The packet enters the pipeline, `latency` of it, one each `interval`, and goes to the port in this order. */
void transmit_push(struct transmit *transmit, struct packet *packet);

/* The packet pushed last is the last of that slot's message: its requester hears when it leaves, and
 * that of an unreliable transport again when its last bit is out. */
void transmit_watch(struct transmit *transmit, struct qp *qp, struct send_slot *slot,
		    const struct packet *packet);

/* A CNP goes to the port now, past the pipeline. */
void transmit_notify(struct transmit *transmit, struct packet *cnp);

/* The port has fixed the time of a packet: from starts_at to `until`. */
void transmit_departs(struct transmit *transmit, const struct packet *packet, sim_time starts_at,
		      sim_time until);

/* The port has room again on that VL. */
void transmit_room(struct transmit *transmit, unsigned vl);

/* A packet that turned round is taken in. */
void transmit_taken_in(struct transmit *transmit, uint32_t wire_bytes);
const struct transmit_counters *transmit_counters(const struct transmit *transmit);

#endif
