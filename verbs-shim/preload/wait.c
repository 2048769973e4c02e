/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait: calls that may block in the operating system. No thread blocks there. Each thread checks.
 * If nothing is there, it hands back the token until another thread did something visible, or until
 * its timeout. An action of the program (a write on a socket) is reported at once, so that other
 * threads check again.
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "verbs-shim/preload/datagrams.h"
#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/netlink.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"
#include "verbs-shim/preload/streams.h"
#include "verbs-shim/preload/terminal.h"
#include "verbs-shim/preload/trap_watch.h"

/* Linux: /dev/tty and /dev/ptmx; the ends of pseudo terminals. */
enum { TTY_MAJOR = 5, PTS_MAJOR = 136, PTS_MAJOR_LAST = 143 };

#define PIECE            4096 /* PIPE_BUF: bytes that a writable pipe accepts without blocking */
#define OUTPUT_MOMENT_NS 100000

static bool await(uint64_t deadline, uint64_t socket)
{
	uint64_t timer = timer_next();
	bool passed;

	pthread_testcancel();
	passed = gate_call(OP_OS_WAIT,
			   REQUEST(.os_wait = {timer < deadline ? timer : deadline, socket})) != 0;
	timer_update();
	pthread_testcancel();
	return passed && deadline <= timer;
}

bool wait_visible(uint64_t deadline)
{
	return await(deadline, SHIM_NO_SOCKET);
}

bool wait_for_any(uint64_t deadline)
{
	return await(deadline, sockets_any_key());
}

void wait_begin(void)
{
	shim_self.interrupted = false;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	timer_update();
	trap_watch_before_call();
}

bool wait_is_ready(int fd, short events)
{
	struct pollfd one = {fd, events, 0};

	return system_look(SYS_poll, &one, 1UL, 0) != 0 || socket_state_events(fd, events, 0) != 0;
}

static bool is_output(const struct stat *status)
{
	return S_ISFIFO(status->st_mode) &&
	       (status->st_ino == shim.output[0] || status->st_ino == shim.output[1]);
}

/* Waits in real time until a pipe of the run's output has room. A pipe holds a page for each two
 * writes at least, so a quarter of its bytes fills at most half of it. */
static void await_output(int fd)
{
	const struct timespec moment = {0, OUTPUT_MOMENT_NS};
	long room = system_call(SYS_fcntl, fd, F_GETPIPE_SZ);
	struct pollfd end = {fd, 0, 0};
	int used = 0;

	while (system_call(SYS_ioctl, fd, FIONREAD, &used) == 0 && used > room / 4 &&
	       system_call(SYS_poll, &end, 1L, 0L) == 0) /* POLLERR: the simulator has ended */
		(void)system_call(SYS_nanosleep, &moment, NULL);
}

ssize_t wait_write_plain(int fd, const void *bytes, size_t length)
{
	struct stat status;
	size_t done = 0;

	if (system_call(SYS_fstat, fd, &status) != 0 || !is_output(&status))
		return system_call(SYS_write, fd, bytes, length);
	do {
		ssize_t result =
			system_call(SYS_write, fd, (const char *)bytes + done, length - done);

		if (result < 0 && errno != EAGAIN && errno != EINTR)
			return done ? (ssize_t)done : -1;
		done += result > 0 ? (size_t)result : 0;
		await_output(fd);
	} while (done < length);
	return (ssize_t)done;
}

static ssize_t write_plain_parts(int fd, const struct iovec *parts, int count)
{
	struct stat status;
	ssize_t total = 0;

	if (system_call(SYS_fstat, fd, &status) != 0 || !is_output(&status))
		return REAL(writev)(fd, parts, count);
	for (int i = 0; i < count; i++) {
		ssize_t result = wait_write_plain(fd, parts[i].iov_base, parts[i].iov_len);

		if (result < 0)
			return total ? total : -1;
		total += result;
	}
	return total;
}

/* Descriptors that never block and have no other program of the run at the other end: a regular
 * file, /dev/null, and the pipes of the run's output. Pseudo terminals and event descriptors (which
 * have no file type) do not belong to this group. */
bool wait_is_plain(int fd)
{
	struct stat status;

	if (system_call(SYS_fstat, fd, &status) != 0)
		return true;
	switch (status.st_mode & S_IFMT) {
	case S_IFIFO:
		return is_output(&status);
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

/* Returns the time until which a call on this socket may wait: SO_RCVTIMEO, SO_SNDTIMEO. */
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

bool wait_for_socket(int fd, short events)
{
	return await(socket_deadline(fd, events), sockets_key(fd));
}

bool wait_for(int fd, short events)
{
	int before = errno;
	uint64_t deadline, socket;

	if (wait_is_ready(fd, events))
		return true;
	if (events & POLLOUT)
		streams_full(fd);
	deadline = socket_deadline(fd, events);
	socket = sockets_key(fd);
	errno = before;
	while (!wait_is_ready(fd, events)) {
		if (await(deadline, socket)) {
			if (wait_is_ready(fd, events))
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

/* Removing data from a channel makes room in it. */
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

/* One part, as sendmsg() takes it. */
#define MESSAGE(bytes, length) \
	(&(struct msghdr){.msg_iov = &(struct iovec){(void *)(bytes), length}, .msg_iovlen = 1})

static ssize_t receive_modelled(int fd, struct shim_socket *record, struct msghdr *message,
				int flags)
{
	ssize_t result;

	wait_begin();
	result = record->datagram ? datagrams_receive(fd, record, message, flags)
				  : sockets_receive(fd, record, message, flags);
	if (result >= 0 && message->msg_controllen)
		clock_stamp(message);
	return result;
}

EXPORT ssize_t read(int fd, void *bytes, size_t length)
{
	struct shim_socket *record;
	ssize_t result;

	if (!shim_active())
		return system_call(SYS_read, fd, bytes, length);
	if (length == 0) { /* waits for nothing: MPICH checks in this way that fd is open */
		wait_begin();
		return system_call(SYS_read, fd, bytes, length);
	}
	record = sockets_of(fd);
	if (record)
		return receive_modelled(fd, record, MESSAGE(bytes, length), 0);
	if (!may_read(fd))
		return -1;
	result = system_call(SYS_read, fd, bytes, length);
	result = terminal_rest(fd, bytes, length, result);
	return process_random_more(fd, bytes, length, taken(fd, result));
}

EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
	struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)count};
	struct shim_socket *record;

	if (!shim_active())
		return REAL(readv)(fd, parts, count);
	record = count > 0 && count <= IOV_MAX ? sockets_of(fd) : NULL;
	if (record && sockets_length(&message) == 0) {
		wait_begin();
		return 0;
	}
	if (record)
		return receive_modelled(fd, record, &message, 0);
	return may_read(fd) ? taken(fd, REAL(readv)(fd, parts, count)) : -1;
}

/* If rdma_cm has no event yet, a caller that may block waits for one. EAGAIN of other files is the
 * result of a command. */
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
	struct shim_socket *record;
	size_t done = 0;

	if (!shim_active())
		return system_call(SYS_write, fd, bytes, length);
	if (device_has(fd))
		return write_device(fd, bytes, length);
	record = sockets_of(fd);
	if (record)
		return sockets_send(fd, record, MESSAGE(bytes, length), 0);
	wait_begin();
	if (wait_is_plain(fd))
		return wait_write_plain(fd, bytes, length);
	if (!wait_is_blocking(fd))
		return sent(fd, NULL, system_call(SYS_write, fd, bytes, length));
	do {
		size_t piece = length - done < PIECE ? length - done : PIECE;
		ssize_t result;
		if (!wait_for(fd, POLLOUT))
			return done ? (ssize_t)done : -1;
		result = system_call(SYS_write, fd, (const char *)bytes + done, piece);
		if (result < 0)
			return done ? (ssize_t)done : -1;
		done += (size_t)result;
		if (done < length && !wait_is_ready(fd, POLLOUT))
			gate_visible();
	} while (done < length);
	return sent(fd, NULL, (ssize_t)done);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	struct shim_socket *record;
	ssize_t total = 0;

	if (!shim_active())
		return REAL(writev)(fd, parts, count);
	record = sockets_of(fd);
	if (record && count >= 0)
		return sockets_send(fd, record,
				    &(struct msghdr){.msg_iov = (struct iovec *)parts,
						     .msg_iovlen = (size_t)count},
				    0);
	if (wait_is_plain(fd)) {
		wait_begin();
		return write_plain_parts(fd, parts, count);
	}
	if (!wait_is_blocking(fd)) {
		wait_begin();
		return sent(fd, NULL, REAL(writev)(fd, parts, count));
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
	struct msghdr whole = {.msg_name = from,
			       .msg_namelen = from ? *from_length : 0,
			       .msg_iov = MESSAGE(bytes, length)->msg_iov,
			       .msg_iovlen = 1};
	struct shim_socket *record;
	size_t done = 0;

	if (!shim_active())
		return REAL(recvfrom)(fd, bytes, length, flags, from, from_length);
	if (netlink_has(fd) && from) {
		netlink_sender(from, from_length);
		from = NULL;
		from_length = NULL;
	}
	record = sockets_of(fd);
	if (record) {
		ssize_t result = receive_modelled(fd, record, &whole, flags);

		if (result >= 0 && from)
			*from_length = whole.msg_namelen;
		return result;
	}
	wait_begin();
	for (;;) {
		ssize_t result;
		if (waits(fd, flags) && !wait_for(fd, POLLIN))
			return done ? (ssize_t)done : -1;
		result = REAL(recvfrom)(fd, (char *)bytes + done, length - done,
					flags & ~MSG_WAITALL, from, from_length);
		result = taken(fd, result);
		if (result <= 0 || !(flags & MSG_WAITALL) || !waits(fd, flags))
			return done ? (ssize_t)done + (result > 0 ? result : 0) : result;
		done += (size_t)result;
		if (done == length)
			return (ssize_t)done;
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
	struct shim_socket *record;
	ssize_t result;

	if (!shim_active())
		return REAL(recvmsg)(fd, message, flags);
	record = sockets_of(fd);
	if (record)
		return receive_modelled(fd, record, message, flags);
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
	struct shim_socket *record;
	size_t done = 0;

	if (!shim_active())
		return REAL(sendto)(fd, bytes, length, flags, to, to_length);
	if (netlink_has(fd))
		return device_write(fd, bytes, length);
	record = sockets_of(fd);
	if (record)
		return sockets_send(fd, record,
				    &(struct msghdr){.msg_name = (void *)to,
						     .msg_namelen = to_length,
						     .msg_iov = MESSAGE(bytes, length)->msg_iov,
						     .msg_iovlen = 1},
				    flags);
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
	struct shim_socket *record;
	ssize_t result;

	if (!shim_active())
		return REAL(sendmsg)(fd, message, flags);
	if (netlink_has(fd))
		return netlink_send(fd, message);
	record = sockets_of(fd);
	if (record)
		return sockets_send(fd, record, message, flags);
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
