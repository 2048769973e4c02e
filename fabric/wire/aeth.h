/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aeth: the syndrome of an AETH: ACK with credits, RNR NAK with a timer, or NAK with a code. IBTA
 * vol. 1, 9.7.5.1.1 to 9.7.5.1.2, tables 43 to 46.
 */
#ifndef FABRIC_WIRE_AETH_H
#define FABRIC_WIRE_AETH_H

#include "sim/sim.h"

/* clang-format off */
/* X(code, name, meaning): the low five bits of a NAK */
#define NAK_CODES(X)                                         \
	X(0, PSN_SEQUENCE,       "PSN sequence error")       \
	X(1, INVALID_REQUEST,    "invalid request")          \
	X(2, REMOTE_ACCESS,      "remote access error")      \
	X(3, REMOTE_OPERATIONAL, "remote operational error") \
	X(4, INVALID_RD_REQUEST, "invalid RD request")

#define NAK_CODE_ENUM(code, name, meaning) NAK_##name = code,
enum nak_code { NAK_CODES(NAK_CODE_ENUM) NAK_CODE_COUNT };
/* clang-format on */

enum syndrome_type {
	SYNDROME_ACK = 0,
	SYNDROME_RNR_NAK = 1,
	SYNDROME_RESERVED = 2,
	SYNDROME_NAK = 3
};

#define AETH_CREDITS_NONE 31 /* ACK: the responder does not count credits */

static inline enum syndrome_type aeth_type(uint8_t syndrome)
{
	return (enum syndrome_type)(syndrome >> 5 & 3);
}

static inline uint8_t aeth_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

static inline uint8_t aeth_syndrome(enum syndrome_type type, unsigned value)
{
	return (uint8_t)((unsigned)type << 5 | (value & 0x1f));
}

/* Returns the time that the requester waits after an RNR NAK with this timer code, 0 to 31. */
sim_time aeth_rnr_delay(unsigned timer);

/* Returns the number of receive WQEs of a credit code, 0 to 30. */
uint32_t aeth_credits(unsigned code);

/* Writes "ACK credits 3", "RNR NAK timer 0.64 ms" or "NAK remote access error". */
void aeth_print(uint8_t syndrome, char *text, size_t text_bytes);

#endif
