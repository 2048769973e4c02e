/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_state: what the state of a modelled socket determines, by the rules of Linux: readiness,
 * the end of reading and writing, and the result of calls that no peer takes part in. The Unix pair
 * of the socket shows only whether it has bytes, and whether it has room.
 */
#ifndef VERBS_SHIM_PRELOAD_SOCKET_STATE_H
#define VERBS_SHIM_PRELOAD_SOCKET_STATE_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "verbs-shim/socket_record.h"

/* Adds events of a modelled socket to those of its pair. Returns the events of `fd`. */
short socket_state_events(int fd, short wanted, short events);

/* The same, if the record of the descriptor is known. */
short socket_state_events_of(struct shim_socket *record, int fd, short wanted, short events);

/* Returns -1 with the error of the socket as errno, and clears the error. */
ssize_t socket_state_take_error(struct shim_socket *record);

/* Returns true if a read has a result without bytes. Sets *result, and errno if it is -1. */
bool socket_state_ends_read(int fd, struct shim_socket *record, ssize_t *result);

/* Converts `result` of a read of a stream's pair to the result for the program. */
ssize_t socket_state_read(int fd, struct shim_socket *record, ssize_t result);

/* Returns true if the stream is connected and can send. Otherwise sets errno, and raises SIGPIPE
 * unless the flags have MSG_NOSIGNAL. */
bool socket_state_may_write(struct shim_socket *record, int flags);

/* Counts the bytes of a stream that the program has read. */
void socket_state_count(int fd, struct shim_socket *record);

/* Returns true if the program, or the peer, has shut the end for reading. */
bool socket_state_reads_no_more(const struct shim_socket *record);

/* Returns true if there is a peer whose name a program can read. */
bool socket_state_has_peer(const struct shim_socket *record);

/* Returns true if connect() has succeeded. */
bool socket_state_has_connected(const struct shim_socket *record);

/* Returns true if no connection is there or begins. */
bool socket_state_is_closed(const struct shim_socket *record);

/* Returns FIONREAD, or -1 and errno. */
int socket_state_readable(int fd, struct shim_socket *record, int *bytes);

#endif
