/* SPDX-License-Identifier: Apache-2.0 */
/*
 * namespaces: the numbers of the namespaces in /proc/PID/ns. A program sees those of a system that
 * has made no namespace, because hcasim's own get other numbers in each run. UCX sends the numbers
 * to other processes. Source: Linux, include/linux/proc_ns.h; mnt and net are the next two numbers
 * below, as Linux gives them at boot.
 */
#ifndef VERBS_SHIM_PRELOAD_NAMESPACES_H
#define VERBS_SHIM_PRELOAD_NAMESPACES_H

#include <stdint.h>
#include <sys/types.h>

/* Returns the inode of a namespace, or 0 if the path is not that of a namespace. */
uint64_t namespaces_inode(const char *path);

/* Device number of these inodes. */
dev_t namespaces_device(void);

/* Writes what readlink(2) returns, at most `bytes`, to `target`. Returns the number of written bytes,
 * or 0 if the path is not that of a namespace. */
ssize_t namespaces_link(const char *path, char *target, size_t bytes);

#endif
