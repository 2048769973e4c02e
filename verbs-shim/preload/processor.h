/* SPDX-License-Identifier: Apache-2.0 */
/*
 * processor: programs see the processor of their simulated host. `cpuid` is no instruction that can be made to trap everywhere (few
 * processors can, and fewer virtual machines), so it is replaced in the code of programs and libraries as that is loaded.
 *
 *     loaded code: .. 0f a2 (cpuid) ..  -->  .. cd a2 (int $0xa2) ..  --SIGSEGV--> trap.c --> processor_cpuid()
 *
 * Two bytes 0f a2 are an instruction if one begins there, counting from the function's first one, which tables for unwinding name. The
 * system's own linker and libc stay as they are: what they choose by it is which memcpy() runs, and that changes no result.
 */
#ifndef VERBS_SHIM_PRELOAD_PROCESSOR_H
#define VERBS_SHIM_PRELOAD_PROCESSOR_H

#include <stdbool.h>
#include <ucontext.h>

/* What is loaded now, and what will be: before the program's own constructors run. */
void processor_init(void);

/* Answers a cpuid that was replaced, if that is what the program stands at. */
bool processor_cpuid(ucontext_t *context);

#endif
