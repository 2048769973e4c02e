/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests detection of losses by ACKs and their repair: RACK (RFC 8985 6), PRR (RFC 6937). Without
 * SACK or RACK, losses are found by duplicates (RFC 6582, 6675). The round trip of the SYN takes
 * 100 us. The reordering window therefore begins with 25 us.
 */
#include "tests/support/suite.h"
#include "tests/tcp/support/script.h"

#define TESTS(TEST)                         \
	TEST(fast_retransmit)               \
	TEST(limited_transmit)              \
	TEST(reordering_window)             \
	TEST(reordering_is_no_loss)         \
	TEST(window_is_at_most_srtt)        \
	TEST(duplicates_widen_the_window)   \
	TEST(window_narrows_again)          \
	TEST(retransmission_lost_again)     \
	TEST(most_of_the_window_lost)       \
	TEST(second_loss_reduces_once)      \
	TEST(ack_of_the_first_transmission) \
	TEST(without_sack)                  \
	TEST(without_rack)                  \
	TEST(dup_threshold)                 \
	TEST(partial_acknowledgment)        \
	TEST(sack_beyond_what_was_sent)
SUITE(TESTS)

static void run(const char *set, const char *const *lines)
{
	const struct script_setup setup = {.set = set};

	script_run(&setup, lines);
}

/* The third SACKed segment tells the loss. PRR halves the flight step by step, then sends a new
 * segment for each that leaves. */
static void test_fast_retransmit(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"301    < A 1(0) ack 1 win 60000 sack 1001-3001",
		"302    < A 1(0) ack 1 win 60000 sack 1001-4001",
		"302    > A 1(1000) ack 1",
		"302    is recoveries 1",
		"302    is recovering 1",
		"302    is in-flight 7000",
		"302.5  write 10000",
		"303    < A 1(0) ack 1 win 60000 sack 1001-5001",
		"304    < A 1(0) ack 1 win 60000 sack 1001-6001",
		"305    < A 1(0) ack 1 win 60000 sack 1001-7001",
		"305    > A 10001(1000) ack 1",
		"306    < A 1(0) ack 1 win 60000 sack 1001-8001",
		"306    > A 11001(1000) ack 1",
		"307    < A 1(0) ack 1 win 60000 sack 1001-10001",
		"307    > A 12001(1000) ack 1",
		"307    > A 13001(1000) ack 1",
		"402    < A 1(0) ack 10001 win 60000",
		"402    > A 14001(1000) ack 1",
		"402    is cwnd 5000",
		"402    is recovering 0",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* RFC 3042: a SACKed segment makes room for a new one before the loss is found. */
static void test_limited_transmit(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 20000",
		SCRIPT_TEN("200"),
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"300    > A 10001(1000) ack 1",
		"301    < A 1(0) ack 1 win 60000 sack 1001-3001",
		"301    > A 11001(1000) ack 1",
		"302    < A 1(0) ack 1 win 60000 sack 1001-4001",
		"302    > A 1(1000) ack 1",
		NULL,
	};

	run(NULL, lines);
}

/* With fewer than three SACKed segments, the loss is found 25 us after the RTT of the segment. */
static void test_reordering_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"325    > A 1(1000) ack 1",
		"325    is recoveries 1",
		"425    < A 1(0) ack 2001 win 60000",
		"425    is cwnd 2000",
		NULL,
	};

	run(NULL, lines);
}

/* Once reordering was seen, three SACKed segments are no proof. */
static void test_reordering_is_no_loss(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"310    < A 1(0) ack 2001 win 60000",
		"400    write 5000",
		"400    > A 2001(1000) ack 1",
		"400    > A 3001(1000) ack 1",
		"400    > A 4001(1000) ack 1",
		"400    > A 5001(1000) ack 1",
		"400    > A 6001(1000) ack 1",
		"500    < A 1(0) ack 2001 win 60000 sack 3001-7001",
		"510    < A 1(0) ack 7001 win 60000",
		"510    is recoveries 0",
		"600    write 5000",
		"600    > A 7001(1000) ack 1",
		"600    > A 8001(1000) ack 1",
		"600    > A 9001(1000) ack 1",
		"600    > A 10001(1000) ack 1",
		"600    > A 11001(1000) ack 1",
		"700    < A 1(0) ack 7001 win 60000 sack 8001-12001",
		"725    > A 7001(1000) ack 1",
		"725    is recoveries 1",
		NULL,
	};

	run(NULL, lines);
}

/* A window of four round trips would be 400 us. RFC 8985 6.2 limits it to SRTT. */
static void test_window_is_at_most_srtt(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"400    > A 1(1000) ack 1",
		"400    is recoveries 1",
		NULL,
	};

	run("reorder_window=4 tail_probe=false", lines);
}

/* A DSACK says that a retransmission was needless: the window becomes 50 us. */
static void test_duplicates_widen_the_window(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"325    > A 1(1000) ack 1",
		"330    < A 1(0) ack 2001 win 60000",
		"425    < A 1(0) ack 2001 win 60000 sack 1-1001",
		"500    write 2000",
		"500    > A 2001(1000) ack 1",
		"500    > A 3001(1000) ack 1",
		"600    < A 1(0) ack 2001 win 60000 sack 3001-4001",
		"650    > A 2001(1000) ack 1",
		NULL,
	};

	run(NULL, lines);
}

/* The window of a DSACK holds for 16 recoveries. RFC 8985 6.2. */
static void test_window_narrows_again(void)
{
	static const char *const begin[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"325    > A 1(1000) ack 1",
		"330    < A 1(0) ack 2001 win 60000",
		"425    < A 1(0) ack 2001 win 60000 sack 1-1001",
	};
	enum { WIDE = 16, STEPS = 6, BEGIN = ARRAY_SIZE(begin) };
	static char text[(WIDE + 1) * STEPS][64];
	const char *lines[BEGIN + (WIDE + 1) * STEPS + 1] = {NULL};

	memcpy(lines, begin, sizeof(begin));
	for (unsigned i = 0; i <= WIDE; i++) {
		unsigned at = 1000 * (i + 1), first = 2001 + 2000 * i, wait = i < WIDE ? 50 : 25;
		char(*line)[64] = &text[i * STEPS];

		snprintf(line[0], 64, "%u write 2000", at);
		snprintf(line[1], 64, "%u > A %u(1000) ack 1", at, first);
		snprintf(line[2], 64, "%u > A %u(1000) ack 1", at, first + 1000);
		snprintf(line[3], 64, "%u < A 1(0) ack %u win 60000 sack %u-%u", at + 100, first,
			 first + 1000, first + 2000);
		snprintf(line[4], 64, "%u > A %u(1000) ack 1", at + 100 + wait, first);
		snprintf(line[5], 64, "%u < A 1(0) ack %u win 60000", at + 200 + wait,
			 first + 2000);
		for (unsigned step = 0; step < STEPS; step++)
			lines[BEGIN + i * STEPS + step] = line[step];
	}
	run("tail_probe=false", lines);
}

/* A segment that was sent after the retransmission is delivered, so that is lost, too. The window
 * is not reduced again. */
static void test_retransmission_lost_again(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"302    < A 1(0) ack 1 win 60000 sack 1001-10001",
		"302    > A 1(1000) ack 1",
		"303    write 1000",
		"303    > A 10001(1000) ack 1",
		"403    < A 1(0) ack 1 win 60000 sack 1001-11001",
		"403    > A 1(1000) ack 1",
		"403    is recoveries 1",
		"503    < A 1(0) ack 11001 win 60000",
		"503    is cwnd 5000",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* PRR below the target: one segment more than was delivered, as in slow start. */
static void test_most_of_the_window_lost(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"302    < A 1(0) ack 1 win 60000 sack 7001-8001",
		"303    < A 1(0) ack 1 win 60000 sack 7001-9001",
		"304    < A 1(0) ack 1 win 60000 sack 7001-10001",
		"304    > A 1(1000) ack 1",
		"304    > A 1001(1000) ack 1",
		"404    < A 1(0) ack 1001 win 60000 sack 7001-10001",
		"404    > A 2001(1000) ack 1",
		"404    > A 3001(1000) ack 1",
		"405    < A 1(0) ack 2001 win 60000 sack 7001-10001",
		"405    > A 4001(1000) ack 1",
		"405    > A 5001(1000) ack 1",
		"504    < A 1(0) ack 3001 win 60000 sack 7001-10001",
		"504    > A 6001(1000) ack 1",
		"505    < A 1(0) ack 10001 win 60000",
		"505    is cwnd 5000",
		NULL,
	};

	run("tail_probe=false", lines);
}

static void test_second_loss_reduces_once(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"),
		"302    < A 1(0) ack 1 win 60000 sack 1001-4001",
		"302    > A 1(1000) ack 1",
		"303    < A 1(0) ack 1 win 60000 sack 5001-7001,1001-4001",
		"303    > A 4001(1000) ack 1",
		"304    < A 1(0) ack 1 win 60000 sack 5001-10001,1001-4001",
		"402    < A 1(0) ack 4001 win 60000 sack 5001-10001",
		"404    < A 1(0) ack 10001 win 60000",
		"404    is recoveries 1",
		"404    is cwnd 5000",
		NULL,
	};

	run("tail_probe=false", lines);
}

/* RFC 8985 6.2, step 2: by its time stamp the ACK is for the first transmission. It is no evidence
 * about packets sent before the second transmission. */
static void test_ack_of_the_first_transmission(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7 sackok ts 1 0",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok ts 1 1",
		"100    > A 1(0) ack 1 ts 1 1",
		"200    write 1976",
		"200    > A 1(988) ack 1 ts 1 1",
		"200    > A 989(988) ack 1 ts 1 1",
		"1500   > A 1(988) ack 1 ts 2 1", /* timeout */
		"1501   write 988",
		"1620   < A 1(0) ack 989 win 60000 ts 2 1",
		"1620   > A 989(988) ack 1 ts 2 2",
		"1620   > A 1977(988) ack 1 ts 2 2",
		NULL,
	};

	run("timestamps=true tail_probe=false rto_min=1300us", lines);
}

/* NewReno: three duplicate ACKs, then each partial ACK repairs one more loss. */
static void test_without_sack(void)
{
	static const char *const lines[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok",
		"100    > A 1(0) ack 1",
		"200    write 10000",
		SCRIPT_TEN("200"), /* the first and the fourth are lost */
		"300    < A 1(0) ack 1 win 60000",
		"301    < A 1(0) ack 1 win 60000",
		"302    < A 1(0) ack 1 win 60000",
		"302    > A 1(1000) ack 1",
		"302.5  write 10000",
		"303    < A 1(0) ack 1 win 60000",
		"304    < A 1(0) ack 1 win 60000",
		"305    < A 1(0) ack 1 win 60000",
		"305    > A 10001(1000) ack 1",
		"306    < A 1(0) ack 1 win 60000",
		"306    > A 11001(1000) ack 1",
		"307    < A 1(0) ack 1 win 60000",
		"307    > A 12001(1000) ack 1",
		"402    < A 1(0) ack 3001 win 60000",
		"402    > A 3001(1000) ack 1",
		"402    > A 13001(1000) ack 1",
		"502    < A 1(0) ack 10001 win 60000",
		"502    > A 14001(1000) ack 1",
		"502    is cwnd 5000",
		"502    is recoveries 1",
		"502    is timeouts 0",
		NULL,
	};

	run("sack=false", lines);
}

/* By RFC 6675, three SACKed segments behind the lost one are enough, without a timer and without a
 * probe. */
static void test_without_rack(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"), /* the first and the fifth are lost */
		"300    < A 1(0) ack 1 win 60000 sack 1001-3001",
		"302    < A 1(0) ack 1 win 60000 sack 1001-4001",
		"302    > A 1(1000) ack 1",
		"303    < A 1(0) ack 1 win 60000 sack 5001-6001,1001-4001",
		"304    < A 1(0) ack 1 win 60000 sack 5001-7001,1001-4001",
		"305    < A 1(0) ack 1 win 60000 sack 5001-8001,1001-4001",
		"305    > A 4001(1000) ack 1",
		"306    < A 1(0) ack 1 win 60000 sack 5001-10001,1001-4001",
		"405    < A 1(0) ack 10001 win 60000",
		"405    is cwnd 5000",
		"900    write 1000",
		"900    > A 10001(1000) ack 1",
		"200900 > A 10001(1000) ack 1",
		"200900 is probes 0",
		NULL,
	};

	run("rack=false", lines);
}

/* With a threshold of one, the first SACKed segment or the first duplicate ACK shows the loss. */
static void test_dup_threshold(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 10000",
		SCRIPT_TEN("200"), /* the first is lost */
		"300    < A 1(0) ack 1 win 60000 sack 1001-2001",
		"300    > A 1(1000) ack 1",
		"301    < A 1(0) ack 1 win 60000 sack 1001-3001",
		"400    < A 1(0) ack 10001 win 60000",
		"400    is recoveries 1",
		"400    is timeouts 0",
		NULL,
	};
	static const char *const without_sack[] = {
		"0      connect",
		"0      > S 0(0) mss 1000 wscale 7",
		"100    < SA 0(0) ack 1 win 60000 mss 1000 wscale 0 sackok",
		"100    > A 1(0) ack 1",
		"200    write 10000",
		SCRIPT_TEN("200"),
		"300    < A 1(0) ack 1 win 60000",
		"300    > A 1(1000) ack 1",
		"400    < A 1(0) ack 10001 win 60000",
		"400    is recoveries 1",
		"400    is timeouts 0",
		NULL,
	};

	run("rack=false dup_threshold=1", lines);
	run("sack=false dup_threshold=1", without_sack);
}

/* The peer acknowledges half of a segment. */
static void test_partial_acknowledgment(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 501 win 60000",
		"300    is in-flight 1500",
		"200300 > A 501(500) ack 1",
		"200400 < A 1(0) ack 2001 win 60000",
		"200400 is in-flight 0",
		NULL,
	};

	run("tail_probe=false", lines);
}

static void test_sack_beyond_what_was_sent(void)
{
	static const char *const lines[] = {
		SCRIPT_OPEN,
		"200    write 2000",
		"200    > A 1(1000) ack 1",
		"200    > A 1001(1000) ack 1",
		"300    < A 1(0) ack 1 win 60000 sack 1001-9001",
		"310    < A 1(0) ack 1 win 60000 sack 2001-1001",
		"320    < A 1(0) ack 1 win 60000 sack 1501-2001", /* a part of a segment */
		"320    is in-flight 2000",
		"320    is recoveries 0",
		NULL,
	};

	run(NULL, lines);
}
