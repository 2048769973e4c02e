/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_decode: decodes one x86-64 instruction of the kinds that programs use to load, store,
 * compare and copy. Pure: reads bytes only. It reports unknown instructions and never guesses.
 * Source: Intel SDM volume 2, chapters 2 (formats) and 3..5 (opcodes). insn.c calls these
 * functions.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_DECODE_H
#define VERBS_SHIM_PRELOAD_INSN_DECODE_H

#include <stdbool.h>
#include <stdint.h>

#define INSN_BYTES_MOST 15
#define INSN_NO_REG     0xff

/* The first eight have the order of the machine encoding. */
enum insn_op {
	OP_ADD,
	OP_OR,
	OP_ADC,
	OP_SBB,
	OP_AND,
	OP_SUB,
	OP_XOR,
	OP_CMP,
	OP_TEST,
	OP_MOV,
	OP_MOVZX,
	OP_MOVSX,
	OP_LEA,
	OP_INC,
	OP_DEC,
	OP_NOT,
	OP_NEG,
	OP_SHL,
	OP_SHR,
	OP_SAR,
	OP_ROL,
	OP_ROR,
	OP_BSWAP,
	OP_IMUL,
	/* of RAX, with results in RAX and RDX */
	OP_MULTIPLY,
	OP_MULTIPLY_SIGNED,
	OP_DIVIDE,
	OP_DIVIDE_SIGNED,
	OP_XCHG,
	OP_BIT_TEST,
	OP_BIT_FIRST, /* BSF, and TZCNT of a value other than 0 */
	OP_BIT_LAST,  /* BSR */
	OP_WIDEN,     /* CBW, CWDE, CDQE */
	OP_SPREAD,    /* CWD, CDQ, CQO */
	OP_PUSH,
	OP_POP,
	OP_LEAVE,
	OP_CALL,
	OP_CALL_RM,
	OP_RETURN,
	OP_JUMP,
	OP_JUMP_RM,
	OP_JUMP_IF,
	OP_SET_IF,
	OP_MOVE_IF,
	OP_MOVS,
	OP_STOS,
	OP_NOP,
	OP_VECTOR_LOAD,      /* memory or register to vector register */
	OP_VECTOR_STORE,     /* vector register to memory or register */
	OP_VECTOR_HIGH_LOAD, /* MOVHPS */
	OP_VECTOR_HIGH_STORE,
	OP_VECTOR_ALU, /* register <- register op r/m: see vector_op */
} __attribute__((packed));

enum insn_vector_op {
	VECTOR_XOR,
	VECTOR_OR,
	VECTOR_AND,
	VECTOR_AND_NOT,
	VECTOR_INTERLEAVE_LOW_4,
	VECTOR_INTERLEAVE_LOW_8,
	VECTOR_INTERLEAVE_HIGH_8,
	VECTOR_SHUFFLE_4,
	VECTOR_SHIFT_RIGHT_BYTES,
} __attribute__((packed));

/* Destination and source operands. */
enum insn_form {
	FORM_RM_REG,           /* r/m <- r/m op reg */
	FORM_REG_RM,           /* reg <- reg op r/m */
	FORM_RM_IMMEDIATE,     /* r/m <- r/m op immediate */
	FORM_RM,               /* r/m alone */
	FORM_REG_RM_IMMEDIATE, /* reg <- r/m op immediate */
	FORM_RM_CL,            /* r/m <- r/m op CL */
	FORM_NONE,
} __attribute__((packed));

struct insn {
	enum insn_op op;
	enum insn_form form;
	uint8_t length;      /* bytes of the instruction */
	uint8_t size;        /* bytes of the operands */
	uint8_t source_size; /* MOVZX, MOVSX: bytes of the r/m operand */
	uint8_t condition;   /* the low four bits of Jcc, SETcc, CMOVcc */
	uint8_t reg;         /* 0..15; vector registers: 0..31 */
	uint8_t rm_reg;      /* number of a register r/m operand; INSN_NO_REG: not a register */
	uint8_t base, index; /* 0..15, or INSN_NO_REG */
	uint8_t scale;       /* 1, 2, 4, 8 */
	bool legacy_bytes;   /* no REX: byte registers 4..7 are AH, CH, DH, BH */
	bool rip_relative;
	bool fs, gs;      /* segment override */
	bool repeat;      /* REP MOVS, STOS */
	bool rm_general;  /* vector moves: the r/m register is a general one */
	bool clear_upper; /* vector load: bytes above `size` of the register's first 16 become zero
			   */
	bool vex;         /* vector load: everything above becomes zero */
	enum insn_vector_op vector_op;
	int64_t displacement;
	int64_t immediate; /* sign-extended; jumps: relative to the next instruction */
};

/* Decodes an instruction. `bytes` has at least INSN_BYTES_MOST readable bytes, or `length` if
 * fewer. Returns false if the instruction is not of a known kind. */
bool insn_decode(const uint8_t *bytes, uint32_t length, struct insn *insn);

#endif
