/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_vector: vector registers, and the instructions that move or combine them. Each function
 * executes the instruction of the machine. It returns false, without any change, if an access was
 * refused or a register was not saved. insn.c calls these functions.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_VECTOR_H
#define VERBS_SHIM_PRELOAD_INSN_VECTOR_H

#include <stdbool.h>

struct machine;

/* OP_VECTOR_LOAD, OP_VECTOR_STORE */
bool insn_vector_load(struct machine *machine);
bool insn_vector_store(struct machine *machine);

/* OP_VECTOR_HIGH_LOAD, OP_VECTOR_HIGH_STORE */
bool insn_vector_high(struct machine *machine);

/* OP_VECTOR_ALU */
bool insn_vector_operation(struct machine *machine);

#endif
