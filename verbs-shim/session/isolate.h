/* SPDX-License-Identifier: Apache-2.0 */
/*
 * isolate: a run in namespaces of its own, where the system permits it (root, or unprivileged user namespaces): network, so that
 * two runs may use the same addresses and ports; processes, so that all end with the simulator; mounts, so that the files that
 * programs are shown are in memory and vanish with it; System V objects. Where it is not permitted: the run waits for its
 * turn, and a watcher removes its files if nobody else is left to do it.
 *
 *     supervisor --isolate_start()--> starter --unshare, fork--> simulator, process 1 of its namespace
 *                                            `-> ends
 */
#ifndef VERBS_SHIM_SESSION_ISOLATE_H
#define VERBS_SHIM_SESSION_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Returns 0 in the simulator, its process id in the caller, -1 if it is not permitted. The caller is a subreaper. */
pid_t isolate_start(void);

/* The empty folder in memory for the files of the run; NULL: this process is not isolated. */
const char *isolate_folder(void);

/* The caller is going to be a program: what it finds in /dev/shm from now on is that folder. Nothing happens where this process is
 * not isolated. */
void isolate_shared_memory(const char *folder);

/* In the caller, not isolated: holds the addresses of the hosts from here to the end of this process and of its children that
 * do not exec, waiting for another run that has them. */
void isolate_hold_addresses(void);

/* A folder under TMPDIR, or /tmp, for a run that is not isolated. Folders of dead runs are removed at the same time. false, errno: none. */
bool isolate_make_folder(char *path, size_t bytes);

/* Before the simulator is forked: removes the run's folder when supervisor and simulator are gone. */
void isolate_watch(void);

#endif
