/* SPDX-License-Identifier: Apache-2.0 */
/* net: see net.h. */
#include "verbs-shim/preload/net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "verbs-shim/preload/epoll.h"
#include "verbs-shim/preload/names.h"
#include "verbs-shim/preload/netlink.h"
#include "verbs-shim/preload/packet_sockets.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_state.h"
#include "verbs-shim/preload/sockets.h"

#define PORT_FIRST  32768 /* as Linux has them */
#define PORTS       28232u
#define PORT_GROUP  110u /* ports of a process, before it takes the ports of others */
#define PORT_GROUPS 256u

/* Returns dotted digits for the name of a simulated host, otherwise the name. */
static const char *numeric(const char *name, char digits[INET_ADDRSTRLEN])
{
	uint32_t address;

	if (!name || !names_find(name, &address))
		return name;
	inet_ntop(AF_INET, &address, digits, INET_ADDRSTRLEN);
	return digits;
}

EXPORT int getaddrinfo(const char *restrict node, const char *restrict service,
		       const struct addrinfo *restrict hints, struct addrinfo **restrict result)
{
	char digits[INET_ADDRSTRLEN];
	struct addrinfo ours = {0};
	const char *name = numeric(node, digits);

	if (name != node && hints &&
	    hints->ai_family == AF_INET6) { /* reached by its IPv4-mapped form */
		ours = *hints;
		ours.ai_flags |= AI_V4MAPPED;
		hints = &ours;
	}
	return REAL(getaddrinfo)(name, service, hints, result);
}

EXPORT struct hostent *gethostbyname(const char *name)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname)(numeric(name, digits));
}

EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname2)(family == AF_INET ? numeric(name, digits) : name, family);
}

EXPORT int gethostbyname_r(const char *restrict name, struct hostent *restrict entry,
			   char *restrict buffer, size_t bytes, struct hostent **restrict result,
			   int *restrict error)
{
	char digits[INET_ADDRSTRLEN];

	return REAL(gethostbyname_r)(numeric(name, digits), entry, buffer, bytes, result, error);
}

EXPORT int gethostname(char *name, size_t bytes)
{
	const char *own = names_own();

	if (!own)
		return REAL(gethostname)(name, bytes);
	if (strlen(own) >= bytes) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, own, strlen(own) + 1);
	return 0;
}

EXPORT int uname(struct utsname *system)
{
	int result = REAL(uname)(system);
	const char *own = names_own();

	if (result == 0 && own) {
		memset(system->nodename, 0, sizeof(system->nodename));
		memcpy(system->nodename, own, strnlen(own, sizeof(system->nodename) - 1));
		memcpy(system->release, shim.memory->host.kernel_release, sizeof(system->release));
		memset(system->version, 0, sizeof(system->version));
		memcpy(system->version, "#1 SMP", sizeof("#1 SMP"));
	}
	return result;
}

/* The emulated kernel serves RDMA netlink sockets. Streams send immediately, because waits of TCP
 * (Nagle's algorithm, delayed acknowledgements) would take real time. */
EXPORT int socket(int family, int type, int protocol)
{
	int before = errno, on = 1, result = -1;

	if (family == AF_NETLINK && protocol == NETLINK_RDMA && shim_active()) {
		result = netlink_socket(type);
		if (result >= 0 || errno != ENOENT)
			return result;
		errno = before;
	}
	if (sockets_models_packets(family, type))
		return packet_sockets_open(type, protocol);
	if (sockets_models(family, type, protocol))
		return sockets_open(family, type);
	result = REAL(socket)(family, type, protocol);
	before = errno;

	if (result >= 0 && names_active() && (family == AF_INET || family == AF_INET6) &&
	    (type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) == SOCK_STREAM)
		setsockopt(result, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	errno = before;
	return result;
}

static in_port_t *port_of(struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET    ? &((struct sockaddr_in *)address)->sin_port
	       : address->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)address)->sin6_port
						: NULL;
}

/* Binds to a free port. The port is the same in each run, whereas the kernel's choice is random. */
static int bind_anywhere(int socket, const struct sockaddr *address, socklen_t length)
{
	static uint32_t used;
	uint32_t first = (uint32_t)getpid() % PORT_GROUPS * PORT_GROUP + used;
	struct sockaddr_storage numbered;

	memcpy(&numbered, address, length);
	for (uint32_t i = 0; i < PORTS; i++) {
		*port_of(&numbered) = htons((uint16_t)(PORT_FIRST + (first + i) % PORTS));
		if (REAL(bind)(socket, (struct sockaddr *)&numbered, length) == 0) {
			used += i + 1;
			return 0;
		}
		if (errno != EADDRINUSE)
			return -1;
	}
	return -1;
}

EXPORT int bind(int socket, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_storage changed, copy = {0};
	struct shim_socket *record = sockets_of(socket);

	if (record)
		return sockets_bind(record, address, length);
	if (netlink_has(socket))
		return 0;
	address = names_rewrite(socket, address, &length, &changed);
	if (names_active() && address && length <= sizeof(copy)) {
		memcpy(&copy, address, length);
		if (port_of(&copy) && *port_of(&copy) == 0)
			return bind_anywhere(socket, address, length);
	}
	return REAL(bind)(socket, address, length);
}

static bool is_unbound(int socket)
{
	struct sockaddr_storage bound = {0};
	socklen_t length = sizeof(bound);

	return getsockname(socket, (struct sockaddr *)&bound, &length) == 0 && port_of(&bound) &&
	       *port_of(&bound) == 0;
}

/* Binds the address of this host, so that the peer sees the host. */
static void bind_own_address(int socket, int family)
{
	struct sockaddr_storage any = {.ss_family = (sa_family_t)family}, changed;
	socklen_t length =
		family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	const struct sockaddr *own =
		names_rewrite(socket, (struct sockaddr *)&any, &length, &changed);
	int before = errno;

	(void)bind_anywhere(socket, own, length);
	errno = before;
}

static bool leads_to_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
	return address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) &&
	       six->sin6_addr.s6_addr[12] == 127;
}

EXPORT int listen(int socket, int backlog)
{
	struct shim_socket *record = sockets_of(socket);

	return record ? sockets_listen(socket, record, backlog) : REAL(listen)(socket, backlog);
}

EXPORT int getpeername(int socket, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct shim_socket *record = sockets_of(socket);

	return record ? sockets_name(record, true, address, length)
		      : REAL(getpeername)(socket, address, length);
}

EXPORT int getsockopt(int socket, int level, int option, void *restrict value,
		      socklen_t *restrict length)
{
	struct shim_socket *record = sockets_of(socket);

	return record ? sockets_get_option(socket, record, level, option, value, length)
		      : REAL(getsockopt)(socket, level, option, value, length);
}

int net_connect(int socket, const struct sockaddr *address, socklen_t length)
{
	struct sockaddr_storage changed;
	struct shim_socket *record = sockets_of(socket);

	if (record)
		return sockets_connect(socket, record, address, length);
	address = names_rewrite(socket, address, &length, &changed);
	if (names_active() && length >= sizeof(struct sockaddr_in) && leads_to_loopback(address) &&
	    is_unbound(socket))
		bind_own_address(socket, address->sa_family);
	return REAL(connect)(socket, address, length);
}

EXPORT int connect(int socket, const struct sockaddr *address, socklen_t length)
{
	int result = net_connect(socket, address, length);

	if (shim_active() && !sockets_of(socket))
		gate_visible();
	return result;
}

EXPORT int accept4(int fd, struct sockaddr *restrict address, socklen_t *restrict length, int flags)
{
	struct shim_socket *record;
	int result;

	if (!shim_active())
		return REAL(accept4)(fd, address, length, flags);
	wait_begin();
	record = sockets_of(fd);
	if (record)
		return sockets_accept(fd, record, address, length, flags);
	if (wait_is_blocking(fd) && !wait_for(fd, POLLIN))
		return -1;
	result = REAL(accept4)(fd, address, length, flags);
	if (result >= 0)
		gate_visible();
	return result;
}

EXPORT int accept(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	if (!shim_active())
		return REAL(accept)(fd, address, length);
	return accept4(fd, address, length, 0);
}

/* Returns true if the FIN goes to a socket of this host. As in Linux, it wakes the peer first, and
 * then its ACK wakes this socket. */
static bool ends_within_host(const struct shim_socket *record, int how)
{
	return how != SHUT_RD && !(record->shut & SHUT_WRITING) && !record->datagram &&
	       socket_state_has_peer(record) &&
	       memcmp(record->local.ip, record->peer.ip, sizeof(record->local.ip)) == 0;
}

EXPORT int shutdown(int fd, int how)
{
	struct shim_socket *record = sockets_of(fd);
	int result;

	if (record) {
		bool woken = ends_within_host(record, how);

		result = sockets_shutdown(fd, record, how);
		if (!woken)
			epoll_wake(record, WAKE_STATE);
		return result;
	}
	result = REAL(shutdown)(fd, how);
	if (shim_active())
		gate_visible();
	return result;
}
