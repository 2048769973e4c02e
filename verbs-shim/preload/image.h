/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image: can the library be loaded into a program that is about to start? A program into which it cannot is outside of virtual time, and
 * finds the machine's clocks, network and adapters in place of the simulated ones: the simulator names it.
 *
 * Who calls: process.c, before exec and posix_spawn.
 */
#ifndef VERBS_SHIM_PRELOAD_IMAGE_H
#define VERBS_SHIM_PRELOAD_IMAGE_H

#include <stdint.h>

/* Returns an enum shim_outside: why the file is outside, or OUTSIDE_NOT, also where it is no program at all: then it does not start. */
uint32_t image_check(const char *path, char *const environment[]);
uint32_t image_check_fd(int fd, char *const environment[]);

/* As execvp() finds it. Returns the path, in `found` or `file` itself. */
const char *image_find(const char *file, char *found, uint64_t room);

#endif
