/* SPDX-License-Identifier: Apache-2.0 */
/* insn_decode: see insn_decode.h. Reads prefixes, then one of three opcode maps, then ModRM and
 * immediate. */
#include "verbs-shim/preload/insn_decode.h"

#include <string.h>

#include "verbs-shim/preload/insn_evex.h"
#include "verbs-shim/preload/insn_reader.h"

static bool read_prefixes(struct reader *reader, struct insn *insn)
{
	for (;;) {
		uint8_t byte = next(reader);

		switch (byte) {
		case 0x66:
			reader->operand_16 = true;
			continue;
		case 0xf3:
			reader->rep = true;
			continue;
		case 0xf2:
			reader->repne = true;
			continue;
		case 0x64:
			insn->fs = true;
			continue;
		case 0x65:
			insn->gs = true;
			continue;
		case 0x2e: /* branch hints and padding */
		case 0x3e:
			continue;
		case 0x67: /* 32-bit addresses */
		case 0xf0: /* LOCK */
		case 0x26:
		case 0x36:
			return false;
		default:
			reader->at--;
			if ((byte & 0xf0) == 0x40) {
				reader->rex_present = true;
				reader->rex = next(reader) & 0xf;
			}
			return !reader->overrun;
		}
	}
}

static uint8_t operand_size(const struct reader *reader, bool byte)
{
	if (byte)
		return 1;
	if (reader->rex & REX_W)
		return 8;
	return reader->operand_16 ? 2 : 4;
}

static void read_immediate(struct reader *reader, struct insn *insn)
{
	insn->immediate = signed_value(reader, insn->size > 4 ? 4 : insn->size);
}

/* Decodes an operation with ModRM, on bytes or of the size that the prefixes select. */
static void read_operation(struct reader *reader, struct insn *insn, enum insn_op op,
			   enum insn_form form, bool byte)
{
	insn->op = op;
	insn->form = form;
	insn->size = operand_size(reader, byte);
	read_modrm(reader, insn);
}

/* Returns the register that the opcode itself names. */
static uint8_t register_of(const struct reader *reader, uint8_t opcode)
{
	return (uint8_t)((opcode & 7) | (reader->rex & REX_B ? 8 : 0));
}

/* Decodes 00..3f: eight operations in six encodings each. */
static bool decode_arithmetic(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	insn->op = (enum insn_op)(opcode >> 3);
	insn->size = operand_size(reader, !(opcode & 1));
	switch (opcode & 7) {
	case 0:
	case 1:
		insn->form = FORM_RM_REG;
		read_modrm(reader, insn);
		return true;
	case 2:
	case 3:
		insn->form = FORM_REG_RM;
		read_modrm(reader, insn);
		return true;
	case 4:
	case 5:
		insn->form = FORM_RM_IMMEDIATE;
		insn->rm_reg = 0;
		read_immediate(reader, insn);
		return true;
	default:
		return false;
	}
}

/* Indexed by the middle field of ModRM; NOP: unknown instruction. */
static const enum insn_op shifts[8] = {OP_ROL, OP_ROR, OP_NOP, OP_NOP,
				       OP_SHL, OP_SHR, OP_NOP, OP_SAR};

static const enum insn_op last_group[8] = {OP_INC,     OP_DEC, OP_CALL_RM, OP_NOP,
					   OP_JUMP_RM, OP_NOP, OP_PUSH,    OP_NOP};

static const enum insn_op wide_group[8] = {OP_TEST,   OP_TEST,         OP_NOT,
					   OP_NEG,    OP_MULTIPLY,     OP_MULTIPLY_SIGNED,
					   OP_DIVIDE, OP_DIVIDE_SIGNED};

static bool decode_group(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	bool byte = !(opcode & 1);

	insn->size = operand_size(reader, byte);
	insn->form = FORM_RM;
	read_modrm(reader, insn);
	uint8_t which = insn->reg & 7;

	switch (opcode) {
	case 0x80:
	case 0x81:
		insn->op = (enum insn_op)which;
		insn->form = FORM_RM_IMMEDIATE;
		read_immediate(reader, insn);
		return true;
	case 0x83:
		insn->op = (enum insn_op)which;
		insn->form = FORM_RM_IMMEDIATE;
		insn->immediate = signed_value(reader, 1);
		return true;
	case 0xc6:
	case 0xc7:
		insn->op = OP_MOV;
		insn->form = FORM_RM_IMMEDIATE;
		read_immediate(reader, insn);
		return which == 0;
	case 0xc0:
	case 0xc1:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
		insn->op = shifts[which];
		insn->form = opcode >= 0xd2 ? FORM_RM_CL : FORM_RM_IMMEDIATE;
		if (opcode < 0xd2)
			insn->immediate = opcode >= 0xd0 ? 1 : signed_value(reader, 1);
		return shifts[which] != OP_NOP;
	case 0xf6:
	case 0xf7:
		insn->op = wide_group[which];
		if (which < 2) {
			insn->form = FORM_RM_IMMEDIATE;
			read_immediate(reader, insn);
		}
		return which < 4 || insn->size >= 4;
	case 0xfe:
		insn->op = which == 0 ? OP_INC : OP_DEC;
		return which < 2;
	case 0xff:
		insn->op = last_group[which];
		if (which >= 2)
			/* independent of prefixes, except for 16 bits, which is not used */
			insn->size = 8;
		return insn->op != OP_NOP && !(which >= 2 && reader->operand_16);
	default:
		return false;
	}
}

static bool decode_move(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	insn->op = OP_MOV;
	if (opcode >= 0xb0 && opcode <= 0xbf) {
		insn->size = operand_size(reader, opcode < 0xb8);
		insn->form = FORM_RM_IMMEDIATE;
		insn->rm_reg = register_of(reader, opcode);
		insn->immediate = signed_value(reader, insn->size);
		return true;
	}
	insn->size = operand_size(reader, !(opcode & 1));
	insn->form = opcode & 2 ? FORM_REG_RM : FORM_RM_REG;
	read_modrm(reader, insn);
	return true;
}

/* Decodes 50..5f, 68 and 6a: stack instructions, with eight bytes in 64-bit mode. */
static bool decode_stack(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	insn->size = 8;
	if (reader->operand_16)
		return false;
	if (opcode == 0x68 || opcode == 0x6a) {
		insn->op = OP_PUSH;
		insn->immediate = signed_value(reader, opcode == 0x68 ? 4 : 1);
		return true;
	}
	insn->op = opcode < 0x58 ? OP_PUSH : OP_POP;
	insn->form = FORM_RM;
	insn->rm_reg = register_of(reader, opcode);
	return true;
}

static bool jump_if(struct reader *reader, struct insn *insn, uint8_t opcode, uint8_t bytes)
{
	insn->op = OP_JUMP_IF;
	insn->condition = opcode & 0xf;
	insn->immediate = signed_value(reader, bytes);
	return true;
}

/* Decodes instructions that jump, always or on a condition. */
static bool decode_branch(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	switch (opcode) {
	case 0xc3:
		insn->op = OP_RETURN;
		return true;
	case 0xc9:
		insn->op = OP_LEAVE;
		return !reader->operand_16;
	case 0xe8:
		insn->op = OP_CALL;
		insn->immediate = signed_value(reader, 4);
		return !reader->operand_16;
	case 0xe9:
	case 0xeb:
		insn->op = OP_JUMP;
		insn->immediate = signed_value(reader, opcode == 0xe9 ? 4 : 1);
		return true;
	default:
		return jump_if(reader, insn, opcode, 1);
	}
}

/* Decodes instructions without ModRM: on RAX, on the places that RSI and RDI name, or on
 * nothing. */
static bool decode_implied(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	switch (opcode) {
	case 0x90: /* NOP, and PAUSE with F3 */
		insn->op = OP_NOP;
		return !(reader->rex & REX_B);
	case 0x98:
	case 0x99:
		insn->op = opcode == 0x98 ? OP_WIDEN : OP_SPREAD;
		insn->size = operand_size(reader, false);
		return true;
	case 0xa8:
	case 0xa9:
		insn->op = OP_TEST;
		insn->size = operand_size(reader, opcode == 0xa8);
		insn->form = FORM_RM_IMMEDIATE;
		insn->rm_reg = 0;
		read_immediate(reader, insn);
		return true;
	default:
		insn->op = opcode < 0xa8 ? OP_MOVS : OP_STOS;
		insn->size = operand_size(reader, !(opcode & 1));
		insn->repeat = reader->rep || reader->repne;
		return !insn->fs && !insn->gs;
	}
}

static bool decode_one_byte(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	if (opcode < 0x40)
		return decode_arithmetic(reader, insn, opcode);
	switch (opcode) {
	case 0x50 ... 0x5f:
	case 0x68:
	case 0x6a:
		return decode_stack(reader, insn, opcode);
	case 0x63:
		read_operation(reader, insn, OP_MOVSX, FORM_REG_RM, false);
		insn->source_size = 4;
		return insn->size == 8;
	case 0x69:
	case 0x6b:
		read_operation(reader, insn, OP_IMUL, FORM_REG_RM_IMMEDIATE, false);
		if (opcode == 0x69)
			read_immediate(reader, insn);
		else
			insn->immediate = signed_value(reader, 1);
		return true;
	case 0x84:
	case 0x85:
		read_operation(reader, insn, OP_TEST, FORM_RM_REG, opcode == 0x84);
		return true;
	case 0x87: /* with a register only: with memory it is atomic */
		read_operation(reader, insn, OP_XCHG, FORM_RM_REG, false);
		return insn->rm_reg != INSN_NO_REG;
	case 0x88 ... 0x8b:
	case 0xb0 ... 0xbf:
		return decode_move(reader, insn, opcode);
	case 0x8d:
		read_operation(reader, insn, OP_LEA, FORM_REG_RM, false);
		return insn->rm_reg == INSN_NO_REG && !insn->fs && !insn->gs;
	case 0x90:
	case 0x98:
	case 0x99:
	case 0xa4:
	case 0xa5:
	case 0xa8 ... 0xab:
		return decode_implied(reader, insn, opcode);
	case 0x70 ... 0x7f:
	case 0xc3:
	case 0xc9:
	case 0xe8:
	case 0xe9:
	case 0xeb:
		return decode_branch(reader, insn, opcode);
	default:
		return decode_group(reader, insn, opcode);
	}
}

/* Vector moves of the 0F map, by mandatory prefix (0: none, 1: 66, 2: F3, 3: F2). */
static const struct {
	uint8_t prefix, opcode;
	bool store;
	uint8_t size; /* 0: the whole register */
	bool general;
	bool clear_upper;
} vector_moves[] = {
	{0, 0x10, false, 0, false, false}, /* MOVUPS */
	{0, 0x11, true, 0, false, false},
	{1, 0x10, false, 0, false, false}, /* MOVUPD */
	{1, 0x11, true, 0, false, false},
	{0, 0x28, false, 0, false, false}, /* MOVAPS */
	{0, 0x29, true, 0, false, false},
	{1, 0x28, false, 0, false, false}, /* MOVAPD */
	{1, 0x29, true, 0, false, false},
	{0, 0x2b, true, 0, false, false},  /* MOVNTPS */
	{1, 0x2b, true, 0, false, false},  /* MOVNTPD */
	{1, 0x6f, false, 0, false, false}, /* MOVDQA */
	{1, 0x7f, true, 0, false, false},
	{2, 0x6f, false, 0, false, false}, /* MOVDQU */
	{2, 0x7f, true, 0, false, false},
	{1, 0xe7, true, 0, false, false},  /* MOVNTDQ */
	{3, 0xf0, false, 0, false, false}, /* LDDQU */
	{2, 0x7e, false, 8, false, true},  /* MOVQ */
	{1, 0xd6, true, 8, false, true},
	{1, 0x6e, false, 4, true, true}, /* MOVD, MOVQ from a general register or memory */
	{1, 0x7e, true, 4, true, false},
};

/* These are the vector instructions that drivers use to build and copy. All need prefix 66. VEX
 * forms are not decoded. */
static const struct {
	uint8_t opcode;
	enum insn_vector_op op;
} vector_operations[] = {
	{0x62, VECTOR_INTERLEAVE_LOW_4},  /* PUNPCKLDQ */
	{0x6c, VECTOR_INTERLEAVE_LOW_8},  /* PUNPCKLQDQ */
	{0x6d, VECTOR_INTERLEAVE_HIGH_8}, /* PUNPCKHQDQ */
	{0x70, VECTOR_SHUFFLE_4},         /* PSHUFD */
	{0x73, VECTOR_SHIFT_RIGHT_BYTES}, /* PSRLDQ */
	{0xdb, VECTOR_AND},               /* PAND */
	{0xdf, VECTOR_AND_NOT},           /* PANDN */
	{0xeb, VECTOR_OR},                /* POR */
	{0xef, VECTOR_XOR},               /* PXOR */
};

static bool decode_vector_operation(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	for (uint32_t i = 0; i < sizeof(vector_operations) / sizeof(vector_operations[0]); i++) {
		if (vector_operations[i].opcode != opcode)
			continue;
		insn->op = OP_VECTOR_ALU;
		insn->vector_op = vector_operations[i].op;
		insn->size = 16;
		read_modrm(reader, insn);
		if (opcode == 0x70 || opcode == 0x73)
			insn->immediate = signed_value(reader, 1);
		return opcode != 0x73 || (insn->rm_reg != INSN_NO_REG && (insn->reg & 7) == 3);
	}
	return false;
}

static bool decode_vector(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	uint8_t prefix = reader->vex          ? reader->vex_prefix
			 : reader->operand_16 ? 1
			 : reader->rep        ? 2
			 : reader->repne      ? 3
					      : 0;

	for (uint32_t i = 0; i < sizeof(vector_moves) / sizeof(vector_moves[0]); i++) {
		if (vector_moves[i].prefix != prefix || vector_moves[i].opcode != opcode)
			continue;
		insn->op = vector_moves[i].store ? OP_VECTOR_STORE : OP_VECTOR_LOAD;
		insn->size = vector_moves[i].size;
		if (!insn->size)
			insn->size = reader->vex_256 ? 32 : 16;
		insn->rm_general = vector_moves[i].general;
		if (insn->rm_general && reader->rex & REX_W)
			insn->size = 8;
		insn->clear_upper = vector_moves[i].clear_upper;
		insn->vex = reader->vex;
		read_modrm(reader, insn);
		return (insn->size == 32 || !reader->vex_256) && reader->vex_register == 0xf;
	}
	if (reader->vex)
		return false;
	if (prefix == 1 && opcode != 0x16 && opcode != 0x17)
		return decode_vector_operation(reader, insn, opcode);
	if (prefix > 1 || (opcode != 0x16 && opcode != 0x17))
		return false;
	insn->op = opcode == 0x16 ? OP_VECTOR_HIGH_LOAD : OP_VECTOR_HIGH_STORE; /* MOVHPS, MOVHPD */
	insn->size = 8;
	read_modrm(reader, insn);
	return insn->rm_reg == INSN_NO_REG;
}

/* Decodes instructions that test bits or swap bytes. */
static bool decode_bits(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	switch (opcode) {
	case 0xa3: /* BT with a register: a bit in memory may lie beyond the operand */
		read_operation(reader, insn, OP_BIT_TEST, FORM_RM_REG, false);
		return insn->rm_reg != INSN_NO_REG;
	case 0xba:
		read_operation(reader, insn, OP_BIT_TEST, FORM_RM_IMMEDIATE, false);
		insn->immediate = signed_value(reader, 1);
		return (insn->reg & 7) == 4;
	case 0xbc:
	case 0xbd: /* LZCNT, with F3, is a different instruction */
		read_operation(reader, insn, opcode == 0xbc ? OP_BIT_FIRST : OP_BIT_LAST,
			       FORM_REG_RM, false);
		return !reader->rep;
	default:
		insn->op = OP_BSWAP;
		insn->form = FORM_RM;
		insn->size = operand_size(reader, false);
		insn->rm_reg = register_of(reader, opcode);
		return insn->size != 2;
	}
}

static bool decode_0f(struct reader *reader, struct insn *insn, uint8_t opcode)
{
	switch (opcode) {
	case 0x1e: /* ENDBR64 */
	case 0x1f: /* NOP with operands */
		insn->op = OP_NOP;
		read_modrm(reader, insn);
		return true;
	case 0x40 ... 0x4f:
		read_operation(reader, insn, OP_MOVE_IF, FORM_REG_RM, false);
		insn->condition = opcode & 0xf;
		return true;
	case 0x80 ... 0x8f:
		return jump_if(reader, insn, opcode, 4);
	case 0x90 ... 0x9f:
		read_operation(reader, insn, OP_SET_IF, FORM_RM, true);
		insn->condition = opcode & 0xf;
		return true;
	case 0xa3:
	case 0xba:
	case 0xbc:
	case 0xbd:
	case 0xc8 ... 0xcf:
		return decode_bits(reader, insn, opcode);
	case 0xae: /* LFENCE, MFENCE, SFENCE: one thread runs at a time */
		insn->op = OP_NOP;
		read_modrm(reader, insn);
		return insn->rm_reg != INSN_NO_REG && (insn->reg & 7) >= 5 && !reader->rep &&
		       !reader->repne && !reader->operand_16;
	case 0xaf:
		read_operation(reader, insn, OP_IMUL, FORM_REG_RM, false);
		return true;
	case 0xb6:
	case 0xb7:
	case 0xbe:
	case 0xbf:
		read_operation(reader, insn, opcode < 0xb8 ? OP_MOVZX : OP_MOVSX, FORM_REG_RM,
			       false);
		insn->source_size = opcode & 1 ? 2 : 1;
		return true;
	case 0xc3: /* MOVNTI */
		read_operation(reader, insn, OP_MOV, FORM_RM_REG, false);
		return insn->rm_reg == INSN_NO_REG && insn->size != 2 && !reader->rep &&
		       !reader->repne;
	default:
		return decode_vector(reader, insn, opcode);
	}
}

static bool decode_vex(struct reader *reader, struct insn *insn, bool three_bytes)
{
	uint8_t first = next(reader), last = three_bytes ? next(reader) : first;

	if (reader->rex_present || reader->operand_16 || reader->rep || reader->repne)
		return false;
	reader->rex = first & 0x80 ? 0 : REX_R;
	if (three_bytes) {
		reader->rex |= (uint8_t)((first & 0x40 ? 0 : REX_X) | (first & 0x20 ? 0 : REX_B) |
					 (last & 0x80 ? REX_W : 0));
		if ((first & 0x1f) != 1)
			return false;
	}
	reader->vex = true;
	reader->vex_256 = last & 4;
	reader->vex_prefix = last & 3;
	reader->vex_register = last >> 3 & 0xf;
	return decode_vector(reader, insn, next(reader));
}

bool insn_decode(const uint8_t *bytes, uint32_t length, struct insn *insn)
{
	struct reader reader = {.bytes = bytes, .length = length, .vex_register = 0xf};
	bool known;

	if (reader.length > INSN_BYTES_MOST)
		reader.length = INSN_BYTES_MOST;
	memset(insn, 0, sizeof(*insn));
	insn->form = FORM_NONE;
	insn->base = insn->index = insn->rm_reg = INSN_NO_REG;
	insn->scale = 1;
	if (!read_prefixes(&reader, insn))
		return false;
	insn->legacy_bytes = !reader.rex_present;

	uint8_t opcode = next(&reader);

	if (opcode == 0x0f)
		known = decode_0f(&reader, insn, next(&reader));
	else if (opcode == 0xc5 || opcode == 0xc4)
		known = decode_vex(&reader, insn, opcode == 0xc4);
	else if (opcode == 0x62)
		known = insn_evex(&reader, insn);
	else
		known = decode_one_byte(&reader, insn, opcode);
	insn->length = (uint8_t)reader.at;
	return known && !reader.overrun;
}
