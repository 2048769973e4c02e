/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lrh: eight bytes: VL | version, SL | next header, DLID, length in words, SLID. codec.c calls
 * these functions.
 */
#include "fabric/wire/lrh.h"

#include "fabric/wire/bytes.h"

#define LENGTH_WORDS_MAX 0x7ff

enum link_next_header { NEXT_RAW, NEXT_RAW_IPV6, NEXT_LOCAL, NEXT_GLOBAL }; /* LNH */

void lrh_build(const struct packet *packet, size_t packet_bytes, uint8_t *bytes)
{
	const struct path *path = packet->path;

	assert(packet_bytes % 4 == 0 && packet_bytes / 4 <= LENGTH_WORDS_MAX);
	bytes[0] = (uint8_t)(packet->vl << 4);
	bytes[1] = (uint8_t)(path->service_level << 4 | (path->has_grh ? NEXT_GLOBAL : NEXT_LOCAL));
	be16_put(bytes + 2, path->dlid);
	be16_put(bytes + 4, (uint16_t)(packet_bytes / 4));
	be16_put(bytes + 6, path->slid);
}

enum parse_status lrh_parse(const uint8_t *bytes, size_t length, struct packet *packet,
			    struct path *path, size_t *packet_bytes)
{
	unsigned next;

	if (length < LRH_BYTES)
		return PARSE_TRUNCATED;
	if (bytes[0] & 0xf)
		return PARSE_LRH_VERSION;
	packet->vl = bytes[0] >> 4;
	path->service_level = bytes[1] >> 4;
	path->dlid = be16_get(bytes + 2);
	path->slid = be16_get(bytes + 6);
	*packet_bytes = (be16_get(bytes + 4) & LENGTH_WORDS_MAX) * 4u;
	next = bytes[1] & 3;
	path->has_grh = next == NEXT_GLOBAL;
	if (next == NEXT_RAW || next == NEXT_RAW_IPV6)
		return PARSE_NOT_RDMA;
	return length < *packet_bytes ? PARSE_TRUNCATED : PARSE_OK;
}
