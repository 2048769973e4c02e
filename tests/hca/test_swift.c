/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests Swift's reaction to losses. A timeout halves the window, the fifth consecutive one sets it
 * to the minimum, and an ACK in between starts a new count. Fast recoveries do not count.
 */
#include "tests/hca/support/fixture.h"
#include "tests/support/suite.h"

#define TESTS(TEST)               \
	TEST(timeouts_in_a_row)   \
	TEST(an_ack_ends_the_row) \
	TEST(recoveries_are_none)
SUITE(TESTS)

enum { MTU = 1000, RTT_US = 10, RETRIES = 5 };

static struct fixture fixture;
static sim_time at;

static void begin(void)
{
	const struct congestion_path path = {.line_rate_bps = UINT64_C(100) * 1000 * 1000 * 1000,
					     .base_rtt = RTT_US * US,
					     .mtu_bytes = MTU};

	fixture_init(&fixture, "swift");
	fixture_start(&fixture, &path);
	at = 0;
}

static void lose(enum congestion_loss loss)
{
	at += 100 * US; /* decreases are an RTT apart at least */
	fixture.congestion.ops->on_loss(fixture.cc, fixture.congestion.params, at, loss);
}

static void acknowledge(void)
{
	const struct congestion_ack ack = {.rtt = RTT_US * US, .packets = 1, .acked_bytes = MTU};

	at += 100 * US;
	fixture.congestion.ops->on_ack(fixture.cc, fixture.congestion.params, at, &ack);
}

/* Below one packet the window is a pace. */
static bool is_smallest(void)
{
	return fixture.cc->cwnd_bytes == MTU && fixture.cc->rate_bps == MTU * 8 * 100 + 1;
}

static void test_timeouts_in_a_row(void)
{
	uint64_t window;

	begin();
	window = fixture.cc->cwnd_bytes;
	for (unsigned i = 1; i < RETRIES; i++) {
		lose(LOSS_TIMEOUT);
		window /= 2;
		CU_ASSERT_DOUBLE_EQUAL((double)fixture.cc->cwnd_bytes, (double)window, MTU);
	}
	lose(LOSS_TIMEOUT);
	CU_ASSERT_TRUE(is_smallest());
	congestion_fini(&fixture.congestion);
}

static void test_an_ack_ends_the_row(void)
{
	begin();
	for (unsigned i = 1; i < RETRIES; i++)
		lose(LOSS_TIMEOUT);
	acknowledge();
	lose(LOSS_TIMEOUT);
	CU_ASSERT_FALSE(is_smallest());
	congestion_fini(&fixture.congestion);
}

static void test_recoveries_are_none(void)
{
	begin();
	for (unsigned i = 1; i < RETRIES; i++)
		lose(LOSS_TIMEOUT);
	lose(LOSS_NAK);
	CU_ASSERT_FALSE(is_smallest());
	congestion_fini(&fixture.congestion);
}
