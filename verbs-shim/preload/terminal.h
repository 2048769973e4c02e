/* SPDX-License-Identifier: Apache-2.0 */
/*
 * terminal: reads of pseudo terminals. Linux moves data of a program from a pseudo terminal to its
 * master at a later real time, line by line. poll() waits for the data if the master has none.
 */
#ifndef VERBS_SHIM_PRELOAD_TERMINAL_H
#define VERBS_SHIM_PRELOAD_TERMINAL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Completes a read of `length` bytes that returned `result`: reads from the master side until
 * poll() finds nothing more, so that the result depends on virtual time alone. Other descriptors
 * are left alone. Returns the new result. */
ssize_t terminal_rest(int fd, uint8_t *bytes, size_t length, ssize_t result);

#endif
