/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input: opens files that a user names, for reading. It refuses a FIFO or a socket at once,
 * because opening a FIFO would wait for a writer.
 */
#ifndef SIM_INPUT_H
#define SIM_INPUT_H

#include <stdio.h>

/* Opens a file for reading. The caller closes it. Returns NULL on failure; input_error() gives
 * the reason. */
FILE *input_open(const char *path);

/* Returns the reason for which the last input_open() of this thread failed. If errno has
 * changed since then, returns its text. */
const char *input_error(void);

#endif
