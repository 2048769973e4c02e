/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that invalid operations fail at the right end with the right status, flush the following
 * work requests, and are reported to the driver. Covers local and remote protection, lengths,
 * opcodes and limits.
 */
#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                               \
	TEST(remote_access)                       \
	TEST(operation_not_enabled)               \
	TEST(local_key)                           \
	TEST(longer_than_the_receive_wqe)         \
	TEST(receive_wqe_that_may_not_be_written) \
	TEST(opcode_of_another_transport)         \
	TEST(atomic_of_a_wrong_length)            \
	TEST(modify_to_err_flushes_both_queues)   \
	TEST(receive_wqes_posted_in_err)          \
	TEST(receive_posted_by_a_program_in_err)  \
	TEST(longer_than_a_message)               \
	TEST(reset_and_again)                     \
	TEST(destroyed_with_work_under_way)
SUITE(TESTS)

static uint32_t make_key(struct mini_host *host, uint32_t access, uint64_t address, uint64_t length,
			 uint32_t pd)
{
	uint32_t key = 0;
	int error = hca_mr_create(host->adapter,
				  &(struct mr){.pd = pd,
					       .access = access,
					       .page_shift = 12,
					       .memory = host->memory,
					       .address = address,
					       .host_address = address,
					       .length = length,
					       .valid = true},
				  &key);

	CU_ASSERT_EQUAL_FATAL(error, 0);
	return key;
}

static void expect_flush(struct rig *rig, struct mini_wc first, unsigned syndrome)
{
	CHECK_WC(first, CQE_SEND_ERROR, syndrome);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SEND_ERROR, 0x05);
}

static void check_remote(uint8_t opcode, uint32_t access, uint64_t offset, uint32_t pd,
			 unsigned syndrome)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = make_key(rig.other, access, rig.target, 4096, pd);
	uint32_t length = opcode == WQE_FETCH_ADD ? 8 : 2048;

	mini_put_u64(rig.other, rig.target + offset, 77);
	mini_post(rig.qp, &(struct mini_send){.opcode = opcode,
					      .address = rig.source,
					      .length = length,
					      .remote = rig.target + offset,
					      .rkey = key});
	rig_post(&rig, WQE_WRITE, 100);
	expect_flush(&rig, mini_wait(rig.qp->send_cq), syndrome);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count(&rig, "completion", "errors"), 2);
	CU_ASSERT_EQUAL(rig.other->async_count, 1);
	CU_ASSERT_EQUAL(rig.other->asyncs[0].what,
			syndrome == 0x13 ? ASYNC_QP_ACCESS_ERROR : ASYNC_QP_REQUEST_ERROR);
	CU_ASSERT_EQUAL(rig.other->asyncs[0].number, rig.peer->number);
	CU_ASSERT_EQUAL(mini_u64(rig.other, rig.target + offset), 77);
	rig_destroy(&rig);
}

static void test_remote_access(void)
{
	uint32_t all = MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC;

	check_remote(WQE_WRITE, all & ~(uint32_t)MR_REMOTE_WRITE, 0, PD, 0x13);
	check_remote(WQE_READ, all & ~(uint32_t)MR_REMOTE_READ, 0, PD, 0x13);
	check_remote(WQE_FETCH_ADD, all & ~(uint32_t)MR_REMOTE_ATOMIC, 0, PD, 0x13);
	check_remote(WQE_WRITE, all, 2049, PD, 0x13);
	check_remote(WQE_WRITE, all, 0, PD + 1, 0x13);
	check_remote(WQE_READ, all, 0, PD + 1, 0x13);
	check_remote(WQE_FETCH_ADD, all, 4, PD, 0x12); /* misaligned */
}

static void test_operation_not_enabled(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct hca_qp_state state = {.mask = QP_SET_ACCESS, .access = MR_REMOTE_READ};

	hca_qp_modify(rig.other->adapter, rig.peer->number, &state);
	rig_post(&rig, WQE_WRITE, 5000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x12);
	rig_destroy(&rig);
}

static void test_local_key(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = make_key(rig.one, 0, rig.source, 4096, PD);

	rig_post(&rig, WQE_WRITE, 5000); /* goes well, before */
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = 4097,
					      .key = key,
					      .remote = rig.target});
	rig_post(&rig, WQE_WRITE, 5000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	expect_flush(&rig, mini_wait(rig.qp->send_cq), 0x04);
	rig_destroy(&rig);

	rig = rig_create(QP_RC, 1024); /* the response may not be written there */
	key = make_key(rig.one, 0, rig.source, 4096, PD);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
					      .address = rig.source,
					      .length = 100,
					      .key = key,
					      .remote = rig.target});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x04);
	rig_destroy(&rig);
}

static void test_longer_than_the_receive_wqe(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	mini_receive(rig.peer, rig.target, 1500);
	mini_receive(rig.peer, rig.target, 1500);
	rig_post(&rig, WQE_SEND, 1501);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x12);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVE_ERROR, 0x01);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVE_ERROR, 0x05);
	rig_destroy(&rig);
}

static void test_receive_wqe_that_may_not_be_written(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	uint32_t key = make_key(rig.other, MR_REMOTE_WRITE, rig.target, 4096, PD);

	mini_receive_key(rig.peer, rig.target, 1500, key);
	rig_post(&rig, WQE_SEND, 1500);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x14);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVE_ERROR, 0x04);
	rig_destroy(&rig);
}

static void test_opcode_of_another_transport(void)
{
	struct rig rig = rig_create(QP_UC, 1024);

	rig_post(&rig, WQE_READ, 8);
	rig_post(&rig, WQE_WRITE, 8);
	expect_flush(&rig, mini_wait(rig.qp->send_cq), 0x02);
	rig_destroy(&rig);
}

static void test_atomic_of_a_wrong_length(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	rig_post(&rig, WQE_FETCH_ADD, 4);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x01);
	rig_destroy(&rig);
}

static void test_modify_to_err_flushes_both_queues(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	struct mini_wc wc;
	unsigned count = 0;

	for (unsigned i = 0; i < 40; i++)
		mini_receive(rig.qp, rig.source, 64);
	for (unsigned i = 0; i < 20; i++)
		rig_post(&rig, WQE_SEND, 64); /* nobody receives: RNR */
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 5 * US);
	mini_to(rig.qp, STATE_ERR);
	mini_run(rig.mini);
	while (mini_poll(rig.qp->send_cq, &wc)) {
		CHECK_WC(wc, CQE_SEND_ERROR, 0x05);
		CU_ASSERT_EQUAL(wc.wqe_counter, count++);
	}
	CU_ASSERT_EQUAL(count, 20);
	for (count = 0; mini_poll(rig.qp->recv_cq, &wc);) {
		CHECK_WC(wc, CQE_RECEIVE_ERROR, 0x05);
		CU_ASSERT_EQUAL(wc.wqe_counter, count++);
	}
	CU_ASSERT_EQUAL(count, 40);
	rig_post(&rig, WQE_SEND, 64); /* is flushed as well */
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x05);
	rig_destroy(&rig);
}

/* Receive WQEs posted to a queue pair in ERR without a doorbell are flushed within the interval of
 * record checks. This holds for any number of WQEs, also after a long time without any. */
static void test_receive_wqes_posted_in_err(void)
{
	struct rig rig = rig_create(QP_RC, 1024);
	unsigned posted = 0;
	sim_time start;

	mini_to(rig.qp, STATE_ERR);
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 5 * US);
	for (unsigned round = 1; round <= 3; round++) {
		start = sim_now(rig.mini->sim);
		for (unsigned i = 0; i < round; i++, posted++)
			mini_receive(rig.qp, rig.source, 64);
		for (unsigned i = 0; i < round; i++) {
			struct mini_wc wc = mini_wait(rig.qp->recv_cq);

			CHECK_WC(wc, CQE_RECEIVE_ERROR, 0x05);
			CU_ASSERT_EQUAL(wc.wqe_counter, posted - round + i);
		}
		CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start < (round == 1 ? 9 * US : 900 * US));
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 400 * US);
	}
	rig_destroy(&rig);
}

/* Whenever that is: the adapter looks behind each turn of a program, by its clock. */
static void test_receive_posted_by_a_program_in_err(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	mini_to(rig.qp, STATE_ERR);
	mini_run(rig.mini); /* all looks in vain are over */
	for (unsigned round = 0; round < 5; round++) {
		sim_time posted_at = sim_now(rig.mini->sim) + (round == 4 ? 3 * US : 0);
		sim_time took;

		mini_receive(rig.qp, rig.source, 64);
		hca_host_ran(rig.one->adapter, posted_at);
		CHECK_WC(mini_wait(rig.qp->recv_cq), CQE_RECEIVE_ERROR, 0x05);
		took = sim_now(rig.mini->sim) - posted_at;
		/* error_poll, two reads (record, context of the CQ), the CQE */
		CU_ASSERT(took < 2500 * NS);
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + round * 123 * US);
	}
	mini_to(rig.qp, STATE_RESET);
	hca_host_ran(rig.one->adapter, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "receives_flushed"), 5);
	rig_destroy(&rig);
}

/* A message has at most max_msg_sz, 2^30 bytes. */
static void test_longer_than_a_message(void)
{
	struct rig rig = rig_create(QP_RC, 4096);

	rig_post(&rig, WQE_WRITE, (UINT32_C(1) << 30) + 1);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x01);
	CU_ASSERT_EQUAL(rig_count(&rig, "transmit", "packets"), 0);
	rig_destroy(&rig);
}

static void test_reset_and_again(void)
{
	struct rig rig = rig_create(QP_RC, 1024);

	for (unsigned i = 0; i < 10; i++)
		rig_post(&rig, WQE_WRITE, 60000);
	sim_run(rig.mini->sim, sim_now(rig.mini->sim) + 7 * US);
	mini_to(rig.qp, STATE_RESET);
	mini_to(rig.peer, STATE_RESET);
	mini_run(rig.mini);
	rig.qp->sq_post = rig.qp->rq_post = rig.peer->rq_post = 0;
	while (mini_poll(rig.qp->send_cq, &(struct mini_wc){0}))
		;
	mini_connect(rig.qp, rig.peer, 2048);
	mini_fill(rig.one, rig.source, 60000, 5);
	rig_post(&rig, WQE_WRITE, 60000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 60000, 5));
	rig_destroy(&rig);
}

static void test_destroyed_with_work_under_way(void)
{
	for (unsigned delay = 0; delay < 12; delay++) {
		struct rig rig = rig_create(QP_RC, 1024);

		mini_receive(rig.peer, rig.target, 60000);
		for (unsigned i = 0; i < 5; i++)
			rig_post(&rig, i % 2 ? WQE_READ : WQE_WRITE, 60000);
		rig_post(&rig, WQE_SEND, 60000);
		sim_run(rig.mini->sim, sim_now(rig.mini->sim) + delay * 1000 * NS + 7 * NS);
		mini_qp_destroy(delay % 2 ? rig.peer : rig.qp);
		mini_run(rig.mini);
		if (delay % 2)
			rig.peer = mini_qp_create(rig.other, QP_RC);
		else
			rig.qp = mini_qp_create(rig.one, QP_RC);
		rig_destroy(&rig);
	}
}
