/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample: random packets of a given opcode and encapsulation, with every field that such a packet
 * carries and zeros in the others. The same seed gives the same packets.
 */
#ifndef TESTS_WIRE_SUPPORT_SAMPLE_H
#define TESTS_WIRE_SUPPORT_SAMPLE_H

#include "fabric/wire/packet.h"

/* clang-format off */
/* X(name, link layer, RoCE version, GRH, tagged) */
#define ENCAPSULATIONS(X) \
	X(IB_LOCAL,     LINK_INFINIBAND, ROCE_NONE,    false, false) \
	X(IB_GLOBAL,    LINK_INFINIBAND, ROCE_NONE,    true,  false) \
	X(V1,           LINK_ETHERNET,   ROCE_V1,      true,  false) \
	X(V1_TAGGED,    LINK_ETHERNET,   ROCE_V1,      true,  true) \
	X(IPV4,         LINK_ETHERNET,   ROCE_V2_IPV4, true,  false) \
	X(IPV4_TAGGED,  LINK_ETHERNET,   ROCE_V2_IPV4, true,  true) \
	X(IPV6,         LINK_ETHERNET,   ROCE_V2_IPV6, true,  false) \
	X(IPV6_TAGGED,  LINK_ETHERNET,   ROCE_V2_IPV6, true,  true)

#define ENCAPSULATION_ENUM(name, link_layer, roce_version, grh, tagged) SAMPLE_##name,
enum sample_encapsulation { ENCAPSULATIONS(ENCAPSULATION_ENUM) SAMPLE_ENCAPSULATION_COUNT };
/* clang-format on */

struct sample {
	struct packet packet;
	struct path path;
	struct payload payload;
};

struct sampler {
	uint64_t state;
};

uint64_t sampler_next(struct sampler *sampler);

/* payload_bytes is used if the opcode has a payload. */
void sample_fill(struct sample *sample, struct sampler *sampler,
		 enum sample_encapsulation encapsulation, uint8_t opcode, uint32_t payload_bytes);

#endif
