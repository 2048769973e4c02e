/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_quick: the most frequent instructions, in the sizes and forms that compilers use. Each form
 * has its own function without run-time decisions. These functions access memory only on clear
 * pages; otherwise insn_general() runs. insn_block.c, which creates steps, calls these functions.
 * insn_quick_integer.c: arithmetic; insn_quick_branch.c: jumps, conditions, stack.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_QUICK_H
#define VERBS_SHIM_PRELOAD_INSN_QUICK_H

#include <stdbool.h>
#include <stdint.h>

#include "verbs-shim/preload/insn_general.h"
#include "verbs-shim/preload/insn_machine.h"

typedef enum step_result step_function(struct machine *machine, struct step *step);

/* Return the function for an instruction and fill in its step, whose address is already set. `next`
 * is the address of the next instruction. Return NULL if there is none. */
step_function *quick_integer(const struct insn *insn, struct step *step);
step_function *quick_flow(const struct insn *insn, uint64_t next, struct step *step);

#define TEMPLATE   ALWAYS_INLINE enum step_result
#define STEP(name) static enum step_result name(struct machine *machine, struct step *step)

/* Leaves the function if an access goes to memory that is not clear. */
#define NEED_CLEAR(address, size)                                                   \
	do {                                                                        \
		if (__builtin_expect(!machine_is_clear(machine, address, size), 0)) \
			return insn_general(machine, step);                         \
	} while (0)

enum place { REG, MEM, IMM }; /* kind of an operand */

TEMPLATE next(struct machine *machine, struct step *step)
{
	return step[1].carry_out(machine, step + 1);
}

ALWAYS_INLINE uint64_t load(uint64_t address, uint32_t size)
{
	uint64_t value = 0;

	__builtin_memcpy(&value, (const void *)address, size);
	return value;
}

ALWAYS_INLINE void store(uint64_t address, uint64_t value, uint32_t size)
{
	__builtin_memcpy((void *)address, &value, size);
}

static inline bool is_second_byte(const struct insn *insn, uint8_t number, uint32_t size)
{
	return number != INSN_NO_REG && machine_is_second_byte(insn, number, size);
}

#endif
