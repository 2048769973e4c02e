/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nlmsg: one message of netlink being built: a header, and attributes behind it, which may hold attributes themselves.
 */
#ifndef VERBS_SHIM_KERNEL_NLMSG_H
#define VERBS_SHIM_KERNEL_NLMSG_H

#include <linux/netlink.h>
#include <stdint.h>

#define NLMSG_BYTES 1024 /* room for all of one */

struct nlmsg {
	_Alignas(8) uint8_t bytes[NLMSG_BYTES];
	uint32_t length;
};

/* Only with the header, whose length is set by nlmsg_end(). */
void nlmsg_begin(struct nlmsg *message, const struct nlmsghdr *header);
void nlmsg_end(struct nlmsg *message);

/* Bytes that are no attribute. */
void nlmsg_append(struct nlmsg *message, const void *bytes, uint32_t length);

/* An attribute of that type; text with its NUL. */
void nlmsg_put_u8(struct nlmsg *message, uint16_t type, uint8_t value);
void nlmsg_put_u32(struct nlmsg *message, uint16_t type, uint32_t value);
void nlmsg_put_u64(struct nlmsg *message, uint16_t type, uint64_t value);
void nlmsg_put_text(struct nlmsg *message, uint16_t type, const char *text);

/* An attribute of attributes: those that are put before nlmsg_nest_end(), which takes what this returns. */
uint32_t nlmsg_nest(struct nlmsg *message, uint16_t type);
void nlmsg_nest_end(struct nlmsg *message, uint32_t at);

/* Where it ends, messages and attributes alike: a multiple of four. */
uint32_t nlmsg_aligned(uint32_t length);

#endif
