/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespaces: the numbers of the namespaces in /proc/PID/ns. A program sees the numbers of a system
 * without further namespaces, because the numbers of hcasim's namespaces differ from run to run.
 * UCX sends the numbers to other processes. Source: Linux, include/linux/proc_ns.h. `net` and `mnt`
 * have the next two lower numbers. Linux versions that do not fix these two give them other
 * numbers.
 */
#ifndef VERBS_SHIM_PRELOAD_NAMESPACES_H
#define VERBS_SHIM_PRELOAD_NAMESPACES_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the inode of a namespace, or 0 if the path does not name a namespace. */
uint64_t namespaces_inode(const char *path);

/* Returns the device number of these inodes. */
dev_t namespaces_device(void);

/* Writes the result of readlink(2) to `target`, at most `bytes`. Returns the number of written
 * bytes, or 0 if the path does not name a namespace. */
ssize_t namespaces_link(const char *path, char *target, size_t bytes);

#endif
