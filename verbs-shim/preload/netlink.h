/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink: sockets of NETLINK_RDMA are files of the emulated kernel, and look to libnl and libmnl like sockets of netlink: they
 * have an address, and what comes from them, one.
 */
#ifndef VERBS_SHIM_PRELOAD_NETLINK_H
#define VERBS_SHIM_PRELOAD_NETLINK_H

#include <stdbool.h>
#include <sys/socket.h>

/* As socket(2). -1 and ENOENT: this host has no such device. */
int netlink_socket(int type);

/* Is that descriptor of this process such a socket? */
bool netlink_has(int fd);

/* sendmsg(2) on it: one request, or several. */
ssize_t netlink_send(int fd, const struct msghdr *message);

/* Whom a message is from: the kernel. As recvfrom(2) says it: *length is the room for it. */
void netlink_sender(struct sockaddr *from, socklen_t *length);

#endif
