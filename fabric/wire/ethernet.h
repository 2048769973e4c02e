/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethernet: MAC addresses, the optional 802.1Q tag and the type. IEEE 802.3, 802.1Q.
 */
#ifndef FABRIC_WIRE_ETHERNET_H
#define FABRIC_WIRE_ETHERNET_H

#include "fabric/wire/packet.h"
#include "fabric/wire/parse_status.h"

enum ethertype {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_MAC_CONTROL = 0x8808,
	ETHERTYPE_ROCE_V1 = 0x8915,
};

/* Writes the header. Returns its length: 14 bytes, or 18 with a tag. */
size_t ethernet_build(const struct path *path, uint16_t ethertype, uint8_t *bytes);

/* Fills in addresses, tag, service level and vl. Writes the length of the header and the type of
 * the next header. */
enum parse_status ethernet_parse(const uint8_t *bytes, size_t length, struct packet *packet,
				 struct path *path, size_t *header_bytes, uint16_t *ethertype);

#endif
