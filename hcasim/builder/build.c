/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build: creates all objects in a fixed order: endpoints, hosts, switches, links, faults. The order
 * determines block ids, which are part of the total order of events. The file has the same order.
 */
#include "hcasim/builder/build.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fabric/encoding.h"
#include "fabric/topology.h"
#include "hca/device/hca_params.h"
#include "hca/endpoint/endpoint.h"
#include "hcasim/schema/endpoint_device.h"
#include "sim/parallel.h"
#include "switch/switch.h"
#include "traffic/load/mixed_backend.h"
#include "traffic/workload/endpoint_backend.h"

#define NAME_BYTES 96

static void create_hosts(struct build *build);
static bool create_switches(struct build *build, char *error, size_t error_bytes);
static bool link_nodes(struct build *build, char *error, size_t error_bytes);
static bool create_flows(struct build *build, char *error, size_t error_bytes);

static void *take(size_t count, size_t bytes)
{
	void *memory = calloc(count > 0 ? count : 1, bytes);
	if (!memory)
		abort();
	return memory;
}

/* Returns the LP of the run that simulates a host or switch. */
static struct sim *sim_of(const struct build *build, bool is_switch, uint32_t number)
{
	uint32_t node = is_switch ? build->scenario->host_count + number : number;
	return sim_lp(build->sim, build->assignment ? build->assignment->of[node] : 0);
}

static struct packet_pool *pool_of(const struct build *build, const struct sim *sim)
{
	return build->pools[sim_lp_number(sim)];
}

/* Returns real time in ns. */
static uint64_t real_time(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void divide(struct build *build)
{
	build->pools[0] = build->pool;
	if (!build->assignment)
		return;
	if (build->assignment->ranks)
		sim_create_ranks(build->sim, build->assignment->ranks);
	else
		sim_create_lps(build->sim, build->assignment->lps);
	if (build->assignment->measured)
		sim_measure_threads(build->sim, real_time);
	packet_pool_set_paths(build->pool, endpoints_paths(build->endpoints));
	for (unsigned i = 1; i < build->assignment->lps; i++)
		build->pools[i] = packet_pool_create_beside(build->pool);
}

static enum link_layer link_layer_of(const struct scenario *scenario)
{
	return scenario->fabric.link_layer == 0 ? LINK_INFINIBAND : LINK_ETHERNET;
}

/* `carried`: parameters of detailed adapters whose hosts send messages of a workload and run no
 * programs. NULL: hosts have programs. */
static struct build *create(const struct scenario *scenario, enum sim_engine engine,
			    const struct lp_assignment *assignment,
			    const struct load_host_params *carried, bool color, bool verbose,
			    char *error, size_t error_bytes)
{
	bool detailed = scenario_has(scenario, FIDELITY_DETAILED);
	bool has_programs = detailed && !scenario->has_load && !carried;
	if (has_programs && !session_is_permitted(error, error_bytes)) {
		scenario_blame(scenario, "", error, error_bytes);
		return NULL;
	}
	struct build *build = take(1, sizeof(*build));
	build->scenario = scenario;
	build->assignment = assignment;
	build->sim = sim_create(engine, scenario->seed);
	build->pool = packet_pool_create();
	build->endpoints = endpoints_create();
	divide(build);
	if (scenario->has_load)
		build->load = load_create(&scenario->load, build->sim, build->endpoints,
					  assignment ? assignment->of : NULL);
	else if (carried && detailed)
		build->load = detailed_backend_create(carried, scenario->host_count,
						      link_layer_of(scenario), build->sim,
						      build->endpoints);
	else if (has_programs)
		build->session = session_create(build->sim, &scenario->cpu, &scenario->session,
						color, verbose);
	create_hosts(build);
	if (create_switches(build, error, error_bytes) && link_nodes(build, error, error_bytes) &&
	    build_vls(build, error, error_bytes) && build_subnet(build, error, error_bytes) &&
	    build_mirrors(build, error, error_bytes) && build_faults(build, error, error_bytes) &&
	    create_flows(build, error, error_bytes) &&
	    !build_refuses_deadlock(build, error, error_bytes)) {
		if (build->session)
			session_connect(build->session, &scenario->sockets, build->endpoints);
		if (!scenario->has_load || load_connect(build->load, error, error_bytes))
			return build;
		scenario_blame(scenario, "load", error, error_bytes);
	}
	build_destroy(build);
	return NULL;
}

struct build *build_create(const struct scenario *scenario, enum sim_engine engine, bool color,
			   bool verbose, char *error, size_t error_bytes)
{
	return create(scenario, engine, NULL,
		      scenario->has_workload ? &scenario->workload_hosts : NULL, color, verbose,
		      error, error_bytes);
}

struct build *build_create_for_messages(const struct scenario *scenario, enum sim_engine engine,
					char *error, size_t error_bytes)
{
	return create(scenario, engine, NULL, &scenario->mpi_hosts, false, false, error,
		      error_bytes);
}

struct build *build_create_parallel(const struct scenario *scenario,
				    const struct lp_assignment *assignment, char *error,
				    size_t error_bytes)
{
	return create(scenario, SIM_ENGINE_native, assignment, &scenario->workload_hosts, false,
		      false, error, error_bytes);
}

/* Returns the port parameters at either end of a link. Both ends have the same parameters. */
static struct port_params link_port(const struct scenario *scenario, uint32_t number)
{
	const struct scenario_link *link = &scenario->links[number];
	const struct scenario_node *end = &link->ends[0];
	const struct scenario_host *host = &scenario->hosts[end->number];
	struct port_params params = end->is_switch   ? scenario->switches[end->number].params->port
				    : host->detailed ? host->detailed->port
						     : host->endpoint->port;
	port_params_override(&params, link->port, link->given);
	return params;
}

sim_time build_link_latency(const struct scenario *scenario, uint32_t number)
{
	struct port_params params = link_port(scenario, number);
	return port_params_latency(&params);
}

uint64_t build_link_rate_bps(const struct scenario *scenario, uint32_t number)
{
	struct port_params params = link_port(scenario, number);
	return params.speed == SPEED_EXPLICIT
		       ? params.rate
		       : encoding_rate_bps((enum infiniband_speed)params.speed, params.width);
}

/* Returns the link of each host's port. */
static const struct scenario_link **links_of_hosts(const struct scenario *scenario)
{
	const struct scenario_link **links = take(scenario->host_count, sizeof(*links));
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			if (!link->ends[side].is_switch)
				links[link->ends[side].number] = link;
		}
	}
	return links;
}

static void create_hca(struct build *build, uint32_t i, const struct scenario_link *link,
		       struct hca_driver *driver, struct address_resolver *resolver)
{
	const struct scenario_host *host = &build->scenario->hosts[i];
	struct sim *sim = sim_of(build, false, i);
	struct hca_params params = *host->detailed;
	char name[NAME_BYTES];
	if (link)
		port_params_override(&params.port, link->port, link->given);
	snprintf(name, sizeof(name), "%s.hca", host->name);
	build->hcas[i] = hca_create(sim, name, &params, link_layer_of(build->scenario),
				    pool_of(build, sim), driver, resolver);
	hca_set_endpoints(build->hcas[i], build->endpoints);
}

/* Creates a detailed adapter with a kernel that programs call. */
static void create_detailed(struct build *build, uint32_t i, const struct scenario_link *link)
{
	const struct scenario_host *host = &build->scenario->hosts[i];
	char name[NAME_BYTES];
	struct kernel_host *kernel_host = session_add_host(build->session, host->name, host->ipv4);
	snprintf(name, sizeof(name), "%s.kernel", host->name);
	build->kernels[i] = kernel_create(build->sim, name, NULL, build->endpoints, i, kernel_host);
	*kernel_params(build->kernels[i]) = build->scenario->kernel;
	create_hca(build, i, link, kernel_driver(build->kernels[i]),
		   kernel_address_resolver(build->kernels[i]));
	kernel_attach(build->kernels[i], build->hcas[i]);
	session_set_kernel(build->session, i, build->kernels[i]);
	session_set_link(build->session, i, port_rate_bps(hca_port(build->hcas[i])));
}

static void create_loaded(struct build *build, uint32_t i, const struct scenario_link *link)
{
	create_hca(build, i, link, load_driver(build->load, i),
		   load_address_resolver(build->load, i));
	load_attach(build->load, i, build->hcas[i]);
}

static void create_endpoint(struct build *build, uint32_t i, const struct scenario_link *link,
			    bool has_tcp, bool has_iwarp)
{
	const struct scenario_host *host = &build->scenario->hosts[i];
	struct port_params port = host->endpoint->port;
	char name[NAME_BYTES];
	if (link)
		port_params_override(&port, link->port, link->given);
	snprintf(name, sizeof(name), "%s.hca", host->name);
	struct sim *sim = sim_of(build, false, i);
	build->endpoint_hcas[i] = endpoint_create(
		sim, name, &host->endpoint->endpoint, &port, link_layer_of(build->scenario),
		pool_of(build, sim), &host->endpoint->choice.congestion);
	endpoint_attach(build->endpoint_hcas[i], build->endpoints, i);
	endpoint_set_connections(build->endpoint_hcas[i], &host->endpoint->memory,
				 &host->endpoint->cache);
	if (has_tcp)
		endpoint_set_tcp(build->endpoint_hcas[i], &host->endpoint->tcp);
	if (has_iwarp)
		endpoint_set_iwarp(build->endpoint_hcas[i]);
	if (build->load)
		load_set_far(build->load, i, sim);
}

static void create_hosts(struct build *build)
{
	const struct scenario *scenario = build->scenario;
	enum link_layer link_layer = link_layer_of(scenario);
	const struct scenario_link **links = links_of_hosts(scenario);
	bool has_tcp = scenario_has_tcp(scenario), has_iwarp = scenario_has_iwarp(scenario);
	build->kernels = take(scenario->host_count, sizeof(*build->kernels));
	build->hcas = take(scenario->host_count, sizeof(*build->hcas));
	build->endpoint_hcas = take(scenario->host_count, sizeof(*build->endpoint_hcas));
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		const struct scenario_host *host = &scenario->hosts[i];
		endpoints_add(build->endpoints, host->name, link_layer, host->ipv4);
		if (scenario->subnet.of_hosts)
			endpoints_set_partitions(build->endpoints, i,
						 &scenario->subnet.of_hosts[i]);
	}
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (scenario->hosts[i].endpoint)
			create_endpoint(build, i, links[i], has_tcp, has_iwarp);
		else if (build->load)
			create_loaded(build, i, links[i]);
		else
			create_detailed(build, i, links[i]);
	}
	free(links);
}

struct backend *build_backend(const struct build *build)
{
	const struct scenario *scenario = build->scenario;
	if (!build->load)
		return endpoint_backend_create(build->endpoint_hcas, scenario->host_count,
					       &scenario->hosts[0].endpoint->endpoint);
	if (!scenario_has(scenario, FIDELITY_ENDPOINT))
		return detailed_backend(build->load);
	return mixed_backend_create(build->load, build->endpoint_hcas, scenario->host_count);
}

struct port *build_host_port(const struct build *build, uint32_t host)
{
	return build->endpoint_hcas[host] ? endpoint_port(build->endpoint_hcas[host])
					  : hca_port(build->hcas[host]);
}

/* Returns the number of ports of each switch, which exceeds the highest port number of a link. */
static unsigned *count_ports(const struct scenario *scenario)
{
	unsigned *ports = take(scenario->switch_count, sizeof(*ports));
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		ports[i] = scenario->switches[i].ports;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &link->ends[side];
			if (end->is_switch && ports[end->number] <= link->ports[side])
				ports[end->number] = link->ports[side] + 1u;
		}
	}
	return ports;
}

/* Prepends the file position of a switch, or of the switches of a topology. */
static bool blame_switch(const struct scenario *scenario, uint32_t number, const char *key,
			 char *error, size_t error_bytes)
{
	char path[NAME_BYTES];
	if (scenario->every_switch.params)
		snprintf(path, sizeof(path), "fabric.switch.%s", key);
	else
		snprintf(path, sizeof(path), "fabric.switches.%.64s.%s",
			 scenario->switches[number].name, key);
	return scenario_blame(scenario, path, error, error_bytes);
}

/* Prepends the file position of a link, in a list or in a topology. */
static bool blame_link(const struct scenario *scenario, uint32_t number, char *error,
		       size_t error_bytes)
{
	char path[NAME_BYTES];
	snprintf(path, sizeof(path), "fabric.links.%u", number);
	return scenario_blame(scenario,
			      scenario->topology.kind == TOPOLOGY_LINKS ? path : "fabric.topology",
			      error, error_bytes);
}

static bool has_overlay(const struct switch_params *params)
{
	return params->balance == BALANCE_CONGA || params->balance == BALANCE_CONWEAVE;
}

/* Checks that leaf switches use the same overlay header, because each reads the headers of the
 * others. */
static bool overlays_agree(const struct scenario *scenario, char *error, size_t error_bytes)
{
	const struct scenario_switch *first = scenario->switches;
	for (uint32_t i = 1; i < scenario->switch_count; i++) {
		const struct scenario_switch *other = &scenario->switches[i];
		if (!has_overlay(first->params) && !has_overlay(other->params))
			continue;
		if (other->params->balance == first->params->balance &&
		    other->params->conga.header == first->params->conga.header &&
		    other->params->conweave.header == first->params->conweave.header)
			continue;
		snprintf(error, error_bytes,
			 "%s and %s have different load balancing; expected the same balance "
			 "(conga or conweave) and header at all switches",
			 first->name, other->name);
		return blame_switch(scenario, i, "balance", error, error_bytes);
	}
	return true;
}

static bool create_switches(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	unsigned *ports = count_ports(scenario);
	bool good = overlays_agree(scenario, error, error_bytes);
	build->switches = take(scenario->switch_count, sizeof(*build->switches));
	for (uint32_t i = 0; good && i < scenario->switch_count; i++) {
		const struct scenario_switch *device = &scenario->switches[i];
		struct sim *sim = sim_of(build, true, i);
		good = ports[i] > 0 && ports[i] <= PORT_SET_PORTS;
		if (good) {
			build->switches[i] =
				switch_create(sim, device->name, device->params, ports[i],
					      link_layer_of(scenario), pool_of(build, sim));
			continue;
		}
		snprintf(error, error_bytes, "%s has %u links; expected 1..%d", device->name,
			 ports[i], PORT_SET_PORTS);
		blame_switch(scenario, i, "", error, error_bytes);
	}
	for (uint32_t i = 0; good && i < scenario->switch_count; i++) {
		good = scenario->switches[i].params->unknown == UNKNOWN_DROP ||
		       !scenario_has(scenario, FIDELITY_DETAILED);
		if (good)
			continue;
		snprintf(error, error_bytes,
			 "%s floods unknown addresses; with detailed adapters, set unknown: drop",
			 scenario->switches[i].name);
		blame_switch(scenario, i, "unknown", error, error_bytes);
	}
	for (uint32_t i = 0; good && i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &link->ends[side];
			if (!end->is_switch)
				continue;
			struct port_params params = scenario->switches[end->number].params->port;
			port_params_override(&params, link->port, link->given);
			port_set_params(
				switch_port(build->switches[end->number], link->ports[side]),
				&params);
		}
	}
	free(ports);
	return good;
}

/* Returns the number in the topology: hosts first, then switches. */
static unsigned topology_node(const struct build *build, const struct scenario_node *node)
{
	return node->is_switch ? build->scenario->host_count + node->number : node->number;
}

/* Records the positions of the switches of a layout, and its routing unless the scenario sets
 * one. */
static void place(struct build *build)
{
	static const enum topology_routing routings[] = {ROUTING_min_hop, ROUTING_min_hop,
							 ROUTING_up_down, ROUTING_dimension_order};
	const struct scenario *scenario = build->scenario;
	const struct layout *layout = &scenario->layout;
	uint32_t next = scenario->host_count;
	topology_set_routing(build->topology, scenario->fabric.routing == 0
						      ? layout->routing
						      : routings[scenario->fabric.routing]);
	topology_set_sizes(build->topology, layout->sizes);
	for (uint32_t i = 0; i < layout->node_count; i++) {
		const struct layout_node *node = &layout->nodes[i];
		if (!node->is_switch)
			continue;
		if (node->rank != LAYOUT_NO_RANK)
			topology_set_rank(build->topology, next, node->rank);
		if (node->placed)
			topology_set_position(build->topology, next, node->position);
		next++;
	}
}

static bool link_nodes(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	bool good = true;
	build->topology = topology_create(build->endpoints);
	build->ports = take((size_t)2 * scenario->link_count, sizeof(*build->ports));
	for (uint32_t i = 0; i < scenario->host_count; i++)
		topology_add_host(build->topology, build_host_port(build, i), i);
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		struct topology_switch device = switch_topology(build->switches[i]);
		topology_add_switch(build->topology, &device);
	}
	for (uint32_t i = 0; i < scenario->link_count && good; i++) {
		const struct scenario_link *link = &scenario->links[i];
		unsigned nodes[2], numbers[2] = {0, 0};
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &link->ends[side];
			nodes[side] = topology_node(build, end);
			if (end->is_switch)
				numbers[side] = link->ports[side];
			build->ports[build->port_count++] =
				end->is_switch
					? switch_port(build->switches[end->number], numbers[side])
					: build_host_port(build, end->number);
		}
		good = topology_link(build->topology, nodes[0], numbers[0], nodes[1], numbers[1],
				     LENGTH_OF_PARAMS, RATE_OF_PARAMS, error, error_bytes);
		if (!good)
			blame_link(scenario, i, error, error_bytes);
	}
	if (!good)
		return false;
	place(build);
	endpoints_set_topology(build->endpoints, build->topology);
	return topology_finish(build->topology, error, error_bytes) ||
	       scenario_blame(scenario, "fabric", error, error_bytes);
}

static bool create_flows(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (scenario->fabric.fidelity != FIDELITY_FLOW)
		return true;
	build->flows = flow_fabric_create(build->sim, build->topology, error, error_bytes);
	if (!build->flows)
		scenario_blame(scenario, "fabric.fidelity", error, error_bytes);
	for (uint32_t i = 0; build->flows && i < scenario->host_count; i++)
		endpoint_set_flows(build->endpoint_hcas[i], build->flows);
	return build->flows;
}

void build_destroy(struct build *build)
{
	const struct scenario *scenario = build->scenario;
	if (build->session)
		session_destroy(build->session);
	if (build->load) /* a workload may have ended by its time */
		sim_drop(build->sim);
	build_faults_destroy(build); /* faults go before the ports that they act on */
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (build->endpoint_hcas[i]) {
			endpoint_destroy(build->endpoint_hcas[i]);
			continue;
		}
		hca_destroy(build->hcas[i]);
		if (build->kernels[i])
			kernel_destroy(build->kernels[i]);
	}
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		if (build->switches[i])
			switch_destroy(build->switches[i]);
	}
	build_subnet_destroy(build);
	if (build->flows)
		flow_fabric_destroy(build->flows);
	if (build->topology)
		topology_destroy(build->topology);
	if (build->load)
		load_destroy(build->load);
	endpoints_destroy(build->endpoints);
	packet_pool_destroy(build->pool);
	sim_destroy(build->sim);
	free(build->kernels);
	free(build->hcas);
	free(build->endpoint_hcas);
	free(build->switches);
	free(build->ports);
	free(build);
}
