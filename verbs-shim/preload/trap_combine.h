/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trap_combine: combines stores to one line of a doorbell page, as a write-combining buffer does.
 * The stores may come in any order. The order of memcpy() depends on the processor.
 *
 * The callers are trap.c and trap_access.c.
 */
#ifndef VERBS_SHIM_PRELOAD_TRAP_COMBINE_H
#define VERBS_SHIM_PRELOAD_TRAP_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

/* Adds a store. Returns false if the buffer must be flushed first. */
bool trap_combine_store(uint32_t file, uint64_t offset, const void *bytes, uint32_t length);

/* Returns the number of bytes in the buffer. */
uint32_t trap_combine_bytes(void);

/* Passes the bytes in the buffer to the simulator, and empties the buffer. */
void trap_combine_flush(void);

#endif
