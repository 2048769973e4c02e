/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_fabric: section `fabric`: named switches with a list of links, or a topology.
 *
 *     fabric:
 *       link_layer: infiniband
 *       switches: {leaf0: sb7800}                       topology: single-switch
 *       links:                                          switch: sb7800
 *         - {between: [host0, leaf0], preset: edr}      link: {preset: edr, length: 2m}
 *
 * The map of a link has only the values that override the ports at both ends.
 */
#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/port_params.h"
#include "hcasim/schema/preset.h"
#include "hcasim/schema/scenario_read.h"
#include "switch/switch_params.h"

static void read_switches(struct scenario_reader *reader, struct yaml_node *node);
static void read_links(struct scenario_reader *reader, struct yaml_node *node);
static void make_back_to_back(struct scenario_reader *reader, struct yaml_node *fabric);
static void make_single_switch(struct scenario_reader *reader, struct yaml_node *fabric);
static void make_layout(struct scenario_reader *reader, struct yaml_node *fabric);
static void read_link_rules(struct scenario_reader *reader, struct yaml_node *node);
static void number_ports(struct scenario *scenario);
static void check_linked(struct scenario_reader *reader, const struct yaml_node *fabric);

/* clang-format off */
#define ROW(...) PARAM_ROW(struct scenario_fabric, __VA_ARGS__)
const struct param scenario_fabric_param_list[] = { FABRIC_PARAMS(ROW) {0} };

/* The keys that each topology uses. */
#define VL_KEYS "vl_arbitration", "service_levels", "dscp", "routes", "forwarding", "multicast", \
	"partitions"
static const char *const link_keys[] = {"topology", "switches", "links", VL_KEYS, NULL};
static const char *const back_to_back_keys[] = {"topology", "link", VL_KEYS, NULL};
static const char *const single_switch_keys[] = {"topology", "switch", "link", "link_rules",
	VL_KEYS, NULL};
static const char *const layout_keys[] = {"topology", "switch", "link", "link_rules", VL_KEYS,
	NULL};
/* clang-format on */

/* Each link layer has marks of its own. */
static void check_marks(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	bool infiniband = scenario->fabric.link_layer == LINK_INFINIBAND;
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		const struct switch_params *sw = scenario->switches[i].params;
		const char *found = NULL;
		if (infiniband && sw->ecn.mark != ECN_MARK_OFF)
			found = "ecn is for link_layer: roce; expected fecn: {threshold: ..}";
		else if (!infiniband && (sw->fecn.threshold != 0 || sw->fecn.cs_threshold != 0))
			found = "fecn is for link_layer: infiniband; expected ecn: {mark: ..}";
		else if (infiniband && *sw->plugins.buffer.text != '\0')
			found = "plugins.buffer is for link_layer: roce";
		if (!found)
			continue;
		yaml_error(reader->errors, node, "%s: %s", scenario->switches[i].name, found);
		return;
	}
}

const char *const *scenario_fabric_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	const char *const *keys = link_keys;
	if (!node)
		yaml_error(reader->errors, reader->root,
			   "no fabric; expected fabric: {topology: single-switch, ...}");
	if (!node || node->kind != YAML_MAP)
		return keys;
	switch ((enum scenario_topology_kind)scenario->topology.kind) {
	case TOPOLOGY_LINKS:
		read_switches(reader, yaml_get(node, "switches"));
		read_links(reader, yaml_get(node, "links"));
		break;
	case TOPOLOGY_BACK_TO_BACK:
		keys = back_to_back_keys;
		make_back_to_back(reader, node);
		break;
	case TOPOLOGY_SINGLE_SWITCH:
		keys = single_switch_keys;
		make_single_switch(reader, node);
		break;
	case TOPOLOGY_DUMBBELL:
	case TOPOLOGY_PARKING_LOT:
	case TOPOLOGY_LEAF_SPINE:
	case TOPOLOGY_FAT_TREE:
	case TOPOLOGY_DRAGONFLY:
	case TOPOLOGY_TORUS:
	case TOPOLOGY_NET_FILE:
	case TOPOLOGY_HPCC_FILE:
		keys = layout_keys;
		make_layout(reader, node);
		break;
	}
	number_ports(scenario);
	check_marks(reader, node);
	scenario_vls_read(reader, node);
	scenario_subnet_read(reader, node);
	return keys;
}

void scenario_fabric_check(struct scenario_reader *reader, struct yaml_node *node)
{
	const struct scenario *scenario = reader->scenario;
	uint32_t places = layout_hosts(&scenario->layout);
	if (reader->errors->count == reader->errors_before && !reader->no_topology &&
	    (places == 0 || places == scenario->host_count))
		check_linked(reader, node);
}

/* Numbers the ports of each switch in the order of the links, unless a layout does. */
static void number_ports(struct scenario *scenario)
{
	uint16_t *used = calloc(scenario->switch_count + 1, sizeof(*used));
	if (!used)
		abort();
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		struct scenario_link *link = &scenario->links[i];
		for (unsigned side = 0; side < 2; side++) {
			if (link->ends[side].is_switch && !link->numbered)
				link->ports[side] = used[link->ends[side].number]++;
		}
	}
	free(used);
}

static void add_switch(struct scenario_reader *reader, const char *name, struct yaml_node *value)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_switch *device = &scenario->switches[scenario->switch_count++];
	device->name = name;
	device->params = composite_create(COMPOSITE_SWITCH);
	if (value && value->kind != YAML_NULL)
		preset_read(COMPOSITE_SWITCH, value, NULL, device->params, NULL, reader->errors);
}

static void read_switches(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node || !yaml_expect_map(node, "switches by name", reader->errors))
		return;
	scenario->switches =
		scenario_take_entries(node, sizeof(*scenario->switches), &scenario->switch_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		if (!scenario_name_valid(entry->key))
			yaml_error_key(reader->errors, entry,
				       "\"%s\" is not a valid switch name; expected letters, "
				       "digits, - and _",
				       entry->key);
		else if (scenario_find_host(scenario, entry->key) != NO_HOST)
			yaml_error_key(reader->errors, entry,
				       "\"%s\" is already the name of a "
				       "host",
				       entry->key);
		add_switch(reader, entry->key, entry);
	}
}

/* Reads the map or preset of a link. A NULL `value` changes nothing. */
static void read_port(struct scenario_reader *reader, struct scenario_link *link,
		      struct yaml_node *value, const char *const *others)
{
	link->port = composite_create(COMPOSITE_LINK);
	if (value)
		preset_read(COMPOSITE_LINK, value, others, link->port, &link->given,
			    reader->errors);
}

/* Returns the most similar name of a switch, or of a host if `hosts` is true, or NULL. */
static const char *suggest_node(const struct scenario *scenario, const char *name, bool hosts)
{
	size_t count = 0;
	const char **names =
		calloc((size_t)scenario->host_count + scenario->switch_count + 1, sizeof(*names));
	if (!names)
		abort();
	for (uint32_t i = 0; hosts && i < scenario->host_count; i++)
		names[count++] = scenario->hosts[i].name;
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		names[count++] = scenario->switches[i].name;
	const char *near = yaml_suggest(name, names, count);
	free(names);
	return near;
}

static bool is_node(const struct scenario *scenario, const char *pattern, bool hosts)
{
	for (uint32_t i = 0; hosts && i < scenario->host_count; i++) {
		if (fnmatch(pattern, scenario->hosts[i].name, 0) == 0)
			return true;
	}
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		if (fnmatch(pattern, scenario->switches[i].name, 0) == 0)
			return true;
	}
	return false;
}

const char *scenario_read_names(struct scenario_reader *reader, struct yaml_node *map,
				const char *key, bool hosts)
{
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *node = yaml_get(map, key);
	const char *pattern =
		node ? yaml_expect_text(node, "a name; * and ? allowed", reader->errors) : NULL;
	if (!pattern)
		return "*";
	if (is_node(scenario, pattern, hosts))
		return pattern;
	const char *near = suggest_node(scenario, pattern, hosts);
	yaml_error(reader->errors, node, "%s: no %sswitch is called \"%s\"%s%s%s", key,
		   hosts ? "host or " : "", pattern,
		   near ? "; did you mean \"" : "; expected a name; * and ? allowed",
		   near ? near : "", near ? "\"?" : "");
	return pattern;
}

static bool find_node(const struct scenario *scenario, const char *name, struct scenario_node *node)
{
	node->is_switch = false;
	node->number = scenario_find_host(scenario, name);
	if (node->number != NO_HOST)
		return true;
	node->is_switch = true;
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		node->number = i;
		if (strcmp(scenario->switches[i].name, name) == 0)
			return true;
	}
	/* no port number, so that later links are not affected */
	*node = (struct scenario_node){0};
	return false;
}

static void read_end(struct scenario_reader *reader, struct yaml_node *node,
		     struct scenario_node *end)
{
	const char *name = yaml_expect_text(node, "a host or switch", reader->errors);
	if (!name || find_node(reader->scenario, name, end))
		return;
	const char *near = suggest_node(reader->scenario, name, true);
	if (near)
		yaml_error(reader->errors, node, "no host or switch \"%s\"; did you mean \"%s\"?",
			   name, near);
	else
		yaml_error(reader->errors, node, "no host or switch \"%s\"", name);
}

/* Reads `ports: [0, 17]`: the port numbers at the switches, instead of the next free ones. A host's
 * port is 0. */
static void read_port_numbers(struct scenario_reader *reader, struct yaml_node *node,
			      struct scenario_link *link)
{
	static const struct param list[] = {
		{"ports", PARAM_COUNT, 0, "0", "0..63", "of a switch", "choice"}, {0}};
	unsigned side = 0;
	if (!scenario_expect_list(reader, node, "two port numbers"))
		return;
	for (struct yaml_node *entry = node->children; entry; entry = entry->next, side++) {
		uint64_t number = 0;
		char error[256];
		const char *text = yaml_expect_text(entry, "a port's number", reader->errors);
		if (text && !param_parse(list, text, &number, error, sizeof(error)))
			yaml_error(reader->errors, entry, "%s", error);
		if (side < 2)
			link->ports[side] = (uint16_t)number;
	}
	link->numbered = true;
	if (side != 2)
		yaml_error(reader->errors, node, "expected two port numbers; found %u", side);
}

static void read_link(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const others[] = {"between", "ports", NULL};
	struct scenario *scenario = reader->scenario;
	struct scenario_link *link = &scenario->links[scenario->link_count++];
	struct yaml_node *between = yaml_get(node, "between");
	if (node->kind != YAML_MAP || !between || between->kind != YAML_LIST ||
	    !between->children || !between->children->next || between->children->next->next) {
		yaml_error(reader->errors, between ? between : node,
			   "expected a link's two ends: {between: [host0, switch0], ...}");
		return;
	}
	read_end(reader, between->children, &link->ends[0]);
	read_end(reader, between->children->next, &link->ends[1]);
	struct yaml_node *ports = yaml_get(node, "ports");
	if (ports)
		read_port_numbers(reader, ports, link);
	read_port(reader, link, node, others);
}

static void read_links(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (!node)
		return;
	if (node->kind != YAML_LIST) {
		yaml_error(reader->errors, node, "found %s; expected a list of links",
			   yaml_kind_name(node->kind));
		return;
	}
	scenario->links =
		scenario_take_entries(node, sizeof(*scenario->links), &scenario->link_count);
	for (struct yaml_node *link = node->children; link; link = link->next)
		read_link(reader, link);
}

static void make_back_to_back(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario *scenario = reader->scenario;
	if (scenario->host_count != 2) {
		yaml_error(reader->errors, fabric,
			   "topology back-to-back needs two hosts; found %u", scenario->host_count);
		return;
	}
	scenario->links = calloc(1, sizeof(*scenario->links));
	if (!scenario->links)
		abort();
	scenario->link_count = 1;
	scenario->links[0].ends[1].number = 1;
	read_port(reader, &scenario->links[0], yaml_get(fabric, "link"), NULL);
}

static void copy_link(const struct scenario_link *from, struct scenario_link *to);

static void make_single_switch(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario *scenario = reader->scenario;
	scenario->switches = calloc(1, sizeof(*scenario->switches));
	scenario->links = calloc(scenario->host_count + 1, sizeof(*scenario->links));
	if (!scenario->switches || !scenario->links)
		abort();
	if (scenario_find_host(scenario, "switch0") != NO_HOST)
		yaml_error(reader->errors, fabric,
			   "topology single-switch names its switch switch0, and a host has this "
			   "name; rename the host");
	add_switch(reader, "switch0", yaml_get(fabric, "switch"));
	struct yaml_node *value = yaml_get(fabric, "link");
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		struct scenario_link *link = &scenario->links[scenario->link_count++];
		link->ends[0].number = i;
		link->ends[1].is_switch = true;
		if (i == 0) {
			read_port(reader, link, value, NULL);
			continue;
		}
		copy_link(&scenario->links[0], link);
	}
	read_link_rules(reader, yaml_get(fabric, "link_rules"));
}

static void copy_link(const struct scenario_link *from, struct scenario_link *to)
{
	to->port = composite_create(COMPOSITE_LINK);
	memcpy(to->port, from->port, composite_of(COMPOSITE_LINK)->bytes);
	to->given = from->given;
}

/* Sets one value as a link's map does. */
static void set_value(struct port_params *port, uint64_t *given, const char *name, const char *text)
{
	for (unsigned i = 0; port_param_list[i].name; i++) {
		char error[128];
		if (strcmp(port_param_list[i].name, name) != 0)
			continue;
		bool good = param_parse(&port_param_list[i], text, port, error, sizeof(error));
		assert(good);
		*given |= UINT64_C(1) << i;
	}
}

/* Applies the builder's values for one link. */
static void apply_layout(const struct layout_link *from, struct scenario_link *link)
{
	char text[64];
	if (from->rate_bps != RATE_OF_PARAMS) {
		snprintf(text, sizeof(text), "%" PRIu64 "bps", from->rate_bps);
		set_value(link->port, &link->given, "rate", text);
		set_value(link->port, &link->given, "speed", "explicit");
	}
	if (from->metres >= 0) {
		snprintf(text, sizeof(text), "%.17gm", from->metres);
		set_value(link->port, &link->given, "length", text);
	}
}

static bool rule_applies(const struct scenario *scenario, const struct scenario_link_rule *rule,
			 const struct scenario_link *link)
{
	const char *one = scenario_node_name(scenario, &link->ends[0]);
	const char *other = scenario_node_name(scenario, &link->ends[1]);
	return (fnmatch(rule->ends[0], one, 0) == 0 && fnmatch(rule->ends[1], other, 0) == 0) ||
	       (fnmatch(rule->ends[0], other, 0) == 0 && fnmatch(rule->ends[1], one, 0) == 0);
}

static void apply_rule(struct scenario_reader *reader, const struct yaml_node *node,
		       const struct scenario_link_rule *rule)
{
	struct scenario *scenario = reader->scenario;
	bool found = false;
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		struct scenario_link *link = &scenario->links[i];
		if (!rule_applies(scenario, rule, link))
			continue;
		found = true;
		port_params_override(link->port, rule->port, rule->given);
		link->given |= rule->given;
	}
	if (!found)
		yaml_error(reader->errors, node, "no link between \"%s\" and \"%s\"", rule->ends[0],
			   rule->ends[1]);
}

/* Reads `link_rules: [{between: ["left", "right"], rate: 10Gbps}]`. Later rules take precedence. */
static void read_link_rules(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const others[] = {"between", NULL};
	struct scenario *scenario = reader->scenario;
	if (!node || !scenario_expect_list(reader, node, "rules for links"))
		return;
	scenario->link_rules = scenario_take_entries(node, sizeof(*scenario->link_rules),
						     &scenario->link_rule_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		struct scenario_link_rule *rule =
			&scenario->link_rules[scenario->link_rule_count++];
		struct yaml_node *between =
			entry->kind == YAML_MAP ? yaml_get(entry, "between") : NULL;
		rule->port = composite_create(COMPOSITE_LINK);
		if (!between || between->kind != YAML_LIST || !between->children ||
		    !between->children->next || between->children->next->next) {
			yaml_error(reader->errors, entry,
				   "expected {between: [PATTERN, PATTERN], ...}");
			continue;
		}
		rule->ends[0] =
			yaml_expect_text(between->children, "a pattern of names", reader->errors);
		rule->ends[1] = yaml_expect_text(between->children->next, "a pattern of names",
						 reader->errors);
		preset_read(COMPOSITE_LINK, entry, others, rule->port, &rule->given,
			    reader->errors);
		if (rule->ends[0] && rule->ends[1])
			apply_rule(reader, entry, rule);
	}
}

/* Creates the switches and links of a builder or net file. */
static void make_layout(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario *scenario = reader->scenario;
	const struct layout *layout = &scenario->layout;
	uint32_t hosts = 0, *numbers = calloc(layout->node_count + 1, sizeof(*numbers));
	struct yaml_node *device = yaml_get(fabric, "switch"), *cable = yaml_get(fabric, "link");
	scenario->switches = calloc(layout->node_count + 1, sizeof(*scenario->switches));
	scenario->links = calloc(layout->link_count + 1, sizeof(*scenario->links));
	if (!numbers || !scenario->switches || !scenario->links)
		abort();
	scenario->every_switch.params = composite_create(COMPOSITE_SWITCH);
	if (device && device->kind != YAML_NULL)
		preset_read(COMPOSITE_SWITCH, device, NULL, scenario->every_switch.params, NULL,
			    reader->errors);
	read_port(reader, &scenario->every_link, cable, NULL);
	for (uint32_t i = 0; i < layout->node_count; i++) {
		if (!layout->nodes[i].is_switch) {
			numbers[i] = hosts++;
			continue;
		}
		numbers[i] = scenario->switch_count;
		struct scenario_switch *sw = &scenario->switches[scenario->switch_count++];
		sw->name = layout->nodes[i].name;
		sw->ports = layout->nodes[i].ports;
		sw->params = composite_create(COMPOSITE_SWITCH);
		memcpy(sw->params, scenario->every_switch.params,
		       composite_of(COMPOSITE_SWITCH)->bytes);
	}
	for (uint32_t i = 0; hosts == scenario->host_count && i < layout->link_count; i++) {
		const struct layout_link *from = &layout->links[i];
		struct scenario_link *link = &scenario->links[scenario->link_count++];
		const uint32_t nodes[] = {from->one, from->other};
		for (unsigned side = 0; side < 2; side++)
			link->ends[side] = (struct scenario_node){
				layout->nodes[nodes[side]].is_switch, numbers[nodes[side]]};
		link->ports[0] = from->one_port;
		link->ports[1] = from->other_port;
		link->numbered = true;
		copy_link(&scenario->every_link, link);
		apply_layout(from, link);
	}
	free(numbers);
	read_link_rules(reader, yaml_get(fabric, "link_rules"));
}

/* Each HCA has one port: every host is at exactly one link. */
static void check_linked(struct scenario_reader *reader, const struct yaml_node *fabric)
{
	const struct scenario *scenario = reader->scenario;
	unsigned *ends_of = calloc(scenario->host_count + 1, sizeof(*ends_of));
	if (!ends_of)
		abort();
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		for (unsigned side = 0; side < 2; side++) {
			const struct scenario_node *end = &scenario->links[i].ends[side];
			if (!end->is_switch)
				ends_of[end->number]++;
		}
	}
	for (uint32_t host = 0; host < scenario->host_count; host++) {
		if (ends_of[host] != 1)
			yaml_error(reader->errors, fabric, "%s has %u links; an HCA has one port",
				   scenario->hosts[host].name, ends_of[host]);
	}
	free(ends_of);
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		if (ends[0].is_switch && ends[1].is_switch && ends[0].number == ends[1].number)
			yaml_error(reader->errors, fabric, "a link connects %s to itself",
				   scenario->switches[ends[0].number].name);
	}
}

void scenario_fabric_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->link_rule_count; i++)
		free(scenario->link_rules[i].port);
	free(scenario->link_rules);
	free(scenario->every_switch.params);
	free(scenario->every_link.port);
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		free(scenario->switches[i].params);
	free(scenario->switches);
	for (uint32_t i = 0; i < scenario->link_count; i++)
		free(scenario->links[i].port);
	free(scenario->links);
	layout_fini(&scenario->layout);
	scenario_vls_free(scenario);
	scenario_subnet_free(scenario);
}
