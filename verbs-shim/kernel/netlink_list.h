/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink_list: what `rdma resource show qp` and its like list: the queue pairs, completion queues, regions and protection domains
 * that programs have, an entry each.
 */
#ifndef VERBS_SHIM_KERNEL_NETLINK_LIST_H
#define VERBS_SHIM_KERNEL_NETLINK_LIST_H

#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/nlmsg.h"

#define NETLINK_LIST_ENTRY_BYTES 160 /* that one takes at most */

struct netlink_list {
	enum object_type type;
	uint16_t table; /* RDMA_NLDEV_ATTR_RES_...; an entry: the next number */
	uint16_t index; /* by which one is asked for */
	void (*put)(const struct kernel *kernel, const struct object *object,
		    struct nlmsg *message);
};

/* NULL: it is none of them. command: RDMA_NLDEV_CMD_RES_..._GET */
const struct netlink_list *netlink_list_of(uint32_t command);

/* The number of one, by which it is asked for. */
uint32_t netlink_list_index(const struct netlink_list *list, const struct object *object);

/* The one behind `object`, or, NULL, the first; NULL: there is no other. */
const struct object *netlink_list_next(const struct kernel *kernel, const struct netlink_list *list,
				       const struct object *object);

#endif
