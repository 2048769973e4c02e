/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iwarp_end: iWARP on a TCP connection of an endpoint adapter. A message is an RDMA Write, a Send,
 * a Read Request or a Read Response (iwarp_read.h). It is cut into FPDUs. A full FPDU fills a
 * segment. tcp_end.c gets the place of a message in the stream and the content of a segment from
 * this file. It also asks this file when messages may be written.
 *
 *     message --> FPDU | FPDU | ... --tcp_write()--> one segment each
 *
 * With `tcp: {handshake: true}` an MPA request and an MPA reply open the stream. Otherwise both
 * ends are in full operation when the run starts, like their TCP connection.
 *
 * RFC 5040 (RDMAP), 5041 (DDP), 5044 (MPA), 6581 (revision 2 of the startup frames). There is no
 * Terminate, because nothing can be refused: keys and lengths are right, READs keep to the depth,
 * and TCP repairs damage.
 */
#ifndef HCA_ENDPOINT_IWARP_END_H
#define HCA_ENDPOINT_IWARP_END_H

#include "fabric/wire/mpa.h"
#include "hca/endpoint/endpoint_state.h"
#include "hca/endpoint/iwarp_counters.h"
#include "sim/pool.h"

struct tcp_segment;

/* State of one end. */
struct iwarp_end {
	uint32_t fpdu_bytes; /* full FPDU: what a segment holds */
	uint32_t
		startup_bytes; /* at the start of each direction of the stream; 0 if already open */
	bool initiator;        /* sends the request; the other end sends the reply */
	bool markers;          /* its FPDUs have markers, because the peer asks for them */
	bool started;          /* its startup frame was written */
	uint32_t sends;        /* Sends written: the last MSN */
	uint64_t written;      /* bytes of the stream: the place of the next message */
	uint64_t handed;       /* bytes of the stream that were handed to TCP */
	struct iwarp_reads {
		uint32_t depth;    /* READs in progress at once: the lower ORD and IRD */
		uint32_t requests; /* Read Requests written: the last MSN of queue 1 */
		uint32_t received; /* Read Responses that arrived completely */
		uint64_t arrived;  /* payload of Read Responses received, each byte once */
		/* Read Responses in order: the first unacknowledged and the first unwritten one */
		struct endpoint_message *responses, *last, *unwritten;
	} reads;
};

/* State that all connections of an adapter share: the block NAME.iwarp. */
struct endpoint_iwarp {
	struct endpoint_iwarp_counters count;
	struct pool responses;     /* struct endpoint_message */
	struct delay_line reading; /* Read Responses whose data are being fetched */
	struct block block;
};

void iwarp_end_init_host(struct endpoint_hca *ep);
void iwarp_end_destroy_host(struct endpoint_hca *ep);

/* Turns a new TCP connection into a connection of iWARP. `segment_bytes` is the payload of a full
 * segment. */
void iwarp_end_init(struct endpoint_qp *qp, uint32_t segment_bytes, bool open);

/* Returns the place of an FPDU at an offset of the stream. */
struct mpa_place iwarp_end_place(const struct iwarp_end *end, uint64_t offset);

/* Returns the STag of the memory of a queue pair. */
uint32_t iwarp_end_stag(uint32_t number);

/* Returns the bytes that a message of `bytes` takes at the start of the stream. With markers the
 * number depends on the place of the message, which iwarp_end_written() knows. */
uint64_t iwarp_end_stream_bytes(const struct endpoint_qp *qp, enum endpoint_operation operation,
				uint64_t bytes);

/* Writes the rest of the message that is being written, or with markers its next FPDU. Lengths of
 * FPDUs with markers differ, and each FPDU ends a segment. Returns false if nothing is left. */
bool iwarp_end_write_rest(struct endpoint_qp *qp);

/* Returns the payload of a message in its first `bytes` of the stream. */
uint64_t iwarp_end_payload_before(const struct endpoint_qp *qp,
				  const struct endpoint_message *message, uint64_t bytes);

/* Returns true if messages may be written. Writes the startup frame when it is due. */
bool iwarp_end_may_write(struct endpoint_qp *qp);

/* Puts the content of a segment into its packet. `message` is NULL for a startup frame. */
void iwarp_end_fill(struct endpoint_qp *qp, const struct endpoint_message *message, uint64_t offset,
		    struct packet *packet);

/* Reports that a message was written. */
void iwarp_end_written(struct endpoint_qp *qp, struct endpoint_message *message);

/* Counts the bytes that a connection holds. */
void iwarp_end_count_held(struct endpoint_qp *qp, uint64_t bytes);

#endif
