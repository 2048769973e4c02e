/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests priority flow control: the times at which a pause takes effect and ends, to the picosecond.
 * Thresholds with headroom lose nothing, and without headroom packets are lost. Checks the headroom
 * formula of row C-14.
 */
#include "fabric/port_state.h"
#include "tests/fabric/support/pair.h"
#include "tests/support/suite.h"

#define TESTS(TEST)       \
	TEST(stop_and_go) \
	TEST(turn_behind) \
	TEST(expiry)      \
	TEST(refreshed)   \
	TEST(at_xoff)     \
	TEST(thresholds)  \
	TEST(without)     \
	TEST(lossless)    \
	TEST(headroom)    \
	TEST(headroom_suffices)
SUITE_AFTER(set_up, TESTS)

#define BYTE_PS  80
#define PAUSE_PS ((8 + 64) * BYTE_PS)

static void set_up(void)
{
	params_default(port_param_list, &params);
}

static void test_stop_and_go(void)
{
	params.length = 20; /* 100 ns */
	pair_begin(LINK_ETHERNET, 1);
	port_pause(b.port, 1 << 0, true);
	sim_run(sim, PAUSE_PS + 100 * NS + 300 * NS + 1); /* the pause is in effect from here on */
	CU_ASSERT_EQUAL(port_free_at(a.port, 1), sim_now(sim));
	CU_ASSERT_EQUAL(port_free_at(a.port, 0), PAUSE_PS + 400 * NS + 65535 * 5120);
	pair_send(1, 1024);
	CU_ASSERT_EQUAL(port_queued(a.port, 0), 1);
	a.vl = 1; /* another priority passes */
	pair_send(1, 1024);
	sim_run(sim, 2 * US);
	CU_ASSERT_EQUAL(b.received, 1);
	CU_ASSERT_EQUAL(b.last_head, PAUSE_PS + 400 * NS + 1 + 8 * BYTE_PS + 100 * NS);
	port_pause(b.port, 1 << 0, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 2);
	CU_ASSERT_EQUAL(b.last_head, 2 * US + PAUSE_PS + 400 * NS + 8 * BYTE_PS + 100 * NS);
	CU_ASSERT_EQUAL(port_counters(b.port)->pause_sent, 2);
	CU_ASSERT_EQUAL(port_counters(a.port)->pause_received, 2);
	pair_end();
}

/* A pause frame takes the link just before a packet's turn, which waits until the frame and its gap
 * have left. */
static void test_turn_behind(void)
{
	const sim_time left = 999 * NS + PAUSE_PS + ETHERNET_GAP * BYTE_PS;
	struct packet *packet;

	params.length = 0;
	pair_begin(LINK_ETHERNET, 1);
	pair_send(2, 1024); /* one packet waits, so that the following packets wait, too */
	packet = packet_new(pool);
	packet->path = station_path(endpoints, 0, 1);
	packet->opcode = RC_WRITE_MIDDLE;
	packet->payload_bytes = 1024;
	packet->psn = 2;
	packet->hop_limit = 64;
	packet->wire_bytes = packet_wire_bytes(packet);
	port_send_at(a.port, packet, US);
	sim_run(sim, 999 * NS);
	CU_ASSERT_EQUAL(b.received, 2);
	port_pause(a.port, 1, true);
	sim_run(sim, 2 * US);
	CU_ASSERT_EQUAL(b.received, 3);
	CU_ASSERT_EQUAL(b.last_head, left + 8 * BYTE_PS);
	port_pause(a.port, 1, false);
	sim_run(sim, SIM_NEVER);
	pair_end();
}

/* Without another frame of the other end, a pause ends after its quanta of 512 bit times: 1000
 * quanta take 5.12 us. */
static void test_expiry(void)
{
	params.length = 0;
	params.pause_quanta = 1000;
	pair_begin(LINK_ETHERNET, 1);
	fault = fault_create(sim,
			     "b.port.fault"); /* the repeated pause, and the resume, are lost */
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop, .kind = PACKET_PFC, .nth = 2});
	port_pause(b.port, 1, true);
	sim_run(sim, US);
	port_set_transmit_fault(b.port, fault);
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop, .kind = PACKET_PFC, .nth = 1});
	pair_send(1, 1024);
	sim_run(sim, 3 * US);
	port_pause(b.port, 1, false);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_dropped, 2);
	CU_ASSERT_EQUAL(b.last_head, PAUSE_PS + 300 * NS + 5120 * NS + 8 * BYTE_PS);
	port_set_transmit_fault(b.port, NULL);
	pair_end();
}

/* A priority that is released just before others are paused again is released in the same frame. */
static void test_refreshed(void)
{
	const sim_time refresh = PAUSE_PS + 500 * 5120;

	params.length = 0;
	params.pause_quanta = 1000;
	pair_begin(LINK_ETHERNET, 1);
	port_pause(b.port, 3, true);
	sim_run(sim, refresh - 200 * NS);
	station_send(&b, station_path(endpoints, 1, 0), 1, 4096); /* 334 ns: frames wait */
	sim_run(sim, refresh - 100 * NS);
	port_pause(b.port, 2, false);
	sim_run(sim, refresh + US);
	CU_ASSERT_EQUAL(port_counters(a.port)->pause_received, 2);
	CU_ASSERT_TRUE(port_paused(a.port, 0));
	CU_ASSERT_FALSE(port_paused(a.port, 1));
	port_pause(b.port, 1, false);
	sim_run(sim, SIM_NEVER);
	pair_end();
}

/* The receiver pauses when the buffer holds more than xoff, and not when it holds exactly xoff. */
static void test_at_xoff(void)
{
	params.xoff = 10 * 4158;
	pair_begin(LINK_ETHERNET, 1);
	b.holds = true;
	pair_send(10, 4096);
	sim_run(sim, 10 * US);
	CU_ASSERT_EQUAL(port_input_used(b.port, 0), params.xoff);
	CU_ASSERT_EQUAL(port_counters(b.port)->pause_sent, 0);
	pair_send(1, 4096);
	sim_run(sim, 20 * US);
	CU_ASSERT_EQUAL(port_counters(b.port)->pause_sent, 1);
	b.holds = false;
	for (uint64_t i = b.received; i > 0; i--)
		port_release(b.port, 0, 4158);
	sim_run(sim, SIM_NEVER);
	pair_end();
}

/* The receiver pauses above xoff and resumes at xon, to the byte. */
static void test_thresholds(void)
{
	params.xoff = 4 * 4158;
	params.xon = 2 * 4158;
	pair_begin(LINK_ETHERNET, 1);
	b.holds = true;
	pair_send(4, 4096);
	sim_run(sim, 10 * US);
	CU_ASSERT_EQUAL(port_input_used(b.port, 0), 4 * 4158);
	CU_ASSERT_FALSE(port_pausing(b.port, 0));
	pair_send(1, 1);
	sim_run(sim, 20 * US);
	CU_ASSERT_TRUE(port_pausing(b.port, 0));
	port_release(b.port, 0, 4158);
	port_release(b.port, 0, (uint32_t)(port_input_used(b.port, 0) - 2 * 4158 - 1));
	CU_ASSERT_TRUE(port_pausing(b.port, 0));
	port_release(b.port, 0, 1);
	CU_ASSERT_FALSE(port_pausing(b.port, 0));
	port_release(b.port, 0, 2 * 4158);
	b.holds = false;
	sim_run(sim, SIM_NEVER);
	pair_end();
}

/* Only priority 1 has PFC. Priority 0 is never paused because of the buffer, and a pause frame for
 * priority 0 has no effect. */
static void test_without(void)
{
	params.length = 0;
	params.pfc_priorities = 2;
	pair_begin(LINK_ETHERNET, 1);
	port_pause(b.port, 1, true);
	sim_run(sim, US);
	CU_ASSERT_EQUAL(port_counters(b.port)->pause_sent, 0);
	port_storm(b.port, 3, true);
	sim_run(sim, 2 * US);
	CU_ASSERT_EQUAL(port_counters(a.port)->pause_received, 1);
	CU_ASSERT_FALSE(port_paused(a.port, 0));
	CU_ASSERT_TRUE(port_paused(a.port, 1));
	pair_send(1, 1024);
	sim_run(sim, 3 * US);
	CU_ASSERT_EQUAL(b.first_head, 2 * US + 8 * BYTE_PS);
	port_storm(b.port, 3, false);
	sim_run(sim, SIM_NEVER);
	pair_end();
}

/* The receiver keeps each packet for 100 us. 1.25 MB would be in its buffer of 128 KiB. */
static void slow_receiver(uint64_t priorities, uint64_t quanta, bool loses)
{
	params.length = 100;
	params.pfc_priorities = priorities;
	params.pause_quanta = quanta;
	pair_begin(LINK_ETHERNET, 1);
	b.release_delay = 100 * US;
	pair_send(1000, 4096);
	sim_run(sim, SIM_NEVER);
	sim_run(sim, sim_now(sim) + MS); /* the last releases have no event */
	CU_ASSERT_EQUAL(b.received + port_counters(b.port)->overflow_drops, 1000);
	CU_ASSERT_EQUAL(port_counters(b.port)->overflow_drops != 0, loses);
	CU_ASSERT_EQUAL(port_counters(b.port)->pause_sent != 0, !loses);
	CU_ASSERT_EQUAL(port_input_used(b.port, 0), 0);
	pair_end();
}

static void test_lossless(void)
{
	slow_receiver(0xff, 65535, false);
	slow_receiver(0x01, 400, false); /* 2 us each, repeated while the congestion lasts */
	slow_receiver(0x00, 65535, true);
	slow_receiver(0xfe, 65535, true); /* priority 0 is not among them */
}

/* The receiver removes no packets from now on. Packets in flight when the receiver sends a pause
 * must fit above xoff. */
static uint64_t lost_with_headroom(uint64_t headroom_bytes, uint64_t expected)
{
	uint64_t lost;

	params.length = 100;
	params.input_buffer = 256 * 1024;
	params.xoff = params.input_buffer - headroom_bytes;
	pair_begin(LINK_ETHERNET, 1);
	b.holds = true;
	pair_send(200, 4096);
	sim_run(sim, 300 * US);
	CU_ASSERT_EQUAL(port_counters(a.port)->pause_received,
			2); /* again after half of the quanta */
	/* as many as pass until the pause has its effect */
	CU_ASSERT_EQUAL(port_input_used(b.port, 0) / 4158, expected);
	lost = port_counters(b.port)->overflow_drops;
	b.holds = false;
	for (uint64_t i = b.received; i > 0; i--)
		port_release(b.port, 0, 4096 + 62);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received + lost, 200);
	pair_end();
	return lost;
}

/* At 100 m and 100 Gb/s, 16,250 bytes pass in twice the cable and the reaction time. */
static void test_headroom_suffices(void)
{
	CU_ASSERT_EQUAL(lost_with_headroom(62841, 51), 0); /* row C-14 */
	CU_ASSERT_EQUAL(lost_with_headroom(16250 + 2 * 4178, 61), 0);
	CU_ASSERT_EQUAL(lost_with_headroom(16250 - 4178, 63), 1);
}

static void test_headroom(void)
{
	params.length = 100;
	pair_begin(LINK_ETHERNET, 1);
	CU_ASSERT_EQUAL(128 * 1024 - a.port->xoff, 62841);
	CU_ASSERT_EQUAL(a.port->xoff - a.port->xon, 9216);
	pair_end();
	params.length = 100;
	params.rate = UINT64_C(400000000000);
	params.input_buffer = 1024 * 1024;
	pair_begin(LINK_ETHERNET, 1);
	CU_ASSERT_EQUAL(1024 * 1024 - a.port->xoff, 217941);
	pair_end();
}
