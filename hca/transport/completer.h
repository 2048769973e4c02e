/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completer: what comes back to a requester of a reliable transport: ACKs, NAKs, RNR NAKs, read
 * and atomic responses, whose data it scatters.
 *
 *     receive --completer_receive()--> requester (progress, retries); dma (data)
 *
 * Data take a buffer each until they are in memory. While all buffers are in use, what comes in waits in order, and keeps its place in
 * the port's input space: a host that is slow holds back who responds.
 *
 * IBTA vol. 1, 9.7.5.1.2..9.7.5.1.4; AETH syndromes: 9.7.5.2.
 */
#ifndef HCA_TRANSPORT_COMPLETER_H
#define HCA_TRANSPORT_COMPLETER_H

#include "hca/transport/qp.h"
#include "hca/work/dma.h"

struct response_scatter { /* data of one response packet on its way to memory */
	struct dma dma;
	struct qp *qp;
	struct send_slot *slot;
	struct payload *payload;
	uint8_t value[8];
	bool posted; /* all its writes are with PCIe */
};

struct transport_block;

/* With the adapter: packets that wait are gone. */
void completer_drop(struct transport_block *transport);

/* The packet is the completer's from now on. */
void completer_receive(struct qp *qp, struct packet *packet);

/* The same, once its list is at hand. */
void completer_go_on(struct qp *qp, struct packet *packet);

#endif
