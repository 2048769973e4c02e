/* SPDX-License-Identifier: Apache-2.0 */
/* streams: see streams.h. */
#include "verbs-shim/preload/streams.h"

#include <netinet/in.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/sockets.h"

#define DESCRIPTORS 65536

/* State of a descriptor at the last check. */
static struct {
	ino_t inode;
	bool leaves;
} known[DESCRIPTORS];

/* Returns the IPv4 address of a host of the run, or 0 for another address. Hosts have addresses of
 * 127.x.x.x, lo itself has 127.0.0.1. */
static uint32_t host_of(const struct sockaddr *address)
{
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	uint32_t four = 0;

	if (address->sa_family == AF_INET)
		four = ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr);
	else if (address->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		memcpy(&four, &six->sin6_addr.s6_addr[12], sizeof(four)), four = ntohl(four);
	return four >> 24 == 127 && four != INADDR_LOOPBACK ? four : 0;
}

static uint32_t end_of(int fd, long call)
{
	struct sockaddr_storage address = {0};
	socklen_t length = sizeof(address);

	return system_call(call, fd, &address, &length) == 0
		       ? host_of((const struct sockaddr *)&address)
		       : 0;
}

static bool leads_elsewhere(int fd)
{
	uint32_t peer = end_of(fd, SYS_getpeername);

	return peer != 0 && peer != end_of(fd, SYS_getsockname);
}

/* Returns true if the socket is connected to another host. */
static bool leaves(int fd)
{
	struct stat status;

	if (fd < 0 || fd >= DESCRIPTORS || system_call(SYS_fstat, fd, &status) != 0 ||
	    !S_ISSOCK(status.st_mode))
		return false;
	if (known[fd].inode != status.st_ino) {
		known[fd].leaves = leads_elsewhere(fd);
		known[fd].inode = status.st_ino;
	}
	return known[fd].leaves;
}

/* Models a link: data that has not left since the last call remains. */
static void carry(struct shim_traffic *traffic, uint64_t bytes)
{
	uint64_t now = gate_now();
	unsigned __int128 gone = (unsigned __int128)(now > traffic->at ? now - traffic->at : 0) *
				 traffic->link_bps / (UINT64_C(8) * UINT64_C(1000000000000));

	if (traffic->bytes == 0)
		traffic->first = now;
	traffic->behind = gone < traffic->behind ? traffic->behind - (uint64_t)gone : 0;
	traffic->behind += bytes;
	if (traffic->behind > traffic->behind_most)
		traffic->behind_most = traffic->behind;
	traffic->bytes += bytes;
	if (now > traffic->at)
		traffic->at = now;
}

void streams_sent(int fd, const struct sockaddr *to, ssize_t bytes)
{
	int before = errno;
	struct shim_socket *record = bytes > 0 ? sockets_of(fd) : NULL;

	if (record) {
		sockets_sent(record, bytes);
	} else if (bytes > 0) {
		uint32_t host = to ? host_of(to) : 0;

		if (to ? host != 0 && host != end_of(fd, SYS_getsockname) : leaves(fd))
			carry(&shim.memory->traffic[shim.process->host], (uint64_t)bytes);
	}
	errno = before;
}

void streams_full(int fd)
{
	int before = errno;

	if (leaves(fd))
		shim.memory->traffic[shim.process->host].full++;
	errno = before;
}
