/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the switch: its cut-through latency to the picosecond on both link layers,
 * store-and-forward to a faster output, fair sharing of an output. Also no loss under credits or
 * PFC, drops and their reasons. All engines agree.
 */
#include "switch/switch.h"
#include "tests/fabric/support/station.h"
#include "tests/support/suite.h"

#define TESTS(TEST)             \
	TEST(latency)           \
	TEST(store_and_forward) \
	TEST(equal_rates)       \
	TEST(full_rate)         \
	TEST(share)             \
	TEST(pfc)               \
	TEST(no_blocking)       \
	TEST(drops)             \
	TEST(hop_limit)         \
	TEST(engines_agree)
SUITE_AFTER(set_defaults, TESTS)

#define BYTE_PS  80
#define HOSTS    4
#define LINK_PS  (10 * NS) /* 2 m */
#define CROSS_PS (90 * NS)

static enum sim_engine engine = SIM_ENGINE_native;
static struct sim *sim;
static struct packet_pool *pool;
static struct endpoints *endpoints;
static struct topology *topology;
static struct switch_params params;
static struct fabric_switch *sw;
static struct station hosts[HOSTS];

static void set_defaults(void)
{
	params_default(switch_param_list, &params);
	params_default(port_param_list, &params.port);
	params.port.length = 2;
}

/* The link of the last host may be of another rate. */
static void begin(enum link_layer link_layer, uint64_t last_rate_bps)
{
	const char *names[HOSTS] = {"host0.port", "host1.port", "host2.port", "host3.port"};
	struct topology_switch ops;
	char error[256];
	unsigned node;

	sim = sim_create(engine, 1);
	pool = packet_pool_create();
	endpoints = endpoints_create();
	topology = topology_create(endpoints);
	sw = switch_create(sim, "switch", &params, HOSTS, link_layer, pool);
	ops = switch_topology(sw);
	node = topology_add_switch(topology, &ops);
	for (uint8_t i = 0; i < HOSTS; i++) {
		const uint8_t ip[4] = {10, 0, 0, i};
		uint32_t endpoint = endpoints_add(endpoints, names[i], link_layer, ip);

		station_init(&hosts[i], sim, names[i], &params.port, link_layer, pool);
		CU_ASSERT_TRUE(topology_link(
			topology, topology_add_host(topology, hosts[i].port, endpoint), 0, node, i,
			LENGTH_OF_PARAMS, i == HOSTS - 1 ? last_rate_bps : RATE_OF_PARAMS, error,
			sizeof(error)));
	}
	CU_ASSERT_TRUE(topology_finish(topology, error, sizeof(error)));
}

static void send_packets(unsigned from, unsigned to, uint64_t packets, uint32_t payload_bytes)
{
	station_send(&hosts[from], station_path(endpoints, from, to), packets, payload_bytes);
}

static void take_down(void)
{
	for (unsigned i = 0; i < HOSTS; i++)
		port_destroy(hosts[i].port);
	topology_destroy(topology);
	switch_destroy(sw);
	endpoints_destroy(endpoints);
	packet_pool_destroy(pool);
	sim_destroy(sim);
	set_defaults();
}

static void end(void)
{
	sim_run(sim, SIM_NEVER);
	sim_run(sim, sim_now(sim) + MS); /* the last releases have no event */
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
	for (unsigned i = 0; i < HOSTS; i++) {
		CU_ASSERT_EQUAL(port_input_used(switch_port(sw, i), 0), 0);
		CU_ASSERT_EQUAL(port_counters(switch_port(sw, i))->overflow_drops, 0);
	}
	take_down();
}

static void test_latency(void)
{
	begin(LINK_INFINIBAND, 0);
	send_packets(0, 1, 1, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].first_head, LINK_PS + CROSS_PS + LINK_PS);
	CU_ASSERT_EQUAL(hosts[1].first_tail, LINK_PS + CROSS_PS + LINK_PS + (4096 + 26) * BYTE_PS);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 2); /* one a hop */
	end();
	begin(LINK_ETHERNET, 0);
	send_packets(0, 1, 1, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].first_head, 2 * (LINK_PS + 8 * BYTE_PS) + CROSS_PS);
	CU_ASSERT_EQUAL(sim_events_fired(sim), 2);
	end();
}

/* A packet to a link twice as fast leaves when it is complete. A packet to a slower link leaves at
 * once. */
static void test_store_and_forward(void)
{
	const sim_time whole = (4096 + 26) * BYTE_PS;

	begin(LINK_INFINIBAND, UINT64_C(200000000000));
	send_packets(0, 3, 1, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[3].first_head, LINK_PS + whole + CROSS_PS + LINK_PS);
	CU_ASSERT_EQUAL(hosts[3].first_tail, hosts[3].first_head + whole / 2);
	send_packets(3, 1, 1, 4096);
	sim_time start = sim_now(sim);

	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].first_head, start + LINK_PS + CROSS_PS + LINK_PS);
	CU_ASSERT_EQUAL(hosts[1].first_tail, hosts[1].first_head + whole);
	end();
}

/* Neither is faster, and a byte takes no whole picoseconds: 142.857 ps. */
static void test_equal_rates(void)
{
	params.port.rate = UINT64_C(56000000000);
	begin(LINK_INFINIBAND, 0);
	send_packets(0, 1, 1, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].first_head, LINK_PS + CROSS_PS + LINK_PS);
	end();
}

/* The switch adds no gap: the last head comes when the first link's arithmetic says. */
static void test_full_rate(void)
{
	begin(LINK_INFINIBAND, 0);
	send_packets(0, 1, 1000, 4096);
	send_packets(1, 0, 1000, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[1].received, 1000);
	CU_ASSERT_TRUE(hosts[1].last_head - hosts[1].first_head >= 999 * (4096 + 26) * BYTE_PS);
	CU_ASSERT_TRUE(hosts[1].last_head - hosts[1].first_head <=
		       999 * (4096 + 26) * BYTE_PS +
			       port_counters(switch_port(sw, 1))->credit_packets_sent * 6 *
				       BYTE_PS +
			       port_counters(hosts[0].port)->credit_packets_sent * 6 * BYTE_PS);
	end();
}

/* Two inputs send to one output. They take turns, at full rate, without loss. */
static void share(enum link_layer link_layer, uint32_t overhead_bytes, uint64_t by_100_us)
{
	const uint64_t packets = 2000;

	begin(link_layer, 0);
	send_packets(0, 2, packets, 1024);
	send_packets(1, 2, packets, 1024);
	sim_run(sim, 100 * US);
	int64_t difference = (int64_t)(hosts[2].from[0] - hosts[2].from[1]);

	CU_ASSERT_EQUAL(hosts[2].received, by_100_us);
	CU_ASSERT_TRUE(difference >= -1 && difference <= 1);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[2].from[0], packets);
	CU_ASSERT_EQUAL(hosts[2].from[1], packets);
	CU_ASSERT_EQUAL(hosts[2].last_head - hosts[2].first_head,
			(2 * packets - 1) * (1024 + overhead_bytes) * BYTE_PS +
				port_counters(switch_port(sw, 2))->credit_packets_sent * 6 *
					BYTE_PS);
	CU_ASSERT_EQUAL(switch_counters(sw)->packets_forwarded, 2 * packets);
	end();
}

static void test_share(void)
{
	/* the first head after two links and the switch, 110 ns and with preambles 111.28 ns; then
	 * one in 84 ns, 88.48 ns */
	share(LINK_INFINIBAND, 26, 1190);
	share(LINK_ETHERNET, 82, 1129);
}

/* With PFC no packet is lost. Without PFC many packets are lost. */
static void test_pfc(void)
{
	begin(LINK_ETHERNET, 0);
	for (unsigned i = 0; i < 3; i++)
		send_packets(i, 3, 1000, 4096);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(hosts[3].received, 3000);
	CU_ASSERT_EQUAL(port_counters(switch_port(sw, 0))->pause_sent,
			646); /* stop and go, a packet at a time: seen */
	CU_ASSERT_EQUAL(port_counters(switch_port(sw, 0))->pause_sent,
			port_counters(hosts[0].port)->pause_received);
	end();
	params.port.pfc_priorities = 0;
	begin(LINK_ETHERNET, 0);
	uint64_t lost = 0;

	for (unsigned i = 0; i < 3; i++)
		send_packets(i, 3, 1000, 4096);
	sim_run(sim, SIM_NEVER);
	for (unsigned i = 0; i < 3; i++)
		lost += port_counters(switch_port(sw, i))->overflow_drops;
	CU_ASSERT_EQUAL(
		lost, 1909); /* one leaves while three come, and 91 are in inputs of 128 KiB then */
	CU_ASSERT_EQUAL(hosts[3].received, 3000 - lost);
	CU_ASSERT_EQUAL(packet_pool_in_use(pool), 0);
	take_down();
}

/* A packet to another output does not wait behind packets to a crowded output. */
static void test_no_blocking(void)
{
	begin(LINK_INFINIBAND, 0);
	hosts[2].holds = true; /* output 2 stops when its credits are gone */
	send_packets(1, 2, 40, 4096);
	sim_run(sim, 50 * US);
	CU_ASSERT_EQUAL(hosts[2].received, 31); /* 128 KiB of packets of 65 blocks */
	send_packets(1, 3, 1, 256);
	sim_run(sim, 60 * US);
	CU_ASSERT_EQUAL(hosts[3].received, 1);
	hosts[2].holds = false;
	for (uint64_t i = hosts[2].received; i > 0; i--)
		port_release(hosts[2].port, 0, 4096 + 26);
	end();
}

static void test_drops(void)
{
	struct path stray;
	const struct path *known;

	params.routes = true;
	params.port.mtu = 1024;
	begin(LINK_INFINIBAND, 0);
	known = station_path(endpoints, 0, 1);
	stray = *known;
	stray.dlid = 99;
	station_send(&hosts[0], path_intern(endpoints_paths(endpoints), &stray), 2, 256);
	stray.dlid = 0xffff;
	station_send(&hosts[0], path_intern(endpoints_paths(endpoints), &stray), 1, 256);
	send_packets(0, 1, 3, 2048);
	sim_run(sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(sw)->no_route_drops, 3);
	CU_ASSERT_EQUAL(switch_counters(sw)->oversize_drops, 3);
	CU_ASSERT_EQUAL(switch_counters(sw)->packets_forwarded, 0);
	CU_ASSERT_EQUAL(port_counters(hosts[0].port)->credits_consumed,
			port_counters(switch_port(sw, 0))->credits_received);
	end();
}

static uint64_t hop_limits[2];

static void note_hop_limit(struct port_user *user, struct port *port, struct packet *packet)
{
	hop_limits[packet->psn & 1] = packet->hop_limit;
	station_receive(user, port, packet);
}

static void test_hop_limit(void)
{
	for (unsigned routes = 0; routes < 2; routes++) {
		params.routes = routes;
		begin(LINK_ETHERNET, 0);
		hosts[1].user.receive = note_hop_limit;
		send_packets(0, 1, 1, 256);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(hop_limits[0], 64 - routes);
		struct packet *last = packet_new(pool);

		last->path = station_path(endpoints, 0, 1);
		last->opcode = RC_WRITE_MIDDLE;
		last->hop_limit = 1;
		last->wire_bytes = packet_wire_bytes(last);
		port_send(hosts[0].port, last);
		sim_run(sim, SIM_NEVER);
		CU_ASSERT_EQUAL(switch_counters(sw)->hop_limit_drops, routes);
		CU_ASSERT_EQUAL(hosts[1].received, 2 - routes);
		end();
	}
}

static uint64_t digest_with(enum sim_engine with, enum link_layer link_layer)
{
	uint64_t digest = 0;

	engine = with;
	begin(link_layer, UINT64_C(40000000000));
	for (unsigned from = 0; from < HOSTS; from++)
		send_packets(from, (from + 1) % HOSTS, 300, 4096 >> from);
	sim_run(sim, SIM_NEVER);
	send_packets(0, 2, 200, 512);
	send_packets(1, 2, 200, 2048);
	send_packets(3, 2, 200, 4096);
	sim_run(sim, SIM_NEVER);
	for (unsigned i = 0; i < HOSTS; i++)
		digest = digest * 31 + hosts[i].digest;
	digest = digest * 31 + sim_events_fired(sim);
	end();
	engine = SIM_ENGINE_native;
	return digest;
}

static void test_engines_agree(void)
{
	for (unsigned layer = LINK_INFINIBAND; layer <= LINK_ETHERNET; layer++) {
		uint64_t native = digest_with(SIM_ENGINE_native, layer);

		CU_ASSERT_EQUAL(digest_with(SIM_ENGINE_native, layer), native);
		CU_ASSERT_EQUAL(digest_with(SIM_ENGINE_systemc, layer), native);
		CU_ASSERT_EQUAL(digest_with(SIM_ENGINE_systemc_reference, layer), native);
	}
}
