/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_vls: sets up the scenario's VLs and forwarding tables on connected links and routed
 * switches. build.h declares the functions.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/lft_file.h"
#include "hcasim/builder/build.h"
#include "sim/input.h"
#include "switch/switch.h"

#define ERROR_BYTES 512

/* Returns true if the name of an end of a link matches the pattern. */
static bool end_matches(const struct scenario *scenario, const struct scenario_node *node,
			const char *pattern)
{
	return fnmatch(pattern, scenario_node_name(scenario, node), 0) == 0;
}

static void arbitrate(struct build *build, const struct scenario_arbitration *entry)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		for (unsigned side = 0; side < 2; side++) {
			if (end_matches(scenario, &ends[side], entry->from) &&
			    end_matches(scenario, &ends[1 - side], entry->to))
				port_set_vl_arbitration(build->ports[2 * (size_t)i + side],
							&entry->tables);
		}
	}
}

/* Returns the ports of a switch whose neighbour matches the pattern. */
static struct port_set ports_towards(const struct scenario *scenario, uint32_t sw,
				     const char *pattern)
{
	struct port_set ports = {0};
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &link->ends[side];
			if (end->is_switch && end->number == sw &&
			    end_matches(scenario, &link->ends[1 - side], pattern))
				port_set_add(&ports, link->ports[side]);
		}
	}
	return ports;
}

static void map_service_levels(struct build *build, const struct scenario_service_levels *entry)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t sw = 0; sw < scenario->switch_count; sw++) {
		if (fnmatch(entry->at, scenario->switches[sw].name, 0) != 0)
			continue;
		struct port_set inputs = ports_towards(scenario, sw, entry->from);
		struct port_set outputs = ports_towards(scenario, sw, entry->to);
		PORT_SET_EACH(input, &inputs)
		PORT_SET_EACH(output, &outputs)
		switch_set_sl2vl(build->switches[sw], input, output, entry->vls);
	}
}

static void map_dscp(struct build *build, const struct scenario_dscp *entry)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t sw = 0; sw < scenario->switch_count; sw++) {
		if (fnmatch(entry->at, scenario->switches[sw].name, 0) != 0)
			continue;
		for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++) {
			if (entry->priorities[dscp] != DSCP_NOT_SAID)
				switch_set_dscp_priority(build->switches[sw], dscp,
							 entry->priorities[dscp]);
		}
	}
}

/* Sets a route of the scenario. Such routes may be incomplete or circular. */
static bool map_route(struct build *build, const struct scenario_route *entry, char *error,
		      size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	for (uint32_t sw = 0; sw < scenario->switch_count; sw++) {
		if (fnmatch(entry->at, scenario->switches[sw].name, 0) != 0)
			continue;
		struct port_set ports = {0};
		if (entry->via)
			ports = ports_towards(scenario, sw, entry->via);
		if (entry->via && port_set_count(&ports) == 0) {
			snprintf(error, error_bytes, "routes: %s has no link to \"%s\"",
				 scenario->switches[sw].name, entry->via);
			return false;
		}
		for (uint32_t host = 0; host < scenario->host_count; host++) {
			if (fnmatch(entry->to, scenario->hosts[host].name, 0) != 0)
				continue;
			if (entry->via)
				switch_route_any(build->switches[sw], build->endpoints, host,
						 &ports);
			else
				switch_unroute(build->switches[sw], build->endpoints, host);
		}
	}
	return true;
}

/* ---- forwarding tables from a file ---- */

#define NO_PORT 0xff

struct tables {
	struct build *build;
	uint8_t *ports; /* [switch][host] output port; NO_PORT: not in the file */
	char error[ERROR_BYTES];
};

static uint32_t find_switch(const struct scenario *scenario, const char *name)
{
	uint32_t i = 0;
	while (i < scenario->switch_count && strcmp(scenario->switches[i].name, name) != 0)
		i++;
	return i;
}

static bool take_route(void *context, const struct lft_route *route)
{
	struct tables *tables = context;
	const struct scenario *scenario = tables->build->scenario;
	uint32_t sw = find_switch(scenario, route->sw);
	uint32_t host = endpoints_by_lid(tables->build->endpoints, route->lid);
	if (sw == scenario->switch_count) {
		snprintf(tables->error, ERROR_BYTES, "no switch is called \"%s\"", route->sw);
		return false;
	}
	if (host == NO_ENDPOINT) /* a switch's own LID */
		return true;
	if (route->port == 0 || route->port > switch_ports(tables->build->switches[sw])) {
		snprintf(tables->error, ERROR_BYTES, "%s has no port %u; it has 1..%u", route->sw,
			 route->port, switch_ports(tables->build->switches[sw]));
		return false;
	}
	tables->ports[(size_t)sw * scenario->host_count + host] = (uint8_t)(route->port - 1);
	return true;
}

/* Returns the neighbour at a port, or NULL. */
static const struct scenario_node *behind(const struct scenario *scenario, uint32_t sw,
					  unsigned port)
{
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			if (link->ends[side].is_switch && link->ends[side].number == sw &&
			    link->ports[side] == port)
				return &link->ends[1 - side];
		}
	}
	return NULL;
}

/* Follows the file's ports from a switch. Returns true if they reach the host, or a switch that the
 * file leaves to the topology's routes. */
static bool arrives(struct tables *tables, uint32_t sw, uint32_t host)
{
	const struct scenario *scenario = tables->build->scenario;
	uint32_t start = sw;
	for (uint32_t steps = 0; steps <= scenario->switch_count; steps++) {
		uint8_t port = tables->ports[(size_t)sw * scenario->host_count + host];
		if (port == NO_PORT)
			return true;
		const struct scenario_node *next = behind(scenario, sw, port);
		if (next && !next->is_switch && next->number == host)
			return true;
		if (!next || !next->is_switch) {
			snprintf(tables->error, ERROR_BYTES,
				 "from %s to %s: port %u of %s leads to %s",
				 scenario->switches[start].name, scenario->hosts[host].name,
				 port + 1u, scenario->switches[sw].name,
				 next ? scenario->hosts[next->number].name : "nobody");
			return false;
		}
		sw = next->number;
	}
	snprintf(tables->error, ERROR_BYTES, "from %s to %s: the routes form a circle through %s",
		 scenario->switches[start].name, scenario->hosts[host].name,
		 scenario->switches[sw].name);
	return false;
}

static bool forward(struct tables *tables)
{
	struct build *build = tables->build;
	const struct scenario *scenario = build->scenario;
	for (uint32_t sw = 0; sw < scenario->switch_count; sw++) {
		for (uint32_t host = 0; host < scenario->host_count; host++) {
			uint8_t port = tables->ports[(size_t)sw * scenario->host_count + host];
			if (!arrives(tables, sw, host))
				return false;
			if (port != NO_PORT)
				switch_route(build->switches[sw], build->endpoints, host, port);
		}
	}
	return true;
}

static bool read_tables(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario *scenario = build->scenario;
	const char *path = scenario->vls.forwarding;
	size_t cells = (size_t)scenario->switch_count * scenario->host_count;
	struct tables tables = {.build = build, .ports = malloc(cells + 1)};
	FILE *file = input_open(path);
	uint32_t line = 0;
	bool good = false;
	if (!tables.ports)
		abort();
	memset(tables.ports, NO_PORT, cells);
	if (!file) {
		snprintf(error, error_bytes, "%s: %s", path, input_error());
	} else if (!lft_file_read(file, take_route, &tables, &line, tables.error, ERROR_BYTES)) {
		snprintf(error, error_bytes, "%s:%u: %s", path, line, tables.error);
	} else {
		good = forward(&tables);
		if (!good)
			snprintf(error, error_bytes, "%s: %s", path, tables.error);
	}
	if (file)
		fclose(file);
	free(tables.ports);
	return good;
}

bool build_vls(struct build *build, char *error, size_t error_bytes)
{
	const struct scenario_vls *vls = &build->scenario->vls;
	for (uint32_t i = 0; i < vls->arbitration_count; i++)
		arbitrate(build, &vls->arbitrations[i]);
	for (uint32_t i = 0; i < vls->service_level_count; i++)
		map_service_levels(build, &vls->service_levels[i]);
	for (uint32_t i = 0; i < vls->dscp_count; i++)
		map_dscp(build, &vls->dscps[i]);
	for (uint32_t i = 0; i < vls->route_count; i++) {
		char path[32];
		if (map_route(build, &vls->routes[i], error, error_bytes))
			continue;
		snprintf(path, sizeof(path), "fabric.routes.%u", i);
		return scenario_blame(build->scenario, path, error, error_bytes);
	}
	return !vls->forwarding || read_tables(build, error, error_bytes) ||
	       scenario_blame(build->scenario, "fabric.forwarding", error, error_bytes);
}
