/*
 * program: can this program be run on a simulated host? It is, if a library can be preloaded into it: an executable
 * for x86-64, dynamically linked, not set-user-ID; or a script whose interpreter is one. Asked before anything starts.
 */
#ifndef SCENARIOS_PROGRAM_H
#define SCENARIOS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

/* command: argv[0], looked for in PATH if it has no slash. false: *why names the file and what is wrong with it. */
bool program_check(const char *command, char *why, size_t why_bytes);

#endif
