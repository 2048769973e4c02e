/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_load: the section `load`: verbs under load (traffic/load/load.h) on the hosts of the scenario, the first of which
 * is the first node.
 *
 *     load: {verb: read, bytes: 64B, threads: 4, qps: 32, tx_depth: 16, cpu: {post: 20ns}}
 */
#include <stdio.h>

#include "hcasim/schema/scenario_read.h"
#include "traffic/load/load.h"

/* What stands beside it, and has no meaning there. */
static void refuse_neighbours(struct scenario_reader *reader, struct yaml_node *root)
{
	static const char *const others[] = {"workload", "programs", "run"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct yaml_node *node = yaml_get(root, others[i]);

		if (node)
			yaml_error_key(reader->errors, node,
				       "%s stands beside load; expected one of them%s", others[i],
				       i == 2 ? ": load.warm_up, load.operations and load.limit "
						"say how long"
					      : "");
	}
}

/* As many nodes as hosts, which must have adapters to post to. */
static void place(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;

	scenario->load.nodes = scenario->host_count;
	scenario->load.link_layer = scenario->fabric.link_layer;
	if (scenario->host_count < 2)
		yaml_error(reader->errors, node, "a load needs two hosts or more");
	for (uint32_t i = 0; i < scenario->host_count; i++) {
		if (scenario->hosts[i].detailed)
			continue;
		yaml_error(reader->errors, node,
			   "work requests need HCAs of fidelity: detailed; that of %s is endpoint; "
			   "workload: {...} plays on both",
			   scenario->hosts[i].name);
		break;
	}
}

void scenario_read_load(struct scenario_reader *reader, struct yaml_node *root)
{
	struct scenario *scenario = reader->scenario;
	struct yaml_node *node = yaml_get(root, "load");
	unsigned before = reader->errors->count;
	char error[256];

	load_params_default(&scenario->load);
	if (!node)
		return;
	scenario->has_load = true;
	refuse_neighbours(reader, root);
	if (!yaml_expect_map(node, "what is posted, and by whom", reader->errors))
		return;
	yaml_override_params(node, load_param_list, &scenario->load, reader->errors);
	yaml_override_sections(node, load_sections, &scenario->load, reader->errors);
	scenario_refuse_sections(reader, node, load_param_list, load_sections, NULL);
	place(reader, node);
	if (scenario->record.series > 0)
		yaml_error(reader->errors, node, "record.series is for workloads; a load has none");
	if (reader->errors->count == before && !load_check(&scenario->load, error, sizeof(error)))
		yaml_error(reader->errors, node, "%s", error);
}

void scenario_print_load(const struct scenario *scenario, FILE *out)
{
	if (!scenario->has_load)
		return;
	fprintf(out, "load:\n");
	scenario_print_list(load_param_list, &scenario->load, 2, out);
	for (const struct param_section *section = load_sections; section->name; section++) {
		fprintf(out, "  %s:\n", section->name);
		scenario_print_list(section->list, (const char *)&scenario->load + section->offset,
				    4, out);
	}
}
