/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink: NETLINK_RDMA sockets. `rdma dev`, `rdma link` and `rdma resource` of iproute2 use them,
 * and libibverbs uses them to find devices. Requests arrive as writes; replies are read from the
 * file as messages.
 */
#ifndef VERBS_SHIM_KERNEL_NETLINK_H
#define VERBS_SHIM_KERNEL_NETLINK_H

#include "verbs-shim/kernel/kernel.h"

#define NETLINK_NODE "netlink:rdma" /* path that the session opens instead of socket() */

/* Adds a new file to the call. */
void netlink_open(struct kernel *kernel, struct kernel_call *call);
void netlink_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		   uint64_t length);
void netlink_close(struct kernel_file *file);

#endif
