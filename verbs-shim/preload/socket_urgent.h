/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_urgent: urgent data of modelled streams, by the rules of Linux: net/ipv4/tcp.c,
 * tcp_input.c. The urgent byte is in the pair, as all others. Its place is the mark. A read ends at
 * the mark, and a read at the mark skips the urgent byte, unless SO_OOBINLINE is set.
 */
#ifndef VERBS_SHIM_PRELOAD_SOCKET_URGENT_H
#define VERBS_SHIM_PRELOAD_SOCKET_URGENT_H

#include <stdbool.h>
#include <sys/socket.h>

#include "verbs-shim/socket_record.h"

/* Receives the urgent byte, by MSG_OOB. */
ssize_t socket_urgent_receive(struct shim_socket *record, struct msghdr *message, int flags);

/* Reads from the pair without waiting, at most up to the mark. */
ssize_t socket_urgent_read(int fd, struct shim_socket *record, const struct msghdr *message,
			   int flags);

/* Returns true if the next byte, which is in the pair, is the urgent byte that a read skips. */
bool socket_urgent_is_there(int fd, struct shim_socket *record);

/* Drops the next byte if it is the urgent byte, which a read skips. */
void socket_urgent_skip(int fd, struct shim_socket *record);

/* Returns true if a read that has `done` bytes ends at the mark. */
bool socket_urgent_ends_read(int fd, struct shim_socket *record, size_t done, int flags);

/* Returns true if the pair has only the urgent byte, which a read skips. */
bool socket_urgent_is_alone(int fd, struct shim_socket *record);

/* Changes the events of the pair to those of the socket. */
short socket_urgent_events(int fd, struct shim_socket *record, short wanted, short events);

/* Returns FIONREAD of a stream with `bytes` in its pair. */
int socket_urgent_readable(int fd, struct shim_socket *record, int bytes);

/* Returns SIOCATMARK. */
bool socket_urgent_at_mark(int fd, struct shim_socket *record);

#endif
