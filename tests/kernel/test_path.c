/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests paths built from QP attributes and from address vectors in WQEs. InfiniBand: by LID and
 * with GRH. RoCE: v1, and v2 with the UDP source port that Linux derives. Unreachable addresses are
 * refused, and equal addresses give one path.
 */
#include <errno.h>

#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"
#include "verbs-shim/kernel/path.h"

#define TESTS(TEST)      \
	TEST(infiniband) \
	TEST(ethernet)   \
	TEST(multicast_mac)
SUITE(TESTS)

static const struct path *resolve(struct machine *machine, const uint8_t av[48])
{
	struct address_resolver *resolver = kernel_address_resolver(machine->kernel);
	return resolver->resolve(resolver, av);
}

static void test_infiniband(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	struct ib_uverbs_ah_attr address = {.dlid = 2, .sl = 5, .port_num = 1};
	CU_ASSERT_EQUAL(path_check(machine->kernel, &address), 0);
	const struct path *path = path_build(machine->kernel, &address, 1, 2);
	CU_ASSERT_EQUAL(path->source, 0);
	CU_ASSERT_EQUAL(path->destination, 1);
	CU_ASSERT_EQUAL(path->link_layer, LINK_INFINIBAND);
	CU_ASSERT_EQUAL(path->service_level, 5);
	CU_ASSERT_EQUAL(path->slid, 1);
	CU_ASSERT_EQUAL(path->dlid, 2);
	CU_ASSERT_FALSE(path->has_grh);
	CU_ASSERT_PTR_EQUAL(path_build(machine->kernel, &address, 3, 4), path);

	/* The same as libmlx5 writes it into a WQE. */
	uint8_t av[48] = {[11] = 99, [12] = 0x35, [15] = 2};
	CU_ASSERT_PTR_EQUAL(resolve(machine, av), path);
	av[15] = 9;
	CU_ASSERT_EQUAL(resolve(machine, av)->destination, NO_ENDPOINT);

	const struct endpoint *peer = endpoints_get(machine->endpoints, 1);
	av[15] = 2;
	av[26] = 0x20; /* traffic class */
	av[27] = 63;
	av[28] = 0x40; /* GRH; source GID 0; flow label 0xabcde */
	av[29] = 0x0a;
	av[30] = 0xbc;
	av[31] = 0xde;
	memcpy(av + 32, peer->gids[0].bytes, 16);
	path = resolve(machine, av);
	CU_ASSERT_TRUE(path->has_grh);
	CU_ASSERT_EQUAL(path->traffic_class, 0x20);
	CU_ASSERT_EQUAL(path->hop_limit, 63);
	CU_ASSERT_EQUAL(path->flow_label, 0xabcde);
	CU_ASSERT_EQUAL(memcmp(path->dgid, peer->gids[0].bytes, 16), 0);
	CU_ASSERT_EQUAL(memcmp(path->sgid, endpoints_get(machine->endpoints, 0)->gids[0].bytes, 16),
			0);
	av[29] = 0x1a; /* source GID 1 does not exist */
	CU_ASSERT_PTR_NULL(resolve(machine, av));

	address.port_num = 2;
	CU_ASSERT_EQUAL(path_check(machine->kernel, &address), -EINVAL);
	address.port_num = 1;
	address.is_global = 1;
	address.grh.sgid_index = 1;
	CU_ASSERT_EQUAL(path_check(machine->kernel, &address), -EINVAL);
	machine_destroy(machine);
}

static void test_ethernet(void)
{
	struct machine *machine = machine_create(LINK_ETHERNET);
	const struct endpoint *own = endpoints_get(machine->endpoints, 0),
			      *peer = endpoints_get(machine->endpoints, 1);
	struct ib_uverbs_ah_attr address = {
		.is_global = 1, .port_num = 1, .sl = 3, .grh.hop_limit = 64};
	for (uint8_t index = 0; index < own->gid_count; index++) {
		address.grh.sgid_index = index;
		memcpy(address.grh.dgid, peer->gids[index].bytes, 16);
		CU_ASSERT_EQUAL(path_check(machine->kernel, &address), 0);
		const struct path *path = path_build(machine->kernel, &address, 0x48, 0x1234);
		CU_ASSERT_EQUAL(path->link_layer, LINK_ETHERNET);
		CU_ASSERT_EQUAL(path->roce_version, own->gids[index].roce_version);
		CU_ASSERT_EQUAL(path->destination, 1);
		CU_ASSERT_EQUAL(path->service_level, 3);
		CU_ASSERT_TRUE(path->has_grh);
		CU_ASSERT_EQUAL(memcmp(path->dmac, peer->mac, 6), 0);
		CU_ASSERT_EQUAL(memcmp(path->smac, own->mac, 6), 0);
		/* 0x48 * 0x1234 = 0x51ea0; 0x1ea0 ^ (0x50000 >> 14 = 0x14) = 0x1eb4 */
		CU_ASSERT_EQUAL(path->udp_source_port, path->roce_version == ROCE_V1 ? 0 : 0xdeb4);
	}
	address.grh.flow_label = 0xfffff; /* 0x3fff ^ 0x3f */
	CU_ASSERT_EQUAL(path_build(machine->kernel, &address, 1, 1)->udp_source_port, 0xffc0);
	address.grh.dgid[15] = 99;
	CU_ASSERT_PTR_NULL(path_build(machine->kernel, &address, 1, 1));
	address.is_global = 0;
	CU_ASSERT_EQUAL(path_check(machine->kernel, &address), -EINVAL);

	/* SL in bits 1 to 3, the UDP source port where a LID would be, no GRH bit. */
	uint8_t av[48] = {[12] = 3 << 1, [14] = 0xc1, [15] = 0x23, [27] = 64, [29] = 0x30};
	memcpy(av + 20, peer->mac, 6);
	memcpy(av + 32, peer->gids[3].bytes, 16);
	const struct path *path = resolve(machine, av);
	CU_ASSERT_EQUAL(path->udp_source_port, 0xc123);
	CU_ASSERT_EQUAL(path->service_level, 3);
	CU_ASSERT_EQUAL(path->roce_version, ROCE_V2_IPV4);
	CU_ASSERT_EQUAL(path->destination, 1);
	machine_destroy(machine);
}

static void test_multicast_mac(void)
{
	struct machine *machine = machine_create(LINK_ETHERNET);
	static const uint8_t ipv6[16] = {0xff, 0x0e, [12] = 0xde, 0xad, 0xbe, 0xef};
	static const uint8_t ipv4[16] = {[10] = 0xff, 0xff, 0xef, 0x81, 0x02, 0x03};
	static const uint8_t ipv6_mac[6] = {0x33, 0x33, 0xde, 0xad, 0xbe, 0xef};
	static const uint8_t ipv4_mac[6] = {0x01, 0x00, 0x5e, 0x01, 0x02, 0x03};
	uint8_t mac[6];
	CU_ASSERT_EQUAL(path_resolve_mac(machine->kernel, ipv6, mac), 0);
	CU_ASSERT_EQUAL(memcmp(mac, ipv6_mac, 6), 0);
	CU_ASSERT_EQUAL(path_resolve_mac(machine->kernel, ipv4, mac), 0);
	CU_ASSERT_EQUAL(memcmp(mac, ipv4_mac, 6), 0);
	machine_destroy(machine);
}
