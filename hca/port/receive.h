/* SPDX-License-Identifier: Apache-2.0 */
/*
 * receive: what comes from the port: a pipeline up to the transports, where damaged packets and
 * those that nobody is meant by are dropped. The port's input space of a packet is given back when
 * its transport is done with it. Packets of a queue pair whose context is not at hand wait, in order, until
 * it is: those of others pass them. A hit costs nothing here: it is part of `latency`.
 *
 *     port --receive()--> pipeline --> checks --> completer (responses)
 *                                            \--> responder (requests)
 */
#ifndef HCA_PORT_RECEIVE_H
#define HCA_PORT_RECEIVE_H

#include "fabric/port.h"
#include "hca/port/receive_params.h"
#include "sim/block.h"

/* clang-format off */
#define RECEIVE_COUNTERS(X) \
	X(packets, "packets", "received from the port") \
	X(payload_bytes, "bytes", "payload of the received packets") \
	X(icrc_errors, "packets", "dropped: damaged (rx_icrc_encapsulated)") \
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
struct receive;
struct transmit;
struct transport_block;
struct qp;

/* What the receive pipeline is connected with. All outlive it. */
struct receive_blocks {
	struct packet_pool *packets;
	struct context_cache *contexts;
	struct transport_block *transport;
	struct transmit *transmit;
};

struct receive *receive_create(struct sim *sim, const char *name,
			       const struct receive_params *params,
			       const struct receive_blocks *blocks);
/* The port whose packets come here, before the first of them. */
void receive_connect(struct receive *receive, struct port *port);
void receive_destroy(struct receive *receive);

/* What the adapter's port calls: packets that come, room for those that go. */
struct port_user *receive_port_user(struct receive *receive);

/* head_at and tail_at are set. */
void receive_packet(struct receive *receive, struct packet *packet);

/* The pipeline stands still until then; what comes waits in the port's input space. */
void receive_stall(struct receive *receive, sim_time until);

/* How far a queue pair is with what is here: what it expects as a responder, what it has no response to as a requester, and behind
 * each the packets that wait for its context or are in the pipeline and go on from there. */
void receive_psns(const struct receive *receive, const struct qp *qp, uint32_t *expected,
		  uint32_t *unacked);

/* The transport is done with it. */
void receive_done(struct receive *receive, struct packet *packet);

/* The queue pair gets what is sent to that group, or no longer. 0, or -errno as the verbs have it. */
int receive_multicast_attach(struct receive *receive, uint32_t qpn, const uint8_t gid[16]);
int receive_multicast_detach(struct receive *receive, uint32_t qpn, const uint8_t gid[16]);

/* Would a queue pair here get what is sent to that group? */
bool receive_has_group(const struct receive *receive, const uint8_t gid[16]);

/* It goes, and leaves its groups. */
void receive_forget_qp(struct receive *receive, struct qp *qp);
const struct receive_counters *receive_counters(const struct receive *receive);

#endif
