/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dc_initiator: the sending end of DC (dynamically connected transport). A queue pair, the DCI, is
 * connected to one target (DCT) at a time: the target of the work request at the cursor. To connect
 * to another target, the DCI waits until all of its requests have responses. It then sends a
 * disconnect, which has no response, and a connect, which the target accepts with an ACK. Requests
 * follow the connect at once (half handshake), or after it is accepted (full).
 *
 *     requester --dc_initiator_holds()--> may this slot go?
 *               --dc_initiator_next()---> disconnect, connect --> send_segment
 *     completer --dc_initiator_responded()--> connected
 *
 * A connect has no PSN of its own. It carries the PSN of the request after it, and its ACK carries
 * the PSN before that. When the timer expires, a lost connect is retransmitted together with the
 * oldest request without a response.
 *
 * Kalia et al., FaSST, OSDI'16, 3.3 (recalled): a disconnect and a connect with its response when
 * the target changes. US patents 8,213,315 and 9,031,086. Details that these sources leave open are
 * assumed (docs/reference/wire.md).
 */
#ifndef HCA_TRANSPORT_DC_INITIATOR_H
#define HCA_TRANSPORT_DC_INITIATOR_H

#include "hca/transport/qp.h"

struct dc_initiator *dc_initiator_create(struct qp *qp);
void dc_initiator_destroy(struct dc_initiator *dci); /* NULL is allowed */
void dc_initiator_reset(struct dc_initiator *dci);

/* Returns the gauge of transport that delays the slot at the cursor, or NULL if DC does not delay
 * it. Connects to the slot's target if the slot has not started and a change of target is possible.
 * Sets slot->error if the target is unreachable. */
struct gauge *dc_initiator_holds(struct dc_initiator *dci, struct send_slot *slot);

/* Sends one packet that must leave before the slot's packets. `slot` is NULL if no slot may be
 * sent. Returns 1 and writes the packet's bytes to *wire_bytes. Returns 0 if there is none. */
uint32_t dc_initiator_next(struct dc_initiator *dci, const struct send_slot *slot,
			   uint32_t *wire_bytes);

/* Returns true if a disconnect must be sent, even without a work request. */
bool dc_initiator_owes(const struct dc_initiator *dci);

/* Processes a response. Returns true if it accepts the connect and has no other meaning. */
bool dc_initiator_responded(struct dc_initiator *dci, const struct packet *packet);

/* Returns true if the packet refuses a connect that has no response yet. */
bool dc_initiator_awaits(const struct dc_initiator *dci, const struct packet *packet);

/* Reports a timeout. The target may not have received the connect. */
void dc_initiator_lost(struct dc_initiator *dci);

/* Reports that all requests without a response are retransmitted. */
void dc_initiator_rewound(struct dc_initiator *dci);

#endif
