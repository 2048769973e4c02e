/* insn: see insn.h. An instruction first reads all it needs, then stores, and only then changes registers. */
#include "verbs-shim/preload/insn.h"

#include <string.h>

#include "verbs-shim/preload/insn_alu.h"
#include "verbs-shim/preload/insn_decode.h"
#include "verbs-shim/preload/insn_machine.h"
#include "verbs-shim/preload/insn_vector.h"

#define REPEAT_CHUNK 512
#define DECODED      2048
#define PAGE         4096u

static uint64_t effective_address(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t address = (uint64_t)insn->displacement;

	if (insn->base != INSN_NO_REG)
		address += (uint64_t)*machine_general(machine, insn->base);
	if (insn->index != INSN_NO_REG)
		address += (uint64_t)*machine_general(machine, insn->index) * insn->scale;
	if (insn->fs) /* thread-local data: its first word holds its address (System V ABI) */
		address += (uint64_t)(uintptr_t)__builtin_thread_pointer();
	if (insn->rip_relative)
		address += (uint64_t)machine->context->uc_mcontext.gregs[REG_RIP] + insn->length;
	return address;
}

/* MOVS and STOS, with or without REP; a piece at a time. false: a callback refused; registers stand at what was done. */
static bool run_string(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	uint64_t count = insn->repeat ? (uint64_t)gregs[REG_RCX] : 1;
	uint8_t bytes[REPEAT_CHUNK];

	while (count) {
		uint64_t items =
			sizeof(bytes) / insn->size < count ? sizeof(bytes) / insn->size : count;
		uint32_t length = (uint32_t)items * insn->size;
		uint64_t to = (uint64_t)gregs[REG_RDI], from = (uint64_t)gregs[REG_RSI];

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
				memcpy(bytes + i, &gregs[REG_RAX], insn->size);
		}
		if (!machine_store(machine, to, bytes, length))
			return false;
		gregs[REG_RDI] += length;
		if (insn->op == OP_MOVS)
			gregs[REG_RSI] += length;
		count -= items;
		if (insn->repeat)
			gregs[REG_RCX] = (greg_t)count;
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

static bool run_integer(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	uint64_t flags = (uint64_t)machine->context->uc_mcontext.gregs[REG_EFL];
	bool to_reg = insn->form == FORM_REG_RM || insn->form == FORM_REG_RM_IMMEDIATE;
	uint32_t rm_size = insn->source_size ? insn->source_size : insn->size;
	uint64_t rm = 0, left, right, result;

	if (!(insn->op == OP_MOV && !to_reg) && !read_rm(machine, rm_size, &rm))
		return false;
	left = insn->form == FORM_REG_RM ? machine_read(machine, insn->reg, insn->size) : rm;
	right = right_operand(machine, rm);
	if (insn->op == OP_MOVSX)
		result = insn_truncate(insn_sign_extend(rm, insn->source_size), insn->size);
	else if (insn->op == OP_MOVZX)
		result = rm;
	else
		result = insn_alu(insn->op, left, right, insn->size, &flags);
	if (insn->op != OP_CMP && insn->op != OP_TEST && insn->op != OP_BIT_TEST) {
		if (to_reg)
			machine_write(machine, insn->reg, insn->size, result);
		else if (!write_rm(machine, insn->size, result))
			return false;
	}
	machine->context->uc_mcontext.gregs[REG_EFL] = (greg_t)flags;
	return true;
}

static bool push(struct machine *machine, uint64_t value)
{
	greg_t *stack = &machine->context->uc_mcontext.gregs[REG_RSP];

	if (!machine_store(machine, (uint64_t)*stack - 8, &value, 8))
		return false;
	*stack -= 8;
	return true;
}

static bool pop(struct machine *machine, uint64_t *value)
{
	greg_t *stack = &machine->context->uc_mcontext.gregs[REG_RSP];

	if (!machine_load(machine, (uint64_t)*stack, value, 8))
		return false;
	*stack += 8;
	return true;
}

/* PUSH, POP, LEAVE, CALL, RET and jumps through a register or memory. RIP still stands on the instruction. */
static bool run_stack(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	uint64_t next = (uint64_t)gregs[REG_RIP] + insn->length, value = (uint64_t)insn->immediate;
	uint64_t frame = (uint64_t)gregs[REG_RBP];

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
		gregs[REG_RSP] = (greg_t)frame + 8;
		gregs[REG_RBP] = (greg_t)value;
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
	gregs[REG_RIP] = (greg_t)(value - insn->length); /* which is added to it when all is done */
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

static bool run(struct machine *machine)
{
	const struct insn *insn = machine->insn;
	greg_t *gregs = machine->context->uc_mcontext.gregs;
	bool holds = insn_condition(insn->condition, (uint64_t)gregs[REG_EFL]);
	uint64_t value;

	switch (insn->op) {
	case OP_NOP:
		return true;
	case OP_LEA:
		machine_write(machine, insn->reg, insn->size, machine->address);
		return true;
	case OP_JUMP:
		gregs[REG_RIP] += insn->immediate;
		return true;
	case OP_JUMP_IF:
		gregs[REG_RIP] += holds ? insn->immediate : 0;
		return true;
	case OP_SET_IF:
		return write_rm(machine, 1, holds);
	case OP_MOVE_IF:
		if (!read_rm(machine, insn->size, &value))
			return false;
		machine_write(machine, insn->reg, insn->size,
			      holds ? value : machine_read(machine, insn->reg, insn->size));
		return true;
	case OP_XCHG:
		run_exchange(machine);
		return true;
	case OP_WIDEN:
	case OP_SPREAD:
		run_sign(machine);
		return true;
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

/* What was decoded before, by place; the bytes are compared, as code may change. */
static struct {
	uint64_t rip; /* 0: empty */
	uint8_t bytes[16];
	struct insn insn;
} __attribute__((aligned(64))) decoded[DECODED]; /* a cache line each */

_Static_assert(sizeof(decoded[0]) == 64, "a cache line");

static bool is_kept(uint32_t at, uint64_t rip)
{
	uint64_t kept[2], now[2];

	if (decoded[at].rip != rip)
		return false;
	__builtin_memcpy(kept, decoded[at].bytes, sizeof(kept));
	__builtin_memcpy(now, (const uint8_t *)rip, sizeof(now));
	return kept[0] == now[0] && kept[1] == now[1];
}

static const struct insn *decode_at(uint64_t rip, struct insn *fresh)
{
	uint32_t at = (uint32_t)(rip ^ rip >> 11) % DECODED;
	uint64_t left = PAGE - (rip & (PAGE - 1));
	bool known;

	/* The bytes after the instruction may lie on a page that is not there; stay on this one if it suffices. */
	if (left < sizeof(decoded[at].bytes)) {
		known = (left < INSN_BYTES_MOST &&
			 insn_decode((const uint8_t *)rip, (uint32_t)left, fresh)) ||
			insn_decode((const uint8_t *)rip, INSN_BYTES_MOST, fresh);
		return known ? fresh : NULL;
	}
	if (is_kept(at, rip))
		return &decoded[at].insn;
	decoded[at].rip = 0;
	if (!insn_decode((const uint8_t *)rip, INSN_BYTES_MOST, &decoded[at].insn))
		return NULL;
	decoded[at].rip = rip;
	memcpy(decoded[at].bytes, (const uint8_t *)rip, sizeof(decoded[at].bytes));
	return &decoded[at].insn;
}

static bool decode(struct machine *machine)
{
	const greg_t *gregs = machine->context->uc_mcontext.gregs;
	enum { DIRECTION_FLAG = 1 << 10 };

	machine->insn = decode_at((uint64_t)gregs[REG_RIP], &machine->fresh);
	if (!machine->insn)
		return false;
	if (machine->insn->gs)
		return false;
	if ((machine->insn->op == OP_MOVS || machine->insn->op == OP_STOS) &&
	    gregs[REG_EFL] & DIRECTION_FLAG)
		return false;
	machine->address = effective_address(machine);
	return true;
}

enum insn_result insn_step(ucontext_t *context, struct insn_access *access)
{
	struct machine machine;
	greg_t rip = context->uc_mcontext.gregs[REG_RIP];

	machine.context = context;
	machine.access = access;
	if (!decode(&machine))
		return INSN_UNKNOWN;
	if (!run(&machine)) {
		context->uc_mcontext.gregs[REG_RIP] = rip;
		return INSN_REFUSED;
	}
	context->uc_mcontext.gregs[REG_RIP] += machine.insn->length;
	return INSN_DONE;
}

/* Does it move the stack pointer? (Or name it as an operand, which comes to the same here.) */
static bool moves_stack(const struct insn *insn)
{
	enum { RSP = 4 };

	return (insn->op >= OP_PUSH && insn->op <= OP_RETURN) || insn->rm_reg == RSP ||
	       insn->reg == RSP;
}

enum insn_result insn_run(ucontext_t *context, struct insn_access *access, uint32_t most,
			  uint32_t *count)
{
	struct machine machine;
	greg_t *gregs = context->uc_mcontext.gregs;

	machine.context = context;
	machine.access = access;
	for (*count = 0; *count < most; ++*count) {
		greg_t rip = gregs[REG_RIP];

		if ((uint64_t)rip - access->fence < access->fence_length || !decode(&machine) ||
		    (access->shallow && moves_stack(machine.insn)))
			return INSN_UNKNOWN;
		if (!run(&machine)) {
			gregs[REG_RIP] = rip;
			return INSN_REFUSED;
		}
		gregs[REG_RIP] += machine.insn->length;
	}
	return INSN_DONE;
}
