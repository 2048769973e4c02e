/* SPDX-License-Identifier: Apache-2.0 */
/* build_mirrors: sets up the mirrors of the scenario, after all other settings of its switches.
 * build.h declares the functions. */
#include "hcasim/builder/build.h"

#include <string.h>

#include "hcasim/schema/scenario.h"
#include "switch/mirror.h"

#define SWITCH_NET 78 /* switches are 127.78.x.y; hosts are 127.77.x.y by default */

/* Returns the path of ERSPAN packets from the switch to the analyser. A switch has no port number
 * of its own, so addresses follow from its number. */
static const struct path *path_of(struct build *build, const struct scenario_mirror *mirror)
{
	uint32_t number = mirror->switch_number + 1;
	struct path path =
		endpoints_path(build->endpoints, mirror->to, mirror->to,
			       (unsigned)mirror->params.priority, (unsigned)mirror->erspan.ttl, 0);

	path.source = NO_ENDPOINT;
	path.traffic_class = (uint8_t)(mirror->erspan.dscp << 2);
	path.sgid[13] = SWITCH_NET;
	path.sgid[12] = 127;
	path.sgid[14] = (uint8_t)(number >> 8);
	path.sgid[15] = (uint8_t)number;
	memset(path.smac, 0, sizeof(path.smac));
	path.smac[0] = 2; /* locally administered: IEEE 802 8.2 */
	path.smac[4] = (uint8_t)(number >> 8);
	path.smac[5] = (uint8_t)number;
	return path_intern(endpoints_paths(build->endpoints), &path);
}

static void add_mirror(struct build *build, const struct scenario_mirror *mirror)
{
	struct fabric_switch *sw = build->switches[mirror->switch_number];

	if (!mirror->is_erspan) {
		mirror_add(sw, &mirror->params, &mirror->ports, mirror->to_port);
		return;
	}
	port_set_aside(switch_port(build->switches[mirror->to_switch], mirror->to_port));
	mirror_add_erspan(sw, &mirror->params, &mirror->erspan, &mirror->ports,
			  path_of(build, mirror));
}

bool build_mirrors(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;

	for (uint32_t i = 0; i < scenario->mirror_count; i++) {
		const struct scenario_mirror *mirror = &scenario->mirrors[i];
		struct fabric_switch *to = build->switches[mirror->to_switch];
		unsigned vls = port_vls(switch_port(to, mirror->to_port));
		char path[32];

		if (mirror->params.priority < vls) {
			add_mirror(build, mirror);
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
