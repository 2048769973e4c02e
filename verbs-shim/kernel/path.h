/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: converts an address of the program (address handle, QP attribute, or address vector in a
 * WQE) to the path of packets. IBTA vol. 1, 11.2.2; annexes A16 and A17 for RoCE. A real kernel
 * consults its GID table, the subnet administrator and ARP for this.
 */
#ifndef VERBS_SHIM_KERNEL_PATH_H
#define VERBS_SHIM_KERNEL_PATH_H

#include <rdma/ib_user_verbs.h>

#include "fabric/wire/path.h"

struct kernel;
struct address_resolver;

/* Returns 0, or -EINVAL for an unknown source address or an address that this link layer does not
 * support. */
int path_check(const struct kernel *kernel, const struct ib_uverbs_ah_attr *address);

/* Builds a path. The address must have been checked. local_qp and remote_qp determine the UDP
 * source port if there is no flow label. */
const struct path *path_build(struct kernel *kernel, const struct ib_uverbs_ah_attr *address,
			      uint32_t local_qp, uint32_t remote_qp);

/* Returns the MAC of the next hop in `mac`, or -EHOSTUNREACH if no host has that GID. */
int path_resolve_mac(const struct kernel *kernel, const uint8_t gid[16], uint8_t mac[6]);

/* Implements struct address_resolver. */
const struct path *path_resolve_address_vector(struct address_resolver *resolver,
					       const uint8_t address_vector[48]);

#endif
