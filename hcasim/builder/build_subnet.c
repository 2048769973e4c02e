/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_subnet: sets up the scenario's multicast groups and partitions on connected links and
 * routed switches. build.h declares the functions.
 */
#include <stdlib.h>

#include "fabric/topology.h"
#include "hcasim/builder/build.h"
#include "hcasim/builder/group_changes.h"
#include "hcasim/schema/scenario.h"
#include "switch/switch.h"

/* Ethernet: groups that the scenario does not name reach all hosts, as with switches that have not
 * learnt them. */
static bool flood(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	uint32_t *hosts = calloc(scenario->host_count + 1, sizeof(*hosts)), count = 0;
	if (!hosts)
		abort();
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (scenario->hosts[i].detailed)
			hosts[count++] = i;
	}
	bool good = topology_set_group(build->topology, GROUP_UNKNOWN,
				       &(struct topology_hosts){hosts, count},
				       &(struct topology_hosts){NULL, 0}, error, error_bytes);
	free(hosts);
	return good;
}

/* Tells each switch which of its ports lead to switches. */
static void set_neighbours(struct build *build)
{
	const struct scenario *scenario = build->scenario;
	struct port_set *switches = calloc(scenario->switch_count + 1u, sizeof(*switches));
	if (!switches)
		abort();
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++)
			if (link->ends[side].is_switch && link->ends[1 - side].is_switch)
				port_set_add(&switches[link->ends[side].number], link->ports[side]);
	}
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		switch_set_neighbours(build->switches[i], &switches[i]);
	free(switches);
}

static bool make_groups(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario_subnet *subnet = &build->scenario->subnet;
	bool good;
	build->group_changes = calloc(subnet->group_count + 1u, sizeof(*build->group_changes));
	if (!build->group_changes)
		abort();
	for (uint32_t i = 0; i < subnet->group_count; i++) {
		char path[32];
		const struct scenario_group *entry = &subnet->groups[i];
		uint32_t number = groups_add(endpoints_groups(build->endpoints), &entry->group);
		if (entry->change_count > 0) {
			build->group_changes[i] = group_changes_create(
				build->sim, build->topology, number, entry, error, error_bytes);
			good = build->group_changes[i];
		} else {
			good = topology_set_group(
				build->topology, number,
				&(struct topology_hosts){entry->members, entry->member_count},
				&(struct topology_hosts){entry->senders, entry->sender_count},
				error, error_bytes);
		}
		if (good)
			continue;
		snprintf(path, sizeof(path), "fabric.multicast.%u", i);
		return scenario_blame(build->scenario, path, error, error_bytes);
	}
	return true;
}

/* Sets the P_Key filters at the switch ports to which hosts are linked. */
static void filter(struct build *build)
{
	const struct scenario *scenario = build->scenario;
	enum partition_enforcement enforcement = scenario->fabric.partition_enforcement;
	enum switch_filters filters = enforcement == ENFORCE_IN    ? SWITCH_FILTER_IN
				      : enforcement == ENFORCE_OUT ? SWITCH_FILTER_OUT
								   : SWITCH_FILTER_BOTH;
	if (!scenario->subnet.of_hosts || enforcement == ENFORCE_OFF)
		return;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *sw = &link->ends[side],
						   *host = &link->ends[1 - side];
			if (!sw->is_switch || host->is_switch)
				continue;
			switch_set_partitions(build->switches[sw->number], link->ports[side],
					      &scenario->subnet.of_hosts[host->number], filters);
		}
	}
}

void build_subnet_destroy(struct build *build)
{
	uint32_t groups = build->scenario->subnet.group_count;
	for (uint32_t i = 0; build->group_changes && i < groups; i++) {
		if (build->group_changes[i])
			group_changes_destroy(build->group_changes[i]);
	}
	free(build->group_changes);
}

bool build_subnet(struct build *build, char *error, size_t error_bytes)
{
	filter(build);
	set_neighbours(build);
	if (!make_groups(build, error, error_bytes))
		return false;
	return build->scenario->fabric.link_layer == 0 || flood(build, error, error_bytes) ||
	       scenario_blame(build->scenario, "fabric", error, error_bytes);
}
