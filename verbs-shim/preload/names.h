/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names: gives each simulated host a name and an address (127.77.0.k). Programs on two hosts can
 * then bind the same port and find each other by host name. The libc functions that use it are in
 * net.c: getaddrinfo, gethostbyname*, gethostname, uname; bind, connect.
 */
#ifndef VERBS_SHIM_PRELOAD_NAMES_H
#define VERBS_SHIM_PRELOAD_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#define NAMES_MOST_HOSTS 256

/* Sets the table "host0=127.77.0.1,host1=127.77.0.2" and the index of this program's host. Call
 * this function once, before main(). */
void names_init(const char *table, uint32_t own);

/* Returns false before names_init(). All functions then behave as in libc. */
bool names_active(void);

/* Returns the address of a simulated host by name, in network order. Returns false if there is no
 * such host. */
bool names_find(const char *name, uint32_t *address);
const char *names_own(void);
uint32_t names_own_address(void); /* network order */

/* Translates an address for bind or connect. INADDR_ANY, loopback and their IPv6 forms become
 * addresses of this host. Returns `address` itself, or *changed. */
const struct sockaddr *names_rewrite(int socket, const struct sockaddr *address, socklen_t *length,
				     struct sockaddr_storage *changed);

#endif
