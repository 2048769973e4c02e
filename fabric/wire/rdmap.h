/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdmap: the operations of iWARP: headers of their DDP segments, and the payload of Read Request
 * and Terminate. RFC 5040 4.
 */
#ifndef FABRIC_WIRE_RDMAP_H
#define FABRIC_WIRE_RDMAP_H

#include "fabric/wire/ddp.h"

/* clang-format off */
/* X(name, number, tagged, queue of untagged segments, meaning) */
#define RDMAP_OPCODES(X)                                                                           \
	X(WRITE,              0, true,  0, "RDMA Write")                                           \
	X(READ_REQUEST,       1, false, 1, "RDMA Read Request")                                    \
	X(READ_RESPONSE,      2, true,  0, "RDMA Read Response")                                   \
	X(SEND,               3, false, 0, "Send")                                                 \
	X(SEND_INVALIDATE,    4, false, 0, "Send with Invalidate")                                 \
	X(SEND_SE,            5, false, 0, "Send with Solicited Event")                            \
	X(SEND_SE_INVALIDATE, 6, false, 0, "Send with Solicited Event and Invalidate")             \
	X(TERMINATE,          7, false, 2, "Terminate")

#define RDMAP_OPCODE_ENUM(name, number, tagged, queue, meaning) RDMAP_##name = number,
enum rdmap_opcode { RDMAP_OPCODES(RDMAP_OPCODE_ENUM) RDMAP_OPCODE_COUNT };
/* clang-format on */

#define RDMAP_READ_REQUEST_BYTES  28 /* payload */
#define RDMAP_TERMINATE_BYTES_MAX (6 + DDP_HEADER_MAX + RDMAP_READ_REQUEST_BYTES)

const char *rdmap_opcode_meaning(enum rdmap_opcode opcode);
bool rdmap_is_tagged(enum rdmap_opcode opcode);

/* Header of a segment. */
struct rdmap_header {
	enum rdmap_opcode opcode;
	bool last;
	union {
		struct { /* tagged */
			uint32_t stag;
			uint64_t tagged_offset;
		};
		struct { /* untagged */
			uint32_t msn;
			uint32_t message_offset;
			uint32_t invalidate; /* STag of the Sends with Invalidate */
		};
	};
};

uint32_t rdmap_header_bytes(enum rdmap_opcode opcode);

/* Writes rdmap_header_bytes() bytes. */
void rdmap_header_build(const struct rdmap_header *header, uint8_t *bytes);

/* Parses the header at the start of a segment. The payload follows after rdmap_header_bytes(). */
enum parse_status rdmap_header_parse(const uint8_t *bytes, size_t length,
				     struct rdmap_header *header);

/* Payload of a Read Request. The sink is the memory of the requester. */
struct rdmap_read_request {
	uint32_t sink_stag;
	uint64_t sink_offset;
	uint32_t bytes;
	uint32_t source_stag;
	uint64_t source_offset;
};

void rdmap_read_request_build(const struct rdmap_read_request *request, uint8_t *bytes);
enum parse_status rdmap_read_request_parse(const uint8_t *bytes, size_t length,
					   struct rdmap_read_request *request);

enum rdmap_layer { RDMAP_LAYER_RDMAP, RDMAP_LAYER_DDP, RDMAP_LAYER_LLP };

/* Payload of a Terminate. RFC 5040 4.8. */
struct rdmap_terminate {
	uint8_t layer; /* enum rdmap_layer, which found the error */
	uint8_t type;
	uint8_t code;
	bool has_length, has_ddp, has_rdmap; /* M, D and R: parts of the segment in error */
	uint16_t segment_bytes;              /* M */
	struct ddp_header ddp;               /* D */
	struct rdmap_read_request request;   /* R, with D: a Read Request */
};

uint32_t rdmap_terminate_bytes(const struct rdmap_terminate *terminate);

/* Writes rdmap_terminate_bytes() bytes. */
void rdmap_terminate_build(const struct rdmap_terminate *terminate, uint8_t *bytes);
enum parse_status rdmap_terminate_parse(const uint8_t *bytes, size_t length,
					struct rdmap_terminate *terminate);

#endif
