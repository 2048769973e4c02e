/*
 * insn_general: carries out any instruction that insn_decode() knows, at whatever size and form. Those that programs use most
 * have a shorter way in insn_quick.c.
 *
 * Who calls: insn_block.c enters it in steps.
 */
#ifndef VERBS_SHIM_PRELOAD_INSN_GENERAL_H
#define VERBS_SHIM_PRELOAD_INSN_GENERAL_H

#include "verbs-shim/preload/insn_machine.h"

#pragma GCC visibility push(hidden) /* no names for the program to meet */

/* The instruction is block_insn(step). */
enum step_result insn_general(struct machine *machine, struct step *step);

#pragma GCC visibility pop

#endif
