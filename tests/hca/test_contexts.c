/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cost of queue contexts. Outbound rates fall when there are more queue pairs than
 * entries in the requester's cache. A cache of twice the size moves this knee to twice as many.
 * Inbound rates fall by the responder's cache, correspondingly later. A miss delays only its own
 * queue, by one PCIe read. A replaced entry is written back.
 */
#include "hca/formats/cqe.h"
#include "tests/hca/support/rig.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                    \
	TEST(a_cache_of_twice_the_size_moves_the_knee) \
	TEST(outbound_falls_first)                     \
	TEST(completion_queues)                        \
	TEST(one_miss)                                 \
	TEST(many_cqes_and_one_miss)                   \
	TEST(the_same_again)
SUITE(TESTS)

enum { QPS_MAX = 64, ROUNDS = 12, BYTES = 32 };

struct sizes {
	uint64_t requester, responder, cq;
};

static const struct sizes ample = {1024, 1024, 1024};

static void set_sizes(struct mini *mini, struct sizes sizes)
{
	mini->params.pcie.store_credits = 4096; /* a crowd of doorbells at once */
	mini->params.contexts.requester.entries = sizes.requester;
	if (sizes.requester == 1)
		mini->params.contexts.requester.ways = 1;
	mini->params.contexts.responder.entries = sizes.responder;
	mini->params.contexts.cq.entries = sizes.cq;
}

struct crowd {
	struct mini *mini;
	struct mini_qp *qps[QPS_MAX], *peers[QPS_MAX];
	unsigned count;
	uint64_t source, target;
};

static struct crowd crowd_create(unsigned count, struct sizes sizes)
{
	struct crowd crowd = {.mini = mini_create(SIM_ENGINE_native), .count = count};

	set_sizes(crowd.mini, sizes);
	mini_start(crowd.mini, LINK_INFINIBAND);
	crowd.source = mini_alloc(&crowd.mini->hosts[0], 4096);
	crowd.target = mini_alloc(&crowd.mini->hosts[1], 4096);
	for (unsigned i = 0; i < count; i++) {
		crowd.qps[i] = mini_qp_create(&crowd.mini->hosts[0], QP_RC);
		crowd.peers[i] = mini_qp_create(&crowd.mini->hosts[1], QP_RC);
		mini_connect(crowd.qps[i], crowd.peers[i], 1024);
	}
	return crowd;
}

static void crowd_destroy(struct crowd *crowd)
{
	mini_run(crowd->mini);
	for (unsigned i = 0; i < crowd->count; i++) {
		mini_qp_destroy(crowd->qps[i]);
		mini_qp_destroy(crowd->peers[i]);
	}
	mini_run(crowd->mini);
	mini_destroy(crowd->mini);
}

static void post(struct crowd *crowd, unsigned i)
{
	mini_post(crowd->qps[i], &(struct mini_send){.opcode = WQE_WRITE,
						     .address = crowd->source,
						     .length = BYTES,
						     .remote = crowd->target,
						     .is_inline = true,
						     .blueflame = true});
}

static void write_in_turn(struct crowd *crowd, unsigned rounds)
{
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < crowd->count; i++)
			post(crowd, i);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < crowd->count; i++)
			CHECK_WC(mini_wait(crowd->qps[i]->send_cq), CQE_SENT, 0);
}

static void check_conservation(const struct crowd *crowd)
{
	for (unsigned host = 0; host < ARRAY_SIZE(crowd->mini->hosts); host++) {
		for (enum context_kind kind = CONTEXT_REQUESTER; kind <= CONTEXT_SRQ; kind++) {
			const struct icm_cache_counters *count = context_cache_counters(
				crowd->mini->hosts[host].adapter->contexts, kind);

			CU_ASSERT_EQUAL(count->lookups,
					count->hits + count->misses + count->merges);
			CU_ASSERT_EQUAL(count->misses, count->fills + count->stale);
			CU_ASSERT_EQUAL(count->write_backs, count->evictions);
		}
	}
}

/* Messages a microsecond, with warm caches. */
static double rate(unsigned count, struct sizes sizes)
{
	struct crowd crowd = crowd_create(count, sizes);
	sim_time start;

	write_in_turn(&crowd, 1);
	mini_run(crowd.mini);
	start = sim_now(crowd.mini->sim);
	write_in_turn(&crowd, ROUNDS);
	start = sim_now(crowd.mini->sim) - start;
	mini_run(crowd.mini);
	check_conservation(&crowd);
	crowd_destroy(&crowd);
	return (double)count * ROUNDS * (double)US / (double)start;
}

/* Returns the largest number of queue pairs (a power of two) that reach nine tenths of the rate
 * with large caches. */
static unsigned knee(struct sizes sizes)
{
	unsigned last = 0;

	for (unsigned count = 8; count <= QPS_MAX; count *= 2)
		if (rate(count, sizes) >= 0.9 * rate(count, ample))
			last = count;
	return last;
}

static void test_a_cache_of_twice_the_size_moves_the_knee(void)
{
	CU_ASSERT_EQUAL(knee((struct sizes){8, 1024, 1024}), 8);
	CU_ASSERT_EQUAL(knee((struct sizes){16, 1024, 1024}), 16);
	CU_ASSERT_EQUAL(knee((struct sizes){32, 1024, 1024}), 32);
	CU_ASSERT_EQUAL(knee((struct sizes){64, 1024, 1024}), 64);
}

/* The caches of requester and responder have a sixty-fourth of the default entries: A4-08,
 * A4-09. */
static void test_outbound_falls_first(void)
{
	double outbound = rate(64, (struct sizes){16, 1024, 1024});
	double inbound = rate(64, (struct sizes){1024, 64, 1024});
	double best = rate(64, ample);

	CU_ASSERT_TRUE(outbound < 0.8 * best);
	CU_ASSERT_TRUE(inbound > 0.99 * best);
	CU_ASSERT_TRUE(rate(64, (struct sizes){1024, 16, 1024}) < 0.9 * best);
}

static void test_completion_queues(void)
{
	CU_ASSERT_TRUE(rate(64, (struct sizes){1024, 1024, 16}) < 0.95 * rate(64, ample));
}

/* Returns the time from the store to the CQE, with or without the requester's context. All other
 * contexts are present. */
static sim_time latency(bool there, sim_time *waited)
{
	struct crowd crowd = crowd_create(2, (struct sizes){1, 1024, 1024});
	sim_time start;

	write_in_turn(&crowd, 2);
	mini_run(crowd.mini);
	post(&crowd, 1); /* its context is the one that stays */
	CHECK_WC(mini_wait(crowd.qps[1]->send_cq), CQE_SENT, 0);
	mini_run(crowd.mini);
	start = sim_now(crowd.mini->sim);
	*waited = mini_block_count(&crowd.mini->hosts[0], "scheduler", "context_wait_time");
	post(&crowd, there);
	CHECK_WC(mini_wait(crowd.qps[there]->send_cq), CQE_SENT, 0);
	start = sim_now(crowd.mini->sim) - start;
	*waited =
		mini_block_count(&crowd.mini->hosts[0], "scheduler", "context_wait_time") - *waited;
	crowd_destroy(&crowd);
	return start;
}

static void test_one_miss(void)
{
	sim_time waited, none;
	sim_time more = latency(false, &waited) - latency(true, &none);

	CU_ASSERT_EQUAL(none, 0);
	CU_ASSERT_EQUAL(waited, more);
	CU_ASSERT_TRUE(more > 450 * NS);
	CU_ASSERT_TRUE(more < 700 * NS);
}

/* CQEs that arrive while their CQ's context is fetched are written together when it arrives. */
static void test_many_cqes_and_one_miss(void)
{
	enum { CQES = 8 };
	struct crowd crowd = crowd_create(5, (struct sizes){1024, 1024, 4});

	write_in_turn(&crowd, 1); /* the other four CQs have the entries */
	mini_run(crowd.mini);
	for (unsigned i = 0; i < CQES; i++)
		mini_post(crowd.qps[0], &(struct mini_send){.opcode = WQE_WRITE,
							    .address = crowd.source,
							    .length = BYTES,
							    .remote = crowd.target,
							    .no_doorbell = i + 1 < CQES});
	mini_run(crowd.mini);
	for (unsigned i = 0; i < CQES; i++)
		CHECK_WC(mini_wait(crowd.qps[0]->send_cq), CQE_SENT, 0);
	CU_ASSERT_EQUAL(mini_block_count(&crowd.mini->hosts[0], "completion", "context_misses"),
			5 + 1);
	CU_ASSERT_EQUAL(mini_block_count(&crowd.mini->hosts[0], "completion", "record_reads"), 0);
	check_conservation(&crowd);
	crowd_destroy(&crowd);
}

static void test_the_same_again(void)
{
	double first = rate(32, (struct sizes){16, 32, 16});

	CU_ASSERT_DOUBLE_EQUAL(rate(32, (struct sizes){16, 32, 16}), first, 0);
}
