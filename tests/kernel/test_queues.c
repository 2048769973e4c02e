/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests completion queues, their channels, and shared receive queues: exact responses, ring checks,
 * and events written to the right channel. Destroy commands report exactly the events that the
 * program has read, and remove the rest.
 */
#include <errno.h>

#include "hca/device/hca_params.h"
#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(create_cq)         \
	TEST(retire)            \
	TEST(create_cq_refused) \
	TEST(compressed)        \
	TEST(resize)            \
	TEST(modify_cq)         \
	TEST(completion_events) \
	TEST(many_events)       \
	TEST(closed_channel)    \
	TEST(async_events)      \
	TEST(srq)
SUITE(TESTS)

static struct machine *machine_with_context(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	return machine;
}

static void completion(struct machine *machine, uint32_t cqn)
{
	struct hca_driver *driver = kernel_driver(machine->kernel);
	driver->completion_event(driver, cqn);
}

static void async(struct machine *machine, enum hca_async what, uint32_t number)
{
	struct hca_driver *driver = kernel_driver(machine->kernel);
	driver->async_event(driver, what, number);
}

static int64_t destroy_cq_of(struct machine *machine, uint32_t handle,
			     struct ib_uverbs_destroy_cq_resp *response)
{
	struct ib_uverbs_destroy_cq request = {.cq_handle = handle};
	return RUN(machine, IB_USER_VERBS_CMD_DESTROY_CQ, request, *response);
}

static void test_create_cq(void)
{
	for (int by_write = 0; by_write < 2; by_write++) {
		struct machine *machine = machine_with_context();
		machine->by_write = by_write;
		struct ib_uverbs_create_cq request = {.cqe = 100, .comp_channel = -1};
		struct ib_uverbs_create_cq_resp response;
		struct mlx5_ib_create_cq driver = {
			.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8000, .cqe_size = 128};
		struct mlx5_ib_create_cq_resp driver_response;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request, driver,
					   response, driver_response),
				0);
		CU_ASSERT_EQUAL(response.cqe, 127);
		CU_ASSERT_EQUAL(machine->call.latency, 20 * US);
		CU_ASSERT_EQUAL_FATAL(machine->call.shared_count, 2);
		CU_ASSERT_EQUAL(machine->call.shared[0].address, RING_AREA);
		CU_ASSERT_EQUAL(machine->call.shared[0].length, 128 * 128);
		CU_ASSERT_EQUAL(machine->call.shared[1].address, RING_AREA + 0x8000);
		CU_ASSERT_EQUAL(machine->call.shared[1].length, 8);
		CU_ASSERT_TRUE(machine->call.shared_polled[0]);
		CU_ASSERT_FALSE(machine->call.shared_polled[1]);

		struct ib_uverbs_ex_create_cq extended = {
			.cqe = 1, .comp_channel = -1, .flags = IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN};
		struct ib_uverbs_ex_create_cq_resp extended_response;
		uint32_t command = IB_USER_VERBS_EX_CMD_CREATE_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, command, extended, driver, extended_response,
					   driver_response),
				0);
		CU_ASSERT_EQUAL(extended_response.base.cqe, 1);
		CU_ASSERT_EQUAL(extended_response.response_length, sizeof(extended_response));
		extended.flags = 4;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, command, extended, driver, extended_response,
					   driver_response),
				-EOPNOTSUPP);
		machine_destroy(machine);
	}
}

static uint32_t make_cq_at(struct machine *machine, uint64_t buffer, uint64_t record)
{
	struct ib_uverbs_create_cq request = {.cqe = 1, .comp_channel = -1};
	struct ib_uverbs_create_cq_resp response;
	struct mlx5_ib_create_cq driver = {.buf_addr = buffer, .db_addr = record, .cqe_size = 64};
	struct mlx5_ib_create_cq_resp driver_response;

	CU_ASSERT_EQUAL_FATAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request, driver,
					 response, driver_response),
			      0);
	return response.cq_handle;
}

/* Rings go with their objects; a page of doorbell records goes with the last of them. */
static void test_retire(void)
{
	struct machine *machine = machine_with_context();
	struct ib_uverbs_destroy_cq_resp response;
	uint32_t handles[3];

	for (uint32_t i = 0; i < 3; i++)
		handles[i] = make_cq_at(machine, RING_AREA + 0x1000 * i,
					RING_AREA + 0x8000 + (i == 2 ? 0x1000 : 64 * i));
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[1], &response), 0);
	CU_ASSERT_EQUAL(machine->call.retired.address, RING_AREA + 0x1000);
	CU_ASSERT_EQUAL(machine->call.retired.length, 128);
	CU_ASSERT_EQUAL(machine->call.retired_record.length, 0);
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[0], &response), 0);
	CU_ASSERT_EQUAL(machine->call.retired.address, RING_AREA);
	CU_ASSERT_EQUAL(machine->call.retired_record.address, RING_AREA + 0x8000);
	CU_ASSERT_EQUAL(machine->call.retired_record.length, 8);
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[2], &response), 0);
	CU_ASSERT_EQUAL(machine->call.retired_record.address, RING_AREA + 0x9000);
	machine_destroy(machine);
}

static void test_create_cq_refused(void)
{
	struct machine *machine = machine_with_context();
	const struct mlx5_ib_create_cq good = {
		.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8000, .cqe_size = 64};
	const struct {
		uint32_t cqe;
		int32_t channel;
		uint32_t vector;
		struct mlx5_ib_create_cq driver;
		int64_t result;
	} cases[] = {
		/* clang-format off */
		{0,       -1, 0, good, -EINVAL},
		{4194304, -1, 0, good, -EINVAL},
		{15,      -1, 8, good, -EINVAL},
		{15,      40, 0, good, -EBADF},
		{15,       3, 0, good, -EINVAL}, /* the device itself */
		{15,       4, 0, good, -EINVAL}, /* the asynchronous channel */
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8000,
		  .cqe_size = 32}, -EINVAL},
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8004,
		  .cqe_size = 64}, -EINVAL},
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = 0x8000, .cqe_size = 64},
		  -EFAULT},
		{15,      -1, 0, {.buf_addr = MEMORY_BASE + MEMORY_BYTES - 1023,
		  .db_addr = RING_AREA, .cqe_size = 64}, -EFAULT},
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = RING_AREA, .cqe_size = 64,
		  .cqe_comp_en = 1}, -EOPNOTSUPP},
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = RING_AREA, .cqe_size = 64,
		  .flags = 1}, -EINVAL},
		{15,      -1, 0, {.buf_addr = RING_AREA, .db_addr = RING_AREA, .cqe_size = 64,
		  .reserved0 = 1}, -EINVAL},
		{15,      -1, 0, {.buf_addr = MEMORY_BASE + MEMORY_BYTES - 1024,
		  .db_addr = RING_AREA, .cqe_size = 64}, 0},
		/* clang-format on */
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_uverbs_create_cq request = {.cqe = cases[i].cqe,
						      .comp_channel = cases[i].channel,
						      .comp_vector = cases[i].vector};
		struct ib_uverbs_create_cq_resp response;
		struct mlx5_ib_create_cq_resp driver_response;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request,
					   cases[i].driver, response, driver_response),
				cases[i].result);
	}
	machine_destroy(machine);
}

/* An adapter with compression offers the formats that it knows, and takes these formats alone. */
static void test_compressed(void)
{
	struct hca_params params;
	hca_params_default(&params);
	params.device.compressed_cqes = true;
	params.completion.compression_max = 32;
	struct machine *machine = machine_create_with(LINK_INFINIBAND, &params);
	machine_open(machine, &machine->process, true);

	struct ib_uverbs_ex_query_device query = {0};
	struct ib_uverbs_ex_query_device_resp device;
	struct mlx5_ib_query_device_resp offer;
	CU_ASSERT_EQUAL(
		machine_command(machine,
				IB_USER_VERBS_EX_CMD_QUERY_DEVICE | IB_USER_VERBS_CMD_FLAG_EXTENDED,
				&query, sizeof(query), NULL, 0, &device, sizeof(device), &offer,
				sizeof(offer)),
		0);
	CU_ASSERT_EQUAL(offer.cqe_comp_caps.max_num, 32);
	CU_ASSERT_EQUAL(offer.cqe_comp_caps.supported_format,
			MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX);
	const struct {
		uint32_t cqe_bytes;
		uint8_t format;
		int64_t result;
	} cases[] = {
		{64, MLX5_IB_CQE_RES_FORMAT_HASH, 0},
		{64, MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX, 0},
		{64, MLX5_IB_CQE_RES_FORMAT_CSUM, -EINVAL},
		{64, 0, -EINVAL},
		{128, MLX5_IB_CQE_RES_FORMAT_HASH, -EOPNOTSUPP},
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ib_uverbs_create_cq request = {.cqe = 15, .comp_channel = -1};
		struct ib_uverbs_create_cq_resp response;
		struct mlx5_ib_create_cq driver = {.buf_addr = RING_AREA,
						   .db_addr = RING_AREA + 0x8000,
						   .cqe_size = cases[i].cqe_bytes,
						   .cqe_comp_en = 1,
						   .cqe_comp_res_format = cases[i].format};
		struct mlx5_ib_create_cq_resp driver_response;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_CQ, request, driver,
					   response, driver_response),
				cases[i].result);
	}
	machine_destroy(machine);
}

static void test_resize(void)
{
	struct machine *machine = machine_with_context();
	struct ib_uverbs_resize_cq request = {.cq_handle = make_cq(machine, -1, 1, NULL),
					      .cqe = 31};
	struct ib_uverbs_resize_cq_resp response;
	struct mlx5_ib_resize_cq driver = {.buf_addr = RING_AREA + 0x4000, .cqe_size = 64};
#define RESIZE()                                                                                  \
	machine_command(machine, IB_USER_VERBS_CMD_RESIZE_CQ, &request, sizeof(request), &driver, \
			sizeof(driver), &response, sizeof(response), NULL, 0)
	CU_ASSERT_EQUAL(RESIZE(), 0);
	CU_ASSERT_EQUAL(response.cqe, 31);
	CU_ASSERT_EQUAL(machine->call.shared_count, 1);
	CU_ASSERT_EQUAL(RESIZE(), 0); /* as it is: nothing to do */
	CU_ASSERT_EQUAL(machine->call.shared_count, 0);
	request.cqe = 63;
	driver.cqe_size = 65;
	CU_ASSERT_EQUAL(RESIZE(), -EINVAL);
	driver.cqe_size = 64;
	driver.buf_addr = 0x1000;
	CU_ASSERT_EQUAL(RESIZE(), -EFAULT);
	request.cqe = 0;
	CU_ASSERT_EQUAL(RESIZE(), -EINVAL);
	request.cq_handle = 99;
	CU_ASSERT_EQUAL(RESIZE(), -EINVAL);
	machine_destroy(machine);
}

static void test_modify_cq(void)
{
	struct machine *machine = machine_with_context();
	uint32_t cqn, handle = make_cq(machine, -1, 1, &cqn);
	uint32_t command = IB_USER_VERBS_EX_CMD_MODIFY_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	struct ib_uverbs_ex_modify_cq request = {
		.cq_handle = handle, .attr_mask = 1, .attr = {.cq_count = 8, .cq_period = 4095}};
#define MODIFY() \
	machine_command(machine, command, &request, sizeof(request), NULL, 0, NULL, 0, NULL, 0)
	CU_ASSERT_EQUAL(MODIFY(), 0);
	CU_ASSERT_EQUAL(machine->call.latency, 2 * US);
	request.attr.cq_period = 4096;
	CU_ASSERT_EQUAL(MODIFY(), -EINVAL);
	request.attr.cq_period = 1;
	request.attr_mask = 3;
	CU_ASSERT_EQUAL(MODIFY(), -EOPNOTSUPP);
	request.attr_mask = 1;
	request.reserved = 1;
	CU_ASSERT_EQUAL(MODIFY(), -EOPNOTSUPP);
	request.reserved = 0;
	request.cq_handle = 99;
	CU_ASSERT_EQUAL(MODIFY(), -EINVAL);
	machine_destroy(machine);
}

/* Two CQs share one channel. The number of read events of a CQ is reported. Its unread events are
 * removed. Events of other objects remain, in order. */
static void test_completion_events(void)
{
	struct machine *machine = machine_with_context();
	int32_t channel = make_channel(machine);
	uint32_t cqn[2], handles[2] = {make_cq(machine, channel, 0xaaaa, &cqn[0]),
				       make_cq(machine, channel, 0xbbbb, &cqn[1])};
	for (int i = 0; i < 3; i++) {
		completion(machine, cqn[0]);
		completion(machine, cqn[1]);
	}
	struct ib_uverbs_comp_event_desc records[10];
	CU_ASSERT_EQUAL(machine_read(machine, channel, records, 3 * 8), 24);
	CU_ASSERT_EQUAL(records[0].cq_handle, 0xaaaa);
	CU_ASSERT_EQUAL(records[1].cq_handle, 0xbbbb);
	CU_ASSERT_EQUAL(records[2].cq_handle, 0xaaaa);

	struct ib_uverbs_destroy_cq_resp response;
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[0], &response), 0);
	CU_ASSERT_EQUAL(response.comp_events_reported, 2);
	CU_ASSERT_EQUAL(response.async_events_reported, 0);
	completion(machine, cqn[0]); /* an interrupt that comes too late */
	CU_ASSERT_EQUAL(machine_read(machine, channel, records, sizeof(records)), 16);
	CU_ASSERT_EQUAL(records[0].cq_handle, 0xbbbb);
	CU_ASSERT_EQUAL(records[1].cq_handle, 0xbbbb);
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[1], &response), 0);
	CU_ASSERT_EQUAL(response.comp_events_reported, 3);
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handles[1], &response), -ENOENT);
	machine_destroy(machine);
}

/* There are more events than the kernel's ring of unread events holds at first, and they are read
 * in uneven pieces. */
static void test_many_events(void)
{
	struct machine *machine = machine_with_context();
	int32_t channel = make_channel(machine);
	uint32_t cqn, handle = make_cq(machine, channel, 1, &cqn);
	struct ib_uverbs_comp_event_desc records[512];
	uint32_t read = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		completion(machine, cqn);
		if (i % 3 == 2)
			read += machine_read(machine, channel, records, 16) / 8;
	}
	struct ib_uverbs_destroy_cq_resp response;
	CU_ASSERT_EQUAL(read, 666);
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handle, &response), 0);
	CU_ASSERT_EQUAL(response.comp_events_reported, 666);
	CU_ASSERT_EQUAL(machine_read(machine, channel, records, 8), 0);
	machine_destroy(machine);
}

/* A channel may be closed before its CQs. */
static void test_closed_channel(void)
{
	struct machine *machine = machine_with_context();
	int32_t channel = make_channel(machine);
	uint32_t cqn, handle = make_cq(machine, channel, 1, &cqn);
	completion(machine, cqn);
	CU_ASSERT_EQUAL(machine_close(machine, channel), 0);
	completion(machine, cqn);
	struct ib_uverbs_destroy_cq_resp response;
	CU_ASSERT_EQUAL(destroy_cq_of(machine, handle, &response), 0);
	machine_destroy(machine);
}

static void test_async_events(void)
{
	static const struct {
		enum hca_async what;
		uint32_t type;
	} qp_events[] = {
		{ASYNC_QP_FATAL, 1},        {ASYNC_QP_REQUEST_ERROR, 2},
		{ASYNC_QP_ACCESS_ERROR, 3}, {ASYNC_COMM_ESTABLISHED, 4},
		{ASYNC_PATH_MIGRATED, 6},   {ASYNC_LAST_WQE_REACHED, 16},
	};
	struct machine *machine = machine_with_context();
	int32_t async_fd = machine->command_fd + 1;
	uint32_t pd = make_pd(machine), cqn, qpn, srqn;
	uint32_t cq = make_cq(machine, -1, 0xcccc, &cqn), srq = make_srq(machine, pd, &srqn);
	uint32_t qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, &qpn);
	struct ib_uverbs_async_event_desc record;
	for (uint32_t i = 0; i < ARRAY_SIZE(qp_events); i++) {
		async(machine, qp_events[i].what, qpn);
		CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)),
				sizeof(record));
		CU_ASSERT_EQUAL(record.element, 0x1234);
		CU_ASSERT_EQUAL(record.event_type, qp_events[i].type);
	}
	async(machine, ASYNC_SQ_DRAINED, qpn); /* nobody asked for it */
	CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)), 0);
	async(machine, ASYNC_CQ_ERROR, cqn);
	async(machine, ASYNC_SRQ_LIMIT, srqn);
	async(machine, ASYNC_PORT_ERROR, 1);
	async(machine, ASYNC_QP_FATAL, qpn);
	CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)), sizeof(record));
	CU_ASSERT_EQUAL(record.element, 0xcccc);
	CU_ASSERT_EQUAL(record.event_type, 0);

	struct ib_uverbs_destroy_qp destroy_qp = {.qp_handle = qp};
	struct ib_uverbs_destroy_qp_resp qp_response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_QP, destroy_qp, qp_response), 0);
	CU_ASSERT_EQUAL(qp_response.events_reported, ARRAY_SIZE(qp_events));
	CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)), sizeof(record));
	CU_ASSERT_EQUAL(record.element, 0x5a5a);
	CU_ASSERT_EQUAL(record.event_type, 15);
	CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)), sizeof(record));
	CU_ASSERT_EQUAL(record.element, 1);
	CU_ASSERT_EQUAL(record.event_type, 10);
	CU_ASSERT_EQUAL(machine_read(machine, async_fd, &record, sizeof(record)), 0);

	struct ib_uverbs_destroy_srq destroy_srq = {.srq_handle = srq};
	struct ib_uverbs_destroy_srq_resp srq_response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy_srq, srq_response), 0);
	CU_ASSERT_EQUAL(srq_response.events_reported, 1);
	struct ib_uverbs_destroy_cq_resp cq_response;
	CU_ASSERT_EQUAL(destroy_cq_of(machine, cq, &cq_response), 0);
	CU_ASSERT_EQUAL(cq_response.async_events_reported, 1);
	machine_destroy(machine);
}

static void test_srq(void)
{
	struct machine *machine = machine_with_context();
	uint32_t pd = make_pd(machine), srqn, srq = make_srq(machine, pd, &srqn);
	CU_ASSERT_EQUAL_FATAL(machine->call.shared_count, 2);
	CU_ASSERT_EQUAL(machine->call.shared[0].length, 32 * 32);
	struct ib_uverbs_query_srq query = {.srq_handle = srq};
	struct ib_uverbs_query_srq_resp state;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_SRQ, query, state), 0);
	CU_ASSERT_EQUAL(state.max_wr, 31);
	CU_ASSERT_EQUAL(state.max_sge, 1);
	CU_ASSERT_EQUAL(state.srq_limit, 0);
	struct ib_uverbs_modify_srq modify = {.srq_handle = srq, .attr_mask = 2, .srq_limit = 7};
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_SRQ, modify), 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_SRQ, query, state), 0);
	CU_ASSERT_EQUAL(state.srq_limit, 7);
	modify.srq_limit = 32;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_SRQ, modify), -EINVAL);
	modify.attr_mask = 1;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_SRQ, modify), -EINVAL);

	struct ib_uverbs_create_srq request = {.pd_handle = pd, .max_wr = 32768, .max_sge = 1};
	struct ib_uverbs_create_srq_resp response;
	struct mlx5_ib_create_srq driver = {.buf_addr = RING_AREA, .db_addr = RING_AREA + 0x8080};
	struct mlx5_ib_create_srq_resp driver_response;
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_SRQ, request, driver, response,
				   driver_response),
			-EINVAL);
	request.max_wr = 31;
	request.max_sge = 32;
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_SRQ, request, driver, response,
				   driver_response),
			-EINVAL);
	request.max_sge = 1;
	driver.flags = MLX5_SRQ_FLAG_SIGNATURE;
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_SRQ, request, driver, response,
				   driver_response),
			-EOPNOTSUPP);

	/* Of XRC: needs a domain and a CQ. */
	struct ib_uverbs_open_xrcd open = {.fd = (uint32_t)-1};
	struct ib_uverbs_open_xrcd_resp domain;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_OPEN_XRCD, open, domain), 0);
	struct ib_uverbs_create_xsrq xrc = {.srq_type = IB_UVERBS_SRQT_XRC,
					    .pd_handle = pd,
					    .max_wr = 15,
					    .max_sge = 2,
					    .xrcd_handle = domain.xrcd_handle,
					    .cq_handle = 99};
	driver.flags = 0;
	driver.uidx = 3;
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_XSRQ, xrc, driver, response,
				   driver_response),
			-EINVAL);
	xrc.cq_handle = make_cq(machine, -1, 1, NULL);
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_XSRQ, xrc, driver, response,
				   driver_response),
			0);
	struct ib_uverbs_destroy_srq destroy_srq = {.srq_handle = response.srq_handle};
	struct ib_uverbs_destroy_srq_resp srq_response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy_srq, srq_response), 0);
	struct ib_uverbs_close_xrcd close = {.xrcd_handle = domain.xrcd_handle};
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_CLOSE_XRCD, close), 0);
	struct ib_uverbs_destroy_cq_resp cq_response;
	CU_ASSERT_EQUAL(destroy_cq_of(machine, xrc.cq_handle, &cq_response), 0);
	machine_destroy(machine);
}
