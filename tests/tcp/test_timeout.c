/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reaction to missing ACKs: tail loss probes (RFC 8985 7), and the retransmission timeout
 * with its back-off (RFC 6298 5, RFC 5681 3.1, RFC 8985 6.3, RFC 2018 8).
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                            \
	TEST(tail_probe)                       \
	TEST(tail_probe_that_repairs)          \
	TEST(tail_probe_that_was_needless)     \
	TEST(tail_probe_with_new_data)         \
	TEST(tail_probe_before_the_timeout)    \
	TEST(timeout)                          \
	TEST(timeouts_in_a_row)                \
	TEST(timeout_in_recovery)              \
	TEST(connection_times_out)             \
	TEST(user_timeout)                     \
	TEST(window_probes_not_acknowledged)   \
	TEST(window_probes_acknowledged)       \
	TEST(user_timeout_of_window_probes)    \
	TEST(orphan_at_a_closed_window)        \
	TEST(orphan_times_out)                 \
	TEST(young_segments_survive_a_timeout) \
	TEST(receiver_forgets)
SUITE(TESTS)

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

/* The last segment is retransmitted two RTTs after the ACK. Its SACK block reveals the other
 * loss. */
static void test_tail_probe(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 5000",
		SCRIPT_FIVE("200"),
		"300    < A 1(0) ack 3001 win 60000",
		"500    > A 4001(1000) ack 1",
		"500    is probes 1",
		"600    < A 1(0) ack 3001 win 60000 sack 4001-5001",
		"600    > A 3001(1000) ack 1",
		"600    is recoveries 1",
		"700    < A 1(0) ack 5001 win 60000",
		"700    is timeouts 0",
		NULL,
	};

	run("probe_ack_delay=0ps", lines);
}

/* The ACK of more data, without a DSACK before it, says that the probe has repaired a loss. */
static void test_tail_probe_that_repairs(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 5000",
		SCRIPT_FIVE("200"),
		"300    < A 1(0) ack 4001 win 60000",
		"500    > A 4001(1000) ack 1",
		"600    < A 1(0) ack 5001 win 60000",
		"600    is cwnd 10000",
		"800    write 1000",
		"800    > A 5001(1000) ack 1",
		"900    < A 1(0) ack 6001 win 60000",
		"900    is cwnd 5000",
		"900    is recoveries 0",
		NULL,
	};

	run("probe_ack_delay=0ps", lines);
}

static void test_tail_probe_that_was_needless(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 1000",
		"200    > A 1(1000) ack 1",
		"400    > A 1(1000) ack 1",
		"450    < A 1(0) ack 1001 win 60000",
		"500    < A 1(0) ack 1001 win 60000 sack 1-1001",
		"600    write 1000",
		"600    > A 1001(1000) ack 1",
		"700    < A 1(0) ack 2001 win 60000",
		"700    is cwnd 10000",
		NULL,
	};

	run("probe_ack_delay=0ps", lines);
}

static void test_tail_probe_with_new_data(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 3000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"400    > A 2001(1000) ack 1", /* beyond the congestion window */
		"500    < A 1(0) ack 3001 win 60000",
		"600    write 1000",
		"600    > A 3001(1000) ack 1",
		"700    < A 1(0) ack 4001 win 60000",
		"700    is cwnd 4000",
		NULL,
	};

	run("initial_window=2", lines);
}

/* The ACK of a single segment may be delayed by 200 ms. The probe then replaces the timeout. */
static void test_tail_probe_before_the_timeout(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 1000",
		"200    > A 1(1000) ack 1",
		"200200 > A 1(1000) ack 1",
		"200200 is probes 1",
		"200200 is timeouts 0",
		"400200 > A 1(1000) ack 1",
		"400200 is timeouts 1",
		NULL,
	};

	run(NULL, lines);
}

/* After the timeout the window is one segment. Slow start adds one segment per ACK, up to half of
 * the flight. */
static void test_timeout(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"200200 > A 1(1000) ack 1",
		"200200 is timeouts 1",
		"200200 is cwnd 1000",
		"200300 < A 1(0) ack 1001 win 60000",
		"200300 > A 1001(1000) ack 1",
		"200300 > A 2001(1000) ack 1",
		"200400 < A 1(0) ack 3001 win 60000",
		"200400 > A 3001(1000) ack 1",
		"200400 > A 4001(1000) ack 1",
		"200400 > A 5001(1000) ack 1",
		"200400 is cwnd 3000",
		"200500 < A 1(0) ack 6001 win 60000",
		"200500 > A 6001(1000) ack 1",
		"200500 > A 7001(1000) ack 1",
		"200500 > A 8001(1000) ack 1",
		"200500 > A 9001(1000) ack 1",
		"200600 < A 1(0) ack 8001 win 60000",
		"200600 is cwnd 5000",
		"200601 < A 1(0) ack 10001 win 60000",
		"200601 is cwnd 5000", /* congestion avoidance: 2000 bytes of 5000 */
		"200601 is recovering 0",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* RTO doubles until a segment that was sent once is acknowledged. The slow start threshold stays as
 * the first timeout has set it. */
static void test_timeouts_in_a_row(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"200200 > A 1(1000) ack 1",
		"600200 > A 1(1000) ack 1",
		"1400200 > A 1(1000) ack 1",
		"1400200 is timeouts 3",
		"1400200 is rto 1600000",
		"1400300 < A 1(0) ack 1001 win 60000",
		"1400300 > A 1001(1000) ack 1",
		"1400300 > A 2001(1000) ack 1",
		"1400300 is rto 1600000",
		"1400400 < A 1(0) ack 3001 win 60000",
		"1400400 > A 3001(1000) ack 1",
		"1400400 > A 4001(1000) ack 1",
		"1400400 > A 5001(1000) ack 1",
		"1400500 < A 1(0) ack 6001 win 60000",
		"1400500 > A 6001(1000) ack 1",
		"1400500 > A 7001(1000) ack 1",
		"1400500 > A 8001(1000) ack 1",
		"1400500 > A 9001(1000) ack 1",
		"1400600 < A 1(0) ack 8001 win 60000",
		"1400600 is cwnd 5000",
		"1400600 < A 1(0) ack 10001 win 60000",
		"1400600 is cwnd 5000",
		"1400700 write 1000",
		"1400700 > A 10001(1000) ack 1",
		"1400800 < A 1(0) ack 11001 win 60000",
		"1400800 is rto 200000",
		NULL,
	};

	run("tail_probe=false", lines);
}

static void test_timeout_in_recovery(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"302    < A 1(0) ack 1 win 60000 sack 1001-10001",
		"302    > A 1(1000) ack 1",
		"200302 > A 1(1000) ack 1",
		"200302 is timeouts 1",
		"200302 is cwnd 1000",
		"200402 < A 1(0) ack 10001 win 60000",
		"200402 is recovering 0",
		NULL,
	};

	run(NULL, lines);
}

static void test_connection_times_out(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1000",
		"200     > A 1(1000) ack 1",
		"200200  > A 1(1000) ack 1",
		"600200  > A 1(1000) ack 1",
		"1400200 event timed-out",
		"1400200 is state CLOSED",
		NULL,
	};

	run("tail_probe=false retries=2", lines);
}

/* RFC 8985 6.3: only segments that were sent an RTT and a reordering window ago. */
static void test_young_segments_survive_a_timeout(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150    write 1000",
		"150    > A 1(1000) ack 1",
		"250    < A 1(0) ack 1001 win 60000",
		"300    write 1000",
		"300    > A 1001(1000) ack 1",
		"200200 write 1000",
		"200200 > A 2001(1000) ack 1",
		"200300 > A 1001(1000) ack 1",
		"200300 is in-flight 2000",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* RFC 2018 8: the first segment was SACKed, and the receiver has dropped it. */
static void test_receiver_forgets(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 3000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"200    > A 2001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"305    < A 1(0) ack 1001 win 60000",
		"305    is in-flight 1000",
		"200305 > A 1001(1000) ack 1",
		"200405 < A 1(0) ack 3001 win 60000",
		"200405 is acknowledged 3000",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* By RFC 5482, the connection fails 500 ms after the first timeout, which is at 200.2 ms. The last
 * interval is cut off. */
static void test_user_timeout(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1000",
		"200     > A 1(1000) ack 1",
		"200200  > A 1(1000) ack 1",
		"600200  > A 1(1000) ack 1",
		"700199  is state ESTABLISHED",
		"700200  is state CLOSED",
		"700200  event timed-out",
		NULL,
	};

	run("tail_probe=false user_timeout=500ms", lines);
}

/* A silent peer gets as many probes as timeouts, each interval twice as long up to
 * rto_max. */
static void test_window_probes_not_acknowledged(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     write 1000",
		"200200  > A 1(1) ack 1",
		"600200  > A 1(1) ack 1",
		"1400200 > A 1(1) ack 1",
		"2400200 is state CLOSED",
		"2400200 event timed-out",
		"2400200 is timeouts 0",
		"2400200 is window-probes 3",
		NULL,
	};

	run("retries=3 rto_max=1s", lines);
}

/* RFC 9293 3.8.6.1: a peer that acknowledges is probed for ever. Only its application can
 * change that, which is certain from the first ACK on. */
static void test_window_probes_acknowledged(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     write 1000",
		"300     is stuck 0",
		"200200  > A 1(1) ack 1",
		"200250  is stuck 0",
		"200300  < A 1(0) ack 1 win 0",
		"200300  is stuck 1",
		"600200  > A 1(1) ack 1",
		"600300  < A 1(0) ack 1 win 0",
		"1400200 > A 1(1) ack 1",
		"1400300 < A 1(0) ack 1 win 0",
		"2400200 > A 1(1) ack 1",
		"2400250 is stuck 0",
		"2400300 < A 1(0) ack 1 win 0",
		"2400300 is state ESTABLISHED",
		"2400400 < A 1(0) ack 1 win 5000",
		"2400400 > A 1(1) ack 1",
		"2400400 > A 2(999) ack 1",
		"2400400 is stuck 0",
		NULL,
	};

	run("retries=2 rto_max=1s", lines);
}

static void test_user_timeout_of_window_probes(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     write 1000",
		"200200  > A 1(1) ack 1",
		"200300  < A 1(0) ack 1 win 0",
		"200300  is stuck 0",
		"600200  > A 1(1) ack 1",
		"600300  < A 1(0) ack 1 win 0",
		"900200  is state CLOSED",
		"900200  event timed-out",
		NULL,
	};

	run("user_timeout=700ms", lines);
}

/* The interval of its probes reaches rto_max: Linux tcp_probe_timer(). */
static void test_orphan_at_a_closed_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150     < A 1(0) ack 1 win 0",
		"200     write 1000",
		"210     shutdown",
		"210     orphan",
		"200200  > A 1(1) ack 1",
		"200300  < A 1(0) ack 1 win 0",
		"200300  is stuck 0",
		"600200  > A 1(1) ack 1",
		"600300  < A 1(0) ack 1 win 0",
		"1400200 is state CLOSED",
		"1400200 event timed-out",
		NULL,
	};

	run("rto_max=800ms", lines);
}

static void test_orphan_times_out(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     write 1000",
		"200     > A 1(1000) ack 1",
		"210     orphan",
		"200200  > A 1(1000) ack 1",
		"600200  > A 1(1000) ack 1",
		"1400200 is state CLOSED",
		"1400200 event timed-out",
		NULL,
	};

	run("tail_probe=false orphan_retries=2", lines);
}
