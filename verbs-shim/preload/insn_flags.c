/* SPDX-License-Identifier: Apache-2.0 */
/* insn_flags: see insn_flags.h. */
#include "verbs-shim/preload/insn_flags.h"

uint64_t flags_value(const struct insn_flags *flags)
{
	uint64_t left = flags->left, right = flags->right, result = left, values = 0;

	switch (flags->source) {
	case FLAGS_KNOWN:
		return flags->known;
	case FLAGS_ADD:
		result = left + right;
		values = (result < left ? FLAG_CARRY : 0) |
			 (((left ^ result) & (right ^ result)) >> 63 ? FLAG_OVERFLOW : 0) |
			 ((left ^ right ^ result) >> flags->shift & FLAG_ADJUST);
		break;
	case FLAGS_SUBTRACT:
		result = left - right;
		values = (left < right ? FLAG_CARRY : 0) |
			 (((left ^ right) & (left ^ result)) >> 63 ? FLAG_OVERFLOW : 0) |
			 ((left ^ right ^ result) >> flags->shift & FLAG_ADJUST);
		break;
	case FLAGS_RESULT:
		values = right;
		break;
	}
	values |= result ? 0 : FLAG_ZERO;
	values |= result >> 63 ? FLAG_SIGN : 0;
	values |= __builtin_parity((unsigned)(result >> flags->shift & 0xff)) ? 0 : FLAG_PARITY;
	return (flags->known & ~(uint64_t)FLAGS_STATUS) | values;
}
