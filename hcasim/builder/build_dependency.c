/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_dependency: checks whether a deadlock is possible on the routes of the scenario's packets.
 * build.h declares the functions.
 */
#include <stdio.h>

#include "fabric/dependency.h"
#include "hcasim/builder/build.h"

#define CYCLE_BYTES 600

/* Returns the service levels of the workload's packets. Programs and loads use 0 by default. */
static unsigned service_levels_of(const struct scenario *scenario)
{
	unsigned levels = 0;
	if (!scenario->has_workload)
		return 1;
	for (uint32_t i = 0; i < scenario->workload_count; i++) {
		const struct flow_driver_params *posting = &scenario->workloads[i].posting;
		for (uint64_t k = 0; k < posting->service_levels; k++)
			levels |= 1u << ((posting->service_level + k) % SERVICE_LEVEL_COUNT);
	}
	return levels;
}

bool build_may_deadlock(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	struct dependency_cycle cycle;
	char text[CYCLE_BYTES];
	if (scenario->fabric.fidelity == FIDELITY_FLOW ||
	    !dependency_find(build->topology, service_levels_of(scenario), &cycle, NULL))
		return false;
	bool own = scenario->vls.route_count > 0 || scenario->vls.forwarding;
	snprintf(error, error_bytes,
		 "the routes of packets form a circle of buffers, so a deadlock is possible; "
		 "expected %s%s or run: {deadlock: possible}; the circle: %s",
		 own ? "other routes" : "routing: up_down",
		 scenario->fabric.link_layer == 0
			 ? ", service_levels with VLs that break the circle,"
			 : "",
		 dependency_print(&cycle, text, sizeof(text)));
	return true;
}

bool build_refuses_deadlock(const struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	if (!scenario->has_workload || scenario->run.deadlock != DEADLOCK_ERROR ||
	    !build_may_deadlock(build, error, error_bytes))
		return false;
	scenario_blame(scenario, "fabric", error, error_bytes);
	return true;
}
