/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: descriptors of the emulated kernel's files, and the calls on them, which are forwarded as they are.
 */
#include "verbs-shim/preload/device.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/interfaces.h"
#include "verbs-shim/preload/shim.h"

#define DESCRIPTORS 4096
#define FILES       4096

static struct {
	uint16_t file; /* 0: not ours */
	uint8_t kind;
} descriptors[DESCRIPTORS];

static struct {
	uint32_t uses; /* descriptors and mappings */
	dev_t number;
} files[FILES];

static uint32_t file_of(int fd)
{
	return fd >= 0 && fd < DESCRIPTORS ? descriptors[fd].file : 0;
}

bool device_has(int fd)
{
	return file_of(fd) != 0;
}

bool device_is_netlink(int fd)
{
	return device_has(fd) && descriptors[fd].kind == FILE_NETLINK;
}

bool device_has_pages(int fd)
{
	return file_of(fd) && descriptors[fd].kind == FILE_COMMAND;
}

dev_t device_number(int fd)
{
	uint32_t file = file_of(fd);

	return file ? files[file].number : 0;
}

static void enter(int fd, uint32_t file, uint32_t kind)
{
	if (fd < 0 || fd >= DESCRIPTORS || file >= FILES)
		return;
	descriptors[fd].file = (uint16_t)file;
	descriptors[fd].kind = (uint8_t)kind;
	files[file].uses++;
}

void device_leave(uint32_t file)
{
	if (file == 0 || --files[file].uses > 0)
		return;
	files[file].number = 0;
	if (shim_active())
		(void)gate_call(OP_CLOSE, file, 0, 0, 0);
}

#define MOVE_BYTES (UINT64_C(2) << 20)

static bool is_zero(const uint8_t *page)
{
	return page[0] == 0 && memcmp(page, page + 1, 4095) == 0;
}

/* Pages of zeros stay holes: they cost no memory before they are used. */
static bool copy_to_queue(uint64_t offset, const uint8_t *bytes, uint64_t length)
{
	for (uint64_t at = 0, stop; at < length; at = stop) {
		stop = at + 4096;
		if (is_zero(bytes + at))
			continue;
		while (stop < length && !is_zero(bytes + stop))
			stop += 4096;
		if (system_call(SYS_pwrite64, shim_queue_fd, bytes + at, stop - at, offset + at) !=
		    (long)(stop - at))
			return false;
	}
	return true;
}

static void move_piece(uint64_t address, uint64_t offset, uint64_t length)
{
	if (!copy_to_queue(offset, (const uint8_t *)(uintptr_t)address, length))
		attach_give_up("there is no memory for what it registers");
	if ((void *)system_call(SYS_mmap, address, length, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, shim_queue_fd, offset) == MAP_FAILED)
		attach_give_up("its registered memory cannot be mapped (as many mappings as "
			       "vm.max_map_count permits?)");
}

/* The pages before are given back piece by piece, so that the program's memory is there once. */
static void move_to_queue(const struct shim_range *range)
{
	uint64_t length = range->length, piece;

	for (uint64_t done = 0; done < length; done += piece) {
		piece = length - done < MOVE_BYTES ? length - done : MOVE_BYTES;
		move_piece(range->address + done, range->offset + done, piece);
	}
}

/* Descriptors and ranges that came with the answer in the slot. */
static void take_answer(void)
{
	struct shim_slot *slot = shim_self.slot;
	uint32_t ranges = slot->range_count, count = slot->file_count;

	slot->range_count = slot->file_count = 0;
	if (slot->retired.length)
		trap_retire(slot->retired.address, slot->retired.length);
	if (slot->retired_record.length)
		trap_retire(slot->retired_record.address, slot->retired_record.length);
	if (slot->unwatched.length)
		trap_unwatch(slot->unwatched.address, slot->unwatched.length);
	slot->retired.length = slot->retired_record.length = slot->unwatched.length = 0;
	for (uint32_t i = 0; i < ranges; i++) {
		const struct shim_range *range = &slot->ranges[i];

		move_to_queue(range);
		if (i < ranges - slot->region_count)
			trap_add_ring(range->address, range->length, range->offset,
				      slot->polled >> i & 1);
		else
			trap_add_region(range->address, range->length, range->offset);
	}
	if (slot->watched_length)
		trap_add_watched(slot->watched_address, slot->watched_length);
	slot->watched_length = 0;
	for (uint32_t i = 0; i < count; i++) {
		int fd = attach_receive_fd();

		enter(fd, slot->files[i].id, slot->files[i].kind);
		if (slot->files[i].number_at)
			*(int32_t *)(uintptr_t)slot->files[i].number_at = fd;
		else
			slot->result = fd;
	}
}

static int64_t call(enum shim_op op, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	int64_t result;

	gate_enter(); /* from the answer on: what moves is not watched before it is there */
	result = gate_call(op, a, b, c, d);
	take_answer();
	gate_leave();
	if (result >= 0)
		return op == OP_OPEN ? shim_self.slot->result : result;
	errno = (int)-result;
	return -1;
}

int device_open(const char *path, int flags)
{
	struct stat status;
	int fd;

	if (!shim_active()) {
		errno = ENXIO;
		return -1;
	}
	fd = (int)call(OP_OPEN, (uint64_t)(uintptr_t)path, (uint64_t)flags, 0, 0);
	if (fd < 0)
		return -1;
	if (!(flags & O_CLOEXEC))
		(void)REAL(fcntl)(fd, F_SETFD, 0);
	if (flags & O_NONBLOCK)
		(void)system_call(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
	memset(&status, 0, sizeof(status));
	files_disguise(path, &status);
	if (file_of(fd))
		files[file_of(fd)].number = status.st_rdev;
	return fd;
}

void device_refresh_counters(void)
{
	int before = errno;

	if (shim_active())
		(void)gate_call(OP_OPEN, (uint64_t)(uintptr_t) "refresh:counters", 0, 0, 0);
	errno = before;
}

void device_refused(const char *name, int error)
{
	char path[64];
	int before = errno;

	snprintf(path, sizeof(path), "refused:%s", name);
	(void)device_open(path, error);
	errno = before;
}

ssize_t device_write(int fd, const void *bytes, size_t length)
{
	return (ssize_t)call(OP_WRITE, file_of(fd), (uint64_t)(uintptr_t)bytes, length, 0);
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	void *argument;
	int result;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (file_of(fd) && descriptors[fd].kind == FILE_COMMAND && shim_active())
		return (int)call(OP_IOCTL, file_of(fd), request, (uint64_t)(uintptr_t)argument, 0);
	if (request == FIOSETOWN || request == SIOCSPGRP)
		return argument ? fcntl(fd, F_SETOWN, *(int *)argument)
				: REAL(ioctl)(fd, request, NULL);
	if (request == FIOGETOWN || request == SIOCGPGRP) {
		result = REAL(ioctl)(fd, request, argument);
		if (result == 0)
			*(int *)argument = ids_virtual(*(int *)argument);
		return result;
	}
	if (interfaces_ioctl(request, argument, &result))
		return result;
	return REAL(ioctl)(fd, request, argument);
}

void *device_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *result;
	int64_t place = call(OP_MMAP, file_of(fd), (uint64_t)offset, length, (uint64_t)prot);

	if (place < 0)
		return MAP_FAILED;
	result =
		(void *)system_call(SYS_mmap, address, length,
				    shim_self.slot->registers ? PROT_NONE : prot, flags, fd, place);
	if (result != MAP_FAILED && shim_self.slot->registers) {
		gate_enter();
		trap_add_registers((uint64_t)(uintptr_t)result, (length + 4095) & ~UINT64_C(4095),
				   file_of(fd), (uint64_t)place);
		gate_leave();
		files[file_of(fd)].uses++;
	}
	return result;
}

/* Programs close all that they find before they start others: Python's subprocess, Open MPI's daemon. */
static bool is_own(int fd)
{
	return fd >= SHIM_FIRST_FD && shim_memory &&
	       (fd == shim_socket || fd == shim_queue_fd || fd == shim_attach_fd ||
		fd == shim_memory_fd);
}

EXPORT int close(int fd)
{
	uint32_t file = file_of(fd);
	int result;

	if (is_own(fd)) {
		errno = EBADF;
		return -1;
	}
	result = REAL(close)(fd);
	timer_forget(fd);
	if (file) {
		descriptors[fd].file = 0;
		device_leave(file);
	} else if (shim_active()) {
		shim_self.slot->dirty = 1;
	}
	return result;
}

static void forget(int fd)
{
	uint32_t file = file_of(fd);

	timer_forget(fd);
	descriptors[fd].file = 0;
	device_leave(file);
}

/* All but our own; flags as close_range(2). */
EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	unsigned from = first;
	int result = 0;

	if (first > last || !shim_memory)
		return REAL(close_range)(first, last, flags);
	for (unsigned fd = first; fd <= last && fd < DESCRIPTORS && result == 0; fd++) {
		if (is_own((int)fd)) {
			if (fd > from)
				result = REAL(close_range)(from, fd - 1, flags);
			from = fd + 1;
		} else if (!((unsigned)flags & CLOSE_RANGE_CLOEXEC)) {
			forget((int)fd);
		}
	}
	if (result == 0 && from <= last)
		result = REAL(close_range)(from, last, flags);
	if (shim_active())
		shim_self.slot->dirty = 1;
	return result;
}

EXPORT void closefrom(int first)
{
	(void)close_range(first > 0 ? (unsigned)first : 0, ~0U, 0);
}

static int copied(int from, int to)
{
	uint32_t file = file_of(from), old = file_of(to);

	if (to < 0 || to >= DESCRIPTORS || from == to)
		return to;
	descriptors[to].file = 0;
	if (file)
		enter(to, file, descriptors[from].kind);
	device_leave(old);
	return to;
}

EXPORT int dup(int fd)
{
	return copied(fd, REAL(dup)(fd));
}

EXPORT int dup2(int fd, int to)
{
	return copied(fd, REAL(dup2)(fd, to));
}

EXPORT int dup3(int fd, int to, int flags)
{
	return copied(fd, REAL(dup3)(fd, to, flags));
}

EXPORT int fcntl(int fd, int command, ...)
{
	va_list list;
	void *argument;
	int result;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	if (shim_active() && lock_is_command(command))
		return lock_record(fd, command, argument);
	if (ids_fcntl(fd, command, argument, &result))
		return result;
	result = REAL(fcntl)(fd, command, argument);
	if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
		return copied(fd, result);
	return result;
}

EXPORT int fcntl64(int fd, int command, ...)
{
	va_list list;
	void *argument;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return fcntl(fd, command, argument);
}
