/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mesh: a layout made real, with a station for each host: for tests and benchmarks of whole
 * fabrics.
 */
#ifndef TESTS_SWITCH_SUPPORT_MESH_H
#define TESTS_SWITCH_SUPPORT_MESH_H

#include <stdio.h>
#include <stdlib.h>

#include "fabric/topologies.h"
#include "switch/shared_buffer.h"
#include "switch/switch.h"
#include "tests/fabric/support/station.h"

struct mesh {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct switch_params params;
	struct layout layout;
	struct fabric_switch **switches; /* by node; NULL: a host */
	struct station *hosts;           /* by endpoint */
	uint32_t host_count;
	char error[256];
};

/* layout and params first; false: mesh->why says why not. Switches and links of their own rate keep
 * it. */
static inline bool mesh_begin(struct mesh *mesh, enum sim_engine engine, enum link_layer link_layer)
{
	const struct layout *layout = &mesh->layout;

	mesh->sim = sim_create(engine, 1);
	mesh->pool = packet_pool_create();
	mesh->endpoints = endpoints_create();
	mesh->topology = topology_create(mesh->endpoints);
	mesh->switches = calloc(layout->node_count, sizeof(mesh->switches[0]));
	mesh->hosts = calloc(layout_hosts(layout), sizeof(mesh->hosts[0]));
	mesh->host_count = 0;
	assert(mesh->switches && mesh->hosts);
	for (uint32_t i = 0; i < layout->node_count; i++) {
		const struct layout_node *node = &layout->nodes[i];
		uint32_t number = mesh->host_count;
		const uint8_t ip[4] = {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8),
				       (uint8_t)(number + 1)};
		struct topology_switch ops;

		if (node->is_switch) {
			mesh->switches[i] = switch_create(mesh->sim, node->name, &mesh->params,
							  node->ports, link_layer, mesh->pool);
			ops = switch_topology(mesh->switches[i]);
			topology_add_switch(mesh->topology, &ops);
			continue;
		}
		station_init(&mesh->hosts[number], mesh->sim, node->name, &mesh->params.port,
			     link_layer, mesh->pool);
		endpoints_add(mesh->endpoints, node->name, link_layer, ip);
		topology_add_host(mesh->topology, mesh->hosts[mesh->host_count++].port, number);
	}
	return layout_apply(layout, mesh->topology, mesh->error, sizeof(mesh->error)) &&
	       topology_finish(mesh->topology, mesh->error, sizeof(mesh->error));
}

static inline void mesh_send(struct mesh *mesh, uint32_t from, uint32_t to, uint64_t packets,
			     uint32_t payload_bytes)
{
	station_send(&mesh->hosts[from], station_path(mesh->endpoints, from, to), packets,
		     payload_bytes);
}

/* Returns the packets that the pool misses: 0. */
static inline uint64_t mesh_end(struct mesh *mesh)
{
	uint64_t missing;

	for (uint32_t i = 0; i < mesh->host_count; i++)
		port_destroy(mesh->hosts[i].port);
	for (uint32_t i = 0; i < mesh->layout.node_count; i++)
		if (mesh->switches[i])
			switch_destroy(mesh->switches[i]);
	topology_destroy(mesh->topology);
	missing = packet_pool_in_use(mesh->pool);
	layout_fini(&mesh->layout);
	endpoints_destroy(mesh->endpoints);
	packet_pool_destroy(mesh->pool);
	sim_destroy(mesh->sim);
	free(mesh->switches);
	free(mesh->hosts);
	return missing;
}

static inline void mesh_defaults(struct mesh *mesh)
{
	memset(mesh, 0, sizeof(*mesh));
	switch_params_default(&mesh->params);
}

#endif
