/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_stack: gives each thread its own stack for traps. Instructions that a trap executes can
 * therefore use the program's stack. The callers are trap*.c, attach.c and thread.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_STACK_H
#define VERBS_SHIM_PRELOAD_TRAP_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Reserves the stacks of all threads. Call this function once, before the first trap. */
void trap_stack_init(void);

/* Returns true if the address lies in this thread's stack for traps. */
bool trap_stack_holds(uint64_t address);

/* Installs the stack of this thread. A forked child calls this function again. */
void trap_stack_install(void);

/* Prepares a new thread that has a slot. It gets its stack for traps, and reads of the time stamp
 * counter trap. */
void trap_stack_begin_thread(void);

#endif
