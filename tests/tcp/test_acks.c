/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests when ACKs are sent: delayed ACKs (RFC 9293 3.8.6.3, RFC 5681 4.2), quick ACKs and ping-pong
 * mode (Linux 6.1: tcp_event_data_recv(), tcp_event_data_sent(), tcp_cleanup_rbuf()).
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                           \
	TEST(ack_of_two_segments)             \
	TEST(ack_is_delayed)                  \
	TEST(ack_rides_on_data)               \
	TEST(quick_acks_at_the_start)         \
	TEST(quick_acks_after_a_pause)        \
	TEST(ping_pong)                       \
	TEST(ping_pong_ends_without_response) \
	TEST(ping_pong_ends_with_duplicates)  \
	TEST(two_pushes_in_ping_pong)         \
	TEST(late_data_is_no_response)        \
	TEST(ack_of_each_segment)
SUITE(TESTS)

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

static void test_ack_of_two_segments(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"210     < A 1001(1000) ack 1 win 60000",
		"210     > A 1(0) ack 2001",
		"220     < A 2001(1000) ack 1 win 60000",
		"230     < A 3001(400) ack 1 win 60000",
		"230     > A 1(0) ack 3401",
		NULL,
	};

	run(NULL, lines);
}

static void test_ack_is_delayed(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"40200   > A 1(0) ack 1001",
		"50000   < A 1001(10) ack 1 win 60000",
		"60000   < A 1011(10) ack 1 win 60000", /* not two full segments */
		"90000   > A 1(0) ack 1021",
		NULL,
	};

	run(NULL, lines);
}

static void test_ack_rides_on_data(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"300     write 10",
		"300     > A 1(10) ack 1001",
		"400     < A 1001(0) ack 11 win 60000",
		"100000  is received 1000",
		NULL,
	};

	run(NULL, lines);
}

static void test_quick_acks_at_the_start(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"200     > A 1(0) ack 1001",
		"210     < A 1001(1000) ack 1 win 60000",
		"210     > A 1(0) ack 2001",
		"220     < A 2001(1000) ack 1 win 60000",
		"40220   > A 1(0) ack 3001",
		NULL,
	};

	run("quick_acks=2", lines);
}

/* The pause is longer than the RTO of 200 ms. */
static void test_quick_acks_after_a_pause(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"200     > A 1(0) ack 1001",
		"210     < A 1001(1000) ack 1 win 60000",
		"40210   > A 1(0) ack 2001",
		"200000  < A 2001(1000) ack 1 win 60000",
		"240000  > A 1(0) ack 3001",
		"400001  < A 3001(1000) ack 1 win 60000",
		"400001  > A 1(0) ack 4001",
		NULL,
	};

	run("quick_acks=1", lines);
}

/* The first request is acknowledged at once. From the first response on, only responses carry
 * ACKs, although quick ACKs are left and each request has PSH. */
static void test_ping_pong(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < AP 1(100) ack 1 win 60000",
		"200     > A 1(0) ack 101",
		"205     read 100",
		"210     write 50",
		"210     > A 1(50) ack 101",
		"310     < AP 101(100) ack 51 win 60000",
		"315     read 100",
		"320     write 50",
		"320     > A 51(50) ack 201",
		"420     < AP 201(100) ack 101 win 60000",
		"425     read 100",
		"430     write 50",
		"430     > A 101(50) ack 301",
		"530     < A 301(0) ack 151 win 60000",
		"100000  is received 300",
		NULL,
	};

	run("quick_acks=16", lines);
}

/* The second request has no response within 40 ms: its ACK is sent, and ping-pong mode ends. */
static void test_ping_pong_ends_without_response(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < AP 1(100) ack 1 win 60000",
		"210     write 50",
		"210     > A 1(50) ack 101",
		"215     read 100",
		"310     < AP 101(100) ack 51 win 60000",
		"315     read 100",
		"40310   > A 51(0) ack 201",
		"50000   < AP 201(100) ack 51 win 60000",
		"50005   read 100", /* as without ping-pong mode */
		"50005   > A 51(0) ack 301",
		NULL,
	};

	run(NULL, lines);
}

static void test_ping_pong_ends_with_duplicates(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < AP 1(100) ack 1 win 60000",
		"210     write 50",
		"210     > A 1(50) ack 101",
		"215     read 100",
		"310     < AP 51(100) ack 51 win 60000",
		"310     > A 51(0) ack 151 sack 51-101",
		"315     read 50",
		"320     < AP 151(100) ack 51 win 60000",
		"325     read 100",
		"325     > A 51(0) ack 251",
		NULL,
	};

	run(NULL, lines);
}

static void test_two_pushes_in_ping_pong(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < AP 1(1000) ack 1 win 60000",
		"210     write 50",
		"210     > A 1(50) ack 1001",
		"215     read 1000",
		"310     < AP 1001(100) ack 51 win 60000",
		"315     read 100",
		"320     < AP 1101(10) ack 51 win 60000",
		"325     read 5",
		"330     read 5",
		"330     > A 51(0) ack 1111",
		NULL,
	};

	run(NULL, lines);
}

/* Data that is sent 40 ms after received data, or later, begins no ping-pong mode. */
static void test_late_data_is_no_response(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < AP 1(100) ack 1 win 60000",
		"205     read 100",
		"205     > A 1(0) ack 101",
		"40200   write 50",
		"40200   > A 1(50) ack 101",
		"40300   < AP 101(100) ack 51 win 60000",
		"40305   read 100",
		"40305   > A 51(0) ack 201",
		NULL,
	};

	run(NULL, lines);
}

static void test_ack_of_each_segment(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     < A 1(1000) ack 1 win 60000",
		"200     > A 1(0) ack 1001",
		"210     < A 1001(7) ack 1 win 60000",
		"210     > A 1(0) ack 1008",
		NULL,
	};

	run("delayed_ack=0ps", lines);
}
