/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a load of verbs reaches the rate of each limit of an adapter when other limits are
 * removed: interval of a processing unit by kind of packet, interval of departures. Also lines of
 * BlueFlame, reads of WQEs, and rounds of writing. Contexts of reliable queue pairs take two
 * entries. Atomics wait for their lock, misses for all their reads, and ACKs for their condition.
 * Threads wait for a shared doorbell register. Queue pairs with their own CQs need more contexts,
 * and threads with their own regions need more regions. The latency of a single work request is the
 * sum of its parts, in both of two runs. Inconsistent parameters are refused with the reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hcasim/support/one_load.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(processing_unit)              \
	TEST(processing_units)             \
	TEST(intervals_of_departures)      \
	TEST(responses_of_reads)           \
	TEST(reads_under_way)              \
	TEST(whole_windows)                \
	TEST(lines_of_blueflame)           \
	TEST(wqes_that_are_read)           \
	TEST(pages_on_demand)              \
	TEST(a_shared_queue_pair)          \
	TEST(shared_registers)             \
	TEST(background)                   \
	TEST(turns_of_writing)             \
	TEST(compressed_cqes)              \
	TEST(parts_of_contexts)            \
	TEST(locks_of_atomics)             \
	TEST(interval_of_atomics)          \
	TEST(reads_of_a_miss)              \
	TEST(when_writes_are_acknowledged) \
	TEST(latency)                      \
	TEST(noise_of_cores)               \
	TEST(whose_cqs)                    \
	TEST(whose_regions)                \
	TEST(refused)
SUITE(TESTS)

static void begin(void)
{
	load_setup_default(&setup);
	setup.load.topology = LOAD_CABLE;
	setup.load.warm_up = 1000;
	setup.load.operations = 2000;
	setup.load.cpu = (struct load_cpu_params){.post = 1 * NS, .ring = 1 * NS, .poll = 1 * NS};
}

/* Rates agree within a thousandth, because counted work requests count as a whole. */
static void expect_mops(double measured, double interval_ns)
{
	CU_ASSERT_DOUBLE_EQUAL(measured, 1000 / interval_ns, 1 / interval_ns);
}

/* Lists of 16: 16 CQEs of 64 B, or a title and two arrays of mini-CQEs. The work is the same. */
static void test_compressed_cqes(void)
{
	for (unsigned round = 0; round < 4; round++) {
		bool receives = round >= 2, compress = round % 2;

		begin();
		setup.load.verb = LOAD_SEND;
		setup.load.transport = LOAD_UD;
		setup.load.pattern = receives ? LOAD_INBOUND : LOAD_OUTBOUND;
		setup.load.counts = receives ? LOAD_RECEIVED : LOAD_COMPLETED;
		setup.load.post_list = 16;
		setup.load.tx_depth = 64;
		setup.load.cqe_compression = compress;
		setup.counter = "completion.bytes";
		measure();
		CU_ASSERT_DOUBLE_EQUAL(result.counter, compress ? 3 * 64.0 / 16 : 64.0, 0.5);
	}
}

static void test_processing_unit(void)
{
	static const struct {
		unsigned verb, interval_ns;
	} rows[] = {{LOAD_WRITE, 100}, {LOAD_READ, 130}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.hca.scheduler.packet_interval = 100 * NS;
		setup.hca.scheduler.read_interval = 130 * NS;
		setup.hca.scheduler.processing_units = 2;
		setup.load.verb = rows[i].verb;
		setup.load.tx_depth = 64;
		measure();
		expect_mops(result.mops, (double)rows[i].interval_ns);
	}
}

/* Two queue pairs have a unit each. */
static double reads_of_one(uint64_t reads)
{
	begin();
	setup.load.verb = LOAD_READ;
	setup.load.tx_depth = 64;
	setup.load.max_rd_atomic = reads;
	measure();
	return result.mops;
}

/* Twice as many outstanding READs of one queue pair give twice the rate. */
static void test_reads_under_way(void)
{
	double four = reads_of_one(4);

	CU_ASSERT_DOUBLE_EQUAL(reads_of_one(8) / four, 2, 0.04);
	CU_ASSERT_DOUBLE_EQUAL(reads_of_one(2) / four, 0.5, 0.01);
}

static double reads_of_windows(unsigned refill, uint64_t signal)
{
	begin();
	setup.load.verb = LOAD_READ;
	setup.load.tx_depth = 8;
	setup.load.refill = refill;
	setup.load.cq_mod = signal;
	measure();
	return result.mops;
}

/* A core that waits for a whole window is as slow as with one CQE for the window. */
static void test_whole_windows(void)
{
	double last = reads_of_windows(LOAD_REFILL_EACH, 8);

	CU_ASSERT_DOUBLE_EQUAL(reads_of_windows(LOAD_REFILL_ALL, 1) / last, 1, 0.02);
	CU_ASSERT(reads_of_windows(LOAD_REFILL_EACH, 1) > 1.02 * last);
}

/* Departures alternate. SENDs may take longer. */
static void test_intervals_of_departures(void)
{
	static const struct {
		unsigned verb, send_interval_ns, interval_ns;
	} rows[] = {
		{LOAD_WRITE, 0, 60}, {LOAD_SEND, 0, 60}, {LOAD_WRITE, 90, 60}, {LOAD_SEND, 90, 90}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.hca.transmit.interval = 60 * NS;
		setup.hca.transmit.send_interval = rows[i].send_interval_ns * NS;
		setup.load.verb = rows[i].verb;
		setup.load.tx_depth = 64;
		measure();
		expect_mops(result.mops, (double)rows[i].interval_ns);
	}
}

static void test_processing_units(void)
{
	begin();
	setup.hca.scheduler.packet_interval = 100 * NS;
	setup.hca.scheduler.processing_units = 2;
	setup.load.qps = 2;
	setup.load.tx_depth = 64;
	measure();
	expect_mops(result.mops, 50);
	setup.hca.scheduler.read_interval =
		80 * NS; /* one engine for both, so they do not pass each other */
	setup.load.verb = LOAD_READ;
	measure();
	expect_mops(result.mops, 80);
}

static void test_responses_of_reads(void)
{
	begin();
	setup.hca.scheduler.response_interval = 150 * NS;
	setup.hca.scheduler.processing_units = 1;
	setup.load.verb = LOAD_READ;
	setup.load.tx_depth = 64;
	measure();
	expect_mops(result.mops, 150);
	setup.hca.scheduler.response_segment = 256;
	setup.load.bytes = load_one_size(256);
	measure();
	expect_mops(result.mops, 150);
	setup.load.bytes = load_one_size(513); /* three segments in one packet */
	measure();
	expect_mops(result.mops, 450);
	setup.load.mtu = 256; /* each packet is a segment */
	measure();
	expect_mops(result.mops, 450);
}

static void test_lines_of_blueflame(void)
{
	begin();
	setup.hca.doorbell.line_interval = 40 * NS;
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(100); /* 16 + 16 + 4 + 100: three lines */
	setup.load.tx_depth = 64;
	measure();
	expect_mops(result.mops, 120);
	setup.load.bytes = load_one_size(28);
	measure();
	expect_mops(result.mops, 40);
}

static void test_wqes_that_are_read(void)
{
	begin();
	setup.hca.wqe_fetch.interval = 60 * NS;
	setup.load.posting = LOAD_DOORBELL;
	setup.load.qps = 4;
	setup.load.tx_depth = 64;
	measure();
	expect_mops(result.mops, 60);
	setup.hca.wqe_fetch.interval = 0;
	setup.hca.wqe_fetch.queue_interval = 240 * NS;
	measure();
	expect_mops(result.mops, 60);
	setup.load.posting = LOAD_BLUEFLAME; /* these are not read, if they come one by one */
	setup.load.order = LOAD_ROUND_ROBIN;
	setup.load.cpu.post = 20 * NS;
	measure();
	CU_ASSERT(result.mops > 20);
}

/* A single core keeps the lock. Several cores lose the time of its transfer. One in 16 posts has a
 * CQE, which the next core in line handles. Two queue pairs have a lock each. */
static void test_a_shared_queue_pair(void)
{
	static const struct {
		unsigned cores_per_thread, qps, interval_ns;
	} rows[] = {{1, 1, 100}, {2, 1, 175}, {3, 1, 175}, {4, 2, 90}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.load.cpu = (struct load_cpu_params){
			.post = 40 * NS, .ring = 60 * NS, .lock_handoff = 80 * NS};
		setup.load.cores_per_thread = rows[i].cores_per_thread;
		setup.load.qps = rows[i].qps;
		setup.load.order = LOAD_ROUND_ROBIN;
		setup.load.cq_mod = 16;
		setup.load.tx_depth = 256;
		setup.load.operations = 16000;
		measure();
		expect_mops(result.mops, (double)rows[i].interval_ns);
	}
}

/* Building takes 100 ns, ringing 60 ns, and 80 ns more for each other thread of the register. */
static void test_shared_registers(void)
{
	static const struct {
		unsigned threads, registers, own, interval_ns;
	} rows[] = {{2, 0, 0, 80}, {2, 1, 0, 140}, {3, 1, 0, 220}, {2, 1, 1, 80}, {2, 2, 0, 80}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.load.cpu = (struct load_cpu_params){
			.post = 100 * NS, .ring = 60 * NS, .lock_handoff = 80 * NS};
		setup.load.threads = rows[i].threads;
		setup.load.bfregs = rows[i].registers;
		setup.load.low_latency_bfregs = rows[i].own;
		setup.load.cq_mod = 16;
		setup.load.tx_depth = 256;
		setup.load.operations = 64000;
		measure();
		expect_mops(result.mops, (double)rows[i].interval_ns);
	}
}

/* A unit alternates between two queue pairs. WRITEs have three grants per atomic of 300 ns. */
static void test_background(void)
{
	static const struct {
		unsigned verb, bytes;
		double interval_ns, background_interval_ns;
	} rows[] = {{LOAD_WRITE, 64, 200, 200}, {LOAD_FETCH_ADD, 8, 400.0 / 3, 400}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.hca.scheduler.packet_interval = 100 * NS;
		setup.hca.scheduler.read_interval = 300 * NS;
		setup.hca.scheduler.processing_units = 1;
		setup.load.tx_depth = 64;
		setup.load.addresses_per_region = 1024; /* no atomic waits for another */
		setup.load.regions = 3;
		setup.load.background.threads = 1;
		setup.load.background.verb = rows[i].verb;
		setup.load.background.bytes = rows[i].bytes;
		setup.load.background.regions = 5;
		measure();
		expect_mops(result.mops, rows[i].interval_ns);
		/* one work request of the background may be at an edge of the window */
		double background = 2000 * rows[i].interval_ns / rows[i].background_interval_ns;
		CU_ASSERT_DOUBLE_EQUAL(result.background_mops,
				       1000 / rows[i].background_interval_ns,
				       1000 / rows[i].background_interval_ns / background);
	}
	setup.load.background.threads = 0;
	measure();
	expect_mops(result.mops, 100);
	CU_ASSERT_EQUAL(result.background_mops, 0);
}

/* The first use of each page brings it in. The responder refuses until then, 10 us at a time. */
static void test_pages_on_demand(void)
{
	begin();
	setup.hca.paging.latency = 1 * MS;
	setup.load.paging = LOAD_PAGING_REMOTE;
	setup.load.page = setup.load.address_stride = 4096;
	setup.load.addresses_per_region = 1 << 20;
	setup.load.tx_depth = 1;
	setup.load.warm_up = 1;
	setup.load.operations = 9;
	setup.counter = "transport.rnr_nak_received";
	measure();
	CU_ASSERT(result.median_ns > 1e6 && result.median_ns < 1e6 + 13e3);
	CU_ASSERT(result.counter > 80 && result.counter < 100);
	setup.load.paging = LOAD_PAGING_LOCAL; /* one page, long there */
	measure();
	CU_ASSERT(result.median_ns < 5e3);
	CU_ASSERT_EQUAL(result.counter, 0);
}

/* A SEND with data is two writes at its receiver, one without is its CQE. */
static void test_turns_of_writing(void)
{
	begin();
	setup.hca.dma.write_interval = 50 * NS;
	setup.load.transport = LOAD_UD;
	setup.load.verb = LOAD_SEND;
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(32);
	setup.load.cq_mod = 32;
	setup.load.tx_depth = 64;
	setup.load.counts = LOAD_RECEIVED;
	setup.load.warm_up = 3000;
	measure();
	expect_mops(result.received_mops, 100);
	setup.load.bytes = load_one_size(0);
	measure();
	expect_mops(result.received_mops, 50);
}

/* 64 entries hold 64 queue pairs of UC, or 32 of RC. */
static void test_parts_of_contexts(void)
{
	static const struct {
		unsigned transport, qps;
		bool misses;
	} rows[] = {{LOAD_UC, 60, false},
		    {LOAD_UC, 120, true},
		    {LOAD_RC, 30, false},
		    {LOAD_RC, 60, true}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.hca.contexts.reliable_parts = 2;
		setup.hca.contexts.requester.entries = 64;
		setup.hca.contexts.requester.ways = 64;
		setup.load.transport = rows[i].transport;
		setup.load.qps = rows[i].qps;
		setup.load.tx_depth = 2;
		setup.load.outstanding = 4;
		setup.counter = "context.requester.misses";
		measure();
		CU_ASSERT_EQUAL(result.counter > 0, rows[i].misses);
		CU_ASSERT_DOUBLE_EQUAL(result.counter_mops, result.counter * result.mops, 1e-9);
	}
}

/* Atomics on one address, on addresses that share a lock, and on addresses that do not. */
static void test_locks_of_atomics(void)
{
	double alone, alike, apart, one_lock;

	begin();
	setup.load.verb = LOAD_FETCH_ADD;
	setup.load.bytes = load_one_size(8);
	setup.load.qps = 16;
	measure();
	alone = result.mops;
	setup.load.addresses_per_region = 512;
	setup.load.address_stride = 4096;
	setup.load.contiguous = true;
	measure();
	alike = result.mops;
	setup.load.address_stride = 8;
	measure();
	apart = result.mops;
	setup.hca.transport.atomic_locks = 1;
	measure();
	one_lock = result.mops;
	CU_ASSERT_DOUBLE_EQUAL(alike, alone, alone / 100);
	CU_ASSERT_DOUBLE_EQUAL(one_lock, alone, alone / 100);
	CU_ASSERT(apart > 10 * alone);
}

/* Checks the time of `operations` atomics. `edge` is the tolerance of both ends together. */
static void expect_atomics(uint64_t window, uint64_t operations, double edge)
{
	begin();
	setup.hca.transport.atomic_interval = 200 * NS;
	setup.load.verb = LOAD_FETCH_ADD;
	setup.load.bytes = load_one_size(8);
	setup.load.qps = 16;
	setup.load.tx_depth = window;
	setup.load.operations = operations;
	setup.load.addresses_per_region = 512;
	setup.load.address_stride = 8;
	measure();
	CU_ASSERT_DOUBLE_EQUAL((double)operations * 5 / result.mops, (double)operations, edge);
}

/* An atomic starts each 200 ns. A core that waits for its lock delays the later responses of its
 * queue pair. Up to a window of responses then arrives early or late. */
static void test_interval_of_atomics(void)
{
	expect_atomics(1, 2000, 1);
	expect_atomics(1, 32000, 1);
	expect_atomics(16, 32000, 16 * 16);
}

/* All accesses miss. Each further read of a miss adds the same time. */
static double miss_ns(uint64_t reads, unsigned verb)
{
	begin();
	setup.hca.translation.mtt.entries = 4;
	setup.hca.translation.mtt.reads = reads;
	setup.load.verb = verb;
	setup.load.tx_depth = 1;
	setup.load.inline_data = verb == LOAD_WRITE;
	setup.load.addresses_per_region = 1000000;
	setup.load.address_stride = 4096;
	setup.load.page = 4096;
	measure();
	return result.median_ns;
}

/* A core that is away for a fifth of the time posts four fifths. The median is unchanged. */
static void test_noise_of_cores(void)
{
	double quiet, quiet_ns = miss_ns(1, LOAD_READ);

	setup.load.cpu.noise = 2 * US;
	setup.load.cpu.noise_interval = 100 * US;
	measure();
	CU_ASSERT_EQUAL(result.median_ns, quiet_ns);
	CU_ASSERT(result.p999_ns > quiet_ns + 1000 && result.p999_ns < quiet_ns + 2100);
	begin();
	setup.load.operations = 20000;
	setup.load.cpu.post = 100 * NS;
	measure();
	quiet = result.mops;
	setup.load.cpu.noise = 2 * US;
	setup.load.cpu.noise_interval = 8 * US;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.mops, 0.8 * quiet, 0.03 * quiet);
}

static void test_reads_of_a_miss(void)
{
	double one = miss_ns(1, LOAD_READ), two = miss_ns(2, LOAD_READ),
	       three = miss_ns(3, LOAD_READ);

	CU_ASSERT(two > one + 400);
	CU_ASSERT_DOUBLE_EQUAL(three - two, two - one, 1);
}

/* An early ACK does not wait for the miss. An ACK that follows the data to PCIe waits. */
static void test_when_writes_are_acknowledged(void)
{
	double early = miss_ns(2, LOAD_WRITE), posted;

	CU_ASSERT_DOUBLE_EQUAL(miss_ns(3, LOAD_WRITE), early, 1);
	begin();
	setup.hca.translation.mtt.entries = 4;
	setup.hca.transport.ack_when = ACK_POSTED;
	setup.load.tx_depth = 1;
	setup.load.inline_data = true;
	setup.load.addresses_per_region = 1000000;
	setup.load.address_stride = 4096;
	setup.load.page = 4096;
	measure();
	posted = result.median_ns;
	CU_ASSERT(posted > early + 400);
	setup.hca.transport.ack_when = ACK_LATE;
	measure();
	CU_ASSERT(result.median_ns > posted + 50);
}

static void test_latency(void)
{
	double first;

	begin();
	setup.load.tx_depth = 1;
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(8);
	measure();
	first = result.median_ns;
	CU_ASSERT(first > 1000 && first < 3000);
	CU_ASSERT_DOUBLE_EQUAL(result.mops, 1000 / first, 1e-2);
	measure();
	CU_ASSERT_EQUAL(result.median_ns, first);
	setup.hca.pcie.mmio_latency += 7 * NS;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.median_ns, first + 7, 1e-9);
	setup.hca.host.llc.enabled = true; /* no effect: all data is inline */
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.median_ns, first + 7, 1e-9);
	setup.hca.host.llc.ddio = false; /* the CQE is in memory */
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.median_ns, first + 7 + 50, 1e-9);
}

/* Eight CQs in turn never find their context in a cache of four, one for all always does. */
static void test_whose_cqs(void)
{
	begin();
	setup.counter = "context.cq.misses";
	setup.hca.contexts.cq.entries = setup.hca.contexts.cq.ways = 4;
	setup.load.qps = 8;
	setup.load.order = LOAD_ROUND_ROBIN;
	setup.load.outstanding = 1;
	setup.load.cq_of = LOAD_OF_QP;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 1, 0.001);
	setup.load.cq_of = LOAD_OF_THREAD;
	measure();
	CU_ASSERT_EQUAL(result.counter, 0);
}

/* Checks the regions of eight threads. Inline data needs only the target's region. */
static void test_whose_regions(void)
{
	begin();
	setup.counter = "translation.mpt.misses";
	setup.hca.translation.mpt.entries = setup.hca.translation.mpt.ways = 4;
	setup.load.pattern = LOAD_INBOUND;
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(16);
	setup.load.threads = 8;
	setup.load.tx_depth = 1;
	setup.load.region_of = LOAD_OF_EACH_THREAD;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 0.5, 0.001); /* half of the lookups merge */
	setup.load.region_of = LOAD_OF_NODE;
	measure();
	CU_ASSERT_EQUAL(result.counter, 0);
}

static void test_refused(void)
{
	begin();
	setup.load.cq_mod = 17;
	refuse("post_list and cq_mod must not exceed tx_depth");
	begin();
	setup.load.refill = LOAD_REFILL_ALL;
	setup.load.post_list = 3;
	refuse("refill: all needs a tx_depth that is a multiple of post_list");
	begin();
	setup.load.refill = LOAD_REFILL_ALL;
	setup.load.server.cores = 1;
	refuse("refill: all does not work with server.cores");
	begin();
	setup.load.bfregs = 11;
	setup.load.cores_per_thread = 2;
	refuse("bfregs does not work with cores_per_thread and server.cores");
	begin();
	setup.load.nodes = 3;
	refuse("topology cable needs 2 nodes");
	begin();
	setup.load.transport = LOAD_UC;
	setup.load.verb = LOAD_READ;
	refuse("reads and atomics need transport rc or dc");
	begin();
	setup.load.transport = LOAD_UD;
	refuse("transport ud supports verb send only");
	begin();
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(1000);
	refuse("1000 B are too many for inline_data; set inline_data: false, or reduce bytes");
	begin();
	setup.load.background.threads = 1;
	setup.load.background.verb = LOAD_SEND;
	refuse("background needs transport rc and a verb other than send");
	setup.load.background.verb = LOAD_FETCH_ADD;
	refuse("background.verb fetch_add needs background.bytes 8");
	begin();
	setup.load.paging = LOAD_PAGING_REMOTE;
	setup.load.contiguous = true;
	refuse("paging needs transport rc and contiguous: false");
	begin();
	setup.counter = "no.such";
	refuse("no counter \"no.such\" of an HCA");
}
