/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that routes are shortest paths. Between every pair of hosts of a two-level fabric a packet
 * arrives after exactly the hops of its distance. Paths spread over the spines, in the same way
 * each time. Impossible links and fabrics are refused with the reason.
 */
#include <string.h>

#include "switch/switch.h"
#include "tests/fabric/support/station.h"
#include "tests/support/suite.h"

#define TESTS(TEST)        \
	TEST(leaf_spine)   \
	TEST(back_to_back) \
	TEST(refused)
SUITE(TESTS)

#define LEAVES       2
#define SPINES       2
#define HOSTS_A_LEAF 3
#define HOSTS        (LEAVES * HOSTS_A_LEAF)
#define SWITCHES     (LEAVES + SPINES)
#define LINK_PS      (5 * NS) /* 1 m */
#define CROSS_PS     (90 * NS)

static struct sim *sim;
static struct packet_pool *pool;
static struct endpoints *endpoints;
static struct topology *topology;
static struct switch_params params;
static struct fabric_switch *switches[SWITCHES]; /* leaves first */
static unsigned nodes[SWITCHES], host_nodes[HOSTS];
static struct station hosts[HOSTS];
static char error[256];

static void begin(void)
{
	params_default(switch_param_list, &params);
	params_default(port_param_list, &params.port);
	sim = sim_create(SIM_ENGINE_native, 1);
	pool = packet_pool_create();
	endpoints = endpoints_create();
	topology = topology_create(endpoints);
	for (unsigned i = 0; i < SWITCHES; i++) {
		struct topology_switch ops;
		char name[32];

		snprintf(name, sizeof(name), "switch%u", i);
		switches[i] = switch_create(sim, name, &params, HOSTS_A_LEAF + SPINES,
					    LINK_INFINIBAND, pool);
		ops = switch_topology(switches[i]);
		nodes[i] = topology_add_switch(topology, &ops);
	}
	for (unsigned i = 0; i < HOSTS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "host%u.port", i);
		station_init(&hosts[i], sim, name, &params.port, LINK_INFINIBAND, pool);
		host_nodes[i] =
			topology_add_host(topology, hosts[i].port,
					  endpoints_add(endpoints, name, LINK_INFINIBAND, NULL));
	}
}

static bool link_nodes(unsigned one, unsigned one_port, unsigned other, unsigned other_port)
{
	return topology_link(topology, one, one_port, other, other_port, 1.0, RATE_OF_PARAMS, error,
			     sizeof(error));
}

static void link_all(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		CU_ASSERT_TRUE(
			link_nodes(host_nodes[i], 0, nodes[i / HOSTS_A_LEAF], i % HOSTS_A_LEAF));
	for (unsigned leaf = 0; leaf < LEAVES; leaf++)
		for (unsigned spine = 0; spine < SPINES; spine++)
			CU_ASSERT_TRUE(link_nodes(nodes[leaf], HOSTS_A_LEAF + spine,
						  nodes[LEAVES + spine], leaf));
}

static void end(void)
{
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
	for (unsigned i = 0; i < HOSTS; i++)
		port_destroy(hosts[i].port);
	for (unsigned i = 0; i < SWITCHES; i++)
		switch_destroy(switches[i]);
	topology_destroy(topology);
	endpoints_destroy(endpoints);
	packet_pool_destroy(pool);
	sim_destroy(sim);
}

static void test_leaf_spine(void)
{
	uint64_t through[SPINES];

	begin();
	link_all();
	CU_ASSERT_TRUE(topology_finish(topology, error, sizeof(error)));
	for (unsigned from = 0; from < HOSTS; from++) {
		for (unsigned to = 0; to < HOSTS; to++) {
			unsigned distance = from / HOSTS_A_LEAF == to / HOSTS_A_LEAF ? 2 : 4;
			sim_time start = sim_now(sim);

			if (from == to)
				continue;
			CU_ASSERT_EQUAL(topology_distance(topology, from, to), distance);
			station_send(&hosts[from], station_path(endpoints, from, to), 1, 256);
			sim_run(sim, SIM_NEVER);
			CU_ASSERT_EQUAL(hosts[to].last_head,
					start + distance * LINK_PS + (distance - 1) * CROSS_PS);
		}
	}
	for (unsigned i = 0; i < SPINES; i++)
		through[i] = switch_counters(switches[LEAVES + i])->packets_forwarded;
	CU_ASSERT_EQUAL(through[0], HOSTS * HOSTS_A_LEAF / 2); /* even destinations */
	CU_ASSERT_EQUAL(through[1], HOSTS * HOSTS_A_LEAF / 2);

	/* ports by number, of all nodes, and none behind the last */
	uint32_t ports = HOSTS;

	for (unsigned i = 0; i < SWITCHES; i++)
		ports += switch_ports(switches[i]);
	for (uint32_t i = 0; i < ports; i++)
		CU_ASSERT_PTR_NOT_NULL(topology_find_port(topology, i));
	CU_ASSERT_PTR_NULL(topology_find_port(topology, ports));
	end();
}

static void test_back_to_back(void)
{
	begin();
	CU_ASSERT_TRUE(link_nodes(host_nodes[0], 0, host_nodes[1], 0));
	CU_ASSERT_FALSE(topology_finish(topology, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "host2.port: no route leads to host0.port");
	CU_ASSERT_EQUAL(topology_distance(topology, 0, 1), 1);
	station_send(&hosts[0], station_path(endpoints, 0, 1), 1, 256);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].last_head, LINK_PS);
	end();
}

static void test_refused(void)
{
	struct port_params other = {0};
	struct station stranger;

	begin();
	CU_ASSERT_TRUE(link_nodes(host_nodes[0], 0, nodes[0], 0));
	CU_ASSERT_FALSE(link_nodes(host_nodes[1], 0, nodes[0], 0));
	CU_ASSERT_STRING_EQUAL(error, "switch0.port0: is already linked");
	CU_ASSERT_FALSE(link_nodes(host_nodes[1], 1, nodes[0], 1));
	CU_ASSERT_STRING_EQUAL(error, "host1.port: no port 1, it has 1");
	CU_ASSERT_FALSE(link_nodes(nodes[0], 1, nodes[0], 1));
	CU_ASSERT_STRING_EQUAL(error, "switch0.port1: cannot be linked to itself");
	params_default(port_param_list, &other);
	other.rate /= 2;
	station_init(&stranger, sim, "stranger", &other, LINK_INFINIBAND, pool);
	unsigned node =
		topology_add_host(topology, stranger.port,
				  endpoints_add(endpoints, "stranger", LINK_INFINIBAND, NULL));

	CU_ASSERT_FALSE(topology_link(topology, node, 0, nodes[0], 1, LENGTH_OF_PARAMS,
				      RATE_OF_PARAMS, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "stranger and switch0.port1 differ in rate");
	other.rate *= 2;
	other.input_buffer = 4096; /* 64 blocks; a packet takes 65 */
	port_set_params(stranger.port, &other);
	CU_ASSERT_FALSE(topology_link(topology, node, 0, nodes[0], 1, LENGTH_OF_PARAMS,
				      RATE_OF_PARAMS, error, sizeof(error)));
	CU_ASSERT_STRING_EQUAL(error, "stranger: input_buffer is smaller than a packet of the MTU");
	other.input_buffer = 8192;
	port_set_params(stranger.port, &other);
	CU_ASSERT_EQUAL(port_params(stranger.port)->input_buffer, 8192);
	CU_ASSERT_TRUE(topology_link(topology, node, 0, nodes[0], 1, LENGTH_OF_PARAMS,
				     RATE_OF_PARAMS, error, sizeof(error)));
	port_destroy(stranger.port);
	end();
}
