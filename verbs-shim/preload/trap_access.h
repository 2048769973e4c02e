/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_access: loads and stores of the instructions that a trap executes. They access registers of
 * the adapter, watched memory, and other memory. The caller is trap.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_ACCESS_H
#define VERBS_SHIM_PRELOAD_TRAP_ACCESS_H

#include "verbs-shim/preload/insn.h"
#include "verbs-shim/preload/trap.h"

/* Call this function once, before the first trap. */
void trap_access_init(void);

/* Directs the callbacks to a trap. Returns the previous trap. */
struct trap *trap_access_use(struct trap *trap);

/* Returns the callbacks for instructions of this trap. */
struct insn_access *trap_access_of(struct trap *trap);

#endif
