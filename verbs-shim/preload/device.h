/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: files of the emulated kernel in this process. Opens, ioctls, writes, mappings and closes
 * are forwarded to the simulator, which implements them. In this process a file is a number, a
 * descriptor and a range of memory.
 */
#ifndef VERBS_SHIM_PRELOAD_DEVICE_H
#define VERBS_SHIM_PRELOAD_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens a device as open(2) does. Returns the descriptor, or -1 with errno. */
int device_open(const char *path, int flags);

/* Updates the files of the port's counters to their current values. */
void device_refresh_counters(void);

/* Reports a request that was refused in this process. The log names "refused:NAME" once. */
void device_refused(const char *name, int error);

/* Returns true for a descriptor of the emulated kernel. */
bool device_has(int fd);

/* Returns true for a descriptor that looks like a netlink socket. */
bool device_is_netlink(int fd);

/* Returns true for a descriptor whose pages can be mapped. */
bool device_has_pages(int fd);

/* Maps a device as mmap(2) does. */
void *device_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset);

/* Reports that a mapping or descriptor of a file is gone. 0: no file. */
void device_leave(uint32_t file);

/* Writes to a device as write(2) does. */
ssize_t device_write(int fd, const void *bytes, size_t length);

/* Returns the device number of the node that fd was opened from, or 0 if it is not a device. */
dev_t device_number(int fd);

#endif
