/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the counts and codes that end or extend a request: separate RNR retries for each message,
 * the timer of each RNR code. Also the agreed number of READs at a responder.
 */
#include "fabric/wire/aeth.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)              \
	TEST(rnr_timers)         \
	TEST(rnr_retries_refill) \
	TEST(reads_at_a_responder)
SUITE(TESTS)

/* IBTA vol. 1, table 45, gives the milliseconds of each code. */
static void test_rnr_timers(void)
{
	static const double expected[32] = {
		655.36, 0.01,  0.02,  0.03,  0.04,  0.06,   0.08,   0.12,   0.16,   0.24,   0.32,
		0.48,   0.64,  0.96,  1.28,  1.92,  2.56,   3.84,   5.12,   7.68,   10.24,  15.36,
		20.48,  30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
	};

	for (uint8_t code = 0; code < 32; code++)
		CU_ASSERT_EQUAL(aeth_rnr_delay(code),
				(sim_time)(expected[code] * 100 + 0.5) * 10 * US);
}

/* Each message has one retry. Two messages that are refused once arrive. A message that is refused
 * twice does not. */
static void test_rnr_retries_refill(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca_qp_state state = mini_state(rig.one, 1024);

	mini_to(rig.qp, STATE_RESET);
	state.rnr_retry = 1;
	mini_connect_with(rig.qp, state, rig.peer->number);
	for (unsigned i = 1; i <= 3; i++) {
		rig_post(&rig, WQE_SEND, 64);
		while (rig_count(&rig, "transport", "rnr_nak_received") < i)
			sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
		if (i == 3)
			break;
		mini_receive(rig.peer, rig.target, 64);
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	}
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x16);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "rnr_nak_received"), 4);
	rig_destroy(&rig);
}

/* The requester may have `reads` outstanding READs. The responder accepts four. */
static struct mini_wc read_many(uint8_t reads)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca_qp_state state = mini_state(rig.one, 1024);
	struct mini_wc wc;

	mini_to(rig.qp, STATE_RESET);
	state.max_rd_atomic = reads;
	mini_connect_with(rig.qp, state, rig.peer->number);
	for (unsigned i = 0; i < reads; i++)
		rig_post(&rig, WQE_READ, 65536);
	for (unsigned i = 0; i < reads; i++) {
		wc = mini_wait(rig.qp->send_cq);
		if (wc.opcode == CQE_SEND_ERROR)
			break;
	}
	mini_run(rig.mini);
	rig_destroy(&rig);
	return wc;
}

static void test_reads_at_a_responder(void)
{
	struct mini_wc wc = read_many(4);

	CU_ASSERT_EQUAL(wc.opcode, CQE_SENT);
	wc = read_many(5);
	CHECK_WC(wc, CQE_SEND_ERROR, 0x12); /* invalid request */
}
