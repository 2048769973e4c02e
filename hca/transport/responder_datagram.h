/* SPDX-License-Identifier: Apache-2.0 */
/*
 * responder_datagram: requests of UD: one packet, one receive WQE, 40 bytes for a GRH before the
 * data. IBTA vol. 1, 9.8.3; 11.4.1.2 (the 40 bytes).
 */
#ifndef HCA_TRANSPORT_RESPONDER_DATAGRAM_H
#define HCA_TRANSPORT_RESPONDER_DATAGRAM_H

#include "hca/transport/responder.h"

/* Handles one packet. Returns false if the packet must wait. */
bool responder_datagram(struct qp *qp, struct packet *packet);

#endif
