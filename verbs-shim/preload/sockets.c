/* SPDX-License-Identifier: Apache-2.0 */
/* sockets: see sockets.h. */
#include "verbs-shim/preload/sockets.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "verbs-shim/preload/datagrams.h"
#include "verbs-shim/preload/epoll.h"
#include "verbs-shim/preload/packet_sockets.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"

#define IPV6_LENGTH 24 /* Linux: SIN6_LEN_RFC2133 */
#define PARTS       16 /* of a message that is sent at once */

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static uint32_t number_of(const struct shim_socket *record)
{
	return (uint32_t)(record - shim.memory->sockets);
}

struct shim_socket *sockets_of(int fd)
{
	static const size_t head = sizeof(SHIM_SOCKET_NAME) - 1;
	struct sockaddr_un name;
	socklen_t length = sizeof(name) - 1;
	int before = errno;
	unsigned long number;
	const char *digits;

	if (!shim_active() || !shim.memory->socket_costs.modelled)
		return NULL;
	if (system_call(SYS_getsockname, fd, &name, &length) != 0) {
		errno = before;
		return NULL;
	}
	if (name.sun_family != AF_UNIX || length <= offsetof(struct sockaddr_un, sun_path) + head ||
	    name.sun_path[0] != '\0' || memcmp(name.sun_path + 1, SHIM_SOCKET_NAME, head) != 0)
		return NULL;
	((char *)&name)[length] = '\0';
	digits = strrchr(name.sun_path + 1, ':') + 1;
	number = strtoul(digits, NULL, 16);
	return number < SHIM_SOCKETS ? &shim.memory->sockets[number] : NULL;
}

uint64_t sockets_key(int fd)
{
	const struct shim_socket *record = sockets_of(fd);

	return record ? number_of(record) + UINT64_C(1) : SHIM_NO_SOCKET;
}

uint64_t sockets_any_key(void)
{
	return shim.memory->socket_costs.modelled ? SHIM_ANY_SOCKET : SHIM_NO_SOCKET;
}

static int64_t call(enum shim_socket_call which, uint32_t number, uint64_t value)
{
	return gate_call(OP_SOCKET, REQUEST(.socket = {which, number, value}));
}

static int simple(enum shim_socket_call which, const struct shim_socket *record, uint64_t value)
{
	int64_t result = call(which, number_of(record), value);

	if (result >= 0)
		return (int)result;
	errno = (int)-result;
	return -1;
}

static int fail(int error)
{
	errno = error;
	return -1;
}

bool sockets_models(int family, int type, int protocol)
{
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);

	return shim_active() && shim.memory->socket_costs.modelled &&
	       (family == AF_INET || family == AF_INET6) &&
	       ((kind == SOCK_STREAM && (protocol == 0 || protocol == IPPROTO_TCP)) ||
		(kind == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP)));
}

bool sockets_models_packets(int family, int type)
{
	int kind = type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK);

	return shim_active() && shim.memory->socket_costs.modelled && family == AF_PACKET &&
	       kind == SOCK_RAW;
}

/* Makes a call whose response has a descriptor. flags: SOCK_CLOEXEC, SOCK_NONBLOCK. */
static int call_for_descriptor(enum shim_socket_call which, uint32_t number, uint64_t value,
			       int flags, struct shim_socket **record)
{
	int64_t result;
	int fd = -1;

	gate_enter();
	result = call(which, number, value);
	if (result >= 0)
		fd = attach_receive_fd();
	gate_leave();
	if (result < 0)
		return fail((int)-result);
	if (fd < 0)
		return fail(EMFILE);
	*record = &shim.memory->sockets[result];
	if (!(flags & SOCK_CLOEXEC))
		(void)system_call(SYS_fcntl, fd, F_SETFD, 0);
	if (flags & SOCK_NONBLOCK)
		(void)system_call(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK);
	return fd;
}

int sockets_open(int family, int type)
{
	bool datagram = (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_DGRAM;
	uint64_t kind = (uint64_t)family | (datagram ? SHIM_SOCKET_DATAGRAM : 0);
	struct shim_socket *record;

	wait_begin();
	return call_for_descriptor(SOCKET_CREATE, 0, kind, type, &record);
}

/* Reads an address. Returns false and sets errno if it is not of the socket's family. */
bool sockets_read_address(const struct shim_socket *record, const struct sockaddr *address,
			  socklen_t length, struct shim_address *to)
{
	struct sockaddr_in four;
	struct sockaddr_in6 six = {0};
	bool is_six = record->family == AF_INET6;

	if (length < (is_six ? IPV6_LENGTH : sizeof(four))) {
		errno = EINVAL;
		return false;
	}
	if (address->sa_family != record->family) {
		errno = EAFNOSUPPORT;
		return false;
	}
	if (is_six) {
		memcpy(&six, address, length < sizeof(six) ? length : sizeof(six));
		memcpy(to->ip, &six.sin6_addr, sizeof(to->ip));
		to->port = ntohs(six.sin6_port);
		return true;
	}
	memcpy(&four, address, sizeof(four));
	memcpy(to->ip, mapped, sizeof(mapped));
	memcpy(to->ip + sizeof(mapped), &four.sin_addr, sizeof(four.sin_addr));
	to->port = ntohs(four.sin_port);
	return true;
}

void sockets_write_address(const struct shim_socket *record, const struct shim_address *from,
			   struct sockaddr *address, socklen_t *length)
{
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(from->port)};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(from->port)};
	const void *bytes = &four;
	socklen_t whole = sizeof(four);

	if (record->family == AF_PACKET) {
		packet_sockets_address(from, address, length);
		return;
	}
	memcpy(&four.sin_addr, from->ip + sizeof(mapped), sizeof(four.sin_addr));
	memcpy(&six.sin6_addr, from->ip, sizeof(six.sin6_addr));
	if (IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr))
		six.sin6_scope_id = SHIM_INTERFACE_ETH0;
	if (record->family == AF_INET6) {
		bytes = &six;
		whole = sizeof(six);
	}
	memcpy(address, bytes, *length < whole ? *length : whole);
	*length = whole;
}

int64_t sockets_call_number(enum shim_socket_call which, const struct shim_socket *record)
{
	return call(which, number_of(record), 0);
}

/* Fills the pair, so that the socket is not writable until the simulator takes the bytes out. */
static void plug(int fd)
{
	static const char bytes[SHIM_SOCKET_PLUG];

	(void)system_call(SYS_sendto, fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL, NULL,
			  0);
}

/* In Linux, ::ffff:0.0.0.0 is an address that bind() chose. */
static bool is_any(const struct shim_socket *record)
{
	static const uint8_t none[16];
	size_t head = record->family == AF_INET ? sizeof(mapped) : 0;

	return memcmp(record->local.ip + head, none + head, sizeof(none) - head) == 0;
}

int sockets_bind(struct shim_socket *record, const struct sockaddr *address, socklen_t length)
{
	int result, chosen;

	if (record->family == AF_PACKET)
		return packet_sockets_bind(record, address, length);
	if (!sockets_read_address(record, address, length, &record->wanted))
		return -1;
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	result = simple(SOCKET_BIND, record, 0);
	chosen = result == 0 && !is_any(record);
	record->bound |= result == 0 && record->wanted.port;
	record->bound_address |= (uint32_t)chosen;
	if (chosen && memcmp(record->local.ip, mapped, sizeof(mapped)) != 0) {
		record->only_six = 1;
		(void)socket_options_keep(record, IPPROTO_IPV6, IPV6_V6ONLY, 1);
	}
	return result;
}

int sockets_listen(int fd, struct shim_socket *record, int backlog)
{
	bool first = record->state == SOCKET_IDLE;
	int result;

	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	if (record->datagram)
		return fail(EOPNOTSUPP);
	if (record->spoiled)
		return fail(EINVAL);
	result = simple(SOCKET_LISTEN, record, (uint32_t)backlog);
	if (result == 0 && first)
		plug(fd);
	return result;
}

int sockets_name(const struct shim_socket *record, bool peer, struct sockaddr *address,
		 socklen_t *length)
{
	if (peer && !socket_state_has_peer(record))
		return fail(ENOTCONN);
	if ((int)*length < 0)
		return fail(EINVAL);
	sockets_write_address(record, peer ? &record->peer : &record->local, address, length);
	return 0;
}

/* The socket may be used again, as in Linux, after a connect() whose error the program knows, or
 * after its connection was dissolved. Its pair is used up, so another takes its place. Returns the
 * new record, or NULL. */
static struct shim_socket *renew(int fd, const struct shim_socket *old)
{
	int flags = (int)system_call(SYS_fcntl, fd, F_GETFL);
	int own = (int)system_call(SYS_fcntl, fd, F_GETFD);
	uint32_t number = number_of(old);
	struct shim_socket before = *old, *record = NULL;
	bool held = before.bound || (socket_state_is_closed(old) && before.held);
	int other = call_for_descriptor(SOCKET_CREATE, 0, old->family,
					flags & O_NONBLOCK ? SOCK_NONBLOCK : 0, &record);

	if (other < 0)
		return NULL;
	shim_socket_copy_options(record, &before);
	sockets_copy_pair_options(other, fd);
	(void)system_call(SYS_dup3, other, fd, own & FD_CLOEXEC ? O_CLOEXEC : 0);
	(void)system_call(SYS_close, other);
	epoll_follow(&shim.memory->sockets[number], record, fd);
	(void)call(SOCKET_MOVED, number, 0);
	record->local = before.local;
	record->owner = before.owner;
	record->bound = before.bound;
	record->bound_address = before.bound_address;
	if (!before.bound_address) /* the port is still read, the address is not */
		memset(record->local.ip + (record->family == AF_INET ? sizeof(mapped) : 0), 0,
		       record->family == AF_INET ? 4 : 16);
	record->wanted = record->local;
	if (held)
		(void)call(SOCKET_BIND, number_of(record), 1);
	return record;
}

/* Reports that connect() has failed. */
static int report_failure(int fd, struct shim_socket *record)
{
	int error = record->error ? record->error : ECONNABORTED;

	record->error = 0;
	record = renew(fd, record);
	if (record)
		epoll_wake(record, WAKE_STATE);
	return fail(error);
}

/* Dissolves the connection, or ends listen(). Linux: tcp_disconnect(). */
static int dissolve(int fd, struct shim_socket *record)
{
	bool lost = !socket_state_is_closed(record) && record->state != SOCKET_LISTENING;
	int32_t error = lost ? ECONNRESET : record->error;
	uint32_t aborts = record->aborts;

	record->aborts = 1;
	record = renew(fd, record);
	wait_begin(); /* as in Linux, a RST within the host arrives first */
	if (!record)
		return -1;
	record->aborts = aborts;
	record->error = error;
	epoll_wake(record, WAKE_STATE);
	return 0;
}

/* Waits until the handshake is over. Returns 0 if there is a connection. */
static int await_connection(int fd, struct shim_socket *record)
{
	while (record->state == SOCKET_CONNECTING) {
		if (wait_for_socket(fd, POLLOUT))
			return fail(EINPROGRESS);
		if (shim_self.interrupted)
			return fail(EINTR);
	}
	return socket_state_has_connected(record) ? 0 : report_failure(fd, record);
}

/* Sets the destination of a UDP socket, or removes it. */
static int connect_datagram(struct shim_socket *record, const struct sockaddr *address,
			    socklen_t length)
{
	wait_begin();
	if (length >= sizeof(address->sa_family) && address->sa_family == AF_UNSPEC)
		return simple(SOCKET_DISCONNECT, record, 0);
	if (!sockets_read_address(record, address, length, &record->wanted))
		return -1;
	return simple(SOCKET_CONNECT, record, 0);
}

int sockets_connect(int fd, struct shim_socket *record, const struct sockaddr *address,
		    socklen_t length)
{
	struct shim_address wanted;
	bool blocking = wait_is_blocking(fd);
	int64_t result;

	if (record->family == AF_PACKET)
		return fail(EOPNOTSUPP);
	if (record->datagram)
		return connect_datagram(record, address, length);
	if (length >= sizeof(address->sa_family) && address->sa_family == AF_UNSPEC)
		return dissolve(fd, record);
	if (!sockets_read_address(record, address, length, &wanted))
		return -1;
	wait_begin();
	if (record->spoiled)
		return fail(EINVAL);
	if (record->unreported && record->over)
		return report_failure(fd, record);
	if (record->state == SOCKET_CONNECTED && record->unreported) {
		record->unreported = 0;
		return 0;
	}
	if (record->state == SOCKET_CONNECTED || record->state == SOCKET_LISTENING)
		return fail(EISCONN);
	if (record->state == SOCKET_CONNECTING)
		return blocking ? await_connection(fd, record) : fail(EALREADY);
	if (record->state == SOCKET_REFUSED)
		return report_failure(fd, record);
	record->wanted = wanted;
	if (!blocking)
		plug(fd);
	result = call(SOCKET_CONNECT, number_of(record), 0);
	if (result != -EINPROGRESS)
		return fail((int)-result);
	if (blocking)
		return await_connection(fd, record);
	record->unreported = 1;
	return fail(EINPROGRESS);
}

int sockets_accept(int fd, struct shim_socket *record, struct sockaddr *address, socklen_t *length,
		   int flags)
{
	struct shim_socket *accepted;
	char byte;
	int result;

	if (record->datagram)
		return fail(EOPNOTSUPP);
	if (record->state != SOCKET_LISTENING)
		return fail(EINVAL);
	for (;;) {
		if (wait_is_blocking(fd) && !wait_for(fd, POLLIN))
			return -1;
		if (system_call(SYS_recvfrom, fd, &byte, 1, MSG_DONTWAIT, NULL, NULL) == 1)
			break;
		if (!wait_is_blocking(fd))
			return fail(EAGAIN);
	}
	result = call_for_descriptor(SOCKET_ACCEPT, number_of(record), 0, flags, &accepted);
	if (result >= 0)
		sockets_copy_pair_options(result, fd);
	if (result >= 0 && address)
		sockets_write_address(accepted, &accepted->peer, address, length);
	return result;
}

/* Discards connections that were not accepted, and their state in the pair. */
static int unlisten(int fd, const struct shim_socket *record)
{
	char bytes[256];

	(void)call(SOCKET_UNLISTEN, number_of(record), 0);
	/* as in Linux, resets within the host arrive first */
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	while (system_call(SYS_recvfrom, fd, bytes, sizeof(bytes), MSG_DONTWAIT, NULL, NULL) > 0)
		;
	return 0;
}

/* Linux closes the ends of a socket without a connection too. */
static int not_connected(struct shim_socket *record)
{
	if (record->unreported || record->state == SOCKET_REFUSED)
		record->spoiled = 1;
	gate_visible();
	return fail(ENOTCONN);
}

int sockets_shutdown(int fd, struct shim_socket *record, int how)
{
	int result;

	if (how < SHUT_RD || how > SHUT_RDWR)
		return fail(EINVAL);
	if (record->state == SOCKET_LISTENING)
		return how == SHUT_WR ? 0 : unlisten(fd, record);
	record->shut |= (uint32_t)how + 1;
	if (record->state == SOCKET_IDLE || socket_state_is_closed(record)) {
		record->silent_end = record->shut & SHUT_WRITING;
		return not_connected(record);
	}
	record->unreported = 0;
	if (record->datagram || record->state != SOCKET_CONNECTED)
		return record->datagram ? 0 : fail(ENOTCONN);
	/* Linux delivers bytes that arrive after a shutdown() of reading alone */
	if (record->shut == SHUT_READING || (how == SHUT_RD && record->silent_end))
		return 0;
	record->silent_end = 0;
	record->announced = 1;
	result =
		(int)system_call(SYS_shutdown, fd, record->shut == SHUT_BOTH ? SHUT_RDWR : SHUT_WR);
	gate_charge(CPU_system_call, shim.memory->cost_system_call);
	(void)call(SOCKET_MOVED, number_of(record), 0);
	return result;
}

void sockets_sent(struct shim_socket *record, ssize_t bytes)
{
	const struct shim_socket_costs *costs = &shim.memory->socket_costs;

	if (bytes <= 0)
		return;
	sockets_follow_thread(record);
	gate_add(CPU_copy, sockets_copy_time((uint64_t)bytes));
	gate_add(CPU_transmit, ((uint64_t)bytes + costs->burst_bytes - 1) / costs->burst_bytes *
				       costs->send_segment);
	(void)call(SOCKET_MOVED, number_of(record), 0);
}

/* Returns false and sets errno if nothing can be sent. */
static bool may_send(int fd, struct shim_socket *record, int flags)
{
	if (record->state == SOCKET_CONNECTING) {
		if (flags & MSG_DONTWAIT || !wait_is_blocking(fd)) {
			errno = EAGAIN;
			return false;
		}
		if (await_connection(fd, record) != 0)
			return false;
	}
	return socket_state_may_write(record, flags);
}

void sockets_advance(struct msghdr *message, size_t bytes)
{
	while (message->msg_iovlen > 0 && bytes >= message->msg_iov->iov_len) {
		bytes -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (message->msg_iovlen > 0) {
		message->msg_iov->iov_base = (char *)message->msg_iov->iov_base + bytes;
		message->msg_iov->iov_len -= bytes;
	}
}

size_t sockets_length(const struct msghdr *message)
{
	size_t length = 0;

	for (size_t i = 0; i < message->msg_iovlen; i++)
		length += message->msg_iov[i].iov_len;
	return length;
}

/* Sends up to PARTS parts. Returns the result of send(2). */
static ssize_t send_parts(int fd, struct shim_socket *record, const struct msghdr *message,
			  int flags)
{
	struct iovec parts[PARTS];
	struct msghdr left = {.msg_iov = parts, .msg_iovlen = message->msg_iovlen};
	size_t length = sockets_length(message), done = 0;
	bool waits = !(flags & MSG_DONTWAIT) && wait_is_blocking(fd);

	memcpy(parts, message->msg_iov, message->msg_iovlen * sizeof(parts[0]));
	do {
		ssize_t result;

		record->announced = 1;
		result = system_call(SYS_sendmsg, fd, &left, MSG_DONTWAIT | (flags & MSG_NOSIGNAL));
		if (result > 0) {
			record->sends_urgent = flags & MSG_OOB;
			sockets_sent(record, result);
			record->sends_urgent = 0;
			done += (size_t)result;
			sockets_advance(&left, (size_t)result);
			continue;
		}
		record->announced = 0;
		if (result == 0)
			break;
		record->no_space |= errno == EAGAIN;
		if (errno != EAGAIN || !waits || !wait_for(fd, POLLOUT))
			return done ? (ssize_t)done : -1;
	} while (done < length && (waits || done == 0));
	record->no_space |= done < length;
	return (ssize_t)done;
}

ssize_t sockets_send(int fd, struct shim_socket *record, const struct msghdr *message, int flags)
{
	struct msghdr some = {.msg_iov = message->msg_iov};
	size_t left = message->msg_iovlen;
	ssize_t done = 0;

	wait_begin();
	if (record->family == AF_PACKET)
		return fail(EOPNOTSUPP);
	if (record->datagram)
		return datagrams_send(fd, record, message, flags);
	if (!may_send(fd, record, flags))
		return -1;
	while (left > 0) {
		ssize_t result;

		some.msg_iovlen = left < PARTS ? left : PARTS;
		result = send_parts(fd, record, &some, flags);
		if (result < 0)
			return done ? done : -1;
		done += result;
		if ((size_t)result < sockets_length(&some))
			break;
		left -= some.msg_iovlen;
		some.msg_iov += some.msg_iovlen;
	}
	return done;
}

int64_t sockets_closing(int fd)
{
	struct shim_socket *record = sockets_of(fd);

	if (!record)
		return -1;
	record->announced = 1;
	return number_of(record);
}

void sockets_closed(int64_t number)
{
	if (number >= 0)
		(void)call(SOCKET_MOVED, (uint32_t)number, 0);
}
