/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: mappings of the program. Pages of the emulated kernel's files, and pages that other
 * processes may change, are reported to range.c. Pages that change their kind are removed there.
 * The exported libc functions and syscall() call these functions. Libraries that overwrite the
 * former (the memory hooks of UCX and Open MPI) reach the system through the latter.
 */
#ifndef VERBS_SHIM_PRELOAD_MEMORY_H
#define VERBS_SHIM_PRELOAD_MEMORY_H

#include <stddef.h>
#include <sys/types.h>

/* Implement mmap(2), munmap(2), mremap(2), shmat(2) and shmdt(2), with errors in errno. A file of
 * the emulated kernel is mapped with device_mmap(). */
void *memory_map(void *address, size_t length, int prot, int flags, int fd, off_t offset);
int memory_unmap(void *address, size_t length);
void *memory_remap(void *old, size_t old_length, size_t length, int flags, void *wanted);
void *memory_attach(int segment, const void *address, int flags);
int memory_detach(const void *address);

#endif
