/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: lets a program see the simulated host's entries in /sys, /dev and /proc. A path that the
 * run's tree covers is replaced by the file of that name in the tree. files.c defines the libc
 * functions: open*, openat*, fopen*, stat*, lstat*, fstat*, access, faccessat, readlink*, opendir,
 * scandir*, realpath.
 */
#ifndef VERBS_SHIM_PRELOAD_FILES_H
#define VERBS_SHIM_PRELOAD_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* Sets the directory that represents / on this host. Call this function once, before main(). */
void files_init(const char *tree);

/* Returns the path to use instead of `path`, which is absolute, or relative to a directory
 * descriptor in the tree. The result is `path` or `changed`. */
const char *files_redirect(const char *path, char changed[PATH_MAX]);

/* Returns true for a device node that the emulated kernel serves ("/dev/infiniband/..."). Open such
 * a path with device_open(). */
bool files_is_device(const char *path);

/* Changes the status of a plain file that represents a device node to the status of that node:
 * S_IFCHR, mode 0666, and the device number in sysfs. */
void files_disguise(const char *path, struct stat *status);

/* Opens a new file in memory with this text. `name` is for /proc/PID/fd, flags: O_CLOEXEC. Returns
 * a descriptor, or -1 with errno. */
int files_of_text(const char *name, const char *text, int length, int flags);

#endif
