/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the checks of a key, in their order, and the resulting address. A translation takes exactly
 * its lookups: one MPT entry, an MTT entry for each page unless the region is contiguous, and PCIe
 * reads for misses.
 */
#include "hca/context/translation.h"
#include "hca/context/translation_params.h"
#include "hca/host/pcie_params.h"
#include "tests/hca/support/module_env.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)   \
	TEST(status)  \
	TEST(address) \
	TEST(time)    \
	TEST(several) \
	TEST(invalidate)
SUITE(TESTS)

enum { PD = 7, MPT_MISS_NS = 24 + 400 + 84 + 100, MTT_MISS_NS = 24 + 400 + 28 + 100 };

static struct sim *sim;
static struct pcie_params pcie_param;
static struct translation_params params;
static struct pcie *pcie;
static struct mr_table *regions;
static struct translation_unit *unit;
static struct mr *paged, *physical, *window, *unbound;
static int done_count;

static void note(struct translation *translation)
{
	(void)translation;
	done_count++;
}

static struct mr *add(struct mr mr)
{
	mr.memory = memory_none();
	mr.pd = PD;
	mr.page_shift = 12;
	return mr_table_add(regions, &mr);
}

static void begin(void)
{
	round_link(&pcie_param);
	params_default(translation_param_list, &params);
	params_default(icm_cache_mpt_param_list, &params.mpt);
	params_default(icm_cache_mtt_param_list, &params.mtt);
	params.latency = 5 * NS;
	params.interval = 2 * NS;
	params.mpt.hit_latency = 3 * NS;
	params.mtt.hit_latency = 4 * NS;
	sim = sim_create(module_env(SIM_ENGINE_native, &params.module), 1);
	pcie = pcie_create(sim, "pcie", &pcie_param);
	regions = mr_table_create(16);
	unit = translation_unit_create(sim, "translation", &params, pcie, regions);
	paged = add((struct mr){.access = MR_LOCAL_WRITE | MR_REMOTE_READ,
				.address = 0x1000800,
				.host_address = 0x5800,
				.length = 0x3000,
				.valid = true});
	physical = add((struct mr){.access = MR_LOCAL_WRITE,
				   .address = 0,
				   .host_address = 0x40000123,
				   .length = 1 << 30,
				   .physical = true,
				   .valid = true});
	window = add((struct mr){.access = MR_REMOTE_WRITE,
				 .address = 0x1000800,
				 .host_address = 0x5800,
				 .length = 0x1000,
				 .qpn = 77,
				 .valid = true});
	unbound = add((struct mr){.access = MR_REMOTE_WRITE, .length = 0x1000});
	done_count = 0;
}

static void end(void)
{
	const struct translation_counters *count = translation_counters(unit);
	const struct icm_cache_counters *mtt = translation_mtt_counters(unit);

	CU_ASSERT_EQUAL(count->translations, count->granted + count->bad_key + count->bad_pd +
						     count->bad_range + count->bad_access +
						     count->empty);
	CU_ASSERT_EQUAL(translation_mpt_counters(unit)->lookups,
			count->translations - count->empty);
	CU_ASSERT_EQUAL(mtt->lookups, count->pages);
	CU_ASSERT_EQUAL(mtt->lookups, mtt->hits + mtt->misses + mtt->merges);
	translation_unit_destroy(unit);
	mr_table_destroy(regions);
	pcie_destroy(pcie);
	sim_destroy(sim);
}

static sim_time run(struct translation *translation)
{
	sim_time start = sim_now(sim);
	int before = done_count;

	translation->done = note;
	translation_start(unit, translation);
	CU_ASSERT_EQUAL(done_count, before);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done_count, before + 1);
	return sim_now(sim) - start;
}

static void test_status(void)
{
	begin();
	{
		const struct {
			uint32_t key, pd, access;
			uint64_t address;
			uint32_t length, qpn;
			enum translation_status status;
		} rows[] = {
			{paged->key, PD, 0, 0x1000800, 0x3000, 0, TRANSLATION_OK},
			{paged->key, PD, MR_REMOTE_READ, 0x1000800, 1, 5, TRANSLATION_OK},
			{paged->key, PD, 0, 0x10037ff, 1, 0, TRANSLATION_OK},
			{paged->key, PD, 0, 0x10037ff, 2, 0, TRANSLATION_BAD_RANGE},
			{paged->key, PD, 0, 0x10007ff, 2, 0, TRANSLATION_BAD_RANGE},
			{paged->key, PD, 0, 0x1003800, 1, 0, TRANSLATION_BAD_RANGE},
			{paged->key, PD, 0, UINT64_MAX, 2, 0, TRANSLATION_BAD_RANGE},
			{paged->key, PD, 0, 0x1000801, UINT32_MAX, 0, TRANSLATION_BAD_RANGE},
			{paged->key, PD, MR_REMOTE_WRITE, 0x1000800, 1, 0, TRANSLATION_BAD_ACCESS},
			{paged->key, PD, MR_REMOTE_READ | MR_REMOTE_ATOMIC, 0x1000800, 1, 0,
			 TRANSLATION_BAD_ACCESS},
			{paged->key ^ 1, PD, 0, 0x1000800, 1, 0, TRANSLATION_BAD_KEY},
			{0, PD, 0, 0x1000800, 1, 0, TRANSLATION_BAD_KEY},
			{UINT32_MAX, PD, 0, 0x1000800, 1, 0, TRANSLATION_BAD_KEY},
			{unbound->key, PD, 0, 0, 1, 0, TRANSLATION_BAD_KEY},
			{paged->key, PD + 1, 0, 0x1000800, 1, 0, TRANSLATION_BAD_PD},
			{window->key, PD, MR_REMOTE_WRITE, 0x1000800, 1, 77, TRANSLATION_OK},
			{window->key, PD, MR_REMOTE_WRITE, 0x1000800, 1, 78,
			 TRANSLATION_BAD_ACCESS},
			/* several are wrong: the first check names it */
			{paged->key ^ 1, PD + 1, MR_REMOTE_WRITE, 0, 1, 0, TRANSLATION_BAD_KEY},
			{paged->key, PD + 1, MR_REMOTE_WRITE, 0, 1, 0, TRANSLATION_BAD_PD},
			{paged->key, PD, MR_REMOTE_WRITE, 0, 1, 0, TRANSLATION_BAD_RANGE},
			{0, 0, UINT32_MAX, 0, 0, 0,
			 TRANSLATION_OK}, /* no bytes: nothing is checked */
		};

		for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
			struct translation translation = {.key = rows[i].key,
							  .pd = rows[i].pd,
							  .access = rows[i].access,
							  .address = rows[i].address,
							  .length = rows[i].length,
							  .qpn = rows[i].qpn};

			run(&translation);
			CU_ASSERT_EQUAL(translation.status, rows[i].status);
			CU_ASSERT_EQUAL(translation.memory != NULL,
					rows[i].status == TRANSLATION_OK && rows[i].length);
		}
	}
	CU_ASSERT_EQUAL(translation_counters(unit)->bad_key, 5);
	CU_ASSERT_EQUAL(translation_counters(unit)->bad_pd, 2);
	CU_ASSERT_EQUAL(translation_counters(unit)->bad_range, 6);
	CU_ASSERT_EQUAL(translation_counters(unit)->bad_access, 3);
	end();
}

static void test_address(void)
{
	struct translation translation = {.pd = PD, .length = 10};

	begin();
	translation.key = paged->key;
	translation.address = 0x1001234;
	run(&translation);
	CU_ASSERT_EQUAL(translation.host_address, 0x5800 + 0x1001234 - 0x1000800);
	CU_ASSERT_PTR_EQUAL(translation.memory, memory_none());
	translation.key = physical->key;
	run(&translation);
	CU_ASSERT_EQUAL(translation.host_address, 0x40000123 + 0x1001234);
	end();
}

static void test_time(void)
{
	struct translation translation = {.pd = PD, .address = 0x1000800};

	begin();
	translation.key = paged->key; /* pages of the host: 0x5, 0x6, 0x7, 0x8 */
	translation.length = 0x800;
	CU_ASSERT_EQUAL(run(&translation), (MPT_MISS_NS + 3 + MTT_MISS_NS + 4 + 5) * NS);
	CU_ASSERT_EQUAL(run(&translation), (3 + 4 + 5) * NS);
	translation.length = 0x801; /* one page more, which misses */
	CU_ASSERT_EQUAL(run(&translation), (3 + 4 + MTT_MISS_NS + 4 + 5) * NS);
	CU_ASSERT_EQUAL(run(&translation), (3 + 4 + 4 + 5) * NS);
	translation.length = 0x3000; /* all four: two that hit, two that miss */
	CU_ASSERT_EQUAL(run(&translation), (3 + 8 + 2 * (MTT_MISS_NS + 4) + 5) * NS);
	CU_ASSERT_EQUAL(translation_counters(unit)->pages, 1 + 1 + 2 + 2 + 4);
	translation.key = physical->key;
	CU_ASSERT_EQUAL(run(&translation), (MPT_MISS_NS + 3 + 5) * NS);
	CU_ASSERT_EQUAL(run(&translation), (3 + 5) * NS);
	CU_ASSERT_EQUAL(translation_counters(unit)->contiguous, 2);
	translation.length = 0;
	CU_ASSERT_EQUAL(run(&translation), 5 * NS);
	CU_ASSERT_EQUAL(translation_counters(unit)->empty, 1);
	end();
}

/* Starts keep their distance; misses on one entry share one read. */
static void test_several(void)
{
	struct translation translations[3];
	sim_time start;

	begin();
	for (int round = 0; round < 2; round++) {
		start = sim_now(sim);
		done_count = 0;
		for (int i = 0; i < 3; i++) {
			translations[i] = (struct translation){.key = physical->key,
							       .pd = PD,
							       .address = (uint64_t)i * 5000,
							       .length = 4096,
							       .done = note};
			translation_start(unit, &translations[i]);
		}
		for (int i = 0; i < 3; i++) {
			sim_run(sim,
				start + (round ? 8 + 2 * (sim_time)i : MPT_MISS_NS + 3 + 5) * NS);
			CU_ASSERT_EQUAL(done_count, round ? i : 0);
		}
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(done_count, 3);
		CU_ASSERT_EQUAL(sim_now(sim), start + (round ? 12 : MPT_MISS_NS + 3 + 5) * NS);
	}
	CU_ASSERT_EQUAL(translation_mpt_counters(unit)->merges, 2);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 1);
	end();
}

static void test_invalidate(void)
{
	struct translation translation = {.pd = PD, .address = 0x1000800, .length = 0x3000};
	struct mr gone;

	begin();
	translation.key = paged->key;
	run(&translation);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 5);
	run(&translation);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 5);
	gone = *paged;
	mr_table_remove(regions, paged);
	translation_invalidate(unit, &gone);
	run(&translation); /* must read the MPT entry again, and finds that it is gone */
	CU_ASSERT_EQUAL(translation.status, TRANSLATION_BAD_KEY);
	CU_ASSERT_EQUAL(pcie_counters(pcie)->reads, 6);
	CU_ASSERT_EQUAL(translation_mtt_counters(unit)->invalidations, 4);
	end();
}
