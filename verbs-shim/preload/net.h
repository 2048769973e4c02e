/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net: libc functions for host names and sockets, based on names.h. Sockets are real sockets on the
 * loopback interface, where each simulated host has its own address.
 */
#ifndef VERBS_SHIM_PRELOAD_NET_H
#define VERBS_SHIM_PRELOAD_NET_H

#include <sys/socket.h>

/* Connects as connect(2) does. The destination is translated, and the source is this host's
 * address. */
int net_connect(int socket, const struct sockaddr *address, socklen_t length);

#endif
