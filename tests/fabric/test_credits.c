/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests InfiniBand's flow control. Throughput is min(C, buffer / round trip) to the picosecond (row
 * F-01). The 12-bit counters wrap. No credit is created or lost, also when packets or credit
 * messages are lost.
 */
#include "fabric/port_state.h"
#include "tests/fabric/support/pair.h"
#include "tests/support/suite.h"

#define TESTS(TEST)                      \
	TEST(starvation)                 \
	TEST(just_enough)                \
	TEST(wrap)                       \
	TEST(told_at_the_batch)          \
	TEST(told_when_low)              \
	TEST(told_when_the_flight_needs) \
	TEST(told_in_time)               \
	TEST(credits_occupy_the_link)    \
	TEST(lost_packets)               \
	TEST(lost_credits)               \
	TEST(management_vl)
SUITE_AFTER(set_up, TESTS)

#define BYTE_PS     80
#define PACKET_PS   ((1024 + 26) * BYTE_PS)
#define CREDIT_PS   (6 * BYTE_PS)
#define BLOCK       64
#define BLOCKS_1024 17 /* of a packet with 1024 bytes of payload */
#define BLOCKS_4096 65

static void check_conservation(void)
{
	const struct port_counters *out = port_counters(a.port), *in = port_counters(b.port);

	CU_ASSERT_EQUAL(out->credits_consumed, in->credits_received);
	CU_ASSERT_EQUAL(out->bytes_sent, in->bytes_received + out->fault_bytes);
	CU_ASSERT_EQUAL(port_input_used(b.port, 0), 0);
	CU_ASSERT_EQUAL(in->overflow_drops, 0);
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
}

static void end(void)
{
	check_conservation();
	pair_end();
}

static void set_up(void)
{
	params_default(port_param_list, &params);
}

/* Seven packets fit; the eighth starts when the first one's credit is back, and so on for ever. */
static void test_starvation(void)
{
	const sim_time round_trip = PACKET_PS + US + CREDIT_PS + US;

	params.length = 200; /* 1 us */
	params.input_buffer = 7 * BLOCKS_1024 * BLOCK;
	params.credit_batch = BLOCK;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(7 * 100 + 1, 1024);
	for (unsigned i = 1; i < 100; i++) { /* at any time: sent = received + in flight */
		sim_run(sim, i * 777 * NS);
		CU_ASSERT_EQUAL(port_counters(a.port)->bytes_sent,
				port_counters(b.port)->bytes_received + port_flying_bytes(b.port));
	}
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 701);
	CU_ASSERT_EQUAL(b.last_head - b.first_head, 100 * round_trip);
	CU_ASSERT_EQUAL(port_counters(a.port)->credit_stalls,
			701 - 7); /* the first seven find some */
	end();
}

/* A buffer as large as the data in flight, and not a block larger, gives the full rate. A packet
 * less: not. */
static void test_just_enough(void)
{
	const sim_time round_trip = PACKET_PS + US + CREDIT_PS + US;
	const uint64_t enough = (round_trip + PACKET_PS - 1) / PACKET_PS;

	for (uint64_t packets = enough - 1; packets <= enough; packets++) {
		params.length = 200;
		params.input_buffer = packets * BLOCKS_1024 * BLOCK;
		params.credit_batch = BLOCK;
		pair_begin(LINK_INFINIBAND, 1);
		pair_send(packets * 10 + 1, 1024);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(b.last_head - b.first_head,
				packets < enough ? 10 * round_trip : packets * 10 * PACKET_PS);
		end();
	}
}

/* 65,000 blocks through counters of 4096, in a buffer of 2048: no stall, and few credit packets. */
static void test_wrap(void)
{
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(1000, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 1000);
	CU_ASSERT_EQUAL(port_counters(a.port)->credits_consumed, 1000 * BLOCKS_4096);
	CU_ASSERT_EQUAL(port_counters(a.port)->credit_stalls, 0);
	CU_ASSERT_EQUAL(b.last_head - b.first_head, 999 * (4096 + 26) * BYTE_PS);
	CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent,
			port_counters(a.port)->credit_packets_received);
	CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent, 1000 / 8);
	end();
}

/* Credits are sent as soon as a batch is free, neither a block earlier nor a block later. A batch
 * is two packets. */
static void test_told_at_the_batch(void)
{
	params.credit_batch = 2 * BLOCKS_1024 * BLOCK;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(8, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent, 4);
	end();
}

/* Credits are also sent if less space is left than a batch and the largest packet. This is not yet
 * so after ten packets, but after the eleventh. */
static void test_told_when_low(void)
{
	const uint64_t batch = UINT64_C(100) * BLOCKS_1024;
	const uint64_t low = batch + credit_blocks((uint32_t)params.mtu + HEADERS_MAX);

	params.credit_batch = batch * BLOCK;
	params.input_buffer = (low + UINT64_C(10) * BLOCKS_1024) * BLOCK;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(10, 1024);
	sim_run(sim, 2 * US);
	CU_ASSERT_EQUAL(b.received, 10);
	CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent, 0);
	pair_send(1, 1024);
	sim_run(sim, 4 * US);
	CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent, 1);
	end();
}

/* Without gathering, credits are sent when the remaining space is used up before a credit packet
 * and the packets that it permits can arrive. */
static void test_told_when_the_flight_needs(void)
{
	const uint64_t flight = 1500 * NS / BYTE_PS; /* of 300 m, in bytes */
	const uint64_t used = 2 * flight + 4 * (params.mtu + HEADERS_MAX);

	for (uint64_t more = 0; more <= 1; more++) {
		params.length = 300;
		params.input_buffer = (used / BLOCK + more + UINT64_C(10) * BLOCKS_1024) * BLOCK;
		pair_begin(LINK_INFINIBAND, 1);
		pair_send(10, 1024);
		sim_run(sim, 5 * US);
		CU_ASSERT_EQUAL(b.received, 10);
		CU_ASSERT_EQUAL(port_counters(b.port)->credit_packets_sent, 1 - more);
		end();
	}
}

/* Returns the time at which the last of 400 packets arrives. *credit_packets is the number of
 * credit packets of the receiver. */
static sim_time last_arrival(double metres, uint64_t batch, uint32_t payload_bytes,
			     uint64_t *credit_packets)
{
	sim_time last;

	params.length = metres;
	params.credit_batch = batch;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(400, payload_bytes);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 400);
	last = b.last_head;
	*credit_packets = port_counters(b.port)->credit_packets_sent;
	sim_run(sim, sim_now(sim) + US); /* its space is free when all of it has arrived */
	end();
	return last;
}

/* Without gathering, a receiver sends credits so that no packet waits for them, to the picosecond.
 * Over a short cable that takes a credit packet for each quarter of the buffer. A receiver that
 * gathers a quarter of the buffer makes senders wait. */
static void test_told_in_time(void)
{
	static const double metres[] = {0.5, 100, 1000, 2000, 4000};
	static const uint32_t payload_bytes[] = {256, 1024, 4096};

	for (unsigned i = 0; i < ARRAY_SIZE(metres); i++) {
		for (unsigned j = 0; j < ARRAY_SIZE(payload_bytes); j++) {
			uint64_t few, all;

			CU_ASSERT_EQUAL(last_arrival(metres[i], 0, payload_bytes[j], &few),
					last_arrival(metres[i], BLOCK, payload_bytes[j], &all));
			CU_ASSERT_EQUAL(all, 400);
			CU_ASSERT_TRUE(metres[i] > 100 || few <= all / 7);
		}
	}
	CU_ASSERT_TRUE(last_arrival(2000, 32768, 4096, &(uint64_t){0}) >
		       last_arrival(2000, 0, 4096, &(uint64_t){0}) * 5 / 4);
}

/* Credit packets take the reverse link's time. */
static void test_credits_occupy_the_link(void)
{
	params.credit_batch = BLOCK;
	params.length = 0;
	pair_begin(LINK_INFINIBAND, 1);
	pair_send(1000, 1024);
	station_send(&b, station_path(endpoints, 1, 0), 1000, 1024);
	sim_run(sim, SIM_NEVER);
	/* while one packet leaves two tails arrive: its credits go for both, and the last has left
	 * after all packets */
	CU_ASSERT_EQUAL(port_counters(a.port)->credit_packets_sent, 500);
	CU_ASSERT_EQUAL(b.last_head - b.first_head, 999 * PACKET_PS + 499 * CREDIT_PS);
	end();
}

/* FCTBS reports lost packets at the latest 65,536 symbol times after the last credits. */
static void test_lost_packets(void)
{
	pair_begin(LINK_INFINIBAND, 1);
	fault = fault_create(sim, "a.port.fault");
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop,
					      .kind = PACKET_DATA,
					      .opcode = FAULT_ANY_OPCODE,
					      .probability = 0.2});
	port_set_transmit_fault(a.port, fault);
	pair_send(5000, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received + fault_counters(fault)->packets_dropped, 5000);
	CU_ASSERT_EQUAL(fault_counters(fault)->packets_seen,
			5000 + port_counters(a.port)->credit_packets_sent);
	CU_ASSERT_EQUAL(port_counters(a.port)->fault_drops, fault_counters(fault)->packets_dropped);
	CU_ASSERT_EQUAL(port_counters(a.port)->credit_packets_sent,
			79); /* 5000 * 4122 B are 78.6 times 65,536 symbols of 4 B */
	end();
}

/* 65,536 symbols of 4 bytes after the credits that got lost, they are sent again. */
static void lost_credits(bool at_receiver)
{
	const sim_time again = PACKET_PS + UINT64_C(65536) * 4 * BYTE_PS + CREDIT_PS;
	params.length = 0;
	params.input_buffer = BLOCKS_1024 * BLOCK;
	params.credit_batch = BLOCK;
	pair_begin(LINK_INFINIBAND, 1);
	fault = fault_create(sim, "fault");
	fault_add(fault, &(struct fault_rule){.action = FAULT_drop,
					      .kind = PACKET_FLOW_CONTROL,
					      .opcode = FAULT_ANY_OPCODE,
					      .nth = 1});
	if (at_receiver)
		port_set_receive_fault(a.port, fault);
	else
		port_set_transmit_fault(b.port, fault);
	pair_send(2, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 2);
	CU_ASSERT_EQUAL(b.last_head, again);
	end();
}

static void test_lost_credits(void)
{
	lost_credits(false);
	lost_credits(true);
}

/* VL15 passes without credits. Packets without space are dropped. */
static void test_management_vl(void)
{
	params.input_buffer = 2 * 5 * BLOCK; /* two packets of 256 + 26 bytes */
	pair_begin(LINK_INFINIBAND, 1);
	a.vl = 15;
	b.holds = true;
	pair_send(4, 256);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(b.received, 2);
	CU_ASSERT_EQUAL(port_counters(b.port)->overflow_drops, 2);
	CU_ASSERT_EQUAL(port_counters(a.port)->credits_consumed, 0);
	CU_ASSERT_EQUAL(port_counters(a.port)->credit_stalls, 0);
	pair_end();
}
