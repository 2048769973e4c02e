/*
 * study_run: a study as simulation objects: switches and hosts in the order of the layout, links, routes, the player.
 * Then what came of it, in a few values.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/topologies.h"
#include "scenarios/study.h"
#include "switch/switch.h"

enum study_topology { STAR, DUMBBELL, PARKING_LOT, LEAF_SPINE, FAT_TREE, DRAGONFLY, TORUS };

struct study_run {
	const struct fabric_study *study;
	struct sim *sim;
	struct packet_pool *pool;
	struct endpoints *endpoints;
	struct topology *topology;
	struct layout layout;
	struct switch_params box;
	struct port_params port; /* of hosts */
	struct fabric_switch **switches;
	struct endpoint_hca **hcas;
	uint32_t switch_count, host_count;
	struct workload *workload;
	struct player *player;
};

static bool lay_out(struct study_run *run, char *why, size_t why_bytes)
{
	const struct study_fabric_params *params = &run->study->fabric;
	uint32_t hosts = params->hosts ? (uint32_t)params->hosts : 2;
	struct fat_tree_shape tree = fat_tree_of((uint32_t)params->arity);

	switch ((enum study_topology)params->topology) {
	case STAR:
		return topology_star(&run->layout, &(struct star_shape){hosts}, why, why_bytes);
	case DUMBBELL:
		return topology_dumbbell(&run->layout,
					 &(struct dumbbell_shape){hosts, hosts, params->uplink_rate,
								  LENGTH_OF_PARAMS},
					 why, why_bytes);
	case PARKING_LOT:
		return topology_parking_lot(
			&run->layout,
			&(struct parking_lot_shape){(uint32_t)params->switches, hosts}, why,
			why_bytes);
	case LEAF_SPINE:
		return topology_leaf_spine(&run->layout,
					   &(struct leaf_spine_shape){
						   .leaves = (uint32_t)params->leaves,
						   .spines = (uint32_t)params->spines,
						   .hosts = hosts,
						   .uplink_bps = params->uplink_rate,
					   },
					   why, why_bytes);
	case FAT_TREE:
		if (params->hosts)
			tree.hosts = hosts;
		return topology_fat_tree(&run->layout, &tree, why, why_bytes);
	case DRAGONFLY:
		return topology_dragonfly(&run->layout,
					  &(struct dragonfly_shape){(uint32_t)params->routers,
								    hosts, (uint32_t)params->global,
								    (uint32_t)params->groups},
					  why, why_bytes);
	case TORUS:
		break;
	}
	return topology_torus(
		&run->layout,
		&(struct torus_shape){{(uint16_t)params->size_x, (uint16_t)params->size_y,
				       (uint16_t)params->size_z},
				      hosts},
		why, why_bytes);
}

/* What the link says replaces what the ports' own presets say. */
static void override_port(struct port_params *port, const struct fabric_study *study)
{
	for (unsigned i = 0; port_param_list[i].name; i++) {
		char text[128], why[256];

		if (!(study->link_given >> i & 1))
			continue;
		param_print(&port_param_list[i], study->link, text, sizeof(text));
		bool good = param_parse(&port_param_list[i], text, port, why, sizeof(why));

		assert(good);
	}
}

static enum link_layer link_layer_of(const struct study_run *run)
{
	return run->study->fabric.link_layer == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
}

static bool add_switch(struct study_run *run, const struct layout_node *node, char *why,
		       size_t why_bytes)
{
	struct fabric_switch *box;
	struct topology_switch ops;

	if (node->ports > SWITCH_PORTS_MAX) {
		snprintf(why, why_bytes, "%s would have %u ports; a switch has %d at most",
			 node->name, node->ports, SWITCH_PORTS_MAX);
		return false;
	}
	box = switch_create(run->sim, node->name, &run->box, node->ports, link_layer_of(run),
			    run->pool);
	run->switches[run->switch_count++] = box;
	ops = switch_topology(box);
	topology_add_switch(run->topology, &ops);
	return true;
}

static void add_host(struct study_run *run, const struct layout_node *node)
{
	uint32_t number = run->host_count++;
	const uint8_t ip[4] = {10, (uint8_t)(number >> 16), (uint8_t)(number >> 8),
			       (uint8_t)number};
	struct endpoint_hca *hca =
		endpoint_create(run->sim, node->name, &run->study->hca, &run->port,
				link_layer_of(run), run->pool, &run->study->congestion);

	endpoints_add(run->endpoints, node->name, link_layer_of(run), ip);
	endpoint_attach(hca, run->endpoints, number);
	run->hcas[number] = hca;
	topology_add_host(run->topology, endpoint_port(hca), number);
}

static bool build(struct study_run *run, char *why, size_t why_bytes)
{
	run->switches = calloc(run->layout.node_count, sizeof(run->switches[0]));
	run->hcas = calloc(run->layout.node_count, sizeof(run->hcas[0]));
	assert(run->switches && run->hcas);
	for (uint32_t i = 0; i < run->layout.node_count; i++) {
		const struct layout_node *node = &run->layout.nodes[i];

		if (!node->is_switch)
			add_host(run, node);
		else if (!add_switch(run, node, why, why_bytes))
			return false;
	}
	return layout_apply(&run->layout, run->topology, why, why_bytes) &&
	       topology_finish(run->topology, why, why_bytes);
}

/* All links are taken to be as the first host's; see ideal.h. */
static struct ideal_path way(void *context, uint32_t source, uint32_t destination)
{
	struct study_run *run = context;
	const struct port *port = endpoint_port(run->hcas[source]);
	uint32_t hops = topology_distance(run->topology, source, destination);
	sim_time again = run->box.crossing_latency;

	if (link_layer_of(run) == LINK_ETHERNET)
		again += port_serialization(port, 8); /* preamble */
	return (struct ideal_path){
		.latency = hops * port_latency(port) + (hops - 1) * again,
		.rate_bps = port_rate_bps(port),
		.hops = hops,
	};
}

struct study_run *study_run_create(const struct fabric_study *study, enum sim_kernel kernel,
				   char *why, size_t why_bytes)
{
	struct study_run *run = calloc(1, sizeof(*run));

	assert(run);
	run->study = study;
	run->sim = sim_create(kernel, study->seed);
	run->pool = packet_pool_create();
	run->endpoints = endpoints_create();
	run->topology = topology_create(run->endpoints);
	run->box = *study->box;
	run->port = study->box->port;
	override_port(&run->box.port, study);
	override_port(&run->port, study);
	if (lay_out(run, why, why_bytes) && build(run, why, why_bytes))
		run->workload = workload_create(&study->workload, run->host_count,
						port_rate_bps(endpoint_port(run->hcas[0])),
						study->seed, study->trace, why, why_bytes);
	if (!run->workload) {
		study_run_destroy(run);
		return NULL;
	}
	run->player = player_create(run->sim, run->workload, &study->flows, run->hcas, &study->hca,
				    way, run);
	return run;
}

void study_run_play(struct study_run *run)
{
	sim_run(run->sim, SIM_NEVER);
}

static void add_port(struct study_values *values, const struct port *port)
{
	const struct port_counters *count = port_counters(port);

	values->pauses += (double)count->pause_sent;
	values->drops += (double)(count->overflow_drops + count->fault_drops + count->damage_drops);
}

struct study_values study_run_values(const struct study_run *run)
{
	struct flow_summary summary = flow_table_summarise(player_records(run->player),
							   run->workload->count, 0, UINT64_MAX);
	double duration = summary.done ? (double)(summary.last - summary.first) : 0;
	struct study_values values = {
		.flows = summary.flows,
		.done = summary.done,
		.failed = summary.failed,
		.bytes = (double)summary.bytes,
		.duration_us = duration / (double)US,
		.goodput_gbps = duration > 0 ? (double)summary.bytes * 8e3 / duration : 0,
		.fct_mean_us = summary.fct_mean_us,
		.fct_p50_us = summary.fct_p50_us,
		.fct_p99_us = summary.fct_p99_us,
		.slowdown_mean = summary.slowdown_mean,
		.slowdown_p50 = summary.slowdown_p50,
		.slowdown_p95 = summary.slowdown_p95,
		.slowdown_p99 = summary.slowdown_p99,
	};

	for (uint32_t i = 0; i < run->host_count; i++) {
		const struct endpoint_counters *count = endpoint_counters(run->hcas[i]);

		values.resent += (double)count->packets_resent;
		values.timeouts += (double)count->local_ack_timeouts;
		values.marked += (double)count->ecn_marked_packets;
		values.cnps += (double)count->cnp_sent;
		add_port(&values, endpoint_port(run->hcas[i]));
	}
	for (uint32_t i = 0; i < run->switch_count; i++)
		for (unsigned j = 0; j < switch_ports(run->switches[i]); j++)
			add_port(&values, switch_port(run->switches[i], j));
	return values;
}

const struct flow_record *study_run_flows(const struct study_run *run, uint32_t *count)
{
	*count = run->workload->count;
	return player_records(run->player);
}

struct sim *study_run_sim(const struct study_run *run)
{
	return run->sim;
}

void study_run_destroy(struct study_run *run)
{
	if (run->player)
		player_destroy(run->player);
	if (run->workload)
		workload_destroy(run->workload);
	for (uint32_t i = 0; i < run->host_count; i++)
		endpoint_destroy(run->hcas[i]);
	for (uint32_t i = 0; i < run->switch_count; i++)
		switch_destroy(run->switches[i]);
	free(run->switches);
	free(run->hcas);
	topology_destroy(run->topology);
	layout_fini(&run->layout);
	endpoints_destroy(run->endpoints);
	packet_pool_destroy(run->pool);
	sim_destroy(run->sim);
	free(run);
}
