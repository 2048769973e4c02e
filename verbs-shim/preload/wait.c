/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait: calls that may block in the operating system. None does: each looks, and if there is nothing yet, hands the token back
 * until another thread has done something visible, or its time is up. What a program does there itself (a write on a socket) is
 * told at once, so that others look again.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/netlink.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/streams.h"

/* Linux: /dev/tty and /dev/ptmx; the ends of pseudo terminals. */
enum { TTY_MAJOR = 5, PTS_MAJOR = 136, PTS_MAJOR_LAST = 143 };

#define PIECE 4096 /* PIPE_BUF: what a writable pipe takes without blocking */

bool wait_visible(uint64_t deadline)
{
	uint64_t timer = timer_next();
	bool passed;

	pthread_testcancel();
	passed = gate_call(OP_OS_WAIT, timer < deadline ? timer : deadline, 0, 0, 0) != 0;
	timer_update();
	pthread_testcancel();
	return passed && deadline <= timer;
}

void wait_begin(void)
{
	shim_self.interrupted = false;
	gate_charge(shim_memory->cost_system_call);
	timer_update();
	trap_before_call();
}

static uint64_t deadline_ms(int milliseconds)
{
	return milliseconds < 0 ? SHIM_NEVER
				: gate_now() + (uint64_t)milliseconds * UINT64_C(1000000000);
}

static uint64_t deadline_of(const struct timespec *time)
{
	return !time ? SHIM_NEVER
		     : gate_now() + ((uint64_t)time->tv_sec * UINT64_C(1000000000) +
				     (uint64_t)time->tv_nsec) *
					    1000;
}

static bool is_ready(int fd, short events)
{
	struct pollfd one = {fd, events, 0};

	return system_look(SYS_poll, &one, 1UL, 0) != 0;
}

/* Never blocks, and no other program of the run waits at the other end: a regular file, /dev/null, and the pipes that take what
 * the run prints. Pseudo terminals and event descriptors (which are of no type at all) are none of these. */
bool wait_is_plain(int fd)
{
	struct stat status;

	if (system_call(SYS_fstat, fd, &status) != 0)
		return true;
	switch (status.st_mode & S_IFMT) {
	case S_IFIFO:
		return status.st_ino == shim_output[0] || status.st_ino == shim_output[1];
	case S_IFCHR: {
		unsigned number = major(status.st_rdev);

		return number != TTY_MAJOR && (number < PTS_MAJOR || number > PTS_MAJOR_LAST);
	}
	case S_IFSOCK:
	case 0:
		return false;
	default:
		return true;
	}
}

bool wait_is_blocking(int fd)
{
	return !((int)system_call(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

/* Until when a call on this socket may wait: SO_RCVTIMEO, SO_SNDTIMEO. */
static uint64_t socket_deadline(int fd, short events)
{
	struct timeval limit = {0, 0};
	socklen_t length = sizeof(limit);

	if (system_call(SYS_getsockopt, fd, SOL_SOCKET, events & POLLIN ? SO_RCVTIMEO : SO_SNDTIMEO,
			&limit, &length) != 0 ||
	    (limit.tv_sec == 0 && limit.tv_usec == 0))
		return SHIM_NEVER;
	return gate_now() +
	       ((uint64_t)limit.tv_sec * 1000000 + (uint64_t)limit.tv_usec) * UINT64_C(1000000);
}

bool wait_for(int fd, short events)
{
	int before = errno;
	uint64_t deadline;

	if (is_ready(fd, events))
		return true;
	if (events & POLLOUT)
		streams_full(fd);
	deadline = socket_deadline(fd, events);
	errno = before;
	while (!is_ready(fd, events)) {
		if (wait_visible(deadline)) {
			if (is_ready(fd, events))
				return true;
			errno = EAGAIN;
			return false;
		}
		if (shim_self.interrupted) {
			errno = EINTR;
			return false;
		}
	}
	return true;
}

/* What was taken out of a channel makes room in it. */
static ssize_t taken(int fd, ssize_t result)
{
	if (result > 0 && !wait_is_plain(fd))
		shim_self.slot->dirty = 1;
	return result;
}

static ssize_t given(ssize_t result)
{
	if (result >= 0)
		gate_visible();
	return result;
}

/* By a call that did not wait. */
static ssize_t sent(int fd, const struct sockaddr *to, ssize_t result)
{
	if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		streams_full(fd);
	streams_sent(fd, to, result);
	return given(result);
}

static bool may_read(int fd)
{
	wait_begin();
	return wait_is_plain(fd) || !wait_is_blocking(fd) || wait_for(fd, POLLIN);
}

EXPORT ssize_t read(int fd, void *bytes, size_t length)
{
	ssize_t result;

	if (!shim_active())
		return REAL(read)(fd, bytes, length);
	if (!may_read(fd))
		return -1;
	result = REAL(read)(fd, bytes, length);
	return process_random_more(fd, bytes, length, taken(fd, result));
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
	if (!shim_active())
		return REAL(readv)(fd, parts, count);
	return may_read(fd) ? taken(fd, REAL(readv)(fd, parts, count)) : -1;
}

EXPORT ssize_t pread(int fd, void *bytes, size_t length, off_t at)
{
	if (!shim_active())
		return REAL(pread)(fd, bytes, length, at);
	wait_begin();
	return process_random_more(fd, bytes, length, REAL(pread)(fd, bytes, length, at));
}

EXPORT ssize_t pread64(int fd, void *bytes, size_t length, off_t at)
{
	return pread(fd, bytes, length, at);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
	if (shim_active())
		wait_begin();
	return REAL(pwrite)(fd, bytes, length, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t length, off_t at)
{
	return pwrite(fd, bytes, length, at);
}

/* Where rdma_cm has no event yet, a caller that may block waits for one. EAGAIN of other files is a command's answer. */
static ssize_t write_device(int fd, const void *bytes, size_t length)
{
	for (;;) {
		ssize_t result = device_write(fd, bytes, length);

		if (result >= 0 || errno != EAGAIN || device_has_pages(fd) ||
		    !wait_is_blocking(fd) || !wait_for(fd, POLLIN))
			return result;
	}
}

EXPORT ssize_t write(int fd, const void *bytes, size_t length)
{
	size_t done = 0;

	if (!shim_active())
		return REAL(write)(fd, bytes, length);
	if (device_has(fd))
		return write_device(fd, bytes, length);
	wait_begin();
	if (wait_is_plain(fd))
		return REAL(write)(fd, bytes, length);
	if (!wait_is_blocking(fd))
		return sent(fd, NULL, REAL(write)(fd, bytes, length));
	do {
		size_t piece = length - done < PIECE ? length - done : PIECE;
		ssize_t result;
		if (!wait_for(fd, POLLOUT))
			return done ? (ssize_t)done : -1;
		result = REAL(write)(fd, (const char *)bytes + done, piece);
		if (result < 0)
			return done ? (ssize_t)done : -1;
		done += (size_t)result;
		if (done < length && !is_ready(fd, POLLOUT))
			gate_visible();
	} while (done < length);
	return sent(fd, NULL, (ssize_t)done);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	ssize_t total = 0;

	if (!shim_active())
		return REAL(writev)(fd, parts, count);
	if (wait_is_plain(fd) || !wait_is_blocking(fd)) {
		wait_begin();
		total = REAL(writev)(fd, parts, count);
		return wait_is_plain(fd) ? total : sent(fd, NULL, total);
	}
	for (int i = 0; i < count; i++) {
		ssize_t result = write(fd, parts[i].iov_base, parts[i].iov_len);
		if (result < 0)
			return total ? total : -1;
		total += result;
	}
	return total;
}

static bool waits(int fd, int flags)
{
	return !(flags & MSG_DONTWAIT) && wait_is_blocking(fd);
}

EXPORT ssize_t recvfrom(int fd, void *restrict bytes, size_t length, int flags,
			struct sockaddr *restrict from, socklen_t *restrict from_length)
{
	size_t done = 0;

	if (!shim_active())
		return REAL(recvfrom)(fd, bytes, length, flags, from, from_length);
	if (netlink_has(fd) && from) {
		netlink_sender(from, from_length);
		from = NULL;
		from_length = NULL;
	}
	wait_begin();
	for (;;) {
		ssize_t result;
		if (waits(fd, flags) && !wait_for(fd, POLLIN))
			return done ? (ssize_t)done : -1;
		result = REAL(recvfrom)(fd, (char *)bytes + done, length - done,
					flags & ~MSG_WAITALL, from, from_length);
		if (result <= 0 || !(flags & MSG_WAITALL) || !waits(fd, flags))
			return done ? (ssize_t)done + (result > 0 ? result : 0) : taken(fd, result);
		done += (size_t)result;
		if (done == length)
			return taken(fd, (ssize_t)done);
	}
}

EXPORT ssize_t recv(int fd, void *bytes, size_t length, int flags)
{
	if (!shim_active())
		return REAL(recv)(fd, bytes, length, flags);
	return recvfrom(fd, bytes, length, flags, NULL, NULL);
}

EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	socklen_t room = message->msg_namelen;
	ssize_t result;

	if (!shim_active())
		return REAL(recvmsg)(fd, message, flags);
	wait_begin();
	if (waits(fd, flags) && !wait_for(fd, POLLIN))
		return -1;
	result = taken(fd, REAL(recvmsg)(fd, message, flags & ~MSG_WAITALL));
	if (result >= 0 && message->msg_controllen)
		clock_stamp(message);
	if (result >= 0 && netlink_has(fd) && message->msg_name) {
		message->msg_namelen = room;
		netlink_sender(message->msg_name, &message->msg_namelen);
	}
	return result;
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t length, int flags,
		      const struct sockaddr *to, socklen_t to_length)
{
	size_t done = 0;

	if (!shim_active())
		return REAL(sendto)(fd, bytes, length, flags, to, to_length);
	if (netlink_has(fd))
		return device_write(fd, bytes, length);
	wait_begin();
	if (!waits(fd, flags))
		return sent(fd, to, REAL(sendto)(fd, bytes, length, flags, to, to_length));
	for (;;) {
		ssize_t result;
		if (!wait_for(fd, POLLOUT))
			return done ? (ssize_t)done : -1;
		result = REAL(sendto)(fd, (const char *)bytes + done, length - done,
				      flags | MSG_DONTWAIT, to, to_length);
		if (result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			streams_full(fd);
			(void)wait_visible(SHIM_NEVER);
			continue;
		}
		if (result < 0)
			return done ? (ssize_t)done : -1;
		done += (size_t)result;
		streams_sent(fd, to, result);
		gate_visible();
		if (done >= length)
			return (ssize_t)done;
	}
}

EXPORT ssize_t send(int fd, const void *bytes, size_t length, int flags)
{
	if (!shim_active())
		return REAL(send)(fd, bytes, length, flags);
	return sendto(fd, bytes, length, flags, NULL, 0);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	ssize_t result;

	if (!shim_active())
		return REAL(sendmsg)(fd, message, flags);
	if (netlink_has(fd))
		return netlink_send(fd, message);
	wait_begin();
	for (;;) {
		if (waits(fd, flags) && !wait_for(fd, POLLOUT))
			return -1;
		result = REAL(sendmsg)(fd, message, flags | MSG_DONTWAIT);
		if (result >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK) || !waits(fd, flags))
			return sent(fd, message->msg_name, result);
		(void)wait_visible(SHIM_NEVER);
	}
}

EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
	int result;

	if (!shim_active())
		return REAL(accept4)(fd, address, length, flags);
	wait_begin();
	if (wait_is_blocking(fd) && !wait_for(fd, POLLIN))
		return -1;
	result = REAL(accept4)(fd, address, length, flags);
	return (int)given(result);
}

EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	if (!shim_active())
		return REAL(accept)(fd, address, length);
	return accept4(fd, address, length, 0);
}

EXPORT int shutdown(int fd, int how)
{
	int result = REAL(shutdown)(fd, how);

	if (shim_active())
		gate_visible();
	return result;
}

static int poll_until(struct pollfd *fds, nfds_t count, uint64_t deadline)
{
	for (;;) {
		int result = (int)system_look(SYS_poll, fds, count, 0);
		if (result != 0 || deadline <= gate_now())
			return result;
		if (wait_visible(deadline))
			return (int)system_look(SYS_poll, fds, count, 0);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORT int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	if (!shim_active())
		return REAL(poll)(fds, count, timeout);
	wait_begin();
	return poll_until(fds, count, deadline_ms(timeout));
}

EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		 const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(ppoll)(fds, count, timeout, mask);

	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = poll_until(fds, count, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

static int select_until(int count, fd_set *in, fd_set *out, fd_set *except, uint64_t deadline)
{
	static const struct timespec now = {0, 0};
	fd_set wanted[3];
	fd_set *sets[3] = {in, out, except};

	for (int i = 0; i < 3; i++)
		if (sets[i])
			wanted[i] = *sets[i];
	for (;;) {
		struct timespec zero = now;
		int result = (int)system_look(SYS_pselect6, count, in, out, except, &zero, NULL);
		bool passed;

		if (result != 0 || deadline <= gate_now())
			return result;
		for (int i = 0; i < 3; i++)
			if (sets[i])
				*sets[i] = wanted[i];
		passed = wait_visible(deadline);
		if (!passed && shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
		if (passed)
			deadline = 0;
	}
}

EXPORT int select(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
		  struct timeval *restrict timeout)
{
	uint64_t deadline;

	if (!shim_active())
		return REAL(select)(count, in, out, except, timeout);
	wait_begin();
	deadline = timeout ? gate_now() + ((uint64_t)timeout->tv_sec * 1000000 +
					   (uint64_t)timeout->tv_usec) *
						  1000000
			   : SHIM_NEVER;
	return select_until(count, in, out, except, deadline);
}

EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
		   const struct timespec *restrict timeout, const sigset_t *restrict mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(pselect)(count, in, out, except, timeout, mask);

	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = select_until(count, in, out, except, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

static int epoll_until(int fd, struct epoll_event *events, int most, uint64_t deadline)
{
	for (;;) {
		int result = (int)system_look(SYS_epoll_pwait, fd, events, most, 0, NULL, 8L);
		if (result != 0 || deadline <= gate_now())
			return result;
		if (wait_visible(deadline))
			return (int)system_look(SYS_epoll_pwait, fd, events, most, 0, NULL, 8L);
		if (shim_self.interrupted) {
			errno = EINTR;
			return -1;
		}
	}
}

EXPORT int epoll_pwait(int fd, struct epoll_event *events, int most, int timeout,
		       const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(epoll_pwait)(fd, events, most, timeout, mask);
	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = epoll_until(fd, events, most, deadline_ms(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}

EXPORT int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	if (!shim_active())
		return REAL(epoll_wait)(fd, events, most, timeout);
	return epoll_pwait(fd, events, most, timeout, NULL);
}

EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int most,
			const struct timespec *timeout, const sigset_t *mask)
{
	sigset_t old;
	bool masked;
	int result;

	if (!shim_active())
		return REAL(epoll_pwait2)(fd, events, most, timeout, mask);
	wait_begin();
	masked = signal_begin_mask(mask, &old);
	result = epoll_until(fd, events, most, deadline_of(timeout));
	if (masked)
		signal_end_mask(&old);
	return result;
}
