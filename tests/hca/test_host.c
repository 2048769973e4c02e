/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the host behind the root complex. Covers the lines that the cache holds, the ways that DDIO
 * may use, and the loss of DMA writes from the cache without DDIO. The cost of a miss, the other
 * socket, the link to it, and the IOMMU's walks and knee are exact to the picosecond. With strict
 * ordering a fast write waits for a slow one, with relaxed ordering it does not. CPU hits, memory
 * contention and counts are right, and all engines give the same run.
 */
#include <stdlib.h>
#include <string.h>

#include "hca/host/host.h"
#include "hca/host/pcie.h"
#include "hca/host/pcie_params.h"
#include "sim/random.h"
#include "tests/hca/support/round_link.h"
#include "tests/support/suite.h"

#define TESTS(TEST)               \
	TEST(hit_and_miss)        \
	TEST(cpu_use)             \
	TEST(memory_rate)         \
	TEST(ddio_ways)           \
	TEST(no_ddio)             \
	TEST(other_socket)        \
	TEST(socket_link)         \
	TEST(iommu_knee)          \
	TEST(iommu_walkers)       \
	TEST(iommu_walk_interval) \
	TEST(iommu_walk_times)    \
	TEST(write_ordering)      \
	TEST(separate_rdmarc)     \
	TEST(engines)
SUITE(TESTS)

enum { OPS = 400, ACCESSES = 8 };

static struct sim *sim;
static struct host *host;
static struct host_params params;
static const struct block_type test_type = {
	.name = "test",
	.params = (const struct param[]){{0}},
	.counters = (const struct counter[]){{0}},
	.trace_points = (const struct trace_point[]){{0}},
};
static struct block test_block;

static void begin(void)
{
	sim = sim_create(SIM_ENGINE_native, 1);
	block_init(&test_block, sim, &test_type, "test", NULL, NULL);
	host = host_create(sim, "host", &params);
}

static void end(void)
{
	const struct llc_counters *lines = llc_counters(host_llc(host));

	CU_ASSERT_EQUAL(lines->lookups, lines->hits + lines->misses);
	if (host_iommu(host)) {
		const struct iommu_counters *pages = iommu_counters(host_iommu(host));

		CU_ASSERT_EQUAL(pages->lookups, pages->hits + pages->misses + pages->merges);
	}
	host_destroy(host);
	block_fini(&test_block);
	sim_destroy(sim);
}

/* 64 sets of 8 ways, 2 for DDIO. Memory takes 50 ns, and 1 ns per line. */
static void params_small(void)
{
	host_params_default(&params);
	params.llc.enabled = true;
	params.llc.size = 64 * 8 * 64;
	params.llc.ways = 8;
	params.dram.rate = UINT64_C(512000000000);
}

static struct host_access accesses[ACCESSES];
static sim_time done_at[ACCESSES];
static struct event begins[ACCESSES];
static uint32_t begun, known;

static void note_done(struct host_access *access, sim_time at)
{
	CU_ASSERT(at >= sim_now(sim));
	done_at[access - accesses] = at;
	known++;
}

/* Translated, it goes to memory. */
static void go(struct event *event)
{
	host_use(host, &accesses[event - begins]);
}

static void begin_access(struct event *event)
{
	sim_time at = host_translate(host, accesses[event - begins].address,
				     accesses[event - begins].is_write);

	event_init(event, event->owner, go);
	sim_schedule_at(event, at);
}

/* Adds an access that begins at `at`, possibly with other accesses at that time. run() executes all
 * accesses. Returns the number of the access. */
static uint32_t access_at(uint64_t address, uint32_t length, bool is_write, sim_time at)
{
	CU_ASSERT_FATAL(begun < ACCESSES);
	accesses[begun] = (struct host_access){
		.address = address, .length = length, .is_write = is_write, .known = note_done};
	event_init(&begins[begun], &test_block, begin_access);
	sim_schedule_at(&begins[begun], at);
	return begun++;
}

static void run(void)
{
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(known, begun);
	begun = known = 0;
}

static sim_time takes(uint64_t address, uint32_t length, bool is_write, sim_time arrival)
{
	uint32_t number = access_at(address, length, is_write, arrival);

	run();
	return done_at[number] - arrival;
}

static sim_time read_takes(uint64_t address, uint32_t length, sim_time arrival)
{
	return takes(address, length, false, arrival);
}

static sim_time write_takes(uint64_t address, uint32_t length, sim_time arrival)
{
	return takes(address, length, true, arrival);
}

static void test_hit_and_miss(void)
{
	params_small();
	begin();
	CU_ASSERT_EQUAL(read_takes(0, 64, 0), 50 * NS);
	CU_ASSERT_EQUAL(read_takes(0, 64, 1 * US), 50 * NS); /* a DMA read leaves nothing there */
	llc_cpu_touch(host_llc(host), 0, 4096, false);
	CU_ASSERT_EQUAL(read_takes(0, 512, 2 * US), 0);
	CU_ASSERT_EQUAL(read_takes(4095, 2, 3 * US), 50 * NS); /* the second line is not */
	CU_ASSERT_EQUAL(llc_counters(host_llc(host))->memory_reads, 3);
	CU_ASSERT_EQUAL(llc_counters(host_llc(host))->lookups, 1 + 1 + 8 + 2);
	llc_flush(host_llc(host));
	CU_ASSERT_EQUAL(read_takes(0, 64, 4 * US), 50 * NS);
	end();
}

/* A CPU access that misses the cache uses memory time, as DMA does, and finds the data of DMA. */
static void test_cpu_use(void)
{
	struct llc *llc;
	uint64_t missed;

	params_small();
	begin();
	llc = host_llc(host);
	CU_ASSERT_EQUAL(llc_cpu_use(llc, 0, 512, false, 0, &missed), 0);
	CU_ASSERT_EQUAL(missed, 8);
	CU_ASSERT_EQUAL(llc_cpu_use(llc, 4096, 64, false, 0, &missed), 8 * NS); /* behind these */
	CU_ASSERT_EQUAL(missed, 1);
	CU_ASSERT_EQUAL(llc_cpu_use(llc, 0, 512, true, 0, &missed), 0);
	CU_ASSERT_EQUAL(missed, 0);
	CU_ASSERT_EQUAL(write_takes(8192, 64, 1 * US), 0);
	CU_ASSERT_EQUAL(llc_cpu_use(llc, 8192, 1, false, 1 * US, &missed), 1 * US);
	CU_ASSERT_EQUAL(missed, 0);
	CU_ASSERT_EQUAL(llc_counters(llc)->cpu_touches, 8 + 1 + 8 + 1);
	CU_ASSERT_EQUAL(llc_counters(llc)->cpu_misses, 8 + 1);
	end();
}

/* 64 lines at the same instant: memory gives one each nanosecond. */
static void test_memory_rate(void)
{
	params_small();
	begin();
	CU_ASSERT_EQUAL(read_takes(0, 512, 0), 50 * NS);
	CU_ASSERT_EQUAL(read_takes(4096, 512, 0), 58 * NS);
	CU_ASSERT_EQUAL(read_takes(8192, 64, 0), 66 * NS);
	CU_ASSERT_EQUAL(read_takes(12288, 64, 1 * US), 50 * NS);
	end();
}

/* DMA writes have 2 of 8 ways. Data that fits remains, other data is written back, and a CPU's
 * lines remain. */
static void test_ddio_ways(void)
{
	const struct llc_counters *count;
	const uint64_t room = 64 * 2 * 64;

	params_small();
	begin();
	count = llc_counters(host_llc(host));
	for (int round = 0; round < 3; round++)
		for (uint64_t at = 0; at < room; at += 64)
			CU_ASSERT_EQUAL(write_takes(at, 64, 0), 0);
	CU_ASSERT_EQUAL(count->allocations, 128);
	CU_ASSERT_EQUAL(count->hits, 256);
	CU_ASSERT_EQUAL(count->write_backs, 0);
	for (uint64_t at = room; at < 2 * room; at += 64)
		CU_ASSERT(write_takes(at, 64, 1 * US) > 0);
	CU_ASSERT_EQUAL(count->write_backs, 128);
	end();

	begin(); /* in ways 2 to 7 the CPU's lines are safe, and written in place */
	count = llc_counters(host_llc(host));
	llc_cpu_touch(host_llc(host), 0, 64 * 8 * 64, true);
	for (uint64_t at = 0; at < 64 * 8 * 64; at += 64)
		CU_ASSERT_EQUAL(write_takes(at, 64, 0), 0);
	CU_ASSERT_EQUAL(count->hits, 512);
	CU_ASSERT_EQUAL(count->allocations, 0);
	CU_ASSERT_EQUAL(llc_dma_wait(host_llc(host)), 0);
	end();
}

/* Without DDIO a DMA write goes to memory. Readers find the data in memory only, independent of the
 * cache. */
static void test_no_ddio(void)
{
	const struct llc_counters *count;
	struct llc *llc;
	uint64_t missed;

	params_small();
	params.llc.ddio = false;
	begin();
	llc = host_llc(host);
	count = llc_counters(llc);
	llc_cpu_touch(llc, 0, 256, true);
	CU_ASSERT_EQUAL(write_takes(60, 68, 0), 0);        /* lines 0 and 1 */
	CU_ASSERT_EQUAL(write_takes(4096, 64, 0), 2 * NS); /* memory's rate */
	CU_ASSERT_EQUAL(count->memory_writes, 3);
	CU_ASSERT_EQUAL(count->write_backs, 0);
	CU_ASSERT_EQUAL(count->invalidations, 2);
	CU_ASSERT_EQUAL(read_takes(0, 128, 1 * US), 50 * NS);
	CU_ASSERT_EQUAL(read_takes(128, 128, 1 * US), 0);
	(void)llc_cpu_use(llc, 0, 256, false, 2 * US, &missed);
	CU_ASSERT_EQUAL(missed, 2);
	CU_ASSERT_EQUAL(llc_dma_wait(llc), 50 * NS);
	end();
	/* no cache is modelled: a processor waits for the cost of its poll only */
	params.llc.enabled = false;
	begin();
	CU_ASSERT_EQUAL(llc_dma_wait(host_llc(host)), 0);
	end();
}

static void test_other_socket(void)
{
	params_small();
	params.numa.memory_node = 1;
	params.numa.remote_write_latency = 48 * NS;
	begin();
	llc_cpu_touch(host_llc(host), 0, 64, false);
	CU_ASSERT_EQUAL(read_takes(0, 64, 0), (50 + 65) * NS);
	CU_ASSERT_EQUAL(write_takes(0, 64, 1 * US), 48 * NS);
	CU_ASSERT_EQUAL(host_counters(host)->remote, 2);
	CU_ASSERT_EQUAL(host_counters(host)->wait_time, (50 + 65 + 48) * NS);
	end();
}

/* 256 B to or from the other socket are four lines of 72 B, at 32 GB/s: 9 ns. A request is 8 B. The
 * directions are independent. */
static void test_socket_link(void)
{
	params_small();
	params.llc.enabled = false;
	params.dram.rate = UINT64_C(100000000000000);
	params.dram.latency = 0;
	params.numa.memory_node = 1;
	params.numa.remote_read_latency = 0;
	begin();
	access_at(0, 256, true, 1 * US);
	access_at(256, 256, true, 1 * US);
	access_at(600, 64, true, 1 * US); /* of two lines */
	access_at(0, 64, true, 1 * US);
	run();
	CU_ASSERT_EQUAL(done_at[0], 1 * US);
	CU_ASSERT_EQUAL(done_at[1], 1 * US + 9 * NS);
	CU_ASSERT_EQUAL(done_at[2], 1 * US + 18 * NS);
	CU_ASSERT_EQUAL(done_at[3], 1 * US + 22500);
	access_at(0, 256, false, 2 * US);
	access_at(0, 256, false, 2 * US);
	access_at(0, 64, true, 2 * US);
	run();
	CU_ASSERT_EQUAL(done_at[0], 2 * US);
	CU_ASSERT_EQUAL(done_at[1], 2 * US + 9 * NS);
	CU_ASSERT_EQUAL(done_at[2], 2 * US + 500); /* behind two requests */
	end();
}

/* Windows of pages are read in turn, twice. With up to 64 pages, the second round hits all pages.
 * From 65 pages on, it hits none. */
static void test_iommu_knee(void)
{
	host_params_default(&params);
	params.iommu.enabled = true;
	params.llc.enabled = true;
	for (uint64_t pages = 63; pages <= 65; pages++) {
		sim_time at = 0, taken = 0;

		begin();
		llc_cpu_touch(host_llc(host), 0, pages * 4096, false);
		for (uint64_t i = 0; i < 2 * pages; i++, at += 1 * US) {
			sim_time wait = read_takes(i % pages * 4096, 64, at);

			if (i >= pages)
				taken += wait;
		}
		CU_ASSERT_EQUAL(taken, pages <= 64 ? 0 : pages * 280 * NS);
		end();
	}
	params.iommu.page = 2 << 20; /* and with pages of 2 MiB, 65 times 4 KiB are one */
	begin();
	for (uint64_t i = 0; i < 65; i++)
		CU_ASSERT_EQUAL(read_takes(i * 4096, 64, i * US), i ? 50 * NS : 330 * NS);
	CU_ASSERT_EQUAL(iommu_counters(host_iommu(host))->misses, 1);
	end();
}

/* There are two walkers. The third miss waits for a walker. An access to a page whose walk is in
 * progress waits for this walk. */
static void test_iommu_walkers(void)
{
	struct iommu *iommu;

	host_params_default(&params);
	params.iommu.enabled = true;
	params.iommu.walkers = 2;
	begin();
	iommu = host_iommu(host);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 0 << 12, false, 0), 280 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 1 << 12, false, 10 * NS), 290 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 2 << 12, false, 20 * NS), 560 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, (0 << 12) + 100, false, 30 * NS), 280 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 3 << 12, false, 40 * NS), 570 * NS);
	/* at the end of the walk, a hit */
	CU_ASSERT_EQUAL(iommu_translate(iommu, 0, false, 280 * NS), 280 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 0, false, 600 * NS), 600 * NS);
	CU_ASSERT_EQUAL(iommu_counters(iommu)->merges, 1);
	CU_ASSERT_EQUAL(iommu_counters(iommu)->misses, 4);
	CU_ASSERT_EQUAL(iommu_counters(iommu)->hits, 2);
	CU_ASSERT_EQUAL(iommu_counters(iommu)->walker_stalls, 2);
	iommu_invalidate(iommu);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 0, false, 700 * NS), 980 * NS);
	end();
}

/* Walks start at an interval, which is longer after a read. Walkers are no limit here. */
static void test_iommu_walk_interval(void)
{
	struct iommu *iommu;

	host_params_default(&params);
	params.iommu.enabled = true;
	params.iommu.walkers = 16;
	params.iommu.walk_interval = 45 * NS;
	params.iommu.read_walk_interval = 50 * NS;
	begin();
	iommu = host_iommu(host);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 0 << 12, true, 0), 280 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 1 << 12, false, 10 * NS), 325 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 2 << 12, true, 20 * NS), 375 * NS);
	CU_ASSERT_EQUAL(iommu_translate(iommu, 3 << 12, true, 200 * NS), 480 * NS);
	CU_ASSERT_EQUAL(iommu_counters(iommu)->walker_stalls, 2);
	end();
}

static int compare_times(const void *left, const void *right)
{
	sim_time a = *(const sim_time *)left, b = *(const sim_time *)right;

	return (a > b) - (a < b);
}

/* Walks have a lognormal latency. Their median, 95th percentile (1.645 sigmas) and mean agree with
 * the distribution, and are the same in each run. */
static void test_iommu_walk_times(void)
{
	enum { WALKS = 4000 };
	static sim_time taken[2][WALKS];
	double mean = 0;

	host_params_default(&params);
	params.iommu.enabled = true;
	params.iommu.walk_sigma = 0.33;
	for (unsigned run = 0; run < 2; run++) {
		begin();
		for (uint64_t i = 0; i < WALKS; i++) {
			sim_time at = i * 10 * US;

			taken[run][i] = iommu_translate(host_iommu(host), i << 12, false, at) - at;
		}
		end();
	}
	CU_ASSERT_EQUAL(memcmp(taken[0], taken[1], sizeof(taken[0])), 0);
	qsort(taken[0], WALKS, sizeof(taken[0][0]), compare_times);
	for (unsigned i = 0; i < WALKS; i++)
		mean += (double)taken[0][i] / WALKS / NS;
	CU_ASSERT_DOUBLE_EQUAL((double)taken[0][WALKS / 2] / NS, 280, 6);
	CU_ASSERT_DOUBLE_EQUAL((double)taken[0][WALKS * 95 / 100] / NS, 481.8, 20);
	CU_ASSERT_DOUBLE_EQUAL(mean, 295.7, 5);
}

/* ---- under the link ---- */

static struct pcie_params link_params;
static struct pcie *pcie;
static struct pcie_read reads[OPS];
static struct pcie_write writes[OPS];
static sim_time read_at[OPS], write_at[OPS];
static uint64_t digest;

static void note(uint64_t what)
{
	digest = (digest ^ what ^ sim_now(sim)) * UINT64_C(0x100000001b3);
}

static void note_read(struct pcie_read *read)
{
	read_at[read->tag] = sim_now(sim);
	note(read->tag);
}

static void note_write(struct pcie_write *write)
{
	write_at[write->tag] = sim_now(sim);
	note(write->tag + (UINT64_C(1) << 32));
}

static void start_read(uint32_t tag, uint64_t address, uint32_t length)
{
	reads[tag] = (struct pcie_read){.memory = memory_none(),
					.address = address,
					.length = length,
					.tag = tag,
					.done = note_read};
	pcie_read(pcie, &reads[tag]);
}

static void start_write(uint32_t tag, uint64_t address, uint32_t length, bool relaxed)
{
	writes[tag] = (struct pcie_write){.memory = memory_none(),
					  .address = address,
					  .length = length,
					  .tag = tag,
					  .relaxed = relaxed,
					  .done = note_write};
	pcie_write(pcie, &writes[tag]);
}

static void link_begin(enum sim_engine engine)
{
	sim = sim_create(engine, 1);
	block_init(&test_block, sim, &test_type, "test", NULL, NULL);
	pcie = pcie_create(sim, "pcie", &link_params);
	host = host_create(sim, "host", &params);
	pcie_host_attach(pcie, host);
}

static void link_end(void)
{
	const struct pcie_counters *count = pcie_counters(pcie);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(count->reads, count->reads_done);
	CU_ASSERT_EQUAL(count->writes, count->writes_done);
	CU_ASSERT_EQUAL(count->posted_headers_taken, count->posted_headers_returned);
	CU_ASSERT_EQUAL(count->posted_data_taken, count->posted_data_returned);
	CU_ASSERT_EQUAL(count->nonposted_headers_taken, count->nonposted_headers_returned);
	CU_ASSERT_EQUAL(host_counters(host)->reads, count->read_requests);
	CU_ASSERT_EQUAL(host_counters(host)->writes, count->write_packets);
	pcie_destroy(pcie);
	end();
}

static void link_round(void)
{
	round_link(&link_params);
	host_params_default(&params);
	params.llc.enabled = true;
	params.iommu.enabled = true;
}

/* A large write misses the IO-TLB, and a small write behind it hits. In order, the small write
 * waits and follows a picosecond later. */
static void test_write_ordering(void)
{
	for (int relaxed = 0; relaxed < 2; relaxed++) {
		sim_time from;

		link_round();
		link_params.relaxed_ordering = relaxed;
		link_begin(SIM_ENGINE_native);
		start_write(0, 0, 64, true);
		sim_run(sim, SIM_NEVER);
		from = sim_now(sim);
		start_write(1, 8192, 64, true);
		start_write(2, 0, 64, true);
		start_write(3, 0, 64, false); /* not marked: never passes */
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(write_at[1] - from, (88 + 100 + 280 + 50) * NS);
		CU_ASSERT_EQUAL(write_at[2] - from,
				relaxed ? (176 + 100 + 50) * NS : (88 + 100 + 280 + 50) * NS + 1);
		CU_ASSERT_EQUAL(write_at[3], write_at[1] + (relaxed ? 1 : 2));
		CU_ASSERT_EQUAL(pcie_counters(pcie)->order_stalls, relaxed ? 1 : 2);
		link_end();
	}
}

/* A read whose second page misses ends when the page arrives. Another read in between does not wait
 * for it. */
static void test_separate_rdmarc(void)
{
	link_round();
	link_begin(SIM_ENGINE_native);
	llc_cpu_touch(host_llc(host), 0, 64 * 1024, false);
	(void)iommu_translate(host_iommu(host), 0, false, 0);
	sim_run(sim, 1 * US);
	start_read(0, 4096 - 64, 128);
	start_read(1, 0, 64);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(read_at[0], (1000 + 48 + 100 + 280 + 300 + 84 + 100) * NS);
	CU_ASSERT_EQUAL(read_at[1],
			(1000 + 24 + 400 + 84 + 84 + 100) * NS); /* behind read 0's first */
	link_end();
}

/* The same random accesses under each engine. */
static void test_engines(void)
{
	static const enum sim_engine engines[] = {SIM_ENGINE_native, SIM_ENGINE_systemc,
						  SIM_ENGINE_systemc_reference};
	uint64_t first = 0;

	for (size_t k = 0; k < ARRAY_SIZE(engines); k++) {
		struct random random;

		random_init_named(&random, 3, "test", "host");
		link_round();
		link_params.posted_headers = 12;
		link_params.nonposted_headers = 8;
		link_params.tags = 16;
		link_params.relaxed_ordering = true;
		link_params.dllp = 2;
		params.jitter.median = 20 * NS;
		params.jitter.sigma = 0.5;
		params.jitter.tail_share = 0.01;
		digest = 0;
		link_begin(engines[k]);
		for (uint32_t i = 0; i < OPS; i++) {
			uint64_t address = random_below(&random, 1 << 20);
			uint32_t length = 1 + (uint32_t)random_below(&random, 3000);

			if (random_below(&random, 2))
				start_read(i, address, length);
			else
				start_write(i, address, length, random_below(&random, 2));
			if (random_below(&random, 4) == 0)
				sim_run(sim, sim_now(sim) + random_below(&random, 4 * US));
		}
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(host_counters(host)->tails, 24); /* seen, as is: */
		CU_ASSERT_EQUAL(iommu_counters(host_iommu(host))->merges, 76);
		link_end();
		if (k == 0)
			first = digest;
		CU_ASSERT_EQUAL(digest, first);
	}
}
