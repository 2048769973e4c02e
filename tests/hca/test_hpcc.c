/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests HPCC's use of the telemetry of ACKs, one ACK at a time, to the byte. The first ACK begins a
 * round trip, in which the window follows each ACK and the reference remains. Only counters of one
 * port are compared, at any position on the path. A path with new ports is measured from its second
 * packet on. An overtaken ACK changes nothing. rate_min is a lower limit. An increase given as a
 * rate grows with T.
 */
#include "fabric/wire/packet.h"
#include "tests/hca/support/fixture.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                             \
	TEST(reference_moves_once_a_round_trip) \
	TEST(another_port_is_not_compared)      \
	TEST(a_port_is_found_in_another_place)  \
	TEST(an_overtaken_ack_changes_nothing)  \
	TEST(a_floor)                           \
	TEST(an_increase_as_a_rate)
SUITE(TESTS)

#define GBPS UINT64_C(1000000000)
#define BDP  125000 /* bytes: 100 Gb/s for 10 us */

static const struct congestion_path path = {
	.line_rate_bps = 100 * GBPS,
	.base_rtt = 10 * US,
	.mtu_bytes = 1000,
};

/* Without additive increase the window is the reference times 0.95 over the utilisation. */
static void begin(struct fixture *fixture, const char *rate_min)
{
	static const char *const values[][2] = {{"stages", "0"}, {"increase", "0B"}};
	char error[128];

	fixture_init(fixture, "hpcc");
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++)
		CU_ASSERT_TRUE_FATAL(congestion_set(&fixture->congestion, values[i][0],
						    values[i][1], error, sizeof(error)));
	CU_ASSERT_TRUE_FATAL(
		congestion_set(&fixture->congestion, "rate_min", rate_min, error, sizeof(error)));
	fixture_start(fixture, &path);
	CU_ASSERT_EQUAL(fixture->cc->cwnd_bytes, BDP);
}

static struct telemetry_hop hop(uint32_t port, sim_time at, uint64_t sent_bytes,
				uint32_t queue_bytes)
{
	return (struct telemetry_hop){.at = at,
				      .sent_bytes = sent_bytes,
				      .rate_bps = 100 * GBPS,
				      .queue_bytes = queue_bytes,
				      .port = port};
}

/* Returns the window after an ACK for all up to `total` of `sent`, with these hops. Port 0: no
 * hop. */
static uint64_t ack(struct fixture *fixture, uint64_t total, uint64_t sent,
		    struct telemetry_hop first, struct telemetry_hop second)
{
	struct telemetry record = {.count = second.port ? 2 : 1, .hops = {first, second}};
	const struct congestion_ack what = {.acked_bytes = 1000,
					    .acked_total = total,
					    .sent_total = sent,
					    .packets = 1,
					    .telemetry = &record};

	fixture->congestion.ops->on_ack(fixture->cc, fixture->congestion.params, first.at, &what);
	return fixture->cc->cwnd_bytes;
}

static const struct telemetry_hop none;

/* Each record is a full T after the previous record. The utilisation is therefore the utilisation
 * of the last record, 1. */
static void test_reference_moves_once_a_round_trip(void)
{
	struct fixture fixture;

	begin(&fixture, "0bps");
	CU_ASSERT_EQUAL(ack(&fixture, 1000, 50000, hop(1, 10 * US, 1000, 0), none), BDP);
	CU_ASSERT_EQUAL(ack(&fixture, 2000, 51000, hop(1, 20 * US, 1000 + BDP, 0), none), 118750);
	CU_ASSERT_EQUAL(ack(&fixture, 50000, 90000, hop(1, 30 * US, 1000 + 2 * BDP, 0), none),
			118750);
	/* sent after the first ACK: from now on the reference is 118,750 */
	CU_ASSERT_EQUAL(ack(&fixture, 51000, 90000, hop(1, 40 * US, 1000 + 3 * BDP, 0), none),
			118750);
	CU_ASSERT_EQUAL(ack(&fixture, 52000, 90000, hop(1, 50 * US, 1000 + 4 * BDP, 0), none),
			112812);
	CU_ASSERT_EQUAL(ack(&fixture, 90000, 99000, hop(1, 60 * US, 1000 + 5 * BDP, 0), none),
			112812);
	/* a queue of one bandwidth-delay product, twice: 2 */
	ack(&fixture, 90000, 99000, hop(1, 70 * US, 1000 + 6 * BDP, BDP), none);
	CU_ASSERT_EQUAL(ack(&fixture, 90000, 99000, hop(1, 80 * US, 1000 + 7 * BDP, BDP), none),
			56406);
	congestion_fini(&fixture.congestion);
}

/* A new port on the path has other byte counts and times. Their difference to the old port is no
 * rate. */
static void test_another_port_is_not_compared(void)
{
	struct fixture fixture;

	begin(&fixture, "0bps");
	ack(&fixture, 1000, 50000, hop(1, 10 * US, 1000 * BDP, 0), hop(9, 11 * US, 500, 0));
	CU_ASSERT_EQUAL(
		ack(&fixture, 2000, 50000, hop(2, 20 * US, 5, BDP), hop(8, 21 * US, 0, BDP)), BDP);
	CU_ASSERT_EQUAL(ack(&fixture, 3000, 50000, hop(1, 30 * US, 9000 * BDP, BDP),
			    hop(9, 31 * US, 9 * BDP, BDP)),
			BDP);
	/* the port that stays is measured, the new one is not: half of the rate */
	CU_ASSERT_EQUAL(ack(&fixture, 4000, 50000, hop(3, 40 * US, UINT64_MAX, BDP),
			    hop(9, 41 * US, 9 * BDP + BDP / 2, 0)),
			BDP);
	CU_ASSERT_EQUAL(ack(&fixture, 5000, 50000, hop(2, 50 * US, 0, BDP),
			    hop(9, 51 * US, 9 * BDP + BDP / 2 + BDP, 0)),
			118750);
	congestion_fini(&fixture.congestion);
}

static void test_a_port_is_found_in_another_place(void)
{
	struct fixture fixture;

	begin(&fixture, "0bps");
	ack(&fixture, 1000, 50000, hop(1, 10 * US, 70, 0), hop(9, 11 * US, 500, 0));
	CU_ASSERT_EQUAL(ack(&fixture, 2000, 50000, hop(9, 21 * US, 500 + BDP, 0), none), 118750);
	CU_ASSERT_EQUAL(ack(&fixture, 3000, 50000, hop(1, 30 * US, 0, 0),
			    hop(9, 31 * US, 500 + 3 * BDP, 0)),
			59375);
	congestion_fini(&fixture.congestion);
}

static void test_an_overtaken_ack_changes_nothing(void)
{
	struct fixture fixture;

	begin(&fixture, "0bps");
	ack(&fixture, 1000, 50000, hop(1, 10 * US, 500, 0), none);
	CU_ASSERT_EQUAL(ack(&fixture, 3000, 50000, hop(1, 20 * US, 500 + BDP, 0), none), 118750);
	CU_ASSERT_EQUAL(ack(&fixture, 3000, 50000, hop(1, 15 * US, 400, BDP), none), 118750);
	CU_ASSERT_EQUAL(ack(&fixture, 3000, 50000, hop(1, 20 * US, 500 + BDP, BDP), none), 118750);
	/* the next one is compared with 20 us, not 15 */
	CU_ASSERT_EQUAL(ack(&fixture, 4000, 50000, hop(1, 30 * US, 500 + 2 * BDP, 0), none),
			118750);
	congestion_fini(&fixture.congestion);
}

static void test_a_floor(void)
{
	struct fixture fixture;

	begin(&fixture, "20Gbps");
	ack(&fixture, 1000, 50000, hop(1, 10 * US, 0, 9 * BDP), none);
	CU_ASSERT_EQUAL(ack(&fixture, 2000, 50000, hop(1, 20 * US, BDP, 9 * BDP), none), 25000);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20 * GBPS + 1);
	congestion_fini(&fixture.congestion);
}

/* An increase of 80 Mb/s for 10 us is 100 bytes. */
static void test_an_increase_as_a_rate(void)
{
	struct fixture fixture;
	char error[128];

	begin(&fixture, "0bps");
	CU_ASSERT_TRUE_FATAL(congestion_set(&fixture.congestion, "increase_rate", "80Mbps", error,
					    sizeof(error)));
	fixture_start(&fixture, &path);
	ack(&fixture, 1000, 50000, hop(1, 10 * US, 1000, 0), none);
	CU_ASSERT_EQUAL(ack(&fixture, 2000, 51000, hop(1, 20 * US, 1000 + BDP, 0), none), 118850);
	congestion_fini(&fixture.congestion);
}
