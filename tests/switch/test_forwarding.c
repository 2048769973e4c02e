/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the blocks of forwarding tables. In fat trees, a table by endpoint, which has blocks, names
 * the same ports as a table by LID, which has an entry for each host. A route to one host divides
 * its block and changes no other host. The block is whole again with its former route.
 */
#include "switch/switch_state.h"
#include "tests/support/suite.h"
#include "tests/switch/support/mesh.h"

#define TESTS(TEST) \
	TEST(same)  \
	TEST(split)
SUITE(TESTS)

#define SWITCHES 512 /* nodes, with hosts */
#define HOSTS    256

static struct mesh mesh;
static uint16_t ports[SWITCHES][HOSTS];

static void begin(enum link_layer link_layer, const struct fat_tree_shape *shape)
{
	mesh_defaults(&mesh);
	CU_ASSERT_TRUE_FATAL(
		topology_fat_tree(&mesh.layout, shape, mesh.error, sizeof(mesh.error)));
	CU_ASSERT_TRUE_FATAL(mesh_begin(&mesh, SIM_ENGINE_native, link_layer));
	CU_ASSERT_TRUE_FATAL(mesh.host_count <= HOSTS && mesh.layout.node_count <= SWITCHES);
}

static uint16_t port_to(uint32_t sw, uint32_t host)
{
	const struct path path = {.destination = host,
				  .dlid = endpoints_get(mesh.endpoints, host)->lid};

	return forwarding_find(mesh.switches[sw], &path);
}

static const struct fabric_switch *some_switch(void)
{
	uint32_t i = 0;

	while (!mesh.switches[i])
		i++;
	return mesh.switches[i];
}

static void compare(const struct fat_tree_shape *shape)
{
	begin(LINK_INFINIBAND, shape);
	for (uint32_t i = 0; i < mesh.layout.node_count; i++)
		for (uint32_t j = 0; mesh.switches[i] && j < mesh.host_count; j++)
			ports[i][j] = port_to(i, j);
	CU_ASSERT_EQUAL(some_switch()->block_bits, 0);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
	begin(LINK_ETHERNET, shape);
	for (uint32_t i = 0; i < mesh.layout.node_count; i++)
		for (uint32_t j = 0; mesh.switches[i] && j < mesh.host_count; j++)
			CU_ASSERT_EQUAL(port_to(i, j), ports[i][j]);
	CU_ASSERT_TRUE(some_switch()->block_bits > 0);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}

static void test_same(void)
{
	const struct fat_tree_shape even = topology_fat_tree_of(8);
	const struct fat_tree_shape odd = {
		.pods = 3, .edges = 5, .aggregations = 3, .hosts = 3, .uplinks = 5};

	compare(&even);
	compare(&odd);
}

/* Routes each host in turn to another port, then back. */
static void check_split(uint32_t node)
{
	struct fabric_switch *sw = mesh.switches[node];
	uint16_t splits = sw->split_count;

	for (uint32_t i = 0; i < mesh.host_count; i++)
		ports[0][i] = port_to(node, i);
	for (uint32_t i = 0; i < mesh.host_count; i++) {
		const uint16_t *block = &sw->table[i >> sw->block_bits];
		uint16_t before = *block, other = (uint16_t)((ports[0][i] + 1u) % sw->port_count);

		switch_route(sw, mesh.endpoints, i, other);
		for (uint32_t j = 0; j < mesh.host_count; j++)
			CU_ASSERT_EQUAL(port_to(node, j), j == i ? other : ports[0][j]);
		switch_route(sw, mesh.endpoints, i, ports[0][i]);
		CU_ASSERT_EQUAL(port_to(node, i), ports[0][i]);
		CU_ASSERT_TRUE(before >= FIRST_CHOICE || *block == before);
	}
	if (sw->choice_count == 0)
		CU_ASSERT_TRUE(sw->split_count <= splits + 1);
}

static void test_split(void)
{
	const struct fat_tree_shape shape = topology_fat_tree_of(8);

	begin(LINK_ETHERNET, &shape);
	for (uint32_t i = 0; i < mesh.layout.node_count; i++)
		if (mesh.switches[i])
			check_split(i);
	CU_ASSERT_EQUAL(mesh_end(&mesh), 0);
}
