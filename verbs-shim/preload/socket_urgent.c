/* SPDX-License-Identifier: Apache-2.0 */
/* socket_urgent: see socket_urgent.h. */
#include "verbs-shim/preload/socket_urgent.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"

#define NO_MARK UINT64_MAX

static bool is_inline(const struct shim_socket *record)
{
	return shim_socket_option_value(record, SOL_SOCKET, SO_OOBINLINE, 0);
}

static bool drop_byte(int fd, struct shim_socket *record)
{
	char byte;

	if (system_call(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL) != 1)
		return false;
	socket_state_count(fd, record);
	return true;
}

/* Returns the bytes before the mark, or NO_MARK. */
static uint64_t distance_of(int fd, struct shim_socket *record)
{
	if (!record->urgent)
		return NO_MARK;
	while (record->urgent_holes && drop_byte(fd, record))
		record->urgent_holes--;
	return record->urgent ? record->urgent_at - record->bytes_taken : NO_MARK;
}

/* Returns true if the next byte is the urgent byte, which a read skips. */
static bool is_hidden(int fd, struct shim_socket *record)
{
	return distance_of(fd, record) == 0 && !is_inline(record);
}

void socket_urgent_skip(int fd, struct shim_socket *record)
{
	if (is_hidden(fd, record))
		(void)drop_byte(fd, record);
}

static int bytes_of(int fd)
{
	int bytes = 0;

	(void)system_call(SYS_ioctl, fd, FIONREAD, &bytes);
	return bytes;
}

bool socket_urgent_is_there(int fd, struct shim_socket *record)
{
	return is_hidden(fd, record) && bytes_of(fd) > 0;
}

bool socket_urgent_is_alone(int fd, struct shim_socket *record)
{
	return is_hidden(fd, record) && bytes_of(fd) <= 1;
}

bool socket_urgent_at_mark(int fd, struct shim_socket *record)
{
	return distance_of(fd, record) == 0;
}

bool socket_urgent_ends_read(int fd, struct shim_socket *record, size_t done, int flags)
{
	uint64_t distance = distance_of(fd, record);

	return done > 0 && distance == (flags & MSG_PEEK ? done : 0);
}

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Linux: tcp_recv_urg(). It never waits. */
ssize_t socket_urgent_receive(struct shim_socket *record, struct msghdr *message, int flags)
{
	struct iovec *part = message->msg_iov;

	message->msg_namelen = 0;
	message->msg_controllen = 0;
	if (is_inline(record) || !record->urgent || record->urgent == URGENT_READ)
		return fail(EINVAL);
	if (record->over && !record->ended)
		return fail(ENOTCONN);
	if (record->urgent != URGENT_THERE)
		return record->over || socket_state_reads_no_more(record) ? 0 : fail(EAGAIN);
	if (!(flags & MSG_PEEK))
		record->urgent = URGENT_READ;
	message->msg_flags = MSG_OOB;
	if (sockets_length(message) == 0) {
		message->msg_flags |= MSG_TRUNC;
		return 0;
	}
	while (part->iov_len == 0)
		part++;
	if (!(flags & MSG_TRUNC))
		*(uint8_t *)part->iov_base = (uint8_t)record->urgent_byte;
	return 1;
}

/* Makes the message end after `most` bytes. */
static void shorten(struct msghdr *message, uint64_t most)
{
	for (size_t i = 0; i < message->msg_iovlen; i++) {
		if (message->msg_iov[i].iov_len > most)
			message->msg_iov[i].iov_len = most;
		most -= message->msg_iov[i].iov_len;
	}
}

ssize_t socket_urgent_read(int fd, struct shim_socket *record, const struct msghdr *message,
			   int flags)
{
	bool hidden = sockets_length(message) > 0 && is_hidden(fd, record);
	struct iovec parts[IOV_MAX + 1];
	struct msghdr some = {.msg_iov = parts, .msg_iovlen = message->msg_iovlen + 1};
	uint64_t distance;
	ssize_t result;
	char byte;

	distance = distance_of(fd, record);
	parts[0] = (struct iovec){&byte, hidden};
	memcpy(parts + 1, message->msg_iov, message->msg_iovlen * sizeof(parts[0]));
	if (distance > 0)
		shorten(&some, distance);
	result = sockets_read_pair(fd, &some, flags);
	if (!hidden || result <= 0)
		return result;
	if (result > 1)
		return result - 1;
	if (record->stalled || !socket_state_reads_no_more(record))
		return fail(EAGAIN);
	return record->error && !record->ended ? socket_state_take_error(record) : 0;
}

/* Linux: tcp_poll(). */
short socket_urgent_events(int fd, struct shim_socket *record, short wanted, short events)
{
	uint32_t target = record->low_water ? record->low_water : 1;

	if (!record->urgent)
		return events;
	target += is_hidden(fd, record);
	if ((uint32_t)bytes_of(fd) < target)
		events &= ~(POLLIN | POLLRDNORM);
	return (short)(events | (record->urgent == URGENT_THERE ? wanted & POLLPRI : 0));
}

/* Linux: tcp_inq(). */
int socket_urgent_readable(int fd, struct shim_socket *record, int bytes)
{
	uint64_t distance = distance_of(fd, record);

	if (distance == NO_MARK || is_inline(record) || distance >= (uint64_t)bytes)
		return bytes;
	return (int)distance;
}
