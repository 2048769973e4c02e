/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the effect of removing or halving a mechanism. Each case has a threshold that fails without
 * the effect.
 *
 *     requester's context cache of twice the size
 *         the knee of outbound rate moves right: a rate that fell below 0.9 no longer does
 *     prefetch of receive WQEs off
 *         RECVs run at less than half the rate, with a read for each
 *     pages of 2 MiB in place of 4 KiB
 *         MTT misses vanish: one for each page that is used, and no more
 *     strict ordering in the root complex
 *         small elements that miss the IO-TLB stall large ones that hit it
 */
#include "hca/formats/cqe.h"
#include "hca/transport/transport.h"
#include "hca/work/receive_queue.h"
#include "sim/random.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(a_context_cache_of_twice_the_size) \
	TEST(prefetch_of_receive_wqes_off)      \
	TEST(pages_of_2_mib)                    \
	TEST(strict_ordering)
SUITE(TESTS)

/* ---- the requester's context cache ---- */

enum { QPS_MAX = 48, ROUNDS = 10 };

/* Returns the messages per microsecond of queue pairs that take turns, with warm caches. */
static double outbound_rate(unsigned qps, uint64_t entries)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_qp *one[QPS_MAX], *other[QPS_MAX];
	sim_time start = 0;
	uint64_t source, target;

	mini->params.contexts.requester.entries = entries;
	mini_start(mini, LINK_INFINIBAND);
	source = mini_alloc(&mini->hosts[0], 4096);
	target = mini_alloc(&mini->hosts[1], 4096);
	for (unsigned i = 0; i < qps; i++) {
		one[i] = mini_qp_create(&mini->hosts[0], QP_RC);
		other[i] = mini_qp_create(&mini->hosts[1], QP_RC);
		mini_connect(one[i], other[i], 1024);
	}
	for (unsigned round = 0; round <= ROUNDS; round++) {
		if (round == 1)
			start = sim_now(mini->sim);
		for (unsigned i = 0; i < qps; i++)
			mini_post(one[i], &(struct mini_send){.opcode = WQE_WRITE,
							      .address = source,
							      .length = 32,
							      .remote = target,
							      .is_inline = true,
							      .blueflame = true});
		for (unsigned i = 0; i < qps; i++)
			CHECK_WC(mini_wait(one[i]->send_cq), CQE_SENT, 0);
	}
	start = sim_now(mini->sim) - start;
	mini_run(mini);
	for (unsigned i = 0; i < qps; i++) {
		mini_qp_destroy(one[i]);
		mini_qp_destroy(other[i]);
	}
	mini_run(mini);
	mini_destroy(mini);
	return (double)qps * ROUNDS * (double)US / (double)start;
}

static void test_a_context_cache_of_twice_the_size(void)
{
	double small_below = outbound_rate(16, 16), small_above = outbound_rate(32, 16);
	double large_below = outbound_rate(32, 32), large_above = outbound_rate(48, 32);
	double ample_16 = outbound_rate(16, 1024), ample_32 = outbound_rate(32, 1024);
	double ample_48 = outbound_rate(48, 1024);

	CU_ASSERT_TRUE(small_below >= 0.9 * ample_16);
	CU_ASSERT_TRUE(small_above < 0.9 * ample_32);  /* behind its knee ... */
	CU_ASSERT_TRUE(large_below >= 0.9 * ample_32); /* ... which has moved right */
	CU_ASSERT_TRUE(large_above < 0.9 * ample_48);
}

/* ---- prefetch of receive WQEs ---- */

enum { BATCHES = 12, BATCH = 48 };

static double receive_rate(bool prefetch, uint64_t *wqe_reads)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_qp *one, *other;
	uint64_t source, target;
	sim_time start;

	if (!prefetch) {
		mini->params.receive_queue.prefetch = 1;
		mini->params.receive_queue.low_water = 0;
	}
	mini_start(mini, LINK_INFINIBAND);
	source = mini_alloc(&mini->hosts[0], 4096);
	target = mini_alloc(&mini->hosts[1], 4096);
	one = mini_qp_create(&mini->hosts[0], QP_RC);
	other = mini_qp_create(&mini->hosts[1], QP_RC);
	mini_connect(one, other, 1024);
	start = sim_now(mini->sim);
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		for (unsigned i = 0; i < BATCH; i++)
			mini_receive(other, target, 64);
		for (unsigned i = 0; i < BATCH; i++)
			mini_post(one, &(struct mini_send){.opcode = WQE_SEND,
							   .address = source,
							   .length = 32,
							   .is_inline = true,
							   .unsignaled = i + 1 < BATCH,
							   .no_doorbell = i + 1 < BATCH});
		for (unsigned i = 0; i < BATCH; i++)
			CHECK_WC(mini_wait(other->recv_cq), CQE_RECEIVED_SEND, 0);
		CHECK_WC(mini_wait(one->send_cq), CQE_SENT, 0);
	}
	start = sim_now(mini->sim) - start;
	*wqe_reads = receive_queues_counters(mini->hosts[1].adapter->receive_queues)->wqe_reads;
	mini_run(mini);
	mini_qp_destroy(one);
	mini_qp_destroy(other);
	mini_run(mini);
	mini_destroy(mini);
	return BATCHES * BATCH * (double)US / (double)start;
}

static void test_prefetch_of_receive_wqes_off(void)
{
	uint64_t reads_on, reads_off;
	double on = receive_rate(true, &reads_on), off = receive_rate(false, &reads_off);

	CU_ASSERT_TRUE(off < 0.5 * on);
	CU_ASSERT_EQUAL(reads_off, BATCHES * BATCH);
	CU_ASSERT_TRUE(reads_on <= BATCHES * BATCH / 8);
}

/* ---- page size ---- */

enum { REGION = 16 << 20, WRITES = 3000 };

static struct icm_cache_counters mtt_use(uint32_t page_shift)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_host *host = &mini->hosts[0];
	struct mr mr;
	struct mini_qp *one, *other;
	uint64_t source, target;
	uint32_t key;
	struct block block;
	struct random random;
	struct icm_cache_counters count;

	mini_start(mini, LINK_INFINIBAND);
	mini_alloc(host, (1 << 21) - host->next_free % (1 << 21)); /* the region is aligned */
	source = mini_alloc(host, REGION);
	target = mini_alloc(&mini->hosts[1], 4096);
	mr = *hca_mr_find(host->adapter, host->key);
	mr.address = mr.host_address = source;
	mr.length = REGION;
	mr.page_shift = page_shift;
	CU_ASSERT_EQUAL_FATAL(hca_mr_create(host->adapter, &mr, &key), 0);
	one = mini_qp_create(host, QP_RC);
	other = mini_qp_create(&mini->hosts[1], QP_RC);
	mini_connect(one, other, 1024);
	block_init(&block, mini->sim, &(struct block_type){.name = "test"}, "test", NULL, NULL);
	random_init(&random, &block, "addresses");
	for (unsigned i = 0; i < WRITES; i++) {
		mini_post(one, &(struct mini_send){.opcode = WQE_WRITE,
						   .address = source + random_u64(&random) %
									       (REGION / 64) * 64,
						   .length = 32,
						   .key = key,
						   .remote = target});
		CHECK_WC(mini_wait(one->send_cq), CQE_SENT, 0);
	}
	mini_run(mini);
	count = *translation_mtt_counters(host->adapter->translation);
	mini_qp_destroy(one);
	mini_qp_destroy(other);
	mini_run(mini);
	block_fini(&block);
	mini_destroy(mini);
	return count;
}

static void test_pages_of_2_mib(void)
{
	struct icm_cache_counters small = mtt_use(12), large = mtt_use(21);

	CU_ASSERT_EQUAL(small.lookups, WRITES);
	CU_ASSERT_EQUAL(large.lookups, WRITES);
	CU_ASSERT_TRUE(small.misses > WRITES / 2); /* 4096 pages at random, 2048 entries */
	CU_ASSERT_EQUAL(large.misses, REGION >> 21);
}

/* ---- order in the root complex ---- */

enum { PAIRS = 16, LARGE = 4096, PAGE_BYTES = 4096 };

/* Returns the time from the first store until all large messages are in memory. A small message
 * whose page misses precedes each large message. */
static sim_time large_time(bool relaxed, bool small_misses, uint64_t *stalls)
{
	struct mini *mini = mini_create(SIM_ENGINE_native);
	struct mini_host *receiver = &mini->hosts[1];
	struct mini_qp *one, *other;
	uint64_t source, large, small;
	struct mr mr;
	uint32_t rkey;
	sim_time start;

	mini->params.pcie.relaxed_ordering = relaxed;
	mini->params.host.llc.enabled = true; /* writes end there, not in memory's own queue */
	mini->params.host.iommu.enabled = true;
	mini->params.host.iommu.entries = mini->params.host.iommu.ways = 64;
	mini->params.host.iommu.walkers = 1;
	mini->params.host.iommu.walk_latency = 2 * US;
	mini_start(mini, LINK_INFINIBAND);
	source = mini_alloc(&mini->hosts[0], LARGE);
	large = mini_alloc(receiver, PAIRS * LARGE);
	small = mini_alloc(receiver, PAIRS * PAGE_BYTES);
	mr = *hca_mr_find(receiver->adapter, receiver->key);
	mr.physical = true; /* no MTT reads, which would wait for earlier writes in any case */
	CU_ASSERT_EQUAL_FATAL(hca_mr_create(receiver->adapter, &mr, &rkey), 0);
	one = mini_qp_create(&mini->hosts[0], QP_RC);
	other = mini_qp_create(receiver, QP_RC);
	mini_connect(one, other, 4096);
	mini_fill(&mini->hosts[0], source, LARGE, 1);
	for (unsigned i = 0; i < PAIRS; i++) { /* from now on their pages are in the IO-TLB */
		mini_post(one, &(struct mini_send){.opcode = WQE_WRITE,
						   .address = source,
						   .length = LARGE,
						   .rkey = rkey,
						   .remote = large + i * LARGE});
		CHECK_WC(mini_wait(one->send_cq), CQE_SENT, 0);
	}
	mini_run(mini);
	mini_fill(&mini->hosts[0], source, LARGE, 2);
	*stalls = pcie_counters(receiver->adapter->pcie)->order_stall_time;
	start = sim_now(mini->sim);
	for (unsigned i = 0; i < PAIRS; i++) {
		mini_post(one, &(struct mini_send){.opcode = WQE_WRITE,
						   .address = source,
						   .length = 64,
						   .rkey = rkey,
						   .remote = small_misses ? small + i * PAGE_BYTES
									  : large,
						   .unsignaled = true});
		mini_post(one, &(struct mini_send){.opcode = WQE_WRITE,
						   .address = source,
						   .length = LARGE,
						   .rkey = rkey,
						   .remote = large + i * LARGE,
						   .unsignaled = i + 1 < PAIRS});
	}
	for (unsigned i = 0; i < PAIRS; i++)
		while (!mini_matches(receiver, large + i * LARGE, LARGE, 2))
			sim_run(mini->sim, sim_now(mini->sim) + 10 * NS);
	start = sim_now(mini->sim) - start;
	*stalls = pcie_counters(receiver->adapter->pcie)->order_stall_time - *stalls;
	mini_run(mini);
	mini_qp_destroy(one);
	mini_qp_destroy(other);
	mini_run(mini);
	mini_destroy(mini);
	return start;
}

static void test_strict_ordering(void)
{
	uint64_t strict_stalls, relaxed_stalls, stalls;
	sim_time strict = large_time(false, true, &strict_stalls);
	sim_time relaxed = large_time(true, true, &relaxed_stalls);
	sim_time undisturbed = large_time(false, false, &stalls);

	CU_ASSERT_TRUE(strict > PAIRS / 2 * 2 * US); /* half of the walks, at least */
	CU_ASSERT_TRUE(strict > 2 * relaxed);
	CU_ASSERT_TRUE(relaxed < undisturbed + 3 * US);
	CU_ASSERT_TRUE(strict_stalls > 10 * US);
	CU_ASSERT_TRUE(relaxed_stalls < strict_stalls / 4);
}
