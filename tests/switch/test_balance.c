/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the choice among equal paths. ECMP keeps a flow on one path and spreads flows evenly, with
 * a different default seed in each switch. Flowlets change their path after a gap and never within
 * it. Spraying is even within a few sigma. Adaptive balancing keeps queues within a packet of each
 * other, and DRILL loses at most a twentieth. All of them avoid a link that is down.
 */
#include <math.h>

#include "fabric/port_fault.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST)            \
	TEST(ecmp)             \
	TEST(tcp_ports)        \
	TEST(destination_port) \
	TEST(seeds)            \
	TEST(flowlets)         \
	TEST(spray)            \
	TEST(adaptive)         \
	TEST(link_down)
SUITE_AFTER(set_up, TESTS)

#define SPINES 4
#define HOSTS  8 /* a leaf */

static struct mesh mesh;

static void begin(enum balance balance, enum link_layer link_layer)
{
	const struct leaf_spine_shape shape = {.leaves = 2, .spines = SPINES, .hosts = HOSTS};

	mesh.params.balance = balance;
	CU_ASSERT_TRUE_FATAL(
		topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, link_layer));
}

static void end(void)
{
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	mesh_defaults(&mesh);
}

/* Returns the packets that spine i has received so far. */
static uint64_t through(unsigned spine)
{
	return switch_counters(mesh.switches[2 + spine])->packets_forwarded;
}

static unsigned spines_used(void)
{
	unsigned used = 0;

	for (unsigned i = 0; i < SPINES; i++)
		used += through(i) > 0;
	return used;
}

static const struct path *flow(uint32_t from, uint32_t to, uint16_t udp_source_port)
{
	struct path path = *station_path(mesh.endpoints, from, to);

	path.udp_source_port = udp_source_port;
	return path_intern(endpoints_paths(mesh.endpoints), &path);
}

static void set_up(void)
{
	mesh_defaults(&mesh);
}

/* One flow uses one path. Of 4000 flows that differ only in the UDP source port, each path gets a
 * quarter, within five sigma. */
static void test_ecmp(void)
{
	begin(BALANCE_ECMP, LINK_ETHERNET);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), 100, 1024);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(spines_used(), 1);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].out_of_order, 0);
	for (uint16_t i = 0; i < 4000; i++) {
		station_send(&mesh.hosts[1], flow(1, HOSTS + 1, (uint16_t)(0xc000 + i)), 1, 256);
		sim_run(mesh.sim, SIM_NEVER);
	}
	for (unsigned i = 0; i < SPINES; i++)
		CU_ASSERT_TRUE(through(i) > 1000 - 5 * 28 &&
			       through(i) < 1100 + 5 * 28); /* 100: the first */
	end();
}

/* Of 2000 connections that differ only in one TCP port, each path gets 500, within five sigma. */
static void connections(bool source)
{
	struct path path;

	begin(BALANCE_ECMP, LINK_ETHERNET);
	path = *station_path(mesh.endpoints, 0, HOSTS);
	path.tcp_source_port = path.tcp_destination_port = 5001;
	for (uint16_t i = 0; i < 2000; i++) {
		*(source ? &path.tcp_source_port : &path.tcp_destination_port) = 10000 + i;
		station_send(&mesh.hosts[0], path_intern(endpoints_paths(mesh.endpoints), &path), 1,
			     256);
		sim_run(mesh.sim, SIM_NEVER);
	}
	for (unsigned i = 0; i < SPINES; i++)
		CU_ASSERT_DOUBLE_EQUAL((double)through(i), 500, 5 * 19.4);
	end();
}

static void test_tcp_ports(void)
{
	connections(true);
	connections(false);
}

/* With a hash of the destination port alone, connections that differ only in it are spread, and
 * connections that differ in the source port or in addresses share a path. RoCEv2 has one path. */
static void test_destination_port(void)
{
	struct path path;

	mesh.params.hash_fields = HASH_DESTINATION_PORT;
	connections(false);
	mesh.params.hash_fields = HASH_DESTINATION_PORT;
	begin(BALANCE_ECMP, LINK_ETHERNET);
	path = *station_path(mesh.endpoints, 0, HOSTS);
	path.tcp_destination_port = 5001;
	for (uint16_t i = 0; i < 100; i++) {
		path.tcp_source_port = 10000 + i;
		station_send(&mesh.hosts[0], path_intern(endpoints_paths(mesh.endpoints), &path), 1,
			     256);
		sim_run(mesh.sim, SIM_NEVER);
	}
	CU_ASSERT_EQUAL(spines_used(), 1);
	end();
	mesh.params.hash_fields = HASH_DESTINATION_PORT;
	begin(BALANCE_ECMP, LINK_ETHERNET);
	for (uint16_t i = 0; i < 100; i++) {
		station_send(&mesh.hosts[0], flow(0, HOSTS, (uint16_t)(0xc000 + i)), 1, 256);
		sim_run(mesh.sim, SIM_NEVER);
	}
	CU_ASSERT_EQUAL(spines_used(), 1);
	end();
}

/* Returns the leaf uplinks of 64 flows, two bits per flow. */
static void next_hops(uint64_t seed, unsigned leaf, uint8_t taken[64])
{
	uint64_t before[SPINES];

	mesh.params.hash_seed = seed;
	begin(BALANCE_ECMP, LINK_ETHERNET);
	for (uint16_t i = 0; i < 64; i++) {
		uint32_t from = leaf * HOSTS, to = (1 - leaf) * HOSTS;
		/* the same five-tuple at both leaves: only the switch differs */
		struct path path = *flow(0, HOSTS, (uint16_t)(0xc000 + i));

		path.source = from;
		path.destination = to;
		for (unsigned j = 0; j < SPINES; j++)
			before[j] = through(j);
		station_send(&mesh.hosts[from], path_intern(endpoints_paths(mesh.endpoints), &path),
			     1, 256);
		sim_run(mesh.sim, SIM_NEVER);
		for (unsigned j = 0; j < SPINES; j++)
			if (through(j) > before[j])
				taken[i] = (uint8_t)j;
	}
	end();
}

static void test_seeds(void)
{
	uint8_t one[64], again[64], other[64];

	next_hops(0, 0, one);
	next_hops(0, 0, again);
	CU_ASSERT_EQUAL(memcmp(one, again, 64), 0); /* the run's seed */
	next_hops(0, 1, other);
	CU_ASSERT_NOT_EQUAL(memcmp(one, other, 64), 0);
	next_hops(77, 0, one);
	next_hops(77, 1, other);
	CU_ASSERT_EQUAL(memcmp(one, other, 64), 0); /* polarised */
	next_hops(78, 0, other);
	CU_ASSERT_NOT_EQUAL(memcmp(one, other, 64), 0);
}

/* Bursts of ten packets with 10 us between them. With a gap of 5 us each burst chooses again. With
 * 20 us none does. */
static void flowlets(sim_time gap, uint64_t expected)
{
	mesh.params.flowlet_gap = gap;
	begin(BALANCE_LETFLOW, LINK_ETHERNET);
	for (unsigned i = 0; i < 100; i++) {
		station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), 10, 1024);
		sim_run(mesh.sim, (i + 1) * 10 * US);
	}
	CU_ASSERT_EQUAL(switch_counters(mesh.switches[0])->flowlets, expected);
	CU_ASSERT_EQUAL(spines_used(), expected > 1 ? SPINES : 1);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].out_of_order, 0); /* the gap is longer than any queue */
	for (unsigned i = 0; i < SPINES; i++)
		CU_ASSERT_EQUAL(through(i) % 10, 0); /* whole bursts */
	end();
}

static void test_flowlets(void)
{
	const sim_time pause = 10 * US - 9 * (1024 + 82) * 80; /* from a burst's last packet on */

	flowlets(5 * US, 100);
	flowlets(pause - 1, 100);
	flowlets(pause, 1);
	flowlets(20 * US, 1);
}

static void test_spray(void)
{
	const double packets = 8000;

	begin(BALANCE_SPRAY, LINK_ETHERNET);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), (uint64_t)packets, 1024);
	sim_run(mesh.sim, SIM_NEVER);
	for (unsigned i = 0; i < SPINES; i++)
		CU_ASSERT_DOUBLE_EQUAL((double)through(i), packets / SPINES,
				       5 * sqrt(packets * 3 / 16));
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 8000);
	end();
}

/* Four hosts at full rate over four uplinks: adaptive carries all of it, on either link layer. */
static void adaptive(enum balance balance, enum link_layer link_layer)
{
	const uint32_t wire = 4096 + (link_layer == LINK_ETHERNET ? 82 : 26);
	sim_time least = 1000 * (sim_time)wire * 80;

	begin(balance, link_layer);
	for (uint32_t i = 0; i < SPINES; i++)
		mesh_send(&mesh, i, HOSTS + i, 1000, 4096);
	sim_run(mesh.sim, SIM_NEVER);
	for (unsigned i = 0; i < SPINES; i++) {
		CU_ASSERT_DOUBLE_EQUAL((double)through(i), 1000, 20);
		CU_ASSERT_EQUAL(mesh.hosts[HOSTS + i].received, 1000);
		CU_ASSERT_TRUE(mesh.hosts[HOSTS + i].last_head < least + least / 20);
	}
	end();
}

static void test_adaptive(void)
{
	adaptive(BALANCE_ADAPTIVE, LINK_INFINIBAND);
	adaptive(BALANCE_ADAPTIVE, LINK_ETHERNET);
	adaptive(BALANCE_DRILL, LINK_INFINIBAND);
	adaptive(BALANCE_DRILL, LINK_ETHERNET);
}

/* The first uplink is down from the start. Nothing is lost, with any load balancing. */
static void test_link_down(void)
{
	for (enum balance balance = BALANCE_ECMP; balance <= BALANCE_DRILL; balance++) {
		begin(balance, LINK_ETHERNET);
		port_set_link(switch_port(mesh.switches[0], HOSTS), false);
		for (uint32_t i = 0; i < HOSTS; i++)
			mesh_send(&mesh, i, HOSTS + i, 100, 1024);
		sim_run(mesh.sim, SIM_NEVER);
		CU_ASSERT_EQUAL(through(0), 0);
		for (uint32_t i = 0; i < HOSTS; i++)
			CU_ASSERT_EQUAL(mesh.hosts[HOSTS + i].received, 100);
		end();
	}
}
