/* SPDX-License-Identifier: Apache-2.0 */
/* insn_quick_branch: see insn_quick.h. Jumps, calls, returns, conditional instructions, and stack
 * instructions. */
#include "verbs-shim/preload/insn_block.h"
#include "verbs-shim/preload/insn_quick.h"

/* Computes the flags first, then repeats this step. */
static __attribute__((noinline)) enum step_result settle_flags(struct machine *machine,
							       struct step *step)
{
	flags_set(&machine->flags, flags_value(&machine->flags));
	return step->carry_out(machine, step);
}

#define NEED_FLAGS(condition)                                                        \
	do {                                                                         \
		if (__builtin_expect(!flags_suffice(&machine->flags, condition), 0)) \
			return settle_flags(machine, step);                          \
	} while (0)

TEMPLATE jump_if(struct machine *machine, struct step *step, uint8_t condition)
{
	NEED_FLAGS(condition);
	if (!flags_hold(&machine->flags, condition))
		return next(machine, step);
	return step_leave(machine, step, (uint64_t)step->immediate);
}

TEMPLATE move_if(struct machine *machine, struct step *step, uint32_t size)
{
	uint64_t value;

	NEED_FLAGS(step->condition);
	value = machine->registers[flags_hold(&machine->flags, step->condition) ? step->from
										: step->to];
	machine->registers[step->to] = insn_truncate(value, size);
	return next(machine, step);
}

TEMPLATE push(struct machine *machine, struct step *step, uint64_t value)
{
	uint64_t top = machine->registers[REGISTER_RSP] - 8;

	NEED_CLEAR(top, 8);
	store(top, value, 8);
	machine->registers[REGISTER_RSP] = top;
	return next(machine, step);
}

/* JMP and CALL. step->displacement has the return address. If the call target is in memory,
 * step->immediate has it. */
TEMPLATE transfer(struct machine *machine, struct step *step, enum place from, bool call)
{
	uint64_t top = machine->registers[REGISTER_RSP] - 8, target;

	if (from == MEM) {
		uint64_t address = machine_address(machine, step);

		NEED_CLEAR(address, 8);
		target = load(address, 8);
	} else {
		target = from == REG ? machine->registers[step->from] : (uint64_t)step->immediate;
	}
	if (call) {
		NEED_CLEAR(top, 8);
		store(top, (uint64_t)(from == MEM ? step->immediate : step->displacement), 8);
		machine->registers[REGISTER_RSP] = top;
	}
	return step_leave(machine, step, target);
}

/* clang-format off */
#define CONDITIONS(of) \
	of(0) of(1) of(2) of(3) of(4) of(5) of(6) of(7) \
	of(8) of(9) of(10) of(11) of(12) of(13) of(14) of(15)
#define JUMP_IF(condition)                                      \
	STEP(jump_if_##condition)                               \
	{                                                       \
		return jump_if(machine, step, condition);       \
	}
#define JUMP_IF_NAME(condition) jump_if_##condition,

CONDITIONS(JUMP_IF)

static step_function *const jumps_if[16] = {CONDITIONS(JUMP_IF_NAME)};

#define TRANSFER(name, from, call)                              \
	STEP(name)                                              \
	{                                                       \
		return transfer(machine, step, from, call);     \
	}

TRANSFER(jump, IMM, false)
TRANSFER(jump_REG, REG, false)
TRANSFER(jump_MEM, MEM, false)
TRANSFER(call, IMM, true)
TRANSFER(call_REG, REG, true)
TRANSFER(call_MEM, MEM, true)
/* clang-format on */

STEP(give_back)
{
	uint64_t top = machine->registers[REGISTER_RSP];

	NEED_CLEAR(top, 8);
	machine->registers[REGISTER_RSP] = top + 8;
	return step_leave(machine, step, load(top, 8));
}

STEP(push_REG)
{
	return push(machine, step, machine->registers[step->from]);
}

STEP(push_IMM)
{
	return push(machine, step, (uint64_t)step->immediate);
}

STEP(pop_REG)
{
	uint64_t top = machine->registers[REGISTER_RSP];

	NEED_CLEAR(top, 8);
	machine->registers[REGISTER_RSP] = top + 8;
	machine->registers[step->to] = load(top, 8);
	return next(machine, step);
}

STEP(move_if_4)
{
	return move_if(machine, step, 4);
}

STEP(move_if_8)
{
	return move_if(machine, step, 8);
}

STEP(set_if)
{
	NEED_FLAGS(step->condition);
	machine_set(machine, step->to, 1, flags_hold(&machine->flags, step->condition));
	return next(machine, step);
}

static step_function *choose_transfer(const struct insn *insn, uint64_t next, struct step *step)
{
	bool memory = insn->rm_reg == INSN_NO_REG;

	step->follower = 0;
	step->from = insn->rm_reg;
	switch (insn->op) {
	case OP_CALL:
		step->displacement = (int64_t)next;
		step->immediate = (int64_t)next + insn->immediate;
		return call;
	case OP_JUMP:
		step->immediate = (int64_t)next + insn->immediate;
		return jump;
	case OP_CALL_RM:
		if (memory)
			step->immediate = (int64_t)next;
		else
			step->displacement = (int64_t)next;
		return memory ? call_MEM : call_REG;
	case OP_JUMP_RM:
		return memory ? jump_MEM : jump_REG;
	default:
		return give_back;
	}
}

step_function *quick_flow(const struct insn *insn, uint64_t next, struct step *step)
{
	bool memory = insn->rm_reg == INSN_NO_REG;

	step->condition = insn->condition;
	switch (insn->op) {
	case OP_CALL:
	case OP_CALL_RM:
	case OP_JUMP:
	case OP_JUMP_RM:
	case OP_RETURN:
		return choose_transfer(insn, next, step);
	case OP_JUMP_IF:
		step->follower = 0;
		step->immediate = (int64_t)next + insn->immediate;
		return jumps_if[insn->condition];
	case OP_SET_IF:
		step->to = insn->rm_reg;
		return memory || is_second_byte(insn, insn->rm_reg, 1) ? NULL : set_if;
	case OP_MOVE_IF:
		step->to = insn->reg;
		step->from = insn->rm_reg;
		if (memory || insn->size < 4)
			return NULL;
		return insn->size == 8 ? move_if_8 : move_if_4;
	case OP_PUSH:
		step->from = insn->rm_reg;
		step->immediate = insn->immediate;
		if (insn->form == FORM_NONE)
			return push_IMM;
		return memory ? NULL : push_REG;
	case OP_POP:
		step->to = insn->rm_reg;
		return pop_REG;
	default:
		return NULL;
	}
}
