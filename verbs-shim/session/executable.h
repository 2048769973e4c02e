/* SPDX-License-Identifier: Apache-2.0 */
/*
 * executable: can this program be run on a simulated host? It is, if a library can be preloaded into it: an executable
 * for x86-64, dynamically linked, not set-user-ID; or a script whose interpreter is one. Asked before anything starts.
 */
#ifndef VERBS_SHIM_SESSION_EXECUTABLE_H
#define VERBS_SHIM_SESSION_EXECUTABLE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* command: argv[0], looked for in PATH if it has no slash. false: *error names the file and what is wrong with it. */
bool executable_check(const char *command, char *error, size_t error_bytes);

/* The same, and where it is. */
bool executable_find(const char *command, char path[PATH_MAX], char *error, size_t error_bytes);

#endif
