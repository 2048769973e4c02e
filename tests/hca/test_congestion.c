/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the congestion algorithms call by call. DCQCN's cuts and increases give exactly the rates
 * of its rules, in either order of alpha's update, and for any number of queries. InfiniBand's
 * index rises and falls. A rate paces packets exactly. Algorithms that use ACKs get them as often
 * as their paper specifies. A shared object works as a built-in algorithm does, and an unsuitable
 * one is refused with a reason.
 */
#include <string.h>

#include "tests/hca/support/fixture.h"
#include "tests/hca/support/study.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                        \
	TEST(dcqcn_cuts_and_recovers)      \
	TEST(dcqcn_order_of_alpha)         \
	TEST(dcqcn_increases_additively)   \
	TEST(dcqcn_bytes_count_too)        \
	TEST(dcqcn_vendor_coalesces)       \
	TEST(lazy_timers_lose_nothing)     \
	TEST(debt_is_paid_across_steps)    \
	TEST(infiniband_index)             \
	TEST(infiniband_table)             \
	TEST(rate_paces_exactly)           \
	TEST(acks_come_as_often_as_wanted) \
	TEST(shared_object)                \
	TEST(what_does_not_fit_is_refused) \
	TEST(presets_load)
SUITE(TESTS)

#define GBPS UINT64_C(1000000000)

static const struct congestion_path path = {
	.line_rate_bps = 40 * GBPS,
	.base_rtt = 10 * US,
	.mtu_bytes = 1024,
	.hops = 4,
};

static void set(struct fixture *fixture, const char *name, const char *value)
{
	char error[256];

	CU_ASSERT_TRUE_FATAL(
		congestion_set(&fixture->congestion, name, value, error, sizeof(error)));
}

static void cnp(struct fixture *fixture, sim_time now)
{
	congestion_settle(&fixture->congestion, fixture->cc, now);
	fixture->congestion.ops->on_cnp(fixture->cc, fixture->congestion.params, now);
}

static uint64_t rate(struct fixture *fixture, sim_time now)
{
	congestion_settle(&fixture->congestion, fixture->cc, now);
	return fixture->cc->rate_bps;
}

static void test_dcqcn_cuts_and_recovers(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "dcqcn-paper");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS), RATE_UNLIMITED);
	cnp(&fixture, 10 * MS); /* alpha 1: the rate is halved, and the target remains */
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS), 20 * GBPS);
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS + 55 * US - 1), 20 * GBPS);
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS + 55 * US), 30 * GBPS);
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS + 110 * US), 35 * GBPS);
	CU_ASSERT_EQUAL(rate(&fixture, 10 * MS + 4 * 55 * US), 38750000000);
	congestion_fini(&fixture.congestion);
}

/* Alpha begins with 0.5. The cut takes 0.5 / 2, or (0.5 (1 - 1/256) + 1/256) / 2. */
static void test_dcqcn_order_of_alpha(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "dcqcn-paper");
	set(&fixture, "alpha_initial", "0.5");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS), 30 * GBPS);
	set(&fixture, "order", "alpha_first");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS), 29960937500);
	congestion_fini(&fixture.congestion);
}

/* Beyond five stages of the timer the target rises by R_AI: after n increases of a 20 Gb/s cut. */
static void test_dcqcn_increases_additively(void)
{
	struct fixture fixture;
	double now = 10e9, target = 20e9;

	fixture_init(&fixture, "dcqcn-paper");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	cnp(&fixture, 1 * MS + 1 * US); /* 10 Gb/s, target 20 */
	for (unsigned i = 1; i <= 40; i++) {
		target += i > 5 ? 40e6 : 0;
		now = (now + target) / 2;
	}
	CU_ASSERT_DOUBLE_EQUAL((double)rate(&fixture, 1 * MS + 1 * US + 40 * 55 * US), now, 1);
	congestion_fini(&fixture.congestion);
}

static void test_dcqcn_bytes_count_too(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "dcqcn-paper");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	for (unsigned i = 0; i < 10000; i++) /* 10 MB */
		fixture.congestion.ops->on_send(fixture.cc, fixture.congestion.params, 1 * MS,
						1000);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS), 30 * GBPS);
	congestion_fini(&fixture.congestion);
}

/* C-19: a second CNP within 4 us cuts the rate at the end of the 4 us, by at most half. */
static void test_dcqcn_vendor_coalesces(void)
{
	struct fixture fixture;
	uint64_t once, twice;

	fixture_init(&fixture, "dcqcn-vendor");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	once = rate(&fixture, 1 * MS);
	cnp(&fixture, 1 * MS + 1 * US);
	cnp(&fixture, 1 * MS + 2 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS + 4 * US - 1), once);
	twice = rate(&fixture, 1 * MS + 4 * US);
	CU_ASSERT(twice < once && twice > once / 2);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS + 299 * US), twice);
	congestion_fini(&fixture.congestion);
}

/* The same CNPs give the same rate, asked every microsecond or only at the end. */
static void test_lazy_timers_lose_nothing(void)
{
	static const char *const names[] = {"dcqcn-paper", "dcqcn-ns3", "dcqcn-vendor",
					    "dcqcn-hpcc-25g", "infiniband"};

	for (unsigned i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture often, once;

		fixture_init(&often, names[i]);
		fixture_init(&once, names[i]);
		fixture_start(&often, &path);
		fixture_start(&once, &path);
		for (sim_time at = 1 * US; at < 3 * MS; at += 1 * US) {
			rate(&often, at);
			if (at % (70 * US) == 0) {
				cnp(&often, at);
				cnp(&once, at);
			}
		}
		CU_ASSERT_EQUAL(rate(&often, 3 * MS), rate(&once, 3 * MS));
		CU_ASSERT(rate(&once, 3 * MS) < 40 * GBPS);
		congestion_fini(&often.congestion);
		congestion_fini(&once.congestion);
	}
}

/* The rate is half for 55 us, and then three quarters. The test sends the bytes of 20 Gb/s in 55
 * us, and then bytes at 30 Gb/s. */
static void test_debt_is_paid_across_steps(void)
{
	struct fixture fixture;
	uint64_t bytes = 137500 + 18750; /* 55 us at 20 Gb/s, 5 us at 30 */

	fixture_init(&fixture, "dcqcn-paper");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * MS);
	CU_ASSERT_EQUAL(congestion_paid_at(&fixture.congestion, fixture.cc, 1 * MS, 137500),
			1 * MS + 55 * US);
	CU_ASSERT_EQUAL(congestion_paid_at(&fixture.congestion, fixture.cc, 1 * MS, bytes),
			1 * MS + 60 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS), 20 * GBPS); /* the flow is as it was */
	congestion_fini(&fixture.congestion);
}

static void test_infiniband_index(void)
{
	struct fixture fixture;

	fixture_init(&fixture, "infiniband");
	set(&fixture, "cct_shift", "0");
	fixture_start(&fixture, &path);
	CU_ASSERT_EQUAL(rate(&fixture, 0), RATE_UNLIMITED);
	for (unsigned i = 0; i < 3; i++)
		cnp(&fixture, 1 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * US), 10 * GBPS); /* three packet times of delay */
	CU_ASSERT_EQUAL(rate(&fixture, 1 * US + 150 * 1024 * NS), UINT64_C(13333333333));
	CU_ASSERT_EQUAL(rate(&fixture, 1 * US + 3 * 150 * 1024 * NS), RATE_UNLIMITED);
	for (unsigned i = 0; i < 1000; i++)
		cnp(&fixture, 1 * MS);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * MS), 40 * GBPS / 128); /* ccti_limit 127 */
	congestion_fini(&fixture.congestion);
}

/* The table has the form in which a congestion manager lists it: none, 1/2, 3 and 8 packet times.
 * All higher indices use the last entry. */
static void test_infiniband_table(void)
{
	static const uint64_t rates[] = {RATE_UNLIMITED, UINT64_C(26666666666), 10 * GBPS,
					 UINT64_C(4444444444), UINT64_C(4444444444)};
	static const char *const wrong[] = {"1",  "4:1", "0:16384", "0:1;0:2",
					    ":1", "1:",  "0:1 0:2"};
	struct fixture fixture;
	char error[256];

	fixture_init(&fixture, "infiniband");
	set(&fixture, "cct", "0:0,1:1,0:3,3:64");
	fixture_start(&fixture, &path);
	for (unsigned i = 0; i < ARRAY_SIZE(rates); i++) {
		CU_ASSERT_EQUAL(rate(&fixture, 1 * US), rates[i]);
		cnp(&fixture, 1 * US);
	}
	for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT_FALSE(
			congestion_set(&fixture.congestion, "cct", wrong[i], error, sizeof(error)));
	congestion_fini(&fixture.congestion);
	fixture_init(&fixture, "infiniband");
	set(&fixture, "control_map", "0xfffe"); /* not service level 0 */
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * US), RATE_UNLIMITED);
	congestion_fini(&fixture.congestion);
}

/* 10 Gb/s on a line of 100: departures are a packet's time at 10 Gb/s apart, with one event
 * each. */
static void test_rate_paces_exactly(void)
{
	struct study study;
	struct transfer transfer;
	unsigned done = 0;
	char error[128];

	study_init(&study, LINK_ETHERNET, "window", 0, 2);
	CU_ASSERT_TRUE(congestion_set(&study.congestion, "rate", "10Gbps", error, sizeof(error)));
	CU_ASSERT_TRUE(congestion_set(&study.congestion, "cwnd", "1GiB", error, sizeof(error)));
	unsigned one = study_add_host(&study), other = study_add_host(&study);

	study_link(&study, one, 0, other, 0);
	study_finish(&study);
	transfer_post(&transfer, endpoint_create_pair(study.hosts[0], study.hosts[1], 0, 0),
		      ENDPOINT_WRITE, 1001 * 4096, &done);
	sim_run(study.sim, SIM_NEVER);
	/* the first carries a RETH: 16 bytes more; the last leaves at the end of 1000 packet
	 * times */
	sim_time last_out = 600 * NS + (1000 * (4096 + 62 + 20) + 16) * UINT64_C(800);

	CU_ASSERT_EQUAL(transfer.message.done_at, last_out + (4096 + 62 + 8) * 80 + 2500 +
							  100 * NS + 74 * 80 + 2500 + 200 * NS);
	CU_ASSERT(sim_events_fired(study.sim) < 2 * 1001 + 50 + 60);
	study_fini(&study);
}

static uint32_t ack_interval(const char *name, uint64_t wanted, uint64_t mtu_bytes)
{
	struct congestion_choice choice = {0};
	uint32_t packets;
	char error[256];

	CU_ASSERT_TRUE_FATAL(congestion_choose(&choice, name, error, sizeof(error)));
	packets = congestion_ack_interval(&choice.congestion, wanted, mtu_bytes);
	congestion_choice_fini(&choice);
	return packets;
}

static void test_acks_come_as_often_as_wanted(void)
{
	static const char *const each[] = {"hpcc-paper", "swift", "dctcp", "timely-hpcc-100g"};
	static const char *const any[] = {"none", "window", "dcqcn-paper", "infiniband"};
	const struct congestion nothing = {0};

	for (unsigned i = 0; i < ARRAY_SIZE(each); i++)
		CU_ASSERT_EQUAL(ack_interval(each[i], 0, 1024), 1);
	for (unsigned i = 0; i < ARRAY_SIZE(any); i++)
		CU_ASSERT_EQUAL(ack_interval(any[i], 0, 1024), 64);
	CU_ASSERT_EQUAL(ack_interval("timely-paper", 0, 1024), 15); /* 16 KB */
	CU_ASSERT_EQUAL(ack_interval("timely-paper", 0, 4096), 3);
	CU_ASSERT_EQUAL(ack_interval("hpcc-paper", 8, 1024), 8);
	CU_ASSERT_EQUAL(congestion_ack_interval(&nothing, 0, 1024), 64);
}

static void test_shared_object(void)
{
	struct fixture fixture;

	fixture_init(&fixture, CONGESTION_PLUGIN);
	CU_ASSERT_STRING_EQUAL(fixture.congestion.ops->name, "halve");
	set(&fixture, "floor", "5Gbps");
	fixture_start(&fixture, &path);
	cnp(&fixture, 1 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 1 * US), 20 * GBPS);
	cnp(&fixture, 2 * US);
	cnp(&fixture, 3 * US);
	cnp(&fixture, 4 * US);
	CU_ASSERT_EQUAL(rate(&fixture, 4 * US), 5 * GBPS);
	congestion_fini(&fixture.congestion);
}

static void test_what_does_not_fit_is_refused(void)
{
	struct congestion congestion;
	char error[512];

	CU_ASSERT_FALSE(congestion_init(&congestion, "vegas", error, sizeof(error)));
	CU_ASSERT(strstr(error, "vegas") && strstr(error, "dcqcn-paper") &&
		  strstr(error, "timely"));
	CU_ASSERT_FALSE(congestion_init(&congestion, "./no-such.so", error, sizeof(error)));
	CU_ASSERT(strstr(error, "no-such.so") != NULL);
	CU_ASSERT_TRUE_FATAL(congestion_init(&congestion, "dcqcn", error, sizeof(error)));
	CU_ASSERT_FALSE(congestion_set(&congestion, "window_factor", "1", error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error,
			       "dcqcn has no parameter `window_factor`; it is now \"cwnd_factor\"");
	CU_ASSERT_FALSE(congestion_set(&congestion, "gain", "2", error, sizeof(error)));
	CU_ASSERT_FALSE(congestion_set(&congestion, "beta", "0.5", error, sizeof(error)));
	CU_ASSERT(strstr(error, "beta") != NULL);
	congestion_fini(&congestion);
}

/* Each preset's values are taken by its algorithm. */
static void test_presets_load(void)
{
	unsigned count = 0;

	for (const struct congestion_preset *preset = congestion_presets(); preset->name;
	     preset++) {
		struct congestion congestion;
		char error[256] = "";

		CU_ASSERT_TRUE(congestion_init(&congestion, preset->name, error, sizeof(error)));
		CU_ASSERT_STRING_EQUAL(error, "");
		congestion_fini(&congestion);
		count++;
	}
	CU_ASSERT(count >= 7);
}
