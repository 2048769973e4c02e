/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp_end: one end of a TCP connection on an endpoint adapter. It replaces the RDMA transport of a
 * queue pair. Messages become the bytes of a stream, and each message ends a segment, as with
 * MSG_EOR.
 *
 *     endpoint_post() --> messages --tcp_write()--> connection (tcp/) --segment--> packet --> port
 *     port --> packet --tcp_input()--> connection --> bytes in order --> delivered(), done()
 *
 * Segments with payload wait in the connection until the port accepts one. Segments without payload
 * wait here. RTO, delayed ACK and pace share one event per connection.
 */
#ifndef HCA_ENDPOINT_TCP_END_H
#define HCA_ENDPOINT_TCP_END_H

#include "hca/endpoint/endpoint_state.h"
#include "hca/endpoint/tcp_params.h"
#include "tcp/tcp.h"

/* The last byte of a message that arrived before all earlier bytes. */
struct tcp_end_mark {
	uint64_t end; /* offset in the stream */
	uint32_t tag;
	/* iWARP: bytes that a Read Request asks for, or READ_RESPONSE at the end of a Read
	 * Response. 0: a message with data */
	uint32_t read;
};
#define READ_RESPONSE UINT32_MAX

#define TCP_END_IP_BYTES 20u /* IPv4 header */

struct tcp_end {
	struct endpoint_qp *qp;
	struct tcp_connection *connection;
	struct endpoint_tcp *host;
	struct iwarp_end *iwarp;     /* NULL without iWARP */
	struct tcp_opening *opening; /* only while both ends are opened without packets */
	struct event timer;
	sim_time timer_at; /* SIM_NEVER if no timer is set */
	/* sender */
	/* segments without payload that wait for space at the port */
	struct packet *waiting, *waiting_last;
	/* first message not written to the connection, or NULL */
	struct endpoint_message *unwritten;
	/* last message written to the connection; NULL if it is complete */
	struct endpoint_message *writing;
	bool wants;   /* has a segment to send when there is space */
	bool granted; /* may send one segment now */
	/* receiver */
	const struct packet *input; /* packet that is being processed */
	struct tcp_end_mark *marks; /* ordered by offset */
	uint32_t mark_count, mark_capacity;
	uint64_t received; /* number of bytes received in order */
	/* payload received, in order or not, each byte once; without Read Responses */
	uint64_t arrived;
	uint64_t held_bytes;
};

/* State that all connections of an adapter share: the block NAME.tcp. */
struct endpoint_tcp {
	struct endpoint_tcp_counters count; /* first member, as struct tcp_counts */
	const struct endpoint_tcp_params *params;
	struct endpoint_tcp_params of_iwarp; /* params, without Nagle's algorithm */
	uint64_t held_bytes;                 /* of all connections, now */
	struct block block;
};

void tcp_end_init_host(struct endpoint_hca *ep, const struct endpoint_tcp_params *params);
struct endpoint_qp *tcp_end_create_pair(struct endpoint_hca *ep, struct endpoint_hca *other,
					unsigned service_level);
void tcp_end_destroy(struct endpoint_qp *qp);
void tcp_end_destroy_host(struct endpoint_hca *ep);

/* Returns the bytes that a message takes in the stream. */
uint64_t tcp_end_stream_bytes(const struct endpoint_qp *qp, enum endpoint_operation operation,
			      uint64_t bytes);

/* Returns true if the connection can carry the READ. */
bool tcp_end_may_read(const struct endpoint_qp *qp, const struct endpoint_message *message);

/* Returns the payload of Read Responses received, each byte once. */
uint64_t tcp_end_read_bytes(const struct endpoint_qp *qp);

/* Writes what may be written now. */
void tcp_end_continue(struct endpoint_qp *qp);

/* Reports that a message was added to the queue pair. */
void tcp_end_posted(struct endpoint_qp *qp);

/* Sends one segment, if there is one. */
void tcp_end_grant(struct endpoint_qp *qp);

/* Returns the rate of one window per round trip, at most `line`. */
uint64_t tcp_end_rate_bps(const struct endpoint_qp *qp, uint64_t line);

/* Fills in a full segment. */
void tcp_end_segment(const struct endpoint_qp *qp, struct packet *segment);

/* Processes a packet. */
void tcp_end_input(struct endpoint_qp *qp, struct packet *packet);

#endif
