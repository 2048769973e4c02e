/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: gives each simulated host a name and an address (127.77.0.k) of its own, so that programs on two hosts may
 * bind the same port and find each other by host name. The libc functions that stand on it are in net.c: getaddrinfo,
 * gethostbyname*, gethostname, uname; bind, connect.
 */
#ifndef VERBS_SHIM_PRELOAD_NAMES_H
#define VERBS_SHIM_PRELOAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define NAMES_MOST_HOSTS 256

/* table: "host0=127.77.0.1,host1=127.77.0.2"; own: the index of this program's host. Called once, before main. */
void names_init(const char *table, uint32_t own);

/* False until names_init(): then all functions behave as libc's. */
bool names_active(void);

/* The address of a host by name, in network order. false: not one of ours. */
bool names_find(const char *name, uint32_t *address);
const char *names_own(void);
uint32_t names_own_address(void); /* network order */

/* The address that the kernel should be given in place of what the program said to bind or connect to: INADDR_ANY, loopback and
 * their IPv6 forms become addresses of this host. Returns the address to use: `address` itself, or *changed. */
const struct sockaddr *names_rewrite(int socket, const struct sockaddr *address, socklen_t *length,
				     struct sockaddr_storage *changed);

#endif
