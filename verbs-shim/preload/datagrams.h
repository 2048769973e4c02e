/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datagrams: sends and receives on modelled UDP sockets. Before the bytes of each datagram, the
 * pair has a struct shim_datagram (socket_record.h), which the program does not see.
 */
#ifndef VERBS_SHIM_PRELOAD_DATAGRAMS_H
#define VERBS_SHIM_PRELOAD_DATAGRAMS_H

#include <sys/socket.h>
#include <sys/types.h>

#include "verbs-shim/socket_record.h"

/* Work as sendmsg(2) and recvmsg(2) do. */
ssize_t datagrams_send(int fd, struct shim_socket *record, const struct msghdr *message, int flags);
ssize_t datagrams_receive(int fd, struct shim_socket *record, struct msghdr *message, int flags);

#endif
