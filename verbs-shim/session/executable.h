/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable: checks whether a program can run on a simulated host. A library must be preloaded
 * into it. This requires a dynamically linked x86-64 executable that is not set-user-ID, or a
 * script whose interpreter is one. The check precedes the run.
 */
#ifndef VERBS_SHIM_SESSION_EXECUTABLE_H
#define VERBS_SHIM_SESSION_EXECUTABLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Checks a command: argv[0], searched in PATH if it has no slash. Returns false and writes the file
 * and the problem to *error if it cannot run. */
bool executable_check(const char *command, char *error, size_t error_bytes);

/* Checks a command in the same way, and returns its path. */
bool executable_find(const char *command, char path[PATH_MAX], char *error, size_t error_bytes);

#endif
