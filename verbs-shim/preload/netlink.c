/* SPDX-License-Identifier: Apache-2.0 */
/* netlink: see netlink.h. */
#include "verbs-shim/preload/netlink.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <unistd.h>

#include "verbs-shim/preload/device.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/sockets.h"

#define NODE          "netlink:rdma" /* verbs-shim/kernel/netlink.h */
#define REQUEST_BYTES 1024

int netlink_socket(int type)
{
	int fd = device_open(NODE, type & SOCK_CLOEXEC ? O_CLOEXEC : 0);

	if (fd >= 0 && type & SOCK_NONBLOCK)
		(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

bool netlink_has(int fd)
{
	return device_is_netlink(fd);
}

ssize_t netlink_send(int fd, const struct msghdr *message)
{
	char bytes[REQUEST_BYTES];
	size_t length = 0;

	for (size_t i = 0; i < message->msg_iovlen; i++) {
		const struct iovec *part = &message->msg_iov[i];

		if (part->iov_len > sizeof(bytes) - length) {
			errno = EMSGSIZE;
			return -1;
		}
		memcpy(bytes + length, part->iov_base, part->iov_len);
		length += part->iov_len;
	}
	return device_write(fd, bytes, length);
}

static void put_address(uint32_t port, struct sockaddr *to, socklen_t *length)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_pid = port};

	memcpy(to, &address, *length < sizeof(address) ? *length : sizeof(address));
	*length = sizeof(address);
}

void netlink_sender(struct sockaddr *from, socklen_t *length)
{
	put_address(0, from, length);
}

EXPORT int getsockname(int fd, struct sockaddr *restrict address, socklen_t *restrict length)
{
	const struct shim_socket *record = sockets_of(fd);

	if (record)
		return sockets_name(record, false, address, length);
	if (!netlink_has(fd))
		return REAL(getsockname)(fd, address, length);
	put_address((uint32_t)getpid(), address, length);
	return 0;
}

/* Options of the protocol do not change replies, which arrive at once and complete. */
EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	struct shim_socket *record = sockets_of(fd);

	if (record)
		return sockets_set_option(fd, record, level, option, value, length);
	if (netlink_has(fd) && level == SOL_NETLINK)
		return 0;
	return REAL(setsockopt)(fd, level, option, value, length);
}
