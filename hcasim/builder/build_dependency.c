/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_dependency: is a deadlock possible on the routes that the scenario's packets take? Part of build.h.
 */
#include <stdio.h>

#include "fabric/dependency.h"
#include "hcasim/builder/build.h"

#define CYCLE_BYTES 600

/* What the workload's packets have; programs and loads, unless they say otherwise, have 0. */
static unsigned service_levels_of(const struct scenario *scenario)
{
	unsigned levels = 0;
	if (!scenario->has_workload)
		return 1;
	for (uint64_t i = 0; i < scenario->posting.service_levels; i++)
		levels |= 1u << ((scenario->posting.service_level + i) % SERVICE_LEVEL_COUNT);
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
		 "expected %s%s or "
		 "run: {deadlock: possible}; the circle: %s",
		 own ? "other routes" : "routing: up_down",
		 scenario->fabric.link_layer == 0 ? ", service_levels with VLs that break it," : "",
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
