/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the generated addresses of a port: literal LIDs, GUIDs, MACs and GIDs in the order of
 * Linux's GID table. Each of them is found again, and unknown addresses are not.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/endpoints.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(infiniband) \
	TEST(roce)       \
	TEST(many)
SUITE(TESTS)

static const uint8_t ip[4] = {10, 0, 0, 2};
static const uint8_t no_ip[4];

static void test_infiniband(void)
{
	static const uint8_t gid[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 2, 0xc9, 3, 0, 0, 0, 1};
	struct endpoints *endpoints = endpoints_create();

	CU_ASSERT_EQUAL(endpoints_by_gid(endpoints, gid), NO_ENDPOINT);
	CU_ASSERT_EQUAL(endpoints_add(endpoints, "host0", LINK_INFINIBAND, ip), 0);
	CU_ASSERT_EQUAL(endpoints_add(endpoints, "host1", LINK_INFINIBAND, ip), 1);
	const struct endpoint *host1 = endpoints_get(endpoints, 1);

	CU_ASSERT_STRING_EQUAL(host1->name, "host1");
	CU_ASSERT_EQUAL(host1->lid, 2);
	CU_ASSERT_EQUAL(host1->guid, UINT64_C(0x0002c90300000001));
	CU_ASSERT_EQUAL(host1->gid_count, 1);
	CU_ASSERT_EQUAL(memcmp(host1->gids[0].bytes, gid, 16), 0);
	CU_ASSERT_EQUAL(host1->gids[0].roce_version, ROCE_NONE);
	CU_ASSERT_EQUAL(endpoints_by_lid(endpoints, 2), 1);
	CU_ASSERT_EQUAL(endpoints_by_lid(endpoints, 0), NO_ENDPOINT);
	CU_ASSERT_EQUAL(endpoints_by_lid(endpoints, 3), NO_ENDPOINT);
	CU_ASSERT_EQUAL(endpoints_by_gid(endpoints, gid), 1);
	endpoints_destroy(endpoints);
}

static void test_roce(void)
{
	static const uint8_t mac[6] = {0, 2, 0xc9, 0, 0, 0};
	static const uint8_t local[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 2, 0xc9, 0xff, 0xfe};
	static const uint8_t mapped[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 2};
	static const uint8_t versions[4] = {ROCE_V1, ROCE_V2_IPV6, ROCE_V1, ROCE_V2_IPV4};
	struct endpoints *endpoints = endpoints_create();

	endpoints_add(endpoints, "host0", LINK_ETHERNET, ip);
	endpoints_add(endpoints, "silent", LINK_ETHERNET, no_ip);
	const struct endpoint *host0 = endpoints_get(endpoints, 0);

	CU_ASSERT_EQUAL(host0->lid, 0);
	CU_ASSERT_EQUAL(memcmp(host0->mac, mac, 6), 0);
	CU_ASSERT_EQUAL(host0->gid_count, 4);
	for (unsigned i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(memcmp(host0->gids[i].bytes, i < 2 ? local : mapped, 16), 0);
		CU_ASSERT_EQUAL(host0->gids[i].roce_version, versions[i]);
	}
	CU_ASSERT_EQUAL(endpoints_get(endpoints, 1)->gid_count, 2);
	CU_ASSERT_EQUAL(endpoints_by_gid(endpoints, mapped), 0);
	CU_ASSERT_EQUAL(endpoints_by_gid(endpoints, local), 0);
	CU_ASSERT_EQUAL(endpoints_by_lid(endpoints, 1), NO_ENDPOINT);
	endpoints_destroy(endpoints);
}

/* Beyond several growths of the tables, every address leads home and no pointer has moved. */
static void test_many(void)
{
	struct endpoints *endpoints = endpoints_create();
	const struct endpoint *first = NULL;
	unsigned wrong = 0;

	for (uint32_t i = 0; i < 5000; i++) {
		const uint8_t address[4] = {10, 0, (uint8_t)(i >> 8), (uint8_t)(i | 1 << 7)};
		char name[32];

		snprintf(name, sizeof(name), "host%u", i);
		endpoints_add(endpoints, name, i % 2 ? LINK_ETHERNET : LINK_INFINIBAND, address);
		if (i == 0)
			first = endpoints_get(endpoints, 0);
	}
	CU_ASSERT_EQUAL(endpoints_count(endpoints), 5000);
	CU_ASSERT_PTR_EQUAL(endpoints_get(endpoints, 0), first);
	for (uint32_t i = 0; i < 5000; i++) {
		const struct endpoint *endpoint = endpoints_get(endpoints, i);

		wrong += endpoints_by_gid(endpoints, endpoint->gids[0].bytes) != i;
		if (endpoint->lid)
			wrong += endpoints_by_lid(endpoints, endpoint->lid) != i;
	}
	CU_ASSERT_EQUAL(wrong, 0);
	endpoints_destroy(endpoints);
}
