/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_stack: a stack for the traps of each thread, so that what is carried out in a trap may use the program's own stack.
 *
 * Who calls: trap.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_STACK_H
#define VERBS_SHIM_PRELOAD_TRAP_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Reserves the stacks of all threads. Called once, before the first trap. */
void trap_stack_init(void);

/* Returns true if the address lies in this thread's stack for traps. */
bool trap_stack_holds(uint64_t address);

#endif
