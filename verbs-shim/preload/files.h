/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files: lets a program see the simulated host's entries in /sys, /dev and /proc: a path that the run's tree covers is
 * replaced by the file of that name under the tree. files.c defines the libc functions: open*, openat*, fopen*,
 * stat*, lstat*, fstat*, access, faccessat, readlink*, opendir, scandir*, realpath.
 */
#ifndef VERBS_SHIM_PRELOAD_FILES_H
#define VERBS_SHIM_PRELOAD_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* tree: the directory that stands for / on this host. Called once, before main. */
void files_init(const char *tree);

/* The path to use in place of `path` (absolute, or relative to a directory descriptor that itself is in the tree): `path`
 * or `changed`. */
const char *files_redirect(const char *path, char changed[PATH_MAX]);

/* Is this a device node that the emulated kernel serves ("/dev/infiniband/...")? Such a path is opened by device_open(). */
bool files_is_device(const char *path);

/* Makes the status of a plain file that stands for a device node look like that node's: S_IFCHR, mode 0666, and the number
 * that sysfs gives for it. */
void files_disguise(const char *path, struct stat *status);

#endif
