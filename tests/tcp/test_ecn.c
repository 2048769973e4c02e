/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests ECN: negotiation, ECE and CWR of RFC 3168 6.1, and the echo of RFC 8257 3.2. With the echo,
 * each ACK covers either marked or unmarked segments only.
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                      \
	TEST(offered_and_refused)        \
	TEST(accepted_when_offered)      \
	TEST(one_cut_a_window)           \
	TEST(one_cut_a_large_window)     \
	TEST(no_ect_on_retransmissions)  \
	TEST(ece_until_cwr)              \
	TEST(dctcp_follows_the_marks)    \
	TEST(marks_reach_the_sender)     \
	TEST(ece_with_nothing_in_flight) \
	TEST(dctcp_cuts_by_the_share)    \
	TEST(dctcp_alpha_of_each_window) \
	TEST(dctcp_marks_all_packets)    \
	TEST(off_by_default)
SUITE(TESTS)

static void run(const char *congestion, const char *set, const char *const *lines)
{
	const struct script_setup setup = {.congestion = congestion, .set = set};

	script_run(&setup, lines);
}

static void test_offered_and_refused(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > SEW 0(0) mss 1000 wscale 7 sackok",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 sackok",
		"100    > A 1(0) ack 1",
		"200    write 1000",
		"200    > A 1(1000) ack 1",
		"300    < AE 1(0) ack 1001 win 60000",
		"300    is cwnd 10000",
		NULL,
	};

	run(NULL, "ecn=classic", lines);
}

static void test_accepted_when_offered(void)
{
	static const char *const lines[] = {
		"0      listen",
		"0      < SEW 0(0) win 60000 mss 1000 sackok",
		"0      > SAE 0(0) ack 1 mss 1000 sackok",
		"100    < A 1(0) ack 1 win 60000",
		"200    write 1000",
		"200    > A 1(1000) ack 1 ect0",
		"300    < A 1(0) ack 1001 win 60000 ect0",
		NULL,
	};

	run(NULL, "ecn=classic", lines);
}

#define OPEN(ecn)                                                             \
	"0      connect", "0      > SEW 0(0) mss 1000 wscale 7 sackok" ecn,   \
		"100    < SAE 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok", \
		"100    > A 1(0) ack 1" ecn

/* RFC 3168 6.1.2: half, once for all ECE of a window of data; the next new segment has CWR. */
static void test_one_cut_a_window(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    write 4000",
		"200    > A 1(1000) ack 1 ect0",
		"200    > A 1001(1000) ack 1 ect0",
		"200    > A 2001(1000) ack 1 ect0",
		"200    > A 3001(1000) ack 1 ect0",
		"300    < AE 1(0) ack 1001 win 60000",
		"300    is cwnd 2000", /* half of the flight */
		"310    < AE 1(0) ack 3001 win 60000",
		"310    is cwnd 2000",
		"320    write 1000",
		"320    > AW 4001(1000) ack 1 ect0",
		"330    write 1000",
		"340    < A 1(0) ack 4001 win 60000",
		"340    > A 5001(1000) ack 1 ect0",
		NULL,
	};

	run(NULL, "ecn=classic", lines);
}

/* The window is far from its minimum of two segments, so that a second cut would show. */
static void test_one_cut_a_large_window(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    write 8000",
		"200    > A 1(1000) ack 1 ect0",
		"200    > A 1001(1000) ack 1 ect0",
		"200    > A 2001(1000) ack 1 ect0",
		"200    > A 3001(1000) ack 1 ect0",
		"200    > A 4001(1000) ack 1 ect0",
		"200    > A 5001(1000) ack 1 ect0",
		"200    > A 6001(1000) ack 1 ect0",
		"200    > A 7001(1000) ack 1 ect0",
		"300    < AE 1(0) ack 1001 win 60000",
		"300    is cwnd 3500",
		"310    < AE 1(0) ack 3001 win 60000",
		"310    is cwnd 3500",
		NULL,
	};

	run(NULL, "ecn=classic", lines);
}

static void test_no_ect_on_retransmissions(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    write 1000",
		"200    > A 1(1000) ack 1 ect0",
		"200200 > A 1(1000) ack 1",
		NULL,
	};

	run(NULL, "ecn=classic tail_probe=false", lines);
}

static void test_ece_until_cwr(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    < A 1(1000) ack 1 win 60000 ect0",
		"200    > A 1(0) ack 1001",
		"210    < A 1001(1000) ack 1 win 60000 ce",
		"210    > AE 1(0) ack 2001",
		"220    < A 2001(1000) ack 1 win 60000 ect0",
		"220    > AE 1(0) ack 3001",
		"230    < AW 3001(1000) ack 1 win 60000 ect0",
		"230    > A 1(0) ack 4001",
		"240    < AW 4001(1000) ack 1 win 60000 ce", /* marked anew */
		"240    > AE 1(0) ack 5001",
		NULL,
	};

	run(NULL, "ecn=classic delayed_ack=0ps", lines);
}

/* When the mark changes, the ACK that waits goes out first, with the old mark. */
static void test_dctcp_follows_the_marks(void)
{
	static const char *const lines[] = {
		OPEN(" ect0"),
		"200    < A 1(1000) ack 1 win 60000 ect0",
		"210    < A 1001(1000) ack 1 win 60000 ce",
		"210    > A 1(0) ack 1001 ect0",
		"210    > AE 1(0) ack 2001 ect0",
		"220    < A 2001(1000) ack 1 win 60000 ce",
		"230    < A 3001(1000) ack 1 win 60000 ce",
		"230    > AE 1(0) ack 4001 ect0",
		"240    < A 4001(1000) ack 1 win 60000 ect0",
		"240    > A 1(0) ack 5001 ect0",
		NULL,
	};

	run("dctcp", NULL, lines);
}

/* alpha begins with 1, so the first mark halves the window. Then 1000 of 5000 bytes are marked:
 * alpha is 15/16 + 1/16 * 0.2 = 0.95, and the window is cut by 0.475. */
static void test_dctcp_cuts_by_the_share(void)
{
	static const char *const lines[] = {
		OPEN(" ect0"),
		"200    write 100000",
		"200    > A 1(1000) ack 1 ect0",
		"200    > A 1001(1000) ack 1 ect0",
		"200    > A 2001(1000) ack 1 ect0",
		"200    > A 3001(1000) ack 1 ect0",
		"200    > A 4001(1000) ack 1 ect0",
		"200    > A 5001(1000) ack 1 ect0",
		"200    > A 6001(1000) ack 1 ect0",
		"200    > A 7001(1000) ack 1 ect0",
		"300    < AE 1(0) ack 4001 win 60000",
		"300    is cwnd 4000",
		"300    is in-flight 4000",
		"310    < A 1(0) ack 8001 win 60000", /* congestion avoidance: one segment */
		"310    > AW 8001(1000) ack 1 ect0",
		"310    > A 9001(1000) ack 1 ect0",
		"310    > A 10001(1000) ack 1 ect0",
		"310    > A 11001(1000) ack 1 ect0",
		"310    > A 12001(1000) ack 1 ect0",
		"310    is cwnd 5000",
		"410    < AE 1(0) ack 9001 win 60000",
		"410    is cwnd 2625",
		NULL,
	};

	run("dctcp", "initial_window=8", lines);
}

/* RFC 3168 6.1.3 at the receiver: ECE stays on ACKs and on data until CWR. The counters name marks
 * and nothing else. */
static void test_marks_reach_the_sender(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    < A 1(1000) ack 1 win 60000 ce",
		"200    > AE 1(0) ack 1001",
		"200    is ce-received 1",
		"210    write 1000",
		"210    > AE 1(1000) ack 1001 ect0",
		"300    < AW 1001(1000) ack 1001 win 60000 ect0",
		"300    > A 1001(0) ack 2001",
		"310    write 1000",
		"310    > A 1001(1000) ack 2001 ect0",
		"400    < AE 2001(0) ack 2001 win 60000",
		"400    is ece-received 1",
		"400    is reductions 1",
		"400    is ce-received 1",
		"410    write 2000",
		"410    > AW 2001(1000) ack 2001 ect0", /* CWR once */
		"410    > A 3001(1000) ack 2001 ect0",
		NULL,
	};

	run(NULL, "ecn=classic delayed_ack=0ps", lines);
}

/* Without data in flight, ECE takes half of the congestion window. RFC 3168 6.1.2. */
static void test_ece_with_nothing_in_flight(void)
{
	static const char *const lines[] = {
		OPEN(""),
		"200    write 1000",
		"200    > A 1(1000) ack 1 ect0",
		"300    < AE 1(0) ack 1001 win 60000",
		"300    is cwnd 5000",
		"400    write 1000",
		"400    > AW 1001(1000) ack 1 ect0",
		NULL,
	};

	run(NULL, "ecn=classic", lines);
}

/* RFC 8257 3.3, alpha = alpha * (1 - 1/16) + share / 16 after each window of data:
 *
 *     share  alpha
 *            1
 *     0      15/16
 *     0      0.87890625
 *     1      0.886474609375         8000 * (1 - alpha / 2) = 4454.1, the only cut of its window
 *     0.2    0.8435699462890625     2000 of 10000 bytes
 *     1      0.853346824646         5454.1 * (1 - alpha / 2) = 3127.0, with 5000 in flight
 */
static void test_dctcp_alpha_of_each_window(void)
{
	static const char *const lines[] = {
		OPEN(" ect0"),
		"200    write 100000",
		"200    > A 1(1000) ack 1 ect0",
		"200    > A 1001(1000) ack 1 ect0",
		"200    > A 2001(1000) ack 1 ect0",
		"200    > A 3001(1000) ack 1 ect0",
		"300    < A 1(0) ack 4001 win 60000",
		"300    > A 4001(1000) ack 1 ect0",
		"300    > A 5001(1000) ack 1 ect0",
		"300    > A 6001(1000) ack 1 ect0",
		"300    > A 7001(1000) ack 1 ect0",
		"300    > A 8001(1000) ack 1 ect0",
		"300    > A 9001(1000) ack 1 ect0",
		"300    is cwnd 6000", /* slow start, two segments an ACK */
		"400    < A 1(0) ack 10001 win 60000",
		"400    > A 10001(1000) ack 1 ect0",
		"400    > A 11001(1000) ack 1 ect0",
		"400    > A 12001(1000) ack 1 ect0",
		"400    > A 13001(1000) ack 1 ect0",
		"400    > A 14001(1000) ack 1 ect0",
		"400    > A 15001(1000) ack 1 ect0",
		"400    > A 16001(1000) ack 1 ect0",
		"400    > A 17001(1000) ack 1 ect0",
		"400    is cwnd 8000",
		"500    < AE 1(0) ack 12001 win 60000",
		"500    is cwnd 4454",
		"510    < AE 1(0) ack 14001 win 60000",
		"510    is cwnd 4454",
		"520    < A 1(0) ack 18001 win 60000",
		"520    > AW 18001(1000) ack 1 ect0",
		"520    > A 19001(1000) ack 1 ect0",
		"520    > A 20001(1000) ack 1 ect0",
		"520    > A 21001(1000) ack 1 ect0",
		"530    < A 1(0) ack 22001 win 60000",
		"530    > A 22001(1000) ack 1 ect0",
		"530    > A 23001(1000) ack 1 ect0",
		"530    > A 24001(1000) ack 1 ect0",
		"530    > A 25001(1000) ack 1 ect0",
		"530    > A 26001(1000) ack 1 ect0",
		"530    is cwnd 5454",
		"540    < AE 1(0) ack 23001 win 60000",
		"540    is cwnd 3126",
		"540    is reductions 2",
		NULL,
	};

	run("dctcp", "initial_window=4", lines);
}

static void test_dctcp_marks_all_packets(void)
{
	static const char *const lines[] = {
		OPEN(" ect0"),
		"200    write 1000",
		"200    > A 1(1000) ack 1 ect0",
		"200200 > A 1(1000) ack 1 ect0",
		"200300 shutdown",
		"200300 > FA 1001(0) ack 1 ect0",
		NULL,
	};

	run("dctcp", "tail_probe=false", lines);
}

static void test_off_by_default(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		NULL,
	};

	run("cubic", NULL, lines);
	run("none", "ecn=off", lines);
}
