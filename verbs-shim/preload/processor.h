/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: shows programs the processor of their simulated host. Few processors, and fewer
 * virtual machines, can trap `cpuid`. Therefore it is replaced in the code of programs and
 * libraries when that is loaded.
 *
 *     loaded code:  .. 0f a2 (cpuid) ..
 *     replaced by:  .. cd a2 (int $0xa2) ..  --SIGSEGV--> trap.c --> processor_cpuid()
 *
 * The bytes 0f a2 are an instruction only if one begins there, counted from the start of the
 * function in the unwind tables. The system's linker and libc are not changed. They use cpuid to
 * select a memcpy(), which does not affect results.
 */
#ifndef VERBS_SHIM_PRELOAD_PROCESSOR_H
#define VERBS_SHIM_PRELOAD_PROCESSOR_H

#include <stdbool.h>
#include <ucontext.h>

/* Replaces cpuid in loaded code and in code loaded later. Called before the program's own
 * constructors. */
void processor_init(void);

/* Executes a replaced cpuid if the program is at one. Returns false otherwise. */
bool processor_cpuid(ucontext_t *context);

#endif
