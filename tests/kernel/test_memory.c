/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests protection domains, memory regions and windows, address handles and XRC domains: exact
 * responses, and errno for wrong rights, ranges and handles. Also EBUSY while other objects depend
 * on one, and matching entries in the adapter's table.
 */
#include <errno.h>
#include <fcntl.h>

#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"

#define TESTS(TEST)          \
	TEST(handles)        \
	TEST(region)         \
	TEST(region_refused) \
	TEST(reregister)     \
	TEST(window)         \
	TEST(address_handle) \
	TEST(xrc_domain)
SUITE(TESTS)

static struct machine *machine_with_context(enum link_layer link_layer)
{
	struct machine *machine = machine_create(link_layer);
	machine_open(machine, &machine->process, true);
	return machine;
}

static int64_t dealloc_pd_of(struct machine *machine, uint32_t handle)
{
	struct ib_uverbs_dealloc_pd request = {.pd_handle = handle};
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, request);
}

static int64_t dereg(struct machine *machine, uint32_t handle)
{
	struct ib_uverbs_dereg_mr request = {.mr_handle = handle};
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_DEREG_MR, request);
}

static void test_handles(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pds[100];
	for (uint32_t i = 0; i < 100; i++) {
		machine->by_write = i & 1;
		pds[i] = make_pd(machine);
		CU_ASSERT_EQUAL(pds[i], i);
	}
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, 17), 0);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, 17), -ENOENT);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, 1000000), -ENOENT);
	CU_ASSERT_EQUAL(dereg(machine, 3), -EINVAL); /* a handle of another type */
	CU_ASSERT_EQUAL(make_pd(machine), 17);       /* the lowest free one */

	/* Handles belong to one context. */
	machine_open(machine, &machine->other, true);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, 5), -ENOENT);
	CU_ASSERT_EQUAL(make_pd(machine), 0);
	machine_destroy(machine);
}

static void test_region(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), key;
	uint32_t handle = make_mr(machine, pd, &key);
	CU_ASSERT_EQUAL(machine->call.latency, 5 * US + 2 * 60 * NS);
	const struct mr *mr = hca_mr_find(machine->adapter, key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
	CU_ASSERT_EQUAL(mr->address, RING_AREA);
	CU_ASSERT_EQUAL(mr->host_address, RING_AREA);
	CU_ASSERT_EQUAL(mr->length, 0x2000);
	CU_ASSERT_EQUAL(mr->access, MR_LOCAL_WRITE);
	CU_ASSERT_EQUAL(mr->memory, machine->process.memory);
	CU_ASSERT_TRUE(mr->valid);

	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), -EBUSY);
	CU_ASSERT_EQUAL(dereg(machine, handle), 0);
	CU_ASSERT_PTR_NULL(hca_mr_find(machine->adapter, key));
	CU_ASSERT_EQUAL(dereg(machine, handle), -ENOENT);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), 0);
	machine_destroy(machine);
}

static void test_region_refused(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine);
	const struct {
		int64_t result;
		struct ib_uverbs_reg_mr request;
	} cases[] = {
		/* clang-format off */
		/* remote write alone */
		{-EINVAL, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 2}},
		/* atomics alone */
		{-EINVAL, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 8}},
		{-EINVAL, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 1 << 30}},
		/* on demand */
		{0, {.start = 0x1000, .length = 64, .hca_va = 0x1000, .pd_handle = pd,
		  .access_flags = 64 | 1}},
		{-EINVAL, {.start = UINT64_MAX - 63, .length = 128, .hca_va = UINT64_MAX - 63,
		  .pd_handle = pd, .access_flags = 64}},
		{-EINVAL, {.start = RING_AREA, .length = 0, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 64}},
		{-ENOMEM, {.start = 0, .length = UINT64_C(1) << 62, .hca_va = 0, .pd_handle = pd,
		  .access_flags = 64}},
		/* with windows */
		{-EOPNOTSUPP, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA,
		  .pd_handle = pd, .access_flags = 64 | 16}},
		/* implicit */
		{0, {.start = 0, .length = UINT64_MAX, .hca_va = 0, .pd_handle = pd,
		  .access_flags = 64}},
		/* it begins at 0 */
		{-EINVAL, {.start = 4096, .length = UINT64_MAX, .hca_va = 4096, .pd_handle = pd,
		  .access_flags = 64}},
		/* and is on demand */
		{-EINVAL, {.start = 0, .length = UINT64_MAX, .hca_va = 0, .pd_handle = pd,
		  .access_flags = 1}},
		{-EINVAL, {.start = RING_AREA, .length = 0, .hca_va = RING_AREA, .pd_handle = pd}},
		/* offsets in the page differ */
		{-EINVAL, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA + 1,
		  .pd_handle = pd}},
		{-EINVAL, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = 77}},
		{-EFAULT, {.start = MEMORY_BASE + MEMORY_BYTES - 64, .length = 65,
		  .hca_va = MEMORY_BASE + MEMORY_BYTES - 64, .pd_handle = pd}},
		{-EFAULT, {.start = 0x1000, .length = 64, .hca_va = 0x1000, .pd_handle = pd}},
		/* wraps */
		{-EINVAL, {.start = UINT64_MAX - 63, .length = 128, .hca_va = UINT64_MAX - 63,
		  .pd_handle = pd}},
		{0, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 15}},
		/* relaxed ordering */
		{0, {.start = RING_AREA, .length = 64, .hca_va = RING_AREA, .pd_handle = pd,
		  .access_flags = 1 << 20 | 1}},
		{0, {.start = MEMORY_BASE + MEMORY_BYTES - 64, .length = 64,
		  .hca_va = MEMORY_BASE + MEMORY_BYTES - 64, .pd_handle = pd}},
		/* clang-format on */
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_uverbs_reg_mr_resp response;
		CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REG_MR, cases[i].request, response),
				cases[i].result);
	}
	CU_ASSERT_STRING_EQUAL(machine->refused, "memory window over on-demand paging");
	machine_destroy(machine);
}

static void test_reregister(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), other_pd = make_pd(machine), key;
	uint32_t handle = make_mr(machine, pd, &key);
	uint32_t pd_before = hca_mr_find(machine->adapter, key)->pd;
	struct ib_uverbs_rereg_mr request = {.mr_handle = handle,
					     .flags = 7,
					     .start = RING_AREA + 0x1000,
					     .length = 0x800,
					     .hca_va = 0x7000,
					     .pd_handle = other_pd,
					     .access_flags = 5};
	struct ib_uverbs_rereg_mr_resp response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), 0);
	CU_ASSERT_PTR_NULL(hca_mr_find(machine->adapter, key));
	const struct mr *mr = hca_mr_find(machine->adapter, response.lkey);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
	CU_ASSERT_EQUAL(response.lkey, response.rkey);
	CU_ASSERT_EQUAL(mr->address, 0x7000);
	CU_ASSERT_EQUAL(mr->host_address, RING_AREA + 0x1000);
	CU_ASSERT_EQUAL(mr->length, 0x800);
	CU_ASSERT_EQUAL(mr->access, 5);
	CU_ASSERT_NOT_EQUAL(mr->pd, pd_before);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), 0);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, other_pd), -EBUSY);

	key = response.lkey;
	request.flags = 8;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), -EINVAL);
	request.flags = 1;
	request.start = 0x5000;
	request.hca_va = 0x5000;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), -EFAULT);
	CU_ASSERT_PTR_NOT_NULL(hca_mr_find(machine->adapter, key)); /* as it was */

	request.flags = 2 | 4; /* rights and domain alone: the same key */
	request.pd_handle = pd = make_pd(machine);
	request.access_flags = 1;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_REREG_MR, request, response), 0);
	CU_ASSERT_EQUAL(response.rkey, key);
	mr = hca_mr_find(machine->adapter, key);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
	CU_ASSERT_EQUAL(mr->access, 1);
	CU_ASSERT_EQUAL(mr->address, 0x7000);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, other_pd), 0);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), -EBUSY);
	machine_destroy(machine);
}

static void test_window(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine);
	struct ib_uverbs_alloc_mw request = {.pd_handle = pd, .mw_type = 2};
	struct ib_uverbs_alloc_mw_resp response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_ALLOC_MW, request, response), 0);
	const struct mr *mr = hca_mr_find(machine->adapter, response.rkey);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mr);
	CU_ASSERT_FALSE(mr->valid);
	struct ib_uverbs_dealloc_mw dealloc = {.mw_handle = response.mw_handle};
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), -EBUSY);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_MW, dealloc), 0);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_MW, dealloc), -ENOENT);
	request.mw_type = 3;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_ALLOC_MW, request, response), -EINVAL);
	machine_destroy(machine);
}

static void test_address_handle(void)
{
	struct machine *machine = machine_with_context(LINK_ETHERNET);
	const struct endpoint *peer = endpoints_get(machine->endpoints, 1);
	uint32_t pd = make_pd(machine);
	struct ib_uverbs_create_ah request = {
		.pd_handle = pd,
		.attr = {.is_global = 1, .port_num = 1, .grh.sgid_index = 2, .grh.hop_limit = 64}};
	struct ib_uverbs_create_ah_resp response;
	struct mlx5_ib_create_ah_resp driver_response;
	memcpy(request.attr.grh.dgid, peer->gids[2].bytes, 16);
#define CREATE_AH()                                                                               \
	machine_command(machine, IB_USER_VERBS_CMD_CREATE_AH, &request, sizeof(request), NULL, 0, \
			&response, sizeof(response), &driver_response, sizeof(driver_response))
	CU_ASSERT_EQUAL(CREATE_AH(), 0);
	CU_ASSERT_EQUAL(driver_response.response_length, sizeof(driver_response));
	CU_ASSERT_EQUAL(memcmp(driver_response.dmac, peer->mac, 6), 0);
	CU_ASSERT_EQUAL(dealloc_pd_of(machine, pd), -EBUSY);
	struct ib_uverbs_destroy_ah destroy = {.ah_handle = response.ah_handle};
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DESTROY_AH, destroy), 0);

	static const uint8_t group_mac[6] = {0x33, 0x33, 1, 2, 3, 4};
	static const uint8_t group[16] = {0xff, 0x12, [12] = 1, 2, 3, 4};
	memcpy(request.attr.grh.dgid, group, 16);
	CU_ASSERT_EQUAL(CREATE_AH(), 0);
	CU_ASSERT_EQUAL(memcmp(driver_response.dmac, group_mac, 6), 0);
	request.attr.grh.dgid[0] = 0x20;
	CU_ASSERT_EQUAL(CREATE_AH(), -EHOSTUNREACH);
	request.attr.grh.sgid_index = 9;
	CU_ASSERT_EQUAL(CREATE_AH(), -EINVAL);
	request.attr.grh.sgid_index = 2;
	request.attr.is_global = 0;
	CU_ASSERT_EQUAL(CREATE_AH(), -EINVAL);
	machine_destroy(machine);
}

static void test_xrc_domain(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	struct ib_uverbs_open_xrcd request = {.fd = 20, .oflags = 0};
	struct ib_uverbs_open_xrcd_resp response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response), -EBADF);
	machine->identities[20] = machine->identities[21] = 4711;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response), -EAGAIN);
	request.oflags = O_CREAT;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response), 0);
	struct ib_uverbs_close_xrcd first = {.xrcd_handle = response.xrcd_handle};
	int32_t first_fd = machine->command_fd;

	machine_open(machine, &machine->other, true);
	request.fd = 21;
	request.oflags = O_EXCL | O_CREAT;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response), -EINVAL);
	request.oflags = 0;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response),
			0); /* the same domain */
	struct ib_uverbs_close_xrcd second = {.xrcd_handle = response.xrcd_handle};
	request.fd = (uint32_t)-1;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response),
			0); /* private */

	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_CLOSE_XRCD, second), 0);
	machine->command_fd = first_fd;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_CLOSE_XRCD, first), 0);
	request.fd = 20;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, request, response),
			-EAGAIN); /* gone with the last */
	machine_destroy(machine);
}
