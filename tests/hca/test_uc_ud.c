/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests UC: messages with a gap are dropped as a whole, and there are no responses. Tests UD: the
 * 40 bytes of the GRH, Q_Key, source, unreachable addresses, lengths.
 */
#include "fabric/wire/bytes.h"
#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(uc_of_every_size)                  \
	TEST(uc_completes_when_its_data_is_out) \
	TEST(uc_drops_a_message_with_a_gap)     \
	TEST(uc_without_a_receive_wqe)          \
	TEST(ud_over_infiniband)                \
	TEST(ud_over_roce)                      \
	TEST(ud_drops)                          \
	TEST(ud_longer_than_a_packet)
SUITE(TESTS)

#define QKEY 0x11111111

static void test_uc_of_every_size(void)
{
	static const uint32_t sizes[] = {0, 1, 1024, 1025, 4096, 10000, 1 << 20};
	struct rig rig = rig_create(QP_UC, 1024);

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		mini_fill(rig.one, rig.source, sizes[i], i);
		rig_post(&rig, WQE_WRITE, sizes[i]);
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		mini_run(rig.mini);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, sizes[i], i));
		mini_receive(rig.peer, rig.target, sizes[i]);
		mini_fill(rig.one, rig.source, sizes[i], i + 9);
		rig_post(&rig, WQE_SEND, sizes[i]);
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		CU_ASSERT_EQUAL(mini_wait(rig.peer->recv_cq).byte_count, sizes[i]);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, sizes[i], i + 9));
	}
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "acks_sent"), 0);
	rig_destroy(&rig);
}

static void test_uc_drops_a_message_with_a_gap(void)
{
	struct rig rig = rig_create(QP_UC, 1024);
	struct mini_wc wc;

	rig_drop(&rig, false, UC_SEND_MIDDLE, 2, 0);
	mini_receive(rig.peer, rig.target, 8192);
	mini_receive(rig.peer, rig.target, 8192);
	for (unsigned i = 0; i < 3; i++) {
		mini_fill(rig.one, rig.source, 8192, i);
		rig_post(&rig, WQE_SEND, 8192);
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		mini_run(rig.mini);
	}
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND,
		 0); /* the 2nd, into the 1st WQE */
	wc = mini_wait(rig.peer->recv_cq);
	CHECK_WC(wc, CQE_RECEIVED_SEND, 0);
	CU_ASSERT_EQUAL(wc.wqe_counter, 1);
	mini_run(rig.mini);
	CU_ASSERT_FALSE(mini_poll(rig.peer->recv_cq, &wc));
	CU_ASSERT_TRUE(mini_matches(rig.other, rig.target, 8192, 2));
	/* of 8 packets the third is lost, and the following packets are dropped */
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "unreliable_drops"), 5);
	rig_destroy(&rig);
}

static void test_uc_without_a_receive_wqe(void)
{
	struct rig rig = rig_create(QP_UC, 1024);

	rig_post(&rig, WQE_SEND, 4000);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "no_receive_wqe"), 1);
	mini_receive(rig.peer, rig.target, 4000);
	rig_post(&rig, WQE_SEND, 4000);
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND, 0);
	rig_destroy(&rig);
}

static void make_vector(uint8_t vector[48], const struct mini_qp *to, uint32_t qkey, uint16_t lid)
{
	for (unsigned i = 0; i < 48; i++)
		vector[i] = 0;
	be32_put(vector, qkey);
	be32_put(vector + 8, to->number | UINT32_C(0x80000000));
	be16_put(vector + 14, lid);
}

static void send_datagram(struct rig *rig, uint32_t length, uint32_t qkey, uint16_t lid)
{
	uint8_t vector[48];

	make_vector(vector, rig->peer, qkey, lid);
	mini_post(rig->qp, &(struct mini_send){.opcode = WQE_SEND_IMMEDIATE,
					       .address = rig->source,
					       .length = length,
					       .immediate = 0xdeadbeef,
					       .vector = vector});
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	mini_run(rig->mini);
}

static void test_ud(enum link_layer link_layer, unsigned header)
{
	static const uint32_t sizes[] = {0, 1, 100, 4096};
	struct rig rig = rig_create_with(SIM_ENGINE_native, QP_UD, link_layer, 4096);

	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct mini_wc wc;

		mini_fill(rig.one, rig.source, sizes[i], i);
		mini_receive(rig.peer, rig.target, 40 + 4096);
		send_datagram(&rig, sizes[i], QKEY, 1);
		wc = mini_wait(rig.peer->recv_cq);
		CHECK_WC(wc, CQE_RECEIVED_SEND_IMMEDIATE, 0);
		CU_ASSERT_EQUAL(wc.byte_count, 40 + sizes[i]);
		CU_ASSERT_EQUAL(wc.immediate, 0xdeadbeef);
		CU_ASSERT_EQUAL(wc.source_qp, rig.qp->number);
		CU_ASSERT_EQUAL(wc.flags >> 4 & 3, header);
		CU_ASSERT_TRUE(mini_matches(rig.other, rig.target + 40, sizes[i], i));
	}
	rig_destroy(&rig);
}

static void test_ud_over_infiniband(void)
{
	test_ud(LINK_INFINIBAND, 0);
}

static void test_ud_over_roce(void)
{
	uint8_t area[40];
	struct rig rig = rig_create_with(SIM_ENGINE_native, QP_UD, LINK_ETHERNET, 4096);

	mini_receive(rig.peer, rig.target, 200);
	send_datagram(&rig, 100, QKEY, 1);
	CU_ASSERT_TRUE(memory_read(rig.other->memory, rig.target, area, 40));
	CU_ASSERT_EQUAL(area[20], 0x45);
	CU_ASSERT_EQUAL(be16_get(area + 22), 20 + 8 + 12 + 8 + 4 + 100 + 4);
	CU_ASSERT_EQUAL(area[29], 17);
	CU_ASSERT_EQUAL(be32_get(area + 32), 0x0a000001);
	CU_ASSERT_EQUAL(be32_get(area + 36), 0x0a000002);
	rig_destroy(&rig);
	test_ud(LINK_ETHERNET, 2);
}

static void test_ud_drops(void)
{
	struct rig rig = rig_create(QP_UD, 4096);
	struct mini_wc wc;

	send_datagram(&rig, 100, QKEY, 1); /* no receive WQE */
	CU_ASSERT_EQUAL(rig_count_other(&rig, "transport", "no_receive_wqe"), 1);
	mini_receive(rig.peer, rig.target, 200);
	send_datagram(&rig, 100, QKEY + 1, 1);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive", "qkey_violations"), 1);
	send_datagram(&rig, 100, 0x80000000, 1); /* the QP's own */
	CHECK_WC(mini_wait(rig.peer->recv_cq), CQE_RECEIVED_SEND_IMMEDIATE, 0);
	send_datagram(&rig, 100, QKEY, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "ud_unreachable"), 1);
	mini_receive(rig.peer, rig.target, 139);
	send_datagram(&rig, 100, QKEY, 1);
	wc = mini_wait(rig.peer->recv_cq);
	CHECK_WC(wc, CQE_RECEIVE_ERROR, 0x01);
	rig_destroy(&rig);
}

static void test_ud_longer_than_a_packet(void)
{
	struct rig rig = rig_create(QP_UD, 4096);
	uint8_t vector[48];

	make_vector(vector, rig.peer, QKEY, 1);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_SEND,
					      .address = rig.source,
					      .length = 4097,
					      .vector = vector});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SEND_ERROR, 0x01);
	rig_destroy(&rig);
}

/* Completions come no faster than the link carries the data: the rate of 1 MiB messages stays below
 * the header ceiling. The first is not complete before its last bit has left. */
static void test_uc_completes_when_its_data_is_out(void)
{
	enum { MESSAGES = 8, BYTES = 1 << 20, MTU = 4096, HEADER = 26 };
	struct rig rig = rig_create(QP_UC, MTU);
	sim_time of_one = (sim_time)(BYTES / MTU) * (MTU + HEADER) * 80; /* ps a byte at EDR */
	sim_time start;

	rig_post(&rig, WQE_WRITE, 64);
	mini_wait(rig.qp->send_cq);
	mini_run(rig.mini);
	start = sim_now(rig.mini->sim);
	for (unsigned i = 0; i < MESSAGES; i++)
		rig_post(&rig, WQE_WRITE, BYTES);
	for (unsigned i = 1; i <= MESSAGES; i++) {
		CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
		CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start > i * of_one);
		CU_ASSERT_TRUE(sim_now(rig.mini->sim) - start < i * of_one + 5 * US);
	}
	rig_destroy(&rig);
}
