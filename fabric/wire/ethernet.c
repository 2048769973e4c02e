/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethernet: the header only. The link has preamble and gap, the MAC has the FCS and the padding to
 * 64 bytes. Captures have neither. codec.c and pfc.c call these functions.
 */
#include "fabric/wire/ethernet.h"

#include <string.h>

#include "fabric/wire/bytes.h"

#define HEADER_BYTES 14
#define TAG_BYTES    4

size_t ethernet_build(const struct path *path, uint16_t ethertype, uint8_t *bytes)
{
	uint16_t tag = path_vlan_tag(path);
	size_t offset = 12;

	memcpy(bytes, path->dmac, 6);
	memcpy(bytes + 6, path->smac, 6);
	if (tag) {
		be16_put(bytes + offset, ETHERTYPE_VLAN);
		be16_put(bytes + offset + 2, tag);
		offset += TAG_BYTES;
	}
	be16_put(bytes + offset, ethertype);
	return offset + 2;
}

enum parse_status ethernet_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				 struct path *path, size_t *header_bytes, uint16_t *ethertype)
{
	if (length < HEADER_BYTES)
		return PARSE_TRUNCATED;
	memcpy(path->dmac, bytes, 6);
	memcpy(path->smac, bytes + 6, 6);
	*header_bytes = HEADER_BYTES;
	*ethertype = be16_get(bytes + 12);
	if (*ethertype == ETHERTYPE_VLAN) {
		if (length < HEADER_BYTES + TAG_BYTES)
			return PARSE_TRUNCATED;
		path->vlan = be16_get(bytes + 14);
		path->service_level = packet->vl = (uint8_t)(path->vlan >> 13);
		*header_bytes += TAG_BYTES;
		*ethertype = be16_get(bytes + 16);
	}
	return PARSE_OK;
}
