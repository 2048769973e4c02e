/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path: from the address a program gives (address handle, QP attribute, or address vector in a WQE) to the path of
 * packets: IBTA vol. 1, 11.2.2; annexes A16 and A17 for RoCE. It stands where a kernel asks its GID table, the
 * subnet administrator and ARP.
 */
#ifndef VERBS_SHIM_KERNEL_PATH_H
#define VERBS_SHIM_KERNEL_PATH_H

#include <rdma/ib_user_verbs.h>

#include "fabric/wire/path.h"

struct kernel;
struct address_resolver;

/* 0 or -EINVAL: no such source address, or one that this link layer cannot have. */
int path_check(const struct kernel *kernel, const struct ib_uverbs_ah_attr *address);

/* The address must have been checked. local_qp, remote_qp: give the UDP source port where no flow label does. */
const struct path *path_build(struct kernel *kernel, const struct ib_uverbs_ah_attr *address,
			      uint32_t local_qp, uint32_t remote_qp);

/* Next hop's MAC; -EHOSTUNREACH: nobody has that GID. */
int path_resolve_mac(const struct kernel *kernel, const uint8_t gid[16], uint8_t mac[6]);

/* struct address_resolver's */
const struct path *path_resolve_address_vector(struct address_resolver *resolver,
					       const uint8_t address_vector[48]);

#endif
