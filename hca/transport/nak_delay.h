/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nak_delay: NAKs of sequence errors, which adapters take their time for (transport.nak_delay, ground truth E-02): from when the gap
 * was seen until the responder owes the NAK. They name the PSN that was missing then.
 *
 *     responder --nak_delay_push()--> nak_delay --responder_owe()--> response entity
 */
#ifndef HCA_TRANSPORT_NAK_DELAY_H
#define HCA_TRANSPORT_NAK_DELAY_H

#include "hca/transport/responder.h"

struct transport_block;

/* A NAK that goes transport.nak_delay from now on. */
void nak_delay_push(struct qp *qp, const struct response *response);

void nak_delay_init(struct transport_block *transport);
void nak_delay_fini(struct transport_block *transport); /* while queue pairs can still go */

#endif
