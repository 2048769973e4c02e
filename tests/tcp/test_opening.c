/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the opening and end of connections: RFC 9293 3.5, 3.6 and 3.10.7, RFC 6298 5.7 and RFC 7323
 * (options of the SYN). RFC 5961: segments that a blind attacker could send are answered, not
 * obeyed.
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                        \
	TEST(active_open)                  \
	TEST(passive_open)                 \
	TEST(both_open)                    \
	TEST(options_that_one_side_lacks)  \
	TEST(time_stamps)                  \
	TEST(old_time_stamps_are_refused)  \
	TEST(syn_is_sent_again)            \
	TEST(syn_times_out)                \
	TEST(lost_syn_ack)                 \
	TEST(lost_ack_of_the_syn_ack)      \
	TEST(refused)                      \
	TEST(wrong_ack_of_a_syn)           \
	TEST(data_waits_for_the_opening)   \
	TEST(closed_before_it_opened)      \
	TEST(first_close)                  \
	TEST(second_close)                 \
	TEST(both_close)                   \
	TEST(half_close)                   \
	TEST(fin_with_the_last_data)       \
	TEST(fin_ahead_of_a_gap)           \
	TEST(fin_is_sent_again)            \
	TEST(fin_comes_again_in_time_wait) \
	TEST(reset_in_order)               \
	TEST(reset_in_the_window)          \
	TEST(reset_outside_of_the_window)  \
	TEST(syn_in_the_window)            \
	TEST(ack_of_what_was_never_sent)   \
	TEST(abort_sends_a_reset)          \
	TEST(no_connection)
SUITE(TESTS)

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

static void test_active_open(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"100    event connected",
		"100    is state ESTABLISHED",
		"100    is cwnd 10000",
		"100    is peer-window 60000",
		"100    is rto 200000",
		NULL,
	};

	run(NULL, lines);
}

static void test_passive_open(void)
{
	static const char *const lines[] = {
		"0      listen",
		"50     < A 5(0) ack 1",
		"60     < R 5(0)",
		"100    < S 0(0) win 1000 mss 500 wscale 3 sackok",
		"100    > SA 0(0) ack 1 win 65535 mss 1000 wscale 7 sackok",
		"100    is state SYN_RECEIVED",
		"300    < A 1(0) ack 1 win 100",
		"300    event connected",
		"300    is cwnd 5000",
		"300    is peer-window 800",
		NULL,
	};

	run(NULL, lines);
}

/* Both ends open as in RFC 9293, figure 8. */
static void test_both_open(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		"100    < S 0(0) win 60000 mss 1000 wscale 7 sackok",
		"100    > SA 0(0) ack 1 mss 1000 wscale 7 sackok",
		"150    < SA 0(0) ack 1 win 60000 mss 1000 wscale 7 sackok",
		"150    > A 1(0) ack 1",
		"150    is state ESTABLISHED",
		NULL,
	};

	run(NULL, lines);
}

static void test_options_that_one_side_lacks(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) win 65535 mss 1000 wscale 7 sackok ts 1 0",
		"100    < SA 0(0) ack 1 win 60000",
		"100    > A 1(0) ack 1 win 65535",
		"200    write 600",
		"200    > A 1(536) ack 1",
		"200    > A 537(64) ack 1",
		"200    < A 1(0) ack 601 win 60000 sack 700-800",
		"200    is in-flight 0",
		NULL,
	};

	run("timestamps=true", lines);
}

static void test_time_stamps(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) win 65535 mss 1000 wscale 7 sackok ts 1 0",
		"2000   < SA 0(0) ack 1 win 60000 mss 1000 sackok ts 700 1",
		"2000   > A 1(0) ack 1 ts 3 700",
		"3000   write 988",
		"3000   > A 1(988) ack 1 ts 4 700",
		"5000   < A 1(0) ack 989 win 60000 ts 702 4",
		/* TS.Recent comes from the segment that the next ACK acknowledges, not from a
		 * segment beyond a gap */
		"6000   < A 101(100) ack 989 win 60000 ts 705 4",
		"6000   > A 989(0) ack 1 ts 7 702 sack 101-201",
		"7000   < A 1(100) ack 989 win 60000 ts 704 4",
		"7000   > A 989(0) ack 201 ts 8 704",
		NULL,
	};

	run("timestamps=true", lines);
}

static void test_old_time_stamps_are_refused(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok ts 1 0",
		"2000   < SA 0(0) ack 1 win 60000 mss 1000 sackok ts 700 1",
		"2000   > A 1(0) ack 1 ts 3 700",
		"3000   < A 1(100) ack 1 win 60000 ts 699 1",
		"3000   > A 1(0) ack 1 ts 4 700",
		"3000   is received 0",
		"4000   < A 1(100) ack 1 win 60000",
		"4000   > A 1(0) ack 1 ts 5 700",
		"4000   is received 0",
		NULL,
	};

	run("timestamps=true", lines);
}

/* The RTO of a SYN is 1 s, and doubles. After a response to a retransmitted SYN, the RTO is 3 s and
 * the window is one segment. */
static void test_syn_is_sent_again(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0       > S 0(0) mss 1000 wscale 7 sackok",
		"1000000 > S 0(0) mss 1000 wscale 7 sackok",
		"3000000 > S 0(0) mss 1000 wscale 7 sackok",
		"3500000 < SA 0(0) ack 1 win 60000 mss 1000 sackok",
		"3500000 > A 1(0) ack 1",
		"3500000 is rto 3000000",
		"3500000 is cwnd 1000",
		NULL,
	};

	run(NULL, lines);
}

static void test_syn_times_out(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0       > S 0(0) mss 1000 wscale 7 sackok",
		"1000000 > S 0(0) mss 1000 wscale 7 sackok",
		"3000000 > S 0(0) mss 1000 wscale 7 sackok",
		"6999999 is state SYN_SENT",
		"7000000 event timed-out",
		"7000000 is state CLOSED",
		NULL,
	};

	run("syn_retries=2", lines);
}

static void test_lost_syn_ack(void)
{
	static const char *const lines[] = {
		"0       listen",
		"100     < S 0(0) win 1000 mss 1000 sackok",
		"100     > SA 0(0) ack 1 mss 1000 sackok",
		"500000  < S 0(0) win 1000 mss 1000 sackok",
		"500000  > SA 0(0) ack 1 mss 1000 sackok",
		"1500000 > SA 0(0) ack 1 mss 1000 sackok",
		"1500100 < A 1(0) ack 1 win 1000",
		"1500100 event connected",
		NULL,
	};

	run(NULL, lines);
}

static void test_lost_ack_of_the_syn_ack(void)
{
	static const char *const lines[] = {
		"0       listen",
		"100     < S 0(0) win 1000 mss 1000 sackok",
		"100     > SA 0(0) ack 1 mss 1000 sackok",
		"300     < A 1(500) ack 1 win 1000",
		"300     event connected",
		"300     is received 500",
		"40300   > A 1(0) ack 501",
		NULL,
	};

	run(NULL, lines);
}

static void test_refused(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		"50     < R 0(0)",
		"60     < RA 0(0) ack 7",
		"60     is state SYN_SENT",
		"100    < RA 0(0) ack 1",
		"100    event reset",
		"100    is state CLOSED",
		NULL,
	};

	run(NULL, lines);
}

/* The ACK is of an earlier connection in TIME-WAIT, which the RST ends. */
static void test_wrong_ack_of_a_syn(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		"100    < SA 0(0) ack 77 win 60000",
		"100    > R 77(0)",
		"100    is state SYN_SENT",
		"8100   > S 0(0) mss 1000 wscale 7 sackok",
		"8200   < A 9(0) ack 77 win 60000",
		"8200   > R 77(0)",
		"2008100 > S 0(0) mss 1000 wscale 7 sackok",
		NULL,
	};

	run(NULL, lines);
}

static void test_data_waits_for_the_opening(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		"10     write 1500",
		"100    < SA 0(0) ack 1 win 60000 mss 1000",
		"100    > A 1(1000) ack 1",
		"100    > A 1001(500) ack 1",
		NULL,
	};

	run(NULL, lines);
}

/* RFC 9293 3.10.4: there is nothing to close yet. */
static void test_closed_before_it_opened(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok",
		"10     shutdown",
		"10     event finished",
		"20     < SA 0(0) ack 1 win 60000 mss 1000",
		"20     is state CLOSED",
		NULL,
	};

	run(NULL, lines);
}

static void test_first_close(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    shutdown",
		"200    > FA 1(0) ack 1",
		"300    < A 1(0) ack 2 win 60000",
		"300    is state FIN_WAIT_2",
		"400    < FA 1(0) ack 2 win 60000",
		"400    > A 2(0) ack 2",
		"400    event peer-closed",
		"60000399 is state TIME_WAIT",
		"60000400 event finished",
		"60000400 is state CLOSED",
		NULL,
	};

	run(NULL, lines);
}

static void test_second_close(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < FA 1(0) ack 1 win 60000",
		"200    > A 1(0) ack 2",
		"200    event peer-closed",
		"200    is state CLOSE_WAIT",
		"300    write 100",
		"300    > A 1(100) ack 2",
		"310    shutdown",
		"310    > FA 101(0) ack 2",
		"310    is state LAST_ACK",
		"400    < A 2(0) ack 102 win 60000",
		"400    event finished",
		"400    is state CLOSED",
		NULL,
	};

	run(NULL, lines);
}

static void test_both_close(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    shutdown",
		"200    > FA 1(0) ack 1",
		"210    < FA 1(0) ack 1 win 60000",
		"210    > A 2(0) ack 2",
		"210    is state CLOSING",
		"300    < A 2(0) ack 2 win 60000",
		"300    is state TIME_WAIT",
		"5000300 event finished",
		NULL,
	};

	run("time_wait=5s", lines);
}

static void test_half_close(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    shutdown",
		"200    > FA 1(0) ack 1",
		"300    < A 1(1000) ack 2 win 60000",
		"310    < A 1001(1000) ack 2 win 60000",
		"310    > A 2(0) ack 2001",
		"310    is received 2000",
		"320    read 2000",
		"330    < FA 2001(300) ack 2 win 60000",
		"330    > A 2(0) ack 2302",
		"330    is readable 300",
		"330    is state TIME_WAIT",
		NULL,
	};

	run(NULL, lines);
}

static void test_fin_with_the_last_data(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"150    no-room",
		"200    write 1200",
		"210    shutdown",
		"250    room",
		"250    > A 1(1000) ack 1",
		"250    > FA 1001(200) ack 1",
		"300    < A 1(0) ack 1001 win 60000",
		"300    is state FIN_WAIT_1",
		"310    < A 1(0) ack 1202 win 60000",
		"310    is state FIN_WAIT_2",
		"310    is acknowledged 1200",
		NULL,
	};

	run(NULL, lines);
}

static void test_fin_ahead_of_a_gap(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < FA 1001(500) ack 1 win 60000",
		"200    > A 1(0) ack 1 sack 1001-1501",
		"200    is state ESTABLISHED",
		"300    < A 1(1000) ack 1 win 60000",
		"300    > A 1(0) ack 1502",
		"300    is state CLOSE_WAIT",
		"300    is readable 1500",
		NULL,
	};

	run(NULL, lines);
}

static void test_fin_is_sent_again(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    shutdown",
		"200    > FA 1(0) ack 1",
		"200200 > FA 1(0) ack 1",
		"600200 > FA 1(0) ack 1",
		"600300 < A 1(0) ack 2 win 60000",
		"600300 is state FIN_WAIT_2",
		NULL,
	};

	run("tail_probe=false", lines);
}

static void test_fin_comes_again_in_time_wait(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200     shutdown",
		"200     > FA 1(0) ack 1",
		"300     < FA 1(0) ack 2 win 60000",
		"300     > A 2(0) ack 2",
		"500000  < FA 1(0) ack 2 win 60000",
		"500000  > A 2(0) ack 2",
		"1400000 is state TIME_WAIT", /* 2 MSL begin again */
		"1500000 event finished",
		NULL,
	};

	run("time_wait=1s", lines);
}

static void test_reset_in_order(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN, "200    < R 1(0)", "200    event reset", "200    is state CLOSED",
		NULL,
	};

	run(NULL, lines);
}

/* The response is that of RFC 5961 3.2. */
static void test_reset_in_the_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < R 2(0)",
		"200    > A 1(0) ack 1",
		"200    is state ESTABLISHED",
		"300    < R 3(0)", /* seldom */
		"500200 < R 3(0)",
		"500200 > A 1(0) ack 1",
		NULL,
	};

	run(NULL, lines);
}

static void test_reset_outside_of_the_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < R 900000000(0)",
		"210    < R 0(0)",
		"210    is state ESTABLISHED",
		NULL,
	};

	run(NULL, lines);
}

/* The response is that of RFC 5961 4.2. */
static void test_syn_in_the_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < S 100(0) win 60000",
		"200    > A 1(0) ack 1",
		"200    is state ESTABLISHED",
		NULL,
	};

	run(NULL, lines);
}

/* RFC 9293 3.10.7.4, RFC 5961 5.2: neither the ACK nor the payload counts. */
static void test_ack_of_what_was_never_sent(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    < A 1(10) ack 2 win 60000",
		"200    > A 1(0) ack 1",
		"200    is received 0",
		NULL,
	};

	run(NULL, lines);
}

static void test_abort_sends_a_reset(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,    "200    write 500",  "200    > A 1(500) ack 1",
		"250    abort", "250    > R 501(0)", "250    event finished",
		NULL,
	};

	run(NULL, lines);
}

/* The response is that of RFC 9293 3.10.7.1. */
static void test_no_connection(void)
{
	const struct tcp_segment with_ack = {.header = {.source_port = 7,
							.destination_port = 9,
							.flags = TCP_ACK,
							.acknowledgment = 77,
							.sequence = 5}};
	const struct tcp_segment without = {.header = {.source_port = 7,
						       .destination_port = 9,
						       .flags = TCP_SYN | TCP_FIN,
						       .sequence = 5},
					    .payload_bytes = 10};
	const struct tcp_segment reset = {.header = {.flags = TCP_RST}};
	struct tcp_segment response;

	CU_ASSERT_TRUE(tcp_refuse(&with_ack, &response));
	CU_ASSERT_EQUAL(response.header.flags, TCP_RST);
	CU_ASSERT_EQUAL(response.header.sequence, 77);
	CU_ASSERT_EQUAL(response.header.source_port, 9);
	CU_ASSERT_EQUAL(response.header.destination_port, 7);
	CU_ASSERT_TRUE(tcp_refuse(&without, &response));
	CU_ASSERT_EQUAL(response.header.flags, TCP_RST | TCP_ACK);
	CU_ASSERT_EQUAL(response.header.sequence, 0);
	CU_ASSERT_EQUAL(response.header.acknowledgment, 17);
	CU_ASSERT_FALSE(tcp_refuse(&reset, &response));
}
