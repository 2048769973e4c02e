/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder_unreliable: requests of UC. What is out of order is dropped up to the next message; no
 * response is ever sent. IBTA vol. 1, 9.8.2.
 */
#ifndef HCA_TRANSPORT_RESPONDER_UNRELIABLE_H
#define HCA_TRANSPORT_RESPONDER_UNRELIABLE_H

#include "hca/transport/responder.h"

/* false: the packet stays where it is. */
bool responder_unreliable(struct qp *qp, struct packet *packet);

#endif
