/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the memory of queue pairs and connections of endpoint adapters: states and rings have the
 * sizes of the parameters, and held bytes are those of the send buffers, within their limits.
 */
#include "hca/endpoint/connection_memory.h"

#include "tests/hca/support/connections.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                    \
	TEST(queue_pairs)              \
	TEST(iwarp_connections)        \
	TEST(the_send_buffer_of_iwarp) \
	TEST(sockets)
SUITE(TESTS)

static struct study study;
static struct connections set_up;

static void begin(enum endpoint_transport transport)
{
	connections_init(&set_up, &study, transport);
	set_up.tcp.timestamps = false;
	connections_finish(&set_up, &study);
}

/* Each of three connections carries one message. */
static void send_three(uint64_t bytes)
{
	struct transfer transfers[3];
	unsigned done = 0;

	for (unsigned i = 0; i < 3; i++)
		transfer_post(&transfers[i],
			      endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
			      ENDPOINT_WRITE, bytes, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 3);
}

static void check(unsigned host, uint64_t state, uint64_t rings, uint64_t held)
{
	struct connection_memory memory = connection_memory_of(study.hosts[host]);

	CU_ASSERT_EQUAL(memory.connections, 3);
	CU_ASSERT_EQUAL(memory.state_bytes, 3 * state);
	CU_ASSERT_EQUAL(memory.ring_bytes, 3 * rings);
	CU_ASSERT_EQUAL(memory.held_bytes, 3 * held);
}

static void test_queue_pairs(void)
{
	begin(ENDPOINT_RDMA);
	set_up.memory.send_entries = 10;
	send_three(5000);
	check(0, 375, 10 * 64 + 128 * 16, 0);
	check(1, 375, 10 * 64 + 128 * 16, 0);
	study_fini(&study);
}

static void test_iwarp_connections(void)
{
	const struct endpoint_iwarp_counters *count;

	begin(ENDPOINT_IWARP);
	set_up.memory.receive_entries = 10;
	send_three(1001);
	/* FPDUs of 2 + 14 + 1001 bytes, 3 of pad and 4 of CRC, until their ACKs */
	check(0, 128 + 10 * 64, 128 * 320 + 10 * 128, 1024);
	check(1, 128 + 10 * 64, 128 * 320 + 10 * 128, 0);
	count = endpoint_iwarp_counters(study.hosts[0]);
	CU_ASSERT_EQUAL(count->state_bytes, 3 * (128 + 10 * 64));
	CU_ASSERT_EQUAL(count->connection_held_bytes, 1024);
	study_fini(&study);
}

static void test_the_send_buffer_of_iwarp(void)
{
	begin(ENDPOINT_IWARP);
	set_up.memory.iwarp_send_buffer = 20000;
	set_up.tcp.receive_buffer = 10000; /* so that less than the send buffer is in flight */
	send_three(100000);
	check(0, 128 + 128 * 64, 128 * (320 + 128), 20000);
	study_fini(&study);
}

static void test_sockets(void)
{
	begin(ENDPOINT_TCP);
	send_three(5000);
	check(0, 2368 + 832 + 192 + 192, 0, 5000);
	study_fini(&study);
	begin(ENDPOINT_TCP);
	set_up.memory.socket_send_buffer = 30000; /* two windows of 10 segments are 29200 bytes */
	set_up.tcp.receive_buffer = 10000;
	send_three(28000);
	check(0, 3584, 0, 28000);
	study_fini(&study);
}
