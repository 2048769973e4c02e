/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder_unreliable: requests of UC. Packets that are out of order are dropped until the next
 * message. No responses are sent. IBTA vol. 1, 9.8.2.
 */
#ifndef HCA_TRANSPORT_RESPONDER_UNRELIABLE_H
#define HCA_TRANSPORT_RESPONDER_UNRELIABLE_H

#include "hca/transport/responder.h"

/* Handles one packet. Returns false if the packet must wait. */
bool responder_unreliable(struct qp *qp, struct packet *packet);

#endif
