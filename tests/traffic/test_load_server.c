/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that server cores take exactly the specified time for each step. The rate of a core that is
 * never idle shows this for requests in slots and in CQEs, single and in batches. It covers memory
 * lines in sequence and concurrently, and slots in and out of the cache. The latency of a single
 * request shows it to the picosecond. Every request is answered once. Responses of a batch share a
 * doorbell. Clients have no more requests in flight than their window. Inconsistent parameters are
 * refused with the reason.
 */
#include <string.h>

#include "tests/hcasim/support/one_load.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(requests_in_slots_one_by_one) \
	TEST(requests_in_cqes)             \
	TEST(batches_and_doorbells)        \
	TEST(lines_that_requests_need)     \
	TEST(slots_that_the_cache_has)     \
	TEST(long_requests_and_responses)  \
	TEST(latency_of_a_lone_request)    \
	TEST(many_cores)                   \
	TEST(windows_of_clients)           \
	TEST(refused)
SUITE(TESTS)

/* Clients are many and fast, so that a core always finds a request; adapters are faster still. */
static void begin(void)
{
	load_setup_default(&setup);
	setup.load.nodes = 3;
	setup.load.pattern = LOAD_INBOUND;
	setup.load.threads = 4;
	setup.load.inline_data = true;
	setup.load.bytes = load_one_size(32);
	setup.load.tx_depth = 16;
	setup.load.cq_mod = 16;
	setup.load.warm_up = 1000;
	setup.load.operations = 6400;
	setup.load.server.cores = 1;
	setup.load.server.work = 500 * NS;
	setup.load.cpu = (struct load_cpu_params){.post = 7 * NS,
						  .ring = 16 * NS,
						  .idle_poll = 1 * NS,
						  .cache = 21 * NS,
						  .memory = 100 * NS,
						  .side_by_side = 10};
}

/* Checks the interval of one core. */
static void expect_interval(double interval_ns)
{
	measure();
	CU_ASSERT_DOUBLE_EQUAL(1000 / result.mops, interval_ns, interval_ns / 1000);
	CU_ASSERT_DOUBLE_EQUAL(result.received_mops, result.mops, result.mops / 100);
}

static void test_requests_in_slots_one_by_one(void)
{
	static const unsigned responses[] = {LOAD_RESPONSE_WRITE, LOAD_RESPONSE_SEND,
					     LOAD_RESPONSE_DATAGRAM};

	for (size_t i = 0; i < ARRAY_SIZE(responses); i++) {
		begin();
		setup.load.server.response = responses[i];
		expect_interval(21 + 500 + 7 + 16);
	}
	setup.load.server.response = LOAD_RESPONSE_NONE;
	expect_interval(21 + 500);
}

/* If requests are SENDs, a core takes CQEs instead of slots, and posts receive work requests. */
static void test_requests_in_cqes(void)
{
	begin();
	setup.load.verb = LOAD_SEND;
	setup.load.cpu.poll = 30 * NS;
	setup.load.cpu.receive = 5 * NS;
	setup.load.server.response = LOAD_RESPONSE_SEND;
	expect_interval(30 + 5 + 500 + 7 + 16 + 30.0 / 64);
	setup.load.transport = LOAD_UD;
	setup.load.server.response = LOAD_RESPONSE_DATAGRAM;
	expect_interval(30 + 5 + 500 + 7 + 16 + 30.0 / 64);
}

/* One doorbell covers eight responses, four, or one. Each response on a connection has its own
 * doorbell, because each connection has its own queue. */
static void test_batches_and_doorbells(void)
{
	static const struct {
		unsigned response, list;
		double doorbells;
	} rows[] = {{LOAD_RESPONSE_DATAGRAM, 8, 1 / 8.0},
		    {LOAD_RESPONSE_DATAGRAM, 4, 1 / 4.0},
		    {LOAD_RESPONSE_DATAGRAM, 1, 1},
		    {LOAD_RESPONSE_WRITE, 8, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.load.server.batch = 8; /* as many as there are clients */
		setup.load.server.response = rows[i].response;
		setup.load.server.post_list = rows[i].list;
		setup.counter = "server0.doorbells";
		expect_interval(21 + 500 + 7 + 16 * rows[i].doorbells);
		CU_ASSERT_DOUBLE_EQUAL(result.counter, rows[i].doorbells, 0.01);
	}
	setup.counter = "server0.batches";
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 1 / 8.0, 0.01);
}

/* Each request uses two lines, one after the other. A step takes 100 ns for up to `side_by_side`
 * requests of a batch. */
static void test_lines_that_requests_need(void)
{
	static const struct {
		unsigned batch, side_by_side;
		double step_ns;
	} rows[] = {{1, 10, 100}, {8, 10, 100 / 8.0}, {8, 4, 25}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.load.cpu.side_by_side = rows[i].side_by_side;
		setup.load.server.batch = rows[i].batch;
		setup.load.server.lines = 2;
		setup.counter = "server0.lines_missed";
		expect_interval(21 + 500 + 2 * rows[i].step_ns + 7 + 16);
		CU_ASSERT_DOUBLE_EQUAL(result.counter, 2, 0.02);
	}
}

/* A cache of 64 sets of 16 lines, and 128 slots. From 64 B on each slot has a line. From 4 KiB on
 * all lines are in the same set, so that each is evicted before its use. In a table that fits,
 * lines remain. */
static void test_slots_that_the_cache_has(void)
{
	static const struct {
		uint64_t slot, missed;
	} rows[] = {{64, 0}, {256, 0}, {4096, 1}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		setup.hca.host.llc.enabled = true;
		setup.hca.host.llc.size = 64 << 10;
		setup.hca.host.llc.ways = 16;
		setup.load.tx_depth = 16;
		setup.load.warm_up = 2000;
		setup.load.server.slot = rows[i].slot;
		setup.load.server.work = 2 * US;
		setup.counter = "server0.slots_missed";
		expect_interval((rows[i].missed ? 100.0 : 21.0) + 2000 + 7 + 16);
		CU_ASSERT_DOUBLE_EQUAL(result.counter, (double)rows[i].missed, 0.01);
	}
	begin(); /* without DDIO slots are in memory alone, however small they are */
	setup.hca.host.llc.enabled = true;
	setup.hca.host.llc.ddio = false;
	setup.load.warm_up = 2000;
	setup.load.server.work = 2 * US;
	setup.counter = "server0.slots_missed";
	expect_interval(100 + 2000 + 7 + 16);
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 1, 0.01);
	begin();
	setup.hca.host.llc.enabled = true;
	setup.load.server.lines = 1;
	setup.load.server.table = 4096;
	expect_interval(21 + 500 + 21 + 7 + 16);
}

/* Requests have several packets. A request is complete with its last byte, and its 47 lines are
 * fetched ten at a time. */
static void test_long_requests_and_responses(void)
{
	begin();
	setup.load.mtu = 1024;
	setup.load.inline_data = setup.load.server.inline_data = false;
	setup.load.bytes = load_one_size(3000);
	setup.load.server.bytes = 2000;
	setup.load.server.slot = 4096;
	setup.load.server.work = 2 * US;
	expect_interval(4.7 * 21 + 2000 + 7 + 16);
	setup.load.verb = LOAD_SEND;
	setup.load.server.response = LOAD_RESPONSE_SEND;
	expect_interval(2000 + 7 + 16);
}

/* A lone request takes longer by the additional time of a step of its core. */
static double lone(void)
{
	measure();
	CU_ASSERT_EQUAL(result.median_ns, result.p999_ns);
	return result.median_ns;
}

static void test_latency_of_a_lone_request(void)
{
	double first;

	begin();
	setup.load.nodes = 2;
	setup.load.threads = 1;
	setup.load.tx_depth = setup.load.cq_mod = 1;
	setup.load.warm_up = 10;
	setup.load.operations = 100;
	setup.load.cpu.idle_poll = 1; /* ps: no waiting for its turn */
	setup.load.server.cq_mod = 1024;
	first = lone();
	CU_ASSERT(first > 2000 && first < 4000);
	CU_ASSERT_DOUBLE_EQUAL(1000 / result.mops, first, 30);
	setup.load.server.work += 123456;
	CU_ASSERT_DOUBLE_EQUAL(lone(), first + 123.456, 1e-6);
	setup.load.cpu.cache += 4 * NS;
	CU_ASSERT_DOUBLE_EQUAL(lone(), first + 127.456, 1e-6);
	setup.load.cpu.post += 3 * NS; /* both sides */
	CU_ASSERT_DOUBLE_EQUAL(lone(), first + 133.456, 1e-6);
	setup.load.server.batch = 2; /* one client: no more to wait for */
	CU_ASSERT_DOUBLE_EQUAL(lone(), first + 133.456, 1e-6);
}

/* With many cores each request is for one core, and every request gets a response. */
static void test_many_cores(void)
{
	for (unsigned chosen = LOAD_CHOSEN_FIXED; chosen <= LOAD_CHOSEN_RANDOM; chosen++) {
		for (unsigned transport = LOAD_RC; transport <= LOAD_UD; transport++) {
			begin();
			setup.load.transport = transport;
			setup.load.verb = transport == LOAD_UD ? LOAD_SEND : LOAD_WRITE;
			setup.load.server.response = LOAD_RESPONSE_DATAGRAM;
			setup.load.server.chosen = chosen;
			setup.load.server.cores = 4;
			setup.load.server.qps = 2;
			setup.load.server.batch = 4;
			setup.load.server.post_list = 4;
			measure();
			CU_ASSERT(result.mops > 7 &&
				  result.mops < 4 / 0.510); /* work, post, a doorbell for 4 */
		}
	}
}

/* Clients have no more outstanding requests than allowed: the number is rate times latency. */
static void test_windows_of_clients(void)
{
	begin();
	setup.load.operations = 12800;
	measure();
	CU_ASSERT_DOUBLE_EQUAL(result.mops * result.mean_ns / 1000, 2 * 4 * 16, 1);
}

static void test_refused(void)
{
	begin();
	setup.load.pattern = LOAD_ALL;
	refuse("server.cores needs pattern inbound");
	begin();
	setup.load.verb = LOAD_READ;
	setup.load.inline_data = false;
	refuse("server.cores needs verb write or send");
	begin();
	setup.load.transport = LOAD_UD;
	setup.load.verb = LOAD_SEND;
	refuse("server.cores with transport ud needs server.response datagram");
	setup.load.server.response = LOAD_RESPONSE_DATAGRAM;
	setup.load.tx_depth = 512;
	refuse("rx_depth is too small: a queue pair may have 4096 requests in flight; set rx_depth "
	       "to a power of two that is at least as large");
	begin();
	setup.load.verb = LOAD_SEND;
	setup.load.tx_depth = 257;
	refuse("rx_depth is too small: a queue pair may have 257 requests in flight; set rx_depth "
	       "to a power of two that is at least as large");
	setup.load.verb = LOAD_WRITE;
	setup.load.server.response = LOAD_RESPONSE_SEND;
	refuse("rx_depth is too small: a queue pair may have 257 responses in flight; set rx_depth "
	       "to a power of two that is at least as large");
	begin();
	setup.load.server.chosen = LOAD_CHOSEN_RANDOM;
	refuse("server.chosen random needs server.response datagram or none");
	begin();
	setup.load.server.cores = 9;
	refuse("8 clients are too few for server.cores 9; expected a client or more per core");
	begin();
	setup.load.addresses_per_region = 2;
	refuse("server.cores does not support regions, addresses_per_region, strides, "
	       "cqe_compression, sges, receive_sges, cores_per_thread, cq_of, counts and "
	       "background; remove them");
	begin();
	setup.load.bytes = load_one_size(65);
	refuse("server.slot 64 is smaller than the request or response written to it; increase it");
	begin();
	setup.load.bytes = load_one_size(0);
	refuse("server.cores with verb write needs bytes above 0");
	begin();
	setup.load.server.slot = 4096;
	setup.load.server.bytes = 1000;
	refuse("server.bytes 1000 is too large for server.inline_data; set inline_data: false, or "
	       "reduce it");
	setup.load.server.inline_data = false;
	setup.load.server.response = LOAD_RESPONSE_DATAGRAM;
	setup.load.mtu = 512;
	refuse("a datagram holds at most mtu, 512 B; reduce bytes or server.bytes");
	begin();
	setup.load.transport = LOAD_UD;
	setup.load.verb = LOAD_SEND;
	setup.load.inline_data = false;
	setup.load.server.response = LOAD_RESPONSE_DATAGRAM;
	setup.load.mtu = 256;
	setup.load.bytes = load_one_size(257);
	refuse("a datagram holds at most mtu, 256 B; reduce bytes or server.bytes");
	setup.load.bytes = load_one_size(256);
	measure();
}
