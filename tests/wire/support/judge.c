/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge: polynomial division as in IBTA vol. 1, 7.8. The register starts as ones. Each bit of the
 * message enters least significant first. The remainder is complemented and sent from its highest
 * coefficient.
 */
#include "tests/wire/support/judge.h"

#include <string.h>

#define ICRC_POLYNOMIAL 0x04c11db7u
#define VCRC_POLYNOMIAL 0x100bu

/* Divides by the polynomial as written, unmirrored, and mirrors the result per byte at the end. */
static uint32_t divide(const uint8_t *bytes, size_t length, unsigned width, uint32_t polynomial)
{
	uint32_t top = UINT32_C(1) << (width - 1);
	uint32_t ones = top | (top - 1);
	uint32_t remainder = ones;

	for (size_t i = 0; i < length; i++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			uint32_t in = bytes[i] >> bit & 1;
			uint32_t out = (remainder & top) != 0;

			remainder = remainder << 1 & ones;
			if (in != out)
				remainder ^= polynomial;
		}
	}
	return ~remainder & ones;
}

/* Highest coefficient first on a wire that sends each byte's lowest bit first. */
static void coefficients_put(uint32_t value, unsigned width, uint8_t *bytes)
{
	memset(bytes, 0, width / 8);
	for (unsigned i = 0; i < width; i++)
		if (value >> (width - 1 - i) & 1)
			bytes[i / 8] |= (uint8_t)(1u << i % 8);
}

static void icrc_of(const uint8_t *bytes, size_t length, uint8_t icrc[4])
{
	coefficients_put(divide(bytes, length, 32, ICRC_POLYNOMIAL), 32, icrc);
}

void judge_roce_icrc(const uint8_t *frame, size_t length, uint8_t icrc[4])
{
	uint8_t pseudo[8 + 9000];
	uint8_t *network = pseudo + 8;
	size_t bytes = length - 14 - 4;
	unsigned type = (unsigned)frame[12] << 8 | frame[13];
	size_t bth;

	memset(pseudo, 0xff, 8);
	memcpy(network, frame + 14, bytes);
	if (type == 0x0800) {
		network[1] = 0xff;                /* type of service */
		network[8] = 0xff;                /* time to live */
		network[10] = network[11] = 0xff; /* header checksum */
		network[26] = network[27] = 0xff; /* UDP checksum */
		bth = 28;
	} else {                    /* IPv6, or the GRH that has its layout */
		network[0] |= 0x0f; /* traffic class */
		network[1] = network[2] = network[3] = 0xff; /* and flow label */
		network[7] = 0xff;                           /* hop limit */
		bth = 40;
		if (type == 0x86dd) {
			network[46] = network[47] = 0xff; /* UDP checksum */
			bth = 48;
		}
	}
	network[bth + 4] = 0xff; /* FECN, BECN, reserved */
	icrc_of(pseudo, 8 + bytes, icrc);
}

void judge_infiniband_crcs(const uint8_t *packet, size_t length, uint8_t crcs[6])
{
	uint8_t pseudo[9000];
	size_t bytes = length - 6;

	memcpy(pseudo, packet, bytes);
	if ((packet[1] & 3) == 3) { /* with GRH */
		memset(pseudo, 0xff, 8);
		pseudo[8] |= 0x0f;
		pseudo[9] = pseudo[10] = pseudo[11] = 0xff;
		pseudo[15] = 0xff;
		pseudo[48 + 4] = 0xff;
	} else {
		pseudo[0] |= 0xf0; /* VL */
		pseudo[8 + 4] = 0xff;
	}
	icrc_of(pseudo, bytes, crcs);
	coefficients_put(divide(packet, length - 2, 16, VCRC_POLYNOMIAL), 16, crcs + 4);
}

void judge_link_crc(const uint8_t bytes[4], uint8_t crc[2])
{
	coefficients_put(divide(bytes, 4, 16, VCRC_POLYNOMIAL), 16, crc);
}
