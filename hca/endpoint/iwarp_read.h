/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_read: RDMA READs on an iWARP connection of an endpoint adapter. A Read Request is an
 * untagged message of 28 bytes on queue 1. Its Read Response is a tagged message of the responder.
 *
 *     requester: READ --Read Request--> responder: read_latency, Read Response --> READ completes
 *
 * At most max_rd_atomic READs of a connection are in progress (ORD), and no more than
 * max_rd_atomic of the peer (IRD). A READ above this depth stops the send queue.
 *
 * RFC 5040 3.3, 4.4 (Read Request), 5.2 (order); RFC 6581 9.1 (IRD and ORD).
 */
#ifndef HCA_ENDPOINT_IWARP_READ_H
#define HCA_ENDPOINT_IWARP_READ_H

#include "hca/endpoint/endpoint_state.h"

struct endpoint_iwarp;
struct tcp_end_mark;

void iwarp_read_init_host(struct endpoint_iwarp *iwarp);
void iwarp_read_destroy_host(struct endpoint_iwarp *iwarp);
void iwarp_read_init(struct endpoint_qp *qp);

/* ---- requester ---- */

/* Returns true unless the message is a READ above the depth. */
bool iwarp_read_may_write(const struct endpoint_qp *qp, const struct endpoint_message *message);

/* Puts the bytes of a Read Request into a packet. `from` is their offset in the request. */
void iwarp_read_fill(struct endpoint_qp *qp, const struct endpoint_message *message, uint64_t from,
		     struct packet *packet);

bool iwarp_read_has_response(const struct endpoint_qp *qp, const struct endpoint_message *message);

/* ---- both ends ---- */

/* Returns the member `read` of the mark that the packet makes. */
uint32_t iwarp_read_mark(const struct packet *packet);

/* Processes a complete Read Request or Read Response. */
void iwarp_read_arrived(struct endpoint_qp *qp, const struct tcp_end_mark *mark);

/* ---- responder ---- */

/* Returns the next unwritten Read Response, which is now written, or NULL. */
struct endpoint_message *iwarp_read_take_response(struct endpoint_qp *qp);

/* Returns the written Read Response with this byte of the stream, or NULL. */
struct endpoint_message *iwarp_read_response_at(const struct endpoint_qp *qp, uint64_t offset);

/* Reports that the last byte of a Read Response was passed to the port. */
void iwarp_read_responded(struct endpoint_qp *qp, const struct endpoint_message *response);

/* Frees acknowledged Read Responses; UINT64_MAX: all. Returns true if `writing` is one of them. */
bool iwarp_read_release(struct endpoint_qp *qp, uint64_t acknowledged,
			const struct endpoint_message *writing);

#endif
