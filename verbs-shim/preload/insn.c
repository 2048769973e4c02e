/* SPDX-License-Identifier: Apache-2.0 */
/* insn: see insn.h. Runs block by block. insn_quick_*.c and insn_general.c execute the instructions
 * of a block. */
#include "verbs-shim/preload/insn.h"

#include "verbs-shim/preload/insn_block.h"
#include "verbs-shim/preload/insn_machine.h"

static void take_registers(struct machine *machine, ucontext_t *context, struct insn_access *access)
{
	const greg_t *gregs = context->uc_mcontext.gregs;
	uint64_t *registers = machine->registers;

	registers[REGISTER_RAX] = (uint64_t)gregs[REG_RAX];
	registers[REGISTER_RCX] = (uint64_t)gregs[REG_RCX];
	registers[REGISTER_RDX] = (uint64_t)gregs[REG_RDX];
	registers[REGISTER_RBX] = (uint64_t)gregs[REG_RBX];
	registers[REGISTER_RSP] = (uint64_t)gregs[REG_RSP];
	registers[REGISTER_RBP] = (uint64_t)gregs[REG_RBP];
	registers[REGISTER_RSI] = (uint64_t)gregs[REG_RSI];
	registers[REGISTER_RDI] = (uint64_t)gregs[REG_RDI];
	for (uint32_t i = 0; i < 8; i++) /* R8 to R15 are in order in both */
		registers[8 + i] = (uint64_t)gregs[REG_R8 + i];
	registers[REGISTER_NONE] = 0;
	/* Thread-local data: its first word holds its address (System V ABI). */
	registers[REGISTER_THREAD] = (uint64_t)(uintptr_t)__builtin_thread_pointer();
	machine->rip = (uint64_t)gregs[REG_RIP];
	flags_set(&machine->flags, (uint64_t)gregs[REG_EFL]);
	machine->context = context;
	machine->access = access;
}

static void give_registers(struct machine *machine)
{
	machine_publish(machine, machine->rip);
	machine->context->uc_mcontext.gregs[REG_EFL] = (greg_t)flags_value(&machine->flags);
}

/* Carries out blocks, beginning with the first `most` steps of one at most. */
static enum step_result run_from(struct machine *machine, struct block *block, uint32_t most)
{
	enum step_result result;
	struct step held;

	machine->block = block->rip;
	if (most >= block->count)
		return block->steps->carry_out(machine, block->steps);
	block_close(block, most, &held);
	result = block->steps->carry_out(machine, block->steps);
	block_open(block, most, &held);
	if (result == STEP_LEFT)
		machine->left_by = NULL;
	return result;
}

static enum insn_result result_of(enum step_result result)
{
	return result == STEP_UNKNOWN   ? INSN_UNKNOWN
	       : result == STEP_REFUSED ? INSN_REFUSED
					: INSN_DONE;
}

void insn_distrust(void)
{
	block_distrust_all();
}

enum insn_result insn_step(ucontext_t *context, struct insn_access *access)
{
	struct machine machine;
	enum step_result result;

	take_registers(&machine, context, access);
	machine.epoch = 0;
	machine.left = 1;
	result = run_from(&machine, block_at(access, NULL, machine.rip), 1);
	if (result == STEP_CHANGED)
		insn_distrust();
	give_registers(&machine);
	return result_of(result);
}

/* Executes a function in the fence and its return. */
static bool call(struct machine *machine)
{
	struct insn_access *access = machine->access;
	const greg_t *gregs = machine->context->uc_mcontext.gregs;

	if (!access->call || access->shallow)
		return false;
	machine_publish(machine, machine->rip);
	if (!access->call(access, machine->context, &machine->left))
		return false;
	machine->registers[REGISTER_RAX] = (uint64_t)gregs[REG_RAX];
	machine->registers[REGISTER_RSP] = (uint64_t)gregs[REG_RSP];
	machine->rip = (uint64_t)gregs[REG_RIP];
	return true;
}

static enum insn_result run_blocks(struct machine *machine)
{
	struct insn_access *access = machine->access;
	enum step_result result;
	struct step *before = NULL;

	while (machine->left > 0) {
		uint32_t most = machine->left;
		struct block *block;

		if (machine->rip - access->fence < access->fence_length) {
			if (!call(machine))
				return INSN_UNKNOWN;
			before = NULL;
			continue;
		}
		block = block_at(access, before, machine->rip);
		machine->epoch = access->shallow ? 0 : block->epoch;
		if (access->shallow && most > block->count_shallow)
			most = block->count_shallow;
		result = run_from(machine, block, most);
		if (result == STEP_UNKNOWN || result == STEP_REFUSED)
			return result_of(result);
		if (result == STEP_CHANGED)
			insn_distrust();
		before = machine->left_by;
	}
	return INSN_DONE;
}

enum insn_result insn_run(ucontext_t *context, struct insn_access *access, uint32_t most,
			  uint32_t *count)
{
	struct machine machine;
	enum insn_result result;

	block_fence(access->fence, access->fence_length);
	take_registers(&machine, context, access);
	machine.left = most;
	result = run_blocks(&machine);
	*count = most - machine.left;
	give_registers(&machine);
	return result;
}
