/* SPDX-License-Identifier: Apache-2.0 */
/*
 * input_file: the bytes of a fuzz target's input as a file, in memory, for parsers that ask for a
 * file's name.
 */
#ifndef TESTS_FUZZ_INPUT_FILE_H
#define TESTS_FUZZ_INPUT_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct input_file {
	int fd;
	char path[32];
};

/* Holds exactly these bytes. */
static inline void input_file_fill(struct input_file *file, const void *bytes, size_t length)
{
	if (ftruncate(file->fd, 0) != 0 || pwrite(file->fd, bytes, length, 0) != (ssize_t)length)
		abort();
}

/* Opens an empty file for the whole run. */
static inline struct input_file input_file_create(const char *name)
{
	struct input_file file = {.fd = memfd_create(name, MFD_CLOEXEC)};

	if (file.fd < 0)
		abort();
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

#endif
