/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: files of the emulated kernel in this process: opens, ioctls, writes, mappings and closes are forwarded to the
 * simulator, which knows what they mean; here they are a number, a descriptor and a range of memory.
 */
#ifndef VERBS_SHIM_PRELOAD_DEVICE_H
#define VERBS_SHIM_PRELOAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* As open(2): the descriptor, or -1 and errno. */
int device_open(const char *path, int flags);

/* The files of the port's counters show what it counts now. */
void device_refresh_counters(void);

/* The program was refused something that is not the kernel's to answer: "refused:NAME" is named in the log. */
void device_refused(const char *name, int error);

/* Is this descriptor one of ours? */
bool device_has(int fd);

/* And one that looks like a socket of netlink? */
bool device_is_netlink(int fd);

/* And one whose pages can be mapped? */
bool device_has_pages(int fd);

/* mmap(2) of it. */
void *device_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset);

/* A mapping of that file, or a descriptor, is gone; 0: of none. */
void device_leave(uint32_t file);

/* write(2) on it. */
ssize_t device_write(int fd, const void *bytes, size_t length);

/* The device number of the node that fd was opened from; 0: not a device. */
dev_t device_number(int fd);

#endif
