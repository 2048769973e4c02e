/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests DC in the kernel: the initiators and targets that can be created, their states, and their
 * number and key in the adapter. libmlx5 gets the target's number in the response of modify.
 */
#include <errno.h>

#include "hca/device/adapter.h"
#include "hca/transport/qp.h"
#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"
#include "verbs-shim/kernel/qp_transition.h"

#define TESTS(TEST)  \
	TEST(create) \
	TEST(target) \
	TEST(transitions)
SUITE(TESTS)

#define KEY UINT64_C(0x0123456789abcdef)

struct made {
	struct machine *machine;
	uint32_t pd, cq, srq;
	uint32_t handle, qpn; /* of the last QP */
};

static struct made made_create(void)
{
	struct made made = {.machine = machine_create(LINK_INFINIBAND)};

	machine_open(made.machine, &made.machine->process, true);
	made.pd = make_pd(made.machine);
	made.cq = make_cq(made.machine, -1, 1, NULL);
	made.srq = make_srq(made.machine, made.pd, NULL);
	return made;
}

static int64_t make_dc(struct made *made, uint32_t flags, bool is_srq, uint32_t max_recv_wr)
{
	struct ib_uverbs_create_qp request;
	struct mlx5_ib_create_qp driver = {.flags = flags, .uidx = 7};
	struct ib_uverbs_create_qp_resp response;
	struct mlx5_ib_create_qp_resp driver_response;
	int64_t error;

	qp_request(&request, made->pd, made->cq, IB_UVERBS_QPT_DRIVER);
	if (flags & MLX5_QP_FLAG_TYPE_DCI)
		driver = qp_driver_request();
	driver.flags = flags;
	if (flags & MLX5_QP_FLAG_TYPE_DCT)
		driver.access_key = KEY;
	request.is_srq = is_srq;
	request.srq_handle = made->srq;
	request.max_recv_wr = max_recv_wr;
	error = RUN_DRIVER(made->machine, IB_USER_VERBS_CMD_CREATE_QP, request, driver, response,
			   driver_response);
	made->handle = response.qp_handle;
	made->qpn = response.qpn;
	return error;
}

static void test_create(void)
{
	struct made made = made_create();
	const uint32_t dci = MLX5_QP_FLAG_TYPE_DCI, dct = MLX5_QP_FLAG_TYPE_DCT;

	CU_ASSERT_EQUAL(make_dc(&made, dct, true, 0), 0);
	CU_ASSERT_EQUAL(qp_find(made.machine->adapter->transport, made.qpn)->attr.type, QP_DCT);
	CU_ASSERT_EQUAL(make_dc(&made, dci, false, 0), 0);
	CU_ASSERT_EQUAL(qp_find(made.machine->adapter->transport, made.qpn)->attr.type, QP_DCI);
	CU_ASSERT_EQUAL(make_dc(&made, dci, true, 16),
			0); /* it does not receive, so the SRQ has no effect */
	CU_ASSERT_EQUAL(make_dc(&made, dci, false, 16), -EINVAL);
	CU_ASSERT_EQUAL(make_dc(&made, dct, false, 0), -EINVAL);
	CU_ASSERT_EQUAL(make_dc(&made, 0, true, 0), -EINVAL);
	CU_ASSERT_EQUAL(make_dc(&made, dci | dct, true, 0), -EINVAL);
	CU_ASSERT_EQUAL(make_dc(&made, dci | MLX5_QP_FLAG_DCI_STREAM, false, 0), -EINVAL);
	machine_destroy(made.machine);
}

static struct ib_uverbs_ex_modify_qp request_to(const struct made *made, uint8_t state,
						uint32_t mask)
{
	return (struct ib_uverbs_ex_modify_qp){
		.base = {.qp_handle = made->handle,
			 .attr_mask = ATTRIBUTE_STATE | mask,
			 .qp_state = state,
			 .port_num = 1,
			 .path_mtu = 5,
			 .min_rnr_timer = 12,
			 .qp_access_flags = MR_REMOTE_READ,
			 .dest = {.dlid = 2, .port_num = 1}},
	};
}

static int64_t modify(struct made *made, uint8_t state, uint32_t mask,
		      struct mlx5_ib_modify_qp_resp *driver_response)
{
	struct ib_uverbs_ex_modify_qp request = request_to(made, state, mask);
	struct ib_uverbs_ex_modify_qp_resp response;
	struct mlx5_ib_modify_qp_resp driver = {0};

	return RUN_DRIVER(made->machine,
			  IB_USER_VERBS_EX_CMD_MODIFY_QP | IB_USER_VERBS_CMD_FLAG_EXTENDED, request,
			  driver, response, *driver_response);
}

static void test_target(void)
{
	struct made made = made_create();
	struct mlx5_ib_modify_qp_resp response = {0};
	struct hca_qp_state state;

	CU_ASSERT_EQUAL_FATAL(make_dc(&made, MLX5_QP_FLAG_TYPE_DCT, true, 0), 0);
	CU_ASSERT_EQUAL(qp_find(made.machine->adapter->transport, made.qpn)->attr.dc_key, KEY);
	CU_ASSERT_EQUAL(modify(&made, STATE_INIT,
			       ATTRIBUTE_PKEY_INDEX | ATTRIBUTE_PORT | ATTRIBUTE_ACCESS_FLAGS,
			       &response),
			0);
	CU_ASSERT_EQUAL(modify(&made, STATE_RTR,
			       ATTRIBUTE_AV | ATTRIBUTE_PATH_MTU | ATTRIBUTE_MIN_RNR_TIMER,
			       &response),
			0);
	CU_ASSERT_EQUAL(response.dctn, made.qpn);
	CU_ASSERT_TRUE(response.response_length >= 8);
	CU_ASSERT_EQUAL(hca_qp_query(made.machine->adapter, made.qpn, &state), 0);
	CU_ASSERT_EQUAL(state.state, STATE_RTR);
	CU_ASSERT_EQUAL(state.access, MR_REMOTE_READ);
	CU_ASSERT_EQUAL(state.max_dest_rd_atomic, 16);
	CU_ASSERT_EQUAL(modify(&made, STATE_RTS, 0, &response), -EINVAL);
	machine_destroy(made.machine);
}

/* The transitions are those of modify_dci_qp_is_ok() and mlx5_ib_modify_dct() of Linux. */
static void test_transitions(void)
{
	/* clang-format off */
	enum {
		S = 1, ACC = 1 << 3, PK = 1 << 4, PORT = 1 << 5, AV = 1 << 7, MTU = 1 << 8,
		TO = 1 << 9, RC = 1 << 10, RNR = 1 << 11, RDA = 1 << 13, MRT = 1 << 15,
		SPSN = 1 << 16
	};
	static const struct {
		enum qp_state from, to;
		enum qp_type type;
		uint32_t mask;
		bool allowed;
	} rows[] = {
		{STATE_RESET, STATE_INIT, QP_DCI, S | PK | PORT, true},
		{STATE_RESET, STATE_INIT, QP_DCI, S | PK | PORT | ACC, false},
		{STATE_RESET, STATE_INIT, QP_DCI, S | PK, false},
		{STATE_INIT,  STATE_INIT, QP_DCI, S | PORT, true},
		{STATE_INIT,  STATE_RTR,  QP_DCI, S | MTU, true},
		{STATE_INIT,  STATE_RTR,  QP_DCI, S | MTU | AV, true},
		{STATE_INIT,  STATE_RTR,  QP_DCI, S | AV, false},
		{STATE_RTR,   STATE_RTS,  QP_DCI, S | TO | RC | RNR | RDA | SPSN, true},
		{STATE_RTR,   STATE_RTS,  QP_DCI, S | TO | RC | RNR | SPSN, false},
		{STATE_RTS,   STATE_RTS,  QP_DCI, S | MRT, true},
		{STATE_RTS,   STATE_SQD,  QP_DCI, S, false},
		{STATE_SQE,   STATE_RTS,  QP_DCI, S, false},
		{STATE_RTS,   STATE_ERR,  QP_DCI, S, true},
		{STATE_RESET, STATE_INIT, QP_DCT, S | PK | PORT | ACC, true},
		{STATE_RESET, STATE_INIT, QP_DCT, S | PK | PORT, false},
		{STATE_INIT,  STATE_INIT, QP_DCT, S, false},
		{STATE_INIT,  STATE_RTR,  QP_DCT, S | AV | MTU | MRT, true},
		{STATE_INIT,  STATE_RTR,  QP_DCT, S | AV | MTU, false},
		{STATE_RTR,   STATE_RTS,  QP_DCT, S, false},
		{STATE_RTS,   STATE_RTS,  QP_DCT, S, false},
		{STATE_RTR,   STATE_ERR,  QP_DCT, S, true},
	};
	/* clang-format on */

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CU_ASSERT_EQUAL(
			qp_transition_allowed(rows[i].from, rows[i].to, rows[i].type, rows[i].mask),
			rows[i].allowed);
}
