/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the windows of newreno and cubic in isolation: an artificial sender gets its window
 * acknowledged each round trip. Source: RFC 5681 and 3465, and RFC 9438, whose function is computed
 * independently in this test. (dctcp on TCP: tests/tcp/test_ecn.c.)
 */
#include <math.h>

#include "hca/congestion/congestion.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(slow_start_doubles)           \
	TEST(avoidance_adds_one)           \
	TEST(loss_halves_the_flight)       \
	TEST(no_growth_in_recovery)        \
	TEST(least_window)                 \
	TEST(rdma_begins_with_ten)         \
	TEST(cubic_comes_back_after_k)     \
	TEST(cubic_over_time)              \
	TEST(cubic_is_reno_on_short_paths) \
	TEST(cubic_converges_fast)         \
	TEST(cubic_after_a_timeout)        \
	TEST(cubic_stops_while_unused)
SUITE(TESTS)

enum { MTU = 1000 };

static struct congestion congestion;
static _Alignas(16) char memory[CC_STATE_BYTES_MAX];
static struct cc_state *const cc = (struct cc_state *)(void *)memory;
static sim_time now, rtt;
static uint64_t acked_total;

static void begin(const char *name, uint32_t segments, sim_time round_trip)
{
	const struct congestion_path path = {.line_rate_bps = UINT64_C(10000000000),
					     .base_rtt = round_trip,
					     .mtu_bytes = MTU,
					     .initial_window_bytes = segments * MTU};
	char error[256];

	CU_ASSERT_FATAL(congestion_init(&congestion, name, error, sizeof(error)));
	for (unsigned i = 0; i < sizeof(memory); i++)
		memory[i] = 0;
	now = acked_total = 0;
	rtt = round_trip;
	congestion.ops->state_init(cc, congestion.params, &path, now);
}

static void acknowledge(struct congestion_ack ack)
{
	acked_total += ack.acked_bytes;
	ack.rtt = rtt;
	ack.acked_total = acked_total;
	congestion_on_ack(&congestion, cc, now, &ack);
}

/* Sends a window's worth of ACKs of two segments each, spread over the round trip. */
static void round_trip(void)
{
	uint64_t window = cc->cwnd_bytes / (2 * MTU);
	sim_time end = now + rtt;

	for (uint64_t i = 0; i < window; i++) {
		now += rtt / (window + 1);
		acknowledge((struct congestion_ack){.acked_bytes = 2 * MTU, .packets = 2});
	}
	now = end;
}

static void lose(enum congestion_loss loss)
{
	cc->flight_bytes = cc->cwnd_bytes;
	congestion_on_loss(&congestion, cc, now, loss);
}

static double window(void)
{
	return (double)cc->cwnd_bytes / MTU;
}

static void test_slow_start_doubles(void)
{
	begin("newreno", 10, 100 * US);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 10 * MTU);
	for (unsigned i = 1; i <= 5; i++) {
		round_trip();
		CU_ASSERT_EQUAL(cc->cwnd_bytes, (10u << i) * MTU);
	}
	congestion_fini(&congestion);
}

static void test_avoidance_adds_one(void)
{
	begin("newreno", 40, 100 * US);
	lose(LOSS_NAK);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 20 * MTU);
	for (unsigned i = 1; i <= 10; i++) {
		round_trip();
		CU_ASSERT(fabs(window() - (20.0 + i)) <= 1);
	}
	congestion_fini(&congestion);
}

static void test_loss_halves_the_flight(void)
{
	begin("newreno", 40, 100 * US);
	cc->flight_bytes = 30 * MTU;
	congestion_on_loss(&congestion, cc, now, LOSS_NAK);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 15 * MTU);
	cc->flight_bytes = 100 * MTU; /* data sent beyond the window does not count */
	congestion_on_cnp(&congestion, cc, now);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 15 * MTU / 2);
	congestion_fini(&congestion);
}

static void test_no_growth_in_recovery(void)
{
	begin("newreno", 10, 100 * US);
	acknowledge((struct congestion_ack){.acked_bytes = 5 * MTU, .recovering = true});
	acknowledge((struct congestion_ack){.acked_bytes = 5 * MTU, .cwnd_unused = true});
	acknowledge((struct congestion_ack){.acked_bytes = 0});
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 10 * MTU);
	congestion_fini(&congestion);
}

static void test_least_window(void)
{
	begin("newreno", 3, 100 * US);
	lose(LOSS_NAK);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 2 * MTU);
	lose(LOSS_TIMEOUT);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, MTU);
	congestion_fini(&congestion);
}

/* The sender does not say where it begins, as RDMA does not. */
static void test_rdma_begins_with_ten(void)
{
	begin("newreno", 0, 100 * US);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 10 * MTU);
	congestion_fini(&congestion);
}

/* 1000 segments, 100 ms: after a loss 700, and 1000 again after K = cbrt(300 / 0.4) = 9.086 s. */
static void test_cubic_comes_back_after_k(void)
{
	begin("cubic", 1000, 100 * MS);
	lose(LOSS_NAK);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, 700 * MTU);
	while (now < SEC * 9086 / 1000)
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 1000, 2);
	while (now < SEC * 18172 / 1000)
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 1300, 15);
	congestion_fini(&congestion);
}

/* The window is within 1 % of the function at any time. */
static void test_cubic_over_time(void)
{
	const double k = cbrt(1000 * 0.3 / 0.4);

	begin("cubic", 1000, 100 * MS);
	lose(LOSS_NAK);
	while (now < 15 * SEC) {
		double t, expected;

		round_trip();
		t = (double)now / (double)SEC;
		expected = 0.4 * pow(t - k, 3) + 1000;
		CU_ASSERT(fabs(window() - expected) < 0.01 * expected);
	}
	congestion_fini(&congestion);
}

/* 20 us: the function would need 3.6 s for 20 segments. The window grows as Reno's with the same
 * average: 3 * 0.3 / 1.7 segments per round trip up to the window before the loss, then one. */
static void test_cubic_is_reno_on_short_paths(void)
{
	begin("cubic", 100, 20 * US);
	lose(LOSS_NAK);
	for (unsigned i = 0; i < 50; i++)
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 70 + 50 * 0.9 / 1.7, 1);
	for (unsigned i = 0; i < 57; i++)
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 100 + 107 - 30 / (0.9 / 1.7), 3);
	congestion_fini(&congestion);
}

/* The second loss comes at 700 of 1000: the window aims at 700 * 1.7 / 2 = 595. */
static void test_cubic_converges_fast(void)
{
	begin("cubic", 1000, 100 * MS);
	lose(LOSS_NAK);
	lose(LOSS_NAK);
	CU_ASSERT_DOUBLE_EQUAL(window(), 490, 0.01);
	while (now < SEC * 64 / 10) /* cbrt(105 / 0.4) = 6.4 s */
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 595, 3);
	congestion_fini(&congestion);
}

/* Slow start up to 700, then the cube begins there: 700 + 0.4 * t^3. */
static void test_cubic_after_a_timeout(void)
{
	sim_time epoch;

	begin("cubic", 1000, 100 * MS);
	lose(LOSS_TIMEOUT);
	CU_ASSERT_EQUAL(cc->cwnd_bytes, MTU);
	lose(LOSS_TIMEOUT); /* in a row: the threshold stays */
	acknowledge((struct congestion_ack){.acked_bytes = MTU});
	while (window() < 700)
		round_trip();
	epoch = now;
	while (now < epoch + 5 * SEC)
		round_trip();
	CU_ASSERT_DOUBLE_EQUAL(window(), 700 + 0.4 * 125, 10);
	congestion_fini(&congestion);
}

/* Time in which the window is not needed does not count. */
static void test_cubic_stops_while_unused(void)
{
	begin("cubic", 1000, 100 * MS);
	lose(LOSS_NAK);
	round_trip();
	for (unsigned i = 0; i < 100; i++) {
		now += SEC;
		acknowledge((struct congestion_ack){.acked_bytes = MTU, .cwnd_unused = true});
	}
	round_trip();
	CU_ASSERT(window() < 760);
	congestion_fini(&congestion);
}
