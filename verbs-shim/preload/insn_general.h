/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insn_general: carries out any instruction that insn_decode() knows, at whatever size and form. Those that programs use most
 * have a shorter way in insn_quick.c.
 *
 * Who calls: insn_block.c enters it in steps.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_GENERAL_H
#define VERBS_SHIM_PRELOAD_INSN_GENERAL_H

#include "verbs-shim/preload/insn_machine.h"

/* The instruction is block_insn(step). */
enum step_result insn_general(struct machine *machine, struct step *step);

#endif
