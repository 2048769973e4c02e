/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers: removes unfinished output if a signal or lack of memory ends a run, and locks output
 * folders against other runs.
 */
#ifndef HCASIM_RECORD_LEFTOVERS_H
#define HCASIM_RECORD_LEFTOVERS_H

#include <limits.h>
#include <stddef.h>

/* Registers files and their folder for removal if the process ends before leftovers_leave().
 * `paths` holds names of PATH_MAX bytes each, "" for none. `folder` may be NULL. The caller keeps
 * both. Only one run at a time can register. */
void leftovers_watch(const char *paths, size_t count, const char *folder);
void leftovers_leave(void);

/* Locks a folder for this process. Returns a descriptor that holds the lock until close(). Returns
 * -1 and writes the reason to *error if another process holds the lock. */
int leftovers_lock(const char *folder, char *error, size_t error_bytes);

/* Does the same for a process that shares the folder with other processes of its kind. */
int leftovers_share(const char *folder, char *error, size_t error_bytes);

#endif
