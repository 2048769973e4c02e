/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_general: executes any instruction that insn_decode() knows, in every size and form.
 * insn_quick.c has faster code for the most frequent ones. insn_block.c, which stores the function
 * in steps, calls these functions.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_GENERAL_H
#define VERBS_SHIM_PRELOAD_INSN_GENERAL_H

#include "verbs-shim/preload/insn_machine.h"

/* Executes the instruction block_insn(step). */
enum step_result insn_general(struct machine *machine, struct step *step);

#endif
