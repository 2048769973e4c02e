/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the arbitration of VLs: strict VLs first, shares of bytes by weight for any sizes
 * (802.1Qaz). InfiniBand's VL arbitration has both tables and the limit (row C-08: weights 1:3 give
 * goodput 1:3 within 2 %). A single active VL gets the whole link in each case.
 */
#include "tests/fabric/support/pair.h"
#include "tests/support/suite.h"

#define TESTS(TEST)            \
	TEST(weights)          \
	TEST(weight_zero)      \
	TEST(strict)           \
	TEST(emptied_vl)       \
	TEST(management_first) \
	TEST(low_table)        \
	TEST(weight_rounds_up) \
	TEST(high_limit)       \
	TEST(alone)
SUITE_AFTER(set_up, TESTS)

#define BYTE_PS 80

static uint64_t bytes[PORT_VLS], packets[PORT_VLS];
static uint8_t order[4096];
static unsigned received;

static void count_vls(struct port_user *user, struct port *port, struct packet *packet)
{
	bytes[packet->vl] += packet->wire_bytes;
	packets[packet->vl]++;
	if (received < sizeof(order))
		order[received++] = packet->vl;
	station_receive(user, port, packet);
}

static void begin(enum link_layer link_layer)
{
	memset(bytes, 0, sizeof(bytes));
	memset(packets, 0, sizeof(packets));
	received = 0;
	params.transmit_depth = 100000;
	pair_begin(link_layer, 1);
	b.user.receive = count_vls;
}

static void queue(uint8_t vl, uint64_t count, uint32_t payload_bytes)
{
	a.vl = vl;
	pair_send(count, payload_bytes);
}

static void end(void)
{
	sim_run(sim, SIM_NEVER);
	pair_end();
}

static double share(unsigned one, unsigned other)
{
	return (double)bytes[one] / (double)bytes[other];
}

/* While both have packets, bytes go 1:3, also when one's packets are a sixteenth of the other's. */
static void weighted(enum link_layer link_layer, uint32_t size0, uint32_t size1)
{
	params.schedule = SCHEDULE_WEIGHTED;
	params.weight1 = 3;
	begin(link_layer);
	queue(0, 3000, size0);
	queue(1, 3000 * (size0 / size1), size1);
	sim_run(sim, 300 * US);
	CU_ASSERT_DOUBLE_EQUAL(share(1, 0), 3.0, 0.06);
	end();
}

static void set_up(void)
{
	params_default(port_param_list, &params);
}

static void test_weights(void)
{
	weighted(LINK_ETHERNET, 4096, 4096);
	weighted(LINK_ETHERNET, 4096, 256);
	weighted(LINK_INFINIBAND, 1024, 1024);
}

static void test_weight_zero(void)
{
	params.schedule = SCHEDULE_WEIGHTED;
	params.weight2 = 0;
	begin(LINK_ETHERNET);
	queue(2, 11, 1024); /* the first leaves before the others are there */
	queue(0, 50, 1024);
	queue(1, 50, 1024);
	sim_run(sim, 101 * 1106 * BYTE_PS + 8 * BYTE_PS + 2500);
	CU_ASSERT_EQUAL(packets[2], 1);
	CU_ASSERT_EQUAL(packets[0] + packets[1], 100);
	end();
}

/* 7 before 6 before the shares of 0 and 1, which are of 4096 bytes each: four packets, if there
 * were as many. */
static void test_strict(void)
{
	static const uint8_t expected[] = {0, 7, 7, 7, 6, 6, 1, 1, 1, 0, 0};

	params.schedule = SCHEDULE_WEIGHTED;
	params.strict = 0xc0;
	begin(LINK_ETHERNET);
	queue(0, 3, 1024);
	queue(1, 3, 1024);
	queue(6, 2, 1024);
	queue(7, 3, 1024);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(received, sizeof(expected));
	for (unsigned i = 0; i < sizeof(expected); i++)
		CU_ASSERT_EQUAL(order[i], expected[i]);
	end();
}

/* Returns the number of consecutive packets of VL 1, from the `from`-th packet on. */
static unsigned burst(unsigned from)
{
	unsigned count = 0;

	while (from < received && order[from] != 1)
		from++;
	while (from + count < received && order[from + count] == 1)
		count++;
	return count;
}

/* An empty VL keeps nothing of its share: its next burst is as long as the burst of a VL that
 * begins. */
static void test_emptied_vl(void)
{
	unsigned fresh, again, before;

	params.schedule = SCHEDULE_WEIGHTED;
	params.weight1 = 3;
	begin(LINK_ETHERNET);
	queue(0, 200, 1024);
	queue(1, 50, 1024);
	sim_run(sim, 40 * 1106 * BYTE_PS);
	fresh = burst(0);
	end();

	params.schedule = SCHEDULE_WEIGHTED;
	params.weight1 = 3;
	begin(LINK_ETHERNET);
	queue(0, 200, 1024);
	queue(1, 1, 1024);
	sim_run(sim, 20 * 1106 * BYTE_PS);
	CU_ASSERT_EQUAL(packets[1], 1);
	before = received;
	queue(1, 50, 1024);
	sim_run(sim, 60 * 1106 * BYTE_PS);
	again = burst(before);
	CU_ASSERT(fresh > 4);
	CU_ASSERT_EQUAL(again, fresh);
	end();
}

/* Tests any schedule, including tables and strict VLs. */
static void test_management_first(void)
{
	const struct vl_arbitration tables = {
		.high = {{1, 255}}, .high_count = 1, .high_limit = 255};

	for (unsigned with_tables = 0; with_tables < 2; with_tables++) {
		params.schedule = SCHEDULE_WEIGHTED;
		params.strict = 0x2;
		begin(LINK_INFINIBAND);
		if (with_tables)
			port_set_vl_arbitration(a.port, &tables);
		queue(1, 10, 256);
		queue(15, 3, 256);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(received, 13);
		for (unsigned i = 1; i <= 3; i++) /* behind the packet that was leaving */
			CU_ASSERT_EQUAL(order[i], 15);
		end();
	}
}

/* Row C-08: packets of 1050 B take 17 blocks. 17 packets go for one weight, and 51 for the
 * other. */
static void test_low_table(void)
{
	const struct vl_arbitration tables = {
		.low = {{0, 17}, {1, 51}}, .low_count = 2, .high_limit = 255};

	begin(LINK_INFINIBAND);
	port_set_vl_arbitration(a.port, &tables);
	queue(0, 2000, 1024);
	queue(1, 2000, 1024);
	sim_run(sim, 200 * US);
	CU_ASSERT_DOUBLE_EQUAL(share(1, 0), 3.0, 0.06);
	end();
}

/* A weight that is no whole number of packets is rounded up to one: 16 blocks send a packet of
 * 17. */
static void test_weight_rounds_up(void)
{
	const struct vl_arbitration tables = {
		.low = {{0, 16}, {1, 18}}, .low_count = 2, .high_limit = 255};

	begin(LINK_INFINIBAND);
	port_set_vl_arbitration(a.port, &tables);
	queue(0, 600, 1024);
	queue(1, 600, 1024);
	sim_run(sim, 90 * 1050 * BYTE_PS + 2500 - 1);
	CU_ASSERT_EQUAL(packets[0] + packets[1], 90);
	CU_ASSERT_EQUAL(packets[1], 60);
	end();
}

/* high_limit 0: a packet of the high table, then one of the low table. 1: 4096 B, four packets of
 * 1050 B. 15: exactly 2048 packets of 30 B. 255: all. */
static void high_limit(unsigned limit, uint32_t payload, uint64_t high, uint64_t low)
{
	const struct vl_arbitration tables = {.high = {{1, 255}},
					      .high_count = 1,
					      .low = {{0, 255}},
					      .low_count = 1,
					      .high_limit = limit};

	begin(LINK_INFINIBAND);
	port_set_vl_arbitration(a.port, &tables);
	queue(1, 4000, payload);
	queue(0, 4000, payload);
	sim_run(sim, (high + low) * (payload + 26) * BYTE_PS + 2500 - 1);
	CU_ASSERT_EQUAL(packets[1], high);
	CU_ASSERT_EQUAL(packets[0], low);
	end();
}

static void test_high_limit(void)
{
	high_limit(0, 1024, 51, 49); /* the first of all was not chosen */
	high_limit(1, 1024, 81, 19);
	high_limit(15, 4, 2049, 1);
	high_limit(255, 1024, 100, 0);
}

/* No VL waits for an empty VL. VLs in no table are served last. */
static void test_alone(void)
{
	const struct vl_arbitration tables = {.high = {{1, 1}},
					      .high_count = 1,
					      .low = {{0, 1}},
					      .low_count = 1,
					      .high_limit = 0};

	for (uint8_t vl = 0; vl < 3; vl++) {
		begin(LINK_INFINIBAND);
		port_set_vl_arbitration(a.port, &tables);
		queue(vl, 100, 1024);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(b.last_head - b.first_head, 99 * 1050 * BYTE_PS);
		end();
	}
}
