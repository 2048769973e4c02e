/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send_segment: one grant's worth of a message on its way out: its packets with their headers, and the
 * DMA that gathers their payload. Units of one entity leave in the order they were started, whatever
 * their gathering takes.
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
	struct send_slot *slot; /* NULL: a response */
	struct packet *first, *last;
	uint32_t epoch;  /* of the requester */
	uint32_t length; /* bytes of payload in all */
	uint32_t wire_bytes;
	bool ready;
	enum dma_status status;
	struct payload *payload;
	struct data_segment element; /* a response's only one */
	struct dma dma;
};

/* With no packet yet. */
struct send_segment *send_segment_new(struct sched_entity *entity, struct send_slot *slot);

/* One more packet behind those it has, with path, opcode and addresses of its QP filled in. */
struct packet *send_segment_packet(struct send_segment *segment, uint8_t opcode,
				   const struct path *path, uint32_t payload_bytes);

/* Gathers `length` bytes from the list on, and sends. Returns what it takes on the wire. */
uint32_t send_segment_gather(struct send_segment *segment, const struct data_segment *segments,
			     uint32_t count, uint32_t offset, uint32_t access);

/* The same, from what the WQE has behind `offset`: inline data, its list, or both. */
uint32_t send_segment_of_wqe(struct send_segment *segment, const struct send_wqe *wqe,
			     uint32_t offset);

/* The same, with the bytes at hand, or none at all (bytes NULL, length 0). */
uint32_t send_segment_copy(struct send_segment *segment, const uint8_t *bytes);

/* Sends what is ready at the front of the entity, in order, but what waits for the engine of READs. */
void send_segment_drain(struct sched_entity *entity);

#endif
