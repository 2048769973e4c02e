/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the times at which packets leave a sender, to the picosecond. Bursts of TIMELY leave at
 * line rate and are paced as a whole. Packets are paced one by one, or from the time of the
 * previous departure. The next packet is chosen in advance, or when the link is free. Additional
 * headers (IRN, in-band telemetry) take their time on the wire. Windows that shrink with the rate,
 * one update per round trip, and DCTCP's slow start behave as specified.
 */
#include "hca/congestion/pace.h"
#include "tests/hca/support/fixture.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(bursts_are_paid_for_together) \
	TEST(paid_from_departure)          \
	TEST(chosen_when_the_link_is_free) \
	TEST(headers_take_time)            \
	TEST(windows_shrink_with_the_rate) \
	TEST(a_start_may_be_shared)        \
	TEST(an_update_a_round_trip)       \
	TEST(slow_start)
SUITE(TESTS)

#define GBPS    UINT64_C(1000000000)
#define BYTE_PS 80 /* at 100 Gb/s */
#define SLOT    ((4096 + 62 + 20) * (sim_time)BYTE_PS)
/* from a post to the first bit, and from a full packet's first bit to the completion */
#define BEFORE (600 * NS)
#define BEHIND ((4096 + 62 + 8) * BYTE_PS + 2500 + 100 * NS + 74 * BYTE_PS + 2500 + 200 * NS)

static void set(struct congestion *congestion, const char *name, const char *value)
{
	char error[128];

	CU_ASSERT_TRUE_FATAL(congestion_set(congestion, name, value, error, sizeof(error)));
}

/* Returns the time at which one message between two hosts is done. */
static sim_time message_time(struct study *study, uint64_t bytes)
{
	struct transfer transfer;
	unsigned done = 0;
	unsigned one = study_add_host(study), other = study_add_host(study);

	study_link(study, one, 0, other, 0);
	study_finish(study);
	transfer_post(&transfer, endpoint_create_pair(study->hosts[0], study->hosts[1], 0, 0),
		      ENDPOINT_WRITE, bytes, &done);
	sim_run(study->sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	study_fini(study);
	return transfer.message.done_at;
}

/* 32 packets at a tenth of the line, of which only the last asks for an ACK. */
static sim_time timely_time(const char *pacing, const char *segment)
{
	struct study study;

	study_init(&study, LINK_ETHERNET, "timely-paper", 0, 2);
	study.params.ack_interval = 64;
	set(&study.congestion, "start_share", "0.1");
	set(&study.congestion, "pacing", pacing);
	set(&study.congestion, "segment", segment);
	return message_time(&study, 32 * 4096);
}

static void test_bursts_are_paid_for_together(void)
{
	sim_time reth = 16 * BYTE_PS; /* the first packet has one */

	CU_ASSERT_EQUAL(timely_time("packet", "64KiB"), BEFORE + 10 * (31 * SLOT + reth) + BEHIND);
	CU_ASSERT_EQUAL(timely_time("chunk", "64KiB"),
			BEFORE + 10 * (16 * SLOT + reth) + 15 * SLOT + BEHIND);
	/* a burst ends with the packet that fills it: after 9 and 18 and 27 */
	CU_ASSERT_EQUAL(timely_time("chunk", "33KiB"),
			BEFORE + 10 * (27 * SLOT + reth) + 4 * SLOT + BEHIND);
	/* one burst of all: at line rate */
	CU_ASSERT_EQUAL(timely_time("chunk", "1MiB"), BEFORE + 31 * SLOT + reth + BEHIND);
}

/* 1250 bytes take 100 ns at 100 Gb/s. The next packet follows the last, independent of the earlier
 * pace. */
static void test_paid_from_departure(void)
{
	struct cc_state cc = {.rate_bps = 10 * GBPS};
	sim_time allowed_at = 5 * US, reth = 16 * BYTE_PS;
	struct study study;

	pace_departed(&cc, &allowed_at, 6 * US, 1250, 100 * GBPS);
	CU_ASSERT_EQUAL(allowed_at, 7 * US);
	cc.rate_bps = 20 * GBPS; /* from the departure on, not from now on */
	pace_departed_again(&cc, &allowed_at, 10 * GBPS, 100 * GBPS);
	CU_ASSERT_EQUAL(allowed_at, 6500 * NS);
	cc.rate_bps = RATE_UNLIMITED;
	pace_departed_again(&cc, &allowed_at, 20 * GBPS, 100 * GBPS);
	CU_ASSERT_EQUAL(allowed_at, 6100 * NS);
	cc.rate_bps = 1 * GBPS;
	pace_departed_again(&cc, &allowed_at, RATE_UNLIMITED, 100 * GBPS);
	CU_ASSERT_EQUAL(allowed_at, 16 * US);

	study_init(&study, LINK_ETHERNET, "timely-paper", 0, 2);
	study.params.ack_interval = 64;
	study.params.pace_from = PACE_DEPARTURE;
	set(&study.congestion, "start_share", "0.1");
	set(&study.congestion, "pacing", "packet");
	CU_ASSERT_EQUAL(message_time(&study, 32 * 4096), BEFORE + 10 * (31 * SLOT + reth) + BEHIND);
}

/* Returns the time at which a packet of one queue pair is done. The packet is posted while another
 * queue pair keeps the port busy. */
static sim_time second_time(enum endpoint_grant grant_at)
{
	struct transfer first, second;
	struct endpoint_qp *one, *other;
	struct study study;
	unsigned done = 0;
	sim_time done_at;

	study_init(&study, LINK_ETHERNET, "none", 0, 2);
	study.params.grant_at = grant_at;
	study_link(&study, study_add_host(&study), 0, study_add_host(&study), 0);
	study_finish(&study);
	one = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	other = endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0);
	transfer_post(&first, one, ENDPOINT_WRITE, 64 * 4096, &done);
	sim_run(study.sim, 5 * US);
	transfer_post(&second, other, ENDPOINT_WRITE, 4096, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 2);
	done_at = second.message.done_at;
	study_fini(&study);
	return done_at;
}

/* Four packets that the port already holds are ahead of the packet, or no packet. */
static void test_chosen_when_the_link_is_free(void)
{
	CU_ASSERT_EQUAL(second_time(GRANT_QUEUED), second_time(GRANT_FREE) + 4 * SLOT);
}

static sim_time with_bytes(const char *algorithm, uint64_t extra, uint64_t telemetry,
			   uint64_t bytes)
{
	struct study study;

	study_init(&study, LINK_ETHERNET, algorithm, 0, 2);
	study.params.data_header_extra = extra;
	study.params.telemetry_bytes = telemetry;
	return message_time(&study, bytes);
}

static void test_headers_take_time(void)
{
	sim_time plain = with_bytes("none", 0, 42, 3 * 4096);

	CU_ASSERT_EQUAL(with_bytes("none", 16, 42, 3 * 4096), plain + 3 * 16 * BYTE_PS);
	plain = with_bytes("hpcc-paper", 0, 0, 4096);
	CU_ASSERT_EQUAL(with_bytes("hpcc-paper", 0, 42, 4096),
			plain + 2 * 42 * BYTE_PS); /* and the ACK */
}

/* ---- algorithms, one call at a time ---- */

static const struct congestion_path path = {
	.line_rate_bps = 40 * GBPS,
	.base_rtt = 10 * US, /* 50,000 bytes */
	.mtu_bytes = 1000,
};

static void ack(struct fixture *fixture, sim_time rtt, uint64_t acked, uint64_t total,
		uint64_t sent, uint32_t marked)
{
	const struct congestion_ack what = {.rtt = rtt,
					    .acked_bytes = acked,
					    .acked_total = total,
					    .sent_total = sent,
					    .packets = 1,
					    .marked = marked};

	fixture->congestion.ops->on_ack(fixture->cc, fixture->congestion.params, 1 * MS, &what);
}

static void test_windows_shrink_with_the_rate(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "dcqcn-paper");
	set(&fixture.congestion, "cwnd_factor", "1");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 50000);
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1 * MS);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 50000);
	set(&fixture.congestion, "cwnd_scaled", "true");
	fixture_start(&fixture, &path);
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1 * MS);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20 * GBPS);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 25000);
	congestion_fini(&fixture.congestion);
	fixture_init(&fixture, "timely-paper");
	set(&fixture.congestion, "cwnd_factor", "1");
	set(&fixture.congestion, "cwnd_scaled", "true");
	set(&fixture.congestion, "start_share", "0.5");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 25000);
	congestion_fini(&fixture.congestion);
}

/* A flow and three others share 40 Gb/s: 10 each. A share of 0.5 of this rate is 5. */
static void test_a_start_may_be_shared(void)
{
	struct congestion_path shared = path;
	struct fixture fixture;

	shared.active_flows = 3;
	fixture_init(&fixture, "timely-paper");
	fixture_start(&fixture, &shared);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, RATE_UNLIMITED);
	set(&fixture.congestion, "start", "shared");
	fixture_start(&fixture, &shared);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 10 * GBPS);
	set(&fixture.congestion, "start_share", "0.5");
	fixture_start(&fixture, &shared);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 5 * GBPS);
	congestion_fini(&fixture.congestion);
}

/* 100 Mb/s more for each round trip of a short one, however many segments it has; the first is only
 * looked at. */
static void test_an_update_a_round_trip(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "timely-hpcc-100g");
	set(&fixture.congestion, "start_share", "0.5");
	fixture_start(&fixture, &path);
	ack(&fixture, 20 * US, 1000, 1000, 60000, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20000000000);
	ack(&fixture, 20 * US, 59000, 60000, 90000, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20000000000);
	ack(&fixture, 20 * US, 1000, 61000, 90000, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20100000000);
	ack(&fixture, 20 * US, 29000, 90000, 120000, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20100000000);
	ack(&fixture, 20 * US, 1000, 91000, 120000, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20200000000);
	congestion_fini(&fixture.congestion);
}

static void test_slow_start(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "dctcp");
	set(&fixture.congestion, "slow_start", "true");
	set(&fixture.congestion, "start", "0.2");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 10000);
	ack(&fixture, 0, 10000, 10000, 20000, 0);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 20000);
	ack(&fixture, 0, 5000, 15000, 20000, 0); /* within the round trip */
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 20000);
	ack(&fixture, 0, 5000, 20000, 40000, 1); /* the first mark: alpha 1/16 of one half */
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 19687);
	ack(&fixture, 0, 20000, 40000, 60000, 0);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 20687); /* a packet more: no slow start again */
	congestion_fini(&fixture.congestion);
}
