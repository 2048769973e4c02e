/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_vls: mapping of packets to VLs, VL arbitration, and forwarding tables from a file. In a
 * real subnet, the subnet manager configures them.
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
	/* at: switches. from, to: neighbours at the input and at the output. */
	const char *at, *from, *to;
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
	char *forwarding; /* path of a file; owned; NULL: routes of the topology */
};

#endif
