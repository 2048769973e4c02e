/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_block: code prepared for execution: consecutive instructions up to an unconditional jump,
 * one step per instruction. Blocks are stored by address. Code at an address may change. Each block
 * is therefore compared with the code once per run, and again after a store to a page with code.
 * insn.c calls these functions.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_BLOCK_H
#define VERBS_SHIM_PRELOAD_INSN_BLOCK_H

#include <stdint.h>

#include "verbs-shim/preload/insn_machine.h"

#define BLOCK_BYTES 88

struct block {
	uint64_t rip;
	struct step *steps;    /* followed by one more step, which ends the block */
	struct block *chain;   /* next block in the same hash slot */
	uint64_t epoch;        /* time of the last comparison with the code; 0: never */
	uint8_t count;         /* number of steps; 0: the instruction at `rip` is unknown */
	uint8_t count_shallow; /* steps before the first one that moves the stack pointer */
	uint8_t length;        /* bytes of all instructions, or of the unknown one */
	/* number of words to compare at once; 0: they would extend into the next page */
	uint8_t words;
	uint8_t bytes[BLOCK_BYTES];
} __attribute__((aligned(64)));

extern struct block blocks[]; /* blocks[0] is unused */

/* Excludes code of [fence, fence + length) from all blocks, except as a first instruction, from now
 * on. */
void block_fence(uint64_t fence, uint64_t length);

/* Marks all blocks for comparison, because code may have changed. */
void block_distrust_all(void);

/* Returns the block at an address, up to date with the code. `before` is the step that led there,
 * or NULL. It will jump directly to the block the next time. */
struct block *block_at(struct insn_access *access, struct step *before, uint64_t rip);

/* Ends a block after `count` of its steps, until block_open() restores it. */
void block_close(struct block *block, uint32_t count, struct step *held);
void block_open(struct block *block, uint32_t count, const struct step *held);

/* Returns the instruction of a step. */
const struct insn *block_insn(const struct step *step);

/* Ends a step and continues at `target`. Uses the block that followed last if it is still valid. */
ALWAYS_INLINE enum step_result step_leave(struct machine *machine, struct step *step,
					  uint64_t target)
{
	const struct block *block = &blocks[step->follower];

	machine->left -= step->ordinal;
	if (__builtin_expect(block->rip == target && block->epoch == machine->epoch &&
				     block->count - 1u < machine->left,
			     1)) {
		machine->block = target;
		return block->steps->carry_out(machine, block->steps);
	}
	machine->rip = target;
	machine->left_by = step;
	return STEP_LEFT;
}

#endif
