/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate: runs the simulation in its own namespaces if the system permits it (root, or
 * unprivileged user namespaces). Network: two runs can use the same addresses and ports. Processes:
 * all end with the simulator. Mounts: the files of simulated hosts are in memory and disappear with
 * the run. System V objects are separate, too. Without permission the run waits for other runs to
 * end, and a watcher removes its files if supervisor and simulator are killed.
 *
 *     supervisor --isolate_start()--> starter --unshare, fork--> simulator (its namespace's
 *                                            `-> ends                      process 1)
 */
#ifndef VERBS_SHIM_SESSION_ISOLATE_H
#define VERBS_SHIM_SESSION_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts a simulator in new namespaces. Returns 0 in the simulator, its process id in the caller,
 * or -1 if this is not permitted. The caller is a subreaper. */
pid_t isolate_start(void);

/* Returns the empty folder in memory for the files of the run, or NULL if this process is not
 * isolated. */
const char *isolate_folder(void);

/* Makes `folder` the /dev/shm of the caller, which is about to become a program. Has no effect if
 * this process is not isolated. */
void isolate_shared_memory(const char *folder);

/* Waits until no other run uses the addresses of the hosts, and reserves them. The reservation ends
 * with this process and its children that do not exec. For callers that are not isolated. */
void isolate_hold_addresses(void);

/* Creates a folder below TMPDIR, or /tmp, for a run that is not isolated. Removes folders of dead
 * runs. Returns false with errno on failure. */
bool isolate_make_folder(char *path, size_t bytes);

/* Starts a watcher that removes the run's folder when supervisor and simulator have ended. Call it
 * before the simulator is forked. */
void isolate_watch(void);

#endif
