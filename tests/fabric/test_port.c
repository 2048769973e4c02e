/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the timing of one link: arrival of the head and the tail of a packet. Packets follow one
 * another without a gap and without drift. Goodput reaches the ceilings of C-05, and no packet is
 * lost or kept.
 */
#include "fabric/encoding.h"
#include "tests/fabric/support/pair.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                 \
	TEST(one_packet_infiniband) \
	TEST(one_packet_ethernet)   \
	TEST(goodput_ceilings)      \
	TEST(no_drift)              \
	TEST(speeds)                \
	TEST(depth_and_pacing)      \
	TEST(tap)                   \
	TEST(vls_take_turns)        \
	TEST(events_a_packet)
SUITE_AFTER(set_up, TESTS)

static void set_up(void)
{
	params_default(port_param_list, &params);
}

/* The cable has 10 m at 5 ns/m, and a byte takes 80 ps. */
static void test_one_packet_infiniband(void)
{
	params.length = 10;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(1, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 1);
	CU_ASSERT_EQUAL(b.first_head, 50 * NS);
	CU_ASSERT_EQUAL(b.first_tail, 50 * NS + (4096 + 26) * 80);
	pair_end();
}

/* The preamble passes before the head. */
static void test_one_packet_ethernet(void)
{
	params.length = 10;
	params.fec_latency = 51200;
	pair_begin(LINK_ETHERNET, 1);
	pair_send(1, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.first_head, 50 * NS + 51200 + 8 * 80);
	CU_ASSERT_EQUAL(b.first_tail, 50 * NS + 51200 + (8 + 1024 + 62) * 80);
	pair_end();
}

/* From head to head, payload and overhead pass and nothing else: payload / (payload + 26 | 82). */
static void goodput(enum link_layer link_layer, uint32_t payload_bytes, uint32_t overhead_bytes)
{
	const uint64_t packets = 1000;

	pair_begin(link_layer, 1);
	pair_send(packets, payload_bytes);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, packets);
	CU_ASSERT_EQUAL(b.out_of_order, 0);
	CU_ASSERT_EQUAL(b.last_head - b.first_head,
			(packets - 1) * (payload_bytes + overhead_bytes) * 80);
	pair_end();
}

static void test_goodput_ceilings(void)
{
	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2) {
		goodput(LINK_INFINIBAND, mtu, 26);
		goodput(LINK_ETHERNET, mtu, 82);
	}
}

/* FDR 4x has 54.545... The time of a byte is not a whole number of picoseconds. 1000 packets take
 * the time of one division. */
static void test_no_drift(void)
{
	params.speed = SPEED_FDR;
	pair_begin(LINK_INFINIBAND, 1);
	CU_ASSERT_EQUAL(port_rate_bps(a.port), UINT64_C(54545454545));
	pair_send(1000, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.last_head - b.first_head, 999 * 1050 * 8 * SEC / UINT64_C(54545454545));
	pair_end();
}

static void test_speeds(void)
{
	/* row C-01, 4 lanes, Mb/s */
	static const uint64_t rates[SPEED_COUNT] = {
		[SPEED_SDR] = 8000,    [SPEED_DDR] = 16000,  [SPEED_QDR] = 32000,
		[SPEED_FDR10] = 40000, [SPEED_FDR] = 54545,  [SPEED_EDR] = 100000,
		[SPEED_HDR] = 200000,  [SPEED_NDR] = 400000, [SPEED_XDR] = 800000,
	};

	for (unsigned speed = SPEED_SDR; speed < SPEED_COUNT; speed++)
		CU_ASSERT_EQUAL(encoding_rate_bps(speed, 4) / 1000000, rates[speed]);
	CU_ASSERT_EQUAL(encoding_rate_bps(SPEED_EDR, 1), UINT64_C(25000000000));
}

static uint64_t room_calls, sent_calls;
static sim_time sent_at, leaves_until;

static void count_sent(struct port_user *user, struct port *port, const struct packet *packet)
{
	(void)user, (void)port;
	CU_ASSERT_EQUAL(packet->psn, sent_calls);
	sent_calls++;
	sent_at = sim_now(sim);
}

static void note_leaves(struct port_user *user, struct port *port, const struct packet *packet,
			sim_time until)
{
	(void)user, (void)port, (void)packet;
	leaves_until = until;
}

static void count_room(struct port_user *user, struct port *port, unsigned vl)
{
	room_calls++;
	station_room(user, port, vl);
}

/* One packet leaves while `transmit_depth` packets wait. The port offers room once per packet, and
 * calls sent() at its end. */
static void test_depth_and_pacing(void)
{
	room_calls = sent_calls = 0;
	params.transmit_depth = 2;
	params.length = 0;
	pair_begin(LINK_ETHERNET, 1);
	port_destroy(a.port);
	a.user.sent = count_sent;
	a.user.leaves = note_leaves;
	a.user.room = count_room;
	a.port = port_create(sim, "a.port", &params, LINK_ETHERNET, pool, &a.user);
	port_connect(a.port, b.port);
	pair_send(10, 1024);
	CU_ASSERT_EQUAL(a.to_send, 7);
	CU_ASSERT_EQUAL(leaves_until, (8 + 1024 + 62) * 80);
	CU_ASSERT_EQUAL(port_free_at(a.port, 0), 3 * (1024 + 82) * 80);
	sim_run(sim, (1024 + 82) * 80 + 1);
	CU_ASSERT_EQUAL(a.to_send, 6);
	CU_ASSERT_EQUAL(sent_calls, 1);
	CU_ASSERT_EQUAL(sent_at, (1024 + 82) * 80);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(sent_calls, 10);
	CU_ASSERT_EQUAL(room_calls, 8); /* for 7 packets, and when there were no more */
	CU_ASSERT_EQUAL(b.received, 10);
	pair_end();
}

static sim_time tapped[4];
static unsigned taps;

static void tap(void *context, struct port *port, const struct packet *packet, sim_time starts_at)
{
	CU_ASSERT_PTR_EQUAL(context, &taps);
	CU_ASSERT_STRING_EQUAL(port_name(port), "a.port");
	CU_ASSERT_EQUAL(packet->psn, taps);
	tapped[taps++] = starts_at;
}

static void test_tap(void)
{
	taps = 0;
	pair_begin(LINK_INFINIBAND, 1);
	port_tap(a.port, tap, &taps);
	pair_send(2, 256);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(taps, 2);
	CU_ASSERT_EQUAL(tapped[0], 0);
	CU_ASSERT_EQUAL(tapped[1], (256 + 26) * 80);
	pair_end();
}

/* Two VLs with packets waiting take turns. */
static void test_vls_take_turns(void)
{
	params.transmit_depth = 100;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(50, 256);
	a.vl = 3;
	pair_send(50, 256);
	a.vl = 15; /* queued last, leaves as the second packet of all */
	pair_send(1, 256);
	sim_run(sim, 2 * 282 * 80);
	CU_ASSERT_EQUAL(port_queued(a.port, 15), 0);
	CU_ASSERT_EQUAL(port_queued(a.port, 0), 49);
	CU_ASSERT_EQUAL(port_queued(a.port, 3), 50);
	sim_run(sim, 22 * 282 * 80);
	CU_ASSERT_EQUAL(port_queued(a.port, 0), 39);
	CU_ASSERT_EQUAL(port_queued(a.port, 3), 40);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 101);
	pair_end();
}

/* A saturated direction costs two events a packet: its arrival, and the start of the next. */
static void test_events_a_packet(void)
{
	params.length = 0;
	pair_begin(LINK_ETHERNET, 1);
	pair_send(1000, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_TRUE(sim_events_fired(sim) <= 2000);
	pair_end();
}
