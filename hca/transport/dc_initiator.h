/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dc_initiator: the sending end of DC (dynamically connected transport). One queue pair, a DCI, is connected with one
 * target (DCT) at a time, whichever its work request at the cursor names. To connect to another one it waits until all that
 * it asked of the present one has its response, then sends a disconnect, which has no response, and a connect, which the target
 * accepts with an ACK. Requests follow the connect at once (half handshake), or when it is accepted (full).
 *
 *     requester --dc_initiator_holds()--> may this slot go?
 *               --dc_initiator_next()---> disconnect, connect --> send_segment
 *     completer --dc_initiator_responded()--> connected
 *
 * A connect has no PSN of its own: it tells the target the PSN of the request behind it, and its ACK has the one before.
 * So one that is lost is retransmitted, with the oldest request that has no response, when the timer says so.
 *
 * Kalia et al., FaSST, OSDI'16, 3.3 (recalled): a disconnect and a connect with its response when the target changes. US patents 8,213,315
 * and 9,031,086. What they leave open is assumed (docs/reference/wire.md).
 */
#ifndef HCA_TRANSPORT_DC_INITIATOR_H
#define HCA_TRANSPORT_DC_INITIATOR_H

#include "hca/transport/qp.h"

struct dc_initiator *dc_initiator_create(struct qp *qp);
void dc_initiator_destroy(struct dc_initiator *dci); /* or NULL */
void dc_initiator_reset(struct dc_initiator *dci);

/* What keeps the slot at the cursor from going, as a gauge of transport; NULL: nothing of DC. Turns to its target, if it has
 * not started and may. One whose target leads nowhere gets an error. */
struct gauge *dc_initiator_holds(struct dc_initiator *dci, struct send_slot *slot);

/* One packet that must leave before the slot's do (NULL: there is none to go), and its bytes; 0: none. */
uint32_t dc_initiator_next(struct dc_initiator *dci, const struct send_slot *slot,
			   uint32_t *wire_bytes);

/* It has a disconnect to send, though there is no work request. */
bool dc_initiator_owes(const struct dc_initiator *dci);

/* A response came. true: it says that the connect is accepted, and no more. */
bool dc_initiator_responded(struct dc_initiator *dci, const struct packet *packet);

/* Does it refuse a connect that no request has followed yet? */
bool dc_initiator_awaits(const struct dc_initiator *dci, const struct packet *packet);

/* No response in time: who knows whether the target has ever heard of it. */
void dc_initiator_lost(struct dc_initiator *dci);

/* All that has no response is retransmitted. */
void dc_initiator_rewound(struct dc_initiator *dci);

#endif
