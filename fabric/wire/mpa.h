/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpa: the layer of iWARP between TCP and DDP. It finds the units of DDP (ULPDUs) in the stream.
 * RFC 5044 (FPDUs, markers, startup frames), RFC 6581 (IRD and ORD, peer to peer).
 *
 *     FPDU: ULPDU length (2) | ULPDU | pad (0 to 3) | CRC32C (4)
 *
 * A stream with markers has one at each position that is a multiple of 512, counted from its first
 * FPDU. A marker points back to the start of its FPDU, and the CRC covers it.
 */
#ifndef FABRIC_WIRE_MPA_H
#define FABRIC_WIRE_MPA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/wire/parse_status.h"

#define MPA_LENGTH_BYTES     2
#define MPA_CRC_BYTES        4
#define MPA_MARKER_BYTES     4
#define MPA_MARKER_EVERY     512
#define MPA_ULPDU_MAX        UINT16_MAX
#define MPA_STARTUP_BYTES    20 /* without private data */
#define MPA_PRIVATE_DATA_MAX 512
#define MPA_DEPTHS_BYTES     4      /* IRD and ORD, at the start of the private data */
#define MPA_DEPTH_MAX        0x3fff /* this value and above: no limit is known */

/* Place of an FPDU in its stream. */
struct mpa_place {
	bool markers;
	uint64_t position; /* bytes of the stream before the FPDU, markers included */
};

/* Returns the pad after a ULPDU. */
uint32_t mpa_pad_bytes(uint32_t ulpdu_bytes);

/* Returns the length of an FPDU, with its markers if it is at that place. */
uint32_t mpa_fpdu_bytes(struct mpa_place place, uint32_t ulpdu_bytes);

/* Returns MULPDU: the largest ULPDU whose FPDU fits a segment of `emss` bytes at any place. Returns
 * 0 if none fits. */
uint32_t mpa_ulpdu_max(uint32_t emss, bool markers);

/* Writes an FPDU, whose length mpa_fpdu_bytes() returns. */
void mpa_fpdu_build(struct mpa_place place, const uint8_t *ulpdu, uint32_t ulpdu_bytes,
		    uint8_t *bytes);

/* Parses the FPDU at the start of `bytes`. Copies its ULPDU to `ulpdu`, which has space for
 * MPA_ULPDU_MAX bytes. PARSE_TRUNCATED: more bytes are needed. */
enum parse_status mpa_fpdu_parse(struct mpa_place place, const uint8_t *bytes, size_t length,
				 uint8_t *ulpdu, uint32_t *ulpdu_bytes, size_t *fpdu_bytes);

/* Request or reply frame. Revision 2 has IRD and ORD if `enhanced`, which count as private data on
 * the wire but not here. */
struct mpa_startup {
	bool reply;
	bool markers; /* the sender of the frame wants to receive markers */
	bool crc;     /* the sender of the frame wants CRCs in both directions */
	bool reject;
	bool enhanced;
	uint8_t revision; /* 1 or 2 */
	/* enhanced */
	uint16_t ird, ord; /* READs that the sender of the frame accepts, and that it sends */
	/* The initiator sends a first FPDU without data (RTR): an empty one, a WRITE or a READ. */
	bool peer_to_peer, rtr_empty, rtr_write, rtr_read;
	uint16_t private_bytes;
	const uint8_t *private_data; /* of the caller, or in the parsed bytes */
};

uint32_t mpa_startup_bytes(const struct mpa_startup *startup);

/* Writes mpa_startup_bytes() bytes. */
void mpa_startup_build(const struct mpa_startup *startup, uint8_t *bytes);

/* Parses the frame at the start of `bytes`. PARSE_TRUNCATED: more bytes are needed. */
enum parse_status mpa_startup_parse(const uint8_t *bytes, size_t length,
				    struct mpa_startup *startup);

#endif
