/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests scatter to CQE of short messages and responses: bytes and flags that a driver finds,
 * unchanged memory, and one PCIe write fewer. It does not apply to data that are too long, that
 * arrive with a GRH, or that have no CQE.
 */
#include <string.h>

#include "hca/formats/cqe.h"
#include "tests/hca/support/pair.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(sends)             \
	TEST(not_asked)         \
	TEST(reads_and_atomics) \
	TEST(datagrams_in_64_bytes)
SUITE(TESTS)

enum { SEED = 7, FLAG_32 = 0x4, FLAG_64 = 0x8 };

static struct pair pair_create(enum qp_type type, uint32_t cqe_bytes, bool to_cqe)
{
	struct pair pair = pair_begin();

	for (unsigned i = 0; i < 2; i++) {
		pair.cqs[i] = mini_cq_create(&pair.mini->hosts[i], 64, cqe_bytes);
		pair_add_qp(&pair, i,
			    (struct hca_qp_attr){.type = type,
						 .sq_blocks = 64,
						 .rq_entries = 64,
						 .receives_to_cqe = to_cqe,
						 .responses_to_cqe = to_cqe});
	}
	pair_connect(&pair);
	return pair;
}

/* Copies the whole slot of the CQE that the next poll finds. */
static void next_slot(struct mini_cq *cq, uint8_t *bytes)
{
	uint64_t at = cq->buffer + (uint64_t)(cq->consumer & (cq->entries - 1)) * cq->cqe_bytes;

	CU_ASSERT_TRUE(memory_read(cq->host->memory, at, bytes, cq->cqe_bytes));
}

static uint32_t count(const struct pair *pair, unsigned host, const char *block,
		      const char *counter)
{
	return mini_block_count(&pair->mini->hosts[host], block, counter);
}

static void send(struct pair *pair, uint32_t length, struct mini_wc *wc, uint8_t *slot)
{
	mini_receive(pair->qps[1], pair->target, 4096);
	mini_post(
		pair->qps[0],
		&(struct mini_send){.opcode = WQE_SEND, .address = pair->source, .length = length});
	mini_run(pair->mini);
	next_slot(&pair->cqs[1], slot);
	CU_ASSERT_TRUE(mini_poll(&pair->cqs[1], wc));
	CU_ASSERT_EQUAL(wc->opcode, CQE_RECEIVED_SEND);
	CU_ASSERT_EQUAL(wc->byte_count, length);
}

static void check_send(uint32_t cqe_bytes, uint32_t room, uint8_t flag)
{
	struct pair pair = pair_create(QP_RC, cqe_bytes, true);
	struct mini_wc wc;
	uint8_t slot[CQE_BYTES_MAX], sent[CQE_DATA_MAX];
	uint32_t writes;

	mini_fill(&pair.mini->hosts[0], pair.source, 4096, SEED);
	mini_fill(&pair.mini->hosts[1], pair.target, 4096, SEED + 1);
	CU_ASSERT_TRUE(memory_read(pair.mini->hosts[0].memory, pair.source, sent, sizeof(sent)));
	writes = count(&pair, 1, "pcie", "writes");
	send(&pair, room, &wc, slot);
	CU_ASSERT_EQUAL(memcmp(slot, sent, room), 0);
	CU_ASSERT_EQUAL(slot[cqe_bytes - 1] & 0xc, flag);
	CU_ASSERT_TRUE(mini_matches(&pair.mini->hosts[1], pair.target, 4096, SEED + 1));
	CU_ASSERT_EQUAL(count(&pair, 1, "pcie", "writes"), writes + 1);
	CU_ASSERT_EQUAL(count(&pair, 1, "dma", "scatters"), 0);
	CU_ASSERT_EQUAL(count(&pair, 1, "completion", "with_data"), 1);
	CU_ASSERT_EQUAL(count(&pair, 1, "completion", "bytes"), cqe_bytes);

	send(&pair, room + 1, &wc, slot); /* too long */
	CU_ASSERT_EQUAL(slot[cqe_bytes - 1] & 0xc, 0);
	CU_ASSERT_TRUE(mini_matches(&pair.mini->hosts[1], pair.target, room + 1, SEED));
	CU_ASSERT_EQUAL(count(&pair, 1, "pcie", "writes"), writes + 3);
	CU_ASSERT_EQUAL(count(&pair, 1, "completion", "with_data"), 1);
	pair_destroy(&pair);
}

static void test_sends(void)
{
	check_send(64, 32, FLAG_32);
	check_send(128, 64, FLAG_64);
}

/* The driver did not permit it, so data is not in CQEs. */
static void test_not_asked(void)
{
	struct pair pair = pair_create(QP_RC, 64, false);
	struct mini_wc wc;
	uint8_t slot[CQE_BYTES_MAX];

	mini_fill(&pair.mini->hosts[0], pair.source, 4096, SEED);
	send(&pair, 8, &wc, slot);
	CU_ASSERT_EQUAL(slot[63] & 0xc, 0);
	CU_ASSERT_TRUE(mini_matches(&pair.mini->hosts[1], pair.target, 8, SEED));
	CU_ASSERT_EQUAL(count(&pair, 1, "completion", "with_data"), 0);
	pair_destroy(&pair);
}

static void ask(struct pair *pair, uint8_t opcode, uint32_t length, bool unsignaled)
{
	mini_post(pair->qps[0], &(struct mini_send){.opcode = opcode,
						    .address = pair->source,
						    .length = length,
						    .remote = pair->target,
						    .swap_or_add = 5,
						    .unsignaled = unsignaled});
	mini_run(pair->mini);
}

static void test_reads_and_atomics(void)
{
	struct pair pair = pair_create(QP_RC, 64, true);
	struct mini_host *host = &pair.mini->hosts[0];
	uint8_t slot[CQE_BYTES_MAX], asked[CQE_DATA_MAX];
	struct mini_wc wc;
	uint64_t before;

	mini_fill(&pair.mini->hosts[1], pair.target, 4096, SEED);
	CU_ASSERT_TRUE(memory_read(pair.mini->hosts[1].memory, pair.target, asked, sizeof(asked)));
	ask(&pair, WQE_READ, 32, false);
	next_slot(&pair.cqs[0], slot);
	CU_ASSERT_TRUE(mini_poll(&pair.cqs[0], &wc));
	CU_ASSERT_EQUAL(wc.wqe_opcode, WQE_READ);
	CU_ASSERT_EQUAL(wc.byte_count, 32);
	CU_ASSERT_EQUAL(memcmp(slot, asked, 32), 0);
	CU_ASSERT_EQUAL(slot[63] & 0xc, FLAG_32);
	CU_ASSERT_EQUAL(mini_u64(host, pair.source), 0);

	mini_put_u64(&pair.mini->hosts[1], pair.target, 37);
	ask(&pair, WQE_FETCH_ADD, 8, false);
	next_slot(&pair.cqs[0], slot);
	CU_ASSERT_TRUE(mini_poll(&pair.cqs[0], &wc));
	CU_ASSERT_EQUAL(wc.byte_count, 8);
	memcpy(&before, slot, sizeof(before));
	CU_ASSERT_EQUAL(before, 37);
	CU_ASSERT_EQUAL(mini_u64(&pair.mini->hosts[1], pair.target), 42);
	CU_ASSERT_EQUAL(mini_u64(host, pair.source), 0);
	CU_ASSERT_EQUAL(count(&pair, 0, "dma", "scatters"), 0);
	CU_ASSERT_EQUAL(count(&pair, 0, "completion", "with_data"), 2);

	ask(&pair, WQE_FETCH_ADD, 8, true); /* no CQE: to memory */
	CU_ASSERT_FALSE(mini_poll(&pair.cqs[0], &wc));
	CU_ASSERT_EQUAL(mini_u64(host, pair.source), 42);
	CU_ASSERT_EQUAL(count(&pair, 0, "dma", "scatters"), 1);
	pair_destroy(&pair);
}

/* A CQE of 64 bytes with the sender of a datagram has no room for data. */
static void test_datagrams_in_64_bytes(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_cq cq;
	struct hca_qp_attr attr = {.type = QP_UD, .receives_to_cqe = true};
	uint32_t qpn = 0;

	mini_start(mini, LINK_INFINIBAND);
	cq = mini_cq_create(&mini->hosts[0], 64, 64);
	attr.send_cqn = attr.recv_cqn = cq.number;
	CU_ASSERT_TRUE(hca_qp_create(mini->hosts[0].adapter, &attr, &qpn) < 0);
	cq = mini_cq_create(&mini->hosts[0], 64, 128);
	attr.send_cqn = attr.recv_cqn = cq.number;
	CU_ASSERT_EQUAL(hca_qp_create(mini->hosts[0].adapter, &attr, &qpn), 0);
	mini_destroy(mini);
}
