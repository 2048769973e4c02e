/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dc_target: the receiving end of DC. A DCT has no state of any initiator: its address, rights and access key, and the SRQ
 * that SENDs take their WQEs from. Each connect takes a responder context (DCR) out of the adapter's pool, which is the
 * responder of that initiator until it disconnects; requests find theirs by who sent them, from where, to which DCT.
 *
 *     receive --dc_target_takes()--> connect: a DCR opens, ACK; or NAK, RNR NAK from the DCT
 *                               \--> disconnect: the DCR goes back, last in first out
 *             --dc_target_responder()--> the DCR of a request --> responder, as of any queue pair
 *
 * With none free one that was silent for `dc_lifetime` is taken from its initiator; else the connect is put off by an RNR
 * NAK. A request without a DCR is dropped: its initiator's timer brings the connect again. That a wrong key has a NAK for
 * remote access is assumed, as is the RNR NAK.
 */
#ifndef HCA_TRANSPORT_DC_TARGET_H
#define HCA_TRANSPORT_DC_TARGET_H

#include "hca/transport/qp.h"

struct dc_targets;

/* There will be a DCT. */
void dc_targets_need(struct transport_block *transport);
void dc_targets_destroy(struct dc_targets *targets); /* or NULL */

/* A connect at a DCT, or a disconnect at a DCR: the packet is used up. false: it is a request like any. */
bool dc_target_takes(struct qp *qp, struct packet *packet);

/* The DCR of a request to that DCT; NULL: it has none. */
struct qp *dc_target_responder(struct qp *target, const struct packet *packet);

/* All its initiators are disconnected. */
void dc_target_reset(struct qp *target);

/* Nothing of what was under way names a DCR that is closed any more. */
void dc_responder_rest(struct dc_responder *dcr);

/* The DCT whose pool the DCR is of. */
const struct qp *dc_responder_target(const struct dc_responder *dcr);

#endif
