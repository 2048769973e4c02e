/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grh: forty bytes in the layout of IPv6: version | traffic class | flow label, payload length,
 * next header, hop limit, source and destination GID. codec.c calls these functions.
 */
#include "fabric/wire/grh.h"

#include <string.h>

#include "fabric/wire/bytes.h"

#define IP_VERSION      6
#define NEXT_HEADER_BTH 0x1b

void grh_build(const struct packet *packet, size_t payload_bytes, uint8_t *bytes)
{
	const struct path *path = packet->path;

	assert(payload_bytes <= UINT16_MAX);
	be32_put(bytes, (uint32_t)IP_VERSION << 28 | (uint32_t)path->traffic_class << 20 |
				(path->flow_label & 0xfffff));
	be16_put(bytes + 4, (uint16_t)payload_bytes);
	bytes[6] = NEXT_HEADER_BTH;
	bytes[7] = packet->hop_limit;
	memcpy(bytes + 8, path->sgid, 16);
	memcpy(bytes + 24, path->dgid, 16);
}

enum parse_status grh_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			    struct path *path, size_t *payload_bytes)
{
	uint32_t first;

	if (length < GRH_BYTES)
		return PARSE_TRUNCATED;
	first = be32_get(bytes);
	if (first >> 28 != IP_VERSION)
		return PARSE_GRH_VERSION;
	path->traffic_class = (uint8_t)(first >> 20);
	path->flow_label = first & 0xfffff;
	*payload_bytes = be16_get(bytes + 4);
	path->hop_limit = packet->hop_limit = bytes[7];
	memcpy(path->sgid, bytes + 8, 16);
	memcpy(path->dgid, bytes + 24, 16);
	if (bytes[6] != NEXT_HEADER_BTH)
		return PARSE_GRH_NEXT_HEADER;
	return length - GRH_BYTES < *payload_bytes ? PARSE_TRUNCATED : PARSE_OK;
}
