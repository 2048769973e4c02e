/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_alone: a load on equal adapters at one switch or at the two ends of a cable. Nodes are
 * created first, then the switch, then links. Tests and published rows call this function. A
 * scenario creates its own fabric (hcasim/builder/build.h).
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "fabric/topology.h"
#include "switch/switch.h"
#include "traffic/load/load_state.h"

enum { NAME_BYTES = 64 };

struct alone {
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct fabric_switch *sw; /* NULL: topology cable */
	struct hca *hcas[LOAD_ALONE_NODES_MAX];
	struct load *load;
};

void load_setup_default(struct load_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	hca_params_default(&setup->hca);
	switch_params_default(&setup->sw);
	params_default(port_param_list, &setup->link);
	load_params_default(&setup->load);
}

static enum link_layer link_layer_of(const struct load_setup *setup)
{
	return setup->load.link_layer == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
}

static void add_node(struct alone *alone, const struct load_setup *setup, uint32_t index)
{
	struct hca_params params = index == 0 && setup->first_hca ? *setup->first_hca : setup->hca;
	char name[NAME_BYTES];

	port_params_override(&params.port, &setup->link, setup->link_given);
	snprintf(name, sizeof(name), "host%u.hca", index);
	endpoints_add(alone->endpoints, name, link_layer_of(setup),
		      (const uint8_t[]){10, 0, 0, (uint8_t)(index + 1)});
	alone->hcas[index] = hca_create(alone->sim, name, &params, link_layer_of(setup),
					alone->pool, load_driver(alone->load, index),
					load_address_resolver(alone->load, index));
	load_attach(alone->load, index, alone->hcas[index]);
}

static bool link_nodes(struct alone *alone, const struct load_setup *setup, char *error,
		       size_t error_bytes)
{
	uint32_t nodes = (uint32_t)setup->load.nodes;
	struct switch_params params = setup->sw;
	struct topology_switch ops;
	bool good = true;

	alone->topology = topology_create(alone->endpoints);
	for (uint32_t i = 0; i < nodes; i++)
		topology_add_host(alone->topology, hca_port(alone->hcas[i]), i);
	if (setup->load.topology == LOAD_CABLE)
		return topology_link(alone->topology, 0, 0, 1, 0, LENGTH_OF_PARAMS, RATE_OF_PARAMS,
				     error, error_bytes) &&
		       topology_finish(alone->topology, error, error_bytes);
	port_params_override(&params.port, &setup->link, setup->link_given);
	alone->sw = switch_create(alone->sim, "switch", &params, nodes, link_layer_of(setup),
				  alone->pool);
	ops = switch_topology(alone->sw);
	topology_add_switch(alone->topology, &ops);
	for (uint32_t i = 0; i < nodes && good; i++)
		good = topology_link(alone->topology, i, 0, nodes, i, LENGTH_OF_PARAMS,
				     RATE_OF_PARAMS, error, error_bytes);
	return good && topology_finish(alone->topology, error, error_bytes);
}

static bool create(struct alone *alone, const struct load_setup *setup, char *error,
		   size_t error_bytes)
{
	alone->sim = sim_create(SIM_ENGINE_native, 1);
	alone->pool = packet_pool_create();
	alone->endpoints = endpoints_create();
	alone->load = load_create(&setup->load, alone->sim, alone->endpoints, NULL);
	for (uint32_t i = 0; i < setup->load.nodes; i++)
		add_node(alone, setup, i);
	if (!link_nodes(alone, setup, error, error_bytes))
		return false;
	return load_connect(alone->load, error, error_bytes) &&
	       load_count(alone->load, setup->counter, error, error_bytes);
}

static void destroy(struct alone *alone, const struct load_setup *setup)
{
	for (uint32_t i = 0; i < setup->load.nodes; i++)
		hca_destroy(alone->hcas[i]);
	if (alone->sw)
		switch_destroy(alone->sw);
	if (alone->topology)
		topology_destroy(alone->topology);
	load_destroy(alone->load);
	packet_pool_destroy(alone->pool);
	endpoints_destroy(alone->endpoints);
	sim_destroy(alone->sim);
}

bool load_run(const struct load_setup *setup, struct load_result *result, char *error,
	      size_t error_bytes)
{
	struct alone alone = {0};
	bool good;

	if (!load_check(&setup->load, error, error_bytes))
		return false;
	good = create(&alone, setup, error, error_bytes);
	if (good) {
		load_advance(alone.load, SIM_NEVER, NULL, NULL);
		good = !load_failure(alone.load);
		if (!good)
			snprintf(error, error_bytes, "%s", load_failure(alone.load));
		else if ((good = blocks_check(alone.sim, stderr) == 0))
			load_take_result(alone.load, result);
		else
			snprintf(error, error_bytes, "the run violates its invariants");
	}
	destroy(&alone, setup);
	return good;
}
