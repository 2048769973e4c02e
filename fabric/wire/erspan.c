/* SPDX-License-Identifier: Apache-2.0 */
/* erspan: see erspan.h. */
#include "fabric/wire/erspan.h"

#include <string.h>

#include "fabric/wire/bytes.h"
#include "fabric/wire/ethernet.h"
#include "fabric/wire/ip.h"

#define ETHERNET_BYTES  14
#define TAG_BYTES       4
#define IPV4_BYTES      20
#define IPV6_BYTES      40 /* also of a GRH */
#define GRE_BYTES       8
#define GRE_SEQUENCE    0x1000 /* S: the sequence number is present */
#define GRE_ERSPAN_II   0x88be
#define GRE_ERSPAN_III  0x22eb
#define TYPE_II_BYTES   8
#define TYPE_III_BYTES  12
#define VERSION_II      1
#define VERSION_III     2
#define TAG_PRESERVED   3      /* Type II, En */
#define IS_ETHERNET     0x8000 /* Type III, P */
#define EGRESS          0x0008 /* Type III, D */
#define GRANULARITY     0x0002 /* Type III, Gra: 1 */
#define SUBHEADER       0x0001 /* Type III, O */
#define SUBHEADER_BYTES 8

size_t erspan_build(const struct erspan *erspan, uint8_t *bytes)
{
	bool three = erspan->type == ERSPAN_III;
	uint8_t *header = bytes + GRE_BYTES;
	unsigned version = three ? VERSION_III : VERSION_II;
	unsigned en = !three && erspan->tagged ? TAG_PRESERVED : 0;

	be16_put(bytes, GRE_SEQUENCE);
	be16_put(bytes + 2, three ? GRE_ERSPAN_III : GRE_ERSPAN_II);
	be32_put(bytes + 4, erspan->sequence);
	be16_put(header, (uint16_t)(version << 12 | (erspan->vlan & 0xfffu)));
	be16_put(header + 2, (uint16_t)((unsigned)erspan->cos << 13 | en << 11 |
					(unsigned)erspan->truncated << 10 |
					(erspan->session & ERSPAN_SESSION_MAX)));
	if (!three) {
		be32_put(header + 4, erspan->index & 0xfffffu);
		return GRE_BYTES + TYPE_II_BYTES;
	}
	be32_put(header + 4, erspan->timestamp);
	be16_put(header + 8, 0); /* no security group */
	be16_put(header + 10,
		 (uint16_t)(IS_ETHERNET | (erspan->egress ? EGRESS : 0) | GRANULARITY));
	return GRE_BYTES + TYPE_III_BYTES;
}

/* Returns the length of the ERSPAN header, or 0 for another version. */
static size_t header_parse(const uint8_t *header, size_t length, struct erspan *erspan)
{
	bool three = erspan->type == ERSPAN_III;
	unsigned first, second;
	uint16_t flags;

	if (length < (three ? TYPE_III_BYTES : TYPE_II_BYTES))
		return 0;
	first = be16_get(header);
	second = be16_get(header + 2);
	if (first >> 12 != (three ? VERSION_III : VERSION_II))
		return 0;
	erspan->vlan = first & 0xfff;
	erspan->cos = (uint8_t)(second >> 13);
	erspan->tagged = !three && (second >> 11 & 3) == TAG_PRESERVED;
	erspan->truncated = second >> 10 & 1;
	erspan->session = second & ERSPAN_SESSION_MAX;
	if (!three) {
		erspan->index = be32_get(header + 4) & 0xfffffu;
		return TYPE_II_BYTES;
	}
	flags = be16_get(header + 10);
	erspan->timestamp = be32_get(header + 4);
	erspan->egress = flags & EGRESS;
	return TYPE_III_BYTES + (flags & SUBHEADER ? SUBHEADER_BYTES : 0);
}

/* Returns the offset of the header behind the Ethernet header, and its type. */
static size_t network_at(const uint8_t *frame, uint16_t *ethertype)
{
	*ethertype = be16_get(frame + 12);
	if (*ethertype != ETHERTYPE_VLAN)
		return ETHERNET_BYTES;
	*ethertype = be16_get(frame + 16);
	return ETHERNET_BYTES + TAG_BYTES;
}

size_t erspan_parse(const uint8_t *frame, size_t length, struct erspan *erspan, size_t *inner_bytes)
{
	size_t ip, gre, header_bytes, end;
	uint16_t ethertype, protocol;

	*erspan = (struct erspan){.type = 0};
	if (length < ETHERNET_BYTES + TAG_BYTES + IPV4_BYTES + GRE_BYTES)
		return 0;
	ip = network_at(frame, &ethertype);
	if (ethertype != ETHERTYPE_IPV4 || frame[ip] != 0x45 || frame[ip + 9] != IP_GRE)
		return 0;
	gre = ip + IPV4_BYTES;
	protocol = be16_get(frame + gre + 2);
	if (be16_get(frame + gre) != GRE_SEQUENCE ||
	    (protocol != GRE_ERSPAN_II && protocol != GRE_ERSPAN_III))
		return 0;
	erspan->type = protocol == GRE_ERSPAN_II ? ERSPAN_II : ERSPAN_III;
	erspan->sequence = be32_get(frame + gre + 4);
	header_bytes = header_parse(frame + gre + GRE_BYTES, length - gre - GRE_BYTES, erspan);
	gre += GRE_BYTES + header_bytes;
	end = ip + be16_get(frame + ip + 2);
	if (!header_bytes || end < gre || length < gre)
		return 0;
	memcpy(erspan->source, frame + ip + 12, sizeof(erspan->source));
	memcpy(erspan->destination, frame + ip + 16, sizeof(erspan->destination));
	*inner_bytes = end - gre;
	return gre;
}

size_t erspan_whole(const uint8_t *frame, size_t length)
{
	size_t ip;
	uint16_t ethertype;

	if (length < ETHERNET_BYTES + TAG_BYTES + IPV4_BYTES)
		return length;
	ip = network_at(frame, &ethertype);
	switch (ethertype) {
	case ETHERTYPE_IPV4:
		return ip + be16_get(frame + ip + 2);
	case ETHERTYPE_IPV6:
	case ETHERTYPE_ROCE_V1:
		return ip + IPV6_BYTES + be16_get(frame + ip + 4);
	default:
		return length;
	}
}
