/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dc_target: the receiving end of DC. A DCT has no state of any initiator. It has an address,
 * rights, an access key, and the SRQ of its receive WQEs. Each connect takes a responder context
 * (DCR) from the adapter's pool. The DCR is the responder of that initiator until the initiator
 * disconnects. The sender, its DCI and the DCT of a request identify the DCR.
 *
 *     receive --dc_target_takes()--> connect: a DCR opens, ACK; or NAK, RNR NAK from the DCT
 *                               \--> disconnect: the DCR goes back, last in first out
 *             --dc_target_responder()--> the DCR of a request --> responder, as of any queue pair
 *
 * If no DCR is free, a connect takes the DCR of an initiator that was silent for `dc_lifetime`. If
 * there is none, an RNR NAK postpones the connect. A request without a DCR is dropped, and its
 * initiator connects again after the timer expires. It is assumed that a wrong key causes a NAK for
 * remote access. The RNR NAK is also assumed.
 */
#ifndef HCA_TRANSPORT_DC_TARGET_H
#define HCA_TRANSPORT_DC_TARGET_H

#include "hca/transport/qp.h"

struct dc_targets;

/* Creates the pool before the first DCT. */
void dc_targets_need(struct transport_block *transport);
void dc_targets_destroy(struct dc_targets *targets); /* NULL is allowed */

/* Processes a connect at a DCT or a disconnect at a DCR, and frees the packet. Returns false if the
 * packet is another request. */
bool dc_target_takes(struct qp *qp, struct packet *packet);

/* Returns the DCR of a request to that DCT, or NULL if it has none. */
struct qp *dc_target_responder(struct qp *target, const struct packet *packet);

/* Disconnects all initiators of the DCT. */
void dc_target_reset(struct qp *target);

/* Returns a closed DCR to the pool when no operation in progress refers to it. */
void dc_target_responder_rest(struct dc_responder *dcr);

/* Returns the DCT of a DCR. */
const struct qp *dc_target_of_responder(const struct dc_responder *dcr);

#endif
