/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink: NETLINK_RDMA sockets. They are files of the emulated kernel. libnl and libmnl see
 * netlink sockets with an address, and messages with a sender.
 */
#ifndef VERBS_SHIM_PRELOAD_NETLINK_H
#define VERBS_SHIM_PRELOAD_NETLINK_H

#include <stdbool.h>
#include <sys/socket.h>

/* Creates a socket as socket(2) does. Returns -1 with ENOENT if this host has no such device. */
int netlink_socket(int type);

/* Returns true if the descriptor is such a socket. */
bool netlink_has(int fd);

/* Sends one or several requests as sendmsg(2) does. */
ssize_t netlink_send(int fd, const struct msghdr *message);

/* Writes the sender of a message, which is the kernel, as recvfrom(2) does. *length is the
 * space. */
void netlink_sender(struct sockaddr *from, socklen_t *length);

#endif
