/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net: the libc functions by which programs name hosts and sockets, standing on names.h. Sockets stay real ones on the
 * loopback interface; each simulated host has an address of its own there.
 */
#ifndef VERBS_SHIM_PRELOAD_NET_H
#define VERBS_SHIM_PRELOAD_NET_H

#include <sys/socket.h>

/* connect(2) by the names' rules: the destination rewritten, the source this host's own address. */
int net_connect(int socket, const struct sockaddr *address, socklen_t length);

#endif
