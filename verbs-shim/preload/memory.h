/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory: what a program maps and unmaps. Pages of the emulated kernel's files, and pages that other processes may change, are made
 * known to trap_ranges.c; what becomes something else is forgotten there.
 *
 * Who calls: libc's names for it, which are exported, and syscall(): whoever writes code of its own over the former (the memory
 * hooks of UCX and Open MPI) reaches the system by that.
 */
#ifndef VERBS_SHIM_PRELOAD_MEMORY_H
#define VERBS_SHIM_PRELOAD_MEMORY_H

#include <stddef.h>
#include <sys/types.h>

/* As mmap(2), munmap(2), mremap(2), shmat(2), shmdt(2), with their errors in errno; a file of the emulated kernel is mapped as
 * its driver would (device_mmap()). */
void *memory_map(void *address, size_t length, int prot, int flags, int fd, off_t offset);
int memory_unmap(void *address, size_t length);
void *memory_remap(void *old, size_t old_length, size_t length, int flags, void *wanted);
void *memory_attach(int segment, const void *address, int flags);
int memory_detach(const void *address);

#endif
