/* SPDX-License-Identifier: Apache-2.0 */
/*
 * completer: processes the responses to a requester of a reliable transport: ACKs, NAKs, RNR NAKs,
 * and READ and atomic responses, whose data it scatters.
 *
 *     receive --completer_receive()--> requester (progress, retries); dma (data)
 *
 * Each data packet takes a buffer until its data is in memory. While all buffers are in use,
 * responses wait in order and keep their place in the port's input space. A slow host therefore
 * slows down the responder.
 *
 * IBTA vol. 1, 9.7.5.1.2..9.7.5.1.4; AETH syndromes: 9.7.5.2.
 */
#ifndef HCA_TRANSPORT_COMPLETER_H
#define HCA_TRANSPORT_COMPLETER_H

#include "hca/transport/qp.h"
#include "hca/work/dma.h"

struct response_scatter { /* data of one response packet in transfer to memory */
	struct dma dma;
	struct qp *qp;
	struct send_slot *slot;
	struct payload *payload;
	sim_time since; /* that it has its buffer */
	uint8_t value[8];
	bool posted; /* all its writes were passed to PCIe */
};

struct transport_block;

/* Frees the waiting packets when the adapter is destroyed. */
void completer_drop(struct transport_block *transport);

/* Processes a response. Takes ownership of the packet. */
void completer_receive(struct qp *qp, struct packet *packet);

/* Continues a response whose scatter list has arrived. */
void completer_go_on(struct qp *qp, struct packet *packet);

#endif
