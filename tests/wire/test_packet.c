/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that pools recycle and count, payloads live as long as their last holder, and equal paths
 * are one object. The length on the wire of each encapsulation equals a sum computed by hand.
 */
#include <string.h>

#include "fabric/wire/opcode.h"
#include "fabric/wire/packet.h"
#include "tests/support/suite.h"

#define TESTS(TEST)  \
	TEST(pool)   \
	TEST(chain)  \
	TEST(intern) \
	TEST(wire_bytes)
SUITE(TESTS)

static void test_pool(void)
{
	struct packet_pool *pool = packet_pool_create();
	struct packet *packets[2000];
	struct packet *copy;
	struct payload *payload;

	for (size_t i = 0; i < ARRAY_SIZE(packets); i++) {
		packets[i] = packet_new(pool);
		CU_ASSERT_EQUAL((uintptr_t)packets[i] % 64, 0);
		packets[i]->psn = 7;
	}
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 2000);
	for (size_t i = 0; i < ARRAY_SIZE(packets); i++)
		packet_free(pool, packets[i]);
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);

	packets[0] = packet_new(pool);
	CU_ASSERT_PTR_EQUAL(packets[0], packets[1999]);
	CU_ASSERT_EQUAL(packets[0]->psn, 0);
	payload = packets[0]->payload = packet_payload_new(pool);
	copy = packet_copy(pool, packets[0]);
	CU_ASSERT_EQUAL(payload->references, 2);
	packet_free(pool, packets[0]);
	CU_ASSERT_EQUAL(payload->references, 1);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(pool), 1);
	packet_free(pool, copy);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(pool), 0);
	for (unsigned i = 0; i < 300; i++)
		packet_payload_new(pool);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(pool), 300);
	packet_pool_destroy(pool);
}

static void test_intern(void)
{
	struct paths *paths = paths_create();
	const struct path *first[1000];
	struct path path;

	memset(&path, 0, sizeof(path));
	for (uint16_t i = 0; i < 1000; i++) {
		path.dlid = i;
		first[i] = path_intern(paths, &path);
	}
	CU_ASSERT_EQUAL(paths_count(paths), 1000);
	for (uint16_t i = 0; i < 1000; i++) {
		path.dlid = i;
		CU_ASSERT_PTR_EQUAL(path_intern(paths, &path), first[i]);
		CU_ASSERT_EQUAL(first[i]->dlid, i);
	}
	CU_ASSERT_EQUAL(paths_count(paths), 1000);
	paths_destroy(paths);
}

static void test_wire_bytes(void)
{
	/* clang-format off */
	static const struct {
		uint8_t link_layer, roce_version;
		bool has_grh;
		uint16_t vlan;
		uint8_t opcode;
		uint32_t payload_bytes, wire_bytes;
	} rows[] = {
		/* LRH BTH ICRC VCRC */
		{LINK_INFINIBAND, ROCE_NONE,    false, 0, RC_WRITE_MIDDLE, 4096, 4096 + 26},
		{LINK_INFINIBAND, ROCE_NONE,    true,  0, RC_WRITE_MIDDLE, 4096, 4096 + 66},
		{LINK_INFINIBAND, ROCE_NONE,    false, 0, RC_ACK,          0,    30},
		{LINK_INFINIBAND, ROCE_NONE,    false, 0, RC_SEND_ONLY,    1,    26 + 4},
		{LINK_INFINIBAND, ROCE_NONE,    false, 0, RC_SEND_ONLY,    5,    26 + 8},
		{LINK_ETHERNET,   ROCE_V2_IPV4, true,  0, RC_WRITE_MIDDLE, 1024, 1024 + 62},
		{LINK_ETHERNET,   ROCE_V2_IPV4, true,  5, RC_WRITE_MIDDLE, 1024, 1024 + 66},
		{LINK_ETHERNET,   ROCE_V2_IPV6, true,  0, RC_WRITE_MIDDLE, 1024, 1024 + 82},
		{LINK_ETHERNET,   ROCE_V1,      true,  0, RC_WRITE_MIDDLE, 1024, 1024 + 74},
		/* 62, padded by Ethernet */
		{LINK_ETHERNET,   ROCE_V2_IPV4, true,  0, RC_SEND_ONLY,    0,    64},
		{LINK_ETHERNET,   ROCE_V2_IPV4, true,  0, CNP_NOTIFY,      0,    78},
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct path path = {.link_layer = rows[i].link_layer,
				    .roce_version = rows[i].roce_version,
				    .has_grh = rows[i].has_grh,
				    .vlan = rows[i].vlan};
		struct packet packet = {.path = &path,
					.opcode = rows[i].opcode,
					.payload_bytes = rows[i].payload_bytes};

		CU_ASSERT_EQUAL(packet_wire_bytes(&packet), rows[i].wire_bytes);
	}
	CU_ASSERT_EQUAL(packet_wire_bytes(&(struct packet){.kind = PACKET_FLOW_CONTROL}), 6);
	CU_ASSERT_EQUAL(packet_wire_bytes(&(struct packet){.kind = PACKET_PFC}), 64);
}

/* Two packets share a payload longer than PAYLOAD_MAX. */
static void test_chain(void)
{
	struct packet_pool *pool = packet_pool_create();
	uint8_t bytes[2 * PAYLOAD_MAX + 5], copy[sizeof(bytes)];
	struct packet *packet = packet_new(pool), *other;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	packet->payload = packet_payload_of(pool, bytes, sizeof(bytes));
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(pool), 3);
	other = packet_copy(pool, packet);
	packet_free(pool, packet);
	packet_payload_copy(other->payload, copy, sizeof(copy));
	CU_ASSERT_EQUAL(memcmp(copy, bytes, sizeof(bytes)), 0);
	packet_free(pool, other);
	CU_ASSERT_EQUAL(packet_pool_payloads_in_use(pool), 0);
	CU_ASSERT_PTR_NULL(packet_payload_of(pool, bytes, 0));
	packet_pool_destroy(pool);
}
