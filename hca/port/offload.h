/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offload: a block that sends and receives TCP segments without the host's stack: iWARP. Its
 * packets have a nonzero dest_qp. Segments of other connections go to the host's stack (netdev.h).
 */
#ifndef HCA_PORT_OFFLOAD_H
#define HCA_PORT_OFFLOAD_H

#include <stdbool.h>
#include <stdint.h>

struct packet;

struct offload {
	/* Offers a segment from the receive pipeline. Returns false if it belongs to no connection
	 * of the block. Otherwise the block releases it with receive_done(). */
	bool (*arrived)(struct offload *offload, struct packet *packet);
	/* Reports that a segment has left the transmit pipeline for the port. */
	void (*left)(struct offload *offload, uint32_t wire_bytes);
};

#endif
