/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests when segments leave without loss: congestion window (RFC 5681, 3465), peer's window and its
 * probes (RFC 9293 3.8.6), Nagle and silly windows (3.7.4, 3.8.6.2). Also
 * SACK blocks of the receiver (RFC 2018, 2883) and RTO (RFC 6298).
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                           \
	TEST(slow_start)                      \
	TEST(unused_window_does_not_grow)     \
	TEST(idle_restart)                    \
	TEST(no_restart_while_in_use)         \
	TEST(peer_window)                     \
	TEST(silly_window_of_the_peer)        \
	TEST(small_window_after_the_override) \
	TEST(window_of_an_old_segment)        \
	TEST(zero_window_is_probed)           \
	TEST(probe_is_taken)                  \
	TEST(fin_at_a_zero_window)            \
	TEST(nagle_off)                       \
	TEST(nagle_classic)                   \
	TEST(nagle_minshall)                  \
	TEST(rto_follows_the_rtt)             \
	TEST(receive_window_closes_and_opens) \
	TEST(receive_window_opens_late)       \
	TEST(data_beyond_the_window)          \
	TEST(sack_blocks_in_order_of_arrival) \
	TEST(four_gaps)                       \
	TEST(duplicates_are_reported)         \
	TEST(each_byte_once)                  \
	TEST(urgent_data_is_sent)             \
	TEST(urgent_data_arrives)
SUITE(TESTS)

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

/* Each ACK of two segments opens the window by two. */
static void test_slow_start(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 100000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"200    > A 2001(1000) ack 1",
		"200    is in-flight 3000",
		"300    < A 1(0) ack 2001 win 60000",
		"300    > A 3001(1000) ack 1",
		"300    > A 4001(1000) ack 1",
		"300    > A 5001(1000) ack 1",
		"300    > A 6001(1000) ack 1",
		"300    is cwnd 5000",
		"310    < A 1(0) ack 6001 win 60000", /* four segments open it by two: L */
		"310    > A 7001(1000) ack 1",
		"310    > A 8001(1000) ack 1",
		"310    > A 9001(1000) ack 1",
		"310    > A 10001(1000) ack 1",
		"310    > A 11001(1000) ack 1",
		"310    > A 12001(1000) ack 1",
		"310    is cwnd 7000",
		NULL,
	};

	run("initial_window=3", lines);
}

/* The window follows RFC 7661, and tcp_is_cwnd_limited() of Linux. */
static void test_unused_window_does_not_grow(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 2001 win 60000",
		"300    is cwnd 3000",
		"400    write 4000",
		"400    > A 2001(1000) ack 1",
		"400    > A 3001(1000) ack 1",
		"400    > A 4001(1000) ack 1",
		"500    < A 1(0) ack 4001 win 60000",
		"500    > A 5001(1000) ack 1",
		"500    is cwnd 5000",
		NULL,
	};

	run("initial_window=3", lines);
}

static void test_idle_restart(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 4000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 2001 win 60000",
		"300    > A 2001(1000) ack 1",
		"300    > A 3001(1000) ack 1",
		"300    is cwnd 4000",
		"400    < A 1(0) ack 4001 win 60000",
		"200301 write 4000",
		"200301 > A 4001(1000) ack 1",
		"200301 > A 5001(1000) ack 1",
		"200301 is cwnd 2000",
		NULL,
	};

	run("initial_window=2", lines);
}

static void test_no_restart_while_in_use(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 4000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 2001 win 60000",
		"300    > A 2001(1000) ack 1",
		"300    > A 3001(1000) ack 1",
		"400    < A 1(0) ack 4001 win 60000",
		"200300 write 1000", /* one RTO after the last segment, not more */
		"200300 > A 4001(1000) ack 1",
		"200300 is cwnd 4000",
		NULL,
	};

	run("initial_window=2", lines);
}

static void test_peer_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150    < A 1(0) ack 1 win 2000",
		"200    write 5000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1001 win 2000",
		"300    > A 2001(1000) ack 1",
		"310    < A 1(0) ack 2001 win 3000",
		"310    > A 3001(1000) ack 1",
		"310    > A 4001(1000) ack 1",
		NULL,
	};

	run(NULL, lines);
}

/* The window takes 500 bytes, less than a full segment and than half of the largest window. */
static void test_silly_window_of_the_peer(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150    < A 1(0) ack 1 win 1500",
		"200    write 5000",
		"200    > A 1(1000) ack 1",
		"300    < A 1(0) ack 1001 win 500",
		"300    is in-flight 0",
		"400    < A 1(0) ack 1001 win 1000",
		"400    > A 1001(1000) ack 1",
		NULL,
	};

	run(NULL, lines);
}

static void test_small_window_after_the_override(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150    < A 1(0) ack 1 win 500",
		"200    write 5000",
		"200200 > A 1(500) ack 1",
		"200300 < A 1(0) ack 501 win 500",
		"400300 > A 501(500) ack 1",
		NULL,
	};

	run(NULL, lines);
}

/* SND.WL1 and SND.WL2 tell old segments apart. */
static void test_window_of_an_old_segment(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 1(100) ack 1 win 5000",
		"200    is peer-window 5000",
		"210    < A 101(0) ack 1 win 3000",
		"210    is peer-window 3000",
		"220    < A 1(100) ack 1 win 7000", /* it comes again */
		"220    > A 1(0) ack 101 sack 1-101",
		"220    is peer-window 3000",
		NULL,
	};

	run(NULL, lines);
}

/* Probes leave after one RTO, and then after intervals that double. A probe has one byte that does
 * not fit into the window. */
static void test_zero_window_is_probed(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1000",
		"200     > A 1(1000) ack 1",
		"300     < A 1(0) ack 1001 win 0",
		"400     write 3000",
		"200400  > A 1001(1) ack 1",
		"200500  < A 1(0) ack 1001 win 0",
		"600400  > A 1001(1) ack 1",
		"1400400 > A 1001(1) ack 1",
		"1400400 is timeouts 0",
		"1400400 is cwnd 10000",
		"1500000 < A 1(0) ack 1001 win 5000",
		"1500000 > A 1001(1) ack 1",
		"1500000 > A 1002(1000) ack 1",
		"1500000 > A 2002(1000) ack 1",
		"1500000 > A 3002(999) ack 1",
		"1500100 < A 1(0) ack 4001 win 5000",
		"1500100 is cwnd 10000",
		"1500100 is recoveries 0",
		NULL,
	};

	run(NULL, lines);
}

static void test_probe_is_taken(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     write 1500",
		"200200  > A 1(1) ack 1",
		"200300  < A 1(0) ack 2 win 1000",
		"200300  > A 2(1000) ack 1",
		"200400  < A 1(0) ack 1002 win 1000",
		"200400  > A 1002(499) ack 1",
		NULL,
	};

	run(NULL, lines);
}

static void test_fin_at_a_zero_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     shutdown",
		"200     > FA 1(0) ack 1",
		"300     < A 1(0) ack 2 win 0",
		"300     is state FIN_WAIT_2",
		NULL,
	};

	run(NULL, lines);
}

static void test_nagle_off(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,         "200     write 100",          "200     > A 1(100) ack 1",
		"210     write 100", "210     > A 101(100) ack 1", NULL,
	};

	run("nagle=off", lines);
}

static void test_nagle_classic(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1100",
		"200     > A 1(1000) ack 1",
		"210     write 100",
		"220     write 900", /* a full segment does not wait */
		"220     > A 1001(1000) ack 1",
		"300     < A 1(0) ack 2001 win 60000",
		"300     > A 2001(100) ack 1",
		NULL,
	};

	run("nagle=classic", lines);
}

/* Only a small segment before it makes a small segment wait. */
static void test_nagle_minshall(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1100",
		"200     > A 1(1000) ack 1",
		"200     > A 1001(100) ack 1",
		"210     write 100",
		"300     < A 1(0) ack 1001 win 60000",
		"310     < A 1(0) ack 1101 win 60000",
		"310     > A 1101(100) ack 1",
		NULL,
	};

	run("nagle=minshall", lines);
}

/* RFC 6298 2: 100 us and 250 us give SRTT 118.75 us and RTTVAR 75 us. RTO is therefore 418.75
 * us. */
static void test_rto_follows_the_rtt(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"100     is rto 300",
		"200     write 100",
		"200     > A 1(100) ack 1",
		"450     < A 1(0) ack 101 win 60000",
		"450     is rto 418",
		NULL,
	};

	run("rto_min=10us tail_probe=false", lines);
}

/* A buffer of 4 KiB needs no scale. The window opens again when it at least doubles, by a segment
 * at least. */
static void test_receive_window_closes_and_opens(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) win 4096 mss 1000 wscale 0 sackok",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok",
		"100    > A 1(0) ack 1 win 4096",
		"200    < A 1(1000) ack 1 win 60000",
		"200    < A 1001(1000) ack 1 win 60000",
		"200    > A 1(0) ack 2001 win 2096",
		"210    < A 2001(1000) ack 1 win 60000",
		"210    < A 3001(1000) ack 1 win 60000",
		"210    > A 1(0) ack 4001 win 96",
		"220    < A 4001(96) ack 1 win 60000",
		"300    read 900",
		"40220  > A 1(0) ack 4097 win 0",
		"50000  read 99",
		"50010  read 1",
		"50010  > A 1(0) ack 4097 win 1000",
		"50020  read 500", /* not doubled */
		"50030  read 2596",
		"50030  > A 1(0) ack 4097 win 4096",
		NULL,
	};

	run("receive_buffer=4KiB", lines);
}

/* The window's right edge stays where it was, although the application reads little. */
static void test_receive_window_opens_late(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) win 4096 mss 1000 wscale 0 sackok",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok",
		"100    > A 1(0) ack 1 win 4096",
		"200    < A 1(1000) ack 1 win 60000",
		"210    read 999",
		"220    < A 1001(1000) ack 1 win 60000",
		"220    > A 1(0) ack 2001 win 2096",
		"230    read 1",
		"240    < A 2001(1000) ack 1 win 60000",
		"250    < A 3001(1000) ack 1 win 60000",
		"250    > A 1(0) ack 4001 win 1096",
		NULL,
	};

	run("receive_buffer=4KiB", lines);
}

static void test_data_beyond_the_window(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) win 2048 mss 1000 wscale 0 sackok",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok",
		"100    > A 1(0) ack 1 win 2048",
		"200    < A 2049(100) ack 1 win 60000", /* at the edge: only its ACK counts */
		"200    > A 1(0) ack 1 win 2048",
		"210    < A 2050(100) ack 1 win 60000",
		"210    > A 1(0) ack 1 win 2048",
		"220    < A 1001(2000) ack 1 win 60000",
		"220    > A 1(0) ack 1 win 2048 sack 1001-2049",
		"230    < A 1(1000) ack 1 win 60000",
		"230    > A 1(0) ack 2049 win 0",
		NULL,
	};

	run("receive_buffer=2KiB", lines);
}

/* RFC 2018 4: the block of the latest segment comes first, then the most recently reported
 * blocks. */
static void test_sack_blocks_in_order_of_arrival(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 1001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 1001-1101",
		"210    < A 3001(100) ack 1 win 60000",
		"210    > A 1(0) ack 1 sack 3001-3101,1001-1101",
		"220    < A 2001(100) ack 1 win 60000",
		"220    > A 1(0) ack 1 sack 2001-2101,3001-3101,1001-1101",
		"230    < A 1101(100) ack 1 win 60000", /* the block grows, and is the first */
		"230    > A 1(0) ack 1 sack 1001-1201,2001-2101,3001-3101",
		"240    < A 1201(800) ack 1 win 60000", /* two become one */
		"240    > A 1(0) ack 1 sack 1001-2101,3001-3101",
		"250    < A 1(1000) ack 1 win 60000",
		"250    > A 1(0) ack 2101 sack 3001-3101",
		"260    < A 2101(900) ack 1 win 60000",
		"260    > A 1(0) ack 3101",
		NULL,
	};

	run(NULL, lines);
}

/* Four SACK blocks fit without time stamps. The oldest block is left out. */
static void test_four_gaps(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 1001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 1001-1101",
		"200    < A 2001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 2001-2101,1001-1101",
		"200    < A 3001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 3001-3101,2001-2101,1001-1101",
		"200    < A 4001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 4001-4101,3001-3101,2001-2101,1001-1101",
		"200    < A 5001(100) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 5001-5101,4001-4101,3001-3101,2001-2101",
		NULL,
	};

	run(NULL, lines);
}

/* Duplicates are below the ACK, or within a block (RFC 2883 4). */
static void test_duplicates_are_reported(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 1(1000) ack 1 win 60000",
		"200    < A 1001(1000) ack 1 win 60000",
		"200    > A 1(0) ack 2001",
		"210    < A 1001(1000) ack 1 win 60000",
		"210    > A 1(0) ack 2001 sack 1001-2001",
		"220    < A 3001(1000) ack 1 win 60000",
		"220    > A 1(0) ack 2001 sack 3001-4001",
		"230    < A 3001(500) ack 1 win 60000",
		"230    > A 1(0) ack 2001 sack 3001-3501,3001-4001",
		"240    < A 1(1) ack 1 win 60000", /* before the last ACK */
		"240    > A 1(0) ack 2001 sack 1-2,3001-4001",
		"250    < A 1501(1500) ack 1 win 60000", /* half of it is new */
		"250    > A 1(0) ack 4001 sack 1501-2001",
		NULL,
	};

	run(NULL, lines);
}

static void test_each_byte_once(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 501(1000) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 501-1501",
		"210    < A 1(2000) ack 1 win 60000",
		"210    > A 1(0) ack 2001",
		"210    is received 2000",
		NULL,
	};

	run(NULL, lines);
}

/* Urgent data does not wait for ACKs. The pointer points behind it, in each segment before it. */
static void test_urgent_data_is_sent(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 100",
		"200    > A 1(100) ack 1",
		"210    write 100",
		"220    urge 1600",
		"220    write 1400",
		"220    > AU 101(1000) ack 1 urg 1500",
		"220    > AU 1101(500) ack 1 urg 500",
		"300    < A 1(0) ack 1601 win 60000",
		"310    write 1",
		"310    > A 1601(1) ack 1",
		NULL,
	};

	run("nagle=classic", lines);
}

/* The pointer may come before the urgent byte, and only a later one counts. */
static void test_urgent_data_arrives(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < AU 1(1000) ack 1 win 60000 urg 1200",
		"200    event urgent-announced",
		"200    is urgent 1199",
		"210    < AU 1001(1000) ack 1 win 60000 urg 200",
		"210    > A 1(0) ack 2001",
		"210    event urgent-arrived",
		"210    is urgent 1199",
		"220    < AU 2001(10) ack 1 win 60000 urg 10",
		"220    event urgent-announced",
		"220    event urgent-arrived",
		"220    is urgent 2009",
		NULL,
	};

	run(NULL, lines);
}
