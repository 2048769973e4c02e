/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the marks of a switch. ECN is set always above kmax, never up to kmin, and with RED's
 * probability in between, on ECN-capable packets only. InfiniBand's FECN follows threshold, rate
 * and size. Telemetry is exact to the byte and picosecond. It counts waiting bytes of data, not of
 * ACKs, and not bytes that still cross the switch. Maps from DSCP, PCP and SL to VLs are right.
 */
#include <math.h>

#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)              \
	TEST(step)               \
	TEST(above_kmax)         \
	TEST(thresholds_by_rate) \
	TEST(not_capable)        \
	TEST(slope)              \
	TEST(fecn)               \
	TEST(victims)            \
	TEST(telemetry)          \
	TEST(telemetry_queue)    \
	TEST(telemetry_returns)  \
	TEST(priorities)         \
	TEST(sl2vl)
SUITE(TESTS)

#define BYTE_PS 80
#define MTU     4096
#define WIRE    (MTU + 62)
#define SLOT    (WIRE + 20)

static struct star star;

/* Two senders, n packets each, to one output: its queue grows by a packet a slot, then falls by one
 * a slot. */
static void congest(uint64_t packets, enum ecn ecn)
{
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	for (unsigned i = 0; i < 2; i++) {
		star.hosts[i].ecn = (uint8_t)ecn;
		star_send(&star, i, 2, packets, MTU);
	}
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 2 * packets);
}

static void ecn_params(enum ecn_mark mark, uint64_t kmin, uint64_t kmax, double pmax)
{
	star_defaults(&star);
	star.params.port.input_buffer = 10 << 20;
	star.params.ecn.mark = mark;
	star.params.ecn.kmin = kmin;
	star.params.ecn.kmax = kmax;
	star.params.ecn.pmax = pmax;
}

/* Where kmin is kmax the mark is a step. Both senders are in step. At the departures of 2 * n
 * packets the queue is 0, 2, 3 .. n packets on its way up, n - 1 .. 0 on its way down. */
static void test_step(void)
{
	ecn_params(ECN_MARK_DEQUEUE, 10 * WIRE, 10 * WIRE, 0);
	congest(100, ECN_ECT0);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 200 - 10 - 11);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->ecn_marks, star.hosts[2].marked);
	CU_ASSERT_EQUAL(star_end(&star), 0);
	ecn_params(ECN_MARK_DEQUEUE, 99 * WIRE, 99 * WIRE, 0);
	congest(100, ECN_ECT1);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 1);
	CU_ASSERT_EQUAL(star_end(&star), 0);
	ecn_params(ECN_MARK_DEQUEUE, 100 * WIRE, 100 * WIRE, 0);
	congest(100, ECN_ECT1);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 0);
	CU_ASSERT_EQUAL(star_end(&star), 0);
	ecn_params(ECN_MARK_ENQUEUE, 10 * WIRE, 10 * WIRE, 0);
	congest(100, ECN_ECT1);
	/* the i-th pair finds i - 1 packets before it, and i: 11 firsts and 10 seconds find no more
	 * than 10 */
	CU_ASSERT_EQUAL(star.hosts[2].marked, 200 - 11 - 10);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Up to kmax the probability is at most pmax, which is 0 in this test. A queue of exactly kmax is
 * not marked. */
static void test_above_kmax(void)
{
	ecn_params(ECN_MARK_DEQUEUE, 5 * WIRE, 10 * WIRE, 0);
	congest(100, ECN_ECT0);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 200 - 10 - 11);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Thresholds for 25 Gb/s are four times as high at 100 Gb/s. */
static void test_thresholds_by_rate(void)
{
	ecn_params(ECN_MARK_DEQUEUE, 10 * WIRE / 4, 10 * WIRE / 4, 0);
	star.params.ecn.per_rate = 25000000000;
	congest(100, ECN_ECT0);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 200 - 10 - 11);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static void test_not_capable(void)
{
	ecn_params(ECN_MARK_DEQUEUE, 10 * WIRE, 10 * WIRE, 0);
	congest(100, ECN_NOT_ECT);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->ecn_marks, 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->ecn_incapable, 200 - 10 - 11);
	CU_ASSERT_EQUAL(star_end(&star), 0);
	ecn_params(ECN_MARK_DEQUEUE, 10 * WIRE, 10 * WIRE, 0);
	star.params.ecn.priorities = 0xfe;
	congest(100, ECN_ECT0);
	CU_ASSERT_EQUAL(star.hosts[2].marked, 0);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* From 0 to the longest queue the chance grows from 0 to pmax: half of pmax on average, within four
 * sigma. */
static void test_slope(void)
{
	const uint64_t packets = 2000;
	const double expected = 0.2 / 2 * 2 * (double)packets;

	ecn_params(ECN_MARK_DEQUEUE, 0, packets * WIRE, 0.2);
	congest(packets, ECN_ECT0);
	CU_ASSERT_DOUBLE_EQUAL((double)star.hosts[2].marked, expected, 4 * sqrt(expected));
	uint64_t marked = star.hosts[2].marked;

	CU_ASSERT_EQUAL(star_end(&star), 0);
	ecn_params(ECN_MARK_DEQUEUE, 0, packets * WIRE, 0.2);
	congest(packets, ECN_ECT0);
	CU_ASSERT_EQUAL(star.hosts[2].marked, marked); /* the same seed */
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static uint64_t fecn_marks(uint64_t threshold, uint64_t rate, uint64_t size_blocks)
{
	uint64_t marked;

	star_defaults(&star);
	star.params.fecn.threshold = threshold;
	star.params.fecn.marking_rate = rate;
	star.params.fecn.packet_size = size_blocks;
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 3));
	star_send(&star, 0, 2, 200, MTU);
	star_send(&star, 1, 2, 200, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 400);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->ecn_marks, star.hosts[2].marked);
	marked = star.hosts[2].marked;
	CU_ASSERT_EQUAL(star_end(&star), 0);
	return marked;
}

static void test_fecn(void)
{
	uint64_t low = fecn_marks(15, 0, 0); /* beyond 8 KiB */
	uint64_t high = fecn_marks(8, 0, 0); /* beyond 64 KiB */

	CU_ASSERT_EQUAL(fecn_marks(0, 0, 0), 0);
	/* two come while one leaves: the first 2 n - 1 find less than n packets of 4122 B there */
	CU_ASSERT_EQUAL(low, 400 - (2 * 2 - 1));
	CU_ASSERT_EQUAL(high, 400 - (2 * 16 - 1));
	CU_ASSERT_EQUAL(fecn_marks(15, 3, 0), low / 4);
	CU_ASSERT_EQUAL(fecn_marks(15, 0, 65), 0); /* 4160 B: all are shorter, 4122 B */
	CU_ASSERT_EQUAL(fecn_marks(15, 0, 64), low);
}

/* Host LAST frees its input space late. Its switch port therefore lacks credits and is a victim. */
#define LAST 79

static uint64_t victim_marks(const char *mask)
{
	uint64_t marked;

	star_defaults(&star);
	star.params.fecn.threshold = 15;
	snprintf(star.params.fecn.victim_mask.text, sizeof(star.params.fecn.victim_mask.text), "%s",
		 mask);
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, LAST + 1));
	star.hosts[LAST].release_delay = 20 * US;
	star_send(&star, 0, LAST, 200, MTU);
	star_send(&star, 1, LAST, 200, MTU);
	sim_run(star.sim, SIM_NEVER);
	marked = star.hosts[LAST].marked;
	CU_ASSERT_EQUAL(star_end(&star), 0);
	return marked;
}

static void test_victims(void)
{
	struct port_set ports;
	uint64_t roots = victim_marks("0");

	CU_ASSERT_EQUAL(victim_marks("18446744073709551615"), roots);   /* the first 64 */
	CU_ASSERT_EQUAL(victim_marks("0x7fffffffffffffffffff"), roots); /* those below 79 */
	CU_ASSERT_EQUAL(roots, 59); /* seen: while there are credits */
	CU_ASSERT_EQUAL(victim_marks("0x80000000000000000000"),
			400 - 3); /* beyond 8 KiB, as above */
	CU_ASSERT_TRUE(switch_parse_mask(
		"0x8000000000000000000000000000000000000000000000000000000000000001", &ports));
	CU_ASSERT_EQUAL(port_set_count(&ports), 2);
	CU_ASSERT_TRUE(port_set_has(&ports, 0) && port_set_has(&ports, 255));
	CU_ASSERT_TRUE(switch_parse_mask("255", &ports));
	CU_ASSERT_EQUAL(port_set_count(&ports), 8);
	CU_ASSERT_FALSE(switch_parse_mask(
		"0x10000000000000000000000000000000000000000000000000000000000000000", &ports));
	CU_ASSERT_FALSE(switch_parse_mask("18446744073709551616", &ports));
	CU_ASSERT_FALSE(switch_parse_mask("0x", &ports));
	CU_ASSERT_FALSE(switch_parse_mask("-1", &ports));
	CU_ASSERT_FALSE(switch_parse_mask("ports", &ports));
}

static void test_telemetry(void)
{
	const sim_time link = 8 * BYTE_PS + 2500; /* preamble, 0.5 m */

	star_defaults(&star);
	star.params.telemetry = true;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	star_send(&star, 0, 2, 3, MTU);
	star_send(&star, 1, 2, 3, MTU);
	star.hosts[0].asks = true;
	star_send(&star, 0, 2, 1, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 7);
	CU_ASSERT_EQUAL(star.hosts[2].telemetry.count, 1);
	const struct telemetry_hop *hop = &star.hosts[2].telemetry.hops[0];

	/* it is the fourth of host 0, and the seventh out: behind all of host 1 */
	CU_ASSERT_EQUAL(hop->at, link + 90 * NS + 6 * SLOT * BYTE_PS);
	CU_ASSERT_EQUAL(hop->sent_bytes, 7 * WIRE);
	CU_ASSERT_EQUAL(hop->queue_bytes, 0);
	CU_ASSERT_EQUAL(hop->rate_bps, UINT64_C(100000000000));
	CU_ASSERT_EQUAL(hop->port, port_number(switch_port(star.sw, 2)));
	CU_ASSERT_NOT_EQUAL(hop->port, port_number(switch_port(star.sw, 1)));
	CU_ASSERT_EQUAL(star_end(&star), 0);
	star_defaults(&star); /* a switch that has none */
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	star.hosts[0].asks = true;
	star_send(&star, 0, 2, 1, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].telemetry.count, 0);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Two senders, 20 packets each: the longest queue behind a packet is 20, however long packets take
 * through the switch. */
static uint32_t longest_queue(sim_time forwarding_latency, bool gaps, uint64_t *sent_bytes)
{
	uint32_t queue;

	star_defaults(&star);
	star.params.telemetry = true;
	star.params.telemetry_gaps = gaps;
	star.params.forwarding_latency = forwarding_latency;
	star.params.port.input_buffer = 10 << 20;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	star.hosts[0].asks = star.hosts[1].asks = true;
	star_send(&star, 0, 2, 20, MTU);
	star_send(&star, 1, 2, 20, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 40);
	queue = star.hosts[2].queue_max;
	*sent_bytes = star.hosts[2].telemetry.hops[0].sent_bytes;
	CU_ASSERT_EQUAL(star_end(&star), 0);
	return queue;
}

static void test_telemetry_queue(void)
{
	uint64_t sent_bytes;

	CU_ASSERT_EQUAL(longest_queue(0, false, &sent_bytes), 20 * WIRE);
	CU_ASSERT_EQUAL(sent_bytes, 40 * WIRE);
	CU_ASSERT_EQUAL(longest_queue(5 * SLOT * BYTE_PS, false, &sent_bytes), 20 * WIRE);
	CU_ASSERT_EQUAL(longest_queue(5 * SLOT * BYTE_PS, true, &sent_bytes), 20 * SLOT);
	CU_ASSERT_EQUAL(sent_bytes, 40 * SLOT);
}

/* An ACK passes the switch, and its record stays as it is. */
static void test_telemetry_returns(void)
{
	star_defaults(&star);
	star.params.telemetry = true;
	CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 3));
	star.hosts[0].asks = star.hosts[0].answers = true;
	star_send(&star, 0, 2, 1, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[2].received, 1);
	CU_ASSERT_EQUAL(star.hosts[2].telemetry.count, 0);
	CU_ASSERT_TRUE(star.hosts[2].telemetry.complete);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

static uint8_t last_vl;

static void note_vl(struct port_user *user, struct port *port, struct packet *packet)
{
	last_vl = packet->vl;
	station_receive(user, port, packet);
}

static uint8_t vl_of(uint8_t service_level, uint8_t dscp)
{
	struct path path = *station_path(star.endpoints, 0, 1);

	path.service_level = service_level;
	path.traffic_class = (uint8_t)(dscp << 2);
	last_vl = 0xff;
	star.hosts[1].user.receive = note_vl;
	station_send(&star.hosts[0], path_intern(endpoints_paths(star.endpoints), &path), 1, 256);
	sim_run(star.sim, SIM_NEVER);
	return last_vl;
}

static void test_priorities(void)
{
	static const uint8_t expected[3] = {0, 5, 3};

	for (uint32_t from = PRIORITY_FROM_SENDER; from <= PRIORITY_FROM_DSCP; from++) {
		for (unsigned shared = 0; shared < 2; shared++) {
			star_defaults(&star);
			star.params.priority_from = from;
			star.params.buffer.size = shared * 12000000;
			CU_ASSERT_TRUE(star_begin(&star, LINK_ETHERNET, 2));
			CU_ASSERT_EQUAL(vl_of(5, 26), expected[from]);
			switch_set_dscp_priority(star.sw, 26, 4);
			CU_ASSERT_EQUAL(vl_of(5, 26),
					from == PRIORITY_FROM_DSCP ? 4 : expected[from]);
			sim_run(star.sim, sim_now(star.sim) + MS);
			CU_ASSERT_EQUAL(port_input_used(switch_port(star.sw, 0), 0), 0);
			CU_ASSERT_EQUAL(star_end(&star), 0);
		}
	}
}

static void test_sl2vl(void)
{
	uint8_t vls[16] = {0, 2, 15, 9};

	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 3));
	switch_set_sl2vl(star.sw, 0, 1, vls);
	CU_ASSERT_EQUAL(vl_of(0, 0), 0);
	CU_ASSERT_EQUAL(vl_of(1, 0), 2);
	CU_ASSERT_EQUAL(vl_of(2, 0), 0xff); /* VL15: dropped */
	CU_ASSERT_EQUAL(vl_of(3, 0), 0xff); /* there are 8 VLs */
	CU_ASSERT_EQUAL(switch_counters(star.sw)->vl_drops, 2);
	sim_run(star.sim, sim_now(star.sim) + MS);
	CU_ASSERT_EQUAL(port_input_used(switch_port(star.sw, 0), 0), 0);
	CU_ASSERT_EQUAL(port_counters(star.hosts[0].port)->credits_consumed,
			port_counters(switch_port(star.sw, 0))->credits_received);
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 1))->credits_consumed,
			port_counters(star.hosts[1].port)->credits_received);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}
