/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interfaces: network interfaces that a program sees on its host: lo, and eth0 with the host's
 * address. The machine has no such interfaces: names.c maps a host's addresses to addresses of the
 * machine's loopback network.
 */
#ifndef VERBS_SHIM_PRELOAD_INTERFACES_H
#define VERBS_SHIM_PRELOAD_INTERFACES_H

#include <stdbool.h>
#include <stdint.h>

/* Answers a request about interfaces (netdevice(7)). Returns false for other requests. *result is
 * the result of ioctl(), with errno. */
bool interfaces_ioctl(unsigned long request, void *argument, int *result);

/* Returns the interface of this host with an IPv4 address in network order (SHIM_INTERFACE_*), or
 * 0. */
uint32_t interfaces_with(uint32_t address);

#endif
