/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input: files that a user names, opened for reading. A FIFO or socket is refused at once: opening a FIFO would wait for
 * ever for somebody who writes.
 */
#ifndef SIM_INPUT_H
#define SIM_INPUT_H

#include <stdio.h>

/* NULL: input_error() says why. */
FILE *input_open(const char *path);

/* Why the last input_open() of this thread failed, or what errno says if that was something else since. */
const char *input_error(void);

#endif
