/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a load's scatter/gather lists, and its traffic within one adapter. Checks the WQE blocks
 * read, the elements moved, the message made of the elements, and receive WQEs that scatter. Queue
 * pairs within one adapter do not use the port and are as fast as PCIe. Such traffic holds back a
 * sender although no link is full, and so do responses that arrive faster than the host accepts
 * them. Inconsistent parameters are refused with the reason.
 */
#include <string.h>

#include "tests/hcasim/support/one_load.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                     \
	TEST(blocks_of_wqes)            \
	TEST(pieces)                    \
	TEST(room_of_receive_wqes)      \
	TEST(local_regions)             \
	TEST(loopback)                  \
	TEST(loopback_beside_others)    \
	TEST(responses_and_a_slow_host) \
	TEST(refused)
SUITE(TESTS)

static void begin(void)
{
	load_setup_default(&setup);
	setup.load.topology = LOAD_CABLE;
	setup.load.warm_up = 500;
	setup.load.operations = 1000;
}

static void set(const char *name, const char *text)
{
	char error[256] = "";

	for (const struct param *param = load_param_list; param->name; param++)
		if (strcmp(param->name, name) == 0) {
			CU_ASSERT_TRUE_FATAL(
				param_parse(param, text, &setup.load, error, sizeof(error)));
			return;
		}
	CU_FAIL_FATAL("no such parameter");
}

static double counted(const char *counter)
{
	setup.counter = counter;
	measure();
	return result.counter;
}

/* 16 + 16 + 16 B for each element, in blocks of 64 B; posted by doorbell, so that they are read. */
static void test_blocks_of_wqes(void)
{
	static const struct {
		const char *list;
		double blocks, bytes;
	} rows[] = {{"[64B]", 1, 64},
		    {"[64B, 64B]", 1, 128},
		    {"[128B, 64KiB, 1KiB]", 2, 66688},
		    {"[8B, 8B, 8B, 8B, 8B, 8B]", 2, 48},
		    {"[8B, 8B, 8B, 8B, 8B, 8B, 8B]", 3, 56}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		set("posting", "doorbell");
		set("sges", rows[i].list);
		CU_ASSERT_DOUBLE_EQUAL(counted("wqe_fetch.read_blocks"), rows[i].blocks, 0.1);
		CU_ASSERT_DOUBLE_EQUAL(result.gbps, result.mops * rows[i].bytes * 8 / 1000, 1e-9);
	}
}

/* READs scatter their responses. SENDs have a receive list of three elements. They gather from one
 * element and scatter into two. */
static void test_pieces(void)
{
	begin();
	set("verb", "read");
	set("sges", "[128B, 128B, 128B, 128B]");
	CU_ASSERT_DOUBLE_EQUAL(counted("dma.pieces"), 4, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(counted("pcie.write_packets"), 4 + 1, 0.1);
	begin();
	set("verb", "send");
	set("bytes", "300B");
	set("pattern", "inbound");
	set("counts", "received");
	set("receive_sges", "[100B, 200B, 300B]");
	CU_ASSERT_DOUBLE_EQUAL(counted("dma.pieces"), 2, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(counted("receive_queue.wqes"), 1, 0.1);
}

/* Receive WQEs of 16 B and of 256 B are fetched. The element is the same. */
static void test_room_of_receive_wqes(void)
{
	static const struct {
		const char *room;
		double bytes;
	} rows[] = {{"1", 16}, {"3", 64}, {"16", 256}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double with_data, wqes;

		begin();
		set("verb", "send");
		set("inline_data", "true");
		set("bytes", "8B");
		set("pattern", "inbound");
		set("counts", "received");
		set("max_recv_sge", rows[i].room);
		setup.load.operations = 8000;
		with_data = counted("pcie.read_bytes");
		wqes = counted("receive_queue.wqes");
		CU_ASSERT_DOUBLE_EQUAL(with_data / wqes, rows[i].bytes, rows[i].bytes * 0.05);
		CU_ASSERT_DOUBLE_EQUAL(counted("dma.pieces"), 1, 0.1);
	}
}

/* Work requests use the regions of their thread in turn. Up to the entries of the cache of regions,
 * each region misses once. Beyond them, each work request misses, because the cache replaces the
 * region that was used longest ago. */
static void test_local_regions(void)
{
	static const struct {
		const char *regions;
		double misses;
	} rows[] = {{"1", 0}, {"64", 0}, {"65", 1}, {"4096", 1}};
	double rate = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin();
		set("bytes", "512B");
		set("tx_depth", "1");
		set("local_regions", rows[i].regions);
		setup.hca.translation.mpt.entries = setup.hca.translation.mpt.ways = 64;
		CU_ASSERT_DOUBLE_EQUAL(counted("translation.mpt.misses"), rows[i].misses, 0.001);
		if (i == 0)
			rate = result.mops;
		CU_ASSERT_EQUAL(result.mops == rate, rows[i].misses == 0);
	}
	setup.load.background.threads = 1; /* 64 and 64 do not fit */
	setup.load.background.local_regions = 64;
	set("local_regions", "64");
	setup.counter = "translation.mpt.misses";
	measure();
	CU_ASSERT_TRUE(result.counter > 1);
	setup.counter = NULL;
	begin();
	set("local_regions", "2");
	set("inline_data", "true");
	refuse("local_regions needs verb write, read or fetch_add, without inline_data and "
	       "server.cores");
	set("inline_data", "false");
	set("verb", "send");
	refuse("local_regions needs verb write, read or fetch_add, without inline_data and "
	       "server.cores");
	set("verb", "write");
	setup.load.background.threads = 1;
	setup.load.background.local_regions = 2;
	setup.load.background.inline_data = true;
	refuse("background.local_regions needs background.inline_data: false");
}

static void test_loopback(void)
{
	begin();
	set("pattern", "loopback");
	set("bytes", "4096B");
	set("qps", "3"); /* two that are connected, and one with itself */
	double acks = counted(
		"transport.acks_sent"); /* which two WRITEs may share, if they are due together */

	CU_ASSERT_DOUBLE_EQUAL(acks, 0.6, 0.001); /* some stand for two: seen */
	CU_ASSERT_EQUAL(counted("transmit.packets"), 0);
	CU_ASSERT_DOUBLE_EQUAL(counted("transmit.loopback"), 1 + acks, 0.001);
	/* to the host: 16 writes and 8 requests with 24 B each, and a CQE of 64 B with 24 B, at 126
	 * Gb/s minus 3 % */
	CU_ASSERT_DOUBLE_EQUAL(result.gbps, 0.97 * 126 * 4096 / (4096 + 24 * 24 + 88), 2);
	setup.hca.transmit.loopback_rate = UINT64_C(50000000000);
	counted("transmit.loopback");
	CU_ASSERT_DOUBLE_EQUAL(result.gbps, 50.0 * 4096 / (4096 + 42 + 30), 0.5);
	begin();
	set("pattern", "loopback");
	set("transport", "ud");
	set("verb", "send");
	CU_ASSERT_EQUAL(counted("transmit.packets"), 0);
}

/* 64 KiB from outside, at the rate of the link, and loopback besides: one direction of PCIe has to
 * carry both. */
static double incast(unsigned background, bool reads_pass)
{
	begin();
	setup.load.link_layer = 1; /* roce */
	set("pattern", "inbound");
	set("bytes", "64KiB");
	setup.load.warm_up = 100;
	setup.load.operations = 400;
	setup.load.background.threads = background;
	setup.load.background.pattern = LOAD_LOOPBACK;
	setup.load.background.bytes = 65536;
	setup.hca.pcie.reads_pass = reads_pass;
	counted(NULL);
	return result.gbps;
}

/* Loopback data waits for received data that waits for PCIe. This throttles it, unless it may pass.
 * Then both have half of PCIe, the sender from outside is paused for the rest, and no link is
 * full. */
static void test_loopback_beside_others(void)
{
	double alone = incast(0, true);

	CU_ASSERT_DOUBLE_EQUAL(alone, 98, 0.5);
	CU_ASSERT_EQUAL(result.paused, 0);
	CU_ASSERT_DOUBLE_EQUAL(incast(1, false), alone, 0.5);
	CU_ASSERT_EQUAL(result.paused, 0);
	CU_ASSERT_DOUBLE_EQUAL(result.background_mops * 524.288, 13.5, 0.1); /* seen */
	CU_ASSERT_DOUBLE_EQUAL(incast(1, true), result.background_mops * 524.288, 1);
	CU_ASSERT_DOUBLE_EQUAL(result.gbps, 54.7, 0.1);
	CU_ASSERT_DOUBLE_EQUAL(result.paused, 1 - result.gbps / alone, 0.05);
}

/* Posts READs, 16 x 64 KiB. Their responses arrive at twice the rate that 2 KiB of credits permit
 * for writes. Responses without a buffer stay in the port's space. */
static double paused_by_responses(unsigned buffers)
{
	begin();
	setup.load.link_layer = 1; /* roce */
	set("verb", "read");
	set("bytes", "64KiB");
	setup.load.warm_up = 50;
	setup.load.operations = 200;
	setup.hca.pcie.posted_data_credits = 2048;
	setup.hca.transport.response_buffers = buffers;
	counted("transport.response_stalls");
	return result.paused;
}

static void test_responses_and_a_slow_host(void)
{
	CU_ASSERT_DOUBLE_EQUAL(paused_by_responses(128), 0.308, 0.001); /* seen */
	CU_ASSERT_DOUBLE_EQUAL(result.counter, 15.99,
			       0.005); /* all but the first few of 16 packets each */
	CU_ASSERT_EQUAL(paused_by_responses(4096), 0);
	CU_ASSERT_EQUAL(result.counter, 0);
}

static void test_refused(void)
{
	struct load_params params;
	char error[256] = "";
	const struct param *list = load_param_list;

	begin();
	set("inline_data", "true");
	set("sges", "[8B, 8B]");
	refuse("sges and inline_data exclude each other");
	begin();
	set("sges", "[64MiB, 1B]");
	refuse("the sum of sges is at most 64MiB, the sum of receive_sges 128MiB");
	begin();
	set("receive_sges", "[64B]");
	refuse("receive_sges needs verb send");
	set("verb", "send");
	set("receive_sges", "[60B]");
	refuse("receive_sges have room for 60 B; expected at least 64 B");
	set("transport", "ud");
	set("receive_sges", "[64B, 39B]");
	refuse("receive_sges have room for 103 B; expected at least 104 B");
	while (strcmp(list->name, "sges") != 0)
		list++;
	CU_ASSERT_FALSE(param_parse(list, "[128B, 64K]", &params, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "\"64K\""));
	CU_ASSERT_FALSE(param_parse(list, "[0B]", &params, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "out of range"));
	param_parse(list, "[128B, 64KiB]", &params, error, sizeof(error));
	param_print(list, &params, error, sizeof(error));
	CU_ASSERT_STRING_EQUAL(error, "[128B, 64KiB]");
}
