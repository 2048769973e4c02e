/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erspan: headers of mirrored frames that a switch sends to a distant analyser: GRE with a sequence
 * number (RFC 2890), and ERSPAN Type II or III (draft-foschiano-erspan-03).
 *
 *     Ethernet IPv4 | GRE ERSPAN | mirrored frame without its FCS
 */
#ifndef FABRIC_WIRE_ERSPAN_H
#define FABRIC_WIRE_ERSPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ERSPAN_HEADERS_MAX  20 /* GRE and Type III */
#define ERSPAN_SESSION_MAX  1023
#define ERSPAN_TIMESTAMP_NS 100 /* unit of Type III with Gra 1 */

enum erspan_type { ERSPAN_II = 2, ERSPAN_III = 3 };

struct erspan {
	uint8_t type;      /* enum erspan_type */
	uint32_t sequence; /* of the session: GRE */
	uint16_t session;
	bool truncated; /* the mirrored frame was longer */
	uint16_t vlan;  /* of the mirrored frame; 0 without a tag */
	uint8_t cos;    /* priority of the mirrored frame */
	bool tagged;    /* Type II: the mirrored frame has its tag */
	uint32_t index; /* Type II: port of the switch */
	/* Type III */
	uint32_t timestamp; /* in units of 100 ns */
	bool egress;        /* the frame left the switch by the mirrored port */
	/* erspan_parse(): the switch and the analyser, of the IP header */
	uint8_t source[4], destination[4];
};

/* Writes the GRE and ERSPAN headers. Returns their length. */
size_t erspan_build(const struct erspan *erspan, uint8_t *bytes);

/* Parses an Ethernet frame. Returns the bytes before the mirrored frame, or 0 if the frame is not
 * ERSPAN Type II or III over IPv4. *inner_bytes: length of the mirrored frame, which may lie beyond
 * the bytes that are there. */
size_t erspan_parse(const uint8_t *frame, size_t length, struct erspan *erspan,
		    size_t *inner_bytes);

/* Returns the length that a truncated frame had, by its IP header or GRH, or `length` if that
 * cannot be told. */
size_t erspan_whole(const uint8_t *frame, size_t length);

#endif
