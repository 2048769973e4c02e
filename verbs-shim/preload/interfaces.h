/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interfaces: the network interfaces that a program finds on its host: lo, and eth0 with the host's address. The machine has no such
 * interfaces: names.c turns a host's addresses into ones of the machine's loopback network.
 */
#ifndef VERBS_SHIM_PRELOAD_INTERFACES_H
#define VERBS_SHIM_PRELOAD_INTERFACES_H

#include <stdbool.h>

/* true: a question about interfaces (netdevice(7)); *result: what ioctl() returns, with errno. */
bool interfaces_ioctl(unsigned long request, void *argument, int *result);

#endif
