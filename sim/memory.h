/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: ends the program with a message and exit code 2 when memory is exhausted. The
 * program's malloc() and related functions never return NULL (hcasim/library/allocate.c).
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Prints a message and ends the process with exit code 2. */
void memory_exhausted(void) __attribute__((noreturn));

/* Makes operator new of C++ call memory_exhausted() on failure. */
void memory_guard_new(void);

/* Called before the process ends. It must not allocate memory. NULL if no function is needed. */
extern void (*memory_before_end)(void);

#ifdef __cplusplus
}
#endif
#endif
