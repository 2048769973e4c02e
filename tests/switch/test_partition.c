/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests partitions: matching of P_Keys, and the P_Key that a port selects for another port. A
 * switch's filters accept packets with a P_Key of the host behind the port, forward packets that
 * the host accepts, and drop others. Drops are counted by reason. All credits and packets are
 * accounted for, and each multicast copy is treated separately. VL15 has no P_Key.
 */
#include "tests/support/suite.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)     \
	TEST(match)     \
	TEST(tables)    \
	TEST(filters)   \
	TEST(one_side)  \
	TEST(multicast) \
	TEST(management)
SUITE(TESTS)

#define FULL(number) (uint16_t)((number) | PKEY_FULL)
#define MTU          1024

static struct star star;

static void test_match(void)
{
	static const struct {
		uint16_t one, other;
		bool match;
	} cases[] = {
		{0xffff, 0xffff, true},  {0xffff, 0x7fff, true},  {0x7fff, 0x7fff, false},
		{0x8001, 0x0001, true},  {0x0001, 0x0001, false}, {0x8001, 0x8002, false},
		{0x8000, 0x8000, false}, {0, 0x8000, false},      {0, 0, false},
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		CU_ASSERT_EQUAL(pkey_matches(cases[i].one, cases[i].other), cases[i].match);
		CU_ASSERT_EQUAL(pkey_matches(cases[i].other, cases[i].one), cases[i].match);
	}
}

static void test_tables(void)
{
	static const struct partitions server = {{0x7fff, FULL(1), FULL(2)}, 3},
				       client = {{0x7fff, 1, FULL(2)}, 3},
				       stranger = {{0x7fff, 1}, 2};

	CU_ASSERT_EQUAL(partitions_towards(&server, &client), FULL(1));
	CU_ASSERT_EQUAL(partitions_towards(&client, &server), 1);
	CU_ASSERT_EQUAL(partitions_towards(&client, &client), FULL(2));
	CU_ASSERT_EQUAL(partitions_towards(&client, &stranger), 0x7fff); /* which does not match */
	CU_ASSERT_FALSE(partitions_match(&stranger, 0x7fff));
	CU_ASSERT_TRUE(partitions_match(&stranger, FULL(1)));
	CU_ASSERT_TRUE(partitions_have(&stranger, 1));
	CU_ASSERT_FALSE(partitions_have(&stranger, 2));
	CU_ASSERT_TRUE(partitions_match(&partitions_default, 0x7fff));
}

/* Hosts 0 and 1: a full and a limited member of partition 1; 2: limited too; 3: full in partition
 * 2. */
static const struct partitions tables[] = {
	{{0x7fff, FULL(1)}, 2},
	{{0x7fff, 1}, 2},
	{{0x7fff, 1}, 2},
	{{0x7fff, FULL(2)}, 2},
};

static void begin(enum switch_filters filters)
{
	star_defaults(&star);
	CU_ASSERT_TRUE(star_begin(&star, LINK_INFINIBAND, 4));
	for (unsigned i = 0; i < 4; i++)
		switch_set_partitions(star.sw, i, &tables[i], filters);
}

static void send_packets(unsigned from, unsigned to, uint16_t pkey, uint64_t packets)
{
	star.hosts[from].pkey = pkey;
	star_send(&star, from, to, packets, MTU);
	sim_run(star.sim, SIM_NEVER);
}

static void check(uint64_t dropped_in, uint64_t dropped_out, uint64_t forwarded)
{
	const struct switch_counters *count = switch_counters(star.sw);

	CU_ASSERT_EQUAL(count->pkey_inbound_drops, dropped_in);
	CU_ASSERT_EQUAL(count->pkey_outbound_drops, dropped_out);
	CU_ASSERT_EQUAL(count->packets_forwarded, forwarded);
	CU_ASSERT_EQUAL(count->bytes_dropped, (dropped_in + dropped_out) * (MTU + 26));
}

static void end(void)
{
	sim_run(star.sim, sim_now(star.sim) + MS);
	for (unsigned i = 0; i < 4; i++) {
		const struct port *port = switch_port(star.sw, i);

		CU_ASSERT_EQUAL(port_input_used(port, 0), 0);
		CU_ASSERT_EQUAL(port_counters(port_peer(port))->credits_consumed,
				port_counters(port)->credits_received);
	}
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* 1000 packets need more than all credits, so dropped packets must return their credits. */
static void test_filters(void)
{
	begin(SWITCH_FILTER_BOTH);
	send_packets(0, 1, FULL(1), 1000);
	CU_ASSERT_EQUAL(star.hosts[1].received, 1000);
	send_packets(1, 0, 1, 1000);
	CU_ASSERT_EQUAL(star.hosts[0].received, 1000);
	check(0, 0, 2000);
	send_packets(1, 2, 1, 1000); /* both are limited */
	check(0, 1000, 2000);
	send_packets(0, 3, FULL(2), 1000); /* host 0 has no such P_Key */
	check(1000, 1000, 2000);
	send_packets(0, 3, FULL(1), 1000); /* host 3 has none */
	check(1000, 2000, 2000);
	send_packets(0, 1, 0x7fff,
		     1000); /* the default partition, of which all are limited members */
	check(1000, 3000, 2000);
	CU_ASSERT_EQUAL(star.hosts[2].received + star.hosts[3].received, 0);
	end();
}

static void test_one_side(void)
{
	begin(SWITCH_FILTER_IN);
	send_packets(1, 2, 1, 100);
	send_packets(0, 3, FULL(2), 100);
	check(100, 0, 100);
	CU_ASSERT_EQUAL(star.hosts[2].received, 100);
	end();
	begin(SWITCH_FILTER_OUT);
	send_packets(1, 2, 1, 100);
	send_packets(0, 3, FULL(2), 100);
	check(0, 100, 100);
	CU_ASSERT_EQUAL(star.hosts[3].received, 100);
	end();
}

static void test_multicast(void)
{
	static const uint32_t members[] = {1, 2, 3};
	const struct group group = {.gid = {0xff, 0x12}, .lid = GROUP_LID_FIRST};
	const struct topology_hosts to = {members, 3}, none = {NULL, 0};
	struct path path;

	begin(SWITCH_FILTER_BOTH);
	groups_add(endpoints_groups(star.endpoints), &group);
	CU_ASSERT_TRUE(
		topology_set_group(star.topology, 0, &to, &none, star.error, sizeof(star.error)));
	path = *station_path(star.endpoints, 0, 1);
	path.destination = GROUP_ADDRESS;
	path.dlid = group.lid;
	star.hosts[0].pkey = FULL(1);
	station_send(&star.hosts[0], path_intern(endpoints_paths(star.endpoints), &path), 1000,
		     MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[1].received, 1000);
	CU_ASSERT_EQUAL(star.hosts[2].received, 1000);
	CU_ASSERT_EQUAL(star.hosts[3].received, 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->copies, 2000);
	check(0, 1000, 2000);
	end();
}

static void test_management(void)
{
	begin(SWITCH_FILTER_BOTH);
	star.hosts[0].vl = 15;
	send_packets(0, 3, FULL(9), 3);
	CU_ASSERT_EQUAL(star.hosts[3].received, 3);
	check(0, 0, 3);
	end();
}
