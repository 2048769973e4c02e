/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests multi-packet receive WQEs of datagram QPs: the place of packets, and the strides that CQEs
 * report. A packet that does not fit after the last one leaves the rest empty. One WQE is read
 * instead of one per packet.
 */
#include <errno.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "hca/work/receive_queue.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)         \
	TEST(strides)       \
	TEST(reads_of_wqes) \
	TEST(too_long)      \
	TEST(flush)         \
	TEST(refused)
SUITE(TESTS)

enum { STRIDES = 8, STRIDE = 256, GRH = 40, AREA = STRIDES * STRIDE, SEED = 3, QKEY = 0x11111111 };

struct pair {
	struct mini *mini;
	struct mini_qp *sender, *receiver;
	struct mini_cq cq; /* of the received data */
	uint64_t source, target;
	uint8_t vector[48];
};

static struct pair pair_create(uint32_t strides)
{
	struct pair pair = {.mini = mini_create(SIM_ENGINE_native)};
	struct hca_qp_attr attr = {.type = QP_UD,
				   .sq_blocks = 64,
				   .rq_entries = 64,
				   .packet_strides = strides,
				   .packet_stride_bytes = STRIDE};
	struct mini_host *host;

	mini_start(pair.mini, LINK_INFINIBAND);
	host = &pair.mini->hosts[1];
	pair.cq = mini_cq_create(host, 256, 64);
	attr.recv_cqn = pair.cq.number;
	pair.sender = mini_qp_create(&pair.mini->hosts[0], QP_UD);
	pair.receiver = mini_qp_create_with(host, attr);
	pair.source = mini_alloc(&pair.mini->hosts[0], 4096);
	pair.target = mini_alloc(host, 4 * AREA);
	mini_connect(pair.sender, pair.receiver, 4096);
	be32_put(pair.vector, QKEY);
	be32_put(pair.vector + 8, pair.receiver->number | UINT32_C(0x80000000));
	be16_put(pair.vector + 14, 2);
	return pair;
}

static void pair_destroy(struct pair *pair)
{
	mini_run(pair->mini);
	mini_qp_destroy(pair->sender);
	mini_qp_destroy(pair->receiver);
	mini_run(pair->mini);
	mini_destroy(pair->mini);
}

static void send(struct pair *pair, uint32_t length, uint32_t seed)
{
	mini_fill(&pair->mini->hosts[0], pair->source, length, seed);
	mini_post(pair->sender, &(struct mini_send){.opcode = WQE_SEND,
						    .address = pair->source,
						    .length = length,
						    .vector = pair->vector});
	CHECK_WC(mini_wait(pair->sender->send_cq), CQE_SENT, 0);
	mini_run(pair->mini);
}

/* Checks the next CQE: its WQE, its first stride, its number of strides, and the bytes of its
 * packet. 0 bytes: no packet. */
static void check(struct pair *pair, unsigned wqe, unsigned first, unsigned strides, uint32_t bytes,
		  uint32_t seed)
{
	uint64_t at = pair->cq.buffer + (uint64_t)(pair->cq.consumer & 255) * CQE_BYTES;
	uint8_t cqe[CQE_BYTES];
	struct mini_wc wc;

	CU_ASSERT_TRUE(memory_read(pair->cq.host->memory, at, cqe, sizeof(cqe)));
	CU_ASSERT_TRUE_FATAL(mini_poll(&pair->cq, &wc));
	CU_ASSERT_EQUAL(wc.opcode, CQE_RECEIVED_SEND);
	CU_ASSERT_EQUAL(be16_get(cqe + 2), wqe);
	CU_ASSERT_EQUAL(wc.wqe_counter, first);
	CU_ASSERT_EQUAL(wc.byte_count,
			(bytes ? 0 : CQE_FILLER) | strides << CQE_STRIDES_SHIFT | bytes);
	if (bytes)
		CU_ASSERT_TRUE(mini_matches(pair->cq.host,
					    pair->target + wqe * AREA + first * STRIDE + GRH,
					    bytes - GRH, seed));
}

static const struct receive_queue_counters *counters(const struct pair *pair)
{
	return receive_queues_counters(pair->mini->hosts[1].adapter->receive_queues);
}

static void test_strides(void)
{
	struct pair pair = pair_create(STRIDES);
	struct mini_wc wc;

	for (unsigned i = 0; i < 4; i++)
		mini_receive(pair.receiver, pair.target + i * AREA, AREA);
	send(&pair, 1, SEED);
	send(&pair, STRIDE - GRH, SEED + 1);     /* fills one */
	send(&pair, STRIDE - GRH + 1, SEED + 2); /* takes two */
	send(&pair, 4 * STRIDE - GRH, SEED + 3); /* takes the other four */
	send(&pair, 5 * STRIDE - GRH, SEED + 4);
	send(&pair, 4 * STRIDE - GRH, SEED + 5); /* of three left, none fits */
	check(&pair, 0, 0, 1, 1 + GRH, SEED);
	check(&pair, 0, 1, 1, STRIDE, SEED + 1);
	check(&pair, 0, 2, 2, STRIDE + 1, SEED + 2);
	check(&pair, 0, 4, 4, 4 * STRIDE, SEED + 3);
	check(&pair, 1, 0, 5, 5 * STRIDE, SEED + 4);
	check(&pair, 1, 5, 3, 0, 0);
	check(&pair, 2, 0, 4, 4 * STRIDE, SEED + 5);
	CU_ASSERT_FALSE(mini_poll(&pair.cq, &wc));
	CU_ASSERT_EQUAL(counters(&pair)->taken, 3);
	CU_ASSERT_EQUAL(counters(&pair)->released, 2);
	CU_ASSERT_EQUAL(counters(&pair)->strides, 8 + 5 + 4);
	CU_ASSERT_EQUAL(counters(&pair)->skipped, 3);
	pair_destroy(&pair);
}

/* Sends 64 packets, with a WQE for each packet or for eight. */
static void test_reads_of_wqes(void)
{
	enum { PACKETS = 64 };
	uint64_t bytes[2];

	for (unsigned round = 0; round < 2; round++) {
		struct pair pair = pair_create(round ? STRIDES : 0);
		uint32_t wqes = round ? PACKETS / STRIDES : PACKETS;
		uint32_t before;

		for (unsigned i = 0; i < wqes; i++)
			mini_receive(pair.receiver, pair.target, AREA);
		before = mini_block_count(&pair.mini->hosts[1], "pcie", "read_bytes");
		for (unsigned i = 0; i < PACKETS; i++)
			send(&pair, 32, SEED);
		bytes[round] =
			mini_block_count(&pair.mini->hosts[1], "pcie", "read_bytes") - before;
		CU_ASSERT_EQUAL(counters(&pair)->wqes, wqes);
		CU_ASSERT_EQUAL(counters(&pair)->taken, wqes);
		CU_ASSERT_EQUAL(counters(&pair)->empty, 0);
		bytes[round] -= 4 * counters(&pair)->record_reads;
		pair_destroy(&pair);
	}
	CU_ASSERT_EQUAL(bytes[0] - bytes[1], (PACKETS - PACKETS / STRIDES) * 64);
}

/* Longer than a whole WQE, or than the length in its list: the queue pair is in error, and the WQE
 * is given back. */
static void test_too_long(void)
{
	struct pair pair = pair_create(2);
	struct mini_wc wc;

	mini_receive(pair.receiver, pair.target, 2 * STRIDE);
	send(&pair, 2 * STRIDE - GRH + 1, SEED);
	CU_ASSERT_TRUE_FATAL(mini_poll(&pair.cq, &wc));
	CU_ASSERT_EQUAL(wc.opcode, CQE_RECEIVE_ERROR);
	CU_ASSERT_EQUAL(wc.syndrome, 0x01); /* local length */
	CU_ASSERT_EQUAL(counters(&pair)->released, 1);
	pair_destroy(&pair);
}

/* A WQE that is half used when its queue pair ends is flushed like others. */
static void test_flush(void)
{
	struct pair pair = pair_create(STRIDES);
	struct mini_wc wc;

	mini_receive(pair.receiver, pair.target, AREA);
	send(&pair, 32, SEED);
	check(&pair, 0, 0, 1, 32 + GRH, SEED);
	mini_to(pair.receiver, STATE_ERR);
	mini_run(pair.mini);
	CU_ASSERT_TRUE_FATAL(mini_poll(&pair.cq, &wc));
	CU_ASSERT_EQUAL(wc.opcode, CQE_RECEIVE_ERROR);
	CU_ASSERT_EQUAL(wc.syndrome, 0x05);
	CU_ASSERT_FALSE(mini_poll(&pair.cq, &wc));
	CU_ASSERT_EQUAL(counters(&pair)->released, 1);
	pair_destroy(&pair);
}

static int error_of(struct hca_qp_attr attr)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_cq cq;
	uint32_t qpn = 0;
	int error;

	mini_start(mini, LINK_INFINIBAND);
	cq = mini_cq_create(&mini->hosts[0], 64, 128);
	attr.memory = mini->hosts[0].memory;
	attr.send_cqn = attr.recv_cqn = cq.number;
	attr.rq_stride_bytes = 64;
	error = hca_qp_create(mini->hosts[0].adapter, &attr, &qpn);
	mini_destroy(mini);
	return error;
}

static void test_refused(void)
{
	struct hca_qp_attr good = {
		.type = QP_UD, .rq_entries = 64, .packet_strides = 8, .packet_stride_bytes = 64};
	struct hca_qp_attr attr = good;

	CU_ASSERT_EQUAL(error_of(attr), 0);
	attr.type = QP_RC;
	CU_ASSERT_EQUAL(error_of(attr), -EINVAL);
	attr = good;
	attr.packet_stride_bytes = 0;
	CU_ASSERT_EQUAL(error_of(attr), -EINVAL);
	attr = good;
	attr.packet_strides = CQE_STRIDES_MASK + 1;
	CU_ASSERT_EQUAL(error_of(attr), -EINVAL);
	attr = good;
	attr.receives_to_cqe = true;
	CU_ASSERT_EQUAL(error_of(attr), -EINVAL);
	attr = good;
	attr.rq_entries = 0;
	CU_ASSERT_EQUAL(error_of(attr), -EINVAL);
}
