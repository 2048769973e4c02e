/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_block: code made ready to be carried out: instructions that follow each other in memory, up to a jump that is always
 * taken, each a step. Blocks are kept by address. As code may change under the same address, each is compared with it once in
 * a run, and again when something was stored where there is code.
 *
 * Who calls: insn.c.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_BLOCK_H
#define VERBS_SHIM_PRELOAD_INSN_BLOCK_H

#include <stdint.h>

#include "verbs-shim/preload/insn_machine.h"

#define BLOCK_BYTES 88

struct block {
	uint64_t rip;
	struct step *steps;    /* and one more, which ends the block */
	struct block *chain;   /* of the same place in the table */
	uint64_t epoch;        /* when it was last compared with the code; 0: never */
	uint8_t count;         /* of steps; 0: the instruction at `rip` is not known */
	uint8_t count_shallow; /* of those up to the first that moves the stack pointer */
	uint8_t length;        /* bytes of all, or of the instruction that is not known */
	uint8_t words; /* that hold them, to be compared at once; 0: they would reach into the next page */
	uint8_t bytes[BLOCK_BYTES];
} __attribute__((aligned(64)));

extern struct block blocks[]; /* the first is none */

/* No block holds code of [fence, fence + length) behind its first instruction, from now on. */
void block_fence(uint64_t fence, uint64_t length);

/* Code may have changed: each block is to be compared again. */
void block_distrust_all(void);

/* The block at an address, which is as the code is now. `before`: the step that led there, which will go on by itself the next
 * time; or NULL. */
struct block *block_at(struct insn_access *access, struct step *before, uint64_t rip);

/* Lets a block end behind `count` of its steps, until it is opened again. */
void block_close(struct block *block, uint32_t count, struct step *held);
void block_open(struct block *block, uint32_t count, const struct step *held);

/* The instruction of a step. */
const struct insn *block_insn(const struct step *step);

/* Ends a step by going on elsewhere: in the block that followed last, if it is still the right one. */
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
