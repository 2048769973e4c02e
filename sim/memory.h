/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what happens when the machine has no memory left: a message and exit code 2, as of all that cannot be done. The program
 * asks for memory by malloc() and its like, which never return NULL there (hcasim/command/allocate.c).
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Ends the process. */
void memory_exhausted(void) __attribute__((noreturn));

/* From now on also where C++ asks for memory. */
void memory_guard_new(void);

/* Called before that; may ask for no memory. NULL: nothing. */
extern void (*memory_before_end)(void);

#ifdef __cplusplus
}
#endif
#endif
