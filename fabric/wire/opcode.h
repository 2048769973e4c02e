/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opcode: the meaning of each BTH opcode, one line per opcode. All other properties of an opcode
 * (lengths, offsets, order, use of a receive WQE) are derived from its line.
 *
 * InfiniBand Architecture vol. 1, 9.2.1 (BTH OpCode) and 9.2 (order of the extended headers); annex
 * A14 (XRC), annex A17.9 (CNP). The opcodes of RD are not supported.
 *
 * DC is a transport of the manufacturer, and its packets are not published. The following is
 * assumed. The opcodes of DC start at 0xc0, the first of the two transports that 9.2.1 leaves to
 * manufacturers. They have the operations of RC in the order of RC. Each request carries the number
 * of the initiator (DCETH), because a target identifies initiators by address and number. A connect
 * packet adds the access key and a session number. docs/reference/wire.md lists the known facts.
 */
#ifndef FABRIC_WIRE_OPCODE_H
#define FABRIC_WIRE_OPCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
/* In the order in a packet: X(with, name, bytes). `with` is passed through. Fields: headers.h. */
#define HEADERS(X, with)                                                                      \
	X(with, BTH, 12) X(with, XRCETH, 4) X(with, DETH, 8) X(with, DCETH, 4)                \
	X(with, DC_CONNECT_ETH, 12)                                                           \
	X(with, RETH, 16) X(with, ATOMIC_ETH, 28) X(with, AETH, 4) X(with, ATOMIC_ACK_ETH, 8) \
	X(with, IMM, 4) X(with, IETH, 4) X(with, CNP_RESERVED, 16)

#define TRANSPORTS(X) X(RC) X(UC) X(UD) X(CNP) X(XRC) X(DC)

/* Requests first: see opcode_is_request(). */
#define OPERATIONS(X)                                                                  \
	X(SEND) X(WRITE) X(READ) X(COMPARE_SWAP) X(FETCH_ADD) X(CONNECT) X(DISCONNECT) \
	X(READ_RESPONSE) X(ACK) X(ATOMIC_ACK) X(NOTIFY)

#define SEGMENTS(X) X(FIRST) X(MIDDLE) X(LAST) X(ONLY)

/* X(code, name, transport, operation, segment, headers after the BTH, payload) */
#define OPCODES(X)                                                                                 \
	X(0x00, RC_SEND_FIRST,       RC,  SEND,          FIRST,  0,                       PAYLOAD) \
	X(0x01, RC_SEND_MIDDLE,      RC,  SEND,          MIDDLE, 0,                       PAYLOAD) \
	X(0x02, RC_SEND_LAST,        RC,  SEND,          LAST,   0,                       PAYLOAD) \
	X(0x03, RC_SEND_LAST_IMM,    RC,  SEND,          LAST,   H(IMM),                  PAYLOAD) \
	X(0x04, RC_SEND_ONLY,        RC,  SEND,          ONLY,   0,                       PAYLOAD) \
	X(0x05, RC_SEND_ONLY_IMM,    RC,  SEND,          ONLY,   H(IMM),                  PAYLOAD) \
	X(0x06, RC_WRITE_FIRST,      RC,  WRITE,         FIRST,  H(RETH),                 PAYLOAD) \
	X(0x07, RC_WRITE_MIDDLE,     RC,  WRITE,         MIDDLE, 0,                       PAYLOAD) \
	X(0x08, RC_WRITE_LAST,       RC,  WRITE,         LAST,   0,                       PAYLOAD) \
	X(0x09, RC_WRITE_LAST_IMM,   RC,  WRITE,         LAST,   H(IMM),                  PAYLOAD) \
	X(0x0a, RC_WRITE_ONLY,       RC,  WRITE,         ONLY,   H(RETH),                 PAYLOAD) \
	X(0x0b, RC_WRITE_ONLY_IMM,   RC,  WRITE,         ONLY,   H(RETH) | H(IMM),        PAYLOAD) \
	X(0x0c, RC_READ_REQUEST,     RC,  READ,          ONLY,   H(RETH),                 NONE)    \
	X(0x0d, RC_READ_RESP_FIRST,  RC,  READ_RESPONSE, FIRST,  H(AETH),                 PAYLOAD) \
	X(0x0e, RC_READ_RESP_MIDDLE, RC,  READ_RESPONSE, MIDDLE, 0,                       PAYLOAD) \
	X(0x0f, RC_READ_RESP_LAST,   RC,  READ_RESPONSE, LAST,   H(AETH),                 PAYLOAD) \
	X(0x10, RC_READ_RESP_ONLY,   RC,  READ_RESPONSE, ONLY,   H(AETH),                 PAYLOAD) \
	X(0x11, RC_ACK,              RC,  ACK,           ONLY,   H(AETH),                 NONE)    \
	X(0x12, RC_ATOMIC_ACK,       RC,  ATOMIC_ACK,    ONLY,   H(AETH) | H(ATOMIC_ACK_ETH),      \
	  NONE)                                                                                    \
	X(0x13, RC_COMPARE_SWAP,     RC,  COMPARE_SWAP,  ONLY,   H(ATOMIC_ETH),           NONE)    \
	X(0x14, RC_FETCH_ADD,        RC,  FETCH_ADD,     ONLY,   H(ATOMIC_ETH),           NONE)    \
	X(0x16, RC_SEND_LAST_INV,    RC,  SEND,          LAST,   H(IETH),                 PAYLOAD) \
	X(0x17, RC_SEND_ONLY_INV,    RC,  SEND,          ONLY,   H(IETH),                 PAYLOAD) \
	X(0x20, UC_SEND_FIRST,       UC,  SEND,          FIRST,  0,                       PAYLOAD) \
	X(0x21, UC_SEND_MIDDLE,      UC,  SEND,          MIDDLE, 0,                       PAYLOAD) \
	X(0x22, UC_SEND_LAST,        UC,  SEND,          LAST,   0,                       PAYLOAD) \
	X(0x23, UC_SEND_LAST_IMM,    UC,  SEND,          LAST,   H(IMM),                  PAYLOAD) \
	X(0x24, UC_SEND_ONLY,        UC,  SEND,          ONLY,   0,                       PAYLOAD) \
	X(0x25, UC_SEND_ONLY_IMM,    UC,  SEND,          ONLY,   H(IMM),                  PAYLOAD) \
	X(0x26, UC_WRITE_FIRST,      UC,  WRITE,         FIRST,  H(RETH),                 PAYLOAD) \
	X(0x27, UC_WRITE_MIDDLE,     UC,  WRITE,         MIDDLE, 0,                       PAYLOAD) \
	X(0x28, UC_WRITE_LAST,       UC,  WRITE,         LAST,   0,                       PAYLOAD) \
	X(0x29, UC_WRITE_LAST_IMM,   UC,  WRITE,         LAST,   H(IMM),                  PAYLOAD) \
	X(0x2a, UC_WRITE_ONLY,       UC,  WRITE,         ONLY,   H(RETH),                 PAYLOAD) \
	X(0x2b, UC_WRITE_ONLY_IMM,   UC,  WRITE,         ONLY,   H(RETH) | H(IMM),        PAYLOAD) \
	X(0x64, UD_SEND_ONLY,        UD,  SEND,          ONLY,   H(DETH),                 PAYLOAD) \
	X(0x65, UD_SEND_ONLY_IMM,    UD,  SEND,          ONLY,   H(DETH) | H(IMM),        PAYLOAD) \
	X(0x81, CNP_NOTIFY,          CNP, NOTIFY,        ONLY,   H(CNP_RESERVED),         NONE)    \
	X(0xa0, XRC_SEND_FIRST,      XRC, SEND,          FIRST,  H(XRCETH),               PAYLOAD) \
	X(0xa1, XRC_SEND_MIDDLE,     XRC, SEND,          MIDDLE, H(XRCETH),               PAYLOAD) \
	X(0xa2, XRC_SEND_LAST,       XRC, SEND,          LAST,   H(XRCETH),               PAYLOAD) \
	X(0xa3, XRC_SEND_LAST_IMM,   XRC, SEND,          LAST,   H(XRCETH) | H(IMM),      PAYLOAD) \
	X(0xa4, XRC_SEND_ONLY,       XRC, SEND,          ONLY,   H(XRCETH),               PAYLOAD) \
	X(0xa5, XRC_SEND_ONLY_IMM,   XRC, SEND,          ONLY,   H(XRCETH) | H(IMM),      PAYLOAD) \
	X(0xa6, XRC_WRITE_FIRST,     XRC, WRITE,         FIRST,  H(XRCETH) | H(RETH),     PAYLOAD) \
	X(0xa7, XRC_WRITE_MIDDLE,    XRC, WRITE,         MIDDLE, H(XRCETH),               PAYLOAD) \
	X(0xa8, XRC_WRITE_LAST,      XRC, WRITE,         LAST,   H(XRCETH),               PAYLOAD) \
	X(0xa9, XRC_WRITE_LAST_IMM,  XRC, WRITE,         LAST,   H(XRCETH) | H(IMM),      PAYLOAD) \
	X(0xaa, XRC_WRITE_ONLY,      XRC, WRITE,         ONLY,   H(XRCETH) | H(RETH),     PAYLOAD) \
	X(0xab, XRC_WRITE_ONLY_IMM,  XRC, WRITE,         ONLY,   H(XRCETH) | H(RETH) | H(IMM),     \
	  PAYLOAD)                                                                                 \
	X(0xac, XRC_READ_REQUEST,    XRC, READ,          ONLY,   H(XRCETH) | H(RETH),     NONE)    \
	X(0xad, XRC_READ_RESP_FIRST, XRC, READ_RESPONSE, FIRST,  H(AETH),                 PAYLOAD) \
	X(0xae, XRC_READ_RESP_MIDDLE,XRC, READ_RESPONSE, MIDDLE, 0,                       PAYLOAD) \
	X(0xaf, XRC_READ_RESP_LAST,  XRC, READ_RESPONSE, LAST,   H(AETH),                 PAYLOAD) \
	X(0xb0, XRC_READ_RESP_ONLY,  XRC, READ_RESPONSE, ONLY,   H(AETH),                 PAYLOAD) \
	X(0xb1, XRC_ACK,             XRC, ACK,           ONLY,   H(AETH),                 NONE)    \
	X(0xb2, XRC_ATOMIC_ACK,      XRC, ATOMIC_ACK,    ONLY,   H(AETH) | H(ATOMIC_ACK_ETH),      \
	  NONE)                                                                                    \
	X(0xb3, XRC_COMPARE_SWAP,    XRC, COMPARE_SWAP,  ONLY,   H(XRCETH) | H(ATOMIC_ETH), NONE)  \
	X(0xb4, XRC_FETCH_ADD,       XRC, FETCH_ADD,     ONLY,   H(XRCETH) | H(ATOMIC_ETH), NONE)  \
	X(0xb6, XRC_SEND_LAST_INV,   XRC, SEND,          LAST,   H(XRCETH) | H(IETH),     PAYLOAD) \
	X(0xb7, XRC_SEND_ONLY_INV,   XRC, SEND,          ONLY,   H(XRCETH) | H(IETH),     PAYLOAD) \
	X(0xc0, DC_SEND_FIRST,       DC,  SEND,          FIRST,  H(DCETH),                PAYLOAD) \
	X(0xc1, DC_SEND_MIDDLE,      DC,  SEND,          MIDDLE, H(DCETH),                PAYLOAD) \
	X(0xc2, DC_SEND_LAST,        DC,  SEND,          LAST,   H(DCETH),                PAYLOAD) \
	X(0xc3, DC_SEND_LAST_IMM,    DC,  SEND,          LAST,   H(DCETH) | H(IMM),       PAYLOAD) \
	X(0xc4, DC_SEND_ONLY,        DC,  SEND,          ONLY,   H(DCETH),                PAYLOAD) \
	X(0xc5, DC_SEND_ONLY_IMM,    DC,  SEND,          ONLY,   H(DCETH) | H(IMM),       PAYLOAD) \
	X(0xc6, DC_WRITE_FIRST,      DC,  WRITE,         FIRST,  H(DCETH) | H(RETH),      PAYLOAD) \
	X(0xc7, DC_WRITE_MIDDLE,     DC,  WRITE,         MIDDLE, H(DCETH),                PAYLOAD) \
	X(0xc8, DC_WRITE_LAST,       DC,  WRITE,         LAST,   H(DCETH),                PAYLOAD) \
	X(0xc9, DC_WRITE_LAST_IMM,   DC,  WRITE,         LAST,   H(DCETH) | H(IMM),       PAYLOAD) \
	X(0xca, DC_WRITE_ONLY,       DC,  WRITE,         ONLY,   H(DCETH) | H(RETH),      PAYLOAD) \
	X(0xcb, DC_WRITE_ONLY_IMM,   DC,  WRITE,         ONLY,   H(DCETH) | H(RETH) | H(IMM),      \
	  PAYLOAD)                                                                                 \
	X(0xcc, DC_READ_REQUEST,     DC,  READ,          ONLY,   H(DCETH) | H(RETH),      NONE)    \
	X(0xcd, DC_READ_RESP_FIRST,  DC,  READ_RESPONSE, FIRST,  H(AETH),                 PAYLOAD) \
	X(0xce, DC_READ_RESP_MIDDLE, DC,  READ_RESPONSE, MIDDLE, 0,                       PAYLOAD) \
	X(0xcf, DC_READ_RESP_LAST,   DC,  READ_RESPONSE, LAST,   H(AETH),                 PAYLOAD) \
	X(0xd0, DC_READ_RESP_ONLY,   DC,  READ_RESPONSE, ONLY,   H(AETH),                 PAYLOAD) \
	X(0xd1, DC_ACK,              DC,  ACK,           ONLY,   H(AETH),                 NONE)    \
	X(0xd2, DC_ATOMIC_ACK,       DC,  ATOMIC_ACK,    ONLY,   H(AETH) | H(ATOMIC_ACK_ETH),      \
	  NONE)                                                                                    \
	X(0xd3, DC_COMPARE_SWAP,     DC,  COMPARE_SWAP,  ONLY,   H(DCETH) | H(ATOMIC_ETH), NONE)   \
	X(0xd4, DC_FETCH_ADD,        DC,  FETCH_ADD,     ONLY,   H(DCETH) | H(ATOMIC_ETH), NONE)   \
	X(0xd6, DC_SEND_LAST_INV,    DC,  SEND,          LAST,   H(DCETH) | H(IETH),      PAYLOAD) \
	X(0xd7, DC_SEND_ONLY_INV,    DC,  SEND,          ONLY,   H(DCETH) | H(IETH),      PAYLOAD) \
	X(0xd8, DC_CONNECT,          DC,  CONNECT,       ONLY,   H(DCETH) | H(DC_CONNECT_ETH),     \
	  NONE)                                                                                    \
	X(0xd9, DC_DISCONNECT,       DC,  DISCONNECT,    ONLY,   H(DCETH),                NONE)
#define HEADER_ENUM(with, name, bytes) HDR_##name,
#define TRANSPORT_ENUM(name)           TRANSPORT_##name,
#define OPERATION_ENUM(name)           OP_##name,
#define SEGMENT_ENUM(name)             SEG_##name,
#define OPCODE_ENUM(code, name, transport, operation, segment, headers, payload) name = code,

enum header { HEADERS(HEADER_ENUM, ) HDR_COUNT };
enum transport { TRANSPORTS(TRANSPORT_ENUM) TRANSPORT_COUNT };
enum operation { OPERATIONS(OPERATION_ENUM) OP_COUNT };
enum segment { SEGMENTS(SEGMENT_ENUM) SEG_COUNT };
enum opcode { OPCODES(OPCODE_ENUM) };
/* clang-format on */

/* Header at the end of a message, in addition to its data. */
enum suffix { SUFFIX_NONE, SUFFIX_IMM, SUFFIX_INV, SUFFIX_COUNT };

struct opcode_info {
	const char *name;  /* "RC_SEND_ONLY", or NULL if there is no such opcode */
	uint8_t transport; /* enum transport */
	uint8_t operation; /* enum operation */
	uint8_t segment;   /* enum segment */
	bool has_payload;
	uint16_t headers; /* one bit per enum header, including the BTH */
	uint16_t bytes;   /* length of all headers */
};

extern const struct opcode_info opcode_info[256];
extern const uint8_t header_bytes[HDR_COUNT];

/* Returns the opcode of one packet of a message, or -1 if there is none. */
int opcode_find(enum transport transport, enum operation operation, enum segment segment,
		enum suffix suffix);

/* Returns the offset of a header from the start of the BTH, or of the payload for HDR_COUNT. The
 * opcode must have the header. */
unsigned opcode_header_offset(uint8_t opcode, enum header header);

/* Returns true if this packet of its message takes the receive WQE. */
bool opcode_takes_receive_wqe(uint8_t opcode);

/* Returns true if this request (or READ response) may follow `previous` on one QP. `previous` is -1
 * at first, and after the end of a message. IBTA vol. 1, 9.7.4.1.2 (OpCode sequence), table 41. */
bool opcode_may_follow(uint8_t opcode, int previous);

static inline bool opcode_known(uint8_t opcode)
{
	return opcode_info[opcode].name != NULL;
}

static inline const char *opcode_name(uint8_t opcode)
{
	return opcode_known(opcode) ? opcode_info[opcode].name : "UNKNOWN";
}

static inline bool opcode_has(uint8_t opcode, enum header header)
{
	return opcode_info[opcode].headers >> header & 1;
}

static inline bool opcode_has_payload(uint8_t opcode)
{
	return opcode_info[opcode].has_payload;
}

static inline bool opcode_is_request(uint8_t opcode)
{
	return opcode_known(opcode) && opcode_info[opcode].operation < OP_READ_RESPONSE;
}

static inline bool opcode_is_response(uint8_t opcode)
{
	return opcode_known(opcode) && opcode_info[opcode].operation >= OP_READ_RESPONSE &&
	       opcode_info[opcode].operation <= OP_ATOMIC_ACK;
}

static inline bool opcode_is_atomic(uint8_t opcode)
{
	return opcode_has(opcode, HDR_ATOMIC_ETH);
}

static inline bool opcode_starts_message(uint8_t opcode)
{
	return opcode_known(opcode) && (opcode_info[opcode].segment == SEG_FIRST ||
					opcode_info[opcode].segment == SEG_ONLY);
}

static inline bool opcode_ends_message(uint8_t opcode)
{
	return opcode_known(opcode) &&
	       (opcode_info[opcode].segment == SEG_LAST || opcode_info[opcode].segment == SEG_ONLY);
}

#endif
