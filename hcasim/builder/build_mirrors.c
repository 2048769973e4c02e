/* SPDX-License-Identifier: Apache-2.0 */
/* build_mirrors: sets up the mirrors of the scenario, after all other settings of its switches.
 * Part of build.h. */
#include "hcasim/builder/build.h"
#include "hcasim/schema/scenario.h"
#include "switch/mirror.h"

bool build_mirrors(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;

	for (uint32_t i = 0; i < scenario->mirror_count; i++) {
		const struct scenario_mirror *mirror = &scenario->mirrors[i];
		struct fabric_switch *sw = build->switches[mirror->switch_number];
		unsigned vls = port_vls(switch_port(sw, mirror->to_port));
		char path[32];

		if (mirror->params.priority < vls) {
			mirror_add(sw, &mirror->params, &mirror->ports, mirror->to_port);
			continue;
		}
		snprintf(error, error_bytes,
			 "mirrors: priority %lu; expected 0..%u, because the port has %u VLs",
			 (unsigned long)mirror->params.priority, vls - 1, vls);
		snprintf(path, sizeof(path), "mirrors.%u", i);
		return scenario_blame(scenario, path, error, error_bytes);
	}
	return true;
}
