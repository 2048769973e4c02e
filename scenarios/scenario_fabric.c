/*
 * scenario_fabric: switches by name and a list of links, or a topology that stands for them.
 *
 *     fabric:
 *       link_layer: infiniband
 *       switches: {leaf0: sb7800}                       topology: single-switch
 *       links:                                          switch: sb7800
 *         - {between: [host0, leaf0], preset: edr}      link: {preset: edr, length: 2m}
 *
 * A link's map says only what is to replace the values of both ends' own ports.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/preset.h"
#include "scenarios/scenario_read.h"

enum topology { TOPOLOGY_LINKS, TOPOLOGY_BACK_TO_BACK, TOPOLOGY_SINGLE_SWITCH };

static void read_switches(struct scenario_reader *reader, struct yaml_node *node);
static void read_links(struct scenario_reader *reader, struct yaml_node *node);
static void make_back_to_back(struct scenario_reader *reader, struct yaml_node *fabric);
static void make_single_switch(struct scenario_reader *reader, struct yaml_node *fabric);
static void check_joined(struct scenario_reader *reader, const struct yaml_node *fabric);

/* Which keys go with which topology. */
static const char *const link_keys[] = {"switches", "links", NULL};
static const char *const back_to_back_keys[] = {"link", NULL};
static const char *const single_switch_keys[] = {"switch", "link", NULL};

void scenario_read_fabric(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	const char *const *keys = link_keys;
	unsigned before = reader->errors->count;
	params_default(scenario_fabric_param_list, &scenario->fabric);
	if (!yaml_expect_map(node, "what joins the hosts", reader->errors))
		return;
	yaml_override_params(node, scenario_fabric_param_list, &scenario->fabric, reader->errors);
	switch ((enum topology)scenario->fabric.topology) {
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
	}
	scenario_refuse_unused(reader, node, scenario_fabric_param_list, keys);
	if (reader->errors->count == before)
		check_joined(reader, node);
}

static void add_switch(struct scenario_reader *reader, const char *name, struct yaml_node *value)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_switch *device = &scenario->switches[scenario->switch_count++];
	device->name = name;
	device->params = composite_create(COMPOSITE_SWITCH);
	if (value != NULL && value->kind != YAML_NULL)
		preset_read(COMPOSITE_SWITCH, value, NULL, device->params, NULL, reader->errors);
}

static void read_switches(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (node == NULL || !yaml_expect_map(node, "switches by name", reader->errors))
		return;
	scenario->switches =
		scenario_take_entries(node, sizeof(*scenario->switches), &scenario->switch_count);
	for (struct yaml_node *entry = node->children; entry != NULL; entry = entry->next) {
		if (!scenario_name_valid(entry->key))
			yaml_error_key(reader->errors, entry,
				       "\"%s\" cannot be a switch's name; expected letters, "
				       "digits, - and _",
				       entry->key);
		else if (scenario_find_host(scenario, entry->key) != NO_HOST)
			yaml_error_key(reader->errors, entry, "\"%s\" is a host already",
				       entry->key);
		add_switch(reader, entry->key, entry);
	}
}

/* What a link's map or preset says; value NULL: nothing. */
static void read_port(struct scenario_reader *reader, struct scenario_link *link,
		      struct yaml_node *value, const char *const *others)
{
	link->port = composite_create(COMPOSITE_LINK);
	if (value != NULL)
		preset_read(COMPOSITE_LINK, value, others, link->port, &link->given,
			    reader->errors);
}

static const char *suggest_node(const struct scenario *scenario, const char *name)
{
	size_t count = 0;
	const char **names =
		calloc((size_t)scenario->host_count + scenario->switch_count + 1, sizeof(*names));
	if (names == NULL)
		abort();
	for (uint32_t i = 0; i < scenario->host_count; i++)
		names[count++] = scenario->hosts[i].name;
	for (uint32_t i = 0; i < scenario->switch_count; i++)
		names[count++] = scenario->switches[i].name;
	const char *near = yaml_suggest(name, names, count);
	free(names);
	return near;
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
	return false;
}

static void read_end(struct scenario_reader *reader, struct yaml_node *node,
		     struct scenario_node *end)
{
	const char *name = yaml_expect_text(node, "a host or switch", reader->errors);
	if (name == NULL || find_node(reader->scenario, name, end))
		return;
	const char *near = suggest_node(reader->scenario, name);
	if (near != NULL)
		yaml_error(reader->errors, node, "no host or switch \"%s\"; did you mean \"%s\"?",
			   name, near);
	else
		yaml_error(reader->errors, node, "no host or switch \"%s\"", name);
}

static void read_link(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const others[] = {"between", NULL};
	struct scenario *scenario = reader->scenario;
	struct scenario_link *link = &scenario->links[scenario->link_count++];
	struct yaml_node *between = yaml_get(node, "between");
	if (node->kind != YAML_MAP || between == NULL || between->kind != YAML_LIST ||
	    between->children == NULL || between->children->next == NULL ||
	    between->children->next->next != NULL) {
		yaml_error(reader->errors, between != NULL ? between : node,
			   "expected a link's two ends: {between: [host0, switch0], ...}");
		return;
	}
	read_end(reader, between->children, &link->ends[0]);
	read_end(reader, between->children->next, &link->ends[1]);
	read_port(reader, link, node, others);
}

static void read_links(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	if (node == NULL)
		return;
	if (node->kind != YAML_LIST) {
		yaml_error(reader->errors, node, "found %s; expected a list of links",
			   yaml_kind_name(node->kind));
		return;
	}
	scenario->links =
		scenario_take_entries(node, sizeof(*scenario->links), &scenario->link_count);
	for (struct yaml_node *link = node->children; link != NULL; link = link->next)
		read_link(reader, link);
}

static void make_back_to_back(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario *scenario = reader->scenario;
	if (scenario->host_count != 2) {
		yaml_error(reader->errors, fabric, "back-to-back joins two hosts; there are %u",
			   scenario->host_count);
		return;
	}
	scenario->links = calloc(1, sizeof(*scenario->links));
	if (scenario->links == NULL)
		abort();
	scenario->link_count = 1;
	scenario->links[0].ends[1].number = 1;
	read_port(reader, &scenario->links[0], yaml_get(fabric, "link"), NULL);
}

static void make_single_switch(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario *scenario = reader->scenario;
	scenario->switches = calloc(1, sizeof(*scenario->switches));
	scenario->links = calloc(scenario->host_count + 1, sizeof(*scenario->links));
	if (scenario->switches == NULL || scenario->links == NULL)
		abort();
	if (scenario_find_host(scenario, "switch0") != NO_HOST)
		yaml_error(reader->errors, fabric,
			   "single-switch calls its switch switch0; a host has that name");
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
		link->port = composite_create(COMPOSITE_LINK);
		memcpy(link->port, scenario->links[0].port, composite_of(COMPOSITE_LINK)->bytes);
		link->given = scenario->links[0].given;
	}
}

/* Each HCA has one port: every host is at exactly one link. */
static void check_joined(struct scenario_reader *reader, const struct yaml_node *fabric)
{
	const struct scenario *scenario = reader->scenario;
	for (uint32_t host = 0; host < scenario->host_count; host++) {
		unsigned ends = 0;
		for (uint32_t i = 0; i < scenario->link_count; i++) {
			for (unsigned side = 0; side < 2; side++) {
				const struct scenario_node *end = &scenario->links[i].ends[side];
				ends += !end->is_switch && end->number == host;
			}
		}
		if (ends != 1)
			yaml_error(reader->errors, fabric, "%s is at %u links; an HCA has one port",
				   scenario->hosts[host].name, ends);
	}
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_node *ends = scenario->links[i].ends;
		if (ends[0].is_switch && ends[1].is_switch && ends[0].number == ends[1].number)
			yaml_error(reader->errors, fabric, "a link joins %s with itself",
				   scenario->switches[ends[0].number].name);
	}
}
