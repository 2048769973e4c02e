/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cc_extension: functions for a congestion control in a shared object beyond a rate and a window
 * (include/hcasim/congestion.h): services, priorities, paths, fields in packets, and the receiver's
 * side. Queue pairs of built-in algorithms have none of it.
 *
 *     endpoint.c, request.c --> sender's functions     responder.c --> receiver's functions
 *     act() --control packet--> on_control()            timer --> receiver_step()
 */
#ifndef HCA_ENDPOINT_CC_EXTENSION_H
#define HCA_ENDPOINT_CC_EXTENSION_H

#include "hca/endpoint/endpoint_state.h"

/* Extension of a queue pair's struct qp_cc, if the algorithm is a plug-in. */
struct cc_extension;

/* Adds the extension of a plug-in before its state_init(). Completes the path. */
void cc_extension_begin(struct endpoint_qp *qp, struct congestion_path *path);
void cc_extension_destroy(struct endpoint_qp *qp);
/* Creates the block of the adapter's plug-in, if it has one. */
void cc_extension_create_host(struct endpoint_hca *ep);
void cc_extension_destroy_host(struct endpoint_hca *ep);

/* Prepares both adapters for a plug-in that one queue pair uses. Call it before the run. */
void cc_extension_prepare(struct endpoint_qp *qp, const struct congestion *congestion);

/* Interns the paths that the algorithm may choose. Call it before the run. */
void cc_extension_intern(const struct endpoint_hca *from, const struct congestion *congestion,
			 const struct path *path);

/* Chooses the VL by the algorithm's priority. The queue pair is in no list. */
void cc_extension_set_vl(struct endpoint_qp *qp);

/* Tells the algorithm of a posted message, and of a packet that is made. */
void cc_extension_post(struct endpoint_qp *qp, uint64_t bytes);
void cc_extension_packet(struct endpoint_qp *qp, struct packet *packet,
			 const struct endpoint_message *message, bool again);

/* The receiver: reports a data packet whose last bit is processed, and writes the fields of an
 * ACK. */
void cc_extension_data(struct endpoint_qp *qp, const struct packet *packet, bool duplicate);
void cc_extension_ack(struct endpoint_qp *qp, struct packet *ack);

/* Returns true if the packet is a control packet of the receiver, which the algorithm then got. */
bool cc_extension_control(struct endpoint_qp *qp, const struct packet *packet);

/* Returns true if the algorithm of the flow that arrives acts at the receiver. */
static inline bool cc_extension_receives(const struct endpoint_qp *qp)
{
	return __builtin_expect(qp->ep->cc_plugins != NULL, 0) && slot_peer(qp->slot) &&
	       congestion_has_receiver(connect_peer_congestion(qp)->ops);
}

#endif
