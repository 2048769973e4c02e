/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ddp: the layer of iWARP that places data at the receiver. A tagged segment names its memory. An
 * untagged segment goes to the next buffer of a queue. RFC 5041 4.
 *
 *     tagged:   control | ULP (1) | STag (4) | TO (8) | payload
 *     untagged: control | ULP (5) | queue (4) | MSN (4) | MO (4) | payload
 */
#ifndef FABRIC_WIRE_DDP_H
#define FABRIC_WIRE_DDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/wire/parse_status.h"

#define DDP_TAGGED_BYTES   14
#define DDP_UNTAGGED_BYTES 18
#define DDP_HEADER_MAX     DDP_UNTAGGED_BYTES

struct ddp_header {
	bool tagged;
	bool last;       /* last segment of its message */
	uint8_t control; /* of the layer above */
	union {
		struct {
			uint32_t stag;
			uint64_t tagged_offset; /* TO */
		};
		struct {
			uint32_t word;  /* of the layer above */
			uint32_t queue; /* QN */
			uint32_t msn;
			uint32_t message_offset; /* MO */
		};
	};
};

uint32_t ddp_header_bytes(bool tagged);

/* Writes ddp_header_bytes() bytes. */
void ddp_header_build(const struct ddp_header *header, uint8_t *bytes);

/* Parses the header at the start of a segment. */
enum parse_status ddp_header_parse(const uint8_t *bytes, size_t length, struct ddp_header *header);

#endif
