/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ddp: see ddp.h.
 */
#include "fabric/wire/ddp.h"

#include <string.h>

#include "fabric/wire/bytes.h"

/* The control byte. */
enum { TAGGED = 0x80, LAST = 0x40, VERSION_MASK = 0x03, VERSION = 1 };

uint32_t ddp_header_bytes(bool tagged)
{
	return tagged ? DDP_TAGGED_BYTES : DDP_UNTAGGED_BYTES;
}

void ddp_header_build(const struct ddp_header *header, uint8_t *bytes)
{
	bytes[0] = (uint8_t)((header->tagged ? TAGGED : 0) | (header->last ? LAST : 0) | VERSION);
	bytes[1] = header->control;
	if (header->tagged) {
		be32_put(bytes + 2, header->stag);
		be64_put(bytes + 6, header->tagged_offset);
		return;
	}
	be32_put(bytes + 2, header->word);
	be32_put(bytes + 6, header->queue);
	be32_put(bytes + 10, header->msn);
	be32_put(bytes + 14, header->message_offset);
}

enum parse_status ddp_header_parse(const uint8_t *bytes, size_t length, struct ddp_header *header)
{
	memset(header, 0, sizeof(*header));
	if (length < 2)
		return PARSE_TRUNCATED;
	header->tagged = bytes[0] & TAGGED;
	header->last = bytes[0] & LAST;
	header->control = bytes[1];
	if ((bytes[0] & VERSION_MASK) != VERSION)
		return PARSE_DDP_VERSION;
	if (length < ddp_header_bytes(header->tagged))
		return PARSE_TRUNCATED;
	if (header->tagged) {
		header->stag = be32_get(bytes + 2);
		header->tagged_offset = be64_get(bytes + 6);
		return PARSE_OK;
	}
	header->word = be32_get(bytes + 2);
	header->queue = be32_get(bytes + 6);
	header->msn = be32_get(bytes + 10);
	header->message_offset = be32_get(bytes + 14);
	return PARSE_OK;
}
