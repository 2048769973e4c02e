/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the largest value of each attribute of a queue pair, on both sides. A refused modification
 * changes nothing. PSNs have 24 bits.
 */
#include <errno.h>

#include "hca/transport/qp.h"
#include "tests/kernel/support/machine.h"
#include "tests/support/suite.h"
#include "verbs-shim/kernel/qp_transition.h"

#define TESTS(TEST)    \
	TEST(greatest) \
	TEST(undone)   \
	TEST(psn_bits) \
	TEST(half_of_xrc)
SUITE(TESTS)

#define A(name) ATTRIBUTE_##name

static struct machine *machine;
static uint32_t pd, cq, qp, qpn;

static void begin(void)
{
	machine = machine_create(LINK_INFINIBAND);
	machine_open(machine, &machine->process, true);
	pd = make_pd(machine);
	cq = make_cq(machine, -1, 1, NULL);
	qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, &qpn);
}

static int64_t modify(struct ib_uverbs_modify_qp request)
{
	request.qp_handle = qp;
	return RUN_QUIET(machine, IB_USER_VERBS_CMD_MODIFY_QP, request);
}

static struct hca_qp_state state_now(void)
{
	struct hca_qp_state state;

	CU_ASSERT_EQUAL(hca_qp_query(machine->adapter, qpn, &state), 0);
	return state;
}

/* Brings a queue pair to RTS, with these values in the transitions to RTR and RTS. Returns the
 * error of the transition that fails, or 0. */
static int64_t connect(uint8_t timeout, uint8_t retry, uint8_t rnr_retry, uint8_t timer,
		       uint8_t reads, uint8_t reads_there, uint32_t psn)
{
	int64_t error = qp_to_init(machine, qp, IB_UVERBS_QPT_RC);
	struct ib_uverbs_modify_qp rtr = {
		.attr_mask = A(STATE) | A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN) |
			     A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
		.qp_state = STATE_RTR,
		.dest = {.dlid = 2, .port_num = 1},
		.path_mtu = 3,
		.rq_psn = psn,
		.max_dest_rd_atomic = reads_there,
		.min_rnr_timer = timer,
	};
	struct ib_uverbs_modify_qp rts = {
		.attr_mask = A(STATE) | A(TIMEOUT) | A(RETRY_CNT) | A(RNR_RETRY) | A(SQ_PSN) |
			     A(MAX_QP_RD_ATOMIC),
		.qp_state = STATE_RTS,
		.timeout = timeout,
		.retry_cnt = retry,
		.rnr_retry = rnr_retry,
		.sq_psn = psn,
		.max_rd_atomic = reads,
	};

	if (!error)
		error = modify(rtr);
	if (!error)
		error = modify(rts);
	return error;
}

static void check(int64_t expected, uint8_t timeout, uint8_t retry, uint8_t rnr_retry,
		  uint8_t timer, uint8_t reads, uint8_t reads_there)
{
	begin();
	CU_ASSERT_EQUAL(connect(timeout, retry, rnr_retry, timer, reads, reads_there, 0), expected);
	machine_destroy(machine);
}

static void test_greatest(void)
{
	check(0, 31, 7, 7, 31, 16, 16);
	check(-EINVAL, 32, 7, 7, 31, 16, 16);
	check(-EINVAL, 31, 8, 7, 31, 16, 16);
	check(-EINVAL, 31, 7, 8, 31, 16, 16);
	check(-EINVAL, 31, 7, 7, 32, 16, 16);
	check(-EINVAL, 31, 7, 7, 31, 17, 16);
	check(-EINVAL, 31, 7, 7, 31, 16, 17);
}

/* An unknown GID: a query still returns the path that was resolved before. */
static void test_undone(void)
{
	struct ib_uverbs_query_qp query;
	struct ib_uverbs_query_qp_resp response;
	struct ib_uverbs_modify_qp rtr = {
		.attr_mask = A(STATE) | A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN) |
			     A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER),
		.qp_state = STATE_RTR,
		.dest = {.dgid = {0x20}, .is_global = 1, .sgid_index = 2, .port_num = 1},
		.path_mtu = 3,
		.rq_psn = 5,
	};

	machine = machine_create(LINK_ETHERNET);
	machine_open(machine, &machine->process, true);
	pd = make_pd(machine);
	cq = make_cq(machine, -1, 1, NULL);
	qp = make_qp(machine, pd, cq, IB_UVERBS_QPT_RC, &qpn);
	CU_ASSERT_EQUAL(qp_to_init(machine, qp, IB_UVERBS_QPT_RC), 0);
	CU_ASSERT_EQUAL(modify(rtr), -EHOSTUNREACH);
	query = (struct ib_uverbs_query_qp){.qp_handle = qp, .attr_mask = A(RQ_PSN)};
	CU_ASSERT_EQUAL(RUN(machine, IB_USER_VERBS_CMD_QUERY_QP, query, response), 0);
	CU_ASSERT_EQUAL(response.rq_psn, 0);
	CU_ASSERT_EQUAL(response.path_mtu, 0);
	CU_ASSERT_EQUAL(state_now().state, STATE_INIT);
	machine_destroy(machine);
}

static void test_psn_bits(void)
{
	begin();
	CU_ASSERT_EQUAL(connect(14, 7, 7, 12, 1, 1, 0x12345678), 0);
	CU_ASSERT_EQUAL(state_now().sq_psn, 0x345678);
	CU_ASSERT_EQUAL(state_now().rq_psn, 0x345678);
	machine_destroy(machine);
}

/* Attributes without use for a half of a connection are accepted from programs, and their values
 * are ignored. */
static void test_half_of_xrc(void)
{
	const uint32_t rtr = A(STATE) | A(AV) | A(PATH_MTU) | A(DEST_QPN) | A(RQ_PSN);
	uint32_t extra = A(MAX_DEST_RD_ATOMIC) | A(MIN_RNR_TIMER);

	CU_ASSERT_TRUE(qp_transition_allowed(STATE_INIT, STATE_RTR, QP_XRC_INI, rtr));
	CU_ASSERT_FALSE(qp_transition_allowed(STATE_INIT, STATE_RTR, QP_XRC_INI, rtr | extra));
}
