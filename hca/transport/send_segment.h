/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_segment: the part of a message for one grant: its packets with their headers, and the DMA
 * that gathers their payload. The segments of one entity leave in the order of their start,
 * independent of the time of their gather.
 *
 *     requester, responder --send_segment_start()--> dma --> transmit
 */
#ifndef HCA_TRANSPORT_SEND_SEGMENT_H
#define HCA_TRANSPORT_SEND_SEGMENT_H

#include "hca/transport/qp.h"
#include "hca/work/dma.h"

struct send_segment {
	struct send_segment *next;
	struct sched_entity *entity;
	struct send_slot *slot; /* NULL for a response */
	struct packet *first, *last;
	uint32_t epoch;  /* epoch of the requester */
	uint32_t length; /* total bytes of payload */
	uint32_t wire_bytes;
	bool ready;
	enum dma_status status;
	struct payload *payload;
	struct data_segment element; /* single element of a response */
	struct dma dma;
};

/* Returns a new segment without packets. */
struct send_segment *send_segment_new(struct sched_entity *entity, struct send_slot *slot);

/* Appends a packet, with path, opcode and addresses of its QP filled in. */
struct packet *send_segment_packet(struct send_segment *segment, uint8_t opcode,
				   const struct path *path, uint32_t payload_bytes);

/* Gathers `length` bytes from `offset` in the list, and sends. Returns the bytes on the wire. */
uint32_t send_segment_gather(struct send_segment *segment, const struct data_segment *segments,
			     uint32_t count, uint32_t offset, uint32_t access);

/* Gathers from the data of the WQE after `offset`: inline data, its list, or both. Returns the
 * bytes on the wire. */
uint32_t send_segment_of_wqe(struct send_segment *segment, const struct send_wqe *wqe,
			     uint32_t offset);

/* Sends bytes that are available, or none (bytes NULL, length 0). Returns the bytes on the wire. */
uint32_t send_segment_copy(struct send_segment *segment, const uint8_t *bytes);

/* Sends the entity's segments that are ready, in order. Segments that wait for the READ engine
 * stay. */
void send_segment_drain(struct sched_entity *entity);

#endif
