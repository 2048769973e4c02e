/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_vls: which packets share a VL and which VL goes first, as a scenario says it, and forwarding tables
 * from a file. What a subnet manager would have set up.
 */
#ifndef HCASIM_SCHEMA_SCENARIO_VLS_H
#define HCASIM_SCHEMA_SCENARIO_VLS_H

#include "fabric/port.h"

#define SERVICE_LEVEL_COUNT 16
#define DSCP_COUNT          64
#define DSCP_NOT_SAID       0xff

struct scenario_arbitration {
	const char *from, *to; /* patterns of names: the ports at `from` of links to `to` */
	struct vl_arbitration tables;
};

struct scenario_service_levels {
	const char *at, *from, *to; /* switches; whom its input and its output are linked to */
	uint8_t vls[SERVICE_LEVEL_COUNT];
};

struct scenario_dscp {
	const char *at;
	uint8_t priorities[DSCP_COUNT];
};

struct scenario_route {
	const char *at, *to; /* switches, hosts */
	const char *via;     /* neighbours of those switches; NULL: no route */
};

struct scenario_vls {
	struct scenario_arbitration *arbitrations;
	struct scenario_service_levels *service_levels;
	struct scenario_dscp *dscps;
	struct scenario_route *routes;
	uint32_t arbitration_count, service_level_count, dscp_count, route_count;
	char *forwarding; /* a file's path; ours; NULL: as the topology is routed */
};

#endif
