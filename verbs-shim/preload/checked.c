/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checked: second names of libc's blocking calls: the names that _FORTIFY_SOURCE substitutes, which
 * carry the size of the caller's memory, and libc's internal names. A call that passes less memory
 * than it requests ends in libc's check, which ends the program.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/shim.h"

#define CHECKED(type, name, fits, plain, parameters, ...)        \
	EXPORT type name parameters;                             \
	type name parameters                                     \
	{                                                        \
		return (fits) ? plain : REAL(name)(__VA_ARGS__); \
	}

CHECKED(ssize_t, __read_chk, length <= room, read(fd, bytes, length),
	(int fd, void *bytes, size_t length, size_t room), fd, bytes, length, room)
CHECKED(ssize_t, __pread_chk, length <= room, pread(fd, bytes, length, at),
	(int fd, void *bytes, size_t length, off_t at, size_t room), fd, bytes, length, at, room)
CHECKED(ssize_t, __pread64_chk, length <= room, pread(fd, bytes, length, at),
	(int fd, void *bytes, size_t length, off_t at, size_t room), fd, bytes, length, at, room)
CHECKED(ssize_t, __recv_chk, length <= room, recv(fd, bytes, length, flags),
	(int fd, void *bytes, size_t length, size_t room, int flags), fd, bytes, length, room,
	flags)
CHECKED(ssize_t, __recvfrom_chk, length <= room,
	recvfrom(fd, bytes, length, flags, from, from_length),
	(int fd, void *restrict bytes, size_t length, size_t room, int flags,
	 struct sockaddr *restrict from, socklen_t *restrict from_length),
	fd, bytes, length, room, flags, from, from_length)
CHECKED(int, __poll_chk, count <= room / sizeof(*fds), poll(fds, count, timeout),
	(struct pollfd * fds, nfds_t count, int timeout, size_t room), fds, count, timeout, room)
CHECKED(int, __ppoll_chk, count <= room / sizeof(*fds), ppoll(fds, count, timeout, mask),
	(struct pollfd * fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask,
	 size_t room),
	fds, count, timeout, mask, room)

#define SECOND(type, name, plain, parameters) \
	EXPORT type name parameters;          \
	type name parameters                  \
	{                                     \
		return plain;                 \
	}

SECOND(ssize_t, __read, read(fd, bytes, length), (int fd, void *bytes, size_t length))
SECOND(ssize_t, __write, write(fd, bytes, length), (int fd, const void *bytes, size_t length))
SECOND(ssize_t, __pread64, pread(fd, bytes, length, at),
       (int fd, void *bytes, size_t length, off_t at))
SECOND(ssize_t, __pwrite64, pwrite(fd, bytes, length, at),
       (int fd, const void *bytes, size_t length, off_t at))
SECOND(ssize_t, __send, send(fd, bytes, length, flags),
       (int fd, const void *bytes, size_t length, int flags))
SECOND(int, __connect, connect(fd, address, length),
       (int fd, const struct sockaddr *address, socklen_t length))
SECOND(int, __close, close(fd), (int fd))
SECOND(int, __poll, poll(fds, count, timeout), (struct pollfd * fds, nfds_t count, int timeout))
SECOND(int, __select, select(count, in, out, except, timeout),
       (int count, fd_set *in, fd_set *out, fd_set *except, struct timeval *timeout))
SECOND(pid_t, __wait, wait(status), (int *status))
SECOND(pid_t, __waitpid, waitpid(pid, status, options), (pid_t pid, int *status, int options))
SECOND(int, __nanosleep, nanosleep(request, left),
       (const struct timespec *request, struct timespec *left))
SECOND(int, __sigsuspend, sigsuspend(mask), (const sigset_t *mask))

EXPORT int __fcntl(int fd, int command, ...);

int __fcntl(int fd, int command, ...)
{
	va_list list;
	void *argument;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return fcntl(fd, command, argument);
}
