/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_alu: integer operations and their resulting flags, as x86-64 defines them (Intel SDM volume
 * 1, 3.4.3). Pure functions. insn_general.c calls these functions.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_ALU_H
#define VERBS_SHIM_PRELOAD_INSN_ALU_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs-shim/preload/insn_decode.h"

/* Returns the result of `op` on operands of `size` bytes (left op right; for one operand: left).
 * Reads and updates *flags. */
uint64_t insn_alu(enum insn_op op, uint64_t left, uint64_t right, uint32_t size, uint64_t *flags);

/* Multiplies *low by a factor, or divides *high and *low by a divisor, both of 4 or 8 bytes.
 * insn_multiply() stores the halves of the product. insn_divide() stores the quotient in *low and
 * the remainder in *high. It returns false, and changes nothing, if the machine raises #DE. The
 * flags that the machine leaves undefined keep their values. */
void insn_multiply(enum insn_op op, uint64_t *low, uint64_t *high, uint64_t factor, uint32_t size,
		   uint64_t *flags);
bool insn_divide(enum insn_op op, uint64_t *low, uint64_t *high, uint64_t divisor, uint32_t size);

/* Returns the low `size` bytes of a value. */
static inline uint64_t insn_truncate(uint64_t value, uint32_t size)
{
	return size == 8 ? value : value & ((UINT64_C(1) << (8 * size)) - 1);
}

static inline uint64_t insn_sign_extend(uint64_t value, uint32_t size)
{
	uint64_t sign = UINT64_C(1) << (8 * size - 1);

	return size == 8 ? value : (insn_truncate(value, size) ^ sign) - sign;
}

#endif
