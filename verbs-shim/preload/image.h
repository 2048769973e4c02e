/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image: checks whether the library can be loaded into a program that is about to start. A program
 * without the library runs outside virtual time, and sees the clocks, network and adapters of the
 * machine. The simulator reports such programs. process.c calls these functions before exec and
 * posix_spawn.
 */
#ifndef VERBS_SHIM_PRELOAD_IMAGE_H
#define VERBS_SHIM_PRELOAD_IMAGE_H

#include <stdint.h>

/* Returns an enum shim_outside: the reason, or OUTSIDE_NOT. Returns OUTSIDE_NOT also if the file is
 * not a program, because it will not start. */
uint32_t image_check(const char *path, char *const environment[]);
uint32_t image_check_fd(int fd, char *const environment[]);

/* Finds a program as execvp() does. Returns the path, in `found` or `file`. */
const char *image_find(const char *file, char *found, uint64_t room);

#endif
