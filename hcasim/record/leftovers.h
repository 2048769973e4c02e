/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leftovers: that nothing half-written stays, and that nobody else writes to the same folder: what is taken away when a signal or
 * a lack of memory ends a run, and a lock.
 */
#ifndef HCASIM_RECORD_LEFTOVERS_H
#define HCASIM_RECORD_LEFTOVERS_H

#include <limits.h>
#include <stddef.h>

/* Files (names of PATH_MAX bytes each, one behind the other, "": none) and their folder (NULL: none), which go if the process is
 * ended until leftovers_leave(). The caller's; of one run at a time. */
void leftovers_watch(const char *paths, size_t count, const char *folder);
void leftovers_leave(void);

/* A lock on a folder for this process alone, for close(); the folder stays locked as long. -1: *error, somebody else has it. */
int leftovers_lock(const char *folder, char *error, size_t error_bytes);

#endif
