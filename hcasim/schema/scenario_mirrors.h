/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_mirrors: section `mirrors`, port mirroring of switches (switch/mirror.h). Each entry
 * names an analyser and neighbours of its switch:
 *
 *     mirrors:
 *       - {from: [host0, host1], to: host7}
 *       - {from: ["spine*"], direction: ingress, dscp: 26, sample: 100, to: host7}
 *
 * With ERSPAN, the analyser may be a host of another switch:
 *
 *       - {switch: leaf1, from: ["*"], to: host0, erspan: {session: 7}}
 */
#ifndef HCASIM_SCHEMA_SCENARIO_MIRRORS_H
#define HCASIM_SCHEMA_SCENARIO_MIRRORS_H

#include <stdio.h>

#include "switch/mirror.h"

struct yaml_node;
struct scenario;
struct scenario_reader;

struct scenario_mirror {
	const char *on;    /* pattern of the name of the switch; NULL: the switch of the analyser */
	const char **from; /* patterns of names of neighbours */
	uint32_t from_count;
	uint32_t to; /* number of the host */
	struct mirror_params params;
	bool is_erspan;
	struct mirror_erspan_params erspan;
	/* what the names select: the switch and its mirrored ports, and the switch of the analyser
	 * with the port to the analyser. Both are the same switch without ERSPAN. */
	uint32_t switch_number, to_switch, to_port;
	struct port_set ports;
};

const char *const *scenario_mirrors_read(struct scenario_reader *reader, struct yaml_node *node);
void scenario_mirrors_print(const struct scenario *scenario, FILE *out);
void scenario_mirrors_release(struct scenario *scenario);

#endif
