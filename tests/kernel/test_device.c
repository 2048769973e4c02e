/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that opening the device and GET_CONTEXT answer as mlx5 does, and refuse invalid input with
 * the kernel's errno. Both ABIs (write, ioctl) carry the same commands. Queries of device, port and
 * GIDs give the exact values.
 */
#include <errno.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <stddef.h>

#include "fabric/wire/bytes.h"
#include "hca/device/hca_params.h"
#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(context)           \
	TEST(paths)             \
	TEST(query_device)      \
	TEST(query_port)        \
	TEST(gids)              \
	TEST(query_switch_port) \
	TEST(refused)           \
	TEST(clock_page)        \
	TEST(clock)             \
	TEST(doorbell_pages)    \
	TEST(bfregs)
SUITE(TESTS)

static int64_t get_context_with(struct machine *machine,
				struct mlx5_ib_alloc_ucontext_req_v2 driver,
				struct mlx5_ib_alloc_ucontext_resp *driver_response)
{
	struct ib_uverbs_get_context request = {0};
	struct ib_uverbs_get_context_resp response;
	int64_t result = RUN_DRIVER(machine, IB_USER_VERBS_CMD_GET_CONTEXT, request, driver,
				    response, *driver_response);
	if (result == 0) {
		CU_ASSERT_EQUAL(response.num_comp_vectors, 8);
		CU_ASSERT_PTR_NOT_NULL(machine->files[response.async_fd]);
		CU_ASSERT_EQUAL(machine->kinds[response.async_fd], KERNEL_FD_CHANNEL);
	}
	return result;
}

static void test_context(void)
{
	struct mlx5_ib_alloc_ucontext_req_v2 usual = {.total_num_bfregs = 16,
						      .num_low_latency_bfregs = 4,
						      .max_cqe_version = 1,
						      .lib_caps = 3};
	for (int by_write = 0; by_write < 2; by_write++) {
		struct machine *machine = machine_create(LINK_INFINIBAND);
		struct mlx5_ib_alloc_ucontext_resp got, expected = {
								.qp_tab_size = 262144,
								.bf_reg_size = 512,
								.tot_bfregs = 16,
								.cache_line_size = 64,
								.max_sq_desc_sz = 1024,
								.max_rq_desc_sz = 512,
								.max_send_wqebb = 32768,
								.max_recv_wr = 32768,
								.max_srq_recv_wr = 32768,
								.num_ports = 1,
								.response_length = sizeof(expected),
								.cqe_version = 1,
								.cmds_supp_uhw = 3,
								.eth_min_inline = 2,
								.comp_mask = 1,
								.clock_info_versions = 1,
								.log_uar_size = 12,
								.num_uars_per_page = 1,
								.num_dyn_bfregs = 512,
							};
		machine->by_write = by_write;
		machine_open(machine, &machine->process, false);
		struct ib_uverbs_alloc_pd pd = {0};
		struct ib_uverbs_alloc_pd_resp pd_response;
		CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_ALLOC_PD, pd, pd_response), -EINVAL);

		struct mlx5_ib_alloc_ucontext_req_v2 request = usual;
		request.flags = MLX5_IB_ALLOC_UCTX_DEVX;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -EPERM);
		request.flags = 2;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -EINVAL);
		request = usual;
		request.total_num_bfregs = 0;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -EINVAL);
		request.total_num_bfregs = 1026;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -ENOMEM);
		request = usual;
		request.num_low_latency_bfregs = 16;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -EINVAL);
		request = usual;
		request.reserved2 = 1;
		CU_ASSERT_EQUAL(get_context_with(machine, request, &got), -EOPNOTSUPP);

		CU_ASSERT_EQUAL(get_context_with(machine, usual, &got), 0);
		CU_ASSERT_EQUAL(memcmp(&got, &expected, sizeof(got)), 0);
		CU_ASSERT_EQUAL(machine->call.latency, 300 * US);
		CU_ASSERT_EQUAL(get_context_with(machine, usual, &got), -EINVAL);
		machine_destroy(machine);
	}
}

static void test_paths(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	CU_ASSERT_TRUE(kernel_has_path(machine->kernel, "/dev/infiniband/uverbs0"));
	CU_ASSERT_FALSE(kernel_has_path(machine->kernel, "/dev/infiniband/uverbs1"));
	CU_ASSERT_TRUE(kernel_has_path(machine->kernel, "/dev/infiniband/rdma_cm"));
	CU_ASSERT_FALSE(kernel_has_path(machine->kernel, "/dev/infiniband/umad0"));
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_open(machine->kernel, &machine->call, "/dev/infiniband/umad0", 2);
	CU_ASSERT_EQUAL(machine->call.result, -ENOENT);
	CU_ASSERT_EQUAL(machine->call.file_count, 0);
	machine_destroy(machine);
}

static void test_query_device(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	for (int by_write = 0; by_write < 2; by_write++) {
		machine->by_write = by_write;
		machine_open(machine, &machine->process, true);
		struct ib_uverbs_query_device request = {0};
		struct ib_uverbs_query_device_resp got;
		CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_DEVICE, request, got), 0);
		CU_ASSERT_EQUAL(got.vendor_id, 0x02c9);
		CU_ASSERT_EQUAL(got.vendor_part_id, 4115);
		CU_ASSERT_EQUAL(got.fw_ver, UINT64_C(0x000c001c07d6));
		CU_ASSERT_EQUAL(got.node_guid,
				__builtin_bswap64(endpoints_get(machine->endpoints, 0)->guid));
		CU_ASSERT_EQUAL(got.max_qp_wr, 32768);
		CU_ASSERT_EQUAL(got.max_sge, 30);
		CU_ASSERT_EQUAL(got.max_cqe, 4194303);
		CU_ASSERT_EQUAL(got.phys_port_cnt, 1);
		CU_ASSERT_EQUAL(got.local_ca_ack_delay, 16);

		struct ib_uverbs_ex_query_device extended = {0};
		struct ib_uverbs_ex_query_device_resp response;
		struct mlx5_ib_query_device_resp driver_response;
		uint32_t command =
			IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED;
		CU_ASSERT_EQUAL(machine_command(machine, command, &extended, sizeof(extended), NULL,
						0, &response, sizeof(response), &driver_response,
						sizeof(driver_response)),
				0);
		CU_ASSERT_EQUAL(memcmp(&response.base, &got, sizeof(got)), 0);
		CU_ASSERT_EQUAL(response.response_length, sizeof(response));
		CU_ASSERT_EQUAL(response.timestamp_mask, UINT64_C(0x7fffffffffffffff));
		CU_ASSERT_EQUAL(response.hca_core_clock, 156250);
		CU_ASSERT_EQUAL(response.odp_caps.general_caps, 3);
		CU_ASSERT_EQUAL(response.odp_caps.per_transport_caps.rc_odp_caps, 0x3f);
		CU_ASSERT_EQUAL(response.odp_caps.per_transport_caps.uc_odp_caps, 0);
		CU_ASSERT_EQUAL(response.odp_caps.per_transport_caps.ud_odp_caps, 0);
		CU_ASSERT_EQUAL(response.cq_moderation_caps.max_cq_moderation_count, 65535);
		CU_ASSERT_EQUAL(response.cq_moderation_caps.max_cq_moderation_period, 4095);
		CU_ASSERT_EQUAL(driver_response.response_length, sizeof(driver_response));
		extended.comp_mask = 1;
		CU_ASSERT_EQUAL(RUN(machine, command, extended, response), -EINVAL);
	}
	machine_destroy(machine);
}

static void check_port(enum link_layer link_layer, const struct ib_uverbs_query_port_resp *expected)
{
	struct machine *machine = machine_create(link_layer);
	machine_open(machine, &machine->process, true);
	struct ib_uverbs_query_port request = {.port_num = 1};
	struct ib_uverbs_query_port_resp got;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_PORT, request, got), 0);
	CU_ASSERT_EQUAL(memcmp(&got, expected, sizeof(got)), 0);
	request.port_num = 2;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_PORT, request, got), -EINVAL);
	machine_destroy(machine);
}

static void test_query_port(void)
{
	check_port(LINK_INFINIBAND, &(struct ib_uverbs_query_port_resp){.port_cap_flags = 0x14848,
									.max_msg_sz = 0x40000000,
									.gid_tbl_len = 8,
									.pkey_tbl_len = 128,
									.lid = 1,
									.sm_lid = 1,
									.state = 4,
									.max_mtu = 5,
									.active_mtu = 5,
									.max_vl_num = 4,
									.subnet_timeout = 18,
									.active_width = 2,
									.active_speed = 32,
									.phys_state = 5,
									.link_layer = 1});
	check_port(LINK_ETHERNET, &(struct ib_uverbs_query_port_resp){.port_cap_flags = 0x04010000,
								      .max_msg_sz = 0x40000000,
								      .gid_tbl_len = 16,
								      .pkey_tbl_len = 1,
								      .state = 4,
								      .max_mtu = 5,
								      .active_mtu = 5,
								      .active_width = 2,
								      .active_speed = 32,
								      .phys_state = 5,
								      .link_layer = 2});
}

/* Runs one ioctl with up to four attributes. `data` holds the addresses of attributes. */
static int64_t method(struct machine *machine, uint16_t object, uint16_t number,
		      const struct ib_uverbs_attr *attributes, uint16_t count)
{
	struct ib_uverbs_ioctl_hdr header = {
		.length = (uint16_t)(sizeof(header) + count * sizeof(*attributes)),
		.object_id = object,
		.method_id = number,
		.num_attrs = count,
		.driver_id = RDMA_DRIVER_MLX5,
	};
	memory_write(machine->process.memory, CALL_AREA, &header, sizeof(header));
	if (count)
		memory_write(machine->process.memory, CALL_AREA + sizeof(header), attributes,
			     count * (uint32_t)sizeof(*attributes));
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_ioctl(machine->files[machine->command_fd], &machine->call, RDMA_VERBS_IOCTL,
		     CALL_AREA);
	return machine->call.result;
}

static void test_gids(void)
{
	struct machine *machine = machine_create(LINK_ETHERNET);
	machine_open(machine, &machine->process, true);
	struct ib_uverbs_attr attributes[] = {
		{.attr_id = UVERBS_ATTR_QUERY_GID_ENTRY_PORT, .len = 4, .flags = 1, .data = 1},
		{.attr_id = UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, .len = 4, .flags = 1, .data = 3},
		{.attr_id = UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, .len = 4, .flags = 1, .data = 0},
		{.attr_id = UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
		 .len = 32,
		 .flags = 1,
		 .data = RESPONSE_AREA},
	};
	static const uint8_t expected[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	struct ib_uverbs_gid_entry entry;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_ENTRY, attributes, 4), 0);
	memory_read(machine->process.memory, RESPONSE_AREA, &entry, sizeof(entry));
	CU_ASSERT_EQUAL(memcmp(entry.gid, expected, 16), 0);
	CU_ASSERT_EQUAL(entry.gid_index, 3);
	CU_ASSERT_EQUAL(entry.port_num, 1);
	CU_ASSERT_EQUAL(entry.gid_type, IB_UVERBS_GID_TYPE_ROCE_V2);
	uint16_t flags;
	memory_read(machine->process.memory, CALL_AREA + 24 + 3 * 16 + 4, &flags, 2);
	CU_ASSERT_EQUAL(flags, UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);

	attributes[1].data = 4;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_ENTRY, attributes, 4), -ENODATA);
	attributes[1].data = 16;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_ENTRY, attributes, 4), -EINVAL);
	attributes[1].data = 0;
	attributes[0].data = 0;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_ENTRY, attributes, 4), -EINVAL);
	attributes[0].attr_id = 99;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_ENTRY, attributes, 4),
			-EPROTONOSUPPORT);

	struct ib_uverbs_attr table[] = {
		{.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE,
		 .len = 8,
		 .flags = 1,
		 .data = 32},
		{.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, .len = 4, .flags = 1, .data = 0},
		{.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
		 .len = 512,
		 .flags = 1,
		 .data = RESPONSE_AREA},
		{.attr_id = UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
		 .len = 8,
		 .flags = 1,
		 .data = RESPONSE_AREA + 512},
	};
	uint64_t count;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_TABLE, table, 4), 0);
	memory_read(machine->process.memory, RESPONSE_AREA + 512, &count, 8);
	CU_ASSERT_EQUAL(count, 4);
	table[2].len = 3 * 32;
	CU_ASSERT_EQUAL(method(machine, 0, UVERBS_METHOD_QUERY_GID_TABLE, table, 4), -EINVAL);
	machine_destroy(machine);
}

/* The response is zeros in all bytes for which the program has room. */
static void test_query_switch_port(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	struct ib_uverbs_attr attributes[] = {
		{.attr_id = MLX5_IB_ATTR_QUERY_PORT_PORT_NUM, .len = 4, .flags = 1, .data = 1},
		{.attr_id = MLX5_IB_ATTR_QUERY_PORT, .len = 40, .flags = 1, .data = RESPONSE_AREA},
	};
	uint8_t response[48], expected[48] = {[40] = 0xee, [41] = 0xee, [42] = 0xee, [43] = 0xee,
					      [44] = 0xee, [45] = 0xee, [46] = 0xee, [47] = 0xee};

	memset(response, 0xee, sizeof(response));
	memory_write(machine->process.memory, RESPONSE_AREA, response, sizeof(response));
	CU_ASSERT_EQUAL(method(machine, 0, MLX5_IB_METHOD_QUERY_PORT, attributes, 2), 0);
	memory_read(machine->process.memory, RESPONSE_AREA, response, sizeof(response));
	CU_ASSERT_EQUAL(memcmp(response, expected, sizeof(response)), 0);
	attributes[0].data = 2;
	CU_ASSERT_EQUAL(method(machine, 0, MLX5_IB_METHOD_QUERY_PORT, attributes, 2), -EINVAL);
	CU_ASSERT_EQUAL(machine->refused_count, 0);
	machine_destroy(machine);
}

static void test_refused(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	CU_ASSERT_EQUAL(method(machine, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, NULL, 0),
			-EPROTONOSUPPORT);
	CU_ASSERT_EQUAL(machine->refused_count, 0); /* libibverbs has a substitute */
	CU_ASSERT_EQUAL(method(machine, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, NULL, 0),
			-EPROTONOSUPPORT);
	CU_ASSERT_STRING_EQUAL(machine->refused, "ioctl on DM");
	CU_ASSERT_EQUAL(method(machine, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, NULL, 0),
			-EPROTONOSUPPORT);
	CU_ASSERT_EQUAL(machine->refused_count, 1); /* named once */

	struct ib_uverbs_poll_cq poll = {0};
	struct ib_uverbs_poll_cq_resp response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_POLL_CQ, poll, response), -EOPNOTSUPP);
	CU_ASSERT_STRING_EQUAL(machine->refused, "POLL_CQ");
	CU_ASSERT_EQUAL(RUN(machine, 200, poll, response), -EINVAL);
	struct ib_uverbs_query_device request = {0};
	struct ib_uverbs_query_port_resp too_small;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_DEVICE, request, too_small), -ENOSPC);

	struct kernel_file *file = machine->files[machine->command_fd];
	machine->call.result = 0;
	kernel_ioctl(file, &machine->call, 0x5401, CALL_AREA);
	CU_ASSERT_EQUAL(machine->call.result, -ENOTTY);
	kernel_ioctl(file, &machine->call, RDMA_VERBS_IOCTL, 0x10);
	CU_ASSERT_EQUAL(machine->call.result, -EFAULT);
	kernel_write(file, &machine->call, 0x10, 24);
	CU_ASSERT_EQUAL(machine->call.result, -EFAULT);
	kernel_write(file, &machine->call, CALL_AREA, 4);
	CU_ASSERT_EQUAL(machine->call.result, -EINVAL);
	machine_destroy(machine);
}

static int64_t map(struct machine *machine, uint64_t offset, uint64_t length, int prot)
{
	machine->call = (struct kernel_call){.process = &machine->process};
	kernel_mmap(machine->files[machine->command_fd], &machine->call, offset, length, prot);
	return machine->call.result;
}

/* A cycle takes 6.4 ns at 156.25 MHz, so the factor is 6.4 * 2^23, rounded. */
static void test_clock_page(void)
{
	enum { READ = 1, WRITE = 2, PAGE = 7 << 20 };
	static const uint8_t expected[] = {
		0,    0,    0,    0, 0,  0, 0, 0, 8,    7,    6,    5,    4,    3, 2, 1,
		0,    0,    0,    0, 0,  0, 0, 0, 0,    0,    0,    0,    0,    0, 0, 0,
		0x33, 0x33, 0x33, 3, 23, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0, 0};
	struct machine *machine = machine_create(LINK_INFINIBAND);

	machine->host.realtime_ns = UINT64_C(0x0102030405060708);
	machine_open(machine, &machine->process, true);
	CU_ASSERT_EQUAL(map(machine, PAGE, 4096, READ), PAGE);
	CU_ASSERT_EQUAL(machine->call.page_bytes, 56);
	CU_ASSERT_EQUAL(memcmp(machine->call.page, expected, sizeof(expected)), 0);
	CU_ASSERT_EQUAL(map(machine, PAGE, 4096, READ | WRITE), -EPERM);
	CU_ASSERT_EQUAL(map(machine, PAGE, 8192, READ), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, PAGE + 4096, 4096, READ), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, 4 << 20, 4096, READ), -EINVAL);
	CU_ASSERT_EQUAL(machine->call.page_bytes, 0);
	machine_destroy(machine);
}

static sim_time load_done_at;

static void note_load(struct pcie_mmio_read *read)
{
	load_done_at = sim_now(read->event.owner->sim);
}

static uint64_t load(struct machine *machine, uint64_t offset, uint32_t length)
{
	struct pcie_mmio_read read = {.length = length, .done = note_load};
	uint8_t bytes[8];

	kernel_load(machine->files[machine->command_fd], offset, &read);
	sim_run(machine->sim, SIM_NEVER);
	memcpy(bytes, read.bytes, sizeof(bytes));
	return be_get(bytes, length);
}

/* The program reads the cycle in which the load reaches the adapter: 161 ns after the start, 100 in
 * the host and 60 on the link. */
static void test_clock(void)
{
	enum { READ = 1, WRITE = 2, PAGE = 5 << 20, DOORBELLS = 0 };
	struct hca_params params;
	struct machine *machine;
	uint64_t before;

	hca_params_default(&params);
	params.device.core_clock = 1000000000;
	machine = machine_create_with(LINK_INFINIBAND, &params);
	machine_open(machine, &machine->process, true);
	CU_ASSERT_EQUAL(map(machine, PAGE, 4096, READ), PAGE);
	CU_ASSERT_TRUE(machine->call.registers);
	CU_ASSERT_EQUAL(map(machine, PAGE, 4096, READ | WRITE), -EPERM);
	CU_ASSERT_FALSE(machine->call.registers);
	CU_ASSERT_EQUAL(map(machine, PAGE, 8192, READ), -EINVAL);

	CU_ASSERT_EQUAL(load(machine, PAGE, 8), 161);
	CU_ASSERT_EQUAL(load_done_at, 823402); /* 600 ns in the adapter, and back */
	sim_run(machine->sim, 30 * SEC);
	CU_ASSERT_EQUAL(load(machine, PAGE, 4), UINT64_C(30000000161) >> 32);
	before = sim_now(machine->sim) / NS;
	CU_ASSERT_EQUAL(load(machine, PAGE + 4, 4), (before + 161) & UINT32_MAX);
	CU_ASSERT_EQUAL(load(machine, PAGE + 8, 8), 0);
	CU_ASSERT_EQUAL(load(machine, DOORBELLS, 8), 0);
	machine_destroy(machine);
}

static void test_doorbell_pages(void)
{
	enum { READ = 1, WRITE = 2 };
	struct machine *machine = machine_create(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	struct context *first =
		container_of(machine->files[machine->command_fd], struct context, file);
	CU_ASSERT_EQUAL(map(machine, 0, 4096, WRITE), 0);
	CU_ASSERT_EQUAL(map(machine, 7 * 4096, 4096, WRITE), 7 * 4096);
	CU_ASSERT_EQUAL(map(machine, 8 * 4096, 4096, WRITE), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, 0, 8192, WRITE), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, 0, 4096, READ), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, (UINT64_C(3) << 8 | 2) * 4096, 4096, WRITE), 0x302000);
	/* Pages at run time follow the static ones, each once. */
	CU_ASSERT_EQUAL(map(machine, (UINT64_C(6) << 8 | 7) * 4096, 4096, WRITE), -EINVAL);
	CU_ASSERT_EQUAL(map(machine, (UINT64_C(6) << 8 | 8) * 4096, 4096, WRITE), 0x608000);
	CU_ASSERT_EQUAL(map(machine, (UINT64_C(6) << 8 | 8) * 4096, 4096, WRITE), -EINVAL);

	uint64_t offset;
	CU_ASSERT_TRUE(uars_translate(&first->uars, 2 * 4096 + 0x800, &offset));
	CU_ASSERT_EQUAL(offset, 3 * 4096 + 0x800); /* the kernel owns page 0 of the adapter */
	CU_ASSERT_TRUE(uars_translate(&first->uars, 0x302020, &offset));
	CU_ASSERT_EQUAL(offset, 3 * 4096 + 0x20);
	CU_ASSERT_TRUE(uars_translate(&first->uars, 0x608a00, &offset));
	CU_ASSERT_EQUAL(offset, 9 * 4096 + 0xa00);
	CU_ASSERT_FALSE(uars_translate(&first->uars, 0x609a00, &offset));
	CU_ASSERT_FALSE(uars_translate(&first->uars, 8 * 4096, &offset));

	machine_open(machine, &machine->process, true);
	struct context *second =
		container_of(machine->files[machine->command_fd], struct context, file);
	CU_ASSERT_TRUE(uars_translate(&second->uars, 0, &offset));
	CU_ASSERT_EQUAL(offset, 10 * 4096);
	machine_destroy(machine);
}

/* 16 registers, 4 of low latency: 12 to 15 once each, then 1 to 11 in turn, which share. */
static void test_bfregs(void)
{
	struct kernel kernel = {.last_uar_page = 0};
	struct uars uars;
	CU_ASSERT_EQUAL(uars_init(&uars, &kernel, 16, 4), 0);
	for (uint32_t bfreg = 12; bfreg < 16; bfreg++)
		CU_ASSERT_EQUAL(uars_take_bfreg(&uars), bfreg);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t bfreg = 1; bfreg < 12; bfreg++)
			CU_ASSERT_EQUAL(uars_take_bfreg(&uars), bfreg);
	}
	uars_give_bfreg(&uars, 13);
	uars_give_bfreg(&uars, 5);
	CU_ASSERT_EQUAL(uars_take_bfreg(&uars), 13);
	CU_ASSERT_EQUAL(uars_take_bfreg(&uars), 5);
	CU_ASSERT_EQUAL(uars_bfreg_index(0), 0);
	CU_ASSERT_EQUAL(uars_bfreg_index(1), 1);
	CU_ASSERT_EQUAL(uars_bfreg_index(2), 4);
	CU_ASSERT_EQUAL(uars_bfreg_index(15), 29);
}
