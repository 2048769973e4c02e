/* SPDX-License-Identifier: Apache-2.0 */
/*
 * headers: the BTH and the extended transport headers as one table of fields. The table builds,
 * parses and prints the headers. IBTA vol. 1, 9.2 to 9.3; XRCETH annex A14; DCETH: opcode.h; CNP
 * annex A17.9.3.
 */
#ifndef FABRIC_WIRE_HEADERS_H
#define FABRIC_WIRE_HEADERS_H

#include "fabric/wire/opcode.h"
#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

/* clang-format off */
/* X(header, member of struct packet, first byte, bytes, lowest bit, bits (0: all), meaning) */
#define HEADER_FIELDS(X)                                                                       \
	X(BTH,            opcode,         0, 1, 0, 0, "kind of packet: opcode.h")              \
	X(BTH,            solicited,      1, 1, 7, 1, "SE: the receiver raises an event")      \
	X(BTH,            migration,      1, 1, 6, 1,                                          \
	  "MigReq: automatic path migration is in state migrated")                             \
	X(BTH,            pkey,           2, 2, 0, 0, "partition")                             \
	X(BTH,            becn,           4, 1, 6, 1, "the opposite direction met congestion") \
	X(BTH,            dest_qp,        5, 3, 0, 0, "destination QP")                        \
	X(BTH,            ack_request,    8, 1, 7, 1, "A: the sender requests an ACK")         \
	X(BTH,            psn,            9, 3, 0, 0, "packet sequence number")                \
	X(XRCETH,         xrc_srqn,       1, 3, 0, 0, "shared receive queue")                  \
	X(DETH,           qkey,           0, 4, 0, 0, "Q_Key")                                 \
	X(DETH,           source_qp,      5, 3, 0, 0, "QP of the sender")                      \
	X(DCETH,          source_qp,      1, 3, 0, 0, "initiator of the sender")               \
	X(DC_CONNECT_ETH, dc_key,         0, 8, 0, 0, "access key of the target")              \
	X(DC_CONNECT_ETH, dc_session,     8, 4, 0, 0,                                          \
	  "number of the session; the same in a repeated connect")                             \
	X(RETH,           remote_address, 0, 8, 0, 0, "virtual address at the responder")      \
	X(RETH,           rkey,           8, 4, 0, 0, "R_Key")                                 \
	X(RETH,           dma_length,    12, 4, 0, 0, "bytes of the whole message")            \
	X(ATOMIC_ETH,     remote_address, 0, 8, 0, 0, "virtual address at the responder")      \
	X(ATOMIC_ETH,     rkey,           8, 4, 0, 0, "R_Key")                                 \
	X(ATOMIC_ETH,     swap_or_add,   12, 8, 0, 0, "operand to add, or to store if equal")  \
	X(ATOMIC_ETH,     compare,       20, 8, 0, 0, "operand to compare with")               \
	X(AETH,           syndrome,       0, 1, 0, 0,                                          \
	  "ACK with credits, RNR NAK with timer, NAK with code")                               \
	X(AETH,           msn,            1, 3, 0, 0, "message sequence number")               \
	X(ATOMIC_ACK_ETH, compare,        0, 8, 0, 0, "original value")                        \
	X(IMM,            immediate,      0, 4, 0, 0, "immediate data")                        \
	X(IETH,           immediate,      0, 4, 0, 0, "R_Key to invalidate")                   \
	X(CNP_RESERVED,   word0,          0, 4, 0, 0, "field of a congestion control, or 0")   \
	X(CNP_RESERVED,   word1,          4, 4, 0, 0, "field of a congestion control, or 0")   \
	X(CNP_RESERVED,   word2,          8, 4, 0, 0, "field of a congestion control, or 0")   \
	X(CNP_RESERVED,   word3,         12, 4, 0, 0, "field of a congestion control, or 0")
/* clang-format on */

struct header_field {
	const char *header_name;
	const char *name;
	const char *meaning;
	uint8_t header; /* enum header */
	uint8_t first_byte, bytes;
	uint8_t lowest_bit, bits;
	uint8_t member_bytes; /* size of the member of struct packet */
	uint16_t member;
};

extern const struct header_field header_fields[];
extern const size_t header_field_count;

uint64_t header_field_value(const struct header_field *field, const struct packet *packet);

/* Writes all headers of the packet's opcode, with the pad count. Returns their length. */
size_t headers_build(const struct packet *packet, uint8_t *bytes);

/* Parses the headers. `length` is the length from the BTH to the end of the pad. On PARSE_OK,
 * packet->payload_bytes bytes follow the first *header_bytes. */
enum parse_status headers_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				size_t *header_bytes);

/* Returns true if the FECN bit of the BTH carries the congestion mark: InfiniBand and RoCEv1.
 * RoCEv2 uses the IP header. */
bool headers_fecn_carries_ecn(const struct path *path);

#endif
