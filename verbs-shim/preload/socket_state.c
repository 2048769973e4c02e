/* SPDX-License-Identifier: Apache-2.0 */
/* socket_state: see socket_state.h. Linux: net/ipv4/tcp.c, af_inet.c, udp.c. */
#include "verbs-shim/preload/socket_state.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "verbs-shim/preload/packet_sockets.h"
#include "verbs-shim/preload/shim.h"
#include "verbs-shim/preload/socket_urgent.h"
#include "verbs-shim/preload/sockets.h"

#define READ_ENDED (POLLIN | POLLRDNORM | POLLRDHUP)

bool socket_state_is_closed(const struct shim_socket *record)
{
	return record->state == SOCKET_IDLE || record->state == SOCKET_REFUSED || record->over;
}

/* Returns the ends that are closed, by the program or with the connection. */
static uint32_t shut_of(const struct shim_socket *record)
{
	if (record->over || record->state == SOCKET_REFUSED)
		return SHUT_BOTH;
	return record->shut | (record->ended ? SHUT_READING : 0);
}

void socket_state_count(int fd, struct shim_socket *record)
{
	int bytes = 0;

	if (system_call(SYS_ioctl, fd, FIONREAD, &bytes) != 0)
		return;
	record->bytes_taken = record->bytes_received - (uint64_t)bytes;
	if (record->urgent && record->bytes_taken > record->urgent_at)
		record->urgent = URGENT_NONE;
}

/* Returns true if fewer bytes than SO_RCVLOWAT are there, and more may come. */
static bool is_low(int fd, struct shim_socket *record)
{
	if (record->low_water <= 1 || record->datagram || record->state != SOCKET_CONNECTED)
		return false;
	socket_state_count(fd, record);
	return shim_socket_is_low(record);
}

bool socket_state_reads_no_more(const struct shim_socket *record)
{
	return shut_of(record) & SHUT_READING;
}

short socket_state_events(int fd, short wanted, short events)
{
	struct shim_socket *record = sockets_of(fd);

	return record ? socket_state_events_of(record, fd, wanted, events) : events;
}

short socket_state_events_of(struct shim_socket *record, int fd, short wanted, short events)
{
	uint32_t shut = shut_of(record);
	short more = 0;

	if (record->family == AF_PACKET && packet_sockets_poll(fd, record, &more))
		return more & wanted;
	if (record->state == SOCKET_LISTENING || record->state == SOCKET_CONNECTING)
		return events;
	record->no_space |= wanted & POLLOUT && !(events & POLLOUT);
	if (shut & SHUT_READING)
		more |= READ_ENDED;
	if (shut == SHUT_BOTH || (!record->datagram && socket_state_is_closed(record)))
		more |= POLLHUP;
	if (!record->datagram && (shut & SHUT_WRITING || socket_state_is_closed(record)))
		more |= POLLOUT | POLLWRNORM;
	if (record->error)
		more |= POLLERR;
	if (events & POLLIN && is_low(fd, record))
		events &= ~(POLLIN | POLLRDNORM);
	events = socket_urgent_events(fd, record, wanted, events);
	return (short)(events | (more & (wanted | POLLHUP | POLLERR)));
}

/* Returns true if bytes that a read returns, a datagram or the peer's end are in the pair. */
static bool has_bytes(int fd, struct shim_socket *record)
{
	struct pollfd one = {fd, POLLIN, 0};

	return system_look(SYS_poll, &one, 1UL, 0) == 1 && one.revents & POLLIN &&
	       !socket_urgent_is_alone(fd, record);
}

ssize_t socket_state_take_error(struct shim_socket *record)
{
	errno = record->error;
	record->error = 0;
	return -1;
}

bool socket_state_ends_read(int fd, struct shim_socket *record, ssize_t *result)
{
	bool lost = record->error && record->over && !record->ended;

	*result = -1;
	if (record->state == SOCKET_LISTENING) {
		errno = ENOTCONN;
		return true;
	}
	if (record->state == SOCKET_IDLE && !record->datagram) {
		if (record->error)
			(void)socket_state_take_error(record);
		else if (record->shut & SHUT_READING)
			*result = 0;
		else
			errno = ENOTCONN;
		return true;
	}
	if (record->error ? !lost : !(record->shut & SHUT_READING))
		return false;
	if (has_bytes(fd, record))
		return false;
	*result = lost ? socket_state_take_error(record) : 0;
	return true;
}

ssize_t socket_state_read(int fd, struct shim_socket *record, ssize_t result)
{
	int bytes = 0;

	if (result != 0 || !record->error || record->ended)
		return result;
	(void)system_call(SYS_ioctl, fd, FIONREAD, &bytes); /* a read of 0 bytes */
	return bytes ? 0 : socket_state_take_error(record);
}

bool socket_state_may_write(struct shim_socket *record, int flags)
{
	if (record->error) {
		(void)socket_state_take_error(record);
		return false;
	}
	if (record->state == SOCKET_CONNECTED && !(shut_of(record) & SHUT_WRITING))
		return true;
	if (!(flags & MSG_NOSIGNAL))
		(void)raise(SIGPIPE);
	errno = EPIPE;
	return false;
}

bool socket_state_has_peer(const struct shim_socket *record)
{
	return record->state == SOCKET_CONNECTED && !record->over;
}

/* A socket that is its own peer, and was shut for writing, ends at once. */
bool socket_state_has_connected(const struct shim_socket *record)
{
	bool own = memcmp(&record->local, &record->peer, sizeof(record->local)) == 0;

	return record->state == SOCKET_CONNECTED && !(own && record->shut & SHUT_WRITING);
}

int socket_state_readable(int fd, struct shim_socket *record, int *bytes)
{
	int result;

	char byte;
	ssize_t first;

	if (record->state == SOCKET_LISTENING) {
		errno = EINVAL;
		return -1;
	}
	if (!record->datagram) {
		result = (int)system_call(SYS_ioctl, fd, FIONREAD, bytes);
		if (result == 0)
			*bytes = socket_urgent_readable(fd, record, *bytes);
		return result;
	}
	first = system_call(SYS_recvfrom, fd, &byte, 0, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT, NULL,
			    NULL);
	*bytes = first > (ssize_t)sizeof(struct shim_datagram)
			 ? (int)first - (int)sizeof(struct shim_datagram)
			 : 0;
	return 0;
}
