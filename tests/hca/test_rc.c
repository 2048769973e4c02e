/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that RC operations of each kind move the right bytes and complete with the right CQEs.
 * Covers sizes near the limits of packets and segments, on both link layers.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/mini_driver.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                      \
	TEST(every_size_over_infiniband) \
	TEST(every_size_over_roce)
SUITE(TESTS)

static const uint32_t sizes[] = {0,    1,    2,    4,    63,   64,    255,   256,   257,
				 1024, 4095, 4096, 4097, 8192, 12289, 65536, 70000, 1 << 20};
static const uint32_t mtus[] = {256, 1024, 4096};

static void check_sent(struct mini_wc wc, const struct mini_qp *qp, unsigned wqe_opcode)
{
	CU_ASSERT_EQUAL(wc.opcode, CQE_SENT);
	CU_ASSERT_EQUAL(wc.qpn, qp->number);
	CU_ASSERT_EQUAL(wc.user_index, 0x1234);
	CU_ASSERT_EQUAL(wc.wqe_opcode, wqe_opcode);
}

static void transfer_all(enum link_layer link_layer, uint32_t mtu)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_host *one = &mini->hosts[0], *other = &mini->hosts[1];

	mini_start(mini, link_layer);

	struct mini_qp *qp = mini_qp_create(one, QP_RC), *peer = mini_qp_create(other, QP_RC);
	uint64_t source = mini_alloc(one, 1 << 20), target = mini_alloc(other, 1 << 20);
	uint32_t bytes = 0;

	mini_connect(qp, peer, mtu);
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		uint32_t size = sizes[i];
		struct mini_wc wc;

		mini_fill(one, source, size, i);
		mini_post(qp, &(struct mini_send){.opcode = WQE_WRITE,
						  .address = source,
						  .length = size,
						  .remote = target});
		check_sent(mini_wait(qp->send_cq), qp, WQE_WRITE);
		mini_run(mini);
		CU_ASSERT_TRUE(mini_matches(other, target, size, i));

		mini_fill(one, source, size, i + 100);
		mini_receive(peer, target, size);
		mini_post(qp, &(struct mini_send){.opcode = WQE_SEND_IMMEDIATE,
						  .address = source,
						  .length = size,
						  .immediate = 0xaabbcc00 + i,
						  .blueflame = true});
		wc = mini_wait(peer->recv_cq);
		CU_ASSERT_EQUAL(wc.opcode, CQE_RECEIVED_SEND_IMMEDIATE);
		CU_ASSERT_EQUAL(wc.byte_count, size);
		CU_ASSERT_EQUAL(wc.immediate, 0xaabbcc00 + i);
		CU_ASSERT_TRUE(mini_matches(other, target, size, i + 100));
		check_sent(mini_wait(qp->send_cq), qp, WQE_SEND_IMMEDIATE);

		mini_fill(other, target, size, i + 200);
		mini_post(qp, &(struct mini_send){.opcode = WQE_READ,
						  .address = source,
						  .length = size,
						  .remote = target});
		wc = mini_wait(qp->send_cq);
		check_sent(wc, qp, WQE_READ);
		CU_ASSERT_EQUAL(wc.byte_count, size);
		CU_ASSERT_TRUE(mini_matches(one, source, size, i + 200));

		mini_receive(peer, 0, 0);
		mini_fill(one, source, size, i + 50);
		mini_post(qp, &(struct mini_send){.opcode = WQE_WRITE_IMMEDIATE,
						  .address = source,
						  .length = size,
						  .remote = target,
						  .immediate = i});
		wc = mini_wait(peer->recv_cq);
		CU_ASSERT_EQUAL(wc.opcode, CQE_RECEIVED_WRITE_IMMEDIATE);
		CU_ASSERT_EQUAL(wc.byte_count, size);
		CU_ASSERT_EQUAL(wc.immediate, i);
		CU_ASSERT_TRUE(mini_matches(other, target, size, i + 50));
		check_sent(mini_wait(qp->send_cq), qp, WQE_WRITE_IMMEDIATE);
		bytes += size;
	}
	mini_run(mini);
	/* three requests of each size there, one response of it back */
	CU_ASSERT_EQUAL(mini_block_count(one, "transmit", "payload_bytes"), 3 * bytes);
	CU_ASSERT_EQUAL(mini_block_count(other, "receive", "payload_bytes"), 3 * bytes);
	CU_ASSERT_EQUAL(mini_block_count(other, "transmit", "payload_bytes"), bytes);
	CU_ASSERT_EQUAL(mini_block_count(one, "receive", "payload_bytes"), bytes);
	CU_ASSERT_EQUAL(mini_block_count(one, "transport", "packets_retransmitted"), 0);
	mini_qp_destroy(qp);
	mini_qp_destroy(peer);
	mini_destroy(mini);
}

static void test_every_size_over_infiniband(void)
{
	for (unsigned i = 0; i < ARRAY_SIZE(mtus); i++)
		transfer_all(LINK_INFINIBAND, mtus[i]);
}

static void test_every_size_over_roce(void)
{
	transfer_all(LINK_ETHERNET, 1024);
}
