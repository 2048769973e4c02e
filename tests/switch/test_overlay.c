/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests load balancing of leaf switches.
 *
 * CONGA: the estimate of a link is exact to the byte, and its quantised metric is in the tables of
 * both leaves after given packets. Changed feedback goes first. A flowlet takes the least congested
 * path, or the previous path among equal ones. Metrics age.
 *
 * ConWeave: an RTT_REPLY in time keeps the path; a late one causes a TAIL and another path. Packets
 * that overtake the TAIL are queued. They are released in order at the picosecond at which the TAIL
 * arrives, or at the timeout. NOTIFY keeps flows off a path.
 *
 * Both: headers are on the wire only between leaves, invalid settings are refused, and three
 * engines agree.
 */
#include "fabric/port_fault.h"
#include "switch/overlay.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST)              \
	TEST(conga_tables)       \
	TEST(conga_stays)        \
	TEST(conga_age)          \
	TEST(conga_feedback)     \
	TEST(conweave_order)     \
	TEST(conweave_lost_tail) \
	TEST(conweave_limits)    \
	TEST(conweave_cut_short) \
	TEST(conweave_notify)    \
	TEST(link_down)          \
	TEST(engines)            \
	TEST(refusals)
SUITE_AFTER(set_up, TESTS)

#define SPINES 4
#define HOSTS  4 /* a leaf */
#define LEAVES 2

static struct mesh mesh;
static unsigned spines = SPINES;

static bool try_begin(enum balance balance, enum sim_engine engine)
{
	const struct leaf_spine_shape shape = {.leaves = LEAVES, .spines = SPINES, .hosts = HOSTS};

	mesh.params.balance = balance;
	CU_ASSERT_TRUE_FATAL(
		topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	return mesh_begin(&mesh, engine, LINK_ETHERNET);
}

static void begin(enum balance balance)
{
	mesh.params.buffer.size = 9000000;
	mesh.params.queueing = QUEUEING_ARRIVAL;
	mesh.params.forwarding_latency = 0;
	mesh.params.port.fec_latency = 0;
	CU_ASSERT_TRUE_FATAL(try_begin(balance, SIM_ENGINE_native));
}

static void end(void)
{
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	mesh_defaults(&mesh);
	spines = SPINES;
}

static const struct switch_counters *leaf(unsigned number)
{
	return switch_counters(mesh.switches[number]);
}

static const struct path *flow(uint32_t from, uint32_t to, uint16_t udp_source_port)
{
	struct path path = *station_path(mesh.endpoints, from, to);

	path.udp_source_port = udp_source_port;
	return path_intern(endpoints_paths(mesh.endpoints), &path);
}

/* Returns the port of a leaf to that spine. The ports of hosts come before or after the ports of
 * spines. */
static unsigned uplink(unsigned sw, unsigned towards)
{
	for (unsigned i = 0; i < switch_ports(mesh.switches[sw]); i++)
		for (unsigned j = 0; j < switch_ports(mesh.switches[LEAVES + towards]); j++)
			if (port_peer(switch_port(mesh.switches[sw], i)) ==
			    switch_port(mesh.switches[LEAVES + towards], j))
				return i;
	return NO_NEXT_HOP;
}

/* Reads the packets that a leaf has sent to each spine. */
static void look(unsigned sw, uint64_t counts[SPINES])
{
	for (unsigned i = 0; i < spines; i++)
		counts[i] =
			port_counters(switch_port(mesh.switches[sw], uplink(sw, i)))->packets_sent;
}

/* Returns the spine to which the leaf has sent more packets than before. */
static unsigned taken(unsigned sw, const uint64_t before[SPINES])
{
	uint64_t now[SPINES];

	look(sw, now);
	for (unsigned i = 0; i < spines; i++)
		if (now[i] > before[i])
			return i;
	return SPINES;
}

/* Sends a single packet of a flow. Returns its spine. */
static unsigned probe(uint32_t from, uint32_t to, uint16_t udp_source_port)
{
	uint64_t before[SPINES];

	look(from / HOSTS, before);
	station_send(&mesh.hosts[from], flow(from, to, udp_source_port), 1, 1024);
	sim_run(mesh.sim, sim_now(mesh.sim) + 5 * US);
	return taken(from / HOSTS, before);
}

/* ---- CONGA ---- */

static void set_up(void)
{
	mesh_defaults(&mesh);
}

/* tau = 16 us / 0.1: a full link counts 100e9 / 8 * 160e-6 = 2,000,000 bytes, a step of eight
 * 250,000. A burst of 1000 packets of 1024 + 62 + 50 bytes at 100 Gb/s lasts about 92 us. After it
 * both tables have the sent bytes that have not decayed. */
static void test_conga_tables(void)
{
	unsigned next_hop;
	uint64_t before[SPINES], overlay_bytes = 0;

	begin(BALANCE_CONGA);
	look(0, before);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), 1000, 1024);
	sim_run(mesh.sim, 95 * US);
	next_hop = taken(0, before);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 1000);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].out_of_order, 0);
	CU_ASSERT_EQUAL(leaf(0)->flowlets, 1);
	CU_ASSERT_EQUAL(leaf(0)->reroutes, 0);
	for (unsigned i = 0; i < SPINES; i++) {
		const struct port *port = switch_port(mesh.switches[0], uplink(0, i));

		overlay_bytes += port_counters(port)->bytes_sent;
		if (i != next_hop)
			CU_ASSERT_EQUAL(conga_measured(mesh.switches[1], 0, uplink(0, i)), 0);
	}
	CU_ASSERT_EQUAL(overlay_bytes, 1000 * (uint64_t)(1024 + 62 + 50));
	CU_ASSERT_EQUAL(port_counters(mesh.hosts[HOSTS].port)->bytes_received,
			1000 * (uint64_t)(1024 + 62));
	/* 5 decays of the 1,136,000 bytes on their way, none of it back yet */
	CU_ASSERT_EQUAL(conga_measured(mesh.switches[1], 0, uplink(0, next_hop)), 3);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, uplink(0, next_hop)), 0);
	/* one packet back brings it */
	CU_ASSERT_TRUE(probe(HOSTS, 0, 0xc001) < SPINES);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, uplink(0, next_hop)), 3);
	/* new flows keep off that path, in both directions of choice: its own link is at 3 as
	 * well */
	for (uint16_t i = 0; i < 32; i++)
		CU_ASSERT_NOT_EQUAL(probe(1, HOSTS + 1, (uint16_t)(0xd000 + i)), next_hop);
	end();
}

/* One flow sends flowlets after gaps of 12 us. The flow keeps its path while no path is better, and
 * changes otherwise. */
static void test_conga_stays(void)
{
	unsigned first;

	mesh.params.flowlet_gap = 10 * US;
	begin(BALANCE_CONGA);
	first = probe(0, HOSTS, 0xc000);
	for (unsigned i = 0; i < 10; i++) {
		sim_run(mesh.sim, sim_now(mesh.sim) + 12 * US);
		CU_ASSERT_EQUAL(probe(0, HOSTS, 0xc000), first);
	}
	CU_ASSERT_EQUAL(leaf(0)->flowlets, 11);
	CU_ASSERT_EQUAL(leaf(0)->reroutes, 0);
	/* load on that path by a flow that found it free: 20 us later more than one eighth
	 * remains */
	for (uint16_t port = 0xd000; probe(1, HOSTS + 1, port) != first; port++)
		;
	CU_ASSERT_EQUAL(leaf(0)->reroutes, 0);
	end();
}

/* Feedback of a path counts for metric_age, and no longer. */
static void test_conga_age(void)
{
	uint64_t before[SPINES], taken_again = 0;
	unsigned next_hop;

	mesh.params.conga.metric_age = 300 * US;
	begin(BALANCE_CONGA);
	look(0, before);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), 1000, 1024);
	sim_run(mesh.sim, 95 * US);
	next_hop = taken(0, before);
	probe(HOSTS, 0, 0xc001);
	sim_run(mesh.sim,
		390 * US); /* its own link has decayed to nothing: 0.9^18 of 1.1 MB is 170 KB */
	for (uint16_t i = 0; i < 2; i++)
		taken_again += probe(1, HOSTS + 1, (uint16_t)(0xd000 + i)) == next_hop;
	CU_ASSERT_EQUAL(taken_again, 0);
	sim_run(mesh.sim, 500 * US);
	for (uint16_t i = 0; i < 32; i++)
		taken_again += probe(1, HOSTS + 1, (uint16_t)(0xe000 + i)) == next_hop;
	CU_ASSERT_EQUAL(taken_again,
			6); /* of 32 by 4 paths, alike again: within 8 +- 2.4 of a fair draw */
	end();
}

/* Leaf 1 learns a metric of leaf 0's next hop, as from a packet. */
static void learn(unsigned next_hop, uint8_t metric)
{
	const struct packet packet = {.overlay = {.kind = OVERLAY_CONGA,
						  .next_hop = (uint8_t)next_hop,
						  .conga.metric = metric}};

	conga_learn(mesh.switches[1], 0, &packet);
}

/* Metrics go back in turn. Metrics that changed since they were sent last go first. */
static void test_conga_feedback(void)
{
	unsigned one, other, low, high;

	begin(BALANCE_CONGA);
	one = uplink(0, 0);
	other = uplink(0, 1);
	low = one < other ? one : other;
	high = one < other ? other : one;
	learn(low, 2);
	learn(high, 3);
	probe(HOSTS, 0, 0xc001);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, low), 2);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, high), 0);
	probe(HOSTS, 0, 0xc001);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, high), 3);
	learn(high, 5); /* it is the other one's turn */
	probe(HOSTS, 0, 0xc001);
	CU_ASSERT_EQUAL(conga_heard(mesh.switches[0], 1, high), 5);
	end();
}

/* ---- ConWeave ---- */

/* Begins with two paths from leaf to leaf: 1 us by spine 0, 10 us by spine 1. */
static void begin_two_next_hops(void)
{
	const struct leaf_spine_shape shape = {.leaves = LEAVES, .spines = 2, .hosts = HOSTS};

	mesh.params.balance = BALANCE_CONWEAVE;
	mesh.params.buffer.size = 9000000;
	mesh.params.queueing = QUEUEING_ARRIVAL;
	mesh.params.forwarding_latency = 0;
	spines = 2;
	mesh.params.conweave.header = 0;
	CU_ASSERT_TRUE_FATAL(
		topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	for (uint32_t i = 0; i < mesh.layout.link_count; i++) {
		struct layout_link *link = &mesh.layout.links[i];

		link->metres = 0;
		if (link->one == LEAVES || link->other == LEAVES)
			link->metres = 100;
		if (link->one == LEAVES + 1 || link->other == LEAVES + 1)
			link->metres = 1000;
	}
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, LINK_ETHERNET));
}

#define PACKET   ((sim_time)88480) /* 1024 + 62 + 20 bytes at 100 Gb/s */
#define PREAMBLE ((sim_time)640)
#define START    (100 * US)
#define TAIL     91 /* the first packet after 8 us: 90 packets take 7.96 us */

/* A flow takes the long path first, and then the short path. Two earlier flows drew these paths at
 * random. Returns the time at which its first packet is at the last leaf. */
static sim_time begin_late_flow(void)
{
	struct port *first = switch_port(mesh.switches[0], uplink(0, 1));

	for (uint16_t i = 0; i < 2; i++)
		probe(1, HOSTS + 1, (uint16_t)(0xe000 + i));
	sim_run(mesh.sim, START);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xc000), 1000, 1024);
	return START + port_latency(mesh.hosts[0].port) + 2 * port_latency(first) + 3 * PREAMBLE;
}

static void expect_reorder_until(sim_time release, uint64_t packets)
{
	sim_run(mesh.sim, release);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets, packets);
	CU_ASSERT_EQUAL(leaf(1)->reorder_released, 0);
	sim_run(mesh.sim, release + 1);
	CU_ASSERT_EQUAL(leaf(1)->reorder_released, packets);
}

/* The RTT_REPLY would return after 12 us at the earliest. Packet 91 is the TAIL. The next packets
 * take the short path, arrive 9 us earlier, and wait for it. A CLEAR begins the next epoch, on the
 * short path, where replies are in time. */
static void test_conweave_order(void)
{
	sim_time arrives;
	uint64_t control_packets;

	begin_two_next_hops();
	arrives = begin_late_flow();
	control_packets = leaf(1)->control_packets_sent;
	sim_run(mesh.sim, arrives);
	CU_ASSERT_EQUAL(leaf(1)->control_packets_sent, control_packets);
	sim_run(mesh.sim, arrives + 1);
	CU_ASSERT_EQUAL(leaf(1)->control_packets_sent, control_packets + 1);
	CU_ASSERT_EQUAL(leaf(0)->replies_late, 1);
	CU_ASSERT_EQUAL(leaf(0)->reroutes, 1);
	/* rerouted packet n leaves (n - 91) packets after the TAIL, minus the 9 us by which its
	 * path is shorter */
	expect_reorder_until(arrives + TAIL * PACKET, 101);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets_max, 101);
	CU_ASSERT_EQUAL(leaf(1)->reorder_bytes_max, 101 * (1024 + 62));
	CU_ASSERT_EQUAL(leaf(1)->reorder_tails, 1);
	CU_ASSERT_EQUAL(leaf(1)->control_packets_sent, control_packets + 2);
	sim_run(mesh.sim, START + 150 * US);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 1000);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].out_of_order, 0);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets, 101);
	CU_ASSERT_EQUAL(leaf(0)->replies_late, 1);
	CU_ASSERT_EQUAL(leaf(1)->reorder_timeouts, 0);
	CU_ASSERT_EQUAL(leaf(0)->control_packets_received, leaf(1)->control_packets_sent);
	end();
}

/* The last link of the long path is cut, and the TAIL is lost. Waiting packets continue
 * resume_extra after the TAIL's due time, which earlier packets of the path reported. Without a
 * report, resume_default applies in addition. */
static void test_conweave_lost_tail(void)
{
	sim_time arrives, first_reordered;

	begin_two_next_hops();
	arrives = begin_late_flow();
	sim_run(mesh.sim, arrives + 2 * US);
	port_set_link(port_peer(switch_port(mesh.switches[1], uplink(1, 1))), false);
	expect_reorder_until(arrives + TAIL * PACKET + 16 * US, 282);
	CU_ASSERT_EQUAL(leaf(1)->reorder_tails, 0);
	CU_ASSERT_EQUAL(leaf(1)->reorder_timeouts, 1);
	end();

	begin_two_next_hops();
	arrives = begin_late_flow();
	port_set_link(port_peer(switch_port(mesh.switches[1], uplink(1, 1))), false);
	first_reordered = arrives + (TAIL + 1) * PACKET -
			  2 * (port_latency(switch_port(mesh.switches[0], uplink(0, 1))) -
			       port_latency(switch_port(mesh.switches[0], uplink(0, 0))));
	sim_run(mesh.sim, first_reordered);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets, 0);
	sim_run(mesh.sim, first_reordered + 1);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets, 1);
	expect_reorder_until(first_reordered + 216 * US, 1000 - TAIL - 1);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 0);
	end();
}

/* The number of queues is limited. A packet without a queue continues out of order. With separate
 * memory the order is the same, and the packets take no room of the buffer. */
static void test_conweave_limits(void)
{
	sim_time arrives;

	/* from three hosts to one, again and again, so that two are queued at the same time */
	for (uint64_t limit = 0; limit <= 1; limit++) {
		mesh.params.conweave.reorder_queues = limit;
		begin_two_next_hops();
		for (uint16_t i = 0; i < 10; i++) {
			for (uint32_t host = 0; host < 3; host++)
				station_send(&mesh.hosts[host],
					     flow(host, HOSTS, (uint16_t)(0xc000 + i)), 300, 1024);
			sim_run(mesh.sim, (i + 1u) * 200 * US);
		}
		if (limit)
			CU_ASSERT_EQUAL(leaf(1)->reorder_queues_max, 1)
		else
			CU_ASSERT_EQUAL(leaf(1)->reorder_queues_max, 3) /* a flow of each host */
		CU_ASSERT_EQUAL(leaf(1)->reorder_full > 0, limit > 0);
		end();
	}

	mesh.params.conweave.flow_entries = 1; /* four: the places of a flow */
	begin_two_next_hops();
	for (uint16_t i = 0; i < 16; i++) {
		station_send(&mesh.hosts[0], flow(0, HOSTS, (uint16_t)(0xc000 + i)), 2, 1024);
		sim_run(mesh.sim, sim_now(mesh.sim) + US);
	}
	CU_ASSERT_EQUAL(leaf(0)->flows_unknown, 12 * 2);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 32);
	end();

	mesh.params.conweave.reorder_memory = REORDER_APART;
	begin_two_next_hops();
	arrives = begin_late_flow();
	expect_reorder_until(arrives + TAIL * PACKET, 101);
	sim_run(mesh.sim, START + 150 * US);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 1000);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].out_of_order, 0);
	end();
}

/* A run that ends while packets are queued leaves none behind. */
static void test_conweave_cut_short(void)
{
	sim_time arrives;

	begin_two_next_hops();
	arrives = begin_late_flow();
	sim_run(mesh.sim, arrives);
	CU_ASSERT_EQUAL(leaf(1)->reorder_packets, 10);
	CU_ASSERT_EQUAL(leaf(1)->reorder_released, 0);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	mesh_defaults(&mesh);
	spines = SPINES;
}

/* Two hosts on one path build a queue, whose packets are marked. New flows avoid the path for
 * busy_time, unless both sampled paths are marked. */
static void test_conweave_notify(void)
{
	unsigned next_hop, again = 0;

	mesh.params.ecn.mark = ECN_MARK_ENQUEUE;
	mesh.params.ecn.kmin = mesh.params.ecn.kmax = 0;
	mesh.params.ecn.pmax = 1;
	mesh.params.conweave.busy_time = 100 * MS;
	begin(BALANCE_CONWEAVE);
	mesh.hosts[0].ecn = mesh.hosts[1].ecn = ECN_ECT0;
	next_hop = probe(0, HOSTS, 0xc000);
	for (uint16_t port = 0xd000; probe(1, HOSTS + 1, port) != next_hop; port++)
		;
	station_send(&mesh.hosts[0], mesh.hosts[0].path, 20, 1024);
	station_send(&mesh.hosts[1], mesh.hosts[1].path, 20, 1024);
	sim_run(mesh.sim, sim_now(mesh.sim) + 20 * US);
	CU_ASSERT_EQUAL(leaf(1)->notifies, 38); /* of 40 packets: seen */
	mesh.hosts[2].ecn = ECN_NOT_ECT;
	for (uint16_t i = 0; i < 64; i++)
		again += probe(2, HOSTS + 2, (uint16_t)(0xe000 + i)) == next_hop;
	/* one in 64 on average, where without the table it is one in four */
	CU_ASSERT_TRUE(again <= 4);
	end();
}

/* ---- both ---- */

/* An uplink that is down from the start is never chosen. An uplink that goes down is avoided at
 * once. */
static void link_down(enum balance balance)
{
	begin(balance);
	port_set_link(switch_port(mesh.switches[0], uplink(0, 0)), false);
	for (uint16_t i = 0; i < 64; i++)
		CU_ASSERT_NOT_EQUAL(probe(0, HOSTS, (uint16_t)(0xc000 + i)), 0);
	CU_ASSERT_EQUAL(mesh.hosts[HOSTS].received, 64);
	station_send(&mesh.hosts[0], flow(0, HOSTS, 0xd000), 1000, 1024);
	sim_run(mesh.sim, sim_now(mesh.sim) + 5 * US);
	for (unsigned i = 1; i < SPINES - 1; i++)
		port_set_link(switch_port(mesh.switches[0], uplink(0, i)), false);
	CU_ASSERT_EQUAL(probe(0, HOSTS, 0xd000), SPINES - 1);
	end();
}

static void test_link_down(void)
{
	link_down(BALANCE_CONGA);
	link_down(BALANCE_CONWEAVE);
}

static uint64_t digest(enum balance balance, enum sim_engine engine)
{
	uint64_t sum = 0;

	mesh.params.buffer.size = 9000000;
	mesh.params.queueing = QUEUEING_ARRIVAL;
	CU_ASSERT_TRUE_FATAL(try_begin(balance, engine));
	for (uint16_t i = 0; i < 12; i++) {
		for (uint32_t host = 0; host < 2 * HOSTS; host++)
			station_send(&mesh.hosts[host],
				     flow(host, (host + HOSTS + i) % (2 * HOSTS),
					  (uint16_t)(0xc000 + i)),
				     40, 1024);
		sim_run(mesh.sim, (i + 1u) * 30 * US);
	}
	sim_run(mesh.sim, SIM_NEVER);
	for (uint32_t host = 0; host < 2 * HOSTS; host++)
		sum = (sum ^ mesh.hosts[host].digest) * UINT64_C(0x100000001b3);
	end();
	return sum;
}

static void test_engines(void)
{
	const enum balance balances[] = {BALANCE_DRILL, BALANCE_CONGA, BALANCE_CONWEAVE};

	for (unsigned i = 0; i < ARRAY_SIZE(balances); i++) {
		uint64_t native = digest(balances[i], SIM_ENGINE_native);

		CU_ASSERT_EQUAL(digest(balances[i], SIM_ENGINE_systemc), native);
		CU_ASSERT_EQUAL(digest(balances[i], SIM_ENGINE_systemc_reference), native);
	}
}

static void refused(enum balance balance, const char *expected)
{
	CU_ASSERT_FALSE(try_begin(balance, SIM_ENGINE_native));
	CU_ASSERT_PTR_NOT_NULL(strstr(mesh.error, expected));
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	mesh_defaults(&mesh);
}

static void test_refusals(void)
{
	refused(BALANCE_CONGA, "expected a shared buffer");
	mesh.params.buffer.size = 9000000;
	refused(BALANCE_CONWEAVE, "expected queueing: arrival");
	mesh.params.buffer.size = 9000000;
	mesh.params.queueing = QUEUEING_ARRIVAL;
	mesh.params.port.vls = 4;
	refused(BALANCE_CONWEAVE, "control_vl");
}
