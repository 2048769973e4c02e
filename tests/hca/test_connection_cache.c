/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the cache of contexts of endpoint adapters. A packet without its context takes exactly the
 * time of a fetch longer. Connections that fit the cache cost nothing after their first packet.
 * Fetches are limited. A cache that is far too small delays every packet, and blocks none.
 */
#include "hca/endpoint/connection_cache.h"

#include "tests/hca/support/connections.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                              \
	TEST(the_first_packet_fetches)           \
	TEST(later_packets_do_not)               \
	TEST(iwarp_fetches_too)                  \
	TEST(tcp_has_no_contexts_in_the_adapter) \
	TEST(fetches_are_limited)                \
	TEST(thrashing_blocks_nobody)
SUITE(TESTS)

#define CONNECTIONS 40

static struct study study;
static struct connections set_up;

/* `entries` 0: no cache. */
static void begin(enum endpoint_transport transport, uint64_t entries, uint64_t fetches)
{
	connections_init(&set_up, &study, transport);
	study.switch_params.port.length = 2;
	set_up.cache.entries = entries;
	set_up.cache.ways = entries < 4 ? 1 : 4;
	set_up.cache.fetches = fetches;
	set_up.cache.latency = 1 * US;
	connections_finish(&set_up, &study);
}

static const struct connection_cache_counters *counters(unsigned host)
{
	return connection_cache_counters(study.hosts[host]);
}

static void check_counters(unsigned host)
{
	const struct connection_cache_counters *count = counters(host);

	CU_ASSERT_EQUAL(count->lookups, count->hits + count->merges + count->misses);
}

/* Returns the time that one message takes. */
static sim_time send_one(struct endpoint_qp *qp)
{
	struct transfer transfer;
	unsigned done = 0;
	sim_time from = sim_now(study.sim);

	transfer_post(&transfer, qp, ENDPOINT_WRITE, 500, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	return transfer.message.done_at - from;
}

static sim_time first_time(enum endpoint_transport transport, uint64_t entries)
{
	sim_time time;

	begin(transport, entries, 16);
	time = send_one(endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0));
	study_fini(&study);
	return time;
}

/* Both ends fetch the context once. The receiver fetches it from the head of the packet on, and the
 * packet of `wire_bytes` arrives during that time. */
static void check_first(enum endpoint_transport transport, uint32_t wire_bytes)
{
	sim_time bytes_time = wire_bytes * (sim_time)80; /* ps, at 100 Gb/s */

	CU_ASSERT_EQUAL(first_time(transport, 8), first_time(transport, 0) + 2 * US - bytes_time);
}

static void test_the_first_packet_fetches(void)
{
	check_first(ENDPOINT_RDMA, 14 + 20 + 8 + 12 + 16 + 500 + 4 + 4);
}

static void test_iwarp_fetches_too(void)
{
	/* time stamps; the FPDU of 500 bytes has 2 + 14 + 500 + 4 */
	check_first(ENDPOINT_IWARP, 14 + 20 + 32 + 520 + 4);
}

static void test_tcp_has_no_contexts_in_the_adapter(void)
{
	CU_ASSERT_EQUAL(first_time(ENDPOINT_TCP, 8), first_time(ENDPOINT_TCP, 0));
}

static void check_later(enum endpoint_transport transport)
{
	struct endpoint_qp *qp;
	sim_time first, later;

	begin(transport, 8, 16);
	qp = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	first = send_one(qp);
	later = send_one(qp);
	/* two messages and two ACKs; the responses of the receiver need no lookup */
	CU_ASSERT_EQUAL(counters(0)->lookups, 4);
	CU_ASSERT_EQUAL(counters(0)->hits, 3);
	CU_ASSERT_EQUAL(counters(1)->lookups, 2);
	CU_ASSERT_EQUAL(counters(1)->hits, 1);
	study_fini(&study);
	CU_ASSERT_EQUAL(later, first_time(transport, 0));
	CU_ASSERT_TRUE(first > later);
}

static void test_later_packets_do_not(void)
{
	check_later(ENDPOINT_RDMA);
	check_later(ENDPOINT_IWARP);
}

static struct transfer transfers[CONNECTIONS];

/* Each of the connections sends a message. Returns the time of the last. */
static sim_time send_all(unsigned count)
{
	unsigned done = 0;
	sim_time last = 0;

	for (unsigned i = 0; i < count; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
			      ENDPOINT_WRITE, 3000, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, count);
	for (unsigned i = 0; i < count; i++)
		if (transfers[i].message.done_at > last)
			last = transfers[i].message.done_at;
	check_counters(0);
	check_counters(1);
	return last;
}

static void test_fetches_are_limited(void)
{
	sim_time one, sixteen;

	begin(ENDPOINT_RDMA, 64, 1);
	one = send_all(8);
	CU_ASSERT_EQUAL(counters(0)->misses, 8);
	CU_ASSERT_EQUAL(counters(0)->stalls, 7);
	CU_ASSERT_EQUAL(counters(0)->evictions, 0);
	study_fini(&study);
	begin(ENDPOINT_RDMA, 64, 16);
	sixteen = send_all(8);
	CU_ASSERT_EQUAL(counters(0)->misses, 8);
	CU_ASSERT_EQUAL(counters(0)->stalls, 0);
	/* the last context comes after 8 us, not 1 us, and its packets find an idle link */
	CU_ASSERT_TRUE(one > sixteen + 4 * US && one < sixteen + 7 * US);
	study_fini(&study);
}

static void thrash(enum endpoint_transport transport)
{
	begin(transport, 1, 2);
	send_all(CONNECTIONS);
	CU_ASSERT_TRUE(counters(0)->evictions >= CONNECTIONS - 1);
	CU_ASSERT_TRUE(counters(1)->evictions >= CONNECTIONS - 1);
	CU_ASSERT_EQUAL(packet_pool_in_use(study.pool), 0);
	study_fini(&study);
}

static void test_thrashing_blocks_nobody(void)
{
	thrash(ENDPOINT_RDMA);
	thrash(ENDPOINT_IWARP);
}
