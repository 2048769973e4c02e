/* SPDX-License-Identifier: Apache-2.0 */
/* datagrams: see datagrams.h. */
#include "verbs-shim/preload/datagrams.h"

#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/interfaces.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"

#define LONGEST     65507 /* RFC 768, RFC 791 */
#define HEADERS     28    /* IPv4, UDP */
#define HEADERS_SIX 48    /* IPv6, UDP */

static int fail(int error)
{
	errno = error;
	return -1;
}

/* Returns true, with errno, if an ICMP message has arrived. One call reports each message. */
static bool has_failed(struct shim_socket *record)
{
	int error = record->error;

	record->error = 0;
	if (error)
		errno = error;
	return error != 0;
}

/* Finds the destination of a message. Returns false and sets errno if there is none. */
static bool choose_destination(struct shim_socket *record, const struct msghdr *message,
			       struct shim_address *to)
{
	int64_t result;

	if (message->msg_name) {
		if (!sockets_read_address(record, message->msg_name, message->msg_namelen, to))
			return false;
	} else if (record->state == SOCKET_CONNECTED) {
		*to = record->peer;
	} else {
		errno = EDESTADDRREQ;
		return false;
	}
	if (to->port == 0) {
		errno = EINVAL;
		return false;
	}
	if (record->has_route && record->local.port &&
	    memcmp(&record->routed, to, sizeof(*to)) == 0)
		return true;
	record->wanted = *to;
	result = sockets_call_number(SOCKET_ROUTE, record);
	record->has_route = result == 0;
	record->routed = *to;
	if (result < 0)
		errno = (int)-result;
	return result == 0;
}

/* Linux: udpv6_sendmsg() ignores MSG_OOB, udp_sendmsg() refuses it. */
static bool may_send_to(struct shim_socket *record, const struct msghdr *message, int flags,
			struct shim_address *to)
{
	bool six = record->family == AF_INET6;

	if ((six || !(flags & MSG_OOB)) && !choose_destination(record, message, to))
		return false;
	if (!(flags & MSG_OOB) || (six && !IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)to->ip)))
		return true;
	errno = EOPNOTSUPP;
	return false;
}

/* Linux binds a socket that sends, even if it cannot send. */
static void bind_any(struct shim_socket *record)
{
	int error = errno;

	if (record->local.port == 0) {
		record->wanted = record->local;
		(void)sockets_call_number(SOCKET_ROUTE, record);
	}
	errno = error;
}

static bool is_local(const struct shim_address *to)
{
	const struct in6_addr *six = (const struct in6_addr *)to->ip;
	uint32_t four;

	memcpy(&four, to->ip + 12, sizeof(four));
	return IN6_IS_ADDR_V4MAPPED(six) ? interfaces_with(four) != 0 : IN6_IS_ADDR_LOOPBACK(six);
}

/* Returns true if the program forbids fragments, and a datagram of `length` bytes needs them. */
static bool is_too_long(const struct shim_socket *record, const struct shim_address *to,
			size_t length)
{
	int32_t discovers =
		shim_socket_option_value(record, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_WANT);
	uint32_t mtu = shim.memory->socket_costs.mtu_bytes;

	if (to->ip[0] == 0xff)
		return length + HEADERS_SIX > mtu;
	return discovers >= IP_PMTUDISC_DO && discovers != IP_PMTUDISC_OMIT &&
	       length + HEADERS > mtu && !is_local(to);
}

ssize_t datagrams_send(int fd, struct shim_socket *record, const struct msghdr *message, int flags)
{
	const struct shim_socket_costs *costs = &shim.memory->socket_costs;
	struct iovec parts[IOV_MAX + 1];
	struct shim_datagram head = {.truesize = 0};
	const struct msghdr whole = {.msg_iov = parts, .msg_iovlen = message->msg_iovlen + 1};
	size_t length = sockets_length(message);
	bool waits = !(flags & MSG_DONTWAIT) && wait_is_blocking(fd);
	ssize_t result;

	if (message->msg_iovlen > IOV_MAX)
		return fail(EMSGSIZE);
	if (length > LONGEST)
		return fail(EMSGSIZE);
	if (!may_send_to(record, message, flags, &head.address)) {
		bind_any(record);
		return -1;
	}
	if (is_too_long(record, &head.address, length))
		return fail(EMSGSIZE);
	if (has_failed(record))
		return -1;
	if (record->shut & SHUT_WRITING) {
		if (!(flags & MSG_NOSIGNAL))
			(void)raise(SIGPIPE);
		return fail(EPIPE);
	}
	parts[0] = (struct iovec){&head, sizeof(head)};
	memcpy(parts + 1, message->msg_iov, message->msg_iovlen * sizeof(parts[0]));
	do {
		record->announced = 1;
		result = system_call(SYS_sendmsg, fd, &whole, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (result < 0)
			record->announced = 0;
	} while (result < 0 && errno == EAGAIN && waits && wait_for(fd, POLLOUT));
	if (result < 0)
		return -1;
	sockets_follow_thread(record);
	gate_add(CPU_copy, sockets_copy_time(length));
	gate_add(CPU_transmit, costs->send_segment);
	(void)sockets_call_number(SOCKET_MOVED, record);
	return (ssize_t)length;
}

/* Returns the result of recvmsg() of a datagram with its head. */
static ssize_t take(int fd, struct shim_socket *record, struct msghdr *whole, int flags)
{
	bool waits = !(flags & MSG_DONTWAIT) && wait_is_blocking(fd);

	for (;;) {
		ssize_t result;

		if (has_failed(record))
			return -1;
		result = system_call(SYS_recvmsg, fd, whole, flags | MSG_DONTWAIT);
		if (result >= 0 || errno != EAGAIN || !waits)
			return result;
		if (record->shut & SHUT_READING)
			return 0;
		if (wait_for_socket(fd, POLLIN))
			return fail(EAGAIN);
		if (shim_self.interrupted)
			return fail(EINTR);
	}
}

ssize_t datagrams_receive(int fd, struct shim_socket *record, struct msghdr *message, int flags)
{
	struct iovec parts[IOV_MAX + 1];
	struct shim_datagram head = {.truesize = 0};
	struct msghdr whole = {.msg_iov = parts,
			       .msg_iovlen = message->msg_iovlen + 1,
			       .msg_control = message->msg_control,
			       .msg_controllen = message->msg_controllen};
	ssize_t result;

	if (message->msg_iovlen > IOV_MAX)
		return fail(EMSGSIZE);
	parts[0] = (struct iovec){&head, sizeof(head)};
	memcpy(parts + 1, message->msg_iov, message->msg_iovlen * sizeof(parts[0]));
	result = take(fd, record, &whole, flags & ~(MSG_WAITALL | MSG_OOB));
	if (result < 0)
		return -1;
	message->msg_flags = whole.msg_flags & ~MSG_EOR; /* of the pair */
	message->msg_controllen = whole.msg_controllen;
	if (result < (ssize_t)sizeof(head)) { /* shutdown() of reading */
		message->msg_namelen = 0;
		return 0;
	}
	if (message->msg_name)
		sockets_write_address(record, &head.address, message->msg_name,
				      &message->msg_namelen);
	result -= (ssize_t)sizeof(head);
	if (!(flags & MSG_PEEK)) {
		record->taken += head.truesize;
		record->taps_seen++;
		if (record->stalled)
			(void)sockets_call_number(SOCKET_MOVED, record);
		sockets_pay_received(record, (uint64_t)result);
	}
	return result;
}
