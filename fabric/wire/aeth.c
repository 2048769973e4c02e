/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aeth: the two code tables of the standard, and their texts.
 */
#include "fabric/wire/aeth.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

/* clang-format off */
#define NAK_MEANING(code, name, meaning) [code] = meaning,
static const char *const nak_meanings[NAK_CODE_COUNT] = { NAK_CODES(NAK_MEANING) };

static const uint32_t rnr_delays_10_us[32] = {
	65536, 1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
	48,    64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};
/* clang-format on */

sim_time aeth_rnr_delay(unsigned timer)
{
	assert(timer < ARRAY_SIZE(rnr_delays_10_us));
	return rnr_delays_10_us[timer] * 10 * US;
}

/* Returns 0 1 2 3 4 6 8 12 16 24 ...: powers of two, and the mean of neighbours in between. */
uint32_t aeth_credits(unsigned code)
{
	assert(code < AETH_CREDITS_NONE);
	if (code < 2)
		return code;
	return (2 + code % 2) << (code / 2 - 1);
}

void aeth_print(uint8_t syndrome, char *text, size_t text_bytes)
{
	unsigned value = aeth_value(syndrome);

	switch (aeth_type(syndrome)) {
	case SYNDROME_ACK:
		if (value == AETH_CREDITS_NONE)
			snprintf(text, text_bytes, "ACK");
		else
			snprintf(text, text_bytes, "ACK credits %" PRIu32, aeth_credits(value));
		return;
	case SYNDROME_RNR_NAK:
		snprintf(text, text_bytes, "RNR NAK timer %" PRIu32 ".%02" PRIu32 " ms",
			 rnr_delays_10_us[value] / 100, rnr_delays_10_us[value] % 100);
		return;
	case SYNDROME_NAK:
		snprintf(text, text_bytes, "NAK %s",
			 value < NAK_CODE_COUNT ? nak_meanings[value] : "reserved code");
		return;
	case SYNDROME_RESERVED:
		break;
	}
	snprintf(text, text_bytes, "reserved syndrome 0x%02x", syndrome);
}
