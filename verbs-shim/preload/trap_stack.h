/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_stack: gives each thread its own stack for traps. Instructions that a trap executes can
 * therefore use the program's stack. The callers are trap*.c, attach.c and thread.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_STACK_H
#define VERBS_SHIM_PRELOAD_TRAP_STACK_H

#include <stdbool.h>
#include <stdint.h>

struct shim_slot;

/* Reserves the stacks of all threads. Call this function once, before the first trap. */
void trap_stack_init(void);

/* Returns true if the address lies in this thread's stack for traps. */
bool trap_stack_holds(uint64_t address);

/* Installs the stack of this thread, which has this slot. Call this function before gate_start(),
 * because signals of the simulator follow at real times. A forked child calls it again. */
void trap_stack_install(const struct shim_slot *slot);

#endif
