/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests queue pairs: creation with the mlx5 part, transitions with each missing attribute refused,
 * values out of range refused. Also the attributes that the adapter receives, queries, and
 * multicast. Closing a file or ending a process frees everything, with any dependencies.
 */
#include <errno.h>

#include "hca/device/adapter.h"
#include "hca/transport/qp.h"
#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"
#include "verbs-shim/kernel/qp_transition.h"

#define TESTS(TEST)           \
	TEST(create)          \
	TEST(create_refused)  \
	TEST(data_to_cqe)     \
	TEST(life)            \
	TEST(values_refused)  \
	TEST(transitions)     \
	TEST(relations)       \
	TEST(multicast)       \
	TEST(group_addresses) \
	TEST(release)
SUITE(TESTS)

static struct machine *machine_with_context(enum link_layer link_layer)
{
	struct machine *machine = machine_create(link_layer);
	machine_open(machine, &machine->process, true);
	return machine;
}

static void test_create(void)
{
	for (int by_write = 0; by_write < 2; by_write++) {
		struct machine *machine = machine_with_context(LINK_INFINIBAND);
		machine->by_write = by_write;
		uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
		struct ib_uverbs_create_qp request;
		struct mlx5_ib_create_qp driver = qp_driver_request();
		struct ib_uverbs_create_qp_resp response;
		struct mlx5_ib_create_qp_resp driver_response;
		qp_request(&request, pd, cq, IB_UVERBS_QPT_RC);
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver,
					   response, driver_response),
				0);
		CU_ASSERT_EQUAL(response.max_send_wr, 16);
		CU_ASSERT_EQUAL(response.max_recv_wr, 16);
		CU_ASSERT_EQUAL(response.max_recv_sge, 1);
		CU_ASSERT_EQUAL(response.max_inline_data, 28);
		CU_ASSERT_EQUAL(driver_response.bfreg_index,
				24); /* bfreg 12, the first of low latency */
		CU_ASSERT_EQUAL(machine->call.latency, 30 * US);
		CU_ASSERT_EQUAL_FATAL(machine->call.shared_count, 2);
		CU_ASSERT_EQUAL(machine->call.shared[0].address, RING_AREA + 0x4000);
		CU_ASSERT_EQUAL(machine->call.shared[0].length, 16 * 16 + 16 * 64);
		CU_ASSERT_FALSE(machine->call.shared_polled[0]);

		struct ib_uverbs_ex_create_qp extended = {.user_handle = 1,
							  .pd_handle = pd,
							  .send_cq_handle = cq,
							  .recv_cq_handle = cq,
							  .max_send_wr = 16,
							  .max_recv_wr = 16,
							  .max_send_sge = 1,
							  .max_recv_sge = 1,
							  .qp_type = IB_UVERBS_QPT_UD};
		struct ib_uverbs_ex_create_qp_resp extended_response;
		uint32_t command = IB_USER_VERBS_EX_CMD_CREATE_QP | IB_USER_VERBS_CMD_FLAG_EXTENDED;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, command, extended, driver, extended_response,
					   driver_response),
				0);
		CU_ASSERT_EQUAL(extended_response.response_length, sizeof(extended_response));
		CU_ASSERT_EQUAL(driver_response.bfreg_index, 25);
		extended.create_flags = 2;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, command, extended, driver, extended_response,
					   driver_response),
				-EOPNOTSUPP);
		extended.create_flags = 0;
		extended.comp_mask = 1;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, command, extended, driver, extended_response,
					   driver_response),
				-EOPNOTSUPP);
		machine_destroy(machine);
	}
}

struct create_case {
	size_t offset, bytes;
	uint64_t value;
	int64_t result;
};

static void test_create_refused(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
	/* clang-format off */
#define CASE(field, value, result) \
	{offsetof(struct ib_uverbs_create_qp, field), \
	 sizeof(((struct ib_uverbs_create_qp *)0)->field), value, result}
	static const struct create_case cases[] = {
		CASE(pd_handle, 50, -EINVAL),
		CASE(send_cq_handle, 50, -EINVAL),
		CASE(recv_cq_handle, 50, -EINVAL),
		CASE(max_send_wr, 32769, -EINVAL),
		CASE(max_recv_wr, 32769, -EINVAL),
		CASE(max_send_sge, 31, -EINVAL),
		CASE(max_inline_data, 1025, -EINVAL),
		CASE(qp_type, 5, -EINVAL),
		CASE(qp_type, 0, -EINVAL),
		CASE(qp_type, IB_UVERBS_QPT_RAW_PACKET, -EOPNOTSUPP),
		CASE(qp_type, IB_UVERBS_QPT_DRIVER, -EINVAL),
		CASE(is_srq, 1, -EINVAL),
		CASE(max_send_sge, 30, 0),
	};
#undef CASE
#define CASE(field, value, result) \
	{offsetof(struct mlx5_ib_create_qp, field), \
	 sizeof(((struct mlx5_ib_create_qp *)0)->field), value, result}
	static const struct create_case driver_cases[] = {
		CASE(buf_addr, 0x1000, -EFAULT),
		CASE(db_addr, 0x1000, -EFAULT),
		CASE(db_addr, RING_AREA + 4, -EINVAL),
		CASE(sq_wqe_count, 15, -EINVAL),
		CASE(sq_wqe_count, 65536, -EINVAL),
		CASE(rq_wqe_count, 12, -EINVAL),
		CASE(rq_wqe_shift, 3, -EINVAL),
		CASE(rq_wqe_shift, 10, -EINVAL),
		CASE(rq_wqe_shift, 40, -EINVAL),
		CASE(flags, MLX5_QP_FLAG_SIGNATURE, -EOPNOTSUPP),
		CASE(flags, MLX5_QP_FLAG_TUNNEL_OFFLOADS, -EINVAL),
		CASE(flags, MLX5_QP_FLAG_TYPE_DCI, -EINVAL),
		CASE(flags, MLX5_QP_FLAG_BFREG_INDEX, -EINVAL),
		CASE(uidx, 0xffffff, -EINVAL),
		CASE(uidx, 0x1000000, -EINVAL),
		CASE(flags, 0, 0),
		CASE(sq_wqe_count, 0, 0),
	};
	/* clang-format on */
	for (uint32_t i = 0; i < ARRAY_SIZE(cases) + ARRAY_SIZE(driver_cases); i++) {
		struct ib_uverbs_create_qp request;
		struct mlx5_ib_create_qp driver = qp_driver_request();
		struct ib_uverbs_create_qp_resp response;
		struct mlx5_ib_create_qp_resp driver_response;
		int64_t expected;
		qp_request(&request, pd, cq, IB_UVERBS_QPT_RC);
		if (i < ARRAY_SIZE(cases)) {
			memcpy((char *)&request + cases[i].offset, &cases[i].value, cases[i].bytes);
			expected = cases[i].result;
		} else {
			uint32_t j = i - (uint32_t)ARRAY_SIZE(cases);
			memcpy((char *)&driver + driver_cases[j].offset, &driver_cases[j].value,
			       driver_cases[j].bytes);
			expected = driver_cases[j].result;
		}
		int64_t result = RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver,
					    response, driver_response);
		CU_ASSERT_EQUAL(result, expected);
		if (result != expected)
			printf("case %u: %ld\n", i, (long)result);
	}
	machine_destroy(machine);
}

/* The calls of a real program, and the resulting state of the adapter. */
/* libmlx5's offer is taken up where the adapter can, by queue pairs that are connected; answers, if
 * each has a CQE. */
static void test_data_to_cqe(void)
{
	const struct {
		bool adapter_can, signal_all;
		uint8_t type;
		uint32_t flags;
		bool receives, responses;
	} cases[] = {
		{false, true, IB_UVERBS_QPT_RC, MLX5_QP_FLAG_SCATTER_CQE, false, false},
		{true, true, IB_UVERBS_QPT_RC, 0, false, false},
		{true, false, IB_UVERBS_QPT_RC, MLX5_QP_FLAG_SCATTER_CQE, true, false},
		{true, true, IB_UVERBS_QPT_UC, MLX5_QP_FLAG_SCATTER_CQE, true, true},
		{true, false, IB_UVERBS_QPT_RC,
		 MLX5_QP_FLAG_SCATTER_CQE | MLX5_QP_FLAG_ALLOW_SCATTER_CQE, true, true},
		{true, true, IB_UVERBS_QPT_UD, MLX5_QP_FLAG_SCATTER_CQE, false, false},
	};
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct hca_params params;
		hca_params_default(&params);
		params.device.data_to_cqe = cases[i].adapter_can;
		struct machine *machine = machine_create_with(LINK_INFINIBAND, &params);
		machine_open(machine, &machine->process, true);
		uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
		struct ib_uverbs_create_qp request;
		struct mlx5_ib_create_qp driver = qp_driver_request();
		struct ib_uverbs_create_qp_resp response;
		struct mlx5_ib_create_qp_resp driver_response;
		qp_request(&request, pd, cq, cases[i].type);
		request.sq_sig_all = cases[i].signal_all;
		driver.flags = cases[i].flags;
		CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver,
					   response, driver_response),
				0);
		const struct qp *qp =
			number_table_find(&machine->adapter->transport->qps, response.qpn);
		CU_ASSERT_PTR_NOT_NULL_FATAL(qp);
		CU_ASSERT_EQUAL(qp->attr.receives_to_cqe, cases[i].receives);
		CU_ASSERT_EQUAL(qp->attr.responses_to_cqe, cases[i].responses);
		machine_destroy(machine);
	}
}

static void test_life(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL), qpn;
	uint32_t qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, &qpn);
	CU_ASSERT_EQUAL(qp_to_rtr(machine, qp, IB_UVERBS_QPT_RC, 0x77), -EINVAL);
	CU_ASSERT_EQUAL(qp_to_init(machine, qp, IB_UVERBS_QPT_RC), 0);
	CU_ASSERT_EQUAL(machine->call.latency, 15 * US);
	CU_ASSERT_EQUAL(qp_to_rts(machine, qp, IB_UVERBS_QPT_RC), -EINVAL);
	CU_ASSERT_EQUAL(qp_to_rtr(machine, qp, IB_UVERBS_QPT_RC, 0x77), 0);
	CU_ASSERT_EQUAL(qp_to_rts(machine, qp, IB_UVERBS_QPT_RC), 0);

	struct hca_qp_state state;
	CU_ASSERT_EQUAL(hca_qp_query(machine->adapter, qpn, &state), 0);
	CU_ASSERT_EQUAL(state.state, STATE_RTS);
	CU_ASSERT_EQUAL(state.dest_qp, 0x77);
	CU_ASSERT_EQUAL(state.mtu_bytes, 4096);
	CU_ASSERT_EQUAL(state.pkey, 0xffff);
	CU_ASSERT_EQUAL(state.rq_psn, 0x123456);
	CU_ASSERT_EQUAL(state.sq_psn, 0xabcdef);
	CU_ASSERT_EQUAL(state.access, MR_REMOTE_WRITE);
	CU_ASSERT_EQUAL(state.timeout, 14);
	CU_ASSERT_EQUAL(state.retry, 7);
	CU_ASSERT_EQUAL(state.rnr_retry, 7);
	CU_ASSERT_EQUAL(state.min_rnr_timer, 12);
	CU_ASSERT_PTR_NOT_NULL_FATAL(state.path);
	CU_ASSERT_EQUAL(state.path->source, 0);
	CU_ASSERT_EQUAL(state.path->destination, 1);
	CU_ASSERT_EQUAL(state.path->dlid, 2);
	CU_ASSERT_EQUAL(state.path->slid, 1);
	CU_ASSERT_FALSE(state.path->has_grh);

	struct ib_uverbs_query_qp query = {.qp_handle = qp};
	struct ib_uverbs_query_qp_resp response;
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_QP, query, response), 0);
	CU_ASSERT_EQUAL(response.qp_state, STATE_RTS);
	CU_ASSERT_EQUAL(response.dest.dlid, 2);
	CU_ASSERT_EQUAL(response.dest_qp_num, 0x77);
	CU_ASSERT_EQUAL(response.path_mtu, 5);
	CU_ASSERT_EQUAL(response.rq_psn, 0x123456);
	CU_ASSERT_EQUAL(response.sq_psn, 0xabcdef);
	CU_ASSERT_EQUAL(response.timeout, 14);
	CU_ASSERT_EQUAL(response.max_send_wr, 16);

	struct ib_uverbs_modify_qp request = {
		.qp_handle = qp, .attr_mask = ATTRIBUTE_STATE, .qp_state = STATE_ERR};
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), 0);
	CU_ASSERT_EQUAL(qp_to_rts(machine, qp, IB_UVERBS_QPT_RC), -EINVAL);
	request.qp_state = STATE_RESET;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_QP, query, response), 0);
	CU_ASSERT_EQUAL(response.qp_state, STATE_RESET);
	CU_ASSERT_EQUAL(response.dest_qp_num, 0);
	machine_destroy(machine);
}

static void test_values_refused(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
	uint32_t qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, NULL);
	struct ib_uverbs_modify_qp good = {.qp_handle = qp,
					   .qp_state = STATE_INIT,
					   .port_num = 1,
					   .attr_mask = ATTRIBUTE_STATE | ATTRIBUTE_PKEY_INDEX |
							ATTRIBUTE_PORT | ATTRIBUTE_ACCESS_FLAGS};
	struct ib_uverbs_modify_qp request = good;
	request.port_num = 2;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EINVAL);
	request = good;
	request.pkey_index = 128;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EINVAL);
	request = good;
	request.qp_state = 7;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EINVAL);
	request = good;
	request.attr_mask |= ATTRIBUTE_ALT_PATH;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EOPNOTSUPP);
	request = good;
	request.attr_mask |= 1 << 21;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EOPNOTSUPP);
	request = good;
	request.qp_handle = 999;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request), -EINVAL);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, good), 0);

	struct ib_uverbs_ex_modify_qp extended = {.base = good};
	struct ib_uverbs_ex_modify_qp_resp response;
	uint32_t command = IB_USER_VERBS_EX_CMD_MODIFY_QP | IB_USER_VERBS_CMD_FLAG_EXTENDED;
	CU_ASSERT_EQUAL(RUN(machine, command, extended, response), 0); /* INIT to INIT */
	CU_ASSERT_EQUAL(response.response_length, sizeof(response));
	extended.base.attr_mask |= ATTRIBUTE_RATE_LIMIT;
	CU_ASSERT_EQUAL(RUN(machine, command, extended, response), -EINVAL);
	machine_destroy(machine);
}

/* IBTA vol. 1, 11.2.5.2: the attributes each transition needs, written out once more. */
static void test_transitions(void)
{
	/* clang-format off */
	enum {
		S = 1, ACC = 1 << 3, PK = 1 << 4, PORT = 1 << 5, QK = 1 << 6, AV = 1 << 7,
		MTU = 1 << 8, TO = 1 << 9, RC = 1 << 10, RNR = 1 << 11, RPSN = 1 << 12,
		RDA = 1 << 13, MRT = 1 << 15, SPSN = 1 << 16, DRA = 1 << 17, DQ = 1 << 20
	};
	static const struct {
		enum qp_state from, to;
		enum qp_type type;
		uint32_t needed;
	} rows[] = {
		{STATE_RESET, STATE_INIT, QP_RC, PK | PORT | ACC},
		{STATE_RESET, STATE_INIT, QP_UC, PK | PORT | ACC},
		{STATE_RESET, STATE_INIT, QP_UD, PK | PORT | QK},
		{STATE_RESET, STATE_INIT, QP_XRC_TGT, PK | PORT | ACC},
		{STATE_INIT, STATE_RTR, QP_RC, AV | MTU | DQ | RPSN | DRA | MRT},
		{STATE_INIT, STATE_RTR, QP_UC, AV | MTU | DQ | RPSN},
		{STATE_INIT, STATE_RTR, QP_XRC_INI, AV | MTU | DQ | RPSN},
		{STATE_INIT, STATE_RTR, QP_XRC_TGT, AV | MTU | DQ | RPSN | DRA | MRT},
		{STATE_RTR, STATE_RTS, QP_RC, TO | RC | RNR | SPSN | RDA},
		{STATE_RTR, STATE_RTS, QP_UC, SPSN},
		{STATE_RTR, STATE_RTS, QP_UD, SPSN},
		{STATE_RTR, STATE_RTS, QP_XRC_INI, TO | RC | RNR | SPSN | RDA},
		{STATE_RTR, STATE_RTS, QP_XRC_TGT, TO | SPSN},
		{STATE_RESET, STATE_INIT, QP_XRC_INI, PK | PORT | ACC},
		{STATE_RESET, STATE_INIT, QP_GSI, PK | QK},
		{STATE_RESET, STATE_INIT, QP_DCI, PK | PORT},
		{STATE_RESET, STATE_INIT, QP_DCT, PK | PORT | ACC},
		{STATE_INIT, STATE_RTR, QP_DCI, MTU},
		{STATE_INIT, STATE_RTR, QP_DCT, AV | MTU | MRT},
		{STATE_RTR, STATE_RTS, QP_GSI, SPSN},
		{STATE_RTR, STATE_RTS, QP_DCI, TO | RC | RNR | SPSN | RDA},
	};
	/* clang-format on */
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_TRUE(qp_transition_allowed(rows[i].from, rows[i].to, rows[i].type,
						     rows[i].needed | S));
		for (uint32_t bit = 1; bit < 1U << 21; bit <<= 1) {
			if (rows[i].needed & bit)
				CU_ASSERT_FALSE(qp_transition_allowed(rows[i].from, rows[i].to,
								      rows[i].type,
								      (rows[i].needed & ~bit) | S));
		}
		CU_ASSERT_FALSE(
			qp_transition_allowed(rows[i].from, rows[i].to, rows[i].type,
					      rows[i].needed | S | ATTRIBUTE_EN_SQD_ASYNC_NOTIFY));
	}
	CU_ASSERT_TRUE(qp_transition_allowed(STATE_INIT, STATE_RTR, QP_UD, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_INIT, STATE_RTR, QP_UD, S | AV));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_RESET, STATE_RTR, QP_UD, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_INIT, STATE_RTS, QP_UD, S | SPSN));
	CU_ASSERT_TRUE(qp_transition_allowed(STATE_SQE, STATE_RTS, QP_UD, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_SQE, STATE_RTS, QP_RC, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_ERR, STATE_RTS, QP_RC, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_RESET, STATE_ERR, QP_RC, S));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_RTS, STATE_RESET, QP_RC, S | QK));
	CU_ASSERT_FALSE(
		qp_transition_allowed(STATE_INIT, STATE_INIT, QP_RC, S | ATTRIBUTE_CUR_STATE));
	for (enum qp_state from = STATE_RESET; from <= STATE_ERR; from++)
		CU_ASSERT_TRUE(qp_transition_allowed(from, STATE_RESET, QP_RC, S));
}

static void test_relations(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL),
		 srq = make_srq(machine, pd, NULL);
	struct ib_uverbs_create_qp request;
	struct mlx5_ib_create_qp driver = qp_driver_request();
	struct ib_uverbs_create_qp_resp response;
	struct mlx5_ib_create_qp_resp driver_response;
	qp_request(&request, pd, cq, IB_UVERBS_QPT_RC);
	request.is_srq = 1;
	request.srq_handle = srq;
	CU_ASSERT_EQUAL(RUN_DRIVER(machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver, response,
				   driver_response),
			0);
	CU_ASSERT_EQUAL(response.max_recv_wr, 0);
	CU_ASSERT_EQUAL(machine->call.shared[0].length, 16 * 64); /* no RQ */

	struct ib_uverbs_dealloc_pd dealloc = {.pd_handle = pd};
	struct ib_uverbs_destroy_cq destroy_cq = {.cq_handle = cq};
	struct ib_uverbs_destroy_cq_resp cq_response;
	struct ib_uverbs_destroy_srq destroy_srq = {.srq_handle = srq};
	struct ib_uverbs_destroy_srq_resp srq_response;
	struct ib_uverbs_destroy_qp destroy_qp = {.qp_handle = response.qp_handle};
	struct ib_uverbs_destroy_qp_resp qp_response;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, dealloc), -EBUSY);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_CQ, destroy_cq, cq_response),
			-EBUSY);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy_srq, srq_response),
			-EBUSY);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_QP, destroy_qp, qp_response), 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_SRQ, destroy_srq, srq_response), 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_CQ, destroy_cq, cq_response), 0);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DEALLOC_PD, dealloc), 0);
	machine_destroy(machine);
}

static void test_multicast(void)
{
	struct machine *machine = machine_with_context(LINK_INFINIBAND);
	uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
	uint32_t ud = make_qp(machine, pd, cq, IB_UVERBS_QPT_UD, NULL);
	struct ib_uverbs_attach_mcast attach = {
		.gid = {0xff, 0x12}, .qp_handle = ud, .mlid = 0xc001};
	struct ib_uverbs_detach_mcast detach = {
		.gid = {0xff, 0x12}, .qp_handle = ud, .mlid = 0xc001};
	struct ib_uverbs_destroy_qp destroy = {.qp_handle = ud};
	struct ib_uverbs_destroy_qp_resp response;
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DETACH_MCAST, detach), -EINVAL);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_ATTACH_MCAST, attach), 0);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_ATTACH_MCAST, attach),
			0); /* once is enough */
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_QP, destroy, response), -EBUSY);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_DETACH_MCAST, detach), 0);
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_DESTROY_QP, destroy, response), 0);
	attach.qp_handle = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, NULL);
	CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_ATTACH_MCAST, attach), -EINVAL);
	machine_destroy(machine);
}

/* Addresses that are no group's are refused; IPv4 ones are for RoCE as good as others, and LIDs of
 * no interest there. */
static void test_group_addresses(void)
{
	static const struct {
		enum link_layer link_layer;
		uint8_t gid[16];
		uint16_t lid;
		int result;
	} cases[] = {
		{LINK_INFINIBAND, {0xff, 0x12}, 0xc000, 0},
		{LINK_INFINIBAND, {0xff, 0x12}, 0xfffe, 0},
		{LINK_INFINIBAND, {0xff, 0x12}, 0xbfff, -EINVAL},
		{LINK_INFINIBAND, {0xff, 0x12}, 0xffff, -EINVAL},
		{LINK_INFINIBAND, {0xfe, 0x80}, 0xc000, -EINVAL},
		{LINK_ETHERNET, {0xff, 0x0e}, 0, 0},
		{LINK_ETHERNET, {[10] = 0xff, 0xff, 224, 0, 0, 7}, 0, 0},
		{LINK_ETHERNET, {[10] = 0xff, 0xff, 10, 0, 0, 7}, 0, -EINVAL},
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine *machine = machine_with_context(cases[i].link_layer);
		uint32_t pd = make_pd(machine), cq = make_cq(machine, -1, 1, NULL);
		struct ib_uverbs_attach_mcast attach = {
			.qp_handle = make_qp(machine, pd, cq, IB_UVERBS_QPT_UD, NULL),
			.mlid = cases[i].lid};
		memcpy(attach.gid, cases[i].gid, 16);
		CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_ATTACH_MCAST, attach),
				cases[i].result);
		machine_destroy(machine);
	}
}

/* Creates all objects in two contexts of two processes. One process closes its file, the other is
 * killed. */
static void test_release(void)
{
	struct machine *machine = machine_create(LINK_INFINIBAND);
	struct kernel_process *processes[2] = {&machine->process, &machine->other};
	uint32_t keys[2];
	for (int i = 0; i < 2; i++) {
		machine_open(machine, processes[i], true);
		uint32_t pd = make_pd(machine), qpn;
		make_mr(machine, pd, &keys[i]);
		int32_t channel = make_channel(machine);
		uint32_t cq = make_cq(machine, channel, 1, NULL);
		make_srq(machine, pd, NULL);
		uint32_t qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, &qpn);
		CU_ASSERT_EQUAL(qp_to_init(machine, qp, IB_UVERBS_QPT_RC), 0);
		CU_ASSERT_EQUAL(qp_to_rtr(machine, qp, IB_UVERBS_QPT_RC, qpn), 0);
		CU_ASSERT_EQUAL(qp_to_rts(machine, qp, IB_UVERBS_QPT_RC), 0);
		uint32_t ud = make_qp(machine, pd, cq, IB_UVERBS_QPT_UD, NULL);
		struct ib_uverbs_attach_mcast attach = {
			.gid = {0xff}, .qp_handle = ud, .mlid = 0xc000};
		CU_ASSERT_EQUAL(RUN_QUIET(machine, IB_USER_VERBS_CMD_ATTACH_MCAST, attach), 0);
	}
	CU_ASSERT_EQUAL(machine_close(machine, machine->command_fd), 0);
	CU_ASSERT_PTR_NULL(hca_mr_find(machine->adapter, keys[1]));
	CU_ASSERT_PTR_NOT_NULL(hca_mr_find(machine->adapter, keys[0]));
	kernel_process_exit(machine->kernel, processes[0]);
	CU_ASSERT_PTR_NULL(hca_mr_find(machine->adapter, keys[0]));
	CU_ASSERT_PTR_NULL(processes[0]->files);
	for (int i = 0; i < NUMBER_BUCKETS; i++)
		CU_ASSERT_PTR_NULL(machine->kernel->numbers.buckets[i]);
	machine_destroy(machine); /* asserts that no context is left; a sanitizer finds leaks */
}
