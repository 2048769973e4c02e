/* SPDX-License-Identifier: Apache-2.0 */
/*
 * device: descriptors of the emulated kernel's files, and the calls on them, which are forwarded as
 * they are.
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

#include "verbs-shim/preload/epoll.h"
#include "verbs-shim/preload/files.h"
#include "verbs-shim/preload/interfaces.h"
#include "verbs-shim/preload/memory.h"
#include "verbs-shim/preload/range.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/socket_urgent.h"
#include "verbs-shim/preload/sockets.h"

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
		(void)gate_call(OP_CLOSE, REQUEST(.close = {file}));
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
		if (system_call(SYS_pwrite64, shim.queue_fd, bytes + at, stop - at, offset + at) !=
		    (long)(stop - at))
			return false;
	}
	return true;
}

static void move_piece(uint64_t address, uint64_t offset, uint64_t length)
{
	if (!copy_to_queue(offset, (const uint8_t *)(uintptr_t)address, length))
		attach_give_up("no memory for the registered region");
	if ((void *)system_call(SYS_mmap, address, length, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_FIXED, shim.queue_fd, offset) == MAP_FAILED)
		attach_give_up("its registered memory cannot be mapped (as many mappings as "
			       "vm.max_map_count permits?)");
}

/* Moves a range to shared pages, piece by piece. The old pages of a piece are freed at once, so
 * that memory never exists twice. */
static void move_to_queue(const struct shim_range *range)
{
	uint64_t length = range->length, piece;

	for (uint64_t done = 0; done < length; done += piece) {
		piece = length - done < MOVE_BYTES ? length - done : MOVE_BYTES;
		move_piece(range->address + done, range->offset + done, piece);
	}
}

/* Takes the descriptors and ranges that came with the response in the slot. */
static void take_response(void)
{
	struct shim_response *response = &shim_self.slot->response;
	uint32_t ranges = response->range_count, count = response->file_count;

	response->range_count = response->file_count = 0;
	if (response->retired.length)
		range_retire(response->retired.address, response->retired.length);
	if (response->retired_record.length)
		range_retire(response->retired_record.address, response->retired_record.length);
	if (response->unwatched.length)
		range_unwatch(response->unwatched.address, response->unwatched.length);
	response->retired.length = response->retired_record.length = response->unwatched.length = 0;
	for (uint32_t i = 0; i < ranges; i++) {
		const struct shim_range *range = &response->ranges[i];

		move_to_queue(range);
		if (i < ranges - response->region_count)
			range_add_ring(range->address, range->length, range->offset,
				       response->polled >> i & 1);
		else
			range_add_region(range->address, range->length, range->offset);
	}
	if (response->watched.length)
		range_add_watched(response->watched.address, response->watched.length);
	response->watched.length = 0;
	for (uint32_t i = 0; i < count; i++) {
		int fd = attach_receive_fd();

		enter(fd, response->files[i].id, response->files[i].kind);
		if (response->files[i].number_at)
			*(int32_t *)(uintptr_t)response->files[i].number_at = fd;
		else
			shim_self.slot->result = fd;
	}
}

static int64_t call(enum shim_op op, const union shim_request *request)
{
	int64_t result;

	gate_enter(); /* starts at the response: moved memory is watched only when it is in place */
	result = gate_call(op, request);
	take_response();
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
	fd = (int)call(OP_OPEN, REQUEST(.open = {(uint64_t)(uintptr_t)path, (uint64_t)flags}));
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
		(void)gate_call(
			OP_OPEN,
			REQUEST(.open = {.path = (uint64_t)(uintptr_t) "refresh:counters"}));
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
	return (ssize_t)call(OP_WRITE, REQUEST(.write = {.file = file_of(fd),
							 .bytes = (uint64_t)(uintptr_t)bytes,
							 .length = length}));
}

EXPORT int ioctl(int fd, unsigned long request, ...)
{
	va_list list;
	struct shim_socket *record;
	void *argument;
	int result;

	va_start(list, request);
	argument = va_arg(list, void *);
	va_end(list);
	if (file_of(fd) && descriptors[fd].kind == FILE_COMMAND && shim_active())
		return (int)call(OP_IOCTL, REQUEST(.ioctl = {file_of(fd), request,
							     (uint64_t)(uintptr_t)argument}));
	if (request == FIOSETOWN || request == SIOCSPGRP)
		return argument ? fcntl(fd, F_SETOWN, *(int *)argument)
				: REAL(ioctl)(fd, request, NULL);
	if (request == FIOGETOWN || request == SIOCGPGRP) {
		result = REAL(ioctl)(fd, request, argument);
		if (result == 0)
			*(int *)argument = ids_virtual(*(int *)argument);
		return result;
	}
	record = request == FIONREAD || request == SIOCATMARK ? sockets_of(fd) : NULL;
	if (record && request == FIONREAD)
		return socket_state_readable(fd, record, argument);
	if (record && record->datagram) {
		errno = ENOTTY;
		return -1;
	}
	if (record) {
		*(int *)argument = socket_urgent_at_mark(fd, record);
		return 0;
	}
	if (interfaces_ioctl(request, argument, &result))
		return result;
	return REAL(ioctl)(fd, request, argument);
}

/* libc does not call its ioctl() here. */
EXPORT int sockatmark(int fd)
{
	int result;

	return ioctl(fd, SIOCATMARK, &result) == 0 ? result : -1;
}

/* Memory of the program takes the place of the driver's pages, and becomes shared with the
 * adapter. */
static void *map_ring(size_t length, int fd, off_t offset)
{
	void *result = memory_map(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);

	if (result != MAP_FAILED &&
	    call(OP_RING, REQUEST(.mmap = {.file = file_of(fd),
					   .offset = (uint64_t)offset,
					   .length = length,
					   .protection = (uint64_t)(uintptr_t)result})) < 0)
		return MAP_FAILED;
	return result;
}

void *device_mmap(void *address, size_t length, int prot, int flags, int fd, off_t offset)
{
	void *result;
	int64_t place = call(OP_MMAP, REQUEST(.mmap = {.file = file_of(fd),
						       .offset = (uint64_t)offset,
						       .length = length,
						       .protection = (uint64_t)prot}));

	if (place < 0)
		return MAP_FAILED;
	if (shim_self.slot->response.ring)
		return map_ring(length, fd, offset);
	result = (void *)system_call(SYS_mmap, address, length,
				     shim_self.slot->response.registers ? PROT_NONE : prot, flags,
				     fd, place);
	if (result != MAP_FAILED && shim_self.slot->response.registers) {
		gate_enter();
		range_add_registers((uint64_t)(uintptr_t)result, (length + 4095) & ~UINT64_C(4095),
				    file_of(fd), (uint64_t)place);
		gate_leave();
		files[file_of(fd)].uses++;
	}
	return result;
}

/* Returns true for the library's own descriptors. Some programs close all descriptors that they
 * find before they start other programs: Python's subprocess, Open MPI's daemon. */
static bool is_own(int fd)
{
	return fd >= SHIM_FIRST_FD && shim.memory &&
	       (fd == shim.socket || fd == shim.queue_fd || fd == shim.attach_fd ||
		fd == shim.memory_fd);
}

EXPORT int close(int fd)
{
	uint32_t file = file_of(fd);
	int64_t socket;
	int result;

	if (is_own(fd)) {
		errno = EBADF;
		return -1;
	}
	socket = sockets_closing(fd);
	result = REAL(close)(fd);
	sockets_closed(socket);
	epoll_closed(fd);
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

/* Closes all descriptors except the library's own; flags as in close_range(2). */
EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	unsigned from = first;
	int result = 0;

	if (first > last || !shim.memory)
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
