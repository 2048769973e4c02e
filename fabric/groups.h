/* SPDX-License-Identifier: Apache-2.0 */
/*
 * groups: the multicast groups of a fabric, as a subnet manager stores them (IBTA vol. 1,
 * 15.2.5.17), or as Ethernet switches have learnt them. The destination of a path to a group is
 * GROUP_ADDRESS plus the group's number, instead of an endpoint.
 */
#ifndef FABRIC_GROUPS_H
#define FABRIC_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#define GROUP_ADDRESS (UINT32_C(1) << 31)
#define GROUP_NONE    UINT32_MAX /* also destination NO_ENDPOINT of a path */

/* LIDs of groups: IBTA vol. 1, 4.1.3. The last one includes all ports. */
#define GROUP_LID_FIRST 0xc000
#define GROUP_LID_LAST  0xfffe

struct group {
	uint8_t gid[16]; /* IPv4 as ::ffff:a.b.c.d */
	uint16_t lid;    /* InfiniBand; 0 in Ethernet */
};

struct groups;

struct groups *groups_create(void); /* creates an empty set */
void groups_destroy(struct groups *groups);

/* Adds a group and returns its number, from 0. */
uint32_t groups_add(struct groups *groups, const struct group *group);
uint32_t groups_count(const struct groups *groups);
const struct group *groups_get(const struct groups *groups, uint32_t number);

/* Return the address of the group with a LID or GID, or GROUP_NONE. */
uint32_t groups_by_lid(const struct groups *groups, uint16_t lid);
uint32_t groups_by_gid(const struct groups *groups, const uint8_t gid[16]);

/* returns true for ff.. or an IPv4 address of class D */
bool group_has_gid(const uint8_t gid[16]);

/* Fills in the Ethernet address of a group: RFC 2464 section 7, RFC 1112 section 6.4. */
void group_mac(const uint8_t gid[16], uint8_t mac[6]);

#endif
