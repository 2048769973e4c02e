/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_stack: a stack for the traps of each thread, so that instructions executed in a trap can use
 * the program's own stack. Callers: trap*.c, attach.c, thread.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_STACK_H
#define VERBS_SHIM_PRELOAD_TRAP_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Reserves the stacks of all threads. Called once, before the first trap. */
void trap_stack_init(void);

/* Returns true if the address lies in this thread's stack for traps. */
bool trap_stack_holds(uint64_t address);

/* Installs the stack of this thread. Called anew in a forked child. */
void trap_stack_install(void);

/* Prepares a new thread that has a slot: its stack for traps, and no access to the time stamp
 * counter. */
void trap_stack_begin_thread(void);

#endif
