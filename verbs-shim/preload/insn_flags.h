/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_flags: status flags, computed only when they are read, because most are overwritten before.
 * The structure holds the operation that set the flags, and its operands shifted to the top of 64
 * bits, so that all sizes are equal. insn.c, insn_quick.c and insn_general.c call these functions.
 * Source: Intel SDM volume 1, 3.4.3.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_FLAGS_H
#define VERBS_SHIM_PRELOAD_INSN_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

enum {
	FLAG_CARRY = 1 << 0,
	FLAG_PARITY = 1 << 2,
	FLAG_ADJUST = 1 << 4,
	FLAG_ZERO = 1 << 6,
	FLAG_SIGN = 1 << 7,
	FLAG_DIRECTION = 1 << 10,
	FLAG_OVERFLOW = 1 << 11,
	FLAGS_STATUS =
		FLAG_CARRY | FLAG_PARITY | FLAG_ADJUST | FLAG_ZERO | FLAG_SIGN | FLAG_OVERFLOW,
};

enum flags_source {
	FLAGS_KNOWN,    /* in `known` */
	FLAGS_ADD,      /* left + right */
	FLAGS_SUBTRACT, /* left - right */
	FLAGS_RESULT,   /* result: left; carry, overflow and adjust: as in `right` */
};

struct insn_flags {
	enum flags_source source;
	uint32_t shift; /* shift of left and right: 64 minus the bits of an operand */
	uint64_t left, right;
	uint64_t known; /* the flags register; its status flags are valid only with FLAGS_KNOWN */
};

static inline void flags_set(struct insn_flags *flags, uint64_t value)
{
	flags->source = FLAGS_KNOWN;
	flags->known = value;
}

static inline void flags_set_from(struct insn_flags *flags, enum flags_source source, uint64_t left,
				  uint64_t right, uint32_t size)
{
	flags->source = source;
	flags->shift = 64 - 8 * size;
	flags->left = left << (64 - 8 * size);
	flags->right = right << (64 - 8 * size);
}

static inline void flags_set_result(struct insn_flags *flags, uint64_t result, uint64_t others,
				    uint32_t size)
{
	flags->source = FLAGS_RESULT;
	flags->shift = 64 - 8 * size;
	flags->left = result << (64 - 8 * size);
	flags->right = others;
}

/* Returns the flags register as the program would see it. */
uint64_t flags_value(const struct insn_flags *flags);

enum { OVERFLOWS, BELOW, EQUAL, NOT_ABOVE, NEGATIVE, PARITY, LESS, NOT_GREATER }; /* conditions */

/* Returns true if flags_hold() can evaluate a condition. Otherwise compute the flags first. */
static inline bool flags_suffice(const struct insn_flags *flags, uint8_t condition)
{
	condition >>= 1;
	if (flags->source == FLAGS_SUBTRACT)
		return condition != OVERFLOWS && condition != PARITY;
	if (flags->source == FLAGS_RESULT)
		return condition != PARITY;
	return flags->source == FLAGS_KNOWN;
}

/* Returns true if a condition of Jcc, SETcc or CMOVcc holds. The lowest bit of its number negates
 * it. */
static inline bool flags_hold(const struct insn_flags *flags, uint8_t condition)
{
	uint64_t left = flags->left, right = flags->right, others;
	bool negate = condition & 1, zero, sign, overflow;

	condition >>= 1;
	if (flags->source == FLAGS_SUBTRACT) {
		switch (condition) {
		case BELOW:
			return (left < right) != negate;
		case EQUAL:
			return (left == right) != negate;
		case NOT_ABOVE:
			return (left <= right) != negate;
		case NEGATIVE:
			return ((int64_t)(left - right) < 0) != negate;
		case LESS:
			return ((int64_t)left < (int64_t)right) != negate;
		default:
			return ((int64_t)left <= (int64_t)right) != negate;
		}
	}
	if (flags->source == FLAGS_RESULT) {
		others = right;
		zero = left == 0;
		sign = left >> 63;
	} else {
		others = flags->known;
		zero = others & FLAG_ZERO;
		sign = others & FLAG_SIGN;
	}
	overflow = others & FLAG_OVERFLOW;
	switch (condition) {
	case OVERFLOWS:
		return overflow != negate;
	case BELOW:
		return (others & FLAG_CARRY) != negate;
	case EQUAL:
		return zero != negate;
	case NOT_ABOVE:
		return (others & FLAG_CARRY || zero) != negate;
	case NEGATIVE:
		return sign != negate;
	case PARITY:
		return ((others & FLAG_PARITY) != 0) != negate;
	case LESS:
		return (sign != overflow) != negate;
	default:
		return (zero || sign != overflow) != negate;
	}
}

#endif
