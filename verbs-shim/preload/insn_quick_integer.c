/* SPDX-License-Identifier: Apache-2.0 */
/* insn_quick_integer: see insn_quick.h. Templates first, then one function for each form that
 * occurs, then the choice. */
#include "verbs-shim/preload/insn_quick.h"

ALWAYS_INLINE uint64_t operate(enum insn_op op, uint32_t size, uint64_t left, uint64_t right,
			       struct insn_flags *flags)
{
	uint64_t result;

	switch (op) {
	case OP_ADD:
		flags_set_from(flags, FLAGS_ADD, left, right, size);
		return left + right;
	case OP_SUB:
	case OP_CMP:
		flags_set_from(flags, FLAGS_SUBTRACT, left, right, size);
		return left - right;
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
	default: /* OP_MOV */
		return right;
	}
	flags_set_result(flags, result, 0, size);
	return result;
}

/* to <- to op from. */
TEMPLATE two_operands(struct machine *machine, struct step *step, enum insn_op op, uint32_t size,
		      enum place to, enum place from)
{
	bool kept = op != OP_CMP && op != OP_TEST;
	uint64_t address = 0, left = 0, right, result;

	if (to == MEM || from == MEM) {
		address = machine_address(machine, step);
		NEED_CLEAR(address, size);
	}
	if (from == MEM)
		right = load(address, size);
	else
		right = from == REG ? machine->registers[step->from] : (uint64_t)step->immediate;
	if (to == REG)
		left = machine->registers[step->to];
	else if (op != OP_MOV)
		left = load(address, size);
	result = operate(op, size, left, right, &machine->flags);
	if (to == MEM && kept)
		store(address, result, size);
	else if (kept)
		machine_set(machine, step->to, size, result);
	return next(machine, step);
}

/* MOVZX, MOVSX: to <- the `size` bytes of from. */
TEMPLATE extend(struct machine *machine, struct step *step, bool sign, uint32_t size,
		uint32_t to_size, enum place from)
{
	uint64_t value;

	if (from == MEM) {
		uint64_t address = machine_address(machine, step);

		NEED_CLEAR(address, size);
		value = load(address, size);
	} else {
		value = machine->registers[step->from];
	}
	value = sign ? insn_sign_extend(value, size) : insn_truncate(value, size);
	machine->registers[step->to] = insn_truncate(value, to_size);
	return next(machine, step);
}

/* Shift count other than 0. Overflow is defined for a count of 1 only. */
TEMPLATE shift(struct machine *machine, struct step *step, enum insn_op op, uint32_t size)
{
	uint64_t left = insn_truncate(machine->registers[step->to], size), result, carry, overflow;
	uint32_t bits = 8 * size, count = (uint32_t)step->immediate;

	if (op == OP_SHL) {
		result = insn_truncate(left << count, size);
		carry = left >> (bits - count) & 1;
		overflow = result >> (bits - 1) ^ carry;
	} else if (op == OP_SHR) {
		result = left >> count;
		carry = left >> (count - 1) & 1;
		overflow = left >> (bits - 1);
	} else {
		int64_t extended = (int64_t)insn_sign_extend(left, size);

		result = insn_truncate((uint64_t)(extended >> count), size);
		carry = (uint64_t)(extended >> (count - 1)) & 1;
		overflow = 0;
	}
	machine->registers[step->to] = result;
	flags_set_result(&machine->flags, result,
			 (carry ? FLAG_CARRY : 0) | (overflow ? FLAG_OVERFLOW : 0), size);
	return next(machine, step);
}

/* clang-format off */
#define TWO_OPERANDS(op, size, to, from)                                             \
	STEP(op##_##size##_##to##_##from)                                            \
	{                                                                            \
		return two_operands(machine, step, OP_##op, size, to, from);         \
	}
#define FORMS(op, size)                  \
	TWO_OPERANDS(op, size, REG, REG) \
	TWO_OPERANDS(op, size, REG, IMM) \
	TWO_OPERANDS(op, size, REG, MEM) \
	TWO_OPERANDS(op, size, MEM, REG) \
	TWO_OPERANDS(op, size, MEM, IMM)
#define SIZES(op) FORMS(op, 1) FORMS(op, 2) FORMS(op, 4) FORMS(op, 8)
#define OPERATIONS(of) of(ADD) of(OR) of(AND) of(SUB) of(XOR) of(CMP) of(TEST) of(MOV)

OPERATIONS(SIZES)

enum form { REG_REG, REG_IMM, REG_MEM, MEM_REG, MEM_IMM, FORMS_COUNT };

#define FORM_ROW(op, size)                                                                   \
	{op##_##size##_REG_REG, op##_##size##_REG_IMM, op##_##size##_REG_MEM,                \
	 op##_##size##_MEM_REG, op##_##size##_MEM_IMM}
#define SIZE_ROW(op) \
	[OP_##op] = {FORM_ROW(op, 1), FORM_ROW(op, 2), FORM_ROW(op, 4), FORM_ROW(op, 8)},

static step_function *const two_operand_steps[][4][FORMS_COUNT] = {OPERATIONS(SIZE_ROW)};

#define EXTENSIONS(of) /* sign, bytes of the source, of the destination */ \
	of(false, 1, 4) of(false, 2, 4)                                    \
	of(true, 1, 4) of(true, 2, 4) of(true, 1, 8) of(true, 2, 8) of(true, 4, 8)
#define EXTEND(sign, size, to_size)                                             \
	STEP(extend_##sign##_##size##_##to_size##_REG)                          \
	{                                                                       \
		return extend(machine, step, sign, size, to_size, REG);         \
	}                                                                       \
	STEP(extend_##sign##_##size##_##to_size##_MEM)                          \
	{                                                                       \
		return extend(machine, step, sign, size, to_size, MEM);         \
	}
#define EXTEND_ROW(sign, size, to_size)                                         \
	{sign, size, to_size, extend_##sign##_##size##_##to_size##_REG,         \
	 extend_##sign##_##size##_##to_size##_MEM},

EXTENSIONS(EXTEND)

static const struct {
	bool sign;
	uint8_t size, to_size;
	step_function *from_register, *from_memory;
} extensions[] = {EXTENSIONS(EXTEND_ROW)};

#define SHIFT(op, size)                                         \
	STEP(op##_##size)                                       \
	{                                                       \
		return shift(machine, step, OP_##op, size);     \
	}

SHIFT(SHL, 4)
SHIFT(SHL, 8)
SHIFT(SHR, 4)
SHIFT(SHR, 8)
SHIFT(SAR, 4)
SHIFT(SAR, 8)
/* clang-format on */

STEP(address_4)
{
	machine->registers[step->to] = machine_address(machine, step) & UINT32_MAX;
	return next(machine, step);
}

STEP(address_8)
{
	machine->registers[step->to] = machine_address(machine, step);
	return next(machine, step);
}

STEP(swap_4)
{
	uint64_t *place = &machine->registers[step->to];

	*place = __builtin_bswap32((uint32_t)*place);
	return next(machine, step);
}

STEP(swap_8)
{
	uint64_t *place = &machine->registers[step->to];

	*place = __builtin_bswap64(*place);
	return next(machine, step);
}

STEP(nothing)
{
	return next(machine, step);
}

static step_function *choose_two_operands(const struct insn *insn, struct step *step)
{
	bool memory = insn->rm_reg == INSN_NO_REG;
	enum form form;

	step->to = insn->rm_reg;
	step->from = insn->reg;
	switch (insn->form) {
	case FORM_RM_REG:
		form = memory ? MEM_REG : REG_REG;
		break;
	case FORM_REG_RM:
		form = memory ? REG_MEM : REG_REG;
		step->to = insn->reg;
		step->from = insn->rm_reg;
		break;
	case FORM_RM_IMMEDIATE:
		form = memory ? MEM_IMM : REG_IMM;
		step->immediate = insn->immediate;
		break;
	default:
		return NULL;
	}
	if (is_second_byte(insn, insn->rm_reg, insn->size) ||
	    (insn->form != FORM_RM_IMMEDIATE && is_second_byte(insn, insn->reg, insn->size)))
		return NULL;
	return two_operand_steps[insn->op][__builtin_ctz(insn->size)][form];
}

static step_function *choose_extension(const struct insn *insn, struct step *step)
{
	bool memory = insn->rm_reg == INSN_NO_REG, sign = insn->op == OP_MOVSX;
	/* zeros fill the whole register */
	uint8_t to_size = !sign && insn->size == 8 ? 4 : insn->size;

	if (is_second_byte(insn, insn->rm_reg, insn->source_size))
		return NULL;
	step->to = insn->reg;
	step->from = insn->rm_reg;
	for (uint32_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++)
		if (extensions[i].sign == sign && extensions[i].size == insn->source_size &&
		    extensions[i].to_size == to_size)
			return memory ? extensions[i].from_memory : extensions[i].from_register;
	return NULL;
}

static step_function *choose_shift(const struct insn *insn, struct step *step)
{
	uint32_t count = (uint32_t)insn->immediate & (insn->size == 8 ? 63 : 31);

	if (insn->form != FORM_RM_IMMEDIATE || insn->rm_reg == INSN_NO_REG || insn->size < 4 ||
	    count == 0)
		return NULL;
	step->to = insn->rm_reg;
	step->immediate = count;
	switch (insn->op) {
	case OP_SHL:
		return insn->size == 8 ? SHL_8 : SHL_4;
	case OP_SHR:
		return insn->size == 8 ? SHR_8 : SHR_4;
	default:
		return insn->size == 8 ? SAR_8 : SAR_4;
	}
}

step_function *quick_integer(const struct insn *insn, struct step *step)
{
	switch (insn->op) {
	case OP_ADD:
	case OP_OR:
	case OP_AND:
	case OP_SUB:
	case OP_XOR:
	case OP_CMP:
	case OP_TEST:
	case OP_MOV:
		return choose_two_operands(insn, step);
	case OP_MOVZX:
	case OP_MOVSX:
		return choose_extension(insn, step);
	case OP_SHL:
	case OP_SHR:
	case OP_SAR:
		return choose_shift(insn, step);
	case OP_LEA:
		step->to = insn->reg;
		return insn->size == 8 ? address_8 : insn->size == 4 ? address_4 : NULL;
	case OP_BSWAP:
		step->to = insn->rm_reg;
		return insn->size == 8 ? swap_8 : swap_4;
	case OP_NOP:
		return nothing;
	default:
		return NULL;
	}
}
