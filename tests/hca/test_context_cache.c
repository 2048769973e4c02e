/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests context lookups, to the picosecond. A lookup costs its hit latency, or a PCIe read as well.
 * Misses on one entry merge. Misses beyond the slots wait in order while hits pass. An entry is
 * evicted when its set is full, or invalidated, also while it is read. Each kind of context has its
 * own cache; read state of responders has one only if it is separate. Caches that share a fetcher
 * wait for each other in turn.
 */
#include <string.h>

#include "hca/context/context_cache.h"
#include "sim/counters.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)              \
	TEST(hit_and_miss)       \
	TEST(merge)              \
	TEST(stall)              \
	TEST(stall_ends)         \
	TEST(evict)              \
	TEST(invalidate)         \
	TEST(lines_and_interval) \
	TEST(kinds)              \
	TEST(separate_rdmarc)    \
	TEST(fetcher)            \
	TEST(second_level)
SUITE(TESTS)

enum { LOOKUPS = 32, MISS_NS = 24 + 100 + 300 + 64 + 20 + 100 };

static struct sim *sim;
static struct pcie_params pcie_param;
static struct icm_cache_params params;
static struct pcie *pcie;
static struct icm_cache *cache;
static struct icm_lookup lookups[LOOKUPS];
static sim_time done_at[LOOKUPS];
static char order[LOOKUPS + 1];

static void note(struct icm_lookup *lookup)
{
	size_t n = strlen(order);

	order[n] = (char)('a' + (lookup - lookups));
	order[n + 1] = 0;
	done_at[lookup - lookups] = sim_now(sim);
}

static void params_round(void)
{
	round_link(&pcie_param);
	params_default(icm_cache_requester_param_list, &params);
	params.entries = 8;
	params.ways = 2;
	params.entry_bytes = 64;
	params.hit_latency = 4 * NS;
	params.mshrs = 2;
}

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	pcie = pcie_create(sim, "pcie", &pcie_param);
	cache = icm_cache_create(sim, "cache", CONTEXT_REQUESTER, &params, pcie, NULL, NULL);
	order[0] = 0;
}

static void end(void)
{
	const struct icm_cache_counters *count = icm_cache_counters(cache);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(count->lookups, count->hits + count->misses + count->merges);
	CU_ASSERT_EQUAL(count->misses, count->fills + count->stale);
	CU_ASSERT_EQUAL(count->misses, pcie_counters(pcie)->reads);
	icm_cache_destroy(cache);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static void look_up(int i, uint64_t number)
{
	lookups[i] = (struct icm_lookup){.number = number, .done = note};
	icm_cache_lookup(cache, &lookups[i]);
}

static void test_hit_and_miss(void)
{
	sim_time start, ready = 0;

	params_round();
	begin();
	CU_ASSERT_FALSE(icm_cache_hit(cache, 5, 0, 0, &ready));
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->lookups, 0); /* as if not asked */
	look_up(0, 5);
	CU_ASSERT_STRING_EQUAL(order, "");
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[0], (MISS_NS + 4) * NS);
	CU_ASSERT_FALSE(lookups[0].hit);
	start = sim_now(sim);
	look_up(1, 5);
	CU_ASSERT_STRING_EQUAL(order, "a");
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[1] - start, 4 * NS);
	CU_ASSERT(lookups[1].hit);
	CU_ASSERT(icm_cache_hit(cache, 5, 0, sim_now(sim) + 7, &ready));
	CU_ASSERT_EQUAL(ready, sim_now(sim) + 7 + 4 * NS);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->hits, 2);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->misses, 1);
	end();
}

static void test_merge(void)
{
	params_round();
	begin();
	look_up(0, 5);
	look_up(1, 5);
	sim_run(sim, 600 * NS);
	look_up(2, 5);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(order, "abc");
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(done_at[i], (MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->merges, 2);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 1);
	end();
}

/* The cache has two slots. c and d wait for a slot. d stays behind c, although its entry arrives
 * with a. e hits and passes all. */
static void test_stall(void)
{
	sim_time start;

	params_round();
	begin();
	look_up(0, 9);
	sim_run(sim, SIM_NEVER);
	start = sim_now(sim);
	order[0] = 0;
	look_up(0, 0);
	look_up(1, 1);
	look_up(2, 2);
	look_up(3, 3);
	look_up(4, 9);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->stalls, 2);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->waiting_max, 2);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(order, "eabcd");
	CU_ASSERT_EQUAL(done_at[4] - start, 4 * NS);
	CU_ASSERT_EQUAL(done_at[0] - start, (MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[1] - start,
			(MISS_NS + 84 + 4) * NS); /* behind the first's completion */
	CU_ASSERT_EQUAL(done_at[2] - start, (2 * MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[3] - start, (2 * MISS_NS + 84 + 4) * NS);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->misses, 5);
	end();
}

/* A lookup waits for a slot. If its entry has arrived meanwhile, the lookup is a hit. If its entry
 * is being read, the lookup is a merge. */
static void test_stall_ends(void)
{
	params_round();
	params.mshrs = 1;
	begin();
	look_up(0, 0);
	look_up(1, 1);
	look_up(2, 1);
	look_up(3, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(order, "adbc");
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->stalls, 2);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->misses, 2);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->merges, 2);
	end();
}

static void test_evict(void)
{
	params_round();
	begin();
	for (int i = 0; i < 3; i++) { /* one set of two ways */
		look_up(i, (uint64_t)i * 4);
		sim_run(sim, SIM_NEVER);
	}
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->evictions, 1);
	look_up(3, 4);
	sim_run(sim, SIM_NEVER);
	look_up(4, 0);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT(lookups[3].hit);
	CU_ASSERT_FALSE(lookups[4].hit); /* the oldest */
	end();
}

static void test_invalidate(void)
{
	params_round();
	begin();
	look_up(0, 5);
	sim_run(sim, SIM_NEVER);
	icm_cache_invalidate(cache, 4, 1);
	look_up(1, 5);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT(lookups[1].hit);
	icm_cache_invalidate(cache, 5, 1);
	look_up(2, 5);
	sim_run(sim, sim_now(sim) + 10 * NS);
	icm_cache_invalidate(cache, 0,
			     100); /* during the read, which ends without keeping the entry */
	look_up(3, 5);             /* and does not serve later lookups */
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_FALSE(lookups[2].hit);
	CU_ASSERT_FALSE(lookups[3].hit);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->stale, 1);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->merges, 0);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->invalidations, 1);
	look_up(4, 5);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT(lookups[4].hit);
	end();
}

/* One read fetches all entries of a line. Results are one interval apart. */
static void test_lines_and_interval(void)
{
	sim_time start;

	params_round();
	params.line_entries = 4;
	params.interval = 10 * NS;
	params.entry_bytes = 8;
	begin();
	look_up(0, 5);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_bytes, 32);
	CU_ASSERT_EQUAL(done_at[0], (24 + 400 + 32 + 20 + 100 + 4) * NS);
	start = sim_now(sim) + 100 * NS;
	sim_run(sim, start);
	look_up(1, 4);
	look_up(2, 7);
	look_up(3, 6);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[1] - start, 4 * NS);
	CU_ASSERT_EQUAL(done_at[2] - start, 14 * NS);
	CU_ASSERT_EQUAL(done_at[3] - start, 24 * NS);
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->hits, 3);
	icm_cache_invalidate(cache, 7, 2); /* touches two lines */
	CU_ASSERT_EQUAL(icm_cache_counters(cache)->invalidations, 1);
	look_up(4, 4);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_FALSE(lookups[4].hit);
	end();
}

/* Two caches have two slots each, and one fetch at a time for both. */
static void test_fetcher(void)
{
	struct icm_fetcher fetcher = {.limit = 1};
	struct icm_cache *both[2];

	params_round();
	begin();
	for (int i = 0; i < 2; i++)
		both[i] = icm_cache_create(sim, i ? "second" : "first", CONTEXT_CQ, &params, pcie,
					   &fetcher, NULL);
	for (int i = 0; i < 6; i++)
		lookups[i] = (struct icm_lookup){.number = (uint64_t)i / 2, .done = note};
	icm_cache_lookup(both[0], &lookups[0]); /* 0: read first */
	icm_cache_lookup(both[0], &lookups[2]); /* 1: waits, before the other cache does */
	icm_cache_lookup(both[0], &lookups[4]); /* 2: waits behind it */
	icm_cache_lookup(both[1], &lookups[3]); /* 1 of the other cache */
	icm_cache_lookup(both[0], &lookups[1]); /* 0: joins */
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_STRING_EQUAL(order, "abdce");
	CU_ASSERT_EQUAL(done_at[0], (MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[1], (MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[3], (2 * MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[2], (3 * MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(done_at[4], (4 * MISS_NS + 4) * NS);
	CU_ASSERT_EQUAL(icm_cache_counters(both[0])->stalls, 2);
	CU_ASSERT_EQUAL(icm_cache_counters(both[1])->stalls, 1);
	CU_ASSERT_EQUAL(icm_cache_counters(both[0])->merges, 1);
	for (int i = 0; i < 2; i++)
		icm_cache_destroy(both[i]);
	icm_cache_destroy(cache);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static int context_done;

static void note_context(struct context_lookup *lookup)
{
	(void)lookup;
	context_done++;
}

static struct context_cache_params all_defaults(void)
{
	struct context_cache_params all;

	params_default(contexts_param_list, &all);
	params_default(icm_cache_requester_param_list, &all.requester);
	params_default(icm_cache_responder_param_list, &all.responder);
	params_default(icm_cache_cq_param_list, &all.cq);
	params_default(icm_cache_srq_param_list, &all.srq);
	params_default(icm_cache_reads_param_list, &all.reads);
	return all;
}

static void test_kinds(void)
{
	static const enum context_kind kinds[] = {CONTEXT_REQUESTER, CONTEXT_RESPONDER, CONTEXT_CQ,
						  CONTEXT_SRQ};
	struct context_cache_params all;
	struct context_cache *contexts;
	sim_time ready = 0;

	params_round();
	begin();
	all = all_defaults();
	CU_ASSERT_EQUAL(all.requester.entry_bytes + all.responder.entry_bytes, 375);
	contexts = context_cache_create(sim, "contexts", &all, pcie);
	context_done = 0;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct context_lookup lookup = {
			.number = 7, .kind = kinds[i], .done = note_context};
		uint64_t bytes = pcie_counters(pcie)->read_bytes;
		const uint64_t expected[] = {192, 183, 64, 64};

		for (int again = 0; again < 2; again++) {
			context_cache_lookup(contexts, &lookup);
			sim_run(sim, SIM_NEVER);
			CU_ASSERT_EQUAL(lookup.hit, again);
		}
		CU_ASSERT_EQUAL(pcie_counters(pcie)->read_bytes - bytes, expected[i]);
		CU_ASSERT_EQUAL(context_cache_counters(contexts, kinds[i])->lookups, 2);
	}
	CU_ASSERT_EQUAL(context_done, 8);
	context_cache_invalidate(contexts, CONTEXT_RESPONDER, 7);
	CU_ASSERT_FALSE(context_cache_hit(contexts, CONTEXT_RESPONDER, 7, false, 0, &ready));
	CU_ASSERT(context_cache_hit(contexts, CONTEXT_REQUESTER, 7, false, 0, &ready));
	CU_ASSERT_EQUAL(ready, sim_now(sim) + all.requester.hit_latency);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 4);
	CU_ASSERT_FALSE(context_cache_separate_rdmarc(contexts));
	context_cache_destroy(contexts);
	icm_cache_destroy(cache);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

/* A READ needs the responder's entry and the entry for reads. Other requests need the first entry
 * only. */
static void test_separate_rdmarc(void)
{
	struct context_lookup lookup = {
		.number = 7, .kind = CONTEXT_RESPONDER, .done = note_context};
	struct context_cache_params all;
	struct context_cache *contexts;
	sim_time ready = 0;

	params_round();
	begin();
	all = all_defaults();
	all.separate_rdmarc = true;
	contexts = context_cache_create(sim, "contexts", &all, pcie);
	CU_ASSERT_TRUE(context_cache_separate_rdmarc(contexts));
	context_cache_lookup(contexts, &lookup);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_bytes, 183);
	CU_ASSERT_FALSE(context_cache_hit(contexts, CONTEXT_READS, 7, true, 0, &ready));
	lookup.kind = CONTEXT_READS;
	context_cache_lookup(contexts, &lookup);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_FALSE(lookup.hit);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->read_bytes, 183 + 32);
	CU_ASSERT_EQUAL(context_cache_counters(contexts, CONTEXT_RESPONDER)->hits, 1);
	CU_ASSERT_EQUAL(context_cache_counters(contexts, CONTEXT_READS)->misses, 1);
	CU_ASSERT_TRUE(context_cache_hit(contexts, CONTEXT_READS, 7, true, 0, &ready));
	context_cache_invalidate(contexts, CONTEXT_READS, 7);
	CU_ASSERT_TRUE(context_cache_hit(contexts, CONTEXT_RESPONDER, 7, true, 0, &ready));
	CU_ASSERT_FALSE(context_cache_hit(contexts, CONTEXT_READS, 7, true, 0, &ready));
	context_cache_destroy(contexts);
	icm_cache_destroy(cache);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static uint64_t counter(const char *name)
{
	const uint64_t *value = counters_find(sim, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(value);
	return *value;
}

/* The cache has four sets of two ways, with 64 entries behind them. An entry that the first level
 * replaces costs a lookup of the second level, and no write. */
static void test_second_level(void)
{
	sim_time start;

	params_round();
	params.second_entries = 64;
	params.second_latency = 20 * NS;
	begin();
	look_up(0, 1);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[0], (MISS_NS + 20 + 4) * NS);
	look_up(1, 5);
	look_up(2, 9);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 3);
	start = sim_now(sim);
	look_up(3, 1); /* 1, 5 and 9 are in one set */
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_at[3] - start, (20 + 4) * NS);
	CU_ASSERT_FALSE(lookups[3].hit);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 3);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->writes, 0);
	CU_ASSERT_EQUAL(counter("cache.misses"), 4);
	CU_ASSERT_EQUAL(counter("cache.evictions"), 2);
	CU_ASSERT_EQUAL(counter("cache.write_backs"), 0);
	CU_ASSERT_EQUAL(counter("cache.second.lookups"), 4);
	CU_ASSERT_EQUAL(counter("cache.second.hits"), 1);
	icm_cache_invalidate(cache, 1, 1); /* in both */
	look_up(4, 1);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 4);
	CU_ASSERT_EQUAL(blocks_check(sim, stderr), 0);
	icm_cache_destroy(cache);
	pcie_destroy(pcie);
	sim_destroy(sim);
}
