/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the variants in the simulator of HPCC's authors, and the presets with its name. TIMELY
 * evaluates the first round trip, counts increases below T_low, and cuts by the gradient. DCTCP is
 * a rate that starts with alpha 1 and is cut by the first mark. DCQCN cuts at ticks and increases
 * by its timer only. A window lets a packet pass while it is open at all. ACKs have their own
 * priority.
 */
#include "fabric/wire/opcode.h"
#include "tests/hca/support/fixture.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                                 \
	TEST(timely_counts_below_the_low_threshold) \
	TEST(timely_cuts_by_the_whole_gradient)     \
	TEST(dctcp_as_a_rate)                       \
	TEST(dcqcn_cuts_at_ticks)                   \
	TEST(dcqcn_is_raised_by_its_timer)          \
	TEST(part_of_a_window_lets_a_packet_go)     \
	TEST(acks_have_a_priority)
SUITE(TESTS)

#define GBPS UINT64_C(1000000000)
#define MBPS UINT64_C(1000000)

static const struct congestion_path path = {
	.line_rate_bps = 40 * GBPS,
	.base_rtt = 10 * US, /* 50,000 bytes */
	.mtu_bytes = 1000,
};

static void set(struct congestion *congestion, const char *name, const char *value)
{
	char error[128];

	CU_ASSERT_TRUE_FATAL(congestion_set(congestion, name, value, error, sizeof(error)));
}

static void ack(struct fixture *fixture, sim_time rtt, uint64_t total, uint64_t sent,
		uint32_t marked)
{
	const struct congestion_ack what = {.rtt = rtt,
					    .acked_bytes = 1000,
					    .acked_total = total,
					    .sent_total = sent,
					    .packets = 1,
					    .marked = marked};

	fixture->congestion.ops->on_ack(fixture->cc, fixture->congestion.params, 1 * MS, &what);
}

/* The RTT is below T_low all the time: five increases of 100 Mb/s, then increases of 500 Mb/s
 * follow. */
static void test_timely_counts_below_the_low_threshold(void)
{
	struct fixture fixture;
	uint64_t total = 1000;

	fixture_init(&fixture, "timely-hpcc-100g");
	set(&fixture.congestion, "start_share", "0.5");
	fixture_start(&fixture, &path);
	ack(&fixture, 20 * US, total, total, 0);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20 * GBPS); /* was only looked at */
	for (unsigned i = 1; i <= 7; i++) {
		total += 1000;
		ack(&fixture, 20 * US, total, total, 0);
		CU_ASSERT_EQUAL(fixture.cc->rate_bps,
				20 * GBPS + 100 * MBPS * (i <= 5 ? i : 5 * (i - 4)));
	}
	congestion_fini(&fixture.congestion);
}

/* The RTT rises by 40 us, of which 7/8 count: 1.75 times the 20 us of a gradient of 1. */
static uint64_t rate_after_a_rise(const char *gradient_max)
{
	struct fixture fixture;
	uint64_t rate;

	fixture_init(&fixture, "timely-hpcc-100g");
	set(&fixture.congestion, "gradient_max", gradient_max);
	fixture_start(&fixture, &path);
	ack(&fixture, 60 * US, 1000, 1000, 0);
	ack(&fixture, 100 * US, 2000, 2000, 0);
	rate = fixture.cc->rate_bps;
	congestion_fini(&fixture.congestion);
	return rate;
}

static void test_timely_cuts_by_the_whole_gradient(void)
{
	CU_ASSERT_EQUAL(rate_after_a_rise("1000"), 1 * GBPS); /* below 0: rate_min */
	CU_ASSERT_EQUAL(rate_after_a_rise("1.24"), 1 * GBPS); /* 320 Mb/s: the same */
	CU_ASSERT_DOUBLE_EQUAL((double)rate_after_a_rise("1.125"), 4e9, 2);
	CU_ASSERT_DOUBLE_EQUAL((double)rate_after_a_rise("0.5"), 24e9, 2);
}

static void test_dctcp_as_a_rate(void)
{
	struct fixture fixture;
	double alpha = 0.9375 + 0.0625 * 2 / 50;

	fixture_init(&fixture, "dctcp-hpcc-100g");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, RATE_UNLIMITED);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 50000);
	ack(&fixture, 0, 1000, 50000, 1); /* alpha is 1 */
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20 * GBPS);
	CU_ASSERT_EQUAL(fixture.cc->cwnd_bytes, 25000);
	ack(&fixture, 0, 50000, 100000, 1); /* not twice in a round trip */
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20 * GBPS);
	ack(&fixture, 0, 51000, 100000,
	    0); /* its end: two marks of 50 packets; more, by 615 Mb/s */
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, 20615 * MBPS);
	ack(&fixture, 0, 60000, 100000, 1);
	CU_ASSERT_DOUBLE_EQUAL((double)fixture.cc->rate_bps, 20615e6 * (1 - alpha / 2), 2e3);
	congestion_fini(&fixture.congestion);
}

static void step(struct fixture *fixture, sim_time now)
{
	congestion_settle(&fixture->congestion, fixture->cc, now);
}

static void test_dcqcn_cuts_at_ticks(void)
{
	struct fixture fixture;
	double decay = 1 - 1.0 / 256, rate;

	fixture_init(&fixture, "dcqcn-hpcc-100g");
	fixture_start(&fixture, &path);
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1 * MS);
	CU_ASSERT_EQUAL(fixture.cc->rate_bps, RATE_UNLIMITED);
	CU_ASSERT_EQUAL(fixture.cc->next_step, 1 * MS + 4 * US);
	step(&fixture, 1 * MS + 4 * US);
	rate = 40e9 * (1 - decay * decay * decay / 2);
	CU_ASSERT_DOUBLE_EQUAL((double)fixture.cc->rate_bps, rate, 2);
	CU_ASSERT_EQUAL(fixture.cc->next_step, 1304 * US);
	step(&fixture, 1304 * US); /* fast recovery */
	rate = (rate + 40e9) / 2;
	CU_ASSERT_DOUBLE_EQUAL((double)fixture.cc->rate_bps, rate, 2);
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1306 * US);
	CU_ASSERT_EQUAL(fixture.cc->next_step, 1308 * US);
	congestion_fini(&fixture.congestion);
}

/* The target rises by 0, 20, then 200 Mb/s each time, though the byte counter never ends. */
static void test_dcqcn_is_raised_by_its_timer(void)
{
	static const double rises[] = {0, 20e6, 200e6, 200e6};
	struct fixture fixture;
	double rate, target;
	sim_time at;

	fixture_init(&fixture, "dcqcn-hpcc-100g");
	set(&fixture.congestion, "clamp_target", "true");
	set(&fixture.congestion, "alpha_initial", "0.5");
	fixture_start(&fixture, &path);
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1 * MS);
	step(&fixture, 1 * MS + 4 * US);
	target = (double)fixture.cc->rate_bps;
	fixture.congestion.ops->on_cnp(fixture.cc, fixture.congestion.params, 1 * MS + 5 * US);
	at = 1 * MS + 8 * US;
	step(&fixture, at);
	rate = (double)fixture.cc->rate_bps;
	for (unsigned i = 0; i < ARRAY_SIZE(rises); i++) {
		at += 300 * US;
		step(&fixture, at);
		target += rises[i];
		rate = (rate + target) / 2;
		CU_ASSERT_DOUBLE_EQUAL((double)fixture.cc->rate_bps, rate, 4);
	}
	congestion_fini(&fixture.congestion);
}

/* ---- on the wire ---- */

struct ear {
	unsigned acks, vl;
};

static void listen(void *context, struct port *port, const struct packet *packet, sim_time start)
{
	struct ear *ear = context;

	(void)port, (void)start;
	if (packet->kind != PACKET_DATA || packet->opcode != RC_ACK)
		return;
	ear->acks++;
	ear->vl = packet->vl;
}

enum { WHOLE, PART };

/* Two packets at level 3 under that window; when they are done. */
static sim_time two_packets(const char *window, unsigned fill, uint64_t priority, struct ear *ear)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0, one, other;

	study_init(&study, LINK_ETHERNET, "window", 0, 2);
	set(&study.congestion, "cwnd", window);
	study.params.cwnd_fill = fill;
	study.params.ack_priority = priority;
	study.params.ack_interval = 1;
	one = study_add_host(&study);
	other = study_add_host(&study);
	study_link(&study, one, 0, other, 0);
	study_finish(&study);
	port_tap(endpoint_port(study.hosts[1]), listen, ear);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 3, 0),
		      ENDPOINT_WRITE, 2 * 4096, &done);
	sim_run(study.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(done, 1);
	study_fini(&study);
	return transfer.message.done_at;
}

static void test_part_of_a_window_lets_a_packet_go(void)
{
	struct ear ear = {0, 0};
	sim_time open = two_packets("1MB", WHOLE, 16, &ear);

	CU_ASSERT_EQUAL(two_packets("4097B", PART, 16, &ear), open);
	CU_ASSERT_EQUAL(two_packets("8192B", WHOLE, 16, &ear), open);
	CU_ASSERT(two_packets("8191B", WHOLE, 16, &ear) > open);
	CU_ASSERT(two_packets("4096B", PART, 16, &ear) > open);
}

static void test_acks_have_a_priority(void)
{
	struct ear own = {0, 0}, sixth = {0, 0};

	CU_ASSERT_EQUAL(two_packets("1MB", WHOLE, 16, &own), two_packets("1MB", WHOLE, 6, &sixth));
	CU_ASSERT_EQUAL(own.acks, 2);
	CU_ASSERT_EQUAL(own.vl, 3);
	CU_ASSERT_EQUAL(sixth.acks, 2);
	CU_ASSERT_EQUAL(sixth.vl, 6);
}
