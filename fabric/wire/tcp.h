/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tcp: the TCP header with its options, as numbers and as bytes. RFC 9293 3.1 (header, MSS option),
 * RFC 7323 (window scale, time stamps), RFC 2018 (SACK permitted, SACK), RFC 3168 (ECE and CWR).
 *
 * The engine (tcp/tcp.h) reads and writes struct tcp_header. codec.c puts the bytes into packets.
 */
#ifndef FABRIC_WIRE_TCP_H
#define FABRIC_WIRE_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/wire/parse_status.h"

#define TCP_HEADER_BYTES     20 /* without options */
#define TCP_HEADER_BYTES_MAX 60
#define TCP_SACK_MAX         4
#define TCP_TIMESTAMP_BYTES  12 /* the option and the two NOPs before it */
#define TCP_WINDOW_SCALE_MAX 14 /* RFC 7323 2.3 */

enum tcp_flag {
	TCP_FIN = 1,
	TCP_SYN = 2,
	TCP_RST = 4,
	TCP_PSH = 8,
	TCP_ACK = 16,
	TCP_URG = 32,
	TCP_ECE = 64,
	TCP_CWR = 128,
};

/* Options of a header. MSS, window scale and SACK permitted occur only on segments with SYN. */
enum tcp_option {
	TCP_OPTION_MSS = 1,
	TCP_OPTION_WINDOW_SCALE = 2,
	TCP_OPTION_SACK_PERMITTED = 4,
	TCP_OPTION_TIMESTAMPS = 8,
};

struct tcp_sack {
	uint32_t left, right; /* first byte received, and first byte after the block */
};

struct tcp_header {
	uint16_t source_port, destination_port;
	uint32_t sequence, acknowledgment;
	uint16_t window, urgent;
	uint8_t flags;      /* enum tcp_flag bits */
	uint8_t options;    /* enum tcp_option bits */
	uint8_t sack_count; /* blocks; never on a segment with SYN */
	uint8_t window_scale;
	uint16_t mss;
	uint32_t timestamp, timestamp_echo;
	struct tcp_sack sack[TCP_SACK_MAX];
};

/* Returns the number of SACK blocks that fit into the header with its other options. */
unsigned tcp_sack_room(const struct tcp_header *header);

/* Returns the length of the header with its options, a multiple of four. */
uint32_t tcp_header_bytes(const struct tcp_header *header);

/* Writes tcp_header_bytes() bytes. The checksum field is 0. */
void tcp_header_build(const struct tcp_header *header, uint8_t *bytes);

/* Parses a header from the `length` bytes of a segment. *header_bytes is the offset of the payload.
 * Options that are unknown, or not allowed on this segment, are skipped. */
enum parse_status tcp_header_parse(const uint8_t *bytes, size_t length, struct tcp_header *header,
				   size_t *header_bytes);

/* Returns the checksum of a segment whose checksum field is 0. Returns 0 for a received segment
 * with a correct checksum. Addresses are 4 or 16 bytes, source before destination. */
uint16_t tcp_checksum(const uint8_t *addresses, size_t address_bytes, const uint8_t *segment,
		      size_t length);
void tcp_checksum_put(uint8_t *segment, uint16_t checksum);

#endif
