/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_vls: the keys of `fabric` that a subnet manager would set:
 *
 *     vl_arbitration: [{from: "switch*", high: [[0, 4]], low: [[1, 64], [2, 128]], high_limit: 1}]
 *     service_levels: [{at: switch0, from: "*", to: "*",
 *                       vls: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]}]
 *     dscp:           [{at: "*", priorities: {26: 3, 46: 5}}]
 *     routes:         [{at: switch0, to: host1, via: switch1}, {at: "leaf*", to: host2, via: none}]
 *     forwarding:     tables.lft
 */
#include "hcasim/schema/scenario_vls.h"

#include <stdlib.h>
#include <string.h>

#include "hcasim/schema/scenario_read.h"

#define VL_COUNT 15 /* VLs for data */

static const struct param vl_number[] = {
	{"vl", PARAM_COUNT, 0, "0", "0..14", "virtual lane", "IBTA vol. 1, 7.6"}, {0}};
static const struct param vl_or_none[] = {
	{"vl", PARAM_COUNT, 0, "0", "0..15", "virtual lane, 15: dropped", "IBTA vol. 1, 7.6.6"},
	{0}};
static const struct param weight_number[] = {
	{"weight", PARAM_COUNT, 0, "0", "0..255", "of 64 bytes", "IBTA vol. 1, 7.6.9"}, {0}};
static const struct param limit_number[] = {
	{"high_limit", PARAM_COUNT, 0, "255", "0..255", "of 4096 bytes", "IBTA vol. 1, 7.6.9"},
	{0}};
static const struct param dscp_number[] = {
	{"dscp", PARAM_COUNT, 0, "0", "0..63", "code point", "RFC 2474"}, {0}};
static const struct param priority_number[] = {
	{"priority", PARAM_COUNT, 0, "0", "0..7", "of PFC", "IEEE 802.1Q 6.9.3"}, {0}};

/* Reads one number with the range of its row in a list. */
static uint8_t read_text(struct scenario_reader *reader, const struct yaml_node *node,
			 const char *text, const struct param *param)
{
	uint64_t number = 0;
	char error[256];
	if (text && !param_parse(param, text, &number, error, sizeof(error)))
		yaml_error(reader->errors, node, "%s", error);
	return (uint8_t)number;
}

static uint8_t read_number(struct scenario_reader *reader, const struct yaml_node *node,
			   const struct param *param)
{
	return read_text(reader, node, yaml_expect_text(node, "a number", reader->errors), param);
}

/* [[0, 4], [1, 8]] */
static unsigned read_weights(struct scenario_reader *reader, struct yaml_node *list,
			     struct vl_weight *weights)
{
	unsigned count = 0;
	if (!list || !scenario_expect_list(reader, list, "[VL, weight]"))
		return 0;
	for (struct yaml_node *entry = list->children; entry; entry = entry->next) {
		if (entry->kind != YAML_LIST || !entry->children || !entry->children->next ||
		    entry->children->next->next) {
			yaml_error(reader->errors, entry, "expected [VL, weight]");
			continue;
		}
		if (count == VL_ARBITRATION_ENTRIES) {
			yaml_error(reader->errors, entry, "more than %d entries",
				   VL_ARBITRATION_ENTRIES);
			break;
		}
		weights[count].vl = read_number(reader, entry->children, vl_number);
		weights[count++].weight = read_number(reader, entry->children->next, weight_number);
	}
	return count;
}

static void read_arbitration(struct scenario_reader *reader, struct yaml_node *node,
			     struct scenario_arbitration *entry)
{
	static const char *const keys[] = {"from", "to", "high", "low", "high_limit", NULL};
	if (!yaml_expect_map(node, "{from: \"*\", high: [[0, 4]], low: [[1, 64]]}", reader->errors))
		return;
	struct yaml_node *limit = yaml_get(node, "high_limit");
	entry->from = scenario_read_names(reader, node, "from", true);
	entry->to = scenario_read_names(reader, node, "to", true);
	entry->tables.high_count = read_weights(reader, yaml_get(node, "high"), entry->tables.high);
	entry->tables.low_count = read_weights(reader, yaml_get(node, "low"), entry->tables.low);
	entry->tables.high_limit = limit ? read_number(reader, limit, limit_number) : UINT8_MAX;
	if (entry->tables.high_count + entry->tables.low_count == 0)
		yaml_error(reader->errors, node, "no VLs; expected high: or low:");
	scenario_refuse_unused(reader, node, NULL, keys);
}

static void read_service_levels(struct scenario_reader *reader, struct yaml_node *node,
				struct scenario_service_levels *entry)
{
	static const char *const keys[] = {"at", "from", "to", "vls", NULL};
	unsigned count = 0;
	if (!yaml_expect_map(node, "{at: \"*\", vls: [sixteen VLs]}", reader->errors))
		return;
	struct yaml_node *vls = yaml_get(node, "vls");
	entry->at = scenario_read_names(reader, node, "at", false);
	entry->from = scenario_read_names(reader, node, "from", true);
	entry->to = scenario_read_names(reader, node, "to", true);
	if (vls && scenario_expect_list(reader, vls, "sixteen VLs")) {
		for (struct yaml_node *vl = vls->children; vl; vl = vl->next) {
			uint8_t number = read_number(reader, vl, vl_or_none);
			if (count < SERVICE_LEVEL_COUNT)
				entry->vls[count] = number;
			count++;
		}
	}
	if (count != SERVICE_LEVEL_COUNT)
		yaml_error(reader->errors, vls ? vls : node,
			   "expected a VL for each of 16 service levels; found %u", count);
	scenario_refuse_unused(reader, node, NULL, keys);
}

static void read_dscp(struct scenario_reader *reader, struct yaml_node *node,
		      struct scenario_dscp *entry)
{
	static const char *const keys[] = {"at", "priorities", NULL};
	for (unsigned i = 0; i < DSCP_COUNT; i++)
		entry->priorities[i] = DSCP_NOT_SAID;
	if (!yaml_expect_map(node, "{at: \"*\", priorities: {26: 3}}", reader->errors))
		return;
	struct yaml_node *map = yaml_get(node, "priorities");
	entry->at = scenario_read_names(reader, node, "at", false);
	if (!map || !yaml_expect_map(map, "{26: 3}", reader->errors)) {
		yaml_error(reader->errors, node, "no priorities; expected priorities: {26: 3}");
		return;
	}
	for (struct yaml_node *one = map->children; one; one = one->next) {
		uint8_t dscp = read_text(reader, one, one->key, dscp_number);
		one->used = true;
		entry->priorities[dscp % DSCP_COUNT] = read_number(reader, one, priority_number);
	}
	scenario_refuse_unused(reader, node, NULL, keys);
}

static void read_route(struct scenario_reader *reader, struct yaml_node *node,
		       struct scenario_route *entry)
{
	static const char *const keys[] = {"at", "to", "via", NULL};
	if (!yaml_expect_map(node, "{at: switch0, to: host1, via: switch1}", reader->errors))
		return;
	struct yaml_node *via = yaml_get(node, "via");
	entry->at = scenario_read_names(reader, node, "at", false);
	entry->to = scenario_read_names(reader, node, "to", true);
	if (!via)
		yaml_error(reader->errors, node, "no via; expected a neighbour's name, or none");
	else if (!via->text || strcmp(via->text, "none") != 0)
		entry->via = scenario_read_names(reader, node, "via", true);
	scenario_refuse_unused(reader, node, NULL, keys);
}

/* Returns the list of a key that only one link layer has. */
static struct yaml_node *list_of(struct scenario_reader *reader, struct yaml_node *fabric,
				 const char *key, uint32_t link_layer)
{
	struct yaml_node *list = yaml_get(fabric, key);
	if (!list || !scenario_expect_list(reader, list, "entries"))
		return NULL;
	if (reader->scenario->fabric.link_layer == link_layer)
		return list;
	yaml_error(reader->errors, list, "%s: expected link_layer: %s", key,
		   link_layer == 0 ? "infiniband" : "roce");
	return NULL;
}

#define READ_LIST(key, link_layer, entries, count, read)                                        \
	do {                                                                                    \
		struct yaml_node *list = list_of(reader, fabric, key, link_layer);              \
		if (!list)                                                                      \
			break;                                                                  \
		vls->entries = scenario_take_entries(list, sizeof(*vls->entries), &vls->count); \
		for (struct yaml_node *node = list->children; node; node = node->next)          \
			read(reader, node, &vls->entries[vls->count++]);                        \
	} while (0)

void scenario_vls_read(struct scenario_reader *reader, struct yaml_node *fabric)
{
	struct scenario_vls *vls = &reader->scenario->vls;
	READ_LIST("vl_arbitration", 0, arbitrations, arbitration_count, read_arbitration);
	READ_LIST("service_levels", 0, service_levels, service_level_count, read_service_levels);
	READ_LIST("dscp", 1, dscps, dscp_count, read_dscp);
	READ_LIST("routes", reader->scenario->fabric.link_layer, routes, route_count, read_route);
	struct yaml_node *forwarding = yaml_get(fabric, "forwarding");
	const char *name = forwarding ? yaml_expect_text(forwarding, "a file of forwarding tables",
							 reader->errors)
				      : NULL;
	if (name && reader->scenario->fabric.link_layer != 0)
		yaml_error(reader->errors, forwarding,
			   "forwarding: LID tables are for InfiniBand; expected link_layer: "
			   "infiniband");
	else if (name)
		vls->forwarding = scenario_read_file_path(reader->scenario, name);
}

void scenario_vls_free(struct scenario *scenario)
{
	free(scenario->vls.arbitrations);
	free(scenario->vls.service_levels);
	free(scenario->vls.dscps);
	free(scenario->vls.routes);
	free(scenario->vls.forwarding);
}

static void print_name(const char *key, const char *pattern, FILE *out)
{
	fprintf(out, "%s: ", key);
	scenario_print_text(pattern, out);
	fprintf(out, ", ");
}

static void print_weights(const char *key, const struct vl_weight *weights, unsigned count,
			  FILE *out)
{
	fprintf(out, "%s: [", key);
	for (unsigned i = 0; i < count; i++)
		fprintf(out, "%s[%u, %u]", i > 0 ? ", " : "", weights[i].vl, weights[i].weight);
	fprintf(out, "], ");
}

static void print_arbitrations(const struct scenario_vls *vls, FILE *out)
{
	if (vls->arbitration_count > 0)
		fprintf(out, "  vl_arbitration:\n");
	for (uint32_t i = 0; i < vls->arbitration_count; i++) {
		const struct scenario_arbitration *entry = &vls->arbitrations[i];
		fprintf(out, "    - {");
		print_name("from", entry->from, out);
		print_name("to", entry->to, out);
		print_weights("high", entry->tables.high, entry->tables.high_count, out);
		print_weights("low", entry->tables.low, entry->tables.low_count, out);
		fprintf(out, "high_limit: %u}\n", entry->tables.high_limit);
	}
}

static void print_service_levels(const struct scenario_vls *vls, FILE *out)
{
	if (vls->service_level_count > 0)
		fprintf(out, "  service_levels:\n");
	for (uint32_t i = 0; i < vls->service_level_count; i++) {
		const struct scenario_service_levels *entry = &vls->service_levels[i];
		fprintf(out, "    - {");
		print_name("at", entry->at, out);
		print_name("from", entry->from, out);
		print_name("to", entry->to, out);
		fprintf(out, "vls: [");
		for (unsigned level = 0; level < SERVICE_LEVEL_COUNT; level++)
			fprintf(out, "%s%u", level > 0 ? ", " : "", entry->vls[level]);
		fprintf(out, "]}\n");
	}
}

static void print_dscps(const struct scenario_vls *vls, FILE *out)
{
	if (vls->dscp_count > 0)
		fprintf(out, "  dscp:\n");
	for (uint32_t i = 0; i < vls->dscp_count; i++) {
		const char *comma = "";
		fprintf(out, "    - {");
		print_name("at", vls->dscps[i].at, out);
		fprintf(out, "priorities: {");
		for (unsigned dscp = 0; dscp < DSCP_COUNT; dscp++) {
			if (vls->dscps[i].priorities[dscp] == DSCP_NOT_SAID)
				continue;
			fprintf(out, "%s%u: %u", comma, dscp, vls->dscps[i].priorities[dscp]);
			comma = ", ";
		}
		fprintf(out, "}}\n");
	}
}

static void print_routes(const struct scenario_vls *vls, FILE *out)
{
	if (vls->route_count > 0)
		fprintf(out, "  routes:\n");
	for (uint32_t i = 0; i < vls->route_count; i++) {
		const struct scenario_route *entry = &vls->routes[i];
		fprintf(out, "    - {");
		print_name("at", entry->at, out);
		print_name("to", entry->to, out);
		fprintf(out, "via: ");
		scenario_print_text(entry->via ? entry->via : "none", out);
		fprintf(out, "}\n");
	}
}

void scenario_vls_print(const struct scenario *scenario, FILE *out)
{
	print_arbitrations(&scenario->vls, out);
	print_service_levels(&scenario->vls, out);
	print_dscps(&scenario->vls, out);
	print_routes(&scenario->vls, out);
	if (!scenario->vls.forwarding)
		return;
	fprintf(out, "  forwarding: ");
	scenario_print_file(scenario->vls.forwarding, out);
	fputc('\n', out);
}
