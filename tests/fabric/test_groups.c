/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests multicast groups: which GIDs belong to groups, and the Ethernet addresses that RFC 2464 and
 * RFC 1112 derive from them. A group is found by its LID and by its GID, and an unknown one is not.
 */
#include <string.h>

#include "fabric/groups.h"
#include "tests/support/suite.h"

#define TESTS(TEST) \
	TEST(gids)  \
	TEST(macs)  \
	TEST(found)
SUITE(TESTS)

#define IPV4(a, b, c, d)                                                                 \
	{                                                                                \
		[10] = 0xff, [11] = 0xff, [12] = (a), [13] = (b), [14] = (c), [15] = (d) \
	}

static const uint8_t ipv6_group[16] = {0xff, 0x12, [12] = 1, 2, 3, 4};
static const uint8_t ipv4_group[16] = IPV4(239, 129, 2, 3);

static void test_gids(void)
{
	static const uint8_t first[16] = IPV4(224, 0, 0, 0), last[16] = IPV4(239, 255, 255, 255);
	static const uint8_t below[16] = IPV4(223, 255, 255, 255), above[16] = IPV4(240, 0, 0, 0);
	static const uint8_t host[16] = {0xfe, 0x80, [12] = 224};

	CU_ASSERT_TRUE(group_has_gid(ipv6_group));
	CU_ASSERT_TRUE(group_has_gid(first));
	CU_ASSERT_TRUE(group_has_gid(last));
	CU_ASSERT_FALSE(group_has_gid(below));
	CU_ASSERT_FALSE(group_has_gid(above));
	CU_ASSERT_FALSE(group_has_gid(host));
}

/* The MAC holds the lower 32 bits of IPv6, or the lower 23 bits of IPv4. */
static void test_macs(void)
{
	static const uint8_t of_ipv6[6] = {0x33, 0x33, 1, 2, 3, 4},
			     of_ipv4[6] = {1, 0, 0x5e, 1, 2, 3};
	uint8_t mac[6];

	group_mac(ipv6_group, mac);
	CU_ASSERT_EQUAL(memcmp(mac, of_ipv6, 6), 0);
	group_mac(ipv4_group, mac);
	CU_ASSERT_EQUAL(memcmp(mac, of_ipv4, 6), 0);
}

static void test_found(void)
{
	struct groups *groups = groups_create();
	struct group first = {.lid = GROUP_LID_FIRST}, second = {.lid = GROUP_LID_FIRST + 1};

	memcpy(first.gid, ipv6_group, sizeof(first.gid));
	memcpy(second.gid, ipv4_group, sizeof(second.gid));
	CU_ASSERT_EQUAL(groups_by_gid(groups, ipv4_group), GROUP_NONE);
	CU_ASSERT_EQUAL(groups_add(groups, &first), 0);
	CU_ASSERT_EQUAL(groups_add(groups, &second), 1);
	CU_ASSERT_EQUAL(groups_count(groups), 2);
	CU_ASSERT_EQUAL(groups_by_gid(groups, ipv6_group), GROUP_ADDRESS | 0);
	CU_ASSERT_EQUAL(groups_by_gid(groups, ipv4_group), GROUP_ADDRESS | 1);
	CU_ASSERT_EQUAL(groups_by_lid(groups, GROUP_LID_FIRST + 1), GROUP_ADDRESS | 1);
	CU_ASSERT_EQUAL(groups_by_lid(groups, GROUP_LID_FIRST + 2), GROUP_NONE);
	groups_destroy(groups);
}
