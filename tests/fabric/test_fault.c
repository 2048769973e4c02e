/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that faults hit exactly the packets of their rules, and with the same seed the same
 * packets. Each side of a port accounts for losses: packets in = packets out + dropped, and all
 * input space is free at the end.
 */
#include "tests/fabric/support/pair.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                    \
	TEST(nth)                      \
	TEST(chance)                   \
	TEST(damage)                   \
	TEST(delay)                    \
	TEST(window)                   \
	TEST(bit_errors)               \
	TEST(bursts)                   \
	TEST(bytes_out)                \
	TEST(bytes_out_of_a_lost_link) \
	TEST(reorder)
SUITE(TESTS)

#define DROPPED_WITH_SEED_1 97

static void begin(uint64_t seed)
{
	params_default(port_param_list, &params);
	pair_begin(LINK_INFINIBAND, seed);
	fault = fault_create(sim, "a.port.fault");
}

static void add(enum fault_action action, uint16_t opcode, uint64_t nth, double probability)
{
	const struct fault_rule rule = {
		.action = action,
		.kind = PACKET_DATA,
		.opcode = opcode,
		.nth = nth,
		.probability = probability,
		.delay = US,
	};

	fault_add(fault, &rule);
}

static void run(uint64_t packets)
{
	pair_send(packets, 1024);
	sim_run(sim, SIM_NEVER);
	sim_run(sim, sim_now(sim) + MS); /* the last releases have no event */
	CU_ASSERT_EQUAL(port_input_used(b.port, 0), 0);
	CU_ASSERT_EQUAL(port_counters(a.port)->credits_consumed,
			port_counters(b.port)->credits_received);
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
}

static void test_nth(void)
{
	begin(1);
	add(FAULT_drop, RC_WRITE_MIDDLE, 5, 0);
	add(FAULT_drop, RC_WRITE_LAST, 1, 0); /* none goes by */
	port_set_receive_fault(b.port, fault);
	run(100);
	CU_ASSERT_EQUAL(b.received, 99);
	CU_ASSERT_EQUAL(b.out_of_order, 1);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_dropped, 1);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_seen, 100);
	CU_ASSERT_EQUAL(port_counters(b.port)->fault_drops, 1);
	pair_end();
}

static uint64_t dropped_with(uint64_t seed, uint64_t *digest)
{
	begin(seed);
	add(FAULT_drop, FAULT_ANY_OPCODE, 0, 0.01);
	port_set_receive_fault(b.port, fault);
	run(10000);
	uint64_t dropped = fault_counters(fault)->packets_dropped;

	CU_ASSERT_EQUAL(b.received + dropped, 10000);
	*digest = b.digest;
	pair_end();
	return dropped;
}

static void test_chance(void)
{
	uint64_t one, again, other;
	uint64_t dropped = dropped_with(1, &one);

	CU_ASSERT_EQUAL(dropped, DROPPED_WITH_SEED_1);
	CU_ASSERT_EQUAL(dropped_with(1, &again), dropped);
	CU_ASSERT_EQUAL(again, one);
	dropped_with(2, &other);
	CU_ASSERT_NOT_EQUAL(other, one);
}

static void test_damage(void)
{
	begin(1);
	add(FAULT_corrupt_icrc, FAULT_ANY_OPCODE, 3, 0);
	add(FAULT_corrupt_vcrc, FAULT_ANY_OPCODE, 4, 0);
	port_set_transmit_fault(a.port, fault);
	run(10);
	CU_ASSERT_EQUAL(b.received, 9);
	CU_ASSERT_EQUAL(b.damaged, 1); /* the HCA must detect it */
	CU_ASSERT_EQUAL(port_counters(b.port)->damage_drops, 1);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_icrc_damaged, 1);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_vcrc_damaged, 1);
	pair_end();
}

/* Packets are 1 us late, and in order. */
static void test_delay(void)
{
	begin(1);
	add(FAULT_delay, FAULT_ANY_OPCODE, 2, 0);
	port_set_transmit_fault(a.port, fault);
	run(2);
	CU_ASSERT_EQUAL(b.last_head, 2500 + 1050 * 80 + US);
	CU_ASSERT_EQUAL(b.last_tail, 2500 + 2 * 1050 * 80 + US);
	pair_end();
	begin(1);
	add(FAULT_delay, FAULT_ANY_OPCODE, 1, 0);
	port_set_transmit_fault(a.port, fault);
	run(3);
	CU_ASSERT_EQUAL(b.first_head, 2500 + US);
	CU_ASSERT_EQUAL(b.last_tail, 2500 + 3 * 1050 * 80 + US);
	CU_ASSERT_EQUAL(b.out_of_order, 0);
	pair_end();
}

/* A fault acts only in its window. It affects packets of 84 ns that start to leave in the
 * window. */
static void test_window(void)
{
	begin(1);
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop,
					      .kind = PACKET_DATA,
					      .opcode = FAULT_ANY_OPCODE,
					      .probability = 1,
					      .from = 10 * 84 * NS,
					      .until = 14 * 84 * NS});
	port_set_transmit_fault(a.port, fault);
	run(100);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_dropped, 4);
	CU_ASSERT_EQUAL(b.received, 96);
	pair_end();
}

/* Packets of 1050 bytes at a bit error rate of 1e-5 are lost with 1 - (1 - 1e-5)^8400 = 8.06 %,
 * within four sigma. */
static void test_bit_errors(void)
{
	begin(1);
	fault_add(fault, &(struct fault_rule){.action = FAULT_corrupt_vcrc,
					      .kind = PACKET_DATA,
					      .opcode = FAULT_ANY_OPCODE,
					      .bit_error_rate = 1e-5});
	port_set_transmit_fault(a.port, fault);
	run(10000);
	CU_ASSERT_DOUBLE_EQUAL((double)port_counters(b.port)->damage_drops, 805.7, 4 * 27.2);
	pair_end();
}

static uint64_t bursts;
static uint32_t expected_psn;

static void count_bursts(struct port_user *user, struct port *port, struct packet *packet)
{
	bursts += packet->psn != expected_psn;
	expected_psn = packet->psn + 1;
	station_receive(user, port, packet);
}

/* One packet in 1000 opens a burst of 10 on average, all lost: 1 % in 1/10 as many holes. */
static void test_bursts(void)
{
	begin(1);
	bursts = expected_psn = 0;
	b.user.receive = count_bursts;
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop,
					      .kind = PACKET_DATA,
					      .opcode = FAULT_ANY_OPCODE,
					      .burst = {0.001, 0.1, 0, 1}});
	port_set_receive_fault(b.port, fault);
	run(100000);
	CU_ASSERT_DOUBLE_EQUAL((double)bursts, 99, 40);
	CU_ASSERT_DOUBLE_EQUAL((double)fault_counters(fault)->packets_dropped / (double)bursts, 10,
			       4);
	pair_end();
}

/* The number of bytes that left grows at the rate of the link, for any fault of the packets. */
static void expect_bytes_out(sim_time from)
{
	uint64_t before = port_bytes_out(a.port), after, whole = 0;
	sim_time step = 10 * NS;

	for (sim_time at = from + step; at <= from + 3 * US; at += step) {
		sim_run(sim, at);
		after = port_bytes_out(a.port);
		CU_ASSERT(after >= before);
		CU_ASSERT((double)(after - before) <=
			  (double)step * (double)port_rate_bps(a.port) / 8e12 + 1);
		whole += after - before;
		before = after;
	}
	CU_ASSERT((double)whole >= 0.9 * (double)(3 * US) * (double)port_rate_bps(a.port) / 8e12);
}

static void test_bytes_out(void)
{
	static const enum fault_action actions[] = {FAULT_drop, FAULT_delay, FAULT_reorder};

	for (unsigned i = 0; i < ARRAY_SIZE(actions); i++) {
		params_default(port_param_list, &params);
		pair_begin(LINK_ETHERNET, 1);
		fault = fault_create(sim, "a.port.fault");
		add(actions[i], FAULT_ANY_OPCODE, 0, 0.3);
		port_set_transmit_fault(a.port, fault);
		pair_send(100, 4096);
		expect_bytes_out(0);
		sim_run(sim, MS);
		CU_ASSERT_EQUAL(port_bytes_out(a.port), port_counters(a.port)->bytes_sent);
		pair_end();
	}
}

/* Packets that are lost because the link goes down have left at the same times as without the
 * loss. */
static void test_bytes_out_of_a_lost_link(void)
{
	params_default(port_param_list, &params);
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(100, 4096);
	sim_run(sim, 50 * NS);
	uint64_t before = port_bytes_out(a.port);

	port_set_link(a.port, false);
	CU_ASSERT(port_counters(a.port)->bytes_sent > before);
	CU_ASSERT_EQUAL(port_bytes_out(a.port), before);
	sim_run(sim, MS);
	CU_ASSERT_EQUAL(port_bytes_out(a.port), port_counters(a.port)->bytes_sent);
	port_set_link(a.port, true);
	sim_run(sim, 2 * MS);
	pair_end();
}

/* The second of five packets falls behind by 2.5 packet times: it comes between the fourth and the
 * fifth. */
static void test_reorder(void)
{
	const uint8_t ip[4] = {10, 0, 0, 1};
	const sim_time slot = (1024 + 82) * 80;

	begin(1);
	port_destroy(a.port);
	port_destroy(b.port);
	endpoints_add(endpoints, "c", LINK_ETHERNET, ip);
	endpoints_add(endpoints, "d", LINK_ETHERNET, ip);
	station_init(&a, sim, "a.ethernet", &params, LINK_ETHERNET, pool);
	station_init(&b, sim, "b.ethernet", &params, LINK_ETHERNET, pool);
	port_connect(a.port, b.port);
	fault_add(fault, &(struct fault_rule){.action = FAULT_reorder,
					      .kind = PACKET_DATA,
					      .opcode = FAULT_ANY_OPCODE,
					      .nth = 2,
					      .delay = 5 * slot / 2});
	port_set_transmit_fault(a.port, fault);
	b.user.receive = count_bursts;
	bursts = expected_psn = 0;
	station_send(&a, station_path(endpoints, 2, 3), 5, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 5);
	CU_ASSERT_EQUAL(bursts, 3); /* 0 | 2 3 | 1 | 4 */
	CU_ASSERT_EQUAL(b.last_head - b.first_head, 4 * slot);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_reordered, 1);
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
	pair_end();
}
