/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests multicast in switches. Each member of a group gets each packet once, from any sender, in
 * any fabric, and no other host does. Copies arrive at the time of a unicast packet. A copy that
 * cannot leave keeps the input's space. No credit, byte or packet is created or lost. A host that
 * joins or leaves during a run gets exactly the packets that the switch forwards to it then. A
 * shared buffer stores a packet once. Covers packets of unknown groups.
 */
#include "sim/random.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"
#include "tests/switch/support/star.h"

#define TESTS(TEST)            \
	TEST(copies)           \
	TEST(changes)          \
	TEST(nobody)           \
	TEST(slow_member)      \
	TEST(copies_dropped)   \
	TEST(shared_buffer)    \
	TEST(lossy)            \
	TEST(unknown)          \
	TEST(two_levels)       \
	TEST(sender_elsewhere) \
	TEST(any_fabric)
SUITE(TESTS)

#define BYTE_PS 80
#define MTU     4096
#define WIRE    (MTU + 26)
#define LINK_PS 2500 /* 0.5 m */
#define CROSS   (90 * NS)

static struct star star;
static struct mesh mesh;

static const struct path *group_path(struct endpoints *endpoints, uint32_t from, uint32_t group)
{
	struct path path = *station_path(endpoints, from, from);
	const struct group *to = groups_get(endpoints_groups(endpoints), group);

	path.destination = GROUP_ADDRESS | group;
	path.dlid = to->lid;
	memcpy(path.dgid, to->gid, sizeof(path.dgid));
	if (path.link_layer == LINK_ETHERNET)
		group_mac(to->gid, path.dmac);
	return path_intern(endpoints_paths(endpoints), &path);
}

static uint32_t add_group(struct endpoints *endpoints)
{
	struct group group = {.gid = {0xff, 0x12, 0x40, 0x1b}};
	struct groups *groups = endpoints_groups(endpoints);

	group.gid[15] = (uint8_t)groups_count(groups);
	group.lid = (uint16_t)(GROUP_LID_FIRST + groups_count(groups));
	return groups_add(groups, &group);
}

static bool set_group(struct topology *topology, uint32_t group, const uint32_t *members,
		      uint32_t count, const uint32_t *senders, uint32_t sender_count)
{
	const struct topology_hosts to = {members, count}, from = {senders, sender_count};
	char error[256];

	return topology_set_group(topology, group, &to, &from, error, sizeof(error));
}

static void star_group(enum link_layer link_layer, unsigned hosts, const uint32_t *members,
		       uint32_t count)
{
	CU_ASSERT_TRUE(star_begin(&star, link_layer, hosts));
	CU_ASSERT_EQUAL(add_group(star.endpoints), 0);
	CU_ASSERT_TRUE(set_group(star.topology, 0, members, count, NULL, 0));
}

static void star_cast(uint32_t from, uint64_t packets, uint32_t payload_bytes)
{
	station_send(&star.hosts[from], group_path(star.endpoints, from, 0), packets,
		     payload_bytes);
}

/* Received packets left the switch, and the number of copies is right. */
static void check_switch(struct fabric_switch *sw)
{
	const struct switch_counters *count = switch_counters(sw);
	uint64_t in = 0, out = 0;

	for (unsigned i = 0; i < switch_ports(sw); i++) {
		const struct port *port = switch_port(sw, i), *peer = port_peer(port);

		in += port_counters(port)->packets_received;
		out += port_counters(port)->packets_sent;
		for (unsigned vl = 0; vl < port_vls(port); vl++)
			CU_ASSERT_EQUAL(port_input_used(port, vl), 0);
		if (peer)
			CU_ASSERT_EQUAL(port_counters(port)->credits_consumed,
					port_counters(peer)->credits_received);
	}
	CU_ASSERT_EQUAL(out, count->packets_forwarded);
	CU_ASSERT_EQUAL(in + count->copies, out + count->multicast_no_port_drops +
						    count->no_route_drops + count->hop_limit_drops +
						    count->oversize_drops);
}

static void star_finish(void)
{
	sim_run(star.sim, sim_now(star.sim) + MS);
	check_switch(star.sw);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* One packet enters and three leave at the same time. Each takes as long as a single packet. */
static void test_copies(void)
{
	static const uint32_t members[] = {1, 2, 3};

	star_defaults(&star);
	star_group(LINK_INFINIBAND, 5, members, 3);
	star_cast(0, 10, MTU);
	sim_run(star.sim, SIM_NEVER);
	for (unsigned i = 1; i <= 3; i++) {
		CU_ASSERT_EQUAL(star.hosts[i].received, 10);
		CU_ASSERT_EQUAL(star.hosts[i].out_of_order, 0);
		CU_ASSERT_EQUAL(star.hosts[i].first_head, 2 * LINK_PS + CROSS);
		CU_ASSERT_EQUAL(star.hosts[i].last_tail, 2 * LINK_PS + CROSS + 10 * WIRE * BYTE_PS);
	}
	CU_ASSERT_EQUAL(star.hosts[0].received + star.hosts[4].received, 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->packets_forwarded, 30);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->copies, 20);
	star_cast(2, 7, MTU); /* a member: to the others alone */
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[1].received, 17);
	CU_ASSERT_EQUAL(star.hosts[2].received, 10);
	CU_ASSERT_EQUAL(star.hosts[3].received, 17);
	star_finish();
}

/* Packets are dropped in three cases, each with its own counter: the only member sends, the group
 * has no member, or the group is unknown. */
/* Host 3 joins and host 1 leaves when the head of the fourth packet is about to come. */
static void test_changes(void)
{
	static const uint32_t first[] = {1, 2}, second[] = {2, 3};

	star_defaults(&star);
	star_group(LINK_INFINIBAND, 5, first, 2);
	star_cast(0, 10, MTU);
	sim_run(star.sim, LINK_PS + 3 * WIRE * BYTE_PS);
	CU_ASSERT_TRUE(set_group(star.topology, 0, second, 2, NULL, 0));
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[1].received, 3);
	CU_ASSERT_EQUAL(star.hosts[2].received, 10);
	CU_ASSERT_EQUAL(star.hosts[3].received, 7);
	CU_ASSERT_EQUAL(star.hosts[3].first_head, 2 * LINK_PS + CROSS + 3 * WIRE * BYTE_PS);
	star_finish();
}

static void test_nobody(void)
{
	static const uint32_t members[] = {1};

	star_defaults(&star);
	star_group(LINK_INFINIBAND, 3, members, 1);
	star_cast(1, 3, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->multicast_no_port_drops, 3);
	CU_ASSERT_TRUE(set_group(star.topology, 0, NULL, 0, NULL, 0));
	star_cast(0, 4, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->multicast_no_port_drops, 7);
	station_send(&star.hosts[0], group_path(star.endpoints, 0, add_group(star.endpoints)), 5,
		     MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->no_route_drops, 5);
	CU_ASSERT_EQUAL(star.hosts[0].received + star.hosts[1].received + star.hosts[2].received,
			0);
	star_finish();
}

/* A member accepts nothing. The other members get the packets that fit into its buffer and into the
 * switch's input, and no more until it accepts packets. */
static void slow_member(enum link_layer link_layer)
{
	static const uint32_t members[] = {1, 2};
	const uint64_t packets = 200;
	uint64_t before;

	star_defaults(&star);
	star.params.port.input_buffer = 66 * 64 * 10;
	if (link_layer == LINK_ETHERNET) {
		star.params.port.input_buffer = 200000;
		star.params.port.pause_quanta = 1000;
	}
	star_group(link_layer, 3, members, 2);
	star.hosts[2].holds = true;
	star_cast(0, packets, MTU);
	sim_run(star.sim, MS);
	before = star.hosts[1].received;
	/* 10 fit into each input, and the copy that waits is one of them; up to xoff and as long as
	 * a pause takes, 40 */
	CU_ASSERT_EQUAL(star.hosts[2].received, link_layer == LINK_INFINIBAND ? 10 : 40);
	CU_ASSERT_EQUAL(before, link_layer == LINK_INFINIBAND ? 10 + 9 : 40 + 39);
	star.hosts[2].holds = false;
	for (uint64_t i = star.hosts[2].received; i > 0; i--)
		port_release(star.hosts[2].port, 0, link_layer == LINK_ETHERNET ? MTU + 62 : WIRE);
	sim_run(star.sim, 10 * MS);
	for (unsigned i = 1; i <= 2; i++) {
		CU_ASSERT_EQUAL(star.hosts[i].received, packets);
		CU_ASSERT_EQUAL(star.hosts[i].out_of_order, 0);
		CU_ASSERT_EQUAL(port_counters(star.hosts[i].port)->overflow_drops, 0);
	}
	CU_ASSERT_EQUAL(port_counters(switch_port(star.sw, 0))->overflow_drops, 0);
	star_finish();
}

static void test_slow_member(void)
{
	slow_member(LINK_INFINIBAND);
	slow_member(LINK_ETHERNET);
}

/* The hop limit is exhausted, so each copy is dropped. */
static void test_copies_dropped(void)
{
	static const uint32_t members[] = {1, 2, 3};

	star_defaults(&star);
	star.params.routes = true;
	star_group(LINK_ETHERNET, 4, members, 3);
	star_cast(0, 5, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[3].received, 5);
	star.hosts[0].user.room = NULL;
	struct packet *packet = packet_new(star.pool);

	packet->path = group_path(star.endpoints, 0, 0);
	packet->opcode = RC_WRITE_MIDDLE;
	packet->payload_bytes = 100;
	packet->hop_limit = 1;
	packet->wire_bytes = packet_wire_bytes(packet);
	port_send(star.hosts[0].port, packet);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->hop_limit_drops, 3);
	star_finish();
}

/* A packet for 8 outputs is in the buffer once, and the queues of all outputs have it. */
static void test_shared_buffer(void)
{
	static const uint32_t members[] = {1, 2, 3, 4, 5, 6, 7, 8};
	const uint64_t packets = 100, wire = MTU + 62;
	struct shared_buffer *buffer;
	uint64_t held;

	star_defaults(&star);
	star.params.buffer.size = 12000000;
	star_group(LINK_ETHERNET, 9, members, 8);
	buffer = switch_buffer(star.sw);
	port_storm(star.hosts[8].port, 1, true); /* one of them is stopped */
	star_cast(0, packets, MTU);
	sim_run(star.sim, US * 100);
	CU_ASSERT_EQUAL(star.hosts[1].received, packets);
	held = shared_buffer_egress_used(buffer, buffer_class(8, 0));
	CU_ASSERT_EQUAL(held, (packets - 1) * wire); /* one left before it was stopped */
	CU_ASSERT_EQUAL(shared_buffer_used(buffer), held);
	CU_ASSERT_EQUAL(shared_buffer_ingress_used(buffer, buffer_class(0, 0)), held);
	CU_ASSERT_EQUAL(shared_buffer_egress_used(buffer, buffer_class(1, 0)), 0);
	CU_ASSERT_EQUAL(shared_buffer_used_max(buffer), (packets - 1) * wire);
	port_storm(star.hosts[8].port, 1, false);
	sim_run(star.sim, 10 * MS);
	CU_ASSERT_EQUAL(star.hosts[8].received, packets);
	CU_ASSERT_EQUAL(star.hosts[8].out_of_order, 0);
	CU_ASSERT_EQUAL(shared_buffer_used(buffer), 0);
	CU_ASSERT_EQUAL(shared_buffer_egress_used(buffer, buffer_class(8, 0)), 0);
	CU_ASSERT_EQUAL(switch_counters(star.sw)->headroom_drops, 0);
	star_finish();
}

/* A lossy copy that finds its queue beyond the threshold is dropped; the others are not. */
static void test_lossy(void)
{
	static const uint32_t members[] = {1, 2};
	const uint64_t packets = 500;

	star_defaults(&star);
	star.params.buffer.size = 1000000;
	star.params.buffer.lossless = 0;
	star_group(LINK_ETHERNET, 3, members, 2);
	port_storm(star.hosts[2].port, 1, true);
	star_cast(0, packets, MTU);
	sim_run(star.sim, MS);
	CU_ASSERT_EQUAL(star.hosts[1].received, packets);
	/* one left, 120 of 4158 B are half of the memory: as much as is free then */
	CU_ASSERT_EQUAL(switch_counters(star.sw)->egress_drops, packets - 1 - 120);
	port_storm(star.hosts[2].port, 1, false);
	sim_run(star.sim, 10 * MS);
	CU_ASSERT_EQUAL(star.hosts[2].received, packets - switch_counters(star.sw)->egress_drops);
	CU_ASSERT_EQUAL(shared_buffer_used(switch_buffer(star.sw)), 0);
	CU_ASSERT_EQUAL(star_end(&star), 0);
}

/* Ethernet: packets to an unconfigured group follow GROUP_UNKNOWN. */
static void test_unknown(void)
{
	static const uint32_t members[] = {1}, all[] = {0, 1, 2, 3};
	uint32_t other;

	star_defaults(&star);
	star_group(LINK_ETHERNET, 4, members, 1);
	CU_ASSERT_TRUE(set_group(star.topology, GROUP_UNKNOWN, all, 4, NULL, 0));
	star_cast(0, 2, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[1].received, 2);
	CU_ASSERT_EQUAL(star.hosts[2].received, 0);
	other = add_group(star.endpoints);
	station_send(&star.hosts[0], group_path(star.endpoints, 0, other), 3, MTU);
	sim_run(star.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(star.hosts[0].received, 0);
	CU_ASSERT_EQUAL(star.hosts[1].received, 5);
	CU_ASSERT_EQUAL(star.hosts[2].received, 3);
	CU_ASSERT_EQUAL(star.hosts[3].received, 3);
	star_finish();
}

/* Leaves 0 and 1 with hosts 0 to 2 and 3 to 5, two spines. */
static void test_two_levels(void)
{
	static const uint32_t members[] = {0, 1, 3, 4, 5}, senders[] = {2};
	const struct leaf_spine_shape shape = {.leaves = 2, .spines = 2, .hosts = 3};
	uint64_t through[2];

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE(topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_TRUE(mesh_begin(&mesh, SIM_ENGINE_native, LINK_INFINIBAND));
	for (uint32_t group = 0; group < 2; group++) {
		CU_ASSERT_EQUAL(add_group(mesh.endpoints), group);
		CU_ASSERT_TRUE(set_group(mesh.topology, group, members, 5, senders, group));
	}
	for (uint32_t group = 0; group < 2; group++) {
		sim_time start = sim_now(mesh.sim);

		station_send(&mesh.hosts[0], group_path(mesh.endpoints, 0, group), 100, MTU);
		sim_run(mesh.sim, SIM_NEVER);
		for (uint32_t i = 1; i < 6; i++) {
			unsigned links = i < 3 ? 2 : 4;

			if (i == 2)
				continue;
			CU_ASSERT_EQUAL(mesh.hosts[i].received, 100 * (group + 1));
			CU_ASSERT_EQUAL(mesh.hosts[i].last_head, start + links * LINK_PS +
									 (links - 1) * CROSS +
									 99 * WIRE * BYTE_PS);
		}
		sim_run(mesh.sim, sim_now(mesh.sim) + MS);
	}
	CU_ASSERT_EQUAL(mesh.hosts[0].received + mesh.hosts[2].received, 0);
	for (unsigned i = 0; i < 2; i++) /* a spine each */
		through[i] = switch_counters(mesh.switches[2 + i])->packets_forwarded;
	CU_ASSERT_EQUAL(through[0], 100);
	CU_ASSERT_EQUAL(through[1], 100);
	/* host 2 may send to the second group alone */
	station_send(&mesh.hosts[2], group_path(mesh.endpoints, 2, 1), 10, MTU);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh.hosts[0].received, 10);
	CU_ASSERT_EQUAL(mesh.hosts[5].received, 210);
	sim_run(mesh.sim, sim_now(mesh.sim) + MS);
	for (unsigned i = 0; i < 4; i++)
		check_switch(mesh.switches[i]);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* A host only sends, from a leaf without members. Its packets arrive, and no packet goes to the
 * leaf. */
static void test_sender_elsewhere(void)
{
	static const uint32_t members[] = {0, 1, 3}, senders[] = {8};
	const struct leaf_spine_shape shape = {.leaves = 3, .spines = 2, .hosts = 3};

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE(topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_TRUE(mesh_begin(&mesh, SIM_ENGINE_native, LINK_INFINIBAND));
	add_group(mesh.endpoints);
	CU_ASSERT_TRUE(set_group(mesh.topology, 0, members, 3, NULL, 0));
	station_send(&mesh.hosts[8], group_path(mesh.endpoints, 8, 0), 1, MTU);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(switch_counters(mesh.switches[2])->multicast_no_port_drops, 1);
	CU_ASSERT_TRUE(set_group(mesh.topology, 0, members, 3, senders, 1));
	station_send(&mesh.hosts[8], group_path(mesh.endpoints, 8, 0), 5, MTU);
	station_send(&mesh.hosts[0], group_path(mesh.endpoints, 0, 0), 7, MTU);
	sim_run(mesh.sim, SIM_NEVER);
	CU_ASSERT_EQUAL(mesh.hosts[0].received, 5);
	CU_ASSERT_EQUAL(mesh.hosts[1].received, 12);
	CU_ASSERT_EQUAL(mesh.hosts[3].received, 12);
	CU_ASSERT_EQUAL(port_counters(switch_port(mesh.switches[2], 3))->packets_received +
				port_counters(switch_port(mesh.switches[2], 4))->packets_received,
			0);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* ---- any fabric, any group, any senders ---- */

static bool lay_out(unsigned which)
{
	const struct fat_tree_shape tree = topology_fat_tree_of(4);
	const struct dragonfly_shape dragonfly = {.routers = 3, .hosts = 2, .global = 1};
	const struct torus_shape torus = {.sizes = {3, 4, 1}, .hosts = 2};
	const struct leaf_spine_shape leaf_spine = {.leaves = 4, .spines = 3, .hosts = 4};

	switch (which) {
	case 0:
		return topology_fat_tree(&mesh.layout, &tree, mesh.error, sizeof(mesh.error));
	case 1:
		return topology_dragonfly(&mesh.layout, &dragonfly, mesh.error, sizeof(mesh.error));
	case 2:
		return topology_torus(&mesh.layout, &torus, mesh.error, sizeof(mesh.error));
	default:
		return topology_leaf_spine(&mesh.layout, &leaf_spine, mesh.error,
					   sizeof(mesh.error));
	}
}

/* Draws a random set of hosts. Returns their number. */
static uint32_t draw(struct random *random, uint32_t hosts, bool is_in[], uint32_t list[])
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < hosts; i++) {
		is_in[i] = random_chance(random, 0.4);
		if (is_in[i])
			list[count++] = i;
	}
	return count;
}

static uint64_t run_random(unsigned which, bool up_down, enum link_layer link_layer, uint64_t seed,
			   enum sim_engine engine)
{
	bool member[64], sender[64];
	uint32_t members[64], senders[64], count, sender_count, hosts;
	uint64_t digest = 0;
	struct random random;

	mesh_defaults(&mesh);
	mesh.params.port.input_buffer = link_layer == LINK_ETHERNET ? 300000 : 20000;
	CU_ASSERT_TRUE_FATAL(lay_out(which));
	if (up_down)
		mesh.layout.routing = ROUTING_up_down;
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, engine, link_layer));
	random_init_named(&random, seed, "test", "multicast");
	hosts = mesh.host_count;
	count = draw(&random, hosts, member, members);
	sender_count = draw(&random, hosts, sender, senders);
	add_group(mesh.endpoints);
	CU_ASSERT_TRUE(set_group(mesh.topology, 0, members, count, senders, sender_count));
	for (uint32_t i = 0; i < sender_count; i++)
		station_send(&mesh.hosts[senders[i]], group_path(mesh.endpoints, senders[i], 0), 20,
			     (uint32_t)(random_u64(&random) % MTU));
	sim_run(mesh.sim, 100 * MS);
	for (uint32_t i = 0; i < hosts; i++) {
		uint32_t others = sender_count - sender[i];

		CU_ASSERT_EQUAL(mesh.hosts[i].received, member[i] ? 20 * others : 0);
		digest = digest * 31 + mesh.hosts[i].digest;
	}
	for (uint32_t i = 0; i < mesh.layout.node_count; i++)
		if (mesh.switches[i])
			check_switch(mesh.switches[i]);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	return digest;
}

static void test_any_fabric(void)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		unsigned which = seed % 4;
		bool up_down = seed / 4 % 2 || which == 1 || which == 2;
		enum link_layer link_layer = seed / 8 % 2 ? LINK_ETHERNET : LINK_INFINIBAND;
		uint64_t digest = run_random(which, up_down, link_layer, seed, SIM_ENGINE_native);

		if (seed % 6 == 0)
			CU_ASSERT_EQUAL(run_random(which, up_down, link_layer, seed,
						   SIM_ENGINE_systemc_reference),
					digest);
	}
}
