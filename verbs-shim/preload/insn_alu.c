/* SPDX-License-Identifier: Apache-2.0 */
/* insn_alu: see insn_alu.h. */
#include "verbs-shim/preload/insn_alu.h"

#include "verbs-shim/preload/insn_flags.h"

static uint64_t result_flags(uint64_t result, uint32_t size)
{
	uint64_t flags = 0;

	if (!result)
		flags |= FLAG_ZERO;
	if (result >> (8 * size - 1) & 1)
		flags |= FLAG_SIGN;
	if (!__builtin_parity((unsigned)(result & 0xff)))
		flags |= FLAG_PARITY;
	return flags;
}

static void set_flags(uint64_t *flags, uint64_t changed, uint64_t values)
{
	*flags = (*flags & ~changed) | (values & changed);
}

static uint64_t add(uint64_t left, uint64_t right, uint64_t carry, uint32_t size, uint64_t *flags,
		    uint64_t changed)
{
	uint64_t result = insn_truncate(left + right + carry, size);
	uint64_t values = result_flags(result, size);

	if (result < left || (carry && result == left))
		values |= FLAG_CARRY;
	if ((left ^ right ^ result) & 0x10)
		values |= FLAG_ADJUST;
	if (((left ^ result) & (right ^ result)) >> (8 * size - 1) & 1)
		values |= FLAG_OVERFLOW;
	set_flags(flags, changed, values);
	return result;
}

static uint64_t subtract(uint64_t left, uint64_t right, uint64_t borrow, uint32_t size,
			 uint64_t *flags, uint64_t changed)
{
	uint64_t result = insn_truncate(left - right - borrow, size);
	uint64_t values = result_flags(result, size);

	if (left < right || (borrow && left == right))
		values |= FLAG_CARRY;
	if ((left ^ right ^ result) & 0x10)
		values |= FLAG_ADJUST;
	if (((left ^ right) & (left ^ result)) >> (8 * size - 1) & 1)
		values |= FLAG_OVERFLOW;
	set_flags(flags, changed, values);
	return result;
}

static uint64_t shift(enum insn_op op, uint64_t left, uint64_t right, uint32_t size,
		      uint64_t *flags)
{
	uint32_t count = (uint32_t)right & (size == 8 ? 63 : 31), bits = 8 * size;
	uint64_t result, carry, overflow;

	if (!count)
		return left;
	if (op == OP_SHL) {
		result = insn_truncate(left << count, size);
		carry = count <= bits ? left >> (bits - count) & 1 : 0;
		overflow = (result >> (bits - 1) & 1) ^ carry;
	} else if (op == OP_SHR) {
		result = left >> count;
		carry = left >> (count - 1) & 1;
		overflow = left >> (bits - 1) & 1;
	} else {
		int64_t extended = (int64_t)insn_sign_extend(left, size);

		result = insn_truncate((uint64_t)(extended >> count), size);
		carry = (uint64_t)(extended >> (count - 1)) & 1;
		overflow = 0;
	}
	uint64_t values = result_flags(result, size) | (carry ? FLAG_CARRY : 0) |
			  (overflow ? FLAG_OVERFLOW : 0);

	set_flags(flags,
		  FLAG_CARRY | FLAG_PARITY | FLAG_ZERO | FLAG_SIGN |
			  (count == 1 ? FLAG_OVERFLOW : 0),
		  values);
	return result;
}

static uint64_t rotate(enum insn_op op, uint64_t left, uint64_t right, uint32_t size,
		       uint64_t *flags)
{
	uint32_t masked = (uint32_t)right & (size == 8 ? 63 : 31), bits = 8 * size;
	uint32_t count = masked % bits;
	uint64_t result, carry, top;

	if (!masked)
		return left;
	if (op == OP_ROR)
		count = (bits - count) % bits;
	result = insn_truncate(count ? left << count | left >> (bits - count) : left, size);
	top = result >> (bits - 1) & 1;
	carry = op == OP_ROL ? result & 1 : top;
	set_flags(flags, FLAG_CARRY, carry ? FLAG_CARRY : 0);
	if (masked == 1)
		set_flags(flags, FLAG_OVERFLOW,
			  top ^ (op == OP_ROL ? carry : result >> (bits - 2) & 1) ? FLAG_OVERFLOW
										  : 0);
	return result;
}

static uint64_t multiply(uint64_t left, uint64_t right, uint32_t size, uint64_t *flags)
{
	__int128 product = (__int128)(int64_t)insn_sign_extend(left, size) *
			   (int64_t)insn_sign_extend(right, size);
	uint64_t result = insn_truncate((uint64_t)product, size);
	bool fits = product == (__int128)(int64_t)insn_sign_extend(result, size);

	set_flags(flags, FLAG_CARRY | FLAG_OVERFLOW,
		  fits ? 0 : FLAG_CARRY | FLAG_OVERFLOW); /* the others are undefined */
	return result;
}

uint64_t insn_alu(enum insn_op op, uint64_t left, uint64_t right, uint32_t size, uint64_t *flags)
{
	const uint64_t all = FLAGS_STATUS;
	uint64_t carry = *flags & FLAG_CARRY, result;

	left = insn_truncate(left, size);
	right = insn_truncate(right, size);
	switch (op) {
	case OP_ADD:
		return add(left, right, 0, size, flags, all);
	case OP_ADC:
		return add(left, right, carry, size, flags, all);
	case OP_INC:
		return add(left, 1, 0, size, flags, all & ~(uint64_t)FLAG_CARRY);
	case OP_SUB:
	case OP_CMP:
		return subtract(left, right, 0, size, flags, all);
	case OP_SBB:
		return subtract(left, right, carry, size, flags, all);
	case OP_DEC:
		return subtract(left, 1, 0, size, flags, all & ~(uint64_t)FLAG_CARRY);
	case OP_NEG:
		return subtract(0, left, 0, size, flags, all);
	case OP_SHL:
	case OP_SHR:
	case OP_SAR:
		return shift(op, left, right, size, flags);
	case OP_ROL:
	case OP_ROR:
		return rotate(op, left, right, size, flags);
	case OP_IMUL:
		return multiply(left, right, size, flags);
	case OP_BIT_TEST:
		set_flags(flags, FLAG_CARRY, left >> (right % (8 * size)) & 1 ? FLAG_CARRY : 0);
		return left;
	case OP_BIT_FIRST:
	/* the other flags, and the result for an operand of 0, are undefined; the destination keeps
	 * its value */
	case OP_BIT_LAST:
		set_flags(flags, FLAG_ZERO, right ? 0 : FLAG_ZERO);
		if (!right)
			return left;
		return (uint64_t)(op == OP_BIT_FIRST ? __builtin_ctzll(right)
						     : 63 - __builtin_clzll(right));
	case OP_NOT:
		return insn_truncate(~left, size);
	case OP_BSWAP:
		return size == 8 ? __builtin_bswap64(left) : __builtin_bswap32((uint32_t)left);
	case OP_AND:
	case OP_TEST:
		result = left & right;
		break;
	case OP_OR:
		result = left | right;
		break;
	case OP_XOR:
		result = left ^ right;
		break;
	default: /* MOV */
		return right;
	}
	set_flags(flags, all & ~(uint64_t)FLAG_ADJUST,
		  result_flags(result, size)); /* adjust is undefined */
	return result;
}

void insn_multiply(enum insn_op op, uint64_t *low, uint64_t *high, uint64_t factor, uint32_t size,
		   uint64_t *flags)
{
	bool sign = op == OP_MULTIPLY_SIGNED, fits;
	unsigned __int128 product;

	if (sign)
		product = (unsigned __int128)((__int128)(int64_t)insn_sign_extend(*low, size) *
					      (int64_t)insn_sign_extend(factor, size));
	else
		product =
			(unsigned __int128)insn_truncate(*low, size) * insn_truncate(factor, size);
	*low = insn_truncate((uint64_t)product, size);
	*high = insn_truncate((uint64_t)(product >> (8 * size)), size);
	if (sign)
		fits = *high == insn_truncate(*low >> (8 * size - 1) ? UINT64_MAX : 0, size);
	else
		fits = *high == 0;
	set_flags(flags, FLAG_CARRY | FLAG_OVERFLOW, fits ? 0 : FLAG_CARRY | FLAG_OVERFLOW);
}

bool insn_divide(enum insn_op op, uint64_t *low, uint64_t *high, uint64_t divisor, uint32_t size)
{
	bool sign = op == OP_DIVIDE_SIGNED, negative, negative_divisor;
	unsigned __int128 dividend = (unsigned __int128)insn_truncate(*high, size) << (8 * size) |
				     insn_truncate(*low, size);
	uint64_t quotient, remainder, most;

	divisor = insn_truncate(divisor, size);
	negative = sign && insn_truncate(*high, size) >> (8 * size - 1);
	negative_divisor = sign && divisor >> (8 * size - 1);
	if (negative)
		dividend = -dividend;
	if (size == 4)
		dividend = (uint64_t)dividend;
	if (negative_divisor)
		divisor = insn_truncate(-divisor, size);
	/* By these checks the quotient has one digit, and needs no division of 128 bits. */
	if ((uint64_t)(dividend >> (8 * size)) >= divisor)
		return false;
	if (size == 4) {
		quotient = (uint64_t)dividend / divisor;
		remainder = (uint64_t)dividend % divisor;
	} else {
		__asm__("div %[divisor]"
			: "=a"(quotient), "=d"(remainder)
			: "a"((uint64_t)dividend),
			  "d"((uint64_t)(dividend >> 64)), [divisor] "r"(divisor)
			: "cc");
	}
	most = (UINT64_C(1) << (8 * size - 1)) - (negative == negative_divisor);
	if (sign && quotient > most)
		return false;
	*low = insn_truncate(negative == negative_divisor ? quotient : -quotient, size);
	*high = insn_truncate(negative ? -remainder : remainder, size);
	return true;
}
