/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a cyclic wait is found and named, and nothing else. In a ring of four switches every
 * host sends to the opposite one. It deadlocks under credits, under PFC and with a shared buffer.
 * The same ring with up/down routes delivers everything. A host that accepts nothing, or a slow
 * ring, is no deadlock.
 */
#include "fabric/deadlock.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST)            \
	TEST(ring)             \
	TEST(up_down)          \
	TEST(slow_host)        \
	TEST(watchdog_ends_it) \
	TEST(engines_agree)
SUITE(TESTS)

#define SWITCHES 4
#define PACKETS  4000

static struct mesh mesh;
static struct deadlock found;
static unsigned founds;

static void note(void *context, const struct deadlock *deadlock)
{
	CU_ASSERT_PTR_EQUAL(context, &mesh);
	found = *deadlock;
	founds++;
	sim_stop(mesh.sim);
}

static struct deadlock_watch *begin(enum sim_engine engine, enum link_layer link_layer,
				    enum topology_routing routing, bool shared)
{
	const struct torus_shape ring = {{SWITCHES, 1, 1}, 2};

	founds = 0;
	mesh_defaults(&mesh);
	if (shared) {
		mesh.params.buffer.size = 1000000;
		mesh.params.buffer.alpha = 0.125;
	}
	CU_ASSERT_TRUE_FATAL(topology_torus(&mesh.layout, &ring, mesh.error, sizeof(mesh.error)));
	mesh.layout.routing = routing;
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, engine, link_layer));
	for (uint32_t i = 0; i < mesh.host_count; i++)
		mesh_send(&mesh, i, (i + mesh.host_count / 2) % mesh.host_count, PACKETS, 4096);
	return deadlock_watch_create(mesh.sim, mesh.topology, 100 * US, note, &mesh);
}

/* Packets in the deadlock are freed with the fabric. */
static void end(struct deadlock_watch *watch)
{
	deadlock_watch_destroy(watch);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static void ring(enum link_layer link_layer, bool shared, uint64_t before)
{
	char text[1024];
	struct deadlock_watch *watch =
		begin(SIM_ENGINE_native, link_layer, ROUTING_dimension_order, shared);

	sim_run(mesh.sim, 20 * MS);
	CU_ASSERT_EQUAL_FATAL(founds, 1);
	CU_ASSERT_EQUAL(found.count, SWITCHES);
	CU_ASSERT_EQUAL(found.buffers % SWITCHES, 0);
	CU_ASSERT_FALSE(found.cut);
	CU_ASSERT_EQUAL(found.at % (100 * US), 0);
	deadlock_print(&found, text, sizeof(text));
	/* port 2 leads to the next switch, port 3 to the previous; hosts have ports 0 and 1 */
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "switch1.port3 VL 0 waits at switch1.port2 for "
					    "switch2.port3 VL 0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "switch3.port3 VL 0 waits at switch3.port2 for "
					    "switch0.port3 VL 0"));
	uint64_t received = 0, later = 0;

	for (uint32_t i = 0; i < mesh.host_count; i++)
		received += mesh.hosts[i].received;
	sim_run(mesh.sim, 100 * MS); /* before the watchdogs wake */
	for (uint32_t i = 0; i < mesh.host_count; i++)
		later += mesh.hosts[i].received;
	CU_ASSERT_EQUAL(received, before); /* of 32000: seen */
	CU_ASSERT_EQUAL(later, received);  /* it was one */
	end(watch);
}

static void test_ring(void)
{
	ring(LINK_INFINIBAND, false, 116);
	ring(LINK_ETHERNET, false, 80);
	ring(LINK_ETHERNET, true, 68);
}

static void no_deadlock(enum link_layer link_layer, bool shared)
{
	struct deadlock_watch *watch =
		begin(SIM_ENGINE_native, link_layer, ROUTING_up_down, shared);

	sim_run(mesh.sim, 20 * MS);
	CU_ASSERT_EQUAL(founds, 0);
	CU_ASSERT_TRUE(deadlock_watch_looks(watch) > 20);
	for (uint32_t i = 0; i < mesh.host_count; i++)
		CU_ASSERT_EQUAL(mesh.hosts[i].received, PACKETS);
	CU_ASSERT_EQUAL(sim_next(mesh.sim), SIM_NEVER); /* the watch does not keep the run alive */
	end(watch);
}

static void test_up_down(void)
{
	no_deadlock(LINK_INFINIBAND, false);
	no_deadlock(LINK_ETHERNET, false);
	no_deadlock(LINK_ETHERNET, true);
}

/* A victim tree ends at a host. No packet moves, although there is no cycle. */
static void test_slow_host(void)
{
	struct deadlock deadlock;

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE_FATAL(topology_parking_lot(&mesh.layout, &(struct parking_lot_shape){4, 1},
						  mesh.error, sizeof(mesh.error)));
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, LINK_INFINIBAND));
	mesh.hosts[3].holds = true;
	for (uint32_t i = 0; i < 3; i++)
		mesh_send(&mesh, i, 3, 200, 4096);
	sim_run(mesh.sim, 5 * MS);
	CU_ASSERT_EQUAL(mesh.hosts[3].received, 31);
	CU_ASSERT_EQUAL(sim_next(mesh.sim), SIM_NEVER);
	CU_ASSERT_FALSE(deadlock_find(mesh.topology, &deadlock));
	CU_ASSERT_EQUAL(deadlock.buffers, 0);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

/* The watchdog of PFC ends a deadlock, with losses: rows D-20, D-21. */
static void test_watchdog_ends_it(void)
{
	struct deadlock_watch *watch =
		begin(SIM_ENGINE_native, LINK_ETHERNET, ROUTING_dimension_order, false);
	uint64_t received = 0, dropped = 0;

	sim_run(mesh.sim, 10 * SEC); /* stops where it is found */
	CU_ASSERT_EQUAL(founds, 1);
	sim_run(mesh.sim, 10 * SEC);
	for (uint32_t i = 0; i < mesh.host_count; i++)
		received += mesh.hosts[i].received;
	for (uint32_t i = 0; i < SWITCHES; i++)
		dropped += switch_counters(mesh.switches[i])->queue_drops;
	CU_ASSERT_EQUAL(received, 80); /* as many as before: all other packets wait for the cycle */
	CU_ASSERT_EQUAL(dropped, mesh.host_count * PACKETS - received);
	end(watch);
}

static void test_engines_agree(void)
{
	sim_time at[SIM_ENGINE_COUNT];

	for (unsigned engine = 0; engine < SIM_ENGINE_COUNT; engine++) {
		struct deadlock_watch *watch = begin((enum sim_engine)engine, LINK_INFINIBAND,
						     ROUTING_dimension_order, false);

		sim_run(mesh.sim, 20 * MS);
		CU_ASSERT_EQUAL(founds, 1);
		at[engine] = found.at;
		end(watch);
	}
	CU_ASSERT_EQUAL(at[SIM_ENGINE_native], at[SIM_ENGINE_systemc]);
	CU_ASSERT_EQUAL(at[SIM_ENGINE_native], at[SIM_ENGINE_systemc_reference]);
}
