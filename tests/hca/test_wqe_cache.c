/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the caches of send and receive WQEs: their lines, hits, misses and merges, and the exact
 * cost of a lookup.
 *
 *     receive, a lap of a ring that fits    each RECV waits for a PCIe read; in the next lap for
 *                                           the cache's latency alone
 *     receive, sequential prefetch          one RECV of a lap waits, whether the ring fits or not
 *     receive, prefetch beyond the cache    each WQE is replaced before it is taken, and read twice
 *     send, WQEs that fit, and that do not  no read more than without a cache; a read more for each
 *     none                                  no block, no lookup
 */
#include "fabric/wire/opcode.h"
#include "hca/formats/cqe.h"
#include "hca/work/receive_queue.h"
#include "hca/work/wqe_fetch.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                         \
	TEST(laps_of_a_receive_ring)        \
	TEST(sequential_prefetch)           \
	TEST(prefetch_beyond_the_cache)     \
	TEST(send_wqes)                     \
	TEST(send_wqes_that_are_sent_again) \
	TEST(send_wqes_that_were_stored)    \
	TEST(none)
SUITE(TESTS)

enum { RING = 64, LINE = 64, SENDS = 8, RECORD = 4 };

static struct rig rig_with(const struct hca_params *params)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);

	mini->params.send_cache = params->send_cache;
	mini->params.receive_cache = params->receive_cache;
	mini->params.receive_queue = params->receive_queue;
	return rig_create_on(mini, QP_RC, LINK_INFINIBAND, 1024);
}

static struct hca_params defaults(void)
{
	struct hca_params params;

	hca_params_default(&params);
	return params;
}

/* Posts as many RECVs as the ring holds, one after the other. Returns their waiting time for
 * WQEs. */
static sim_time lap(struct rig *rig)
{
	const struct latency_counters *stages =
		latency_stages_counters(rig->other->adapter->latency);
	sim_time before = stages->wqe;

	for (unsigned i = 0; i < RING; i++)
		mini_receive(rig->peer, rig->target, LINE);
	for (unsigned i = 0; i < RING; i++) {
		mini_run(rig->mini);
		mini_post(rig->qp, &(struct mini_send){.opcode = WQE_SEND,
						       .address = rig->source,
						       .length = LINE,
						       .is_inline = true,
						       .blueflame = true});
		CHECK_WC(mini_wait(rig->peer->recv_cq), CQE_RECEIVED_SEND, 0);
		CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	}
	mini_run(rig->mini);
	return stages->wqe - before;
}

#define CHECK_CACHE(cache, expected_hits, expected_misses, expected_merges)                   \
	do {                                                                                  \
		const struct wqe_cache_counters *count = wqe_cache_counters(cache);           \
		CU_ASSERT_EQUAL(count->hits, expected_hits);                                  \
		CU_ASSERT_EQUAL(count->misses, expected_misses);                              \
		CU_ASSERT_EQUAL(count->merges, expected_merges);                              \
		CU_ASSERT_EQUAL(count->lookups, count->hits + count->misses + count->merges); \
	} while (0)

static void test_laps_of_a_receive_ring(void)
{
	struct hca_params params = defaults();
	struct rig rig;
	sim_time record, line;

	params.receive_cache.entries = RING;
	params.receive_cache.latency = 7 * NS;
	params.receive_queue.ahead = false;
	params.receive_queue.prefetch = 1;
	rig = rig_with(&params);
	record = rig_read_time(rig.other, RECORD);
	line = rig_read_time(rig.other, LINE);
	CU_ASSERT_EQUAL(lap(&rig), record + RING * line);
	CHECK_CACHE(rig.other->adapter->receive_cache, 0, RING, 0);
	CU_ASSERT_EQUAL(lap(&rig), record + RING * 7 * NS);
	CHECK_CACHE(rig.other->adapter->receive_cache, RING, RING, 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_queue", "wqe_reads"), RING);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "fills"), RING);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "evictions"), 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "spared"), RING);
	rig_destroy(&rig);
}

/* 32 are read for the first, and 32 when 16 are left. 48 lines are enough for any ring. */
static void test_sequential_prefetch(void)
{
	struct hca_params params = defaults();
	struct rig rig;
	sim_time record, lines;

	params.receive_cache.entries = params.receive_cache.ways = 48;
	rig = rig_with(&params);
	record = rig_read_time(rig.other, RECORD);
	lines = rig_read_time(rig.other, 32 * LINE);
	CU_ASSERT_EQUAL(lap(&rig), record + lines);
	CHECK_CACHE(rig.other->adapter->receive_cache, RING - 1, 1, 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "lost"), 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "prefetches"), RING - 1);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "fills"), RING);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "evictions"), RING - 48);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_queue", "wqe_reads"), 2);
	rig_destroy(&rig);
}

/* With 32, the second 32 replace the 16 that are left, and reading these again replaces the next,
 * and so on. */
static void test_prefetch_beyond_the_cache(void)
{
	struct hca_params params = defaults();
	struct rig rig;
	sim_time record, line, lines;

	params.receive_cache.entries = params.receive_cache.ways = 32;
	rig = rig_with(&params);
	record = rig_read_time(rig.other, RECORD);
	line = rig_read_time(rig.other, LINE);
	lines = rig_read_time(rig.other, 32 * LINE);
	CU_ASSERT_EQUAL(lap(&rig), record + lines + 48 * line);
	CHECK_CACHE(rig.other->adapter->receive_cache, 15, 1 + 48, 0);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_cache", "lost"), 48);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_queue", "wqe_reads"), 2 + 48);
	CU_ASSERT_EQUAL(rig_count_other(&rig, "receive_queue", "taken"), RING);
	rig_destroy(&rig);
}

/* Posts all WQEs behind one doorbell, so that they are read together. */
static void post_writes(struct rig *rig)
{
	for (unsigned i = 0; i < SENDS; i++)
		mini_post(rig->qp, &(struct mini_send){.opcode = WQE_WRITE,
						       .address = rig->source,
						       .length = LINE,
						       .remote = rig->target,
						       .no_doorbell = i + 1 < SENDS});
	for (unsigned i = 0; i < SENDS; i++)
		CHECK_WC(mini_wait(rig->qp->send_cq), CQE_SENT, 0);
	mini_run(rig->mini);
}

static void test_send_wqes(void)
{
	struct hca_params params = defaults();
	sim_time fetch_fits, line;
	struct rig rig;

	params.send_cache.entries = SENDS;
	params.send_cache.ways = SENDS;
	rig = rig_with(&params);
	post_writes(&rig);
	fetch_fits = latency_stages_counters(rig.one->adapter->latency)->wqe_fetch;
	CHECK_CACHE(rig.one->adapter->send_cache, SENDS, 0, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "read_blocks"), SENDS);
	CU_ASSERT_EQUAL(rig_count(&rig, "send_cache", "prefetches"), SENDS - 1);
	rig_destroy(&rig);

	/* One line: the last of a read stays. The first WQE replaces it, and so on; each is read
	 * again in its turn with those behind it, but for the last. */
	params.send_cache.entries = 1;
	rig = rig_with(&params);
	line = rig_read_time(rig.one, LINE);
	post_writes(&rig);
	CHECK_CACHE(rig.one->adapter->send_cache, 1, SENDS - 1, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "send_cache", "lost"), SENDS - 1);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), SENDS);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "read_blocks"),
			SENDS + SENDS * (SENDS + 1) / 2 - 1);
	CU_ASSERT_TRUE(latency_stages_counters(rig.one->adapter->latency)->wqe_fetch >
		       fetch_fits + (SENDS * (SENDS + 1) / 2 - 1) * line);
	rig_destroy(&rig);
}

/* A retransmitted request is looked up again. */
static void test_send_wqes_that_are_sent_again(void)
{
	struct hca_params params = defaults();
	struct rig rig;

	params.send_cache.entries = 64;
	rig = rig_with(&params);
	rig_drop(&rig, false, (uint16_t)opcode_find(TRANSPORT_RC, OP_WRITE, SEG_ONLY, SUFFIX_NONE),
		 1, 0);
	post_writes(&rig);
	CHECK_CACHE(rig.one->adapter->send_cache, 2 * SENDS, 0, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "read_blocks"), SENDS);
	rig_destroy(&rig);
}

/* A WQE that arrived with its doorbell is in the cache, and was not read. */
static void test_send_wqes_that_were_stored(void)
{
	struct hca_params params = defaults();
	struct rig rig;

	params.send_cache.entries = 64;
	rig = rig_with(&params);
	mini_post(rig.qp, &(struct mini_send){.opcode = WQE_WRITE,
					      .address = rig.source,
					      .length = LINE,
					      .remote = rig.target,
					      .blueflame = true});
	CHECK_WC(mini_wait(rig.qp->send_cq), CQE_SENT, 0);
	CHECK_CACHE(rig.one->adapter->send_cache, 1, 0, 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "wqe_fetch", "reads"), 0);
	CU_ASSERT_EQUAL(rig_count(&rig, "send_cache", "fills"), 1);
	rig_destroy(&rig);
}

static void test_none(void)
{
	struct hca_params params = defaults();
	struct rig rig = rig_with(&params);

	CU_ASSERT_PTR_NULL(rig.one->adapter->send_cache);
	CU_ASSERT_PTR_NULL(rig.one->adapter->receive_cache);
	for (struct block *at = sim_blocks(rig.mini->sim); at; at = at->next)
		CU_ASSERT_STRING_NOT_EQUAL(at->type->name, "wqe_cache");
	rig_destroy(&rig);
}
