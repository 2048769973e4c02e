/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams: what programs send to other hosts by sockets, beside what the host's link would carry. Sockets take no link time, so that a
 * rate over them may be anything; the run says so at its end if the link could not have carried it (session/streams.c).
 *
 * Who calls: wait.c, behind each call that sends. A connection's kind is found once; its inode says whether a descriptor is still it.
 */
#ifndef VERBS_SHIM_PRELOAD_STREAMS_H
#define VERBS_SHIM_PRELOAD_STREAMS_H

#include <sys/socket.h>
#include <sys/types.h>

/* So many bytes went out by that descriptor; `to`: of a datagram, NULL: to whom it is connected. Nothing, if it is no socket. */
void streams_sent(int fd, const struct sockaddr *to, ssize_t bytes);

/* It takes no more: a thread has to wait, or gets EAGAIN. */
void streams_full(int fd);

#endif
