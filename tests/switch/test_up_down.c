/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that routes which go up and then down are recognised: in a fat tree, in leaves with rails,
 * and in a ring with up/down routes. The shortest routes of a ring and of a dragonfly are not of
 * this kind. The search of all buffers agrees: it finds a cycle only where the check fails.
 */
#include "fabric/dependency.h"
#include "fabric/up_down.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST)    \
	TEST(fat_tree) \
	TEST(rails)    \
	TEST(ring)     \
	TEST(valley)   \
	TEST(dragonfly)
SUITE(TESTS)

static struct mesh mesh;

static void check(enum link_layer link_layer, bool holds, bool has_cycle)
{
	struct dependency_cycle cycle;
	bool known;

	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, link_layer));
	CU_ASSERT_EQUAL(up_down_holds(mesh.topology), holds);
	CU_ASSERT_EQUAL(dependency_find(mesh.topology, 1, &cycle, &known), has_cycle);
	CU_ASSERT_TRUE(known);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static void test_fat_tree(void)
{
	const struct fat_tree_shape shape = topology_fat_tree_of(4);

	for (unsigned i = 0; i < 2; i++) {
		mesh_defaults(&mesh);
		CU_ASSERT_TRUE_FATAL(
			topology_fat_tree(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
		check(i ? LINK_ETHERNET : LINK_INFINIBAND, true, false);
	}
}

static void test_rails(void)
{
	const struct leaf_spine_shape shape = {.leaves = 4, .spines = 2, .hosts = 2, .rails = 2};

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE_FATAL(
		topology_leaf_spine(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	check(LINK_ETHERNET, true, false);
}

static void test_ring(void)
{
	const struct torus_shape ring = {{5, 1, 1}, 1};

	for (unsigned i = 0; i < 2; i++) {
		mesh_defaults(&mesh);
		CU_ASSERT_TRUE_FATAL(
			topology_torus(&mesh.layout, &ring, mesh.error, sizeof(mesh.error)));
		mesh.layout.routing = i ? ROUTING_up_down : ROUTING_dimension_order;
		check(LINK_INFINIBAND, i, !i);
	}
}

/* In a square of four switches with routes by dimension, packets go down and up again. The search
 * finds no cycle. */
static void test_valley(void)
{
	const struct torus_shape grid = {{2, 2, 1}, 1};

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE_FATAL(topology_torus(&mesh.layout, &grid, mesh.error, sizeof(mesh.error)));
	mesh.layout.routing = ROUTING_dimension_order;
	check(LINK_INFINIBAND, false, false);
}

static void test_dragonfly(void)
{
	const struct dragonfly_shape shape = {.routers = 4, .hosts = 2, .global = 2};

	mesh_defaults(&mesh);
	CU_ASSERT_TRUE_FATAL(
		topology_dragonfly(&mesh.layout, &shape, mesh.error, sizeof(mesh.error)));
	check(LINK_INFINIBAND, false, true);
}
