/* SPDX-License-Identifier: Apache-2.0 */
/* socket_receive: reads from modelled streams. See sockets.h. Linux: tcp_recvmsg(). */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/socket_urgent.h"
#include "verbs-shim/preload/sockets.h"

#define COST_PAGE 4096 /* bytes, of receive_page */

/* Returns the time to copy the bytes in picoseconds. */
uint64_t sockets_copy_time(uint64_t bytes)
{
	return (uint64_t)((unsigned __int128)bytes * 8 * UINT64_C(1000000000000) /
			  shim.memory->socket_costs.copy_bps);
}

void sockets_follow_thread(struct shim_socket *record)
{
	record->reader = shim.memory->cores[shim_self.slot - shim.memory->slots] + 1;
}

void sockets_pay_received(struct shim_socket *record, uint64_t bytes)
{
	const struct shim_socket_costs *costs = &shim.memory->socket_costs;

	gate_add(CPU_gro, record->packets * costs->receive_packet);
	gate_add(CPU_receive, record->segments * costs->receive_segment);
	gate_add(CPU_skb, record->unpaid * costs->receive_page / COST_PAGE);
	record->segments = record->packets = 0; /* more may arrive meanwhile */
	record->unpaid = 0;
	sockets_follow_thread(record);
	gate_charge(CPU_copy, sockets_copy_time(bytes));
}

/* Reports the result of a read of the pair. Returns the result for the program. */
static ssize_t taken(int fd, struct shim_socket *record, ssize_t result)
{
	result = socket_state_read(fd, record, result);
	if (result <= 0)
		return result;
	socket_state_count(fd, record);
	sockets_pay_received(record, (uint64_t)result);
	if (record->stalled)
		(void)sockets_call_number(SOCKET_MOVED, record);
	return result;
}

/* MSG_TRUNC: Linux discards the bytes of a stream. Returns the number of bytes. */
static ssize_t discard(int fd, size_t length, int flags)
{
	char bytes[4096];
	size_t done = 0;
	int there = 0;

	if (system_call(SYS_ioctl, fd, FIONREAD, &there) != 0 || there == 0)
		return system_call(SYS_recvfrom, fd, bytes, length ? 1 : 0, MSG_DONTWAIT, NULL,
				   NULL);
	if (length > (size_t)there)
		length = (size_t)there;
	while (done < length && !(flags & MSG_PEEK)) {
		size_t piece = length - done < sizeof(bytes) ? length - done : sizeof(bytes);
		ssize_t got = system_call(SYS_recvfrom, fd, bytes, piece, MSG_DONTWAIT, NULL, NULL);

		if (got <= 0)
			return done ? (ssize_t)done : got;
		done += (size_t)got;
	}
	return (ssize_t)length;
}

ssize_t sockets_read_pair(int fd, struct msghdr *message, int flags)
{
	return flags & MSG_TRUNC
		       ? discard(fd, sockets_length(message), flags)
		       : system_call(SYS_recvmsg, fd, message,
				     (flags & (MSG_PEEK | MSG_CMSG_CLOEXEC)) | MSG_DONTWAIT);
}

/* Reads without waiting. */
static ssize_t receive_now(int fd, struct shim_socket *record, struct msghdr *message, int flags)
{
	ssize_t result = record->urgent ? socket_urgent_read(fd, record, message, flags)
					: sockets_read_pair(fd, message, flags);

	return taken(fd, record, result);
}

/* Waits for bytes. Returns false, with *result, if there are none. As in Linux, a read of 0 bytes
 * waits too, and then returns 0. */
static bool await_bytes(int fd, bool more, size_t length, ssize_t *result)
{
	bool there;

	if (more) {
		there = !wait_for_socket(fd, POLLIN) && !shim_self.interrupted;
		errno = shim_self.interrupted ? EINTR : EAGAIN;
	} else {
		there = wait_for(fd, POLLIN);
	}
	*result = length == 0 ? 0 : -1;
	return there;
}

/* Returns the bytes that a read waits for. Linux: sock_rcvlowat() */
static size_t target_of(const struct shim_socket *record, size_t length, int flags)
{
	size_t least = record->low_water ? record->low_water : 1;

	return flags & MSG_WAITALL || length < least ? length : least;
}

ssize_t sockets_receive(int fd, struct shim_socket *record, struct msghdr *message, int flags)
{
	bool waits = !(flags & MSG_DONTWAIT) && wait_is_blocking(fd);
	size_t length = sockets_length(message), done = 0;
	size_t target = target_of(record, length, flags);
	struct iovec parts[IOV_MAX];
	struct msghdr left = *message;
	ssize_t result;

	if (message->msg_iovlen > IOV_MAX) {
		errno = EMSGSIZE;
		return -1;
	}
	if (flags & MSG_OOB && record->state != SOCKET_LISTENING)
		return socket_urgent_receive(record, message, flags);
	memcpy(parts, message->msg_iov, message->msg_iovlen * sizeof(parts[0]));
	left.msg_iov = parts;
	for (;;) {
		bool more = flags & MSG_PEEK && (done > 0 || socket_urgent_is_alone(fd, record));

		if (socket_urgent_ends_read(fd, record, done, flags) ||
		    (done > 0 && record->error && !record->stalled)) /* for the next call */
			break;
		if (length == 0 && socket_urgent_is_there(fd, record)) {
			result = 0;
			break;
		}
		if (!(flags & MSG_PEEK))
			socket_urgent_skip(fd, record);
		if (socket_state_ends_read(fd, record, &result) ||
		    (waits && !await_bytes(fd, more, length, &result)))
			break;
		result = receive_now(fd, record, &left, flags);
		if (result < 0 && errno == EAGAIN && waits)
			continue;
		if (result > 0)
			done = flags & MSG_PEEK ? (size_t)result : done + (size_t)result;
		if (result <= 0 || done >= target || !waits)
			break;
		if (!(flags & MSG_PEEK))
			sockets_advance(&left, (size_t)result);
	}
	message->msg_namelen = 0;
	message->msg_controllen = done ? left.msg_controllen : 0;
	message->msg_flags = 0;
	return done ? (ssize_t)done : result;
}
