/* SPDX-License-Identifier: Apache-2.0 */
/*
 * netlink_list: lists for `rdma resource show qp` and similar commands: one entry for each queue
 * pair, completion queue, region and protection domain of the programs.
 */
#ifndef VERBS_SHIM_KERNEL_NETLINK_LIST_H
#define VERBS_SHIM_KERNEL_NETLINK_LIST_H

#include "verbs-shim/kernel/internal.h"
#include "verbs-shim/kernel/nlmsg.h"

#define NETLINK_LIST_ENTRY_BYTES 160 /* maximum size of an entry */

struct netlink_list {
	enum object_type type;
	uint16_t table; /* RDMA_NLDEV_ATTR_RES_...; an entry has the next number */
	uint16_t index; /* attribute that selects a single entry */
	void (*put)(const struct kernel *kernel, const struct object *object,
		    struct nlmsg *message);
};

/* Returns the list of a command, or NULL. command: RDMA_NLDEV_CMD_RES_..._GET */
const struct netlink_list *netlink_list_of(uint32_t command);

/* Returns the number that selects an object. */
uint32_t netlink_list_index(const struct netlink_list *list, const struct object *object);

/* Returns the object after `object`, or the first one if `object` is NULL. Returns NULL at the
 * end. */
const struct object *netlink_list_next(const struct kernel *kernel, const struct netlink_list *list,
				       const struct object *object);

#endif
