/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink: sockets of NETLINK_RDMA, by which `rdma dev`, `rdma link` and `rdma resource` of iproute2, and libibverbs as it looks for
 * devices, ask what there is. Requests come by write, answers are read as messages from the file.
 */
#ifndef VERBS_SHIM_KERNEL_NETLINK_H
#define VERBS_SHIM_KERNEL_NETLINK_H

#include "verbs-shim/kernel/kernel.h"

#define NETLINK_NODE "netlink:rdma" /* what the session opens in place of socket() */

/* The new file is among those of the call. A write's result is its length, or -errno. */
void netlink_open(struct kernel *kernel, struct kernel_call *call);
void netlink_write(struct kernel_file *file, struct kernel_call *call, uint64_t bytes,
		   uint64_t length);
void netlink_close(struct kernel_file *file);

#endif
