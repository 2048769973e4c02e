/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the latency of a response whose WQE is no longer in the cache of send WQEs
 * (wqe_fetch.looked_up), to the picosecond.
 *
 *     found, replaced          no time; the time of one PCIe read of the WQE
 *     several packets          one read, for which later packets wait
 *     blocks                   a read of several blocks; the engine of READs is occupied
 *     many                     data and completions are right and in order, with the limited number
 *                              of reads in flight
 *     looked up at its turn    a response needs no WQE; and the opposite, except for
 *                              retransmissions
 *     gone                     a queue pair may be destroyed while responses wait
 */
#include <string.h>

#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "hca/transport/transport.h"
#include "hca/work/wqe_fetch.h"
#include "sim/gauge.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)           \
	TEST(one)             \
	TEST(several_packets) \
	TEST(blocks)          \
	TEST(many)            \
	TEST(when)            \
	TEST(gone)
SUITE(TESTS)

enum { LINE = 64, MTU = 1024, PLENTY = 64, ONE = 1, MANY = 16 };

static struct rig rig_with(uint64_t entries, enum wqe_looked_up looked_up, uint64_t reads)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);

	mini->params.send_cache.entries = entries;
	mini->params.wqe_fetch.looked_up = looked_up;
	mini->params.wqe_fetch.response_reads = reads;
	return rig_create_on(mini, QP_RC, LINK_INFINIBAND, MTU);
}

static void post(struct rig *rig, uint8_t opcode, uint32_t at, uint32_t length)
{
	mini_post(rig->qp, &(struct mini_send){.opcode = opcode,
					       .address = rig->source + at,
					       .length = length,
					       .remote = rig->target + at,
					       .is_inline = opcode == WQE_WRITE,
					       .blueflame = true});
}

/* Posts a READ and a WRITE. If the cache has one line, the WRITE replaces the WQE of the READ.
 * Returns the time at which the READ is complete. */
static sim_time read_and_write(struct rig *rig, uint32_t length)
{
	sim_time begin = sim_now(rig->mini->sim), end;

	mini_fill(rig->other, rig->target, length, 7);
	post(rig, WQE_READ, 0, length);
	post(rig, WQE_WRITE, 1 << 16, 8);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	end = sim_now(rig->mini->sim);
	CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_TRUE(mini_matches(rig->one, rig->source, length, 7));
	return end - begin;
}

static const struct wqe_cache_counters *lookups(const struct rig *rig)
{
	return wqe_cache_counters(rig->one->adapter->send_cache);
}

static void test_one(void)
{
	struct rig rig = rig_with(PLENTY, WQE_LOOKED_UP_RESPONSE, MANY);
	sim_time found = read_and_write(&rig, LINE), line;

	CU_ASSERT_EQUAL(lookups(&rig)->lookups, 1);
	CU_ASSERT_EQUAL(lookups(&rig)->hits, 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "list_waits"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 1); /* by the later WRITE */
	rig_destroy(&rig);

	rig = rig_with(ONE, WQE_LOOKED_UP_RESPONSE, MANY);
	line = rig_read_time(rig.one, LINE);
	CU_ASSERT_EQUAL(read_and_write(&rig, LINE), found + line);
	CU_ASSERT_EQUAL(lookups(&rig)->misses, 1);
	CU_ASSERT_EQUAL(lookups(&rig)->lost, 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "list_waits"), 2); /* and the ACK behind it */
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 1 + 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "read_blocks"), 1 + 1);
	rig_destroy(&rig);
}

static void test_several_packets(void)
{
	struct rig rig = rig_with(ONE, WQE_LOOKED_UP_RESPONSE, MANY);

	read_and_write(&rig, 4 * MTU);
	CU_ASSERT_EQUAL(lookups(&rig)->lookups, 4);
	CU_ASSERT_EQUAL(lookups(&rig)->misses, 1);
	CU_ASSERT_EQUAL(lookups(&rig)->merges, 3);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 1 + 1);
	rig_destroy(&rig);
}

/* Returns the busy time of the engine of READs of the first adapter. */
static uint64_t engine_time(const struct rig *rig)
{
	struct block *block = sim_blocks(rig->mini->sim);
	size_t at = 0;

	while (strcmp(block->name, "host0.hca.scheduler") != 0)
		block = block->next;
	while (strcmp(block->type->gauges[at].name, "reads") != 0)
		at++;
	return gauge_area(&gauges_read(block)[at], sim_now(rig->mini->sim));
}

static void test_blocks(void)
{
	enum { BLOCKS = 4, LIST = 46000, READ = 5000 };
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct rig rig = rig_with(PLENTY, WQE_LOOKED_UP_RESPONSE, MANY);
	sim_time found = read_and_write(&rig, LINE), lines;

	CU_ASSERT_EQUAL(engine_time(&rig), READ);
	rig_destroy(&rig);
	mini->params.send_cache.entries = ONE;
	mini->params.wqe_fetch.looked_up = WQE_LOOKED_UP_RESPONSE;
	mini->params.wqe_fetch.response_blocks = BLOCKS;
	mini->params.scheduler.list_interval = LIST;
	rig = rig_create_on(mini, QP_RC, LINK_INFINIBAND, MTU);
	lines = rig_read_time(rig.one, BLOCKS * LINE);
	CU_ASSERT_EQUAL(read_and_write(&rig, LINE), found + lines);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "read_blocks"), 1 + BLOCKS);
	CU_ASSERT_EQUAL(engine_time(&rig), READ + LIST);
	rig_destroy(&rig);
}

/* Posts many READs behind one doorbell. Returns how many WQEs were read again. */
static uint32_t read_many(uint64_t entries, uint64_t reads, uint64_t *at_a_time)
{
	struct rig rig = rig_with(entries, WQE_LOOKED_UP_RESPONSE, reads);
	uint32_t count;

	mini_fill(rig.other, rig.target, MANY * LINE, 3);
	for (uint32_t i = 0; i < MANY; i++)
		mini_post(rig.qp, &(struct mini_send){.opcode = WQE_READ,
						      .address = rig.source + i * LINE,
						      .length = LINE,
						      .remote = rig.target + i * LINE,
						      .no_doorbell = i + 1 < MANY});
	for (uint32_t i = 0; i < MANY; i++) {
		struct mini_wc wc = mini_wait(rig.qp->send_cq);

		CHECK_WC(wc, CQE_SENT, 0);
		CU_ASSERT_EQUAL(wc.wqe_counter, i);
		CU_ASSERT_TRUE(mini_matches(rig.one, rig.source, (i + 1) * LINE, 3));
	}
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(lookups(&rig)->lookups, MANY);
	*at_a_time = rig.one->adapter->transport->gauge.response_lists.level_max;
	count = (uint32_t)lookups(&rig)->misses;
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"),
			MANY / 8 + count); /* 8 blocks each at first */
	rig_destroy(&rig);
	return count;
}

static void test_many(void)
{
	uint64_t at_a_time;

	CU_ASSERT_EQUAL(read_many(PLENTY, MANY, &at_a_time), 0);
	CU_ASSERT_EQUAL(at_a_time, 0);
	CU_ASSERT_EQUAL(read_many(ONE, MANY, &at_a_time), MANY);
	CU_ASSERT_EQUAL(at_a_time, 4); /* seen: of those that come while one is read */
	CU_ASSERT_EQUAL(read_many(ONE, 1, &at_a_time), MANY);
	CU_ASSERT_EQUAL(at_a_time, 1);
}

static void test_when(void)
{
	uint16_t write = (uint16_t)opcode_find(TRANSPORT_RC, OP_WRITE, SEG_ONLY, SUFFIX_NONE);
	struct rig rig = rig_with(ONE, WQE_LOOKED_UP_GRANT, MANY);

	read_and_write(&rig, LINE);
	CU_ASSERT_EQUAL(rig_count(&rig, "transport", "list_waits"), 0);
	CU_ASSERT_EQUAL(lookups(&rig)->lookups, 2); /* a turn each */
	rig_destroy(&rig);

	rig = rig_with(ONE, WQE_LOOKED_UP_BOTH, MANY);
	read_and_write(&rig, LINE);
	CU_ASSERT_EQUAL(lookups(&rig)->lookups, 3);
	rig_destroy(&rig);

	rig = rig_with(PLENTY, WQE_LOOKED_UP_RESPONSE, MANY);
	rig_drop(&rig, false, write, 1, 0);
	post(&rig, WQE_WRITE, 0, LINE);
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(lookups(&rig)->lookups, 1); /* when it was sent again */
	rig_destroy(&rig);
}

static void test_gone(void)
{
	struct rig rig = rig_with(ONE, WQE_LOOKED_UP_RESPONSE, 1);
	struct mini_qp *first = rig.qp;

	for (uint32_t i = 0; i < MANY; i++)
		post(&rig, WQE_READ, i * LINE, LINE);
	while (rig_count(&rig, "transport", "list_waits") < 2)
		sim_run(rig.mini->sim, sim_next(rig.mini->sim) + 1);
	rig.qp = mini_qp_create(rig.one, QP_RC);
	mini_qp_destroy(first);
	mini_run(rig.mini);
	CU_ASSERT_EQUAL(rig.one->adapter->transport->lists.pool.in_use, 0);
	rig_destroy(&rig);
}
