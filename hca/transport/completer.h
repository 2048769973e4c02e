/*
 * completer: what comes back to a requester of a reliable transport: ACKs, NAKs, RNR NAKs, read
 * and atomic responses, whose data it scatters.
 *
 *     receive --completer_receive()--> requester (progress, retries); dma (data)
 *
 * IBTA vol. 1, 9.7.5.1.2..9.7.5.1.4; AETH syndromes: 9.7.5.2.
 */
#ifndef HCA_TRANSPORT_COMPLETER_H
#define HCA_TRANSPORT_COMPLETER_H

#include "hca/transport/qp.h"

struct response_scatter { /* data of one response packet on its way to memory */
	struct dma dma;
	struct qp *qp;
	struct send_slot *slot;
	struct payload *payload;
	uint8_t value[8];
	bool posted; /* all its writes are with PCIe */
};

/* The packet is the completer's from now on. */
void completer_receive(struct qp *qp, struct packet *packet);

#endif
