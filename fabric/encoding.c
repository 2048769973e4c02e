/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encoding: see encoding.h.
 */
#include "fabric/encoding.h"

#include <assert.h>

struct line_code {
	uint64_t signalled_baud;
	uint64_t bits, of;
};

/* clang-format off */
#define SPEED_ROW(name, kilobaud, bits, of) [SPEED_##name] = {UINT64_C(kilobaud) * 1000, bits, of},
static const struct line_code line_codes[SPEED_COUNT] = { INFINIBAND_SPEEDS(SPEED_ROW) };
/* clang-format on */

uint64_t encoding_rate_bps(enum infiniband_speed speed, uint64_t width)
{
	const struct line_code *code = &line_codes[speed];

	assert(speed > SPEED_EXPLICIT && speed < SPEED_COUNT && width >= 1 && width <= 12);
	return code->signalled_baud * width * code->bits / code->of;
}
