/* SPDX-License-Identifier: Apache-2.0 */
/*
 * say: messages of the command on standard error.
 */
#ifndef HCASIM_COMMAND_SAY_H
#define HCASIM_COMMAND_SAY_H

#include <stdbool.h>

/* Prints "hcasim: ..." to standard error, in red if that is a terminal. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Makes say() print nothing from now on, or print again. */
void say_silence(bool on);
bool say_is_silent(void);

#endif
