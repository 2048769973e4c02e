/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the buffers of the transport for data that wait for host memory (response_buffers at the
 * requester, scatter_buffers at the responder). The number in use never exceeds the parameter. Data
 * without a buffer wait in order and are counted, and all data arrive.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)            \
	TEST(response_buffers) \
	TEST(scatter_buffers)
SUITE(TESTS)

#define MTU     1024
#define PACKETS 8

static struct rig rig_with(uint64_t response_buffers, uint64_t scatter_buffers)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);

	mini->params.transport.response_buffers = response_buffers;
	mini->params.transport.scatter_buffers = scatter_buffers;
	mini->params.transport.segment_bytes = MTU; /* one a packet */
	return rig_create_on(mini, QP_RC, LINK_INFINIBAND, MTU);
}

/* Returns how many of the 8 packets of a response found no buffer and waited. */
static uint32_t responses_waited(uint64_t buffers)
{
	struct rig rig = rig_with(buffers, 128);
	uint32_t stalls;

	mini_fill(rig.other, rig.target, PACKETS * MTU, 7);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
					      .address = rig.source,
					      .length = PACKETS * MTU,
					      .remote = rig.target});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.one, rig.source, PACKETS * MTU, 7));
	stalls = rig_count(&rig, "transport", "response_stalls");
	rig_destroy(&rig);
	return stalls;
}

static void test_response_buffers(void)
{
	CU_ASSERT_EQUAL(responses_waited(1), 7);
	CU_ASSERT_EQUAL(responses_waited(2), 6);
	CU_ASSERT_EQUAL(responses_waited(PACKETS), 0);
}

static uint32_t requests_waited(uint64_t buffers)
{
	struct rig rig = rig_with(128, buffers);
	uint32_t stalls;

	mini_fill(rig.one, rig.source, PACKETS * MTU, 9);
	rig_post(&rig, WQE_WRITE, PACKETS * MTU);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, PACKETS * MTU, 9));
	stalls = rig_count_other(&rig, "transport", "scatter_stalls");
	rig_destroy(&rig);
	return stalls;
}

static void test_scatter_buffers(void)
{
	CU_ASSERT_EQUAL(requests_waited(1), 7);
	CU_ASSERT_EQUAL(requests_waited(2), 6);
	CU_ASSERT_EQUAL(requests_waited(PACKETS), 0);
}
