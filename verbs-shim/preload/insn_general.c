/* SPDX-License-Identifier: Apache-2.0 */
/* insn_general: see insn_general.h. An instruction first reads all it needs, then stores, and only
 * then changes registers. */
#include "verbs-shim/preload/insn_general.h"

#include <string.h>

#include "verbs-shim/preload/insn_alu.h"
#include "verbs-shim/preload/insn_block.h"
#include "verbs-shim/preload/insn_machine.h"
#include "verbs-shim/preload/insn_vector.h"

#define REPEAT_CHUNK 512

/* Executes MOVS and STOS, with or without REP, one piece at a time. Returns false if a callback
 * refused. The registers then describe the completed part. */
static bool run_string(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t *registers = machine->registers;
	uint64_t count = insn->repeat ? registers[REGISTER_RCX] : 1;
	uint8_t bytes[REPEAT_CHUNK];

	while (count) {
		uint64_t items =
			sizeof(bytes) / insn->size < count ? sizeof(bytes) / insn->size : count;
		uint32_t length = (uint32_t)items * insn->size;
		uint64_t to = registers[REGISTER_RDI], from = registers[REGISTER_RSI];

		if (insn->op == OP_MOVS && to > from &&
		    to - from < length) { /* overlapping: it repeats a pattern */
			items = 1;
			length = insn->size;
		}
		if (insn->op == OP_MOVS) {
			if (!machine_load(machine, from, bytes, length))
				return false;
		} else {
			for (uint32_t i = 0; i < length; i += insn->size)
				memcpy(bytes + i, &registers[REGISTER_RAX], insn->size);
		}
		if (!machine_store(machine, to, bytes, length))
			return false;
		registers[REGISTER_RDI] += length;
		if (insn->op == OP_MOVS)
			registers[REGISTER_RSI] += length;
		count -= items;
		if (insn->repeat)
			registers[REGISTER_RCX] = count;
	}
	return true;
}

static bool read_rm(struct machine *machine, uint32_t size, uint64_t *value)
{
	*value = 0;
	if (machine->insn->rm_reg == INSN_NO_REG)
		return machine_load(machine, machine->address, value, size);
	*value = machine_read(machine, machine->insn->rm_reg, size);
	return true;
}

static bool write_rm(struct machine *machine, uint32_t size, uint64_t value)
{
	if (machine->insn->rm_reg == INSN_NO_REG)
		return machine_store(machine, machine->address, &value, size);
	machine_write(machine, machine->insn->rm_reg, size, value);
	return true;
}

static uint64_t right_operand(struct machine *machine, uint64_t rm)
{
	switch (machine->insn->form) {
	case FORM_REG_RM:
		return rm;
	case FORM_RM_IMMEDIATE:
	case FORM_REG_RM_IMMEDIATE:
		return (uint64_t)machine->insn->immediate;
	case FORM_RM_CL:
		return machine_read(machine, 1, 1);
	default:
		return machine_read(machine, machine->insn->reg, machine->insn->size);
	}
}

/* MOV, MOVZX, MOVSX. */
static bool run_move(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint32_t rm_size = insn->source_size ? insn->source_size : insn->size;
	uint64_t value;

	if (insn->form != FORM_REG_RM)
		return write_rm(machine, insn->size, right_operand(machine, 0));
	if (!read_rm(machine, rm_size, &value))
		return false;
	if (insn->op == OP_MOVSX)
		value = insn_sign_extend(value, insn->source_size);
	machine_write(machine, insn->reg, insn->size, value);
	return true;
}

static bool run_integer(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t flags = flags_value(&machine->flags);
	bool to_reg = insn->form == FORM_REG_RM || insn->form == FORM_REG_RM_IMMEDIATE;
	uint64_t rm = 0, left, right, result;

	if (!read_rm(machine, insn->size, &rm))
		return false;
	left = insn->form == FORM_REG_RM ? machine_read(machine, insn->reg, insn->size) : rm;
	right = right_operand(machine, rm);
	result = insn_alu(insn->op, left, right, insn->size, &flags);
	if (insn->op != OP_CMP && insn->op != OP_TEST && insn->op != OP_BIT_TEST) {
		if (to_reg)
			machine_write(machine, insn->reg, insn->size, result);
		else if (!write_rm(machine, insn->size, result))
			return false;
	}
	flags_set(&machine->flags, flags);
	return true;
}

static bool push(struct machine *machine, uint64_t value)
{
	uint64_t *stack = &machine->registers[REGISTER_RSP];

	if (!machine_store(machine, *stack - 8, &value, 8))
		return false;
	*stack -= 8;
	return true;
}

static bool pop(struct machine *machine, uint64_t *value)
{
	uint64_t *stack = &machine->registers[REGISTER_RSP];

	if (!machine_load(machine, *stack, value, 8))
		return false;
	*stack += 8;
	return true;
}

/* Executes MUL, DIV and their signed forms, on RAX and RDX. *raises: the machine raises #DE. */
static bool run_wide(struct machine *machine, bool *raises)
{
	const struct insn *insn = machine->insn;
	uint64_t flags = flags_value(&machine->flags), operand;
	uint64_t low = machine->registers[REGISTER_RAX], high = machine->registers[REGISTER_RDX];

	if (!read_rm(machine, insn->size, &operand))
		return false;
	if (insn->op == OP_MULTIPLY || insn->op == OP_MULTIPLY_SIGNED)
		insn_multiply(insn->op, &low, &high, operand, insn->size, &flags);
	else
		*raises = !insn_divide(insn->op, &low, &high, operand, insn->size);
	if (*raises)
		return false;
	machine->registers[REGISTER_RAX] = low;
	machine->registers[REGISTER_RDX] = high;
	flags_set(&machine->flags, flags);
	return true;
}

/* Executes PUSH, POP, LEAVE, CALL, RET and jumps through a register or memory. */
static bool run_stack(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t next = machine->rip, value = (uint64_t)insn->immediate;
	uint64_t frame = machine->registers[REGISTER_RBP];

	switch (insn->op) {
	case OP_PUSH:
		return (insn->form == FORM_NONE || read_rm(machine, 8, &value)) &&
		       push(machine, value);
	case OP_POP:
		if (!pop(machine, &value))
			return false;
		machine_write(machine, insn->rm_reg, 8, value);
		return true;
	case OP_LEAVE:
		if (!machine_load(machine, frame, &value, 8))
			return false;
		machine->registers[REGISTER_RSP] = frame + 8;
		machine->registers[REGISTER_RBP] = value;
		return true;
	case OP_RETURN:
		if (!pop(machine, &value))
			return false;
		break;
	case OP_JUMP_RM:
	case OP_CALL_RM:
		if (!read_rm(machine, 8, &value))
			return false;
		break;
	default: /* OP_CALL */
		value += next;
		break;
	}
	if ((insn->op == OP_CALL || insn->op == OP_CALL_RM) && !push(machine, next))
		return false;
	machine->rip = value;
	return true;
}

static void run_exchange(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t reg = machine_read(machine, insn->reg, insn->size);
	uint64_t rm = machine_read(machine, insn->rm_reg, insn->size);

	machine_write(machine, insn->reg, insn->size, rm);
	machine_write(machine, insn->rm_reg, insn->size, reg);
}

static void run_sign(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t value = machine_read(machine, 0, insn->size);

	if (insn->op == OP_WIDEN)
		machine_write(machine, 0, insn->size, insn_sign_extend(value, insn->size / 2));
	else
		machine_write(machine, 2, insn->size,
			      value >> (8 * insn->size - 1) & 1 ? UINT64_MAX : 0);
}

/* Returns true if the condition of the instruction holds. */
static bool holds(struct machine *machine)
{
	uint8_t condition = machine->insn->condition;

	if (!flags_suffice(&machine->flags, condition))
		flags_set(&machine->flags, flags_value(&machine->flags));
	return flags_hold(&machine->flags, condition);
}

/* *raises: the instruction raises an exception on the machine, which must execute it. */
static bool run(struct machine *machine, bool *raises)
{
	const struct insn *insn = machine->insn;
	uint64_t value;

	switch (insn->op) {
	case OP_NOP:
		return true;
	case OP_MOV:
	case OP_MOVZX:
	case OP_MOVSX:
		return run_move(machine);
	case OP_LEA:
		machine_write(machine, insn->reg, insn->size, machine->address);
		return true;
	case OP_JUMP:
		machine->rip += (uint64_t)insn->immediate;
		return true;
	case OP_JUMP_IF:
		machine->rip += holds(machine) ? (uint64_t)insn->immediate : 0;
		return true;
	case OP_SET_IF:
		return write_rm(machine, 1, holds(machine));
	case OP_MOVE_IF:
		if (!read_rm(machine, insn->size, &value))
			return false;
		machine_write(machine, insn->reg, insn->size,
			      holds(machine) ? value
					     : machine_read(machine, insn->reg, insn->size));
		return true;
	case OP_XCHG:
		run_exchange(machine);
		return true;
	case OP_WIDEN:
	case OP_SPREAD:
		run_sign(machine);
		return true;
	case OP_MULTIPLY:
	case OP_MULTIPLY_SIGNED:
	case OP_DIVIDE:
	case OP_DIVIDE_SIGNED:
		return run_wide(machine, raises);
	case OP_PUSH:
	case OP_POP:
	case OP_LEAVE:
	case OP_CALL:
	case OP_CALL_RM:
	case OP_RETURN:
	case OP_JUMP_RM:
		return run_stack(machine);
	case OP_MOVS:
	case OP_STOS:
		return run_string(machine);
	case OP_VECTOR_HIGH_LOAD:
	case OP_VECTOR_HIGH_STORE:
		return insn_vector_high(machine);
	case OP_VECTOR_ALU:
		return insn_vector_operation(machine);
	case OP_VECTOR_LOAD:
		return insn_vector_load(machine);
	case OP_VECTOR_STORE:
		return insn_vector_store(machine);
	default:
		return run_integer(machine);
	}
}

enum step_result insn_general(struct machine *machine, struct step *step)
{
	const struct insn *insn = block_insn(step);
	uint64_t at = machine->block + step->offset, next = at + insn->length;
	bool backwards = machine->flags.known & FLAG_DIRECTION, raises = false;

	machine->insn = insn;
	machine->at = at;
	machine->rip = next;
	machine->address = machine_address(machine, step);
	machine->changed = false;
	if (backwards && (insn->op == OP_MOVS || insn->op == OP_STOS)) {
		machine->rip = at;
		machine->left -= step->ordinal - 1u;
		return STEP_UNKNOWN;
	}
	if (!run(machine, &raises)) {
		machine->rip = at;
		machine->left -= step->ordinal - 1u;
		return raises ? STEP_UNKNOWN : STEP_REFUSED;
	}
	if (!machine->changed && machine->rip == next)
		return step[1].carry_out(machine, step + 1);
	machine->left_by = NULL;
	machine->left -= step->ordinal;
	return machine->changed ? STEP_CHANGED : STEP_LEFT;
}
