/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_load: section `load`: a load of verbs (traffic/load/load.h) on the hosts of the
 * scenario. The first host is the first node.
 *
 *     load: {verb: read, bytes: 64B, threads: 4, qps: 32, tx_depth: 16, cpu: {post: 20ns}}
 */
#include <stdio.h>

#include "hcasim/schema/scenario_read.h"
#include "traffic/load/load.h"

/* Refuses sections that have no meaning beside a load. */
static void refuse_neighbours(struct scenario_reader *reader)
{
	static const char *const others[] = {"workload", "workloads", "programs", "run"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		struct yaml_node *node = yaml_get(reader->root, others[i]);

		if (node)
			yaml_error_key(reader->errors, node,
				       "%s and load exclude each other; remove one%s", others[i],
				       i == 3 ? ": load.warm_up, load.operations and load.limit "
						"set the duration"
					      : "");
	}
}

/* Sets the nodes to the hosts, which must have detailed adapters. */
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
			   "load needs HCAs of fidelity: detailed; the HCA of %s is endpoint; use "
			   "workload: {...}, which supports both",
			   scenario->hosts[i].name);
		break;
	}
}

const char *const *scenario_load_read(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;

	params_default(load_place_param_list, &scenario->load);
	scenario->has_load = node != NULL;
	if (node)
		refuse_neighbours(reader);
	return NULL;
}

void scenario_load_check(struct scenario_reader *reader, struct yaml_node *node)
{
	char error[256];

	place(reader, node);
	if (reader->errors->count == reader->errors_before &&
	    !load_check(&reader->scenario->load, error, sizeof(error)))
		yaml_error(reader->errors, node, "%s", error);
}
