/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late_nak: NAKs of sequence errors, which adapters take their time for (transport.nak_delay, ground truth E-02): from when the gap
 * was seen until the responder owes the NAK. They name the PSN that was missing then.
 *
 *     responder --late_nak_push()--> nak_delay --responder_owe()--> response entity
 */
#ifndef HCA_TRANSPORT_LATE_NAK_H
#define HCA_TRANSPORT_LATE_NAK_H

#include "hca/transport/responder.h"

struct transport_block;

/* A NAK that goes transport.nak_delay from now on. */
void late_nak_push(struct qp *qp, const struct response *response);

void late_nak_init(struct transport_block *transport);
void late_nak_fini(struct transport_block *transport); /* while queue pairs can still go */

#endif
