/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_faults: creates the scenario's faults on existing links: faults of packets at the sides of
 * ports, and faults of ports at all named ports. Also creates rerouting around links that are down.
 * build.h declares the functions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fabric/reroute.h"
#include "fabric/topology.h"
#include "hcasim/builder/build.h"
#include "sim/counters.h"
#include "sim/renamed_keys.h"

#define NAME_BYTES 128

static const uint64_t *watched(const struct build *build, const struct scenario_fault *fault)
{
	return fault->counter ? counters_find(build->sim, fault->counter) : NULL;
}

static bool counters_exist(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const char *counter = scenario->faults[i].counter;
		char path[32], hint[128];
		if (!counter || counters_find(build->sim, counter))
			continue;
		renamed_key_hint(renamed_key_of_counter(counter), NULL, NULL, 0, hint,
				 sizeof(hint));
		snprintf(error, error_bytes,
			 "faults: when: unknown counter \"%s\"%s; expected a name of counters.json",
			 counter, hint);
		snprintf(path, sizeof(path), "faults.%u", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	return true;
}

/* Creates all rules for traffic from one end of a link to the other, on one side of it. */
static void create_packet_faults(struct build *build, const struct scenario_link *link,
				 unsigned from, struct port *port, bool at_receiver)
{
	const struct scenario *scenario = build->scenario;
	struct fault *fault = NULL;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		const struct scenario_fault *entry = &scenario->faults[i];
		char name[NAME_BYTES];
		if (entry->of_ports || (entry->place.side == 1) != at_receiver ||
		    !scenario_fault_concerns(scenario, entry, link, from))
			continue;
		if (!fault) {
			snprintf(name, sizeof(name), "%s.%s_fault", port_name(port),
				 at_receiver ? "receive" : "transmit");
			fault = fault_create(port_sim(port), name);
			build->faults[build->fault_count++] = fault;
		}
		struct fault_rule rule = scenario_fault_rule(entry, watched(build, entry));
		fault_add(fault, &rule);
	}
	if (fault && at_receiver)
		port_set_receive_fault(port, fault);
	else if (fault)
		port_set_transmit_fault(port, fault);
}

/* `ports` has room for all ports. */
static void create_port_fault(struct build *build, uint32_t entry, struct port **ports)
{
	const struct scenario *scenario = build->scenario;
	const struct scenario_fault *fault = &scenario->faults[entry];
	unsigned count = 0;
	char name[NAME_BYTES];
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned from = 0; from < 2; from++) {
			if (scenario_fault_concerns(scenario, fault, &scenario->links[i], from))
				ports[count++] = build->ports[2 * (size_t)i + from];
		}
	}
	/* with a condition, all these ports are in the LP of the counter (lp_assignment.c) */
	struct port_fault_plan plan = scenario_fault_plan(fault, watched(build, fault));
	snprintf(name, sizeof(name), "faults.%u", entry);
	build->port_faults[build->port_fault_count++] = port_fault_create(
		count > 0 ? port_sim(ports[0]) : build->sim, name, &plan, ports, count);
}

static bool takes_links_down(const struct scenario_fault *fault)
{
	return fault->of_ports && fault->port_kind == PORT_FAULT_link_down;
}

bool build_reroutes(const struct scenario *scenario)
{
	const struct scenario_vls *vls = &scenario->vls;
	if (scenario->fabric.reroute_delay == 0 || vls->route_count > 0 || vls->forwarding ||
	    scenario->fabric.fidelity == FIDELITY_FLOW)
		return false;
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		if (takes_links_down(&scenario->faults[i]))
			return true;
	}
	return false;
}

static uint32_t topology_number(const struct build *build, const struct scenario_link *link,
				unsigned side)
{
	const struct scenario_node *end = &link->ends[side];
	uint32_t node = end->is_switch ? build->scenario->host_count + end->number : end->number;
	return topology_port_number(build->topology, node, end->is_switch ? link->ports[side] : 0);
}

/* Follows the links of a fault, by the numbers of their ports. `numbers` has room for all links. */
static void follow(struct build *build, uint32_t entry, uint32_t *numbers)
{
	const struct scenario *scenario = build->scenario;
	const struct scenario_fault *fault = &scenario->faults[entry];
	const struct port_fault_plan plan = scenario_fault_plan(fault, watched(build, fault));
	uint32_t count = 0, faults = 0;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		if (!scenario_fault_concerns(scenario, fault, link, 0) &&
		    !scenario_fault_concerns(scenario, fault, link, 1))
			continue;
		numbers[count++] = topology_number(build, link, 0);
		numbers[count++] = topology_number(build, link, 1);
	}
	for (uint32_t i = 0; i < entry; i++)
		faults += scenario->faults[i].of_ports;
	for (unsigned lp = 0; lp < SIM_LPS_MAX; lp++) {
		if (build->reroutes[lp])
			reroute_add(build->reroutes[lp], &plan, numbers, count,
				    build->port_faults[faults]);
	}
}

static void create_reroutes(struct build *build)
{
	const struct scenario *scenario = build->scenario;
	uint32_t *numbers = calloc(build->port_count + 1u, sizeof(*numbers));
	if (!numbers)
		abort();
	for (unsigned lp = 0; lp < sim_lps(build->sim); lp++)
		build->reroutes[lp] = reroute_create(sim_lp(build->sim, lp), build->topology,
						     scenario->fabric.reroute_delay);
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		if (takes_links_down(&scenario->faults[i]))
			follow(build, i, numbers);
	}
	free(numbers);
}

bool build_faults(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (!counters_exist(build, error, error_bytes))
		return false;
	build->faults = calloc((size_t)4 * scenario->link_count + 1, sizeof(*build->faults));
	build->port_faults = calloc(scenario->fault_count + 1u, sizeof(*build->port_faults));
	struct port **ports = calloc(build->port_count + 1u, sizeof(struct port *));
	if (!build->faults || !build->port_faults || !ports)
		abort();
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned from = 0; from < 2; from++) {
			struct port **ends = &build->ports[2 * (size_t)i];
			create_packet_faults(build, &scenario->links[i], from, ends[from], false);
			create_packet_faults(build, &scenario->links[i], from, ends[1 - from],
					     true);
		}
	}
	for (uint32_t i = 0; i < scenario->fault_count; i++) {
		if (scenario->faults[i].of_ports)
			create_port_fault(build, i, ports);
	}
	free(ports);
	if (build_reroutes(scenario))
		create_reroutes(build);
	return true;
}

void build_faults_destroy(struct build *build)
{
	for (unsigned lp = 0; lp < SIM_LPS_MAX; lp++) {
		if (build->reroutes[lp])
			reroute_destroy(build->reroutes[lp]);
	}
	for (uint32_t i = 0; i < build->port_fault_count; i++)
		port_fault_destroy(build->port_faults[i]);
	for (uint32_t i = 0; i < build->fault_count; i++)
		fault_destroy(build->faults[i]);
	free(build->port_faults);
	free(build->faults);
}
