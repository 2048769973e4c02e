/* SPDX-License-Identifier: Apache-2.0 */
/* scenario_fabric_print: topology, switches and links as the effective configuration has them. */
#include <stdio.h>

#include "fabric/port_params.h"
#include "hcasim/schema/scenario_read.h"

/* Prints the values of a link that the scenario sets itself. */
static void print_given(const struct port_params *port, uint64_t given, int indent, FILE *out)
{
	const struct param *list = composite_of(COMPOSITE_LINK)->list;
	char text[128];
	for (unsigned i = 0; list && list[i].name; i++) {
		if ((given >> i & 1) == 0)
			continue;
		param_print(&list[i], port, text, sizeof(text));
		fprintf(out, "%*s%s: %s\n", indent, "", list[i].name, text);
	}
}

static void print_link(const struct scenario *scenario, const struct scenario_link *link, FILE *out)
{
	fprintf(out, "    - between: [%s, %s]\n", scenario_node_name(scenario, &link->ends[0]),
		scenario_node_name(scenario, &link->ends[1]));
	if (link->numbered)
		fprintf(out, "      ports: [%u, %u]\n", link->ports[0], link->ports[1]);
	print_given(link->port, link->given, 6, out);
}

/* Prints a topology whose builder makes the same layout again. */
static void print_shape(const struct scenario *scenario, FILE *out)
{
	scenario_topology_print(scenario, out);
	fprintf(out, "  switch:\n");
	composite_print(COMPOSITE_SWITCH, scenario->every_switch.params, 4, out);
	if (scenario->every_link.given != 0) {
		fprintf(out, "  link:\n");
		print_given(scenario->every_link.port, scenario->every_link.given, 4, out);
	}
	if (scenario->link_rule_count > 0)
		fprintf(out, "  link_rules:\n");
	for (uint32_t i = 0; i < scenario->link_rule_count; i++) {
		const struct scenario_link_rule *rule = &scenario->link_rules[i];
		fprintf(out, "    - between: [");
		scenario_print_text(rule->ends[0], out);
		fprintf(out, ", ");
		scenario_print_text(rule->ends[1], out);
		fprintf(out, "]\n");
		print_given(rule->port, rule->given, 6, out);
	}
}

/* A topology by name, or from a file, as lists of switches and links. */
void scenario_fabric_print(const struct scenario *scenario, FILE *out)
{
	if (scenario->every_switch.params && !scenario_topology_is_file(scenario)) {
		print_shape(scenario, out);
		scenario_vls_print(scenario, out);
		scenario_subnet_print(scenario, out);
		return;
	}
	fprintf(out, "  topology: links\n");
	if (scenario->switch_count > 0)
		fprintf(out, "  switches:\n");
	for (uint32_t i = 0; i < scenario->switch_count; i++) {
		fprintf(out, "    %s:\n", scenario->switches[i].name);
		composite_print(COMPOSITE_SWITCH, scenario->switches[i].params, 6, out);
	}
	if (scenario->link_count > 0)
		fprintf(out, "  links:\n");
	for (uint32_t i = 0; i < scenario->link_count; i++)
		print_link(scenario, &scenario->links[i], out);
	scenario_vls_print(scenario, out);
	scenario_subnet_print(scenario, out);
}
