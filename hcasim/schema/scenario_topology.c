/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_topology: key fabric.topology: a name, or a map with the parameters of a shape, or the
 * name of a net file. The builders of fabric/topologies.h make a layout from the parameters.
 *
 *     topology: back-to-back
 *     topology: {kind: fat-tree, arity: 8}
 *     topology: {kind: net-file, file: x}
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/hpccfile.h"
#include "fabric/netfile.h"
#include "fabric/topologies.h"
#include "hcasim/schema/scenario_read.h"
#include "sim/input.h"

#define ERROR_BYTES     512
#define UPLINK_RATE_MIN 1000000 /* lowest rate of a port */

/* clang-format off */
#define ROW(...) PARAM_ROW(struct scenario_topology, __VA_ARGS__)
const struct param scenario_topology_param_list[] = { TOPOLOGY_PARAMS(ROW) {0} };

/* The numbers that each kind uses. */
static const char *const topology_keys[][10] = {
	[TOPOLOGY_LINKS]         = {NULL},
	[TOPOLOGY_BACK_TO_BACK]  = {NULL},
	[TOPOLOGY_SINGLE_SWITCH] = {NULL},
	[TOPOLOGY_DUMBBELL]      = {"left", "right", "uplink_rate", "uplink_length", NULL},
	[TOPOLOGY_PARKING_LOT]   = {"switches", "hosts", NULL},
	[TOPOLOGY_LEAF_SPINE]    = {"leaves", "spines", "hosts", "parallel", "rails", "uplink_rate",
		NULL},
	[TOPOLOGY_FAT_TREE]      = {"arity", "pods", "edges", "aggregations", "hosts", "uplinks",
		"rails", NULL},
	[TOPOLOGY_DRAGONFLY]     = {"routers", "hosts", "global", "groups", NULL},
	[TOPOLOGY_TORUS]         = {"size_x", "size_y", "size_z", "hosts", NULL},
	[TOPOLOGY_NET_FILE]      = {"file", NULL},
	[TOPOLOGY_HPCC_FILE]     = {"file", NULL},
};
/* clang-format on */

static void read_topology(struct scenario_reader *reader, struct yaml_node *node);

static bool build_shape(struct layout *layout, const struct scenario_topology *numbers, char *error,
			size_t bytes)
{
	const struct scenario_topology *n = numbers;
	switch ((enum scenario_topology_kind)n->kind) {
	case TOPOLOGY_DUMBBELL:
		return topology_dumbbell(
			layout,
			&(struct dumbbell_shape){
				(uint32_t)n->left, (uint32_t)n->right, n->uplink_rate,
				n->uplink_length > 0 ? n->uplink_length : LENGTH_OF_PARAMS},
			error, bytes);
	case TOPOLOGY_PARKING_LOT:
		return topology_parking_lot(
			layout,
			&(struct parking_lot_shape){(uint32_t)n->switches, (uint32_t)n->hosts},
			error, bytes);
	case TOPOLOGY_LEAF_SPINE:
		return topology_leaf_spine(
			layout,
			&(struct leaf_spine_shape){(uint32_t)n->leaves, (uint32_t)n->spines,
						   (uint32_t)n->hosts, (uint32_t)n->parallel,
						   (uint32_t)n->rails, n->uplink_rate},
			error, bytes);
	case TOPOLOGY_FAT_TREE: {
		struct fat_tree_shape shape = {(uint32_t)n->pods,         (uint32_t)n->edges,
					       (uint32_t)n->aggregations, (uint32_t)n->hosts,
					       (uint32_t)n->uplinks,      0};
		if (n->arity % 2 != 0) {
			snprintf(error, bytes, "arity: %u is odd", (unsigned)n->arity);
			return false;
		}
		if (n->arity > 0)
			shape = topology_fat_tree_of((uint32_t)n->arity);
		shape.rails = (uint32_t)n->rails;
		return topology_fat_tree(layout, &shape, error, bytes);
	}
	case TOPOLOGY_DRAGONFLY:
		return topology_dragonfly(
			layout,
			&(struct dragonfly_shape){(uint32_t)n->routers, (uint32_t)n->hosts,
						  (uint32_t)n->global, (uint32_t)n->groups},
			error, bytes);
	case TOPOLOGY_TORUS:
		return topology_torus(
			layout,
			&(struct torus_shape){
				{(uint16_t)n->size_x, (uint16_t)n->size_y, (uint16_t)n->size_z},
				(uint32_t)n->hosts},
			error, bytes);
	case TOPOLOGY_LINKS:
	case TOPOLOGY_BACK_TO_BACK:
	case TOPOLOGY_SINGLE_SWITCH:
	case TOPOLOGY_NET_FILE:
	case TOPOLOGY_HPCC_FILE:
		break;
	}
	return true;
}

/* Returns the contents of a file, or NULL if it cannot be read. */
static char *read_all(const char *path, size_t *length)
{
	char *text = NULL, buffer[4096];
	size_t count;
	FILE *in = input_open(path), *out;
	if (!in)
		return NULL;
	out = open_memstream(&text, length);
	if (!out)
		abort();
	while ((count = fread(buffer, 1, sizeof(buffer), in)) > 0)
		fwrite(buffer, 1, count, out);
	fclose(out);
	fclose(in);
	return text;
}

bool scenario_topology_is_file(const struct scenario *scenario)
{
	return scenario->topology.kind == TOPOLOGY_NET_FILE ||
	       scenario->topology.kind == TOPOLOGY_HPCC_FILE;
}

static void read_layout_file(struct scenario_reader *reader, struct yaml_node *map)
{
	bool is_hpcc = reader->scenario->topology.kind == TOPOLOGY_HPCC_FILE;
	char error[ERROR_BYTES];
	size_t length = 0;
	struct yaml_node *node = yaml_get(map, "file");
	if (!node) {
		yaml_error(reader->errors, map, "no file; expected file: and its name");
		return;
	}
	const char *name = yaml_expect_text(node, "a file's name", reader->errors);
	if (!name)
		return;
	char *path = scenario_read_file_path(reader->scenario, name);
	char *text = read_all(path, &length);
	if (!text)
		yaml_error(reader->errors, node, "%s cannot be read: %s", path, strerror(errno));
	else if (!(is_hpcc ? hpccfile_read : netfile_read)(&reader->scenario->layout, text, length,
							   error, sizeof(error)))
		yaml_error(reader->errors, node, "%s: %s", path, error);
	free(text);
	free(path);
}

const char *const *scenario_topology_read(struct scenario_reader *reader, struct yaml_node *node)
{
	params_default(scenario_topology_param_list, &reader->scenario->topology);
	if (node)
		read_topology(reader, node);
	reader->no_topology = reader->errors->count != reader->errors_before;
	return NULL;
}

static void read_topology(struct scenario_reader *reader, struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_topology *topology = &scenario->topology;
	char error[ERROR_BYTES];
	if (node->kind != YAML_MAP) {
		const char *name = yaml_expect_text(node, "a topology", reader->errors);
		if (name && !param_parse(&scenario_topology_param_list[0], name, topology, error,
					 sizeof(error)))
			yaml_error(reader->errors, node, "topology: %s", error);
	} else {
		unsigned before = reader->errors->count;
		yaml_override_params(node, scenario_topology_param_list, topology, reader->errors);
		if (scenario_topology_is_file(scenario))
			read_layout_file(reader, node);
		if (reader->errors->count != before)
			return;
		for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
			const char *const *known = topology_keys[topology->kind];
			entry->used = strcmp(entry->key, "kind") == 0;
			for (; *known && !entry->used; known++)
				entry->used = strcmp(*known, entry->key) == 0;
		}
		const char *names[16] = {"kind"};
		size_t count = 1;
		for (; topology_keys[topology->kind][count - 1]; count++)
			names[count] = topology_keys[topology->kind][count - 1];
		yaml_refuse_unused(node, names, count, reader->errors);
	}
	if (topology->uplink_rate > 0 && topology->uplink_rate < UPLINK_RATE_MIN)
		yaml_error(reader->errors, node, "uplink_rate: expected 1Mbps at least, or 0bps");
	if (reader->errors->count == 0 &&
	    !build_shape(&scenario->layout, topology, error, sizeof(error)))
		yaml_error(reader->errors, node, "%s", error);
}

void scenario_topology_print(const struct scenario *scenario, FILE *out)
{
	const char *const *keys = topology_keys[scenario->topology.kind];
	char text[128];
	param_print(&scenario_topology_param_list[0], &scenario->topology, text, sizeof(text));
	fprintf(out, "  topology: {kind: %s", text);
	for (; *keys; keys++) {
		for (const struct param *param = scenario_topology_param_list; param->name;
		     param++) {
			if (strcmp(param->name, *keys) != 0)
				continue;
			param_print(param, &scenario->topology, text, sizeof(text));
			fprintf(out, ", %s: %s", param->name, text);
		}
	}
	fprintf(out, "}\n");
}
