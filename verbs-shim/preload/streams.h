/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: counts the data that programs send to other hosts through sockets, for comparison with
 * the rate of the host's link. Sockets take no link time, so their rate is not limited. The run
 * reports at its end if the link could not have carried the data (session/streams.c). wait.c calls
 * these functions after each call that sends. The kind of a connection is determined once; its
 * inode identifies it later.
 */
#ifndef VERBS_SHIM_PRELOAD_STREAMS_H
#define VERBS_SHIM_PRELOAD_STREAMS_H

#include <sys/socket.h>
#include <sys/types.h>

/* Counts bytes sent through a descriptor. `to` is the destination of a datagram, or NULL for a
 * connected socket. Has no effect on a descriptor that is not a socket. */
void streams_sent(int fd, const struct sockaddr *to, ssize_t bytes);

/* Counts a socket that accepts no more bytes: the thread must wait, or gets EAGAIN. */
void streams_full(int fd);

#endif
