/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the topologies: the numbers of switches and links, and a route between each pair of hosts.
 * A packet takes a route of exactly the length of its geometry. Up/down routes turn down once and
 * never up again. Dimension order finishes one dimension before the next. Covers rails, and
 * parameters that are refused.
 */
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST)          \
	TEST(star)           \
	TEST(dumbbell)       \
	TEST(parking_lot)    \
	TEST(leaf_spine)     \
	TEST(rails)          \
	TEST(fat_tree)       \
	TEST(oversubscribed) \
	TEST(dragonfly)      \
	TEST(torus)          \
	TEST(up_down)        \
	TEST(refused)
SUITE(TESTS)

static struct mesh mesh;
static uint32_t route[64]; /* nodes that the packet on its way has left */
static unsigned route_length;
static uint32_t tap_nodes[4096];

static void note_hop(void *context, struct port *port, const struct packet *packet,
		     sim_time starts_at)
{
	(void)port, (void)starts_at;
	if (packet->kind == PACKET_DATA && route_length < ARRAY_SIZE(route))
		route[route_length++] = *(const uint32_t *)context;
}

static void begin(bool built)
{
	CU_ASSERT_TRUE_FATAL(built);
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, LINK_INFINIBAND));
	for (uint32_t i = 0; i < mesh.layout.node_count; i++) {
		tap_nodes[i] = i;
		for (unsigned j = 0; mesh.switches[i] && j < mesh.layout.nodes[i].ports; j++)
			port_tap(switch_port(mesh.switches[i], j), note_hop, &tap_nodes[i]);
	}
}

/* Sends a packet and returns the switches that it crossed, which are in route[]. */
static unsigned cross(uint32_t from, uint32_t to)
{
	uint64_t before = mesh.hosts[to].received;

	route_length = 0;
	mesh_send(&mesh, from, to, 1, 256);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh.hosts[to].received, before + 1);
	CU_ASSERT_EQUAL(route_length + 1, topology_distance(mesh.topology, from, to));
	return route_length;
}

/* Sends a packet between every pair of hosts. expected() returns the number of switches on the
 * path. */
static void check_all(unsigned (*expected)(uint32_t from, uint32_t to), unsigned step)
{
	for (uint32_t pair = 0; pair < mesh.host_count * mesh.host_count; pair += step) {
		uint32_t from = pair / mesh.host_count, to = pair % mesh.host_count;

		if (from != to)
			CU_ASSERT_EQUAL(cross(from, to), expected(from, to));
	}
}

static void check_up_down(unsigned step)
{
	unsigned turned_up = 0;

	for (uint32_t pair = 0; pair < mesh.host_count * mesh.host_count; pair += step) {
		uint32_t from = pair / mesh.host_count, to = pair % mesh.host_count;
		bool down = false;

		if (from == to)
			continue;
		cross(from, to);
		for (unsigned i = 1; i < route_length; i++) {
			const struct layout_node *one = &mesh.layout.nodes[route[i - 1]];
			const struct layout_node *next = &mesh.layout.nodes[route[i]];
			bool goes_up = next->rank < one->rank ||
				       (next->rank == one->rank && route[i] < route[i - 1]);

			turned_up += down && goes_up;
			down |= !goes_up;
		}
	}
	CU_ASSERT_EQUAL(turned_up, 0);
}

static unsigned always_one(uint32_t from, uint32_t to)
{
	(void)from, (void)to;
	return 1;
}

static void test_star(void)
{
	mesh_defaults(&mesh);
	begin(topology_star(&mesh.layout, &(struct star_shape){8}, mesh.error, sizeof(mesh.error)));
	check_all(always_one, 1);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static unsigned sides_of_4(uint32_t from, uint32_t to)
{
	return (from < 4) == (to < 4) ? 1 : 2;
}

static void test_dumbbell(void)
{
	const struct dumbbell_shape shape = {4, 2, UINT64_C(25000000000), 40};

	mesh_defaults(&mesh);
	begin(topology_dumbbell(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_EQUAL(port_rate_bps(switch_port(mesh.switches[0], 4)), UINT64_C(25000000000));
	CU_ASSERT_EQUAL(port_latency(switch_port(mesh.switches[1], 2)), 200 * NS);
	CU_ASSERT_EQUAL(port_rate_bps(switch_port(mesh.switches[0], 0)), UINT64_C(100000000000));
	check_all(sides_of_4, 1);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static unsigned along_the_row(uint32_t from, uint32_t to)
{
	int distance = (int)(from / 3) - (int)(to / 3);

	return 1 + (unsigned)(distance < 0 ? -distance : distance);
}

static void test_parking_lot(void)
{
	mesh_defaults(&mesh);
	begin(topology_parking_lot(&mesh.layout, &(struct parking_lot_shape){5, 3}, mesh.error,
				   sizeof(mesh.error)));
	check_all(along_the_row, 1);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static unsigned leaves_of_6(uint32_t from, uint32_t to)
{
	return from / 6 == to / 6 ? 1 : 3;
}

/* 6 hosts, 2 spines by one link: 3 to 1. Both spines carry traffic, and the up/down routing is the
 * shortest, too. */
static void test_leaf_spine(void)
{
	const struct leaf_spine_shape shape = {.leaves = 4, .spines = 2, .hosts = 6};

	for (unsigned routing = ROUTING_min_hop; routing <= ROUTING_up_down; routing++) {
		mesh_defaults(&mesh);
		bool built =
			topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error));

		mesh.layout.routing = (enum topology_routing)routing;
		begin(built);
		CU_ASSERT_EQUAL(mesh.layout.link_count, 4 * 6 + 4 * 2);
		check_all(leaves_of_6, 1);
		check_up_down(1);
		/* 24 hosts, 18 of them behind another leaf of each, two packets a pair */
		CU_ASSERT_EQUAL(switch_counters(mesh.switches[4])->packets_forwarded, 24 * 18);
		CU_ASSERT_EQUAL(switch_counters(mesh.switches[5])->packets_forwarded, 24 * 18);
		CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	}
}

/* NIC r of a machine is at leaf r of its block: between equal rails of one block a packet crosses
 * one switch. */
static unsigned rails_of_4(uint32_t from, uint32_t to)
{
	return from / 12 == to / 12 && from % 4 == to % 4 ? 1 : 3;
}

static void test_rails(void)
{
	const struct leaf_spine_shape shape = {
		.leaves = 8, .spines = 4, .hosts = 3, .rails = 4, .parallel = 2};

	mesh_defaults(&mesh);
	begin(topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_STRING_EQUAL(mesh.layout.nodes[12 + 5].name, "host1.rail1");
	CU_ASSERT_EQUAL(mesh.layout.nodes[12 + 5].host, 1);
	CU_ASSERT_EQUAL(mesh.layout.nodes[12 + 5].rail, 1);
	check_all(rails_of_4, 1);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static unsigned fat_tree_of_8(uint32_t from, uint32_t to)
{
	return from / 4 == to / 4 ? 1 : from / 16 == to / 16 ? 3 : 5;
}

static void test_fat_tree(void)
{
	const struct fat_tree_shape shape = topology_fat_tree_of(8);

	mesh_defaults(&mesh);
	begin(topology_fat_tree(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_EQUAL(mesh.host_count, 128);
	CU_ASSERT_EQUAL(mesh.layout.node_count - mesh.host_count, 80);
	CU_ASSERT_EQUAL(mesh.layout.link_count, 3 * 128);
	check_all(fat_tree_of_8, 17);
	check_up_down(37);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* 4 pods of 2 edges with 6 hosts and one uplink to each of 2 aggregations, which have one uplink:
 * 3:1, then 2:1. */
static unsigned fat_tree_thin(uint32_t from, uint32_t to)
{
	return from / 6 == to / 6 ? 1 : from / 12 == to / 12 ? 3 : 5;
}

static void test_oversubscribed(void)
{
	const struct fat_tree_shape shape = {
		.pods = 4, .edges = 2, .aggregations = 2, .hosts = 6, .uplinks = 1};

	mesh_defaults(&mesh);
	begin(topology_fat_tree(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_EQUAL(mesh.layout.node_count - mesh.host_count, 4 * 4 + 2);
	check_all(fat_tree_thin, 5);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* A dragonfly with a = 4, p = 2, h = 2 has 9 groups and 36 routers. A minimal route has at most one
 * global link, and therefore at most 4 routers. */
static void test_dragonfly(void)
{
	const struct dragonfly_shape shape = {.routers = 4, .hosts = 2, .global = 2};
	unsigned longest = 0;

	mesh_defaults(&mesh);
	begin(topology_dragonfly(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_EQUAL(mesh.host_count, 72);
	CU_ASSERT_EQUAL(mesh.layout.link_count, 72 + 9 * 6 + 9 * 8 / 2);
	for (uint32_t pair = 1; pair < 72 * 72; pair += 5) {
		uint32_t from = pair / 72, to = pair % 72;
		unsigned crossed = from == to ? 1 : cross(from, to);

		if (from / 2 == to / 2)
			CU_ASSERT_EQUAL(crossed, 1);
		if (from / 2 != to / 2 && from / 8 == to / 8)
			CU_ASSERT_EQUAL(crossed, 2);
		longest = crossed > longest ? crossed : longest;
	}
	CU_ASSERT_EQUAL(longest, 4);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static unsigned round_the_torus(uint32_t from, uint32_t to)
{
	static const unsigned sizes[3] = {4, 3, 2};
	unsigned one = from / 2, other = to / 2, hops = 1;

	for (unsigned i = 0; i < 3; i++) {
		unsigned ahead = (other % sizes[i] + sizes[i] - one % sizes[i]) % sizes[i];

		hops += ahead < sizes[i] - ahead ? ahead : sizes[i] - ahead;
		one /= sizes[i];
		other /= sizes[i];
	}
	return hops;
}

static void test_torus(void)
{
	const struct torus_shape shape = {{4, 3, 2}, 2};

	mesh_defaults(&mesh);
	begin(topology_torus(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_EQUAL(mesh.layout.link_count, 48 + 24 + 24 + 12);
	check_all(round_the_torus, 1);
	cross(0, 2 * (1 + 4 * 1 + 12 * 1)); /* to (1, 1, 1): x first, then y, then z */
	CU_ASSERT_EQUAL(route_length, 4);
	CU_ASSERT_EQUAL(route[1], 1);
	CU_ASSERT_EQUAL(route[2], 1 + 4);
	CU_ASSERT_EQUAL(route[3], 1 + 4 + 12);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* A torus by up/down: ranks are counted from the first switch; every route turns once. */
static void test_up_down(void)
{
	const struct torus_shape shape = {{4, 4, 1}, 1};

	mesh_defaults(&mesh);
	bool built = topology_torus(&mesh.layout, &shape, mesh.error, sizeof(mesh.error));

	mesh.layout.routing = ROUTING_up_down;
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t x = i % 4, y = i / 4;

		mesh.layout.nodes[i].rank = (x < 3 ? x : 1) + (y < 3 ? y : 1);
	}
	begin(built);
	check_up_down(1);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static void test_refused(void)
{
	struct layout layout = {0};
	char error[128];

	CU_ASSERT_FALSE(topology_star(&layout, &(struct star_shape){257}, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "a single switch needs 257 ports; expected 1 to 256");
	CU_ASSERT_FALSE(topology_leaf_spine(
		&layout,
		&(struct leaf_spine_shape){.leaves = 3, .spines = 1, .hosts = 1, .rails = 2}, error,
		sizeof(error)));
	CU_ASSERT_STRING_EQUAL(
		error,
		"leaves, spines and hosts must be at least 1, and rails a divisor of leaves");
	CU_ASSERT_FALSE(topology_dragonfly(
		&layout,
		&(struct dragonfly_shape){.routers = 2, .hosts = 1, .global = 1, .groups = 4},
		error, sizeof(error)));
	CU_ASSERT_EQUAL(layout.node_count, 0);
	mesh_defaults(&mesh); /* dimension order without positions */
	CU_ASSERT_TRUE(topology_star(&mesh.layout, &(struct star_shape){2}, error, sizeof(error)));
	mesh.layout.routing = ROUTING_dimension_order;
	CU_ASSERT_FALSE(mesh_begin(&mesh, SIM_ENGINE_native, LINK_INFINIBAND));
	CU_ASSERT_STRING_EQUAL(mesh.error,
			       "switch0.port0: its switch has no position in the torus");
	mesh_end(&mesh);
}
