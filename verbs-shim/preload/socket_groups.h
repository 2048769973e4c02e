/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_groups: socket options of multicast, with the results of Linux: net/ipv4/ip_sockglue.c,
 * igmp.c, net/ipv6/ipv6_sockglue.c, mcast.c. eth0 has the route to all groups.
 */
#ifndef VERBS_SHIM_PRELOAD_SOCKET_GROUPS_H
#define VERBS_SHIM_PRELOAD_SOCKET_GROUPS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "verbs-shim/socket_record.h"

/* Returns true if this is an option of multicast. Sets *result, and errno if it is -1. */
bool socket_groups_set(struct shim_socket *record, int level, int option, const void *value,
		       socklen_t length, int *result);

/* Returns true if a program can read this option of multicast. */
bool socket_groups_get(const struct shim_socket *record, int level, int option, int *value);

#endif
