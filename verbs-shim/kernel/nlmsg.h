/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nlmsg: builds a netlink message: a header and attributes, which may be nested.
 */
#ifndef VERBS_SHIM_KERNEL_NLMSG_H
#define VERBS_SHIM_KERNEL_NLMSG_H

#include <linux/netlink.h>
#include <stdint.h>

#define NLMSG_BYTES 1024 /* maximum size of a message */

struct nlmsg {
	_Alignas(8) uint8_t bytes[NLMSG_BYTES];
	uint32_t length;
};

/* Starts a message that consists of the header. nlmsg_end() sets its length. */
void nlmsg_begin(struct nlmsg *message, const struct nlmsghdr *header);
void nlmsg_end(struct nlmsg *message);

/* Appends bytes that are not an attribute. */
void nlmsg_append(struct nlmsg *message, const void *bytes, uint32_t length);

/* Append an attribute of that type. A text includes its NUL. */
void nlmsg_put_u8(struct nlmsg *message, uint16_t type, uint8_t value);
void nlmsg_put_u32(struct nlmsg *message, uint16_t type, uint32_t value);
void nlmsg_put_u64(struct nlmsg *message, uint16_t type, uint64_t value);
void nlmsg_put_text(struct nlmsg *message, uint16_t type, const char *text);

/* Starts a nested attribute. It ends with nlmsg_nest_end(), which takes the returned value. */
uint32_t nlmsg_nest(struct nlmsg *message, uint16_t type);
void nlmsg_nest_end(struct nlmsg *message, uint32_t at);

/* Rounds a length up to a multiple of four, the alignment of messages and attributes. */
uint32_t nlmsg_aligned(uint32_t length);

#endif
