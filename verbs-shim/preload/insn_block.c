/* SPDX-License-Identifier: Apache-2.0 */
/* insn_block: see insn_block.h. When a pool is full, all blocks are discarded: polling loops have
 * little code. */
#include "verbs-shim/preload/insn_block.h"

#include <string.h>

#include "verbs-shim/preload/insn_decode.h"
#include "verbs-shim/preload/insn_general.h"
#include "verbs-shim/preload/insn_quick.h"

#define BLOCKS      2048
#define BLOCK_STEPS 24
#define STEPS       16384
#define PLACES      1024

struct block blocks[BLOCKS];
static struct step steps[STEPS];
static struct insn insns[STEPS]; /* of each step */
static struct block *places[PLACES];
static uint32_t block_count = 1, step_count;
static uint64_t fence, fence_length; /* that the blocks respect */
static uint64_t epoch = 1;

static void forget_all(void)
{
	memset(places, 0, sizeof(places));
	for (uint32_t i = 0; i < block_count; i++)
		blocks[i].epoch = 0; /* a step may still refer to it as its successor */
	block_count = 1;
	step_count = 0;
}

static bool is_last(const struct insn *insn)
{
	return insn->op == OP_CALL || insn->op == OP_CALL_RM || insn->op == OP_RETURN ||
	       insn->op == OP_JUMP || insn->op == OP_JUMP_RM;
}

/* Returns true if the instruction moves the stack pointer, or has it as an operand, which is
 * treated in the same way. */
static bool moves_stack(const struct insn *insn)
{
	return (insn->op >= OP_PUSH && insn->op <= OP_RETURN) || insn->rm_reg == REGISTER_RSP ||
	       insn->reg == REGISTER_RSP;
}

/* Returns false if a step has no room for the sum. */
static bool make_address(const struct insn *insn, uint64_t next, struct step *step)
{
	step->displacement = insn->displacement;
	step->base = insn->base == INSN_NO_REG ? REGISTER_NONE : insn->base;
	step->index = insn->index == INSN_NO_REG ? REGISTER_NONE : insn->index;
	step->shift = (uint8_t)__builtin_ctz(insn->scale);
	if (insn->rip_relative)
		step->displacement += (int64_t)next;
	if (!insn->fs)
		return !insn->gs;
	if (step->base == REGISTER_NONE) {
		step->base = REGISTER_THREAD;
		return true;
	}
	if (step->index != REGISTER_NONE)
		return false;
	step->index = REGISTER_THREAD;
	step->shift = 0;
	return true;
}

/* Ends a block, after its last step. */
static enum step_result end(struct machine *machine, struct step *step)
{
	return step_leave(machine, step, machine->block + step->offset);
}

/* Ends a block at an unknown instruction. */
static enum step_result unknown(struct machine *machine, struct step *step)
{
	machine->rip = machine->block + step->offset;
	machine->left -= step->ordinal;
	return STEP_UNKNOWN;
}

static void make_end(struct step *step, uint32_t count)
{
	step->ordinal = (uint8_t)count;
	step->follower = 0;
	step->carry_out = count > 0 ? end : unknown;
}

/* Adds the instruction at an address. `left` is the number of bytes to the end of its page. Returns
 * false if the instruction is unknown or ends the block. */
static bool add_step(struct block *block, uint64_t at, uint64_t left)
{
	struct step *step = &steps[step_count];
	struct insn *insn = &insns[step_count];
	uint32_t most = left < INSN_BYTES_MOST ? (uint32_t)left : INSN_BYTES_MOST;
	bool known = insn_decode((const uint8_t *)at, most, insn);
	uint64_t next;

	/* Reads the next page only if the instruction crosses into it, because that page may not
	 * exist. */
	if (!known && most < INSN_BYTES_MOST && block->count == 0)
		known = insn_decode((const uint8_t *)at, INSN_BYTES_MOST, insn);
	next = at + insn->length;
	if (!known || !make_address(insn, next, step))
		return false;
	step->offset = block->length;
	step->ordinal = (uint8_t)(block->count + 1);
	step->carry_out = quick_integer(insn, step);
	if (!step->carry_out)
		step->carry_out = quick_flow(insn, next, step);
	if (!step->carry_out)
		step->carry_out = insn_general;
	step_count++;
	if (block->count_shallow == block->count && !moves_stack(insn))
		block->count_shallow++;
	block->count++;
	block->length = (uint8_t)(block->length + insn->length);
	return !is_last(insn);
}

static void build(struct block *block, uint64_t rip)
{
	uint64_t page_end = (rip | (PAGE_BYTES - 1)) + 1, at = rip;
	bool open = true;

	block->epoch = 0; /* until it is complete: there may be no code to read */
	block->steps = &steps[step_count];
	block->count = block->count_shallow = block->length = 0;
	while (open && at < page_end && block->count < BLOCK_STEPS &&
	       block->length + INSN_BYTES_MOST <= BLOCK_BYTES &&
	       !(block->count > 0 && at - fence < fence_length)) {
		open = add_step(block, at, page_end - at);
		at = rip + block->length;
	}
	steps[step_count].offset = block->length;
	make_end(&steps[step_count++], block->count);
	if (block->count == 0)
		block->length = page_end - rip < INSN_BYTES_MOST ? (uint8_t)(page_end - rip)
								 : INSN_BYTES_MOST;
	block->words = (uint8_t)((block->length + 7) / 8);
	if (rip + 8u * block->words > page_end)
		block->words = 0;
	memcpy(block->bytes, (const uint8_t *)rip,
	       block->words ? 8u * block->words : block->length);
	block->rip = rip;
}

static bool is_as_it_was(const struct block *block)
{
	uint64_t differences = 0;

	if (block->epoch == 0)
		return false; /* it was never completed */
	if (block->words == 0)
		return memcmp(block->bytes, (const uint8_t *)block->rip, block->length) == 0;
	for (uint32_t i = 0; i < block->words; i++) {
		uint64_t kept, now;

		__builtin_memcpy(&kept, block->bytes + 8 * i, 8);
		__builtin_memcpy(&now, (const uint8_t *)block->rip + 8 * i, 8);
		differences |= kept ^ now;
	}
	return differences == 0;
}

static struct block **place_of(uint64_t rip)
{
	return &places[(rip ^ rip >> 10) % PLACES];
}

static struct block *add_block(uint64_t rip)
{
	struct block *block = &blocks[block_count];

	build(block, rip);
	block_count++;
	block->chain = *place_of(rip);
	*place_of(rip) = block;
	return block;
}

void block_fence(uint64_t from, uint64_t length)
{
	if (fence == from && fence_length == length)
		return;
	forget_all();
	fence = from;
	fence_length = length;
}

void block_distrust_all(void)
{
	epoch++;
}

struct block *block_at(struct insn_access *access, struct step *before, uint64_t rip)
{
	struct block *block = *place_of(rip);

	while (block && block->rip != rip)
		block = block->chain;
	if (!block || (block->epoch != epoch && !is_as_it_was(block))) {
		if (block_count == BLOCKS || step_count + BLOCK_STEPS + 1 > STEPS) {
			forget_all();
			block = NULL;
			before = NULL;
		}
		if (block)
			build(block, rip); /* anew, in its place */
		else
			block = add_block(rip);
	}
	if (block->epoch != epoch) {
		block->epoch = epoch;
		machine_mark_code(access, rip);
		machine_mark_code(access, rip + block->length - 1);
	}
	if (before)
		before->follower = (uint16_t)(block - blocks);
	return block;
}

void block_close(struct block *block, uint32_t count, struct step *held)
{
	struct step *step = &block->steps[count];

	*held = *step;
	make_end(step, count);
}

void block_open(struct block *block, uint32_t count, const struct step *held)
{
	block->steps[count] = *held;
}

const struct insn *block_insn(const struct step *step)
{
	return &insns[step - steps];
}
