/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_access: loads, stores and calls of the instructions that a trap executes. They access
 * registers of the adapter, watched memory, and other memory. They call functions of the library.
 * The caller is trap.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_ACCESS_H
#define VERBS_SHIM_PRELOAD_TRAP_ACCESS_H

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/trap.h"

/* Maximum number of instructions executed after the last access to the HCA's memory. */
#define TRAP_RUN 400

/* Call this function once, before the first trap. */
void trap_access_init(void);

/* Directs the callbacks to a trap. Returns the previous trap. */
struct trap *trap_access_use(struct trap *trap);

/* Returns the callbacks for instructions of this trap. */
struct insn_access *trap_access_of(struct trap *trap);

/* If the program is at the first instruction of a library function, calls the function and resumes
 * the program after its call. These functions do not depend on the program's stack and signals. */
bool trap_access_call(ucontext_t *context);

#endif
