/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests identifiers of UD QPs: they find each other, with each event at its exact time and the data
 * that a program needs to send. Requests without a listener are answered. Groups are joined and
 * left, with the GIDs that Linux makes of their addresses; in InfiniBand only groups that the
 * subnet manager knows. IPv6 addresses are the link-local ones. Both sides are on one host, as in
 * test_cm.c.
 */
#include <arpa/inet.h>
#include <errno.h>

#include "fabric/groups.h"
#include "tests/kernel/support/cm.h"
#include "tests/support/suite.h"

#define TESTS(TEST)      \
	TEST(resolution) \
	TEST(unwanted)   \
	TEST(groups)
SUITE(TESTS)

static uint32_t create(struct machine *machine, int32_t file, uint64_t uid)
{
	return create_id_of(machine, file, uid, RDMA_PS_UDP, CM_QP_UD);
}

/* Listens in one file at any IPv6 address, and resolves from another up to where it can connect. */
static struct machine *machine_at_route(enum link_layer link_layer, const char *address,
					int32_t files[2], uint32_t ids[2])
{
	struct machine *machine = machine_create(link_layer);
	struct rdma_ucm_listen listening = {.backlog = 3};
	struct rdma_ucm_resolve_route route = {.timeout_ms = 2000};
	struct rdma_ucm_bind_ip any = {.addr = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)}};
	struct rdma_ucm_resolve_ip to = {
		.dst_addr = {.sin6_family = AF_INET6, .sin6_port = htons(PORT)}};

	files[0] = open_cm(machine);
	files[1] = open_cm(machine);
	ids[0] = listening.id = any.id = create(machine, files[0], 0x1000);
	ids[1] = route.id = to.id = create(machine, files[1], 0x2000);
	CU_ASSERT_EQUAL(CM(machine, files[0], BIND_IP, any, 0), 0);
	CU_ASSERT_EQUAL(CM(machine, files[0], LISTEN, listening, 0), 0);
	if (address) {
		inet_pton(AF_INET6, address, &to.dst_addr.sin6_addr);
		CU_ASSERT_EQUAL(CM(machine, files[1], RESOLVE_IP, to, 0), 0);
	} else {
		CU_ASSERT_EQUAL(resolve(machine, files[1], ids[1], 0x0a000001), 0);
	}
	(void)expect(machine, files[1], 10 * US, CM_EVENT_ADDR_RESOLVED, 0x2000, 0);
	CU_ASSERT_EQUAL(CM(machine, files[1], RESOLVE_ROUTE, route, 0), 0);
	(void)expect(machine, files[1], 10 * US, CM_EVENT_ROUTE_RESOLVED, 0x2000, 0);
	return machine;
}

static int64_t ask(struct machine *machine, int32_t file, uint32_t id, uint8_t bytes)
{
	struct rdma_ucm_connect in = {.id = id,
				      .conn_param = {.qp_num = 0x77,
						     .valid = 1,
						     .private_data = "who are you",
						     .private_data_len = bytes}};

	return CM(machine, file, CONNECT, in, 0);
}

static void resolution(enum link_layer link_layer, const char *address, uint32_t gid_index)
{
	int32_t files[2];
	uint32_t ids[2];
	struct machine *machine = machine_at_route(link_layer, address, files, ids);
	struct rdma_ucm_init_qp_attr state = {
		.response = RESPONSE_AREA, .id = ids[1], .qp_state = 1};
	struct ib_uverbs_qp_attr attributes;
	struct rdma_ucm_event_resp event;
	struct rdma_ucm_accept accept = {
		.uid = 0x3000,
		.conn_param = {
			.qp_num = 0x88, .valid = 1, .private_data = "me", .private_data_len = 3}};
	struct rdma_ucm_disconnect end = {.id = ids[1]};

	CU_ASSERT_EQUAL(CM(machine, files[1], INIT_QP_ATTR, state, sizeof(attributes)), 0);
	response_of(machine, &attributes, sizeof(attributes));
	CU_ASSERT_EQUAL(attributes.qp_attr_mask, 1 | 1 << 4 | 1 << 5 | 1 << 6);
	CU_ASSERT_EQUAL(attributes.qkey, 0x01234567);

	CU_ASSERT_EQUAL(ask(machine, files[1], ids[1], 181), -EINVAL);
	CU_ASSERT_EQUAL(ask(machine, files[1], ids[1], 12), 0);
	event = expect(machine, files[0], 50 * US, CM_EVENT_CONNECT_REQUEST, 0x1000, 0);
	CU_ASSERT_EQUAL(event.param.ud.private_data_len, 180);
	CU_ASSERT_STRING_EQUAL((char *)event.param.ud.private_data, "who are you");
	accept.id = event.id;
	CU_ASSERT_EQUAL(CM(machine, files[0], ACCEPT, accept, 0), 0);
	event = expect(machine, files[1], 50 * US, CM_EVENT_ESTABLISHED, 0x2000, 0);
	CU_ASSERT_EQUAL(event.param.ud.qp_num, 0x88);
	CU_ASSERT_EQUAL(event.param.ud.qkey, 0x01234567);
	CU_ASSERT_EQUAL(event.param.ud.private_data_len, 136);
	CU_ASSERT_STRING_EQUAL((char *)event.param.ud.private_data, "me");
	CU_ASSERT_EQUAL(event.param.ud.ah_attr.port_num, 1);
	CU_ASSERT_EQUAL(event.param.ud.ah_attr.is_global, link_layer == LINK_ETHERNET);
	if (link_layer == LINK_ETHERNET) {
		CU_ASSERT_EQUAL(event.param.ud.ah_attr.grh.sgid_index, gid_index);
		CU_ASSERT_EQUAL(memcmp(event.param.ud.ah_attr.grh.dgid,
				       endpoints_get(machine->endpoints, 0)->gids[gid_index].bytes,
				       16),
				0);
	} else {
		CU_ASSERT_EQUAL(event.param.ud.ah_attr.dlid, 1);
	}
	/* no address to resolve from */
	CU_ASSERT_EQUAL(CM(machine, files[1], DISCONNECT, end, 0), -EINVAL);
	machine_destroy(machine);
}

static void test_resolution(void)
{
	resolution(LINK_INFINIBAND, NULL, 0);
	resolution(LINK_INFINIBAND, "fe80::2:c903:0:0", 0);
	resolution(LINK_ETHERNET, NULL, 3);
	resolution(LINK_ETHERNET, "fe80::202:c9ff:fe00:0", 1);
}

/* The program says no, goes away, or does not listen. */
static void test_unwanted(void)
{
	int32_t files[2];
	uint32_t ids[2];
	struct rdma_ucm_event_resp event;
	struct rdma_ucm_destroy_id destroy = {.response = RESPONSE_AREA};

	for (uint32_t way = 0; way < 3; way++) {
		struct machine *machine = machine_at_route(LINK_INFINIBAND, NULL, files, ids);

		destroy.id = ids[0];
		if (way == 2) {
			CU_ASSERT_EQUAL(CM(machine, files[0], DESTROY_ID, destroy, 4), 0);
		}
		CU_ASSERT_EQUAL(ask(machine, files[1], ids[1], 0), 0);
		if (way == 2) {
			(void)expect(machine, files[1], 100 * US, CM_EVENT_UNREACHABLE, 0x2000, 1);
			machine_destroy(machine);
			continue;
		}
		event = expect(machine, files[0], 50 * US, CM_EVENT_CONNECT_REQUEST, 0x1000, 0);
		struct rdma_ucm_reject no = {
			.id = event.id, .private_data = "no", .private_data_len = 3};

		destroy.id = event.id;
		CU_ASSERT_EQUAL(way == 0 ? CM(machine, files[0], REJECT, no, 0)
					 : CM(machine, files[0], DESTROY_ID, destroy, 4),
				0);
		event = expect(machine, files[1], 50 * US, CM_EVENT_UNREACHABLE, 0x2000, 2);
		CU_ASSERT_STRING_EQUAL((char *)event.param.ud.private_data, way == 0 ? "no" : "");
		machine_destroy(machine);
	}
}

struct joining {
	enum link_layer link_layer;
	const char *address, *gid;
	bool known; /* to the subnet manager */
};

static void joins(const struct joining *joining)
{
	struct machine *machine = machine_create(joining->link_layer);
	int32_t file = open_cm(machine);
	uint32_t id = create(machine, file, 0x1000);
	struct rdma_ucm_join_ip_mcast join = {.response = RESPONSE_AREA, .uid = 0x4000, .id = id};
	struct rdma_ucm_create_id_resp joined;
	struct rdma_ucm_destroy_id leave = {.response = RESPONSE_AREA};
	struct rdma_ucm_destroy_id_resp left;
	struct group group = {.lid = 0xc007};
	struct rdma_ucm_event_resp event;
	char gid[INET6_ADDRSTRLEN];
	struct in_addr ipv4;

	if (inet_pton(AF_INET, joining->address, &ipv4) == 1) {
		struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = ipv4};

		memcpy(&join.addr, &address, sizeof(address));
	} else {
		join.addr.sin6_family = AF_INET6;
		inet_pton(AF_INET6, joining->address, &join.addr.sin6_addr);
	}
	inet_pton(AF_INET6, joining->gid, group.gid);
	if (joining->known)
		groups_add(endpoints_groups(machine->endpoints), &group);
	CU_ASSERT_EQUAL(CM(machine, file, JOIN_IP_MCAST, join, 4), -EINVAL); /* no device yet */
	CU_ASSERT_EQUAL(bind_to(machine, file, id, 0x0a000001), 0);
	CU_ASSERT_EQUAL(CM(machine, file, JOIN_IP_MCAST, join, 4), 0);
	response_of(machine, &joined, sizeof(joined));
	CU_ASSERT_NOT_EQUAL(joined.id, id);

	bool works = joining->known || joining->link_layer == LINK_ETHERNET;

	event = expect(machine, file, 10 * US,
		       works ? CM_EVENT_MULTICAST_JOIN : CM_EVENT_MULTICAST_ERROR, 0x4000,
		       works ? 0 : -EINVAL);
	CU_ASSERT_EQUAL(event.id, joined.id);
	CU_ASSERT_EQUAL(machine->refused_count, !works);
	if (works) {
		inet_ntop(AF_INET6, event.param.ud.ah_attr.grh.dgid, gid, sizeof(gid));
		CU_ASSERT_STRING_EQUAL(gid, joining->gid);
		CU_ASSERT_EQUAL(event.param.ud.ah_attr.is_global, 1);
		CU_ASSERT_EQUAL(event.param.ud.ah_attr.dlid, joining->known ? 0xc007 : 0);
		CU_ASSERT_EQUAL(event.param.ud.qp_num, 0xffffff);
		CU_ASSERT_EQUAL(event.param.ud.qkey, 0x01234567);
	} else {
		CU_ASSERT_PTR_NOT_NULL(strstr(machine->refused, joining->gid));
	}
	leave.id = joined.id;
	CU_ASSERT_EQUAL(CM(machine, file, LEAVE_MCAST, leave, 4), 0);
	response_of(machine, &left, sizeof(left));
	CU_ASSERT_EQUAL(left.events_reported, 1);
	CU_ASSERT_EQUAL(CM(machine, file, LEAVE_MCAST, leave, 4), -ENOENT);
	CU_ASSERT_EQUAL(CM(machine, file, JOIN_IP_MCAST, join, 4), 0);
	response_of(machine, &joined, sizeof(joined));
	leave.id = joined.id;
	sim_run(machine->sim, sim_now(machine->sim) + 10 * US + 1);
	CU_ASSERT_EQUAL(CM(machine, file, LEAVE_MCAST, leave, 4), 0); /* nobody was told */
	response_of(machine, &left, sizeof(left));
	CU_ASSERT_EQUAL(left.events_reported, 0);
	CU_ASSERT_EQUAL(next_event(machine, file, &event), -EAGAIN);
	CU_ASSERT_EQUAL(CM(machine, file, JOIN_IP_MCAST, join, 4), 0);
	machine_destroy(machine); /* with a membership, and its answer on the way */
}

static void test_groups(void)
{
	static const struct joining all[] = {
		{LINK_INFINIBAND, "239.1.2.3", "ff12:4001:ffff::f01:203", true},
		{LINK_INFINIBAND, "239.1.2.4", "ff12:4001:ffff::f01:204", false},
		{LINK_INFINIBAND, "ff0e::1:2:3", "ff12:6001:ffff::1:2:3", true},
		{LINK_INFINIBAND, "ff12:a01b::7", "ff12:a01b::7", true},
		{LINK_ETHERNET, "239.1.2.3", "::ffff:239.1.2.3", false},
		{LINK_ETHERNET, "ff0e::7", "ff0e::7", false},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		joins(&all[i]);
}
