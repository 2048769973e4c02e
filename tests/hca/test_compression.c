/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests compression of CQEs: bytes of titles and mini-CQEs, their place in the ring, and the bytes
 * on PCIe. Also tests CQEs that are not compressed and that end a group, and the exact waiting time
 * of a CQE.
 */
#include <errno.h>

#include "fabric/wire/bytes.h"
#include "hca/formats/cqe.h"
#include "hca/work/completion.h"
#include "tests/hca/support/pair.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(layout)                            \
	TEST(sends)                             \
	TEST(alone)                             \
	TEST(ended_by_one_that_is_different)    \
	TEST(full_and_over_the_end_of_the_ring) \
	TEST(a_full_group_does_not_wait)        \
	TEST(closed)                            \
	TEST(refused)
SUITE(TESTS)

enum { ENTRIES = 128, COMPRESSED = 0xc, FRESH = 0xf1, BYTES = 24 };

static struct pair pair_finish(struct pair pair, enum hca_cq_compress compress, uint32_t entries)
{
	for (unsigned i = 0; i < 2; i++) {
		pair.cqs[i] = mini_cq_create_with(&pair.mini->hosts[i], entries, 64, compress);
		pair_add_qp(
			&pair, i,
			(struct hca_qp_attr){.type = QP_RC, .sq_blocks = 128, .rq_entries = 128});
	}
	pair_connect(&pair);
	return pair;
}

static struct pair pair_create(enum hca_cq_compress compress, uint32_t entries)
{
	return pair_finish(pair_begin(), compress, entries);
}

static const struct completion_counters *count(const struct pair *pair, unsigned host)
{
	return completion_counters(pair->mini->hosts[host].adapter->completion);
}

/* Messages of BYTES, BYTES + 1, ... behind one doorbell, fast enough to be compressed together. */
static void send(struct pair *pair, unsigned messages, bool last_is_solicited)
{
	for (unsigned i = 0; i < messages; i++)
		mini_receive(pair->qps[1], pair->target, 4096);
	for (unsigned i = 0; i < messages; i++)
		mini_post(pair->qps[0],
			  &(struct mini_send){.opcode = WQE_SEND,
					      .address = pair->source,
					      .length = BYTES + i,
					      .solicited = last_is_solicited && i + 1 == messages,
					      .no_doorbell = i + 1 < messages});
	mini_run(pair->mini);
}

static void slot(const struct mini_cq *cq, uint32_t number, uint8_t bytes[64])
{
	uint64_t at = cq->buffer + (uint64_t)(number & (cq->entries - 1)) * 64;

	CU_ASSERT_TRUE(memory_read(cq->host->memory, at, bytes, 64));
}

/* Checks a title at `first` and the mini-CQEs behind it, of messages from `bytes` on. */
static void check_received(struct pair *pair, uint32_t first, uint32_t messages, uint32_t bytes,
			   unsigned owner)
{
	uint8_t title[64], array[64];

	slot(&pair->cqs[1], first, title);
	CU_ASSERT_EQUAL(title[63], CQE_RECEIVED_SEND << 4 | COMPRESSED | owner);
	CU_ASSERT_EQUAL(be32_get(title + 44), messages);
	CU_ASSERT_EQUAL(be24_get(title + 57), pair->qps[1]->number);
	for (uint32_t i = 0; i < messages; i++) {
		slot(&pair->cqs[1], first + (i < 8 ? 1 : i / 8 * 8), array);
		CU_ASSERT_EQUAL(be32_get(array + i % 8 * 8), 0);
		CU_ASSERT_EQUAL(be32_get(array + i % 8 * 8 + 4), bytes + i);
	}
}

static void test_layout(void)
{
	enum { MESSAGES = 20 };
	struct pair pair = pair_create(CQ_MINI_HASH, ENTRIES),
		    plain = pair_create(CQ_PLAIN, ENTRIES);
	uint8_t bytes[64];

	send(&pair, MESSAGES, false);
	send(&plain, MESSAGES, false);
	check_received(&pair, 0, MESSAGES, BYTES, 0);
	for (unsigned i = 0; i < MESSAGES; i++) { /* the others were not written */
		slot(&pair.cqs[1], i, bytes);
		if (i > 1 && i % 8 != 0)
			CU_ASSERT_EQUAL(bytes[63], FRESH);
	}
	CU_ASSERT_EQUAL(count(&pair, 1)->cqes, MESSAGES);
	CU_ASSERT_EQUAL(count(&pair, 1)->compressed, MESSAGES);
	CU_ASSERT_EQUAL(count(&pair, 1)->titles, 1);
	CU_ASSERT_EQUAL(count(&pair, 1)->arrays, 3);
	CU_ASSERT_EQUAL(count(&pair, 1)->bytes, (1 + 3) * 64);
	CU_ASSERT_EQUAL(count(&plain, 1)->bytes, MESSAGES * 64);
	CU_ASSERT_EQUAL(count(&plain, 1)->titles, 0);
	CU_ASSERT_EQUAL(mini_block_count(&plain.mini->hosts[1], "pcie", "write_bytes") -
				mini_block_count(&pair.mini->hosts[1], "pcie", "write_bytes"),
			(MESSAGES - 1 - 3) * 64);
	pair_destroy(&pair);
	pair_destroy(&plain);
}

/* The mini-CQEs of sends name their WQEs. */
static void test_sends(void)
{
	enum { MESSAGES = 9 };
	struct pair pair = pair_create(CQ_MINI_HASH, ENTRIES);
	uint8_t title[64], array[64];

	send(&pair, MESSAGES, false);
	slot(&pair.cqs[0], 0, title);
	CU_ASSERT_EQUAL(title[63], CQE_SENT << 4 | COMPRESSED);
	CU_ASSERT_EQUAL(be32_get(title + 44), MESSAGES);
	for (unsigned i = 0; i < MESSAGES; i++) {
		slot(&pair.cqs[0], i < 8 ? 1 : 8, array);
		CU_ASSERT_EQUAL(be16_get(array + i % 8 * 8), i);
		CU_ASSERT_EQUAL(array[i % 8 * 8 + 2], WQE_SEND);
	}
	CU_ASSERT_EQUAL(count(&pair, 0)->bytes, 3 * 64);
	pair_destroy(&pair);
}

/* Returns the latency of a single CQE. It is written uncompressed when no other CQE has come during
 * the timeout. */
static sim_time lone_latency(enum hca_cq_compress compress, bool armed)
{
	struct pair pair = pair_create(compress, ENTRIES);
	const struct latency_counters *stages =
		latency_stages_counters(pair.mini->hosts[1].adapter->latency);
	struct mini_wc wc;
	sim_time latency;

	if (armed)
		mini_arm(&pair.cqs[1], false);
	mini_run(pair.mini);
	send(&pair, 1, false);
	CU_ASSERT_TRUE(mini_poll(&pair.cqs[1], &wc));
	CU_ASSERT_EQUAL(wc.byte_count, BYTES);
	CU_ASSERT_EQUAL(count(&pair, 1)->bytes, 64);
	CU_ASSERT_EQUAL(count(&pair, 1)->compressed, 0);
	CU_ASSERT_EQUAL(pair.mini->hosts[1].cq_events, armed);
	latency = stages->received_latency;
	pair_destroy(&pair);
	return latency;
}

static void test_alone(void)
{
	struct hca_params params;

	hca_params_default(&params);
	CU_ASSERT_EQUAL(lone_latency(CQ_MINI_HASH, false),
			lone_latency(CQ_PLAIN, false) + params.completion.compression_timeout);
	CU_ASSERT_EQUAL(lone_latency(CQ_MINI_HASH, true), lone_latency(CQ_PLAIN, true));
}

/* A solicited CQE has no mini-CQE. It ends the group before it, and is written after the group. */
static void test_ended_by_one_that_is_different(void)
{
	struct pair pair = pair_create(CQ_MINI_HASH, ENTRIES);
	uint8_t bytes[64];

	send(&pair, 5, true);
	check_received(&pair, 0, 4, BYTES, 0);
	slot(&pair.cqs[1], 4, bytes);
	CU_ASSERT_EQUAL(bytes[63], CQE_RECEIVED_SEND << 4 | 1 << 1);
	CU_ASSERT_EQUAL(be32_get(bytes + 44), BYTES + 4);
	CU_ASSERT_EQUAL(count(&pair, 1)->bytes, (1 + 1 + 1) * 64);
	CU_ASSERT_EQUAL(count(&pair, 1)->cqes, 5);
	pair_destroy(&pair);
}

/* A full group does not wait for more CQEs. If it crosses the end of the ring, all its entries have
 * the owner bit of the title's lap. */
static void over_the_end(uint32_t before)
{
	enum { RING = 32 };
	struct pair pair = pair_create(CQ_MINI_HASH, RING);

	send(&pair, before, false);
	pair.cqs[1].consumer = pair.cqs[0].consumer = before;
	mini_put_u64(&pair.mini->hosts[1], pair.cqs[1].record, (uint64_t)before << 24);
	mini_put_u64(&pair.mini->hosts[0], pair.cqs[0].record, (uint64_t)before << 24);
	send(&pair, 20, false);
	check_received(&pair, before, 20, BYTES, 0);
	CU_ASSERT_EQUAL(count(&pair, 1)->titles, 2);
	CU_ASSERT_EQUAL(count(&pair, 1)->lost, 0);
	pair_destroy(&pair);
}

static void test_full_and_over_the_end_of_the_ring(void)
{
	struct pair pair;

	over_the_end(20);
	over_the_end(31); /* the title is the last of its lap */

	pair = pair_create(CQ_MINI_HASH, ENTRIES);
	send(&pair, 64, false);
	CU_ASSERT_EQUAL(count(&pair, 1)->titles, 1);
	CU_ASSERT_EQUAL(count(&pair, 1)->arrays, 8);
	CU_ASSERT_EQUAL(count(&pair, 1)->bytes, 9 * 64);
	send(&pair, 64, false);
	pair_destroy(&pair);
}

/* A group of compression_max CQEs is written at once, not when its time is over. */
static void test_a_full_group_does_not_wait(void)
{
	enum { MOST = 8 };
	struct pair pair = {.mini = mini_create(SIM_ENGINE_native)};

	pair.mini->params.completion.compression_max = MOST;
	pair.mini->params.completion.compression_timeout = 100 * US;
	mini_start(pair.mini, LINK_INFINIBAND);
	pair = pair_finish(pair, CQ_MINI_HASH, ENTRIES);
	send(&pair, 1, false); /* contexts are at hand */
	for (unsigned i = 0; i < MOST; i++)
		mini_receive(pair.qps[1], pair.target, 4096);
	for (unsigned i = 0; i < MOST; i++)
		mini_post(pair.qps[0], &(struct mini_send){.opcode = WQE_SEND,
							   .address = pair.source,
							   .length = BYTES,
							   .no_doorbell = i + 1 < MOST});
	sim_run(pair.mini->sim, sim_now(pair.mini->sim) + 50 * US);
	CU_ASSERT_EQUAL(count(&pair, 1)->cqes, 1 + MOST);
	mini_run(pair.mini);
	pair_destroy(&pair);
}

/* A waiting CQE is lost with its queue, and no event follows. */
static void test_closed(void)
{
	struct pair pair = pair_create(CQ_MINI_HASH, ENTRIES);
	struct sim *sim = pair.mini->sim;

	send(&pair, 1, false); /* contexts are at hand */
	mini_receive(pair.qps[1], pair.target, 4096);
	mini_post(pair.qps[0],
		  &(struct mini_send){.opcode = WQE_SEND, .address = pair.source, .length = BYTES});
	while (count(&pair, 1)->asked < 2 && sim_next(sim) != SIM_NEVER)
		sim_run(sim, sim_next(sim) + 1);
	sim_run(sim, sim_now(sim) + 100 * NS);
	CU_ASSERT_EQUAL(count(&pair, 1)->cqes, 1);
	CU_ASSERT_EQUAL(count(&pair, 1)->lost, 0);
	CU_ASSERT_EQUAL(hca_cq_destroy(pair.mini->hosts[1].adapter, pair.cqs[1].number), 0);
	CU_ASSERT_EQUAL(count(&pair, 1)->lost, 1);
	mini_run(pair.mini);
	CU_ASSERT_EQUAL(count(&pair, 1)->cqes, 1);
	pair_destroy(&pair);
}

static void test_refused(void)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct hca_cq_attr attr = {.entries = 64, .cqe_bytes = 128, .compress = CQ_MINI_HASH};
	uint32_t cqn;

	mini_start(mini, LINK_INFINIBAND);
	CU_ASSERT_EQUAL(hca_cq_create(mini->hosts[0].adapter, &attr, &cqn), -EINVAL);
	attr.cqe_bytes = 64;
	CU_ASSERT_EQUAL(hca_cq_create(mini->hosts[0].adapter, &attr, &cqn), 0);
	mini_destroy(mini);
}
