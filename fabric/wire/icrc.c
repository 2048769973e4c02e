/* SPDX-License-Identifier: Apache-2.0 */
/*
 * icrc: the CRC-32 of Ethernet over the packet, with fields that may change replaced by ones. A
 * table lists these fields. RoCE has no LRH, so eight bytes of ones replace it. codec.c calls these
 * functions.
 */
#include "fabric/wire/icrc.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#define PREFIX_BYTES 8
#define BTH_BYTES    12
#define BTH_VARIANT  4 /* FECN, BECN, reserved */
#define HEADERS_MAX  (PREFIX_BYTES + 40 + 8 + BTH_BYTES)
#define MASKED_MAX   16

enum encapsulation { LOCAL, GLOBAL, V1, V2_IPV4, V2_IPV6, ENCAPSULATION_COUNT };

struct masked_byte {
	uint8_t offset;
	uint8_t ones; /* 0 at the end of the list */
};

/* clang-format off */
static const struct {
	bool ones_before;    /* eight bytes of ones come first */
	uint8_t bth_offset;  /* in the packet */
	struct masked_byte masked[MASKED_MAX];
} rules[ENCAPSULATION_COUNT] = {
	[LOCAL]   = {false, 8,  {{0, 0xf0}}}, /* LRH: VL */
	/* the whole LRH; the rest as V1 */
	[GLOBAL]  = {false, 48, {{0, 0xff}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {4, 0xff}, {5, 0xff},
				 {6, 0xff}, {7, 0xff}, {8, 0x0f}, {9, 0xff}, {10, 0xff}, {11, 0xff},
				 {15, 0xff}}},
	/* traffic class, flow, hops */
	[V1]      = {true,  40, {{0, 0x0f}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {7, 0xff}}},
	/* DSCP, ECN; TTL; checksum; UDP checksum */
	[V2_IPV4] = {true,  28, {{1, 0xff}, {8, 0xff}, {10, 0xff}, {11, 0xff},
				 {26, 0xff}, {27, 0xff}}},
	[V2_IPV6] = {true,  48, {{0, 0x0f}, {1, 0xff}, {2, 0xff}, {3, 0xff}, {7, 0xff},
				 {46, 0xff}, {47, 0xff}}},
};
/* clang-format on */

static enum encapsulation encapsulation_of(const struct path *path)
{
	static const uint8_t of_roce[] = {
		[ROCE_V1] = V1, [ROCE_V2_IPV4] = V2_IPV4, [ROCE_V2_IPV6] = V2_IPV6};

	if (path->link_layer == LINK_INFINIBAND)
		return path->has_grh ? GLOBAL : LOCAL;
	assert(path->roce_version != ROCE_NONE && path->roce_version <= ROCE_V2_IPV6);
	return of_roce[path->roce_version];
}

uint32_t icrc_compute(const struct path *path, const uint8_t *bytes, size_t length)
{
	enum encapsulation encapsulation = encapsulation_of(path);
	size_t prefix_bytes = rules[encapsulation].ones_before ? PREFIX_BYTES : 0;
	size_t header_bytes = rules[encapsulation].bth_offset + BTH_BYTES;
	uint8_t masked[HEADERS_MAX];
	uLong crc;

	assert(length >= header_bytes && prefix_bytes + header_bytes <= HEADERS_MAX);
	memset(masked, 0xff, prefix_bytes);
	memcpy(masked + prefix_bytes, bytes, header_bytes);
	for (const struct masked_byte *rule = rules[encapsulation].masked; rule->ones; rule++)
		masked[prefix_bytes + rule->offset] |= rule->ones;
	masked[prefix_bytes + rules[encapsulation].bth_offset + BTH_VARIANT] = 0xff;
	crc = crc32(0, masked, (uInt)(prefix_bytes + header_bytes));
	return (uint32_t)crc32(crc, bytes + header_bytes, (uInt)(length - header_bytes));
}
