/* insn_alu: see insn_alu.h. */
#include "verbs-shim/preload/insn_alu.h"

enum { CF = 1 << 0, PF = 1 << 2, AF = 1 << 4, ZF = 1 << 6, SF = 1 << 7, OF = 1 << 11 };

static uint64_t result_flags(uint64_t result, uint32_t size)
{
	uint64_t flags = 0;

	if (!result)
		flags |= ZF;
	if (result >> (8 * size - 1) & 1)
		flags |= SF;
	if (!__builtin_parity((unsigned)(result & 0xff)))
		flags |= PF;
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
		values |= CF;
	if ((left ^ right ^ result) & 0x10)
		values |= AF;
	if (((left ^ result) & (right ^ result)) >> (8 * size - 1) & 1)
		values |= OF;
	set_flags(flags, changed, values);
	return result;
}

static uint64_t subtract(uint64_t left, uint64_t right, uint64_t borrow, uint32_t size,
			 uint64_t *flags, uint64_t changed)
{
	uint64_t result = insn_truncate(left - right - borrow, size);
	uint64_t values = result_flags(result, size);

	if (left < right || (borrow && left == right))
		values |= CF;
	if ((left ^ right ^ result) & 0x10)
		values |= AF;
	if (((left ^ right) & (left ^ result)) >> (8 * size - 1) & 1)
		values |= OF;
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
	uint64_t values = result_flags(result, size) | (carry ? CF : 0) | (overflow ? OF : 0);

	set_flags(flags, CF | PF | ZF | SF | (count == 1 ? OF : 0), values);
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
	set_flags(flags, CF, carry ? CF : 0);
	if (masked == 1)
		set_flags(flags, OF,
			  top ^ (op == OP_ROL ? carry : result >> (bits - 2) & 1) ? OF : 0);
	return result;
}

static uint64_t multiply(uint64_t left, uint64_t right, uint32_t size, uint64_t *flags)
{
	__int128 product = (__int128)(int64_t)insn_sign_extend(left, size) *
			   (int64_t)insn_sign_extend(right, size);
	uint64_t result = insn_truncate((uint64_t)product, size);
	bool fits = product == (__int128)(int64_t)insn_sign_extend(result, size);

	set_flags(flags, CF | OF, fits ? 0 : CF | OF); /* the others are undefined */
	return result;
}

uint64_t insn_alu(enum insn_op op, uint64_t left, uint64_t right, uint32_t size, uint64_t *flags)
{
	const uint64_t all = CF | PF | AF | ZF | SF | OF;
	uint64_t carry = *flags & CF, result;

	left = insn_truncate(left, size);
	right = insn_truncate(right, size);
	switch (op) {
	case OP_ADD:
		return add(left, right, 0, size, flags, all);
	case OP_ADC:
		return add(left, right, carry, size, flags, all);
	case OP_INC:
		return add(left, 1, 0, size, flags, all & ~(uint64_t)CF);
	case OP_SUB:
	case OP_CMP:
		return subtract(left, right, 0, size, flags, all);
	case OP_SBB:
		return subtract(left, right, carry, size, flags, all);
	case OP_DEC:
		return subtract(left, 1, 0, size, flags, all & ~(uint64_t)CF);
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
		set_flags(flags, CF, left >> (right % (8 * size)) & 1 ? CF : 0);
		return left;
	case OP_BIT_FIRST:
	case OP_BIT_LAST: /* the other flags are undefined, and so is the result of 0: it stays */
		set_flags(flags, ZF, right ? 0 : ZF);
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
	set_flags(flags, all & ~(uint64_t)AF, result_flags(result, size)); /* AF is undefined */
	return result;
}

bool insn_condition(uint8_t condition, uint64_t flags)
{
	bool cf = flags & CF, zf = flags & ZF, sf = flags & SF, of = flags & OF, holds;

	switch (condition >> 1) {
	case 0:
		holds = of;
		break;
	case 1:
		holds = cf;
		break;
	case 2:
		holds = zf;
		break;
	case 3:
		holds = cf || zf;
		break;
	case 4:
		holds = sf;
		break;
	case 5:
		holds = flags & PF;
		break;
	case 6:
		holds = sf != of;
		break;
	default:
		holds = zf || sf != of;
		break;
	}
	return holds != (condition & 1);
}
