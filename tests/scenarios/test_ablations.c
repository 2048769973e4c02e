/*
 * Proves that what is taken from an adapter, or given to it, shows where it should: a larger cache of contexts moves the knee of
 * the rate over queue pairs to the right, receive WQEs that are fetched one by one hold up messages, large pages make misses of
 * page entries vanish, and more reads under way make READs of one queue pair faster in proportion.
 */
#include <CUnit/Basic.h>
#include <string.h>

#include "scenarios/load/load.h"

static struct load_setup setup;
static struct load_result result;

static void begin(void)
{
	memset(&setup, 0, sizeof(setup));
	hca_params_default(&setup.hca);
	switch_params_default(&setup.box);
	params_default(port_param_list, &setup.link);
	params_default(load_param_list, &setup.load);
	params_default(load_param_groups[0].list, &setup.load.cpu);
	setup.load.joined = LOAD_CABLE;
	setup.load.threads = 4;
	setup.load.warm_up = 3000;
	setup.load.operations = 5000;
}

static double measure(void)
{
	char why[256] = "";
	bool good = load_run(&setup, &result, why, sizeof(why));

	CU_ASSERT_TRUE_FATAL(good);
	return result.mops;
}

static double rate_of(uint64_t entries, uint64_t queue_pairs)
{
	begin();
	setup.hca.contexts.requester.entries = entries;
	setup.hca.contexts.requester.misses = 2;
	setup.load.outstanding = 8;
	setup.load.qps = queue_pairs / 4;
	return measure();
}

static void context_cache(void)
{
	double few = rate_of(64, 32);

	CU_ASSERT(rate_of(64, 120) < 0.7 * few);
	CU_ASSERT(rate_of(128, 120) > 0.95 * few);
	CU_ASSERT(rate_of(128, 240) < 0.7 * few);
}

static double received(uint64_t prefetch)
{
	begin();
	setup.hca.receive_queue.prefetch = prefetch;
	setup.hca.receive_queue.low_water = prefetch / 2;
	setup.load.transport = LOAD_RC;
	setup.load.verb = LOAD_SEND;
	setup.load.inlined = true;
	setup.load.bytes = 32;
	setup.load.counts = LOAD_RECEIVED;
	setup.load.window = 64;
	measure();
	return result.received_mops;
}

static void receive_prefetch(void)
{
	CU_ASSERT(received(1) < 0.5 * received(32));
}

static double page_misses(uint64_t page)
{
	begin();
	setup.load.verb = LOAD_READ;
	setup.load.places = 16384;
	setup.load.stride = 4096;
	setup.load.page = page;
	setup.load.pattern = LOAD_INBOUND;
	setup.counter = "translation.mtt.misses";
	measure();
	return result.counter;
}

static void large_pages(void)
{
	CU_ASSERT(page_misses(4096) > 0.8);
	CU_ASSERT_EQUAL(page_misses(2 << 20), 0);
}

static double reads_of_one(uint64_t reads)
{
	begin();
	setup.load.threads = 1;
	setup.load.verb = LOAD_READ;
	setup.load.window = 64;
	setup.load.reads = reads;
	setup.load.cpu = (struct load_cpu_params){.post = 1 * NS, .ring = 1 * NS, .poll = 1 * NS};
	return measure();
}

static void reads_under_way(void)
{
	double four = reads_of_one(4);

	CU_ASSERT_DOUBLE_EQUAL(reads_of_one(8) / four, 2, 0.04);
	CU_ASSERT_DOUBLE_EQUAL(reads_of_one(2) / four, 0.5, 0.01);
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{"cache of contexts", context_cache},
		{"prefetch of receive WQEs", receive_prefetch},
		{"large pages", large_pages},
		{"reads under way", reads_under_way},
		CU_TEST_INFO_NULL,
	};
	CU_SuiteInfo suites[] = {{"ablations", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
	unsigned failures;

	CU_initialize_registry();
	CU_register_suites(suites);
	CU_basic_set_mode(CU_BRM_VERBOSE);
	CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures > 0;
}
