/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_mirrors: see scenario_mirrors.h. */
#include "hcasim/schema/scenario_mirrors.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_read.h"

/* Finds the switch of the analyser. Returns the link, or NULL. *side: of the switch. */
static const struct scenario_link *find_analyser(const struct scenario *scenario, uint32_t host,
						 unsigned *side)
{
	for (uint32_t i = 0; i < scenario->link_count; i++) {
		const struct scenario_link *link = &scenario->links[i];
		for (unsigned end = 0; end < 2; end++) {
			const struct scenario_node *node = &link->ends[end];
			*side = 1 - end;
			if (!node->is_switch && node->number == host)
				return link->ends[1 - end].is_switch ? link : NULL;
		}
	}
	return NULL;
}

/* Adds the port of the switch, if the neighbour behind it has that name. */
static bool add_port(const struct scenario *scenario, struct scenario_mirror *mirror,
		     const struct scenario_link *link, const char *pattern)
{
	bool found = false;
	for (unsigned side = 0; side < 2; side++) {
		const struct scenario_node *node = &link->ends[side];
		if (!node->is_switch || node->number != mirror->switch_number ||
		    (mirror->switch_number == mirror->to_switch &&
		     link->ports[side] == mirror->to_port) ||
		    fnmatch(pattern, scenario_node_name(scenario, &link->ends[1 - side]), 0) != 0)
			continue;
		port_set_add(&mirror->ports, link->ports[side]);
		found = true;
	}
	return found;
}

/* Finds the switch that mirrors: `switch`, or the switch of the analyser. */
static void find_switch(struct scenario_reader *reader, struct yaml_node *node,
			struct scenario_mirror *mirror)
{
	const struct scenario *scenario = reader->scenario;
	uint32_t count = 0;

	mirror->switch_number = mirror->to_switch;
	if (!mirror->on)
		return;
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		if (fnmatch(mirror->on, scenario->switches[i].name, 0) != 0)
			continue;
		mirror->switch_number = i;
		count++;
	}
	if (count > 1)
		yaml_error(reader->errors, node, "switch: \"%s\" names %u switches; expected one",
			   mirror->on, count);
}

static void find_ports(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_mirror *mirror)
{
	const struct scenario *scenario = reader->scenario;
	const struct scenario_link *analyser;
	struct scenario_node sw = {.is_switch = true};
	unsigned side;

	analyser = find_analyser(scenario, mirror->to, &side);
	if (!analyser) {
		yaml_error(reader->errors, node,
			   "to: %s is not linked to a switch; expected a host behind the switch "
			   "that mirrors",
			   scenario->hosts[mirror->to].name);
		return;
	}
	mirror->to_switch = analyser->ends[side].number;
	mirror->to_port = analyser->ports[side];
	find_switch(reader, node, mirror);
	sw.number = mirror->switch_number;
	for (uint32_t i = 0; i < mirror->from_count; i++) {
		bool found = false;
		for (uint32_t l = 0; l < scenario->link_count; l++)
			found |= add_port(scenario, mirror, &scenario->links[l], mirror->from[i]);
		if (!found)
			yaml_error(reader->errors, node,
				   "from: %s has no other neighbour \"%s\"; expected hosts or "
				   "switches that are linked to %s%s",
				   scenario_node_name(scenario, &sw), mirror->from[i],
				   mirror->on ? "it" : "the switch of ",
				   mirror->on ? "" : scenario->hosts[mirror->to].name);
	}
}

static bool read_to(struct scenario_reader *reader, struct yaml_node *map,
		    struct scenario_mirror *mirror)
{
	const struct scenario *scenario = reader->scenario;
	struct yaml_node *node = yaml_get(map, "to");
	const char *name = node ? yaml_expect_text(node, "a host", reader->errors) : NULL;

	if (!node)
		yaml_error(reader->errors, map, "no to; expected to: and the host that analyses");
	for (uint32_t i = 0; name && i < scenario->host_count; i++) {
		if (strcmp(scenario->hosts[i].name, name) == 0) {
			mirror->to = i;
			return true;
		}
	}
	if (name)
		scenario_hosts_refuse(reader, node, name);
	return false;
}

/* Reads `switch` and `erspan`. */
static void read_erspan(struct scenario_reader *reader, struct yaml_node *node,
			struct scenario_mirror *mirror)
{
	struct yaml_node *erspan = yaml_get(node, "erspan"), *on = yaml_get(node, "switch");

	params_default(mirror_erspan_param_list, &mirror->erspan);
	if (on)
		mirror->on = scenario_read_names(reader, node, "switch", false);
	if (on && !erspan)
		yaml_error(reader->errors, on,
			   "switch: expected `erspan` beside it; without it, the switch of the "
			   "analyser mirrors");
	if (!erspan ||
	    !yaml_expect_map(erspan, "keys of ERSPAN, as {session: 7}, or {}", reader->errors))
		return;
	mirror->is_erspan = true;
	yaml_override_params(erspan, mirror_erspan_param_list, &mirror->erspan, reader->errors);
	scenario_refuse_unused(reader, erspan, mirror_erspan_param_list, NULL);
	if (reader->scenario->fabric.link_layer == 0)
		yaml_error(reader->errors, erspan,
			   "erspan: expected link_layer: roce; its packets are IP packets on "
			   "Ethernet");
}

static void read_mirror(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"switch", "from", "to", "erspan", NULL};
	struct scenario *scenario = reader->scenario;
	struct scenario_mirror *mirror = &scenario->mirrors[scenario->mirror_count++];
	struct yaml_node *from;
	bool has_to;

	params_default(mirror_param_list, &mirror->params);
	if (!yaml_expect_map(node, "a mirror, as {from: [host0], to: host7}", reader->errors))
		return;
	from = yaml_get(node, "from");
	if (!from)
		yaml_error(reader->errors, node,
			   "no from; expected from: and a list of neighbours");
	else
		mirror->from = scenario_read_texts(reader, from, "neighbours of the switch",
						   "a host or a switch", &mirror->from_count);
	has_to = read_to(reader, node, mirror);
	yaml_override_params(node, mirror_param_list, &mirror->params, reader->errors);
	read_erspan(reader, node, mirror);
	scenario_refuse_unused(reader, node, mirror_param_list, keys);
	if (mirror->params.dscp != MIRROR_ANY_DSCP && scenario->fabric.link_layer == 0)
		yaml_error(reader->errors, node,
			   "dscp: expected link_layer: roce; InfiniBand packets have no DSCP");
	if (has_to)
		find_ports(reader, node, mirror);
}

const char *const *scenario_mirrors_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;

	if (!node || !scenario_expect_list(reader, node, "mirrors"))
		return NULL;
	if (scenario->fabric.fidelity == FIDELITY_FLOW) {
		yaml_error(reader->errors, node,
			   "mirrors: expected a fabric of packets; fidelity: flow has none");
		return NULL;
	}
	scenario->mirrors =
		scenario_take_entries(node, sizeof(*scenario->mirrors), &scenario->mirror_count);
	scenario->mirror_count = 0;
	for (struct yaml_node *mirror = node->children; mirror; mirror = mirror->next)
		read_mirror(reader, mirror);
	return NULL;
}

void scenario_mirrors_print(const struct scenario *scenario, FILE *out)
{
	for (uint32_t i = 0; i < scenario->mirror_count; i++) {
		const struct scenario_mirror *mirror = &scenario->mirrors[i];

		fprintf(out, "  - ");
		if (mirror->is_erspan) {
			fprintf(out, "switch: ");
			scenario_print_text(scenario->switches[mirror->switch_number].name, out);
			fprintf(out, "\n    ");
		}
		fprintf(out, "from: [");
		for (uint32_t f = 0; f < mirror->from_count; f++) {
			fputs(f ? ", " : "", out);
			scenario_print_text(mirror->from[f], out);
		}
		fprintf(out, "]\n    to: ");
		scenario_print_text(scenario->hosts[mirror->to].name, out);
		fputc('\n', out);
		scenario_print_list(mirror_param_list, &mirror->params, 4, out);
		if (!mirror->is_erspan)
			continue;
		fprintf(out, "    erspan:\n");
		scenario_print_list(mirror_erspan_param_list, &mirror->erspan, 6, out);
	}
}

void scenario_mirrors_release(struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->mirror_count; i++)
		free(scenario->mirrors[i].from);
	free(scenario->mirrors);
}
