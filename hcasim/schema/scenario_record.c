/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_record: the section `record`: the files of the result folder.
 *
 *     record: {packets: true, series: 10us, series_ports: ["switch0.port*"],
 *              trace: ["host0.hca.*"]}
 */
#include <stdio.h>
#include <stdlib.h>

#include "hcasim/schema/scenario_read.h"

/* clang-format off */
#define ROW(...) PARAM_ROW(struct scenario_record, __VA_ARGS__)
const struct param scenario_record_param_list[] = { RECORD_PARAMS(ROW) {0} };
/* clang-format on */

/* Returns the texts of a list and their number, or NULL. The caller owns the array. */
const char **scenario_read_texts(struct scenario_reader *reader, struct yaml_node *node,
				 const char *what, const char *expected, uint32_t *count)
{
	if (!node || !scenario_expect_list(reader, node, what))
		return NULL;
	const char **texts = scenario_take_entries(node, sizeof(*texts), count);
	for (struct yaml_node *name = node->children; name; name = name->next) {
		const char *text = yaml_expect_text(name, expected, reader->errors);
		if (text)
			texts[(*count)++] = text;
	}
	return texts;
}

/* series_flows: [0, 3]: numbers of flows. Whether the workload has these flows is checked later. */
static void read_flows(struct scenario_reader *reader, struct yaml_node *node)
{
	static const struct param number[] = {
		{"series_flows", PARAM_COUNT, 0, "0", "0..1000000000", "", ""}, {0}};
	struct scenario *scenario = reader->scenario;
	char error[256];
	if (!node || !scenario_expect_list(reader, node, "numbers of flows"))
		return;
	scenario->series_flows = scenario_take_entries(node, sizeof(*scenario->series_flows),
						       &scenario->series_flow_count);
	for (struct yaml_node *entry = node->children; entry; entry = entry->next) {
		uint64_t flow = 0;
		const char *text = yaml_expect_text(entry, "a flow's number", reader->errors);
		if (text && !param_parse(number, text, &flow, error, sizeof(error)))
			yaml_error(reader->errors, entry, "%s", error);
		scenario->series_flows[scenario->series_flow_count++] = (uint32_t)flow;
	}
}

const char *const *scenario_record_read(struct scenario_reader *reader, struct yaml_node *node)
{
	static const char *const keys[] = {"trace", "series_ports", "series_flows", "only", NULL};
	struct scenario *scenario = reader->scenario;
	scenario->traces =
		scenario_read_texts(reader, yaml_get(node, "trace"), "block names",
				    "a block's name, as host0.hca.*", &scenario->trace_count);
	scenario->series_ports = scenario_read_texts(
		reader, yaml_get(node, "series_ports"), "port names",
		"a port's name, as switch0.port*", &scenario->series_port_count);
	read_flows(reader, yaml_get(node, "series_flows"));
	scenario_packets_read(reader, yaml_get(node, "only"));
	return keys;
}

void scenario_record_check(struct scenario_reader *reader, struct yaml_node *node)
{
	if (reader->scenario->has_load && reader->scenario->record.series > 0)
		yaml_error(reader->errors, yaml_get(node, "series"),
			   "record.series needs a workload; the scenario has a load");
	if (reader->scenario->record.queues && reader->scenario->record.series == 0)
		yaml_error(reader->errors, yaml_get(node, "queues"),
			   "queues needs the time between two samples; expected series: 10us");
	if (reader->scenario->series_flow_count > 0 && reader->scenario->record.series == 0)
		yaml_error(
			reader->errors, yaml_get(node, "series_flows"),
			"series_flows needs the time between two samples; expected series: 10us");
}

void scenario_record_print(const struct scenario *scenario, FILE *out)
{
	scenario_print_texts("series_ports", 2, scenario->series_ports, scenario->series_port_count,
			     out);
	for (uint32_t i = 0; i < scenario->series_flow_count; i++)
		fprintf(out, "%s%u%s", i == 0 ? "  series_flows: [" : ", ",
			scenario->series_flows[i],
			i + 1 == scenario->series_flow_count ? "]\n" : "");
	scenario_print_texts("trace", 2, scenario->traces, scenario->trace_count, out);
	scenario_packets_print(scenario, out);
}

void scenario_record_release(struct scenario *scenario)
{
	free(scenario->traces);
	free(scenario->series_ports);
	free(scenario->series_flows);
	scenario_packets_release(scenario);
}
