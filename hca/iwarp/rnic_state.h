/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rnic_state: the declarations that the files of this folder share.
 *
 *     rnic.c        creation, objects, doorbells
 *     table.c       connections by their ends
 *     connection.c  TCP and MPA: segments, startup frames, FPDUs in the stream
 *     send.c        send queue, FPDUs of messages, read responses
 *     receive.c     DDP and RDMAP of received FPDUs, receive queue
 *     complete.c    CQEs, end of a queue pair
 */
#ifndef HCA_IWARP_RNIC_STATE_H
#define HCA_IWARP_RNIC_STATE_H

#include <assert.h>
#include <rdma/siw-abi.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/wire/rdmap.h"
#include "hca/congestion/congestion.h"
#include "hca/iwarp/rnic.h"
#include "hca/port/offload.h"
#include "hca/work/dma.h"
#include "hca/work/event_queue.h"
#include "tcp/byte_ring.h"
#include "tcp/tcp.h"

#define IWARP_SEGMENTS SIW_MAX_SGE
#define RNIC_BUCKETS   4096

struct rnic_ring {
	struct memory *memory;
	uint64_t address; /* 0: not mapped yet */
	uint32_t entries;
	uint64_t next; /* entry that the adapter reads or writes next, not wrapped */
};

struct rnic_cq {
	struct rnic *rnic;
	uint32_t number;
	struct rnic_ring ring;
	struct moderation moderation;
	uint32_t busy; /* CQEs on their way */
	bool destroyed;
};

struct rnic_srq {
	uint32_t number, pd;
	struct rnic_ring ring;
};

/* A work request that was read from the send queue and is not complete. */
struct rnic_wqe {
	struct rnic_wqe *next;
	struct siw_sqe sqe;
	struct data_segment segments[IWARP_SEGMENTS];
	uint32_t segment_count;
	uint32_t length;
	bool written;        /* all of its FPDUs are in the stream */
	uint64_t stream_end; /* after the last */
	uint32_t received;   /* READ: bytes of responses */
	bool done;
};

/* A message whose FPDUs are being made: a work request, or a response to a READ. */
struct rnic_message {
	enum rdmap_opcode opcode;
	struct rnic_wqe *wqe; /* NULL: a response */
	const struct data_segment *segments;
	uint32_t segment_count;
	const uint8_t *bytes; /* the data; NULL: the data is in the segments */
	uint32_t access;      /* that the segments' keys must grant */
	uint32_t length, made;
	uint32_t stag, msn, invalidate;
	uint64_t offset;
	struct data_segment source; /* of a response */
	uint8_t request[RDMAP_READ_REQUEST_BYTES];
};

/* An FPDU whose data is being read. */
struct rnic_outgoing {
	struct rnic_outgoing *next;
	struct rnic_qp *qp;
	struct rnic_wqe *wqe;
	struct data_segment segments[IWARP_SEGMENTS];
	struct dma dma;
	bool ready, last;
	uint32_t ulpdu_bytes;
	uint8_t ulpdu[];
};

/* Data of an FPDU that is being written. */
struct rnic_incoming {
	struct rnic_incoming *next;
	struct rnic_qp *qp;
	struct data_segment segments[IWARP_SEGMENTS];
	struct dma dma;
	bool posted, done, drained;
	enum rdmap_opcode opcode;
	bool completes, solicited;
	struct siw_cqe cqe;   /* of a Send */
	struct rnic_wqe *wqe; /* of a READ */
	uint8_t bytes[];
};

struct rnic_response { /* a READ of the peer without a response so far */
	struct rnic_response *next;
	struct rdmap_read_request request;
};

struct rnic_qp {
	struct rnic *rnic;
	uint32_t number;
	enum qp_state state;
	struct rnic_qp_attr attr;
	struct rnic_connection *connection;
	struct rnic_ring sq, rq;
	bool destroyed;
	uint32_t busy; /* transfers that refer to it */
	/* sending */
	bool reading, rung;
	struct pcie_read sq_read;
	struct siw_sqe sqe;
	struct rnic_wqe *wqes, *last_wqe, *unsent;
	uint32_t wqe_count;
	struct rnic_message message;
	bool sending, responded; /* `responded`: the last message was a response */
	struct rnic_outgoing *outgoing, *last_outgoing;
	uint64_t outgoing_bytes;
	uint32_t send_msn, read_msn, reads;
	struct rnic_response *responses, *last_response;
	/* receiving */
	bool receive_reading, receive_ready;
	struct pcie_read rq_read;
	struct siw_rqe rqe;
	struct data_segment receive[IWARP_SEGMENTS];
	uint32_t receive_count, receive_length, received;
	uint32_t receive_msn, request_msn, response_count;
	struct rnic_incoming *incoming, *last_incoming;
	uint32_t incoming_count;
};

enum rnic_phase {
	RNIC_OPENING,   /* TCP handshake, or before the request has arrived */
	RNIC_ASKED,     /* the request was sent, or has arrived */
	RNIC_OPERATION, /* FPDUs */
	RNIC_CLOSED,
};

struct rnic_connection {
	struct rnic *rnic;
	struct rnic_connection *next, *last; /* of all connections */
	struct rnic_connection *bucket_next; /* of those with the same hash */
	struct rnic_connection *waits_next;  /* for room */
	struct tcp_connection *tcp;
	const struct path *path;
	uint32_t number;
	void *context;
	/* Forgotten by the connection manager. Reported to the connection manager. */
	bool forgotten, reported;
	bool initiator, peer_sent, closing, shut, waits;
	enum rnic_phase phase;
	struct rnic_qp *qp;
	uint32_t ird, ord; /* READs that the peer, and this side, may have in progress */
	uint8_t request[MPA_STARTUP_BYTES + MPA_PRIVATE_DATA_MAX];
	uint32_t request_bytes;
	unsigned events; /* enum tcp_event bits that were not handled */
	bool handling;
	struct event timer;
	sim_time timer_at;
	struct byte_ring unacked, unread;
	uint64_t held_bytes; /* by both, at the last count */
	uint32_t fpdu_bytes; /* full FPDU: the payload of a full segment */
};

struct rnic {
	struct block block;
	struct rnic_counters count;
	const struct rnic_params *params;
	struct rnic_blocks blocks;
	struct rnic_user *user;
	struct offload offload;
	struct tcp_params tcp;
	struct congestion congestion;
	struct rnic_cq **cqs;
	struct rnic_srq **srqs;
	struct rnic_qp **qps;
	uint32_t cq_count, srq_count, qp_count; /* numbers given */
	struct rnic_connection *connections;
	struct rnic_connection *buckets[RNIC_BUCKETS];  /* by peer and ports */
	struct rnic_connection *waiting, *last_waiting; /* for room in the transmit pipeline */
	uint32_t connection_count;
	uint64_t inflight;
	uint64_t state_bytes, held_bytes;   /* now */
	uint8_t scratch[2 * MPA_ULPDU_MAX]; /* received bytes */
	uint8_t leaving[MPA_ULPDU_MAX];     /* payload of a segment */
};

static inline sim_time rnic_state_now(const struct rnic *rnic)
{
	return sim_now(rnic->block.sim);
}

/* Returns zeroed memory. */
static inline void *rnic_state_take(size_t bytes)
{
	void *memory = calloc(1, bytes);

	if (!memory)
		abort();
	return memory;
}

/* rnic.c */
struct rnic_cq *iwarp_cq(const struct rnic *rnic, uint32_t number);   /* NULL: destroyed */
struct rnic_srq *iwarp_srq(const struct rnic *rnic, uint32_t number); /* NULL: destroyed */
struct rnic_qp *iwarp_qp(const struct rnic *rnic, uint32_t number);   /* NULL: destroyed */
void iwarp_qp_release(struct rnic_qp *qp);                            /* a transfer is over */
/* Counts memory of the adapter. `bytes` may be negative. */
void iwarp_count_state(struct rnic *rnic, int64_t bytes);
void iwarp_count_held(struct rnic *rnic, int64_t bytes);

/* table.c */
void iwarp_table_add(struct rnic_connection *connection);
void iwarp_table_remove(struct rnic_connection *connection);
/* Returns the connection of a segment that came by the path, or NULL. */
struct rnic_connection *iwarp_table_find(struct rnic *rnic, const struct path *path);

/* connection.c */
void iwarp_connection_init(struct rnic *rnic);
void iwarp_connection_fini(struct rnic *rnic);
/* Appends a ULPDU as an FPDU to the stream. Returns the end of the stream. */
uint64_t iwarp_append(struct rnic_connection *connection, const uint8_t *ulpdu, uint32_t bytes);
bool iwarp_may_send(const struct rnic_connection *connection);
/* Returns true if the send buffer has room for that many bytes in addition to `taken`. */
bool iwarp_has_room(const struct rnic_connection *connection, uint64_t taken, uint32_t bytes);
/* Continues with FPDUs that wait for the queue pair. */
void iwarp_continue(struct rnic_connection *connection);
/* Sends the rest of the stream and a FIN. */
void iwarp_shut(struct rnic_connection *connection);

/* send.c */
void iwarp_send_fetch(struct rnic_qp *qp);
void iwarp_send_pump(struct rnic_qp *qp);
void iwarp_send_acknowledged(struct rnic_qp *qp);
void iwarp_send_drop(struct rnic_qp *qp); /* drops FPDUs and responses that were not sent */
bool iwarp_send_idle(const struct rnic_qp *qp);

/* receive.c */
/* Returns false if the FPDU must wait. */
bool iwarp_receive(struct rnic_qp *qp, const uint8_t *ulpdu, uint32_t bytes);
void iwarp_receive_fail(struct rnic_qp *qp, enum rdmap_layer layer, unsigned type, unsigned code);

/* complete.c */
void iwarp_complete(struct rnic_qp *qp, uint32_t cqn, const struct siw_cqe *cqe, bool solicited);
void iwarp_complete_sends(struct rnic_qp *qp);                /* in order */
void iwarp_complete_end(struct rnic_qp *qp, unsigned status); /* to ERR: the first, and a flush */

#endif
