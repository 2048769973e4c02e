/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nak_delay: delays NAKs of sequence errors by transport.nak_delay (row E-02), from the detection
 * of the gap until the responder owes the NAK. The NAK carries the PSN that was missing at the
 * detection.
 *
 *     responder --nak_delay_push()--> nak_delay --responder_owe()--> response entity
 */
#ifndef HCA_TRANSPORT_NAK_DELAY_H
#define HCA_TRANSPORT_NAK_DELAY_H

#include "hca/transport/responder.h"

struct transport_block;

/* Schedules a NAK after transport.nak_delay. */
void nak_delay_push(struct qp *qp, const struct response *response);

void nak_delay_init(struct transport_block *transport);
/* call while queue pairs can still be released */
void nak_delay_fini(struct transport_block *transport);

#endif
